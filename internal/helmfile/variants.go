package helmfile

import (
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// outcome is a release under some assumptions, with the reasons for which helmfile then stops.
type outcome struct {
	release  *Release
	refusals []Refusal
}

// combined is a release of which several variants are possible: one that is the same in all of them,
// else one whose fields are unknown where they differ, with its variants. Variants for which
// helmfile stops don't count where it doesn't for others, nor do the values of a variable for
// which a file isn't there.
func combined(e *templates.Engine, all []templates.Branch[outcome]) outcome {
	if len(all) == 1 {
		return all[0].Result
	}
	possible := slices.DeleteFunc(slices.Clone(all), func(b templates.Branch[outcome]) bool {
		return slices.ContainsFunc(b.Result.refusals, func(r Refusal) bool {
			return r.deliberate() || !r.Doubtful && (!r.Absent || b.Assumptions != nil && len(b.Assumptions.Variables) > 0)
		})
	})
	if len(possible) == 0 {
		possible = all
	}
	var refusals []Refusal // that each variant has some of
	if !slices.ContainsFunc(possible, func(b templates.Branch[outcome]) bool { return len(b.Result.refusals) == 0 }) {
		refusals = possible[0].Result.refusals
	}
	var variants []*Release
	for _, b := range possible {
		each := b.Result.release
		each.Assumptions = b.Assumptions
		variants = append(variants, each)
	}
	return outcome{combine(e, variants), refusals}
}

// combine creates one release of its variants.
func combine(e *templates.Engine, variants []*Release) *Release {
	first := variants[0]
	byCluster := slices.ContainsFunc(variants, func(r *Release) bool { return r.Assumptions != nil && len(r.Assumptions.Variables) > 0 })
	if !slices.ContainsFunc(variants, func(r *Release) bool { return byCluster && len(variants) > 1 || !r.same(first) || r.Variants != nil }) {
		out := *first
		out.Reads = commonReads(variants)
		return &out
	}
	m := located.Unknown{Reason: Parting(variants)}
	out := *first
	out.Variants = nil
	for _, v := range variants {
		out.Variants = append(out.Variants, v.ways()...)
	}
	if len(out.Variants) > maxVariants {
		out.Variants = nil
	}
	out.Reads = commonReads(variants)
	for _, other := range variants[1:] {
		out.overlay(other, m, e.Mark(m))
	}
	return &out
}

// maxVariants bounds the variants of a release, whose file has variants too.
const maxVariants = 64

// ways are the variants of a release, or the release itself.
func (r *Release) ways() []*Release {
	if len(r.Variants) > 0 {
		return r.Variants
	}
	return []*Release{r}
}

// Parting says in words by which assumptions some variants differ.
func Parting(variants []*Release) string {
	var reasons []string
	for _, v := range variants {
		if v.Assumptions == nil {
			continue
		}
		for _, m := range v.Assumptions.Because {
			if !slices.Contains(reasons, m.Reason) {
				reasons = append(reasons, m.Reason)
			}
		}
	}
	if len(reasons) == 0 {
		return "it depends on values that are unknown"
	}
	return "it depends on values that are unknown: " + strings.Join(reasons, "; ")
}

// commonReads are the files that some variant reads; one that is missing counts where it is
// in all of them.
func commonReads(variants []*Release) map[string]bool {
	out := map[string]bool{}
	for _, v := range variants {
		for p, exists := range v.Reads {
			if exists || !slices.ContainsFunc(variants, func(other *Release) bool {
				there, read := other.Reads[p]
				return there || !read
			}) {
				out[p] = exists
			}
		}
	}
	return out
}

// overlay makes unknown what differs from another variant.
func (r *Release) overlay(other *Release, m located.Unknown, sign string) {
	alike := func(mine *located.Text, theirs located.Text) {
		if mine.Value != theirs.Value || (mine.Unknown == nil) != (theirs.Unknown == nil) {
			mine.Value, mine.Unknown = "", &m
		}
	}
	for _, pair := range [][2]*located.Text{{&r.Name, &other.Name}, {&r.Namespace, &other.Namespace}, {&r.Chart, &other.Chart},
		{&r.Version, &other.Version}, {&r.source, &other.source}} {
		alike(pair[0], *pair[1])
	}
	if (r.Skipped == nil) != (other.Skipped == nil) {
		r.Skipped = nil
	}
	r.installed, r.enabled = r.installed || other.installed, r.enabled || other.enabled
	r.CRDsOnly = r.CRDsOnly && other.CRDsOnly
	if len(r.Patches) == 0 {
		r.Patches = other.Patches
	}
	if r.PostRenderer.Value == "" {
		r.PostRenderer = other.PostRenderer
	}
	if r.Refused == "" {
		r.Refused = other.Refused
	}
	r.Needs = alikeNeeds(r.Needs, other.Needs, m)
	r.Hooks = common(r.Hooks, other.Hooks)
	r.Values.Value = alikeValue(r.Values.Value, other.Values.Value, sign)
	r.Values.Files = alikeValue(r.Values.Files, other.Values.Files, sign)
	r.Values.Sure = surely(r.Values.Sure, other.Values.Sure)
	r.Values.Unknown = append(slices.Clone(r.Values.Unknown), other.Values.Unknown...)
	r.Values.Missing = slices.DeleteFunc(slices.Clone(r.Values.Missing), func(t located.Text) bool {
		return !slices.ContainsFunc(other.Values.Missing, func(o located.Text) bool { return o.Value == t.Value })
	})
	for _, p := range append(slices.Clone(other.partial), m) {
		if !slices.ContainsFunc(r.partial, func(known located.Unknown) bool { return known.Reason == p.Reason }) {
			r.partial = append(slices.Clone(r.partial), p)
		}
	}
}

// alikeNeeds are the needs of two variants: one that only one has is unknown.
func alikeNeeds(a, b []located.Text, m located.Unknown) []located.Text {
	var out []located.Text
	has := func(list []located.Text, t located.Text) bool {
		return slices.ContainsFunc(list, func(o located.Text) bool { return o.Value == t.Value && (o.Unknown == nil) == (t.Unknown == nil) })
	}
	for _, t := range a {
		if !has(b, t) {
			t.Unknown = &m
		}
		out = append(out, t)
	}
	for _, t := range b {
		if !has(a, t) {
			t.Unknown = &m
			out = append(out, t)
		}
	}
	return out
}

// alikeValue is what two values have in common, with a mark where they differ.
func alikeValue(a, b *located.Value, text string) *located.Value {
	switch {
	case a == nil && b == nil, a != nil && b != nil && located.Equal(a, b):
		return a
	case located.IsMap(a) && located.IsMap(b):
		out := &located.Value{Place: a.Place, IsMap: true, Fields: map[string]*located.Value{}}
		for _, fields := range []map[string]*located.Value{a.Fields, b.Fields} {
			for key := range fields {
				out.Fields[key] = alikeValue(a.Fields[key], b.Fields[key], text)
			}
		}
		return out
	case a == nil:
		return &located.Value{Place: b.Place, Scalar: text}
	}
	return &located.Value{Place: a.Place, Scalar: text}
}

// surely is what two values that are sure have in common.
func surely(a, b *located.Value) *located.Value {
	switch {
	case a == nil || b == nil:
		return nil
	case located.IsMap(a) && located.IsMap(b):
		out := &located.Value{Place: a.Place, IsMap: true, Fields: map[string]*located.Value{}}
		for key, field := range a.Fields {
			if both := surely(field, b.Fields[key]); both != nil {
				out.Fields[key] = both
			}
		}
		return out
	case located.Equal(a, b):
		return a
	}
	return nil
}

// under is a release with the assumptions that its file is evaluated under: its own variants have more.
func (r *Release) under(w *templates.Assumptions) *Release {
	out := *r
	out.Assumptions = w
	return &out
}
