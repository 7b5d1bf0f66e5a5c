package helmfile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// ReleaseValues are the effective values of one release.
type ReleaseValues struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Cluster string `json:"cluster"`
	// Values as Helm gets them. Keys that depend on unknown values are missing or null.
	Values map[string]any `json:"values"`
	// Unresolved are the reasons why values are missing; empty if they are complete.
	Unresolved []string `json:"unresolved"`
}

// Values returns the effective values of the release NAMESPACE/NAME: one result for each bootstrap file that declares it. It
// returns an error if no file does: a *bounds.Error if a file that was not evaluated may declare it.
func Values(ctx context.Context, repo *repository.Repository, reference string) ([]ReleaseValues, error) {
	namespace, name, ok := strings.Cut(reference, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return nil, fmt.Errorf("%q is not a release: pass NAMESPACE/NAME", reference)
	}
	var found []ReleaseValues
	var all []string
	files, _, err := ReadAll(ctx, repo)
	if err != nil {
		return nil, err
	}
	var exceeded *bounds.Error
	for _, releases := range files {
		releases, tooMuch, err := Readable(releases)
		if err != nil {
			return nil, err
		}
		exceeded = cmp.Or(exceeded, tooMuch)
		for _, r := range releases {
			all = append(all, fmt.Sprintf("%q", r.Namespace.Known()+"/"+r.Name.Known()))
			if r.Name.Known() == name && r.Namespace.Known() == namespace {
				found = append(found, r.effective())
			}
		}
	}
	if len(found) == 0 && exceeded != nil {
		return nil, exceeded
	}
	if len(found) == 0 {
		slices.Sort(all)
		err = fmt.Errorf("no bootstrap file has the release %q; existing releases: %s", reference, strings.Join(slices.Compact(all), ", "))
	}
	return found, err
}

// KnownValues returns the values of a release, if all are known and its rendered objects are not changed.
func (r *Release) KnownValues() (values map[string]any, known bool) {
	if len(r.Values.Unknown)+len(r.Values.Missing)+len(r.partial)+len(r.Patches) > 0 || r.Refused != "" || r.Values.Value == nil {
		return nil, false
	}
	values, _ = r.Values.Value.Plain().(map[string]any)
	return values, true
}

// effective returns the values without their unknown parts.
func (r *Release) effective() ReleaseValues {
	out := ReleaseValues{File: r.File, Line: r.Line, Cluster: r.Cluster, Unresolved: []string{}}
	clean := r.Values.Value.MapScalars(func(v *located.Value) *located.Value {
		if text, ok := v.Scalar.(string); ok && strings.Contains(text, templates.MarkOpen) {
			return &located.Value{Place: v.Place}
		}
		return v
	})
	out.Values, _ = clean.Plain().(map[string]any)
	for _, m := range r.Values.Unknown {
		out.Unresolved = append(out.Unresolved, m.Reason)
	}
	for _, m := range r.partial {
		out.Unresolved = append(out.Unresolved, m.Reason)
	}
	return out
}
