package helmfile

import (
	"cmp"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// newCall reads an item of helmfiles: a path, or a map with one.
func newCall(file string, n *yaml.Node) call {
	if n.Kind == yaml.ScalarNode {
		return call{path: located.Text{Place: located.At(file, n.Line), Value: n.Value}}
	}
	c := call{path: located.ScalarText(file, n, "path"), values: entries(file, n, "values")}
	for _, s := range located.Items(n, "selectors") {
		c.selectors = append(c.selectors, s.Value)
	}
	for _, i := range located.Items(n, "inherits") {
		c.inherits = append(c.inherits, i.Value)
	}
	return c
}

// checkCall refuses a call of a helmfile that isn't there, as helmfile does when
// it reads the part.
func (r *reader) checkCall(h *helmfile, c call) {
	if len(r.called(h, c)) == 0 && !isRemote(c.path.Value) && cmp.Or(h.missingFiles.Value, "Error") == "Error" {
		_, local := repository.Join(h.dir, c.path.Value)
		h.refuseIf(local, c.path.Place, "no matches for path: "+c.path.Value)
	}
}

// isRemote says whether helmfile fetches a path by go-getter.
func isRemote(p string) bool { return strings.Contains(p, "://") || strings.Contains(p, "::") }

// called are the files that a call runs: of a folder, all that end as a helmfile
// does, sorted.
func (r *reader) called(h *helmfile, c call) []string {
	p, local := repository.Join(h.dir, c.path.Value)
	if !local || isRemote(c.path.Value) {
		return nil
	}
	if found := r.Matching(p); len(found) > 0 {
		return found
	}
	var found []string
	for _, f := range r.Paths() {
		inside := path.Dir(f)
		if matches, err := path.Match(p, inside); err != nil || !matches {
			continue
		}
		name := strings.TrimSuffix(path.Base(f), ".gotmpl")
		if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
			found = append(found, f)
		}
	}
	return found
}
