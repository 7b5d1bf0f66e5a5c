package builds

import (
	"maps"
	"strings"
	"testing"
	"time"

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
		done := make(chan string, 1)
		go func() { done <- c.files.shown(c.message) }()
		select {
		case got := <-done:
			if got != c.want {
				t.Errorf("%q: got %q, want %q", c.message, got, c.want)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%q: does not end", c.message)
		}
	}
}

// A path that leads through fetched files again and again costs no more than a long path.
func TestLongRemotePath(t *testing.T) {
	f, at := mounted(t, "example.org/app@v1")
	long := strings.Repeat(at+"/", 100_000) + "deploy/a.yaml"
	start := time.Now()
	if holder, inside := f.at(long); holder != f || inside != "deploy/a.yaml" {
		t.Errorf("it leads to %q", inside)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
}
