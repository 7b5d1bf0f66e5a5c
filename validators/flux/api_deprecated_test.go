package flux

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// TestServedByDefinitions: the versions that the cluster's definitions serve decide whether one is removed, and not the
// images of controllers, which image automation may update alone.
// Reproduces: gotk-components.yaml of cryptophys-work/platform-gitops.
func TestServedByDefinitions(t *testing.T) {
	t.Parallel()
	const controller = "-- clusters/prod/controller.yaml --\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: kustomize-controller, namespace: flux-system}\nspec: {template: {spec: {containers: [{name: manager, image: 'ghcr.io/fluxcd/kustomize-controller:VERSION'}]}}}\n"
	const instance = "-- clusters/prod/flux.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\nspec: {distribution: {version: 2.8.x, registry: ghcr.io/fluxcd}}\n"
	release := strings.ReplaceAll(podinfoIn("a", ""), "helm.toolkit.fluxcd.io/v2\n", "helm.toolkit.fluxcd.io/v2beta2\n")
	const group = "helm.toolkit.fluxcd.io"
	for name, c := range map[string]struct {
		files string
		want  finding.Severity
	}{
		"controllers of 2.8":                  {strings.ReplaceAll(controller, "VERSION", "v1.8.5"), finding.Error},
		"controllers of 2.7":                  {strings.ReplaceAll(controller, "VERSION", "v1.7.3"), finding.Warning},
		"and definitions of 2.7":              {strings.ReplaceAll(controller, "VERSION", "v1.8.5") + definitionOf("HelmRelease", group, "v2", "v2beta2"), finding.Warning},
		"definitions of 2.8":                  {strings.ReplaceAll(controller, "VERSION", "v1.7.3") + definitionOf("HelmRelease", group, "v2"), finding.Error},
		"definitions and a FluxInstance":      {instance + definitionOf("HelmRelease", group, "v2", "v2beta2"), finding.Error},
		"definitions of another kind of Flux": {strings.ReplaceAll(controller, "VERSION", "v1.8.5") + definitionOf("GitRepository", "source.toolkit.fluxcd.io", "v1"), finding.Error},
	} {
		found := ruletest.Find(t, APIDeprecated, fluxSync+release+c.files)
		if len(found) != 1 || found[0].Severity != c.want {
			t.Errorf("%s: %+v, want one %s", name, found, c.want)
		}
	}
}
