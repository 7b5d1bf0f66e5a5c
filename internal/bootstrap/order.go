package bootstrap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// RuleOrder is about the order in which a bootstrap installs its releases.
const RuleOrder = "bootstrap-order"

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
func checkOrder(releases []*release, taken map[*release]*helmRelease) []OrderProblem {
	o := ordering{byID: map[string]*release{}}
	for _, r := range releases {
		if r.name.unknown == nil && r.namespace.unknown == nil && r.unreadable == "" {
			o.byID[r.id()] = r
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
	byID     map[string]*release
	problems []OrderProblem
}

func (o *ordering) add(r *release, at place, refused bool, message, hint string) {
	o.problems = append(o.problems, OrderProblem{File: at.file, Line: at.line, Cluster: r.cluster, Release: shown(r.name),
		Message: message, Hint: hint, Refused: refused})
}

// needID is the id of the release that a need names: NAMESPACE/NAME, NAME in the release's own
// namespace, or either with a kube context in front.
func needID(r *release, need string) string {
	if !strings.Contains(need, "/") {
		return r.namespace.value + "/" + need
	}
	if parts := strings.Split(need, "/"); len(parts) > 2 {
		return strings.Join(parts[len(parts)-2:], "/")
	}
	return need
}

// needs tells of needs that lead nowhere, or back to the release.
func (o *ordering) needs(r *release, taken map[*release]*helmRelease) {
	for _, need := range r.needs {
		if need.unknown != nil || r.namespace.unknown != nil {
			continue
		}
		id := needID(r, need.value)
		needed := o.byID[id]
		switch {
		case needed == nil && o.moved(id, taken): // that is told of the other's namespace
		case needed == nil:
			o.add(r, need.place, true, fmt.Sprintf("release %q needs %q, which the file doesn't define: helmfile stops there", r.id(), need.value),
				"name a release of the file as NAMESPACE/NAME")
		case needed == r || o.leads(needed, r):
			o.add(r, need.place, true, fmt.Sprintf("release %q needs %q, which needs it in turn: helmfile stops there", r.id(), need.value),
				"take one of the needs away")
		}
	}
}

// moved says whether a release has this id in Git, and another one in the bootstrap.
func (o *ordering) moved(id string, taken map[*release]*helmRelease) bool {
	for _, r := range o.byID {
		if h := taken[r]; h != nil && h.namespace+"/"+h.name == id {
			return true
		}
	}
	return false
}

// leads says whether a release needs another, directly or through others.
func (o *ordering) leads(from, to *release) bool {
	seen := map[*release]bool{from: true}
	for open := []*release{from}; len(open) > 0; open = open[1:] {
		for _, need := range open[0].needs {
			needed := o.byID[needID(open[0], need.value)]
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
func (o *ordering) dependsOn(r *release, taken map[*release]*helmRelease) {
	h := taken[r]
	if h == nil || r.crdsOnly || slices.ContainsFunc(r.needs, func(t text) bool { return t.unknown != nil }) {
		return
	}
	dependencies, _ := h.field("spec", "dependsOn").([]any)
	for _, dependency := range dependencies {
		name, namespace := textOf(dependency, "name"), cmp.Or(textOf(dependency, "namespace"), h.metadataNamespace())
		for _, other := range o.byID {
			on := taken[other]
			if on == nil || other.crdsOnly || on.applied.Name != name || on.metadataNamespace() != namespace || o.leads(r, other) {
				continue
			}
			o.add(r, r.place, false, fmt.Sprintf("release %q may be installed before %q, on which HelmRelease %s/%s depends",
				r.id(), other.id(), h.metadataNamespace(), h.applied.Name), fmt.Sprintf("add %q to its needs", other.id()))
		}
	}
}
