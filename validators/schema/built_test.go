package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// cluster is a cluster's root: a Kustomization that syncs a path of the repository.
func cluster(name, path, more string) string {
	return "-- clusters/" + name + "/flux-system/gotk-sync.yaml --\n" + `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 10m, prune: true, path: ./clusters/` + name + `, sourceRef: {kind: GitRepository, name: flux-system}}
` + "-- clusters/" + name + "/apps.yaml --\n" + `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  interval: 10m
  prune: true
  path: ` + path + `
  sourceRef: {kind: GitRepository, name: flux-system}
` + more
}

// corednsPart is part of a Deployment that the cluster has, as in the questions and answers of Flux's documentation.
const corednsPart = `apiVersion: apps/v1
kind: Deployment
metadata: {name: coredns, namespace: kube-system, annotations: {kustomize.toolkit.fluxcd.io/ssa: merge}}
spec:
  replicas: 5
  selector: {matchLabels: {k8s-app: kube-dns}}
  template: {metadata: {labels: {k8s-app: kube-dns}}, spec: {containers: []}}
`

// TestBuiltObjects are validated in place of the files that they are built from.
func TestBuiltObjects(t *testing.T) {
	t.Parallel()
	const config = "-- apps/a.yaml --\n"
	const release = config + "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: b}\nspec:\n  interval: ${INTERVAL}\n  chartRef: {kind: OCIRepository, name: a}\n"
	for _, c := range []struct {
		name, files string
		want        string
	}{
		{"a finding in the file that the object is from", cluster("prod", "./apps", "") + config + badMap, "schema-invalid apps/a.yaml:4:11 prod"},
		{"one finding of a base of two clusters", cluster("prod", "./apps", "") + cluster("test", "./apps", "") + config + badMap, "schema-invalid apps/a.yaml:4:11 "},
		{"what nothing reads", cluster("prod", "./other", "") + "-- other/b.yaml --\n" + strings.Replace(badMap, "b: 1", "b: x", 1) + config + badMap, ""},
		{"a value that is substituted by one that fits", cluster("prod", "./apps", "  postBuild: {substitute: {INTERVAL: 1h}}\n") + release, ""},
		{"a value that is substituted by one that doesn't", cluster("prod", "./apps", "  postBuild: {substitute: {INTERVAL: hourly}}\n") + release, "schema-invalid apps/a.yaml:5:13 prod"},
		{"a value that nothing substitutes", cluster("prod", "./apps", "") + release, "schema-invalid apps/a.yaml:5:13 prod"},
		{"a value that a patch mends", cluster("prod", "./apps", "  patches: [{target: {kind: ConfigMap}, patch: '- {op: replace, path: /data/b, value: x}'}]\n") + config + badMap, ""},
		{"a misspelt kind of a group that is known", cluster("prod", "./apps", "") + "-- apps/a.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelaese\nmetadata: {name: a}\n", "schema-invalid apps/a.yaml:2:7 prod"},
		{"a value that a patch breaks", cluster("prod", "./apps", "  patches: [{target: {kind: ConfigMap}, patch: '- {op: add, path: /dta, value: x}'}]\n") + config + strings.Replace(badMap, "b: 1", "b: x", 1), "schema-unknown-field clusters/prod/apps.yaml:9:48 prod"},
		{"an operation that adds a field", cluster("prod", "./apps", "  patches:\n    - target: {kind: ConfigMap}\n      patch: |\n        - op: add\n          path: /dta\n          value: x\n") + config + strings.Replace(badMap, "b: 1", "b: x", 1), "schema-unknown-field clusters/prod/apps.yaml:13:17 prod"},
		{"a rule that a patch breaks", cluster("prod", "./apps", "  patches: [{target: {kind: HelmRelease}, patch: '- {op: remove, path: /spec/chartRef}'}]\n") + strings.Replace(release, "${INTERVAL}", "1h", 1), "schema-cel-violation clusters/prod/apps.yaml:9:50 prod"},
		{"a definition that a patch changes", cluster("prod", "./apps", "  patches: [{target: {kind: CustomResourceDefinition}, patch: '- {op: replace, path: /spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/type, value: string}'}]\n") + config + foo + "metadata: {name: a}\n---\n" + fooDefinition, ""},
		{"a part of an object, without the annotation", cluster("prod", "./apps", "") + config + strings.Replace(corednsPart, "ssa: merge", "prune: disabled", 1), "schema-invalid apps/a.yaml:7:62 prod"},
		{"a part of an object that exists", cluster("prod", "./apps", "") + config + corednsPart, ""},
		{"a part of an object that exists, with a mistake", cluster("prod", "./apps", "") + config + strings.Replace(corednsPart, "replicas: 5", "replicas: five", 1), "schema-invalid apps/a.yaml:5:13 prod"},
		{"a kustomization", cluster("prod", "./apps", "") + "-- apps/kustomization.yaml --\nresources: [a.yaml]\nname-prefix: x\n" + config + badMap, "schema-invalid apps/a.yaml:4:11 prod schema-unknown-field apps/kustomization.yaml:2:1 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, r := range []rule.Rule{Violation, Invalid, UnknownField} {
				found, unresolved := ruletest.Run(t, r, c.files)
				for _, f := range found {
					got = append(got, fmt.Sprintf("%s %s:%d:%d %s", f.Rule, f.File, f.Line, f.Column, f.Cluster))
				}
				if len(unresolved) > 0 {
					t.Errorf("unresolved are %v", unresolved)
				}
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

// TestHintsOfVariables: what is quoted in the file is a number once its variable is replaced, and
// what the hint says makes it a text.
func TestHintsOfVariables(t *testing.T) {
	t.Parallel()
	apps := "-- apps/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\ndata:\n  a: "
	variables := "  postBuild: {substitute: {PORT: \"80\", quote: '\"'}}\n"
	for _, written := range []string{`"${PORT}"`, `${PORT}`} {
		found, _ := ruletest.Run(t, Invalid, cluster("prod", "./apps", variables)+apps+written+"\n")
		if len(found) != 1 || found[0].Hint != `quotes are lost here: write ${quote}${PORT}${quote}, and define the variable quote: '"'` {
			t.Errorf("%s: %v", written, found)
		}
	}
	if found, _ := ruletest.Run(t, Invalid, cluster("prod", "./apps", variables)+apps+"${quote}${PORT}${quote}\n"); len(found) > 0 {
		t.Errorf("the way out is none: %v", found)
	}
}

// TestHintsAreAsWritten: a value is to be quoted as it stands, not as the number that it is read
// as.
func TestHintsAreAsWritten(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{"1.10": `quote it: "1.10"`, "0755": `quote it: "0755"`, "1e3": `quote it: "1e3"`, "0x1F": `quote it: "0x1F"`} {
		files := cluster("prod", "./apps", "") + "-- apps/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\ndata:\n  b: " + written + "\n"
		found, _ := ruletest.Run(t, Invalid, files)
		if len(found) != 1 || found[0].Hint != want {
			t.Errorf("%s: got %v, want the hint %s", written, found, want)
		}
	}
}

// TestDefinitionsOfApplications: what Kommander builds is judged where an AppDeployment of a cluster names it.
func TestDefinitionsOfApplications(t *testing.T) {
	t.Parallel()
	deploy := func(spec string) string {
		return rule.FluxSync + "-- clusters/prod/app.yaml --\napiVersion: apps.kommander.d2iq.io/v1alpha3\nkind: AppDeployment\nmetadata: {name: a, namespace: b}\nspec: " + spec + "\n"
	}
	definition := func(folder string) string {
		return "-- " + folder + "/kustomization.yaml --\nresources: [a.yaml]\n-- " + folder + "/a.yaml --\n" + badMap
	}
	named := deploy("{appRef: {kind: ClusterApp, name: reloader-1.0.5}}")
	for name, c := range map[string]struct{ files, want string }{
		"up to 2.15":           {named + definition("services/reloader/1.0.5"), "services/reloader/1.0.5/a.yaml:4"},
		"since 2.16, below":    {named + definition("applications/reloader/1.0.5/helmrelease"), "applications/reloader/1.0.5/helmrelease/a.yaml:4"},
		"another version":      {named + definition("services/reloader/1.0.6"), ""},
		"another folder":       {named + definition("apps/reloader/1.0.5"), ""},
		"for some clusters":    {deploy("{appRef: {kind: ClusterApp, name: reloader-1.0.5}, clusterConfigOverrides: [{appVersion: 1.0.6, clusterSelector: {}}]}") + definition("services/reloader/1.0.6"), "services/reloader/1.0.6/a.yaml:4"},
		"by a name it may get": {named + strings.Replace(definition("services/reloader/1.0.5"), badMap, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '${releaseName}', namespace: A_B}\n", 1), ""},
		"fields it may get":    {named + strings.Replace(definition("services/reloader/1.0.5"), badMap, chart, 1), ""},
	} {
		var got []string
		for _, f := range ruletest.Find(t, Invalid, c.files) {
			got = append(got, fmt.Sprintf("%s:%d", f.File, f.Line))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: found at %v, want %q", name, got, c.want)
		}
	}
}

// TestDefinitionsOfClusters: a cluster's objects are judged by the definitions that it applies. Those that only another
// cluster applies may be of another release, so that what they refuse is a warning.
func TestDefinitionsOfClusters(t *testing.T) {
	t.Parallel()
	object := func(dir string) string {
		return "-- " + dir + "/foo.yaml --\n" + strings.Replace(foo, "size: big", "colour: red", 1) + "metadata: {name: a}\n"
	}
	coloured := strings.Replace(fooDefinition, "properties: {size", "properties: {colour: {type: string}, size", 1)
	if coloured == fooDefinition {
		t.Fatal("the definition has no size")
	}
	old, recent := "-- old/definition.yaml --\n"+fooDefinition, "-- recent/definition.yaml --\n"+coloured
	for name, c := range map[string]struct{ files, want string }{
		"its own is the old one": {cluster("a", "./old", "") + cluster("b", "./recent", "") + old + recent + object("old"), "error"},
		"its own is the new one": {cluster("a", "./old", "") + cluster("b", "./recent", "") + old + recent + object("recent"), ""},
		"only another has one":   {cluster("a", "./old", "") + cluster("b", "./other", "") + old + object("other"), "warning"},
		"a file that none reads": {cluster("b", "./other", "") + old + object("other"), "error"},
		"the embedded one":       {cluster("a", "./certs", "") + cluster("b", "./issuers", "") + certificates, ""},
	} {
		got := ""
		for _, f := range ruletest.Find(t, UnknownField, c.files) {
			got += string(f.Severity)
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// certificates are the definition of an old cert-manager, which one cluster applies, and an issuer of a new one.
const certificates = `-- certs/definition.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusterissuers.cert-manager.io}
spec:
  group: cert-manager.io
  scope: Cluster
  names: {kind: ClusterIssuer, plural: clusterissuers, singular: clusterissuer, listKind: ClusterIssuerList}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {selfSigned: {type: object}}}}}}
-- issuers/issuer.yaml --
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: letsencrypt}
spec:
  acme:
    server: https://acme-v02.api.letsencrypt.org/directory
    privateKeySecretRef: {name: letsencrypt}
    solvers: [{http01: {ingress: {ingressClassName: nginx}}}]
`
