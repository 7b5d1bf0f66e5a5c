package flux

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// DependsOnCycle is flux-dependson-cycle.
var DependsOnCycle = rule.Rule{
	ID:       "flux-dependson-cycle",
	Title:    "a dependency cycle",
	Severity: finding.Error,
	Why: `Kustomizations that depend on each other in a cycle are never applied, and HelmReleases in a cycle are never
installed: each waits until the next one is ready. Flux does not detect cycles; all of them report "dependency
not ready".

The cycle may include more than spec.dependsOn. A Kustomization with wait: true or healthChecks is ready only
when the objects that it applies are ready. If it applies a Kustomization that depends on it, the two form a
cycle. The same applies to a HelmRelease that depends on a HelmRelease that a later Kustomization applies.

An entry with a readyExpr is skipped: only its expression decides when the dependency is ready.`,
	Fix: `Remove the unnecessary dependency, or move the shared objects to a separate Kustomization that waits for
neither.`,
	Run: func(p *rule.Pass) {
		each(p, func(w *world) {
			g := w.waits()
			for _, cycle := range g.cycles() {
				w.reportCycle(p, cycle)
			}
		})
	},
}

// state is a condition that an object can wait for: that another object is ready, or that a Kustomization has
// been applied.
type state struct {
	reconcile.Identity
	ready bool
}

// edge is a pair of states: the state from is reached only after the state to.
type edge struct {
	from, to state
	verb     string
	// dependency is the entry of spec.dependsOn that causes the edge; nil if the edge has another cause.
	dependency *dependency
}

// waiting is the graph of the states that wait for each other.
type waiting struct {
	order []state
	edges map[state][]edge
}

func (g *waiting) add(e edge) {
	if _, known := g.edges[e.from]; !known {
		g.order = append(g.order, e.from)
	}
	g.edges[e.from] = append(g.edges[e.from], e)
}

// waits returns the graph of the states that each Kustomization and HelmRelease of the cluster waits for.
func (w *world) waits() *waiting {
	g := &waiting{edges: map[state][]edge{}}
	for _, o := range w.depending() {
		ready, start := state{o.Identity, true}, state{o.Identity, true}
		var own *reconcile.Kustomization
		if isKustomization(o) {
			start.ready = false
			g.add(edge{from: ready, to: start})
			own, _ = w.cluster.Kustomization(o.Namespace, o.Name)
		}
		// The objects that the root applies may exist before it: whoever sets up the cluster may apply both by
		// hand.
		if by := o.Kustomization; by != nil && by != own && by.Parent != nil && !w.severalApply(o) {
			g.add(edge{from: start, to: state{idOf(by), false}, verb: "is applied by"})
		}
		for _, d := range dependencies(o) {
			if !d.expression && w.isThere(d.on) {
				g.add(edge{from: start, to: state{d.on, true}, verb: "depends on", dependency: &d})
			}
		}
		if own != nil {
			g.addHealth(own, ready)
		}
	}
	return g
}

// severalApply reports whether more than one Kustomization or Helm release applies an object: it exists as soon as the first of
// them has applied it.
func (w *world) severalApply(o *reconcile.Object) bool {
	return slices.ContainsFunc(w.objects[o.Identity], func(other *reconcile.Object) bool {
		return other.Kustomization != o.Kustomization || other.HelmRelease != o.HelmRelease
	})
}

// addHealth adds the objects whose health a Kustomization waits for after it was applied.
func (g *waiting) addHealth(k *reconcile.Kustomization, ready state) {
	if !k.Spec.Wait && len(k.Spec.HealthChecks) == 0 {
		return
	}
	for _, child := range k.Objects {
		if (isKustomization(child) || isHelmRelease(child)) && child.Identity != ready.Identity && waitsFor(k, child) {
			g.add(edge{from: ready, to: state{child.Identity, true}, verb: "waits for"})
		}
	}
}

// waitsFor reports whether a Kustomization becomes ready only after an object that it applies is ready.
func waitsFor(k *reconcile.Kustomization, o *reconcile.Object) bool {
	if k.Spec.Wait {
		return true
	}
	for _, check := range k.Spec.HealthChecks {
		group, _, grouped := strings.Cut(check.APIVersion, "/")
		if check.Kind == o.Kind && check.Name == o.Name && cmp.Or(check.Namespace, k.Namespace) == o.Namespace && (!grouped || group == o.Group) {
			return true
		}
	}
	return false
}

// reportCycle reports a cycle at the place of its first dependency.
func (w *world) reportCycle(p *rule.Pass, cycle []edge) {
	first := 0
	var at finding.Place
	for i, e := range cycle {
		if e.dependency == nil {
			continue
		}
		here := w.locate(e.dependency.of, e.dependency.on.Name, e.dependency.path()...)
		if at.File == "" || cmp.Or(cmp.Compare(here.File, at.File), cmp.Compare(here.Line, at.Line)) < 0 {
			first, at = i, here
		}
	}
	d := cycle[first].dependency
	if d == nil {
		return // the cycle has no dependency: its Kustomizations only wait for objects that they apply
	}
	p.ReportBuilt(d.of, finding.Finding{Place: at,
		Message: "a dependency cycle never becomes ready: " + story(slices.Concat(cycle[first:], cycle[:first])),
		Hint:    "remove one of the dependencies",
	})
}

// story describes a cycle: each object with its verb, such as "depends on", and the object that it waits for.
func story(cycle []edge) string {
	const most = 12
	var b strings.Builder
	b.WriteString(idText(cycle[0].from.Identity))
	verbs := 0
	for _, e := range cycle {
		if e.verb == "" {
			continue
		}
		if verbs++; verbs > most {
			fmt.Fprintf(&b, " …")
			break
		}
		if verbs > 1 {
			b.WriteString(", which")
		}
		fmt.Fprintf(&b, " %s %s", e.verb, idText(e.to.Identity))
	}
	return b.String()
}
