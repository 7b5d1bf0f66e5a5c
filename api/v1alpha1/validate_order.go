package v1alpha1

import (
	"slices"
	"strings"
)

// order checks dependsOn and the bootstrap's needs: both name add-ons of the
// same clusters and make no cycle.
func (c *checker) order() {
	byName := make(map[string]*Addon, len(c.spec.Addons))
	names := make([]string, 0, len(c.spec.Addons))
	var bootstrapped []string
	for _, a := range c.spec.Addons {
		byName[a.Metadata.Name] = a
		names = append(names, a.Metadata.Name)
		if a.Spec.Bootstrap != nil {
			bootstrapped = append(bootstrapped, a.Metadata.Name)
		}
	}
	for _, a := range c.spec.Addons {
		for i, ref := range a.Spec.DependsOn {
			p := at("spec", "dependsOn").item(i).child("name")
			c.dependency(a, byName[ref.Name], ref.Name, p, names)
		}
		if a.Spec.Bootstrap == nil {
			continue
		}
		for i, name := range a.Spec.Bootstrap.Needs {
			p := at("spec", "bootstrap", "needs").item(i)
			c.need(a, byName[name], name, p, bootstrapped)
		}
	}
	c.cycles(byName, "spec.dependsOn", func(a *Addon) ([]string, *fieldPath) {
		to := make([]string, 0, len(a.Spec.DependsOn))
		for _, ref := range a.Spec.DependsOn {
			to = append(to, ref.Name)
		}
		return to, at("spec", "dependsOn")
	})
	c.cycles(byName, "spec.bootstrap.needs", func(a *Addon) ([]string, *fieldPath) {
		if a.Spec.Bootstrap == nil {
			return nil, nil
		}
		return a.Spec.Bootstrap.Needs, at("spec", "bootstrap", "needs")
	})
}

// dependency checks one dependsOn of an add-on; on is nil where there is none
// of the name.
func (c *checker) dependency(a, on *Addon, name string, p *fieldPath, names []string) {
	switch {
	case name == "":
	case name == a.Metadata.Name:
		c.fail(a, p, "take it out", "the add-on depends on itself")
	case on == nil:
		if !c.incomplete {
			c.fail(a, p, c.report.suggest(name, "add-on", "add an object of kind Addon", names), "there is no add-on %s", quote(name))
		}
	case a.Spec.Stage == StageControllers && on.Spec.Stage == StageConfigs && c.whole(a, on):
		c.fail(a, p, "put this add-on into stage configs, or that one into controllers",
			"an add-on of stage controllers depends on %s of stage configs, which starts after all controllers", quote(name))
	default:
		c.sameClusters(a, on, p)
	}
}

// sameClusters checks that what an add-on depends on is on its clusters.
func (c *checker) sameClusters(a, on *Addon, p *fieldPath) {
	if !c.whole(a, on) {
		return
	}
	for _, cluster := range c.spec.Clusters {
		if name := cluster.Metadata.Name; c.on[a][name] && !c.on[on][name] {
			c.fail(a, p, "add the cluster to the clusters of "+on.Metadata.Name+", or take it out of this add-on's",
				"the cluster %s gets this add-on but not %s, which it depends on", quote(name), quote(on.Metadata.Name))
			return
		}
	}
}

// need checks one of an add-on's bootstrap.needs.
func (c *checker) need(a, on *Addon, name string, p *fieldPath, bootstrapped []string) {
	switch {
	case name == "":
	case name == a.Metadata.Name:
		c.fail(a, p, "take it out", "the add-on needs itself")
	case on == nil:
		if !c.incomplete {
			c.fail(a, p, c.report.suggest(name, "bootstrapped add-on", "add an object of kind Addon with spec.bootstrap: {}", bootstrapped), "there is no add-on %s", quote(name))
		}
	case on.Spec.Bootstrap == nil && c.whole(on):
		c.fail(a, p, "add spec.bootstrap: {} to it, or take it out of the needs", "the bootstrap needs %s, which is not bootstrapped", quote(name))
	default:
		c.sameClusters(a, on, p)
	}
}

// cycles reports each cycle of references once, at the member that comes first
// by name.
func (c *checker) cycles(byName map[string]*Addon, field string, edges func(*Addon) ([]string, *fieldPath)) {
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
	for _, a := range c.spec.Addons {
		visit(a.Metadata.Name)
	}
}

// cycle reports a cycle given as its members in order.
func (c *checker) cycle(byName map[string]*Addon, members []string, field string, edges func(*Addon) ([]string, *fieldPath)) {
	first := slices.Index(members, slices.Min(members))
	members = slices.Concat(members[first:], members[:first], members[first:first+1])
	a := byName[members[0]]
	next, p := edges(a)
	if i := slices.Index(next, members[1]); i >= 0 {
		p = p.item(i)
	}
	c.fail(a, p, "take one of the references out", "%s makes a cycle: %s", field, strings.Join(members, " → "))
}
