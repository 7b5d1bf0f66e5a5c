package builds

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
)

// loosen records the objects that an excluded part may change.
func (l *leftOut) loosen(e *exclusion, added []types.Patch) {
	var target *types.Selector
	text := ""
	switch value := e.value.(type) {
	case types.Patch:
		target, text = value.Target, cmp.Or(value.Patch, e.text)
	case types.PatchStrategicMerge:
		text = cmp.Or(e.text, string(value))
	case types.ReplacementField:
	case string:
		if e.field != "transformers" && e.field != "components" && e.field != "configurations" {
			return
		}
	default:
		if e.added == 0 || e.added > len(added) {
			return
		}
		target, text = added[e.added-1].Target, added[e.added-1].Patch
	}
	anchored := func(pattern string) *regexp.Regexp {
		if pattern == "" || len(pattern) > 1000 {
			return nil
		}
		r, err := regexp.Compile("^(?:" + pattern + ")$")
		if err != nil {
			return nil
		}
		return r
	}
	if target != nil {
		l.loose = append(l.loose, loosened{anchored(target.Kind), anchored(target.Name)})
		return
	}
	heads := objectsIn(text)
	for _, h := range heads {
		l.loose = append(l.loose, loosened{anchored(regexp.QuoteMeta(h.Kind)), anchored(regexp.QuoteMeta(h.Metadata.Name))})
	}
	if len(heads) == 0 {
		l.loose = append(l.loose, loosened{})
	}
}

// hide removes the objects that an excluded part may change from a build. It keeps Flux Kustomizations and marks them
// as Loose; a part that may change any object removes no sources.
func (l *leftOut) hide(b *Built) {
	b.Results = slices.DeleteFunc(b.Results, func(r Result) bool {
		return slices.ContainsFunc(l.loose, func(h loosened) bool { return h.fits(r) && (h.kind != nil || !isSource(r)) }) && !isFluxKustomization(r)
	})
	for i, r := range b.Results {
		if isFluxKustomization(r) && slices.ContainsFunc(l.loose, func(h loosened) bool { return h.fits(r) }) {
			b.Results[i].Loose = true
		}
	}
}

func (h loosened) fits(r Result) bool {
	return (h.kind == nil || h.kind.MatchString(r.Kind)) && (h.name == nil || h.name.MatchString(r.Name))
}

func groupOf(r Result) string {
	version, _ := r.Value["apiVersion"].(string)
	group, _, _ := strings.Cut(version, "/")
	return group
}

func isSource(r Result) bool { return groupOf(r) == fluxapi.SourceGroup }

func isFluxKustomization(r Result) bool {
	return groupOf(r) == fluxapi.KustomizeGroup && r.Kind == "Kustomization"
}
