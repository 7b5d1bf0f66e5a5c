package reconcile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// TestResourceSetsEnd: a ResourceSet whose Kustomization applies the same ResourceSet under another name ends.
func TestResourceSetsEnd(t *testing.T) {
	repo := ruletest.Load(t, rule.FluxSync+"-- clusters/prod/start.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: start, namespace: flux-system}\n"+
		"spec: {interval: 1h, path: ./sets, prune: true, sourceRef: {kind: GitRepository, name: flux-system}, postBuild: {substitute: {N: x}}}\n"+
		"-- sets/set.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: \"a${N}\", namespace: flux-system}\nspec:\n"+
		"  inputs: [{app: \"a${N}\"}]\n  resourcesTemplate: |\n    apiVersion: kustomize.toolkit.fluxcd.io/v1\n    kind: Kustomization\n    metadata: {name: << inputs.app >>, namespace: flux-system}\n"+
		"    spec: {interval: 1h, path: ./sets, prune: true, sourceRef: {kind: GitRepository, name: flux-system}, postBuild: {substitute: {N: << inputs.app >>}}}\n")
	fleet, err := reconcile.Reconcile(t.Context(), repo, reconcile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(fleet.Clusters[0].Kustomizations); n < 3 || n > 6 {
		t.Errorf("there are %d Kustomizations", n)
	}
}

// TestResourceSetsAreFollowed: the Kustomizations that a ResourceSet creates are built, with the sources and variables
// that it creates, and stand at the template's lines.
func TestResourceSetsAreFollowed(t *testing.T) {
	const (
		head = "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: apps, namespace: flux-system}\nspec:\n"
		ks   = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: << inputs.app >>, namespace: flux-system}\nspec: {interval: 1h, path: ./apps/<< inputs.app >>, prune: true, sourceRef: {kind: GitRepository, name: flux-system}MORE}\n"
		cm   = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: << inputs.app >>-vars, namespace: flux-system}\ndata: {HOST: << inputs.app >>.example.com}\n"
		apps = "-- apps/a/cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {host: \"${HOST:=none}\"}\n-- apps/b/cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"
	)
	indent := func(text, by string) string {
		return strings.TrimSuffix(strings.ReplaceAll(by+text, "\n", "\n"+by), by)
	}
	vars := strings.Replace(ks, "MORE", ", postBuild: {substituteFrom: [{kind: ConfigMap, name: << inputs.app >>-vars}]}", 1)
	plain := strings.Replace(ks, "MORE", "", 1)
	for name, c := range map[string]struct{ set, want string }{
		"resources":             {"  inputs: [{app: a}, {app: b}]\n  resources:\n  - " + strings.TrimPrefix(indent(plain, "    "), "    "), "a@7: a; b@7: b"},
		"a template":            {"  inputs: [{app: a}, {app: b}]\n  resourcesTemplate: |\n" + indent(plain, "    "), "a@7: a; b@7: b"},
		"variables that it has": {"  inputs: [{app: a}]\n  resourcesTemplate: |\n" + indent(cm+"---\n"+vars, "    "), "a@12: a a.example.com"},
		"variables that it copies": {"  inputs: [{app: a}]\n  resourcesTemplate: |\n" + indent("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: << inputs.app >>-vars, namespace: flux-system, annotations: {fluxcd.controlplane.io/copyFrom: apps/all}}\n---\n"+vars, "    ") +
			"-- clusters/prod/vars.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: all, namespace: apps}\ndata: {HOST: all.example.com}\n", "a@11: a all.example.com"},
		"variables that it copies from what is not in Git": {"  inputs: [{app: a}]\n  resourcesTemplate: |\n" + indent("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: << inputs.app >>-vars, namespace: flux-system, annotations: {fluxcd.controlplane.io/copyFrom: apps/all}}\n---\n"+vars, "    "),
			"a@11: a"},
		"switched off": {"  inputs: [{app: a}]\n  resourcesTemplate: |\n" + indent(strings.Replace(plain, "{name:", "{annotations: {fluxcd.controlplane.io/reconcile: disabled}, name:", 1), "    "), ""},
		"from a provider, which comes later": {"  inputsFrom: [{kind: ResourceSetInputProvider, name: x}]\n  resourcesTemplate: |\n" + indent(plain, "    ") + "-- clusters/prod/more.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: more, namespace: flux-system}\n" +
			"spec: {interval: 1h, path: ./more, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n-- more/x.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSetInputProvider\nmetadata: {name: x, namespace: flux-system}\nspec: {type: Static, defaultValues: {app: b}}\n", "more@1: x; b@7: b"},
		"from a provider": {"  inputsFrom: [{kind: ResourceSetInputProvider, name: x}]\n  resourcesTemplate: |\n" + indent(plain, "    "), ""},
	} {
		t.Run(name, func(t *testing.T) {
			repo := ruletest.Load(t, rule.FluxSync+"-- clusters/prod/set.yaml --\n"+head+c.set+apps)
			fleet, err := reconcile.Reconcile(t.Context(), repo, reconcile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, k := range fleet.Clusters[0].Kustomizations[1:] {
				text := fmt.Sprintf("%s@%d:", k.Name, k.Object.Line)
				for _, o := range k.Objects {
					text += " " + o.Name
					if host, _, _ := o.Datum("host"); host != "" && host != "none" && !strings.Contains(host, "$") {
						text += " " + host
					}
				}
				got = append(got, text)
			}
			if text := strings.Join(got, "; "); text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}
