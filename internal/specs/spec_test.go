package specs

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/testpeer"
)

func names(clusters []*v1alpha1.Cluster) []string {
	var out []string
	for _, c := range clusters {
		out = append(out, c.Metadata.Name)
	}
	return out
}

func TestSelected(t *testing.T) {
	spec := mustLoad(t, specFiles(t))
	for _, test := range []struct {
		sel  v1alpha1.ClusterSelector
		want []string
	}{
		{v1alpha1.ClusterSelector{}, []string{"production-eu", "production-us", "staging"}},
		{v1alpha1.ClusterSelector{Names: []string{"staging", "production-us"}}, []string{"production-us", "staging"}},
		{v1alpha1.ClusterSelector{Environments: []string{"production"}}, []string{"production-eu", "production-us"}},
		{v1alpha1.ClusterSelector{MatchLabels: map[string]string{"region": "eu"}}, []string{"production-eu", "staging"}},
		{v1alpha1.ClusterSelector{Environments: []string{"production"}, MatchLabels: map[string]string{"region": "eu"}}, []string{"production-eu"}},
		{v1alpha1.ClusterSelector{Names: []string{"staging"}, Environments: []string{"production"}}, nil},
	} {
		if got := names(spec.Selected(test.sel)); !slices.Equal(got, test.want) {
			t.Errorf("%+v: got %v, want %v", test.sel, got, test.want)
		}
	}
}

func TestAddonsOn(t *testing.T) {
	spec := mustLoad(t, specFiles(t))
	for cluster, want := range map[string][]string{
		"staging":       {"app", "cert-manager", "cilium"},
		"production-eu": {"app", "cert-manager", "cilium", "issuers"},
	} {
		var got []string
		for _, a := range spec.AddonsOn(spec.Cluster(cluster)) {
			got = append(got, a.Metadata.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", cluster, got, want)
		}
	}
	if spec.Cluster("none") != nil || spec.Addon("none") != nil {
		t.Error("there is something that is not there")
	}
}

func TestTenantClusters(t *testing.T) {
	spec := mustLoad(t, append(specFiles(t), File{"t.yaml", []byte(`
apiVersion: fleetwright.dev/v1alpha1
kind: Tenant
metadata: {name: by-name}
spec: {environments: {production: ./prod, production-us: us/}, source: {url: "https://h/x", path: deploy}}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Cluster
metadata: {name: edge}
spec: {}
`)}))
	tenant := func(name string) *v1alpha1.Tenant {
		return spec.Tenants[slices.IndexFunc(spec.Tenants, func(t *v1alpha1.Tenant) bool { return t.Metadata.Name == name })]
	}
	for name, want := range map[string][]v1alpha1.TenantCluster{
		"by-name": {{Cluster: "production-eu", Path: "./deploy/prod"}, {Cluster: "production-us", Path: "./deploy/us"}},
		"team-a":  {{Cluster: "edge", Path: "./edge"}, {Cluster: "production-eu", Path: "./production"}, {Cluster: "production-us", Path: "./production"}, {Cluster: "staging", Path: "./staging"}},
	} {
		if got := spec.TenantClusters(tenant(name)); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	root := &v1alpha1.Tenant{Spec: v1alpha1.TenantSpec{Source: v1alpha1.TenantSource{Path: "./"}, Environments: map[string]string{"staging": "."}}}
	if got := spec.TenantClusters(root); len(got) != 1 || got[0].Path != "./" {
		t.Errorf("the root: got %v", got)
	}
}

func TestEffectiveValues(t *testing.T) {
	spec := mustLoad(t, specFiles(t))
	app := spec.Addon("app")
	staging := spec.EffectiveValues(app, spec.Cluster("staging"))
	if _, has := staging["bools"]; has {
		t.Error("null does not delete")
	}
	if want := map[string]any{"a": int64(1), "b": map[string]any{"c": int64(2), "d": int64(4)}}; !reflect.DeepEqual(staging["base"], want) {
		t.Errorf("maps do not merge: %v", staging["base"])
	}
	staging["base"].(map[string]any)["b"].(map[string]any)["c"] = "changed"
	staging["ints"].([]any)[0] = "changed"
	if again := mustLoad(t, specFiles(t)); !again.Equal(spec) {
		t.Error("the effective values share something with the specification")
	}
	if production := spec.EffectiveValues(app, spec.Cluster("production-eu")); !reflect.DeepEqual(production, app.Spec.Values) {
		t.Error("values differ on a cluster without an override")
	}
	if values := spec.EffectiveValues(spec.Addon("issuers"), spec.Cluster("staging")); values != nil {
		t.Errorf("values of an add-on without any: %v", values)
	}
}

// TestEffectiveValuesAsKustomize holds the merge to what kustomize makes of the
// override as a patch of a HelmRelease.
func TestEffectiveValuesAsKustomize(t *testing.T) {
	for i, test := range []struct{ values, patch string }{
		{"{a: 1, b: {c: 2, d: 3}}", "{b: {c: 4}, e: 5}"},
		{"{a: 1, b: {c: 2, d: 3}}", "{a: null, b: {d: null}}"},
		{"{l: [1, 2, 3], m: {l: [{name: a}, {name: b}]}}", "{l: [4], m: {l: [{name: b, x: 1}]}}"},
		{"{a: null, b: null}", "{a: {x: 1}, b: text}"},
		{"{a: [1], b: {x: 1}, c: {x: 1}}", "{a: [], b: {}, c: null}"},
		{"{a: {x: null, y: 1}}", "{a: {y: 2}}"},
		{"{a: {y: 1}}", "{a: {y: null, z: {n: null, m: 1}}}"},
		{"{a: {y: 1}}", "{a: {z: {n: null}}}"},
		{"{a: {}, b: []}", "{a: {z: 1}, b: [1]}"},
		{"{a: 1}", "{n: {x: 1, y: {z: 2}}, l: []}"},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			dir := t.TempDir()
			release := "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x}\nspec: {values: %s}\n"
			for name, content := range map[string]string{
				"base.yaml": fmt.Sprintf(release, test.values), "patch.yaml": fmt.Sprintf(release, test.patch),
				"kustomization.yaml": "resources: [base.yaml]\npatches: [{path: patch.yaml}]\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			out := testpeer.Command{Tool: "kustomize", Args: []string{"build", dir}, Reads: []string{dir}}.Output(t)
			var want struct {
				Spec struct{ Values map[string]any }
			}
			if err := yaml.Unmarshal([]byte(out), &want); err != nil {
				t.Fatal(err)
			}
			a := &v1alpha1.Addon{Spec: v1alpha1.AddonSpec{Values: parse(t, test.values), Overrides: []v1alpha1.AddonOverride{{Values: parse(t, test.patch)}}}}
			if got := (&v1alpha1.Spec{}).EffectiveValues(a, &v1alpha1.Cluster{}); !reflect.DeepEqual(got, want.Spec.Values) {
				t.Errorf("got %v, kustomize makes %v", got, want.Spec.Values)
			}
		})
	}
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCheckTransitions(t *testing.T) {
	spec := mustLoad(t, append(specFiles(t), File{"t.yaml", []byte(`
apiVersion: fleetwright.dev/v1alpha1
kind: Tenant
metadata: {name: leaving}
spec: {source: {url: "https://h/x"}, state: Removed}
`)}))
	now := map[string]v1alpha1.State{}
	for _, t := range spec.Tenants {
		now[t.Metadata.Name] = t.Spec.State
	}
	for _, test := range []struct {
		name     string
		previous map[string]v1alpha1.State
		want     []string
	}{
		{"first render", nil, nil},
		{"all as before", map[string]v1alpha1.State{"team-a": v1alpha1.StateActive, "leaving": v1alpha1.StateRemoved}, nil},
		{"step by step", map[string]v1alpha1.State{"leaving": v1alpha1.StateDraining}, nil},
		{"back again", map[string]v1alpha1.State{"team-a": v1alpha1.StateDraining}, nil},
		{"removed and gone", map[string]v1alpha1.State{"gone": v1alpha1.StateRemoved}, nil},
		{"active and gone", map[string]v1alpha1.State{"gone": v1alpha1.StateActive}, []string{`Tenant gone: tenant "gone" is Active and was removed from the specification`}},
		{"draining and gone", map[string]v1alpha1.State{"gone": v1alpha1.StateDraining}, []string{`Tenant gone: tenant "gone" is Draining and was removed from the specification`}},
		{"at once", map[string]v1alpha1.State{"leaving": v1alpha1.StateActive}, []string{`t.yaml:5:45: tenant "leaving" was Active and cannot become Removed in one step`}},
		{"two", map[string]v1alpha1.State{"b": v1alpha1.StateActive, "a": v1alpha1.StateActive}, []string{`Tenant a: tenant "a" is Active and was removed from the specification`, `Tenant b: tenant "b" is Active and was removed from the specification`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, e := range CheckTransitions(now, test.previous, spec.States) {
				got = append(got, e.Error())
				if e.Hint == "" {
					t.Error("no hint")
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
