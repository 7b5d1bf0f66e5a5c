package helmfile

import (
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/located"
)

// hooks returns the hooks of a release, with its name and namespace inserted.
func (e *evaluation) hooks(out *Release) []Hook {
	var all []Hook
	for _, raw := range slices.Concat(e.raw.hooks, e.h.hooks) {
		h := Hook{Place: raw.Place, Shared: raw.Shared, Before: raw.Before, Event: raw.Event}
		h.Applied, h.Scripts = e.files(raw.Applied, out), e.files(raw.Scripts, out)
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

// files returns the files that a hook names, relative to the root of the repository, without those with an unknown name
// and those that may be written before.
func (e *evaluation) files(named []located.Text, out *Release) []located.Text {
	var all []located.Text
	for _, t := range named {
		t, known := e.named(t, out)
		if t.Value = path.Join(e.h.dir, t.Value); known && (!e.repo.Lacks(t.Value) || e.present(t.Value, e.mentioned(e.h)) == "") {
			all = append(all, t)
		}
	}
	return all
}

// named inserts the release's name and namespace into a template, and reports whether those it needs are known.
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
