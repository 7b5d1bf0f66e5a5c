package flux

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// TestWhatStandsOut: what Git does not create stands out where Git creates all others of its kind.
func TestWhatStandsOut(t *testing.T) {
	t.Parallel()
	source := func(name, secret string) string {
		return "-- clusters/prod/" + name + ".yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: " + name + ", namespace: flux-system}\nspec: {url: https://example.com, interval: 1h, secretRef: {name: " + secret + "}}\n"
	}
	several := func(n int) string {
		all := ""
		for i := range n {
			name := fmt.Sprintf("key-%d", i)
			all += source("source-"+name, name) + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: " + name + ", namespace: flux-system}\n"
		}
		return all
	}
	lost := source("charts", "nowhere")
	variables := apps("  postBuild:\n    substituteFrom:\n      - kind: Secret\n        name: nowhere\n")
	const (
		operator = "-- clusters/prod/foo.yaml --\napiVersion: example.com/v1\nkind: Foo\nmetadata: {name: a, namespace: flux-system}\nspec: {creates: nowhere}\n"
		script   = "-- setup.sh --\nkubectl create secret generic nowhere\n"
		list     = "-- setup.sh --\nfor dir in apps/*/; do kubectl create namespace \"$(basename \"$dir\")\"; done\n-- apps/c/README.md --\nc\n"
		create   = "-- setup.sh --\nkubectl create namespace c\n"
		data     = "https://example.com/dashboard.json"
	)
	release := func(namespace string) string {
		return "-- clusters/prod/release-" + namespace + ".yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: " + namespace + "}\nspec: {interval: 1h, chartRef: {kind: OCIRepository, name: a}}\n"
	}
	namespaces := ""
	many := ""
	for i, name := range strings.Fields("first second third d e f g h i j") {
		many += release(name) + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: " + name + "}\n"
		if i == 2 {
			namespaces = many
		}
	}
	generated := kustomization("dashboards", "") + "-- dashboards/kustomization.yaml --\nconfigMapGenerator: [{name: dashboards, namespace: first, files: [README.md, '" + data + "'], options: {disableNameSuffixHash: true}}]\n-- dashboards/README.md --\na\n"
	check := func(kind, name string) string {
		return apps("  healthChecks: [{apiVersion: v1, kind: "+kind+", name: "+name+", namespace: flux-system}]\n") +
			"-- clusters/prod/service.yaml --\napiVersion: v1\nkind: Service\nmetadata: {name: gateway, namespace: flux-system}\n"
	}
	wait := func(name string) string {
		return apps("  healthChecks: [{apiVersion: apps/v1, kind: Deployment, name: " + name + ", namespace: elsewhere}]\n")
	}
	const gatekeeper = "-- clusters/prod/gatekeeper.yaml --\napiVersion: operator.gatekeeper.sh/v1alpha1\nkind: Gatekeeper\nmetadata: {name: gatekeeper}\nspec: {validatingWebhook: Enabled}\n"
	for _, c := range []struct {
		name  string
		rule  rule.Rule
		files string
		want  finding.Severity
	}{
		{"few Secrets", SecretMissing, several(2) + lost, ""},
		{"several Secrets", SecretMissing, several(3) + lost, finding.Warning},
		{"many Secrets", SecretMissing, several(10) + lost, finding.Error},
		{"another one that is missing", SecretMissing, several(10) + lost + source("more", "elsewhere"), ""},
		{"the same one in another namespace", SecretMissing, several(10) + lost + strings.Replace(source("more", "nowhere"), "flux-system", "other", 1), ""},
		{"a script", SecretMissing, several(10) + lost + script, ""},
		{"an operator's object with the name", SecretMissing, several(10) + lost + operator, ""},
		{"few Secrets and variables", ValuesReferenceMissing, several(2) + variables, ""},
		{"several Secrets and variables", ValuesReferenceMissing, several(3) + variables, finding.Warning},
		{"many Secrets and variables", ValuesReferenceMissing, several(10) + variables, finding.Error},
		{"the only namespace", NamespaceMissing, namespaces + release("c"), finding.Error},
		{"the only one, of a folder that a script lists", NamespaceMissing, namespaces + release("c") + list, finding.Warning},
		{"the only one of several, by a script", NamespaceMissing, namespaces + release("c") + create, ""},
		{"the only one of many, by a script", NamespaceMissing, many + release("c") + create, finding.Warning},
		{"a folder that a script lists", NamespaceMissing, release("c") + list, ""},
		{"a file of a generator brings no account", ServiceAccountMissing, podinfoNamespace + apps("  serviceAccountName: nobody\n") + generated, finding.Error},
		{"but it may bring a key", ValuesReferenceMissing, generated + strings.Replace(release("first"), "spec: {", "spec: {valuesFrom: [{kind: ConfigMap, name: dashboards}], ", 1), ""},
		{"a typo of what is waited for", HealthCheckMissing, check("Service", "gatway"), finding.Error},
		{"what an operator without a namespace may create", HealthCheckMissing, wait("gatekeeper-audit") + gatekeeper, ""},
		{"what it would not create", HealthCheckMissing, wait("web") + gatekeeper, finding.Error},
		{"what another one may create", HealthCheckMissing, check("Service", "other"), ""},
	} {
		found := ruletest.Find(t, c.rule, fluxSync+podinfoNamespace+c.files)
		if c.want == "" && len(found) == 0 {
			continue
		}
		if len(found) != 1 || found[0].Severity != c.want {
			t.Errorf("%s: got %+v, want %q", c.name, found, c.want)
		}
	}
}
