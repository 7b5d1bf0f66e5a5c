package flux

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// DependsOnCycle is flux-dependson-cycle.
var DependsOnCycle = rule.Rule{
	ID:       "flux-dependson-cycle",
	Title:    "a dependency cycle",
	Severity: finding.Error,
	Why: `Kustomizations that depend on one another in a circle are never applied, and HelmReleases never installed:
each waits until the next is ready. Flux doesn't look for circles; all of them stay "dependency not ready".

The circle may lead through more than spec.dependsOn: a Kustomization with wait: true, or with healthChecks, is ready
when what it applies is ready. So one that depends on the Kustomization that applies it, which waits for it, is a
circle, and so is a HelmRelease that depends on one that a later Kustomization applies.

An entry with a readyExpr is left out, since only the expression says when it is ready.`,
	Fix: `Remove the dependency that isn't needed, or move what is needed on both sides into a Kustomization of its own
that neither waits for.`,
	Run: func(p *rule.Pass) {
		each(p, func(w *world) {
			g := w.waits()
			for _, circle := range g.circles() {
				w.reportCircle(p, circle)
			}
		})
	},
}

// state is what something can wait for: that an object is ready, or, of a Kustomization, that
// it is applied.
type state struct {
	reconcile.Identity
	ready bool
}

// edge says that one state isn't reached before another.
type edge struct {
	from, to state
	verb     string
	// dependency that says so; nil where the order of things does.
	dependency *dependency
}

// waiting is the graph of states.
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

// waits is what each Kustomization and HelmRelease of the cluster waits for.
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
		// What the root applies may be there before it: those who set up the cluster apply
		// both by hand.
		if by := o.Kustomization; by != nil && by != own && by.Parent != nil {
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

// addHealth adds what a Kustomization waits for once it is applied.
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

// waitsFor says whether a Kustomization is ready only when an object that it applies is.
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

// idOf is the identity of a Kustomization.
func idOf(k *reconcile.Kustomization) reconcile.Identity {
	return reconcile.Identity{Group: fluxapi.KustomizeGroup, Kind: kustomizationKind, Namespace: k.Namespace, Name: k.Name}
}

// reportCircle reports a circle where its first dependency stands.
func (w *world) reportCircle(p *rule.Pass, circle []edge) {
	first := 0
	var at place
	for i, e := range circle {
		if e.dependency == nil {
			continue
		}
		here := w.locate(e.dependency.of, e.dependency.on.Name, e.dependency.path()...)
		if at.file == "" || cmp.Or(cmp.Compare(here.file, at.file), cmp.Compare(here.line, at.line)) < 0 {
			first, at = i, here
		}
	}
	d := circle[first].dependency
	if d == nil {
		return // nothing of it is a dependency: a child that its parent waits for
	}
	p.ReportBuilt(d.of, at.in(finding.Finding{
		Message: "a dependency cycle never becomes ready: " + story(slices.Concat(circle[first:], circle[:first])),
		Hint:    "remove one of the dependencies",
	}))
}

// story tells a circle: what depends on what, which waits for what.
func story(circle []edge) string {
	const most = 12
	var b strings.Builder
	b.WriteString(idText(circle[0].from.Identity))
	told := 0
	for _, e := range circle {
		if e.verb == "" {
			continue
		}
		if told++; told > most {
			fmt.Fprintf(&b, " …")
			break
		}
		if told > 1 {
			b.WriteString(", which")
		}
		fmt.Fprintf(&b, " %s %s", e.verb, idText(e.to.Identity))
	}
	return b.String()
}
