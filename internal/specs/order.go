package specs

import (
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// order checks dependsOn and the bootstrap's needs: both must name add-ons on a common cluster and
// contain no cycle.
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

// dependency checks one dependsOn of an add-on; on is nil if no add-on has the name.
func (c *specChecker) dependency(a, on *v1alpha1.Addon, name string, p *strict.Path, names []string) {
	switch {
	case name == "":
	case name == a.Metadata.Name:
		c.Fail(a, p, "take it out", "the add-on depends on itself")
	case on == nil:
		if !c.Incomplete {
			c.Fail(a, p, c.Report.Suggest(name, "add-on", "add an object of kind Addon", names), "add-on %s does not exist", strict.Quote(name))
		}
	case a.Spec.Stage == v1alpha1.StageControllers && on.Spec.Stage == v1alpha1.StageConfigs && c.Whole(a, on):
		c.Fail(a, p, "move this add-on to stage configs, or that one to stage controllers",
			"an add-on of stage controllers depends on %s of stage configs, which is applied after all controllers", strict.Quote(name))
	default:
		c.someCluster(a, on, p)
	}
}

// someCluster checks that a cluster of an add-on has the add-on's dependency. On other clusters the dependency is ignored.
func (c *specChecker) someCluster(a, on *v1alpha1.Addon, p *strict.Path) {
	if c.Whole(a, on) && len(c.on[a]) > 0 && c.together(a, on) == "" {
		c.Fail(a, p, "add a cluster of this add-on to the clusters of "+on.Metadata.Name+", or remove it",
			"no cluster has both this add-on and %s, which it depends on", strict.Quote(on.Metadata.Name))
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
			c.Fail(a, p, c.Report.Suggest(name, "bootstrapped add-on", "add an object of kind Addon with spec.bootstrap: {}", bootstrapped), "add-on %s does not exist", strict.Quote(name))
		}
	case on.Spec.Bootstrap == nil && c.Whole(on):
		c.Fail(a, p, "add spec.bootstrap: {} to it, or remove it from the needs", "the bootstrap needs %s, which is not bootstrapped", strict.Quote(name))
	default:
		c.someCluster(a, on, p)
	}
}

// cycles reports each cycle of references once, at its first member by name.
func (c *specChecker) cycles(byName map[string]*v1alpha1.Addon, field string, edges func(*v1alpha1.Addon) ([]string, *strict.Path)) {
	const maxCycles = 20 // one mistake can create many
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

// cycle reports a cycle; members are in the order of the cycle.
func (c *specChecker) cycle(byName map[string]*v1alpha1.Addon, members []string, field string, edges func(*v1alpha1.Addon) ([]string, *strict.Path)) {
	first := slices.Index(members, slices.Min(members))
	members = slices.Concat(members[first:], members[:first], members[first:first+1])
	a := byName[members[0]]
	next, p := edges(a)
	if i := slices.Index(next, members[1]); i >= 0 {
		p = p.Item(i)
	}
	c.Fail(a, p, "remove one of the references", "%s forms a cycle: %s", field, strings.Join(members, " → "))
}
