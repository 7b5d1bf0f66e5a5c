package kommander

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule"
)

// What the installation of Kommander needs may come in many ways.
func TestPrerequisites(t *testing.T) {
	t.Parallel()
	const none = "this repository does not install Kommander, which defines kind Workspace: Kustomization flux-system/flux-system and its dependents never become ready\n" +
		"  add the application kommander to spec.definitions and spec.applications; if Kommander is installed in another way, ignore the rule with that reason\n"
	const uncertified = "this repository does not install cert-manager, which defines kind ClusterIssuer: Kustomization flux-system/flux-system and its dependents never become ready\n" +
		"  add an Addon with the chart cert-manager; if cert-manager is installed in another way, ignore the rule with that reason\n"
	definition := func(group string) string {
		return inCluster("definition", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: things."+group+"\nspec:\n  group: "+group+"\n")
	}
	whole := installing("") + issuer("")
	for name, c := range map[string]struct{ files, want string }{
		"neither":                         {whole, uncertified + none},
		"both":                            {whole + kommanderItself + certManager, ""},
		"no controller of AppDeployments": {base + issuer(""), ""},
		"another version of Kommander":    {installing("") + strings.Replace(kommanderItself, "kommander-0.4.0", "kommander-v2.17.0", 1), ""},
		"a version that isn't known":      {installing("") + strings.Replace(kommanderItself, "kommander-0.4.0", "kommander-${VERSION}", 1), ""},
		"a part of Kommander":             {installing("") + strings.Replace(kommanderItself, "kommander-0.4.0", "kommander-ui-14.1.1", 1), none},
		"Kommander as a release":          {installing("") + inCluster("kommander", installed("kommander", "own")), ""},
		"definitions of Kommander's":      {installing("") + definition("workspaces.kommander.mesosphere.io"), ""},
		"definitions of cert-manager's":   {whole + kommanderItself + definition("cert-manager.io"), ""},
		"a bootstrap with cert-manager":   {whole + kommanderItself + "-- helmfile.yaml --\nreleases:\n- name: cert-manager\n  chart: jetstack/cert-manager\n", ""},
		"a cluster of an installer's":     {whole + "-- README.md --\nThe cluster is made with `dkp create cluster`.\n", ""},
		"no workspaces":                   {rule.FluxSync + inCluster("appmanagement", installed("kommander-appmanagement", "kommander")), ""},
		"not all is known": {installing("") + inCluster("more", `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: more, namespace: flux-system}
spec: {interval: 1h, url: "https://git.example.com/more"}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: more, namespace: flux-system}
spec: {interval: 1h, path: ./, prune: true, sourceRef: {kind: GitRepository, name: more}}
`), "? whether Kommander, which defines kind Workspace, is installed: Kustomization flux-system/more could not be fully built\n"},
	} {
		says(t, PrerequisiteMissing, name, c.files, c.want)
	}
}
