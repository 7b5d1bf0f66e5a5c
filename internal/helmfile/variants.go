package helmfile

import (
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// variant is a release under some values of environment variables.
type variant = templates.Branch[*Release]

// combined merges the possible variants of a release: fields in which they differ are unknown. Variants that helmfile
// refuses don't count if it accepts others.
func combined(all []variant) *Release {
	possible := slices.DeleteFunc(slices.Clone(all), func(v variant) bool {
		return slices.ContainsFunc(v.Result.Refusals, func(r Refusal) bool { return !r.Doubtful })
	})
	if len(possible) == 0 {
		possible = all
	}
	out := *possible[0].Result
	if len(possible) == 1 {
		return &out
	}
	out.Variants = nil
	for _, v := range possible {
		if len(v.Result.Variants) > 0 { // it already has variants, of the same file
			out.Variants = append(out.Variants, v.Result.Variants...)
			continue
		}
		each := *v.Result
		each.Assumptions = v.Assumptions
		out.Variants = append(out.Variants, &each)
	}
	m := located.Unknown{Reason: VariantReason(out.Variants)}
	out.Reads = maps.Clone(out.Reads)
	for _, v := range out.Variants[1:] {
		out.overlay(v, m)
	}
	return &out
}

// VariantReason returns a reason that names the variables by which variants differ.
func VariantReason(variants []*Release) string {
	var reasons []string
	for _, v := range variants {
		for _, m := range v.Assumptions.Because {
			if !slices.Contains(reasons, m.Reason) {
				reasons = append(reasons, m.Reason)
			}
		}
	}
	return "it depends on values that are unknown: " + strings.Join(reasons, "; ")
}

// overlay marks as unknown the fields that differ from another variant's.
func (r *Release) overlay(other *Release, m located.Unknown) {
	for mine, theirs := range map[*located.Text]located.Text{&r.Name: other.Name, &r.Namespace: other.Namespace, &r.Chart: other.Chart,
		&r.Version: other.Version, &r.source: other.source} {
		if mine.Value != theirs.Value || (mine.Unknown == nil) != (theirs.Unknown == nil) {
			mine.Value, mine.Unknown = "", &m
		}
	}
	if r.Folder != other.Folder {
		r.Folder = ""
	}
	if (r.Skipped == nil) != (other.Skipped == nil) {
		r.Skipped, r.undecided = nil, true
	}
	if r.Values.Value == nil || other.Values.Value == nil || !located.Equal(r.Values.Value, other.Values.Value) {
		empty := located.EmptyMap(r.Place)
		r.Values = located.Layers{Value: empty, Sure: empty, Unknown: []located.Unknown{m}}
	}
	if !slices.EqualFunc(r.Needs, other.Needs, func(a, b located.Text) bool { return a.Value == b.Value }) {
		r.Needs = []located.Text{{Place: r.Place, Unknown: &m}}
	}
	r.Hooks = common(r.Hooks, other.Hooks)
	maps.Copy(r.Reads, other.Reads)
	if len(other.Refusals) == 0 {
		r.Refusals = nil
	}
}
