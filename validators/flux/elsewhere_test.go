package flux

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// What something beside the manifests creates is not missing: most namespaces, the namespace of an extension of Azure, what is
// in a namespace that Git does not create, what a script in a ConfigMap makes, the file of an address, and the pods of a
// namespace in which Git creates none. A typo of it is.
// Reproduces: auspatious/de-flux, Azure/gitops-flux2-kustomize-helm-mt, rcaelers/workrave-infra, MoTTTT/cluster09 and
// allenporter/k8s-gitops.
func TestCreatedElsewhere(t *testing.T) {
	t.Parallel()
	object := func(kind, namespace, name, rest string) string {
		return "-- clusters/prod/" + strings.ToLower(kind) + "-" + namespace + "-" + name + ".yaml --\napiVersion: v1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: " + namespace + "}\n" + rest
	}
	namespace := func(name string) string {
		return "-- clusters/prod/ns-" + name + ".yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: " + name + "}\n"
	}
	var four, accounts string
	for _, name := range []string{"one", "two", "three", "four"} {
		four += object("ConfigMap", name, "a", "")
	}
	for _, name := range []string{"one", "two", "three"} {
		accounts += namespace(name) + object("ServiceAccount", name, "app", "") + object("Pod", name, "app", "spec: {serviceAccountName: app, containers: [{name: a, image: a}]}\n")
	}
	pod := func(at, rest string) string { return object("Pod", at, "b", "spec: {"+rest+"}\n") }
	mounts := func(name string) string {
		return "containers: [{name: a, image: a}], volumes: [{name: v, secret: {secretName: " + name + "}}]"
	}
	secret := "-- clusters/prod/secret.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: app-oidc-secrets, namespace: one}\ndata: {a: YQ==}\n"
	script := object("ConfigMap", "one", "setup", "data: {run.sh: \"kubectl create secret generic app-oidc-secret --from-literal=a=b\\n\"}\n")
	repository := "-- clusters/prod/repo.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: charts, namespace: flux-system}\nspec: {url: 'https://example.com', secretRef: {name: pull}}\n"
	byHand := "-- talos/pull.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: pull, namespace: flux-system}\ndata: {}\n-- talos/values.yaml --\nextraManifests:\n- http://192.0.2.1/OTHER.yaml\n"
	service := object("Service", "one", "web", "spec: {selector: {app: web}, ports: [{port: 80}]}\n")
	for _, c := range []struct {
		name       string
		rule       rule.Rule
		files      string
		found      int
		unresolved int
	}{
		{"four namespaces of four", NamespaceMissing, fluxSync + four, 0, 1},
		{"four of eight", NamespaceMissing, fluxSync + four + namespace("a") + object("ConfigMap", "a", "a", "") + namespace("b") + object("ConfigMap", "b", "a", "") +
			namespace("c") + object("ConfigMap", "c", "a", "") + namespace("d") + object("ConfigMap", "d", "a", ""), 4, 0},
		{"one", NamespaceMissing, fluxSync + object("ConfigMap", "one", "a", ""), 1, 0},
		{"one that Azure's extension creates", NamespaceMissing, fluxSync + object("ConfigMap", "one", "a", "") + "-- README.md --\naz k8s-configuration flux create -g rg \\\n  -n config --namespace one -u https://example.com\n", 0, 0},
		{"another that Azure's extension creates", NamespaceMissing, fluxSync + object("ConfigMap", "one", "a", "") + "-- README.md --\naz k8s-configuration flux create --namespace two\n", 1, 0},
		{"an account in a namespace of Git", ObjectReferenceMissing, fluxSync + accounts + pod("one", "serviceAccountName: reader, containers: [{name: a, image: a}]"), 1, 0},
		{"an account in another namespace", ObjectReferenceMissing, fluxSync + accounts + pod("other", "serviceAccountName: reader, containers: [{name: a, image: a}]"), 0, 1},
		{"a Secret that is a typo", ObjectReferenceMissing, fluxSync + namespace("one") + secret + pod("one", mounts("app-oidc-secret")), 1, 0},
		{"a Secret that a script creates", ObjectReferenceMissing, fluxSync + namespace("one") + secret + script + pod("one", mounts("app-oidc-secret")), 0, 1},
		{"a Secret of a file that nothing applies", SecretMissing, fluxSync + repository + byHand, 1, 0},
		{"a Secret of a file at an address", SecretMissing, fluxSync + repository + strings.Replace(byHand, "OTHER", "pull", 1), 0, 1},
		{"a Secret beside the sync", SecretMissing, fluxSync + repository + "-- clusters/prod/kustomization.yaml --\nresources: [repo.yaml]\n" +
			strings.Replace(byHand, "talos/pull", "clusters/prod/flux-system/secrets/pull", 1), 0, 1},
		{"a selector beside other pods", SelectorUnmatched, fluxSync + namespace("one") + service + pod("one", "containers: [{name: a, image: a}]"), 1, 0},
		{"a selector whose pods are in another namespace", SelectorUnmatched, fluxSync + namespace("one") + namespace("two") + service +
			strings.Replace(pod("two", "containers: [{name: a, image: a}]"), "metadata: {", "metadata: {labels: {app: web}, ", 1), 1, 0},
		{"a Secret that a note beside kubectl names", ObjectReferenceMissing, fluxSync + namespace("one") + secret + strings.Replace(script, "kubectl create", "kubectl get", 1) + pod("one", mounts("app-oidc-secret")), 1, 0},
		{"a selector in a namespace without pods", SelectorUnmatched, fluxSync + namespace("one") + service, 0, 0},
	} {
		found, unresolved := ruletest.Run(t, c.rule, c.files)
		found = without(found, finding.Info)
		if len(found) != c.found || len(unresolved) != c.unresolved {
			t.Errorf("%s: found %+v, unresolved %+v", c.name, found, unresolved)
		}
	}
}

// without are findings but those of a severity.
func without(all []finding.Finding, s finding.Severity) []finding.Finding {
	var rest []finding.Finding
	for _, f := range all {
		if f.Severity != s {
			rest = append(rest, f)
		}
	}
	return rest
}
