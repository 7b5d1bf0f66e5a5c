package bootstrap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/located"
)

// declaredBy reads the declarations of a HelmRelease.
func declaredBy(h *helmrelease.Release) []*intended {
	annotations, _ := h.Field("metadata", "annotations").(map[string]any)
	text, _ := annotations[IntendedAnnotation].(string)
	var all []*intended
	for entry := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ';' || c == '\n' }) {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		field, reason, _ := strings.Cut(entry, ": ")
		all = append(all, &intended{field: strings.TrimSpace(field), reason: strings.TrimSpace(reason)})
	}
	return all
}

// excuse returns the reason for which a difference is ignored: from the declarations of the HelmRelease, from its annotation
// that ignores the rule, or from a comment at either position; "" if it is not ignored.
func (j *judge) excuse(h *helmrelease.Release, declared []*intended, r *helmfile.Release, d Difference) string {
	for _, i := range declared {
		if i.covers(d.Field) {
			i.used = true
			return i.reason
		}
	}
	if r.Skipped != nil {
		return "the release is not installed"
	}
	return cmp.Or(h.Ignores[d.Rule], j.ignored(d.Rule, "HelmRelease", located.At(d.Bootstrap.File, d.Bootstrap.Line), located.At(r.File, r.Line)))
}

// ignored returns the reason for which a finding of a rule is ignored, "" if it is not: from a comment at its position or
// where the object is declared, or from the configuration. Kind is the kind of that object.
func (j *judge) ignored(rule, kind string, at, declared finding.Place) string {
	if at.File == "" {
		at = declared
	}
	for _, p := range []finding.Place{declared, at} {
		if reason := j.ignoredAt(p.File, p.Line, rule); reason != "" {
			return reason
		}
	}
	for _, s := range j.selectors {
		if s.MatchesRule(rule) && s.MatchesKind(kind) && s.MatchesPath(at.File) {
			return cmp.Or(s.Reason, "the configuration ignores it")
		}
	}
	return ""
}

// staleness collects which declarations cover a difference of some release.
type staleness struct {
	all  []Declaration
	used map[declarationKey]bool
}

// add records which declarations of a HelmRelease cover a difference of the release. If something is unresolved, all
// of them may be needed.
func (s *staleness) add(r ReleaseReport) {
	if r.helmRelease == nil {
		return
	}
	h := r.helmRelease
	for _, i := range r.declared {
		d := Declaration{File: h.File, Line: h.Line, Cluster: r.Cluster, Release: r.Release, Field: i.field,
			object: Object{h.Applied.APIVersion, h.Applied.Namespace, h.Applied.Name}}
		if at := h.Applied.Position("metadata", "annotations", IntendedAnnotation); at.File != "" {
			d.File, d.Line, d.Column = at.File, at.Line, at.Column
		}
		d.Message = fmt.Sprintf("release %q: a difference in %s is declared as intended, but there is none", d.Release, i.field)
		if i.reason == "" {
			d.Message = fmt.Sprintf("release %q: %q has no reason: want \"FIELD: reason\"", d.Release, i.field)
		}
		if s.used == nil {
			s.used = map[declarationKey]bool{}
		}
		if _, known := s.used[d.key()]; !known {
			s.all = append(s.all, d)
		}
		s.used[d.key()] = s.used[d.key()] || i.used || i.reason != "" && r.Verdict == Unresolved
	}
}

// stale returns the declarations that cover no difference.
func (s *staleness) stale() []Declaration {
	return slices.DeleteFunc(s.all, func(d Declaration) bool { return s.used[d.key()] })
}

// ignoredAt returns the reason of a comment that ignores a rule at a line of a file, "" if there is none.
func (j *judge) ignoredAt(file string, line int, rule string) string {
	if file == "" || line == 0 {
		return ""
	}
	comments, known := j.comments[file]
	if !known {
		if data, err := j.Repo.ReadFile(file); err == nil {
			comments = finding.Comments(data)
		}
		j.comments[file] = comments
	}
	for _, c := range comments {
		if c.Rule == rule && c.Covers(line) {
			return c.Reason
		}
	}
	return ""
}

// Declared reports whether the HelmRelease of the release declares a difference as intended.
func (r ReleaseReport) Declared(d Difference) bool {
	for _, i := range declaredBy(r.helmRelease) {
		if i.covers(d.Field) {
			return true
		}
	}
	return false
}
