package bootstrap

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/located"
)

// OrderProblem is why a bootstrap file cannot be installed in its order, or not in the one that
// Git asks for.
type OrderProblem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Cluster string `json:"cluster"`
	Release string `json:"release"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
	// Refused says that helmfile stops there; otherwise the releases may be installed side by
	// side, which may go well.
	Refused bool `json:"refused"`
	// Ignored says that a comment or the configuration ignores it.
	Ignored bool `json:"ignored"`
}

// checkOrder checks the needs of the releases of a file, and that they follow what the HelmReleases
// that take them over depend on, where those are known.
func checkOrder(releases []*helmfile.Release, taken map[*helmfile.Release]*helmrelease.Release) []OrderProblem {
	o := ordering{byID: map[string]*helmfile.Release{}}
	for _, r := range releases {
		if r.Name.Unknown == nil && r.Namespace.Unknown == nil && r.Unreadable == "" {
			o.byID[r.ID()] = r
		}
	}
	for _, r := range releases {
		o.needs(r, taken)
	}
	if len(o.problems) == 0 {
		for _, r := range releases {
			o.dependsOn(r, taken)
		}
	}
	slices.SortStableFunc(o.problems, func(a, b OrderProblem) int { return cmp.Compare(a.Line, b.Line) })
	return o.problems
}

type ordering struct {
	byID     map[string]*helmfile.Release
	problems []OrderProblem
}

func (o *ordering) add(r *helmfile.Release, at located.Place, refused bool, message, hint string) {
	o.problems = append(o.problems, OrderProblem{File: at.File, Line: at.Line, Cluster: r.Cluster, Release: r.Name.Known(),
		Message: message, Hint: hint, Refused: refused})
}

// needs tells of needs that lead nowhere, or back to the release.
func (o *ordering) needs(r *helmfile.Release, taken map[*helmfile.Release]*helmrelease.Release) {
	for _, need := range r.Needs {
		if need.Unknown != nil || r.Namespace.Unknown != nil {
			continue
		}
		id := helmfile.NeedID(r, need.Value)
		needed := o.byID[id]
		switch {
		case needed == nil && o.moved(id, taken): // that is told of the other's namespace
		case needed == nil:
			o.add(r, need.Place, true, fmt.Sprintf("release %q needs %q, which the file doesn't define: helmfile stops there", r.ID(), need.Value),
				"name a release of the file as NAMESPACE/NAME")
		case needed == r || o.leads(needed, r):
			o.add(r, need.Place, true, fmt.Sprintf("release %q needs %q, which needs it in turn: helmfile stops there", r.ID(), need.Value),
				"take one of the needs away")
		}
	}
}

// moved says whether a release has this id in Git, and another one in the bootstrap.
func (o *ordering) moved(id string, taken map[*helmfile.Release]*helmrelease.Release) bool {
	for _, r := range o.byID {
		if h := taken[r]; h != nil && h.Namespace+"/"+h.Name == id {
			return true
		}
	}
	return false
}

// leads says whether a release needs another, directly or through others.
func (o *ordering) leads(from, to *helmfile.Release) bool {
	seen := map[*helmfile.Release]bool{from: true}
	for open := []*helmfile.Release{from}; len(open) > 0; open = open[1:] {
		for _, need := range open[0].Needs {
			needed := o.byID[helmfile.NeedID(open[0], need.Value)]
			if needed == to {
				return true
			}
			if needed != nil && !seen[needed] {
				seen[needed] = true
				open = append(open, needed)
			}
		}
	}
	return false
}

// dependsOn tells of releases that Flux would install after others of the file, and that the
// bootstrap may install before.
func (o *ordering) dependsOn(r *helmfile.Release, taken map[*helmfile.Release]*helmrelease.Release) {
	h := taken[r]
	if h == nil || r.CRDsOnly || slices.ContainsFunc(r.Needs, func(t located.Text) bool { return t.Unknown != nil }) {
		return
	}
	dependencies, _ := h.Field("spec", "dependsOn").([]any)
	for _, dependency := range dependencies {
		name, namespace := helmrelease.TextOf(dependency, "name"), cmp.Or(helmrelease.TextOf(dependency, "namespace"), h.MetadataNamespace())
		for _, other := range o.byID {
			on := taken[other]
			if on == nil || other.CRDsOnly || on.Applied.Name != name || on.MetadataNamespace() != namespace || o.leads(r, other) {
				continue
			}
			o.add(r, r.Place, false, fmt.Sprintf("release %q may be installed before %q, on which HelmRelease %s/%s depends",
				r.ID(), other.ID(), h.MetadataNamespace(), h.Applied.Name), fmt.Sprintf("add %q to its needs", other.ID()))
		}
	}
}
