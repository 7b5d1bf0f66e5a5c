package flux_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/flux"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// TestCreatedByResourceSets: what a ResourceSet creates exists, and what it references is looked for.
func TestCreatedByResourceSets(t *testing.T) {
	const (
		head    = "-- clusters/prod/set.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: apps, namespace: flux-system}\nspec:\n  inputs: [{app: web}]\n  resources:\n"
		ns      = "  - {apiVersion: v1, kind: Namespace, metadata: {name: << inputs.app >>}}\n"
		sa      = "  - {apiVersion: v1, kind: ServiceAccount, metadata: {name: flux, namespace: << inputs.app >>}}\n"
		copied  = "  - {apiVersion: v1, kind: ConfigMap, metadata: {name: info, namespace: << inputs.app >>, annotations: {fluxcd.controlplane.io/copyFrom: flux-system/info}}}\n"
		secret  = "  - {apiVersion: v1, kind: Secret, metadata: {name: auth, namespace: << inputs.app >>, annotations: {fluxcd.controlplane.io/copyFrom: flux-system/auth}}}\n"
		release = "  - apiVersion: helm.toolkit.fluxcd.io/v2\n    kind: HelmRelease\n    metadata: {name: web, namespace: << inputs.app >>}\n" +
			"    spec: {interval: 1h, serviceAccountName: flux, chartRef: {kind: OCIRepository, name: web}, valuesFrom: [FROM]}\n"
		info = "-- clusters/prod/info.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: info, namespace: flux-system}\ndata: {values.yaml: \"a: 1\"}\n"
	)
	from := func(ref string) string { return strings.Replace(release, "FROM", ref, 1) }
	for name, c := range map[string]struct {
		rule        rule.Rule
		files, want string
	}{
		"namespace":                       {flux.NamespaceMissing, head + ns + from("{kind: ConfigMap, name: info}"), ""},
		"no namespace":                    {flux.NamespaceMissing, head + from("{kind: ConfigMap, name: info}"), `9: no object creates namespace "web", which HelmRelease web/web deploys to`},
		"account":                         {flux.ServiceAccountMissing, head + ns + sa + from("{kind: ConfigMap, name: info}"), ""},
		"account of another name":         {flux.ServiceAccountMissing, head + ns + strings.Replace(sa, "flux,", "fluxx,", 1) + from("{kind: ConfigMap, name: info}"), "12: ServiceAccount web/flux, which HelmRelease web/web references, does not exist"},
		"copy of a ConfigMap":             {flux.ValuesReferenceMissing, head + ns + copied + from("{kind: ConfigMap, name: info}") + info, ""},
		"copy without the key":            {flux.ValuesReferenceMissing, head + ns + copied + from("{kind: ConfigMap, name: info, valuesKey: other}") + info, `12: ConfigMap web/info has no key "other", which HelmRelease web/web references`},
		"copy of what is not in Git":      {flux.ValuesReferenceMissing, head + ns + copied + from("{kind: ConfigMap, name: info, valuesKey: other}"), ""},
		"copy of a Secret":                {flux.ValuesReferenceMissing, head + ns + secret + from("{kind: Secret, name: auth}"), ""},
		"a ConfigMap of a name like that": {flux.ValuesReferenceMissing, head + ns + copied + from("{kind: ConfigMap, name: infos}") + info, "12: ConfigMap web/infos, which HelmRelease web/web references, does not exist"},
		"inputs that are not known":       {flux.NamespaceMissing, strings.Replace(head, "inputs: [{app: web}]", "inputsFrom: [{kind: ResourceSetInputProvider, name: x}]", 1) + ns + "-- clusters/prod/r.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: web}\nspec: {interval: 1h, chartRef: {kind: OCIRepository, name: web}}\n", "3?"},
	} {
		t.Run(name, func(t *testing.T) {
			found, unresolved := ruletest.Run(t, c.rule, rule.FluxSync+c.files)
			var got []string
			for _, f := range found {
				got = append(got, fmt.Sprintf("%d: %s", f.Line, f.Message))
			}
			for _, u := range unresolved {
				got = append(got, fmt.Sprintf("%d?", u.Line))
			}
			if text := strings.Join(got, "; "); text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}
