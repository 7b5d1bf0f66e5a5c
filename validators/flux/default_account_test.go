package flux

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// controller is a Deployment of one of Flux's controllers with an argument.
func controller(name, argument string) string {
	return fmt.Sprintf("-- clusters/prod/%[1]s.yaml --\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %[1]s, namespace: flux-system, labels: {app.kubernetes.io/part-of: flux}}\n"+
		"spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: manager, image: a, args: [%[2]s]}]}}}\n", name, argument)
}

// TestDefaultAccount: a default account without permissions is reported for the controller that has it.
func TestDefaultAccount(t *testing.T) {
	t.Parallel()
	const flag = "--default-service-account=default"
	binding := func(subject string) string {
		return "-- clusters/prod/binding.yaml --\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: a}\n" +
			"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\nsubjects: [" + subject + "]\n"
	}
	locked := fluxSync + controller("kustomize-controller", flag) + controller("helm-controller", flag)
	for _, c := range []struct {
		name, files string
		want        int
	}{
		{"without a binding", locked, 1},
		{"with its own binding", locked + binding("{kind: ServiceAccount, name: default, namespace: flux-system}"), 0},
		{"of another account", locked + binding("{kind: ServiceAccount, name: other, namespace: flux-system}"), 1},
		{"as a user", locked + binding("{kind: User, name: 'system:serviceaccount:flux-system:default'}"), 0},
		{"in the group of its namespace", locked + binding("{kind: Group, name: 'system:serviceaccounts:flux-system'}"), 0},
		{"in the group of another namespace", locked + binding("{kind: Group, name: 'system:serviceaccounts:apps'}"), 1},
		{"in the group of all", locked + binding("{kind: Group, name: 'system:serviceaccounts'}"), 0},
		{"of kustomize-controller, and a HelmRelease", strings.Replace(locked, flag+"]}]}}}\n-- clusters/prod/helm", "--a]}]}}}\n-- clusters/prod/helm", 1), 0},
		{"of a HelmRelease, too", locked + podinfoIn("flux-system", ""), 2},
		{"of a HelmRelease, whose controller has none", fluxSync + controller("kustomize-controller", flag) + controller("helm-controller", "--a") + podinfoIn("flux-system", ""), 1},
		{"without the flag", fluxSync + controller("kustomize-controller", "--a"), 0},
	} {
		if found := ruletest.Find(t, ServiceAccountMissing, c.files); len(found) != c.want {
			t.Errorf("%s: %d findings, want %d: %+v", c.name, len(found), c.want, found)
		}
	}
}

// TestMarkers: a marker that something may read, or that a comment holds, is no finding.
func TestMarkers(t *testing.T) {
	t.Parallel()
	automation := func(namespace, more, source string) string {
		return "-- clusters/prod/" + namespace + "-automation.yaml --\napiVersion: image.toolkit.fluxcd.io/v1\nkind: ImageUpdateAutomation\nmetadata: {name: a, namespace: " + namespace +
			"}\nspec: {interval: 1h, " + more + "sourceRef: {kind: GitRepository, name: " + source + "}, update: {path: ./clusters}}\n"
	}
	policy := func(namespace string) string {
		return "-- clusters/prod/" + namespace + "-policy.yaml --\napiVersion: image.toolkit.fluxcd.io/v1\nkind: ImagePolicy\nmetadata: {name: web, namespace: " + namespace + "}\n"
	}
	const same = "-- clusters/prod/source.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: write, namespace: apps}\nspec: {interval: 1m, url: https://example.com/fleet}\n"
	file := func(text string) string { return "-- clusters/prod/a.yaml --\n" + text }
	marker := func(name string) string { return `# {"$imagepolicy": "` + name + `"}` + "\n" }
	const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\ndata:\n"
	one := fluxSync + automation("flux-system", "", "flux-system") + policy("flux-system")
	url := ""
	for line := range strings.Lines(fluxSync) {
		if _, after, found := strings.Cut(line, "url: "); found {
			url = strings.TrimRight(strings.TrimSpace(after), "}")
		}
	}
	for _, c := range []struct {
		name, files string
		want        string
	}{
		{"right", one + file(head+"  a: b "+marker("flux-system:web")), ""},
		{"behind a value of two lines", one + file(head+"  a: b\n    c "+marker("flux-system:web:tag")), ""},
		{"in a comment", one + file(head+"  # a: b "+marker("flux-system:web")+"  c: d\n"), ""},
		{"of a policy that is missing", one + file(head+"  a: b "+marker("flux-system:other")), "does not exist"},
		{"of another namespace", one + policy("apps") + file(head+"  a: b "+marker("apps:web")), "reads only the policies of namespace flux-system"},
		{"of another namespace with an automation of its own", one + policy("apps") + automation("apps", "", "write") + strings.Replace(same, "https://example.com/fleet", url, 1) +
			file(head+"  a: b "+marker("apps:web")), ""},
		{"of one that is suspended", one + policy("apps") + automation("apps", "suspend: true, ", "write") + strings.Replace(same, "https://example.com/fleet", url, 1) +
			file(head+"  a: b "+marker("apps:web")), ""},
		{"in a text", one + file(head+"  a: |\n    b: c "+marker("flux-system:web")), "not in an object"},
		{"behind a list", one + file("apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: default}\nspec:\n  containers:\n    - name: a\n      image: b\n      args: [c] "+marker("flux-system:web")), "follows a list"},
		{"where nothing updates", fluxSync + file(head+"  a: b "+marker("a:b")), ""},
	} {
		var messages []string
		for _, f := range ruletest.Find(t, ImageMarkerUnmatched, c.files) {
			messages = append(messages, f.Message)
		}
		if got := strings.Join(messages, "; "); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
