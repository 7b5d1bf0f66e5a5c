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
