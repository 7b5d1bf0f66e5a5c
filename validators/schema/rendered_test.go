package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// released is a cluster with a release of a chart in the repository that has a template.
func released(template string) string {
	return `-- clusters/prod/flux.yaml --
apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: flux-system}
spec:
  distribution: {version: 2.9.x, registry: ghcr.io/fluxcd}
  sync: {kind: GitRepository, url: https://git.example.com/fleet.git, ref: refs/heads/main, path: clusters/prod}
-- clusters/prod/release.yaml --
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: flux-system}
spec:
  interval: 1h
  chart: {spec: {chart: charts/web, sourceRef: {kind: GitRepository, name: flux-system}}}
-- charts/web/Chart.yaml --
apiVersion: v2
name: web
version: 1.0.0
-- charts/web/templates/web.yaml --
` + template
}

// What a chart renders is validated, and told at the HelmRelease: a few times, and a field that
// is not known as a warning.
func TestRendered(t *testing.T) {
	t.Parallel()
	wrong := ""
	for i := range 5 {
		wrong += fmt.Sprintf("---\napiVersion: v1\nkind: Service\nmetadata: {name: s%d}\nspec: {ports: [{port: none}]}\n", i)
	}
	found := ruletest.Find(t, Invalid, released(wrong))
	if len(found) != 3 || !strings.HasSuffix(found[2].Message, " (and 2 more there)") {
		t.Errorf("many wrong objects give %+v", found)
	}
	for _, f := range found {
		if f.File != "clusters/prod/release.yaml" || f.Line != 2 || f.Severity != finding.Error ||
			!strings.Contains(f.Message, ", which HelmRelease flux-system/web renders from web/templates/web.yaml") || f.Object.Kind != "Service" {
			t.Errorf("a wrong object gives %+v", f)
		}
	}
	found = ruletest.Find(t, UnknownField, released("apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {port: 1, ports: []}\n"))
	if len(found) != 1 || found[0].Severity != finding.Warning || found[0].Line != 2 {
		t.Errorf("an unknown field gives %+v", found)
	}
}

// The definitions in a chart are schemas, all of them.
func TestRenderedDefinitions(t *testing.T) {
	t.Parallel()
	definition := func(kind string) string {
		lower := strings.ToLower(kind)
		return `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ` + lower + `s.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: ` + kind + `, plural: ` + lower + `s, singular: ` + lower + `, listKind: ` + kind + `List}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`
	}
	files := released(definition("One")+definition("Two")) + `-- clusters/prod/two.yaml --
apiVersion: example.com/v1
kind: Two
metadata: {name: two, namespace: flux-system}
spec: {size: large}
`
	if found := ruletest.Find(t, Invalid, files); len(found) != 1 || found[0].File != "clusters/prod/two.yaml" {
		t.Errorf("the definitions are not known: %+v", found)
	}
}

// Clusters whose charts come from one HelmRelease in different versions are judged by what each of them installs. A
// definition of a crds folder serves also where the chart is not rendered.
func TestDefinitionsOfEachCluster(t *testing.T) {
	t.Parallel()
	definition := func(size string) string {
		return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ones.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: One, plural: ones, singular: one, listKind: OneList}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: ` + size + `}}}}}}
`
	}
	files := ""
	for _, cluster := range []string{"a", "b"} {
		files += `-- clusters/` + cluster + `/flux-system/gotk-sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://git.example.com/fleet.git, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 10m, path: ./clusters/` + cluster + `, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
-- clusters/` + cluster + `/apps.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  interval: 10m
  path: ./apps
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
  postBuild: {substitute: {chart: ` + cluster + `}}
-- charts/` + cluster + `/Chart.yaml --
apiVersion: v2
name: web
version: 1.0.0
`
	}
	release := `-- apps/release.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: flux-system}
spec:
  interval: 1h
  chart: {spec: {chart: "charts/${chart}", sourceRef: {kind: GitRepository, name: flux-system}}}
`
	one := `-- apps/one.yaml --
apiVersion: example.com/v1
kind: One
metadata: {name: one, namespace: flux-system}
spec: {size: large}
`
	crds := "-- charts/a/crds/one.yaml --\n" + definition("string") + "-- charts/b/crds/one.yaml --\n" + definition("integer")
	found := ruletest.Find(t, Invalid, files+release+one+crds)
	if len(found) != 1 || found[0].File != "apps/one.yaml" || found[0].Cluster != "b" {
		t.Errorf("each cluster has a definition of its own: %+v", found)
	}
	unknown := release + "  valuesFrom: [{kind: Secret, name: elsewhere}]\n"
	found = ruletest.Find(t, Invalid, files+unknown+one+crds)
	if len(found) != 1 || found[0].File != "apps/one.yaml" || found[0].Cluster != "b" {
		t.Errorf("a definition doesn't depend on values: %+v", found)
	}
}

// The value that a template computes from objects that it looks up in the cluster is unknown, also through a named template.
func TestRenderedFromTheCluster(t *testing.T) {
	t.Parallel()
	const policy = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: dns}\nspec:\n  podSelector: {}\n  egress: [{to: [{ipBlock: {cidr: {{ADDRESS}} }}]}]\n"
	const helper = "-- charts/web/templates/_dns.tpl --\n{{- define \"dns\" -}}\n{{- with (lookup \"v1\" \"Service\" \"kube-system\" \"kube-dns\") }}{{ .spec.clusterIP }}/32{{ end }}\n{{- end }}\n{{- define \"other\" }}{{ end }}\n"
	for address, want := range map[string]int{`{{ include "dns" . }}`: 0, `{{ (lookup "v1" "Service" "a" "b").ip }}`: 0, `{{ include "other" . }}`: 1} {
		found, unresolved := ruletest.Run(t, Invalid, released(strings.Replace(policy, "{{ADDRESS}}", address, 1)+helper))
		if len(found) != want || want == 0 && (len(unresolved) != 1 || !strings.Contains(unresolved[0].Reason, "HelmRelease web looks up objects")) {
			t.Errorf("%s: findings are %+v, unresolved %+v", address, found, unresolved)
		}
	}
}
