package reconcile

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/roots"
)

// TestClusterNames: a cluster has one name, and is found by it, by its path, and by what a folder
// beside it calls it.
func TestClusterNames(t *testing.T) {
	for _, c := range []struct{ roots, names, asked, found string }{
		{"clusters/eu clusters/us", "eu us", "eu clusters/eu clusters flux", "eu eu - -"},
		{"kubernetes/main/flux kubernetes/test/flux", "main test", "main flux kubernetes/test/flux", "main - test"},
		{"kubernetes/main/flux", "main", "main kubernetes flux", "main main main"},
		{"cluster/flux", "cluster", "cluster flux cluster/flux", "cluster cluster cluster"},
		{"apps", "apps", "apps", "apps"},
		{"apps infrastructure", "apps infrastructure", "apps", "apps"},
		{"fleet/apps fleet/prod", "apps prod", "apps fleet", "apps -"},
		{"a/main b/main", "a b", "a main", "a -"},
		{"a/b b/a", "a b", "a b", "a b"},
		{"x/y y/x z/y", "x x/y z", "x z y/x", "x z x"},
		{".", ".", ".", "."},
	} {
		f := &Fleet{}
		for path := range strings.FieldsSeq(c.roots) {
			f.Clusters = append(f.Clusters, &Cluster{Root: roots.Root{Path: path}})
		}
		f.nameClusters()
		var names []string
		for _, cluster := range f.Clusters {
			names = append(names, cluster.Name)
			if found, ok := f.Named(cluster.Name); !ok || found != cluster {
				t.Errorf("%s: %s is not found by its name", c.roots, cluster.Name)
			}
		}
		if got := strings.Join(names, " "); got != c.names {
			t.Errorf("%s: got %s", c.roots, got)
		}
		found := strings.Fields(c.found)
		for i, name := range strings.Fields(c.asked) {
			got := "-"
			if cluster, err := f.Cluster(name); err == nil {
				got = cluster.Name
			}
			if got != found[i] {
				t.Errorf("%s: %s is %s, want %s", c.roots, name, got, found[i])
			}
		}
	}
}
