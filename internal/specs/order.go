package specs

import (
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// order checks dependsOn and the bootstrap's needs: both name add-ons of the
// same clusters and make no cycle.
func (c *specChecker) order() {
	byName := make(map[string]*v1alpha1.Addon, len(c.Spec.Addons))
	names := make([]string, 0, len(c.Spec.Addons))
	var bootstrapped []string
	for _, a := range c.Spec.Addons {
		byName[a.Metadata.Name] = a
		names = append(names, a.Metadata.Name)
		if a.Spec.Bootstrap != nil {
			bootstrapped = append(bootstrapped, a.Metadata.Name)
		}
	}
	for _, a := range c.Spec.Addons {
		for i, ref := range a.Spec.DependsOn {
			p := strict.At("spec", "dependsOn").Item(i).Child("name")
			c.dependency(a, byName[ref.Name], ref.Name, p, names)
		}
		if a.Spec.Bootstrap == nil {
			continue
		}
		for i, name := range a.Spec.Bootstrap.Needs {
			p := strict.At("spec", "bootstrap", "needs").Item(i)
			c.need(a, byName[name], name, p, bootstrapped)
		}
	}
	c.cycles(byName, "spec.dependsOn", func(a *v1alpha1.Addon) ([]string, *strict.Path) {
		to := make([]string, 0, len(a.Spec.DependsOn))
		for _, ref := range a.Spec.DependsOn {
			to = append(to, ref.Name)
		}
		return to, strict.At("spec", "dependsOn")
	})
	c.cycles(byName, "spec.bootstrap.needs", func(a *v1alpha1.Addon) ([]string, *strict.Path) {
		if a.Spec.Bootstrap == nil {
			return nil, nil
		}
		return a.Spec.Bootstrap.Needs, strict.At("spec", "bootstrap", "needs")
	})
}

// dependency checks one dependsOn of an add-on; on is nil where there is none
// of the name.
func (c *specChecker) dependency(a, on *v1alpha1.Addon, name string, p *strict.Path, names []string) {
	switch {
	case name == "":
	case name == a.Metadata.Name:
		c.Fail(a, p, "take it out", "the add-on depends on itself")
	case on == nil:
		if !c.Incomplete {
			c.Fail(a, p, c.Report.Suggest(name, "add-on", "add an object of kind Addon", names), "there is no add-on %s", strict.Quote(name))
		}
	case a.Spec.Stage == v1alpha1.StageControllers && on.Spec.Stage == v1alpha1.StageConfigs && c.Whole(a, on):
		c.Fail(a, p, "put this add-on into stage configs, or that one into controllers",
			"an add-on of stage controllers depends on %s of stage configs, which starts after all controllers", strict.Quote(name))
	default:
		c.sameClusters(a, on, p)
	}
}

// sameClusters checks that what an add-on depends on is on its clusters.
func (c *specChecker) sameClusters(a, on *v1alpha1.Addon, p *strict.Path) {
	if !c.Whole(a, on) {
		return
	}
	for _, cluster := range c.Spec.Clusters {
		if name := cluster.Metadata.Name; c.on[a][name] && !c.on[on][name] {
			c.Fail(a, p, "add the cluster to the clusters of "+on.Metadata.Name+", or take it out of this add-on's",
				"the cluster %s gets this add-on but not %s, which it depends on", strict.Quote(name), strict.Quote(on.Metadata.Name))
			return
		}
	}
}

// need checks one of an add-on's bootstrap.needs.
func (c *specChecker) need(a, on *v1alpha1.Addon, name string, p *strict.Path, bootstrapped []string) {
	switch {
	case name == "":
	case name == a.Metadata.Name:
		c.Fail(a, p, "take it out", "the add-on needs itself")
	case on == nil:
		if !c.Incomplete {
			c.Fail(a, p, c.Report.Suggest(name, "bootstrapped add-on", "add an object of kind Addon with spec.bootstrap: {}", bootstrapped), "there is no add-on %s", strict.Quote(name))
		}
	case on.Spec.Bootstrap == nil && c.Whole(on):
		c.Fail(a, p, "add spec.bootstrap: {} to it, or take it out of the needs", "the bootstrap needs %s, which is not bootstrapped", strict.Quote(name))
	default:
		c.sameClusters(a, on, p)
	}
}

// cycles reports each cycle of references once, at the member that comes first
// by name.
func (c *specChecker) cycles(byName map[string]*v1alpha1.Addon, field string, edges func(*v1alpha1.Addon) ([]string, *strict.Path)) {
	const maxCycles = 20 // one mistake can close many
	done, depth, found := map[string]bool{}, map[string]int{}, 0
	var stack []string
	var visit func(name string)
	visit = func(name string) {
		a := byName[name]
		if i, open := depth[name]; open && found < maxCycles {
			found++
			c.cycle(byName, slices.Clone(stack[i:]), field, edges)
			return
		} else if open || a == nil || done[name] {
			return
		}
		depth[name] = len(stack)
		stack = append(stack, name)
		next, _ := edges(a)
		for _, to := range next {
			if to != name {
				visit(to)
			}
		}
		stack = stack[:len(stack)-1]
		delete(depth, name)
		done[name] = true
	}
	for _, a := range c.Spec.Addons {
		visit(a.Metadata.Name)
	}
}

// cycle reports a cycle given as its members in order.
func (c *specChecker) cycle(byName map[string]*v1alpha1.Addon, members []string, field string, edges func(*v1alpha1.Addon) ([]string, *strict.Path)) {
	first := slices.Index(members, slices.Min(members))
	members = slices.Concat(members[first:], members[:first], members[first:first+1])
	a := byName[members[0]]
	next, p := edges(a)
	if i := slices.Index(next, members[1]); i >= 0 {
		p = p.Item(i)
	}
	c.Fail(a, p, "take one of the references out", "%s makes a cycle: %s", field, strings.Join(members, " → "))
}
