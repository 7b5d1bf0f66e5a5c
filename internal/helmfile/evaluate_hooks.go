package helmfile

import (
	"path"
	"strings"

	"github.com/fleetwright/fleetwright/internal/located"
)

// hooks are those of a release whose fields are known.
func (e *evaluation) hooks(out *Release) []Hook {
	var all []Hook
	for _, raw := range e.raw.hooks {
		h := Hook{Place: raw.Place, Before: raw.Before, Event: raw.Event}
		for _, t := range raw.Applied {
			if t, known := e.named(t, out); known {
				t.Value = path.Join(e.h.dir, t.Value)
				h.Applied = append(h.Applied, t)
			}
		}
		for _, t := range raw.Definitions {
			if _, marked := e.Marked(t.Value); !marked {
				h.Definitions = append(h.Definitions, t)
			}
		}
		for _, t := range raw.Workloads {
			if t, known := e.named(t, out); known && !strings.ContainsAny(t.Value, "{}$") {
				h.Workloads = append(h.Workloads, t)
			}
		}
		all = append(all, h)
	}
	return all
}

// named replaces the templates of a release's name and namespace, as far as these are known.
func (e *evaluation) named(t located.Text, out *Release) (located.Text, bool) {
	known := true
	t.Value = ownName.ReplaceAllStringFunc(t.Value, func(match string) string {
		of := out.Name
		if strings.Contains(match, "Namespace") {
			of = out.Namespace
		}
		known = known && of.Unknown == nil && of.Value != ""
		return of.Value
	})
	_, marked := e.Marked(t.Value)
	return t, known && !marked
}
