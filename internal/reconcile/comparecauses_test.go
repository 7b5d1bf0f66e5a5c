package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestCompareLeavesOutWhatCannotBeBuilt compares a cluster with one in which a Kustomization
// that leads to another one fails: what both apply is neither gone nor changed, what moved to
// another Kustomization is compared, and what that has lost is removed.
func TestCompareLeavesOutWhatCannotBeBuilt(t *testing.T) {
	config := func(name, value string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: a}\ndata: {value: %q}\n", name, value)
	}
	before := `
-- parent/nested.yaml --
` + ks("nested", "./nested") + `
-- parent/own.yaml --
` + config("own", "1") + `
-- parent/moved.yaml --
` + config("moved", "1") + `
-- nested/all.yaml --
` + config("nested", "1") + `
-- other/all.yaml --
` + config("other", "1")
	clusters := `-- clusters/prod/parent.yaml --
` + ks("parent", "./parent") + `
-- clusters/prod/other.yaml --
` + ks("other", "./other")
	after := strings.NewReplacer("-- parent/moved.yaml --", "-- other/moved.yaml --", `"1"`, `"2"`, "name: other,", "name: fresh,").Replace(before) + `
-- parent/kustomization.yaml --
resources: [nested.yaml, gone.yaml]
`
	from, to := reconciled(t, clusters+before, ""), reconciled(t, clusters+after, "")
	tell := func(from, to *Cluster) []string {
		var got []string
		for _, d := range Compare(&Fleet{Clusters: []*Cluster{from}}, &Fleet{Clusters: []*Cluster{to}}) {
			for _, o := range d.Added {
				got = append(got, "+ "+o.String())
			}
			for _, o := range d.Removed {
				got = append(got, "- "+o.String())
			}
			for _, c := range d.Changed {
				got = append(got, "~ "+c.To.String())
			}
			for _, u := range d.Unbuilt {
				got = append(got, fmt.Sprintf("! %s breaks=%t mends=%t", u, u.Breaks(), u.Fixes()))
			}
			if d.Empty() {
				got = append(got, "empty")
			}
		}
		return got
	}
	for _, c := range []struct {
		from, to *Cluster
		want     []string
	}{
		{from, to, []string{
			"+ ConfigMap a/fresh", "- ConfigMap a/other", "~ ConfigMap a/moved", "! Kustomization flux-system/parent breaks=true mends=false",
		}},
		// What the failing Kustomization applied at first isn't known: nothing says
		// that what it applies now is new.
		{to, from, []string{
			"+ ConfigMap a/other", "- ConfigMap a/fresh", "~ ConfigMap a/moved", "! Kustomization flux-system/parent breaks=false mends=true",
		}},
		{to, to, []string{"! Kustomization flux-system/parent breaks=false mends=false", "empty"}},
		{from, from, nil},
	} {
		if got := tell(c.from, c.to); !slices.Equal(got, c.want) {
			t.Errorf("compared\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// ks is a Flux Kustomization of a path.
func ks(name, path string) string {
	return fmt.Sprintf(`apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %s, namespace: flux-system}
spec: {interval: 1h, prune: true, path: %s, sourceRef: {kind: GitRepository, name: flux-system}}
`, name, path)
}
