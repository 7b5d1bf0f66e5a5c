package flux

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// Objects of any known kind are looked at, not only releases; a typo of a namespace that exists is certain.
func TestNamespacesOfObjects(t *testing.T) {
	t.Parallel()
	object := func(apiVersion, kind, namespace string) string {
		return "-- clusters/prod/" + strings.ToLower(kind) + ".yaml --\napiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: a, namespace: " + namespace + "}\n"
	}
	web := "-- clusters/prod/namespace.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: frontend}\n"
	for _, c := range []struct {
		name, files string
		want        finding.Severity
		message     string
	}{
		{"a ConfigMap", fluxSync + object("v1", "ConfigMap", "web"), finding.Warning, `no object creates namespace "web", which ConfigMap web/a is in`},
		{"two objects", fluxSync + object("v1", "ConfigMap", "web") + object("v1", "Service", "web"), finding.Warning, `no object creates namespace "web", which ConfigMap web/a and 1 other are in`},
		{"a typo", fluxSync + web + object("v1", "ConfigMap", "frontedn"), finding.Error, `no object creates namespace "frontedn", which ConfigMap frontedn/a is in`},
		{"a typo of Kubernetes' own", fluxSync + object("v1", "ConfigMap", "kube-sytsem"), finding.Error, `no object creates namespace "kube-sytsem", which ConfigMap kube-sytsem/a is in`},
		{"a namespace that is there", fluxSync + web + object("v1", "ConfigMap", "frontend"), "", ""},
		{"a kind without a namespace", fluxSync + object("rbac.authorization.k8s.io/v1", "ClusterRole", "web"), "", ""},
		{"a kind that is not known", fluxSync + object("example.com/v1", "Thing", "web"), "", ""},
		{"a suspended Kustomization", fluxSync + kustomization("apps", "  suspend: true\n") + strings.ReplaceAll(object("v1", "ConfigMap", "web"), "clusters/prod", "apps"), "", ""},
	} {
		found := ruletest.Find(t, NamespaceMissing, c.files)
		if c.want == "" && len(found) == 0 {
			continue
		}
		if len(found) != 1 || found[0].Severity != c.want || found[0].Message != c.message {
			t.Errorf("%s: got %+v", c.name, found)
		}
	}
}
