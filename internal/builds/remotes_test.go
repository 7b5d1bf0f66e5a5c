package builds

import (
	"maps"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// mounted returns files that see those of a source of a name, and the folder at which they do.
func mounted(t *testing.T, name string) (*Files, string) {
	t.Helper()
	repo, err := repository.FromFiles(maps.All(map[string][]byte{"deploy/a.yaml": []byte("a: b\n")}), repository.Options{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	f := &Files{Repo: repo, Base: ".", Remotes: &Remotes{}}
	return f, f.Remotes.mount(chartref.Source{URL: name}, f, true)
}

// Messages name fetched files as people know them, whatever a source is called and whatever a user has written.
func TestShown(t *testing.T) {
	f, at := mounted(t, "example.org/app@v1")
	const hostile = "example.org/.fleetwright/fetched/x@v1"
	odd, oddAt := mounted(t, hostile)
	for _, c := range []struct {
		files         *Files
		message, want string
	}{
		{f, "open ../../" + at + "/deploy/a.yaml: no", "open example.org/app@v1/deploy/a.yaml: no"},
		{f, "'" + at + "' and '" + at + "'", "'example.org/app@v1' and 'example.org/app@v1'"},
		{f, "open .fleetwright/fetched/mine/a.yaml", "open .fleetwright/fetched/mine/a.yaml"},
		{odd, "open " + oddAt + "/a.yaml", "open " + hostile + "/a.yaml"},
		{&Files{Repo: f.Repo}, "open " + at + "/a.yaml", "open " + at + "/a.yaml"},
	} {
		if got := c.files.shown(c.message); got != c.want {
			t.Errorf("%q: got %q, want %q", c.message, got, c.want)
		}
	}
}

// A path may lead through fetched files again and again.
func TestLongRemotePath(t *testing.T) {
	f, at := mounted(t, "example.org/app@v1")
	long := strings.Repeat(at+"/", 100_000) + "deploy/a.yaml"
	if holder, inside := f.at(long); holder != f || inside != "deploy/a.yaml" {
		t.Errorf("it leads to %q", inside)
	}
}
