package k0rdent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fleetwright/fleetwright/internal/cycle"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ServiceRefused is k0rdent-service-refused.
var ServiceRefused = rule.Rule{
	ID:       "k0rdent-service-refused",
	Title:    "a service that kcm refuses because of its name, its chain or its dependencies",
	Severity: finding.Error,
	Why: `kcm validates the services of a ClusterDeployment when it is applied, and refuses the whole object if one is
invalid. The services of a MultiClusterService are validated by its controller, which installs none of them if
one is invalid. The requirements are:

- A service in dependsOn is another service of the same list, by name and namespace. Without a namespace, it is
  "default", even if the dependent service has another namespace.
- Services do not depend on each other in a cycle.
- Name and namespace of a service are valid names of namespaces: lower-case letters, digits and dashes, at most
  63 characters.
- The chain of a service, its templateChain, supports its template.

A MultiClusterService depends on others by name: none of them may be missing, and they may not form a cycle. One
that others depend on cannot be deleted.`,
	Fix: `Correct the name, add the namespace or the missing dependency, or remove a dependency of the cycle.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			for _, o := range w.Own {
				if o.Kind == clusterKind || o.Kind == serviceKind {
					w.checkServices(p, o)
				}
			}
			w.waitForOthers(p)
		}
	},
}

// servicesAt is the path of an object's services.
var servicesAt = []any{"spec", "serviceSpec", "services"}

// at returns a path with more steps.
func at(path []any, more ...any) []any { return slices.Concat(path, more) }

// serviceKey returns a service's namespace and name, by which kcm distinguishes services.
func serviceKey(o *reconcile.Object, path []any) string {
	return cmp.Or(o.Text(at(path, "namespace")...), "default") + "/" + o.Text(at(path, "name")...)
}

// checkServices reports the services of an object that kcm refuses.
func (w *managementCluster) checkServices(p *rule.Pass, o *reconcile.Object) {
	var names []string
	there, named := map[string]bool{}, map[string]string{}
	open := false
	for i := range o.List(servicesAt...) {
		key := serviceKey(o, at(servicesAt, i))
		names, there[key] = append(names, key), true
		named[o.Text(at(servicesAt, i, "name")...)], _, _ = strings.Cut(key, "/")
		open = open || platform.Unknown(key)
		w.checkName(p, o, i)
		w.checkChain(p, o, i)
	}
	g := dependencies{of: o, names: names, edges: map[string][]edge{}}
	for i, name := range names {
		for j := range o.List(at(servicesAt, i, "dependsOn")...) {
			path := at(servicesAt, i, "dependsOn", j)
			on := serviceKey(o, path)
			if !there[on] && !open && !platform.Unknown(on) {
				p.ReportBuilt(o, finding.Finding{
					Message: fmt.Sprintf("service %s of %s depends on %s, which is not one of its services: kcm refuses it", name, o, on),
					Hint:    w.dependencyHint(on, names, named),
				}, at(path, "name")...)
			}
			g.edges[name] = append(g.edges[name], edge{to: on, of: o, path: at(path, "name")})
		}
	}
	g.report(p, "services", "kcm refuses it")
}

// dependencyHint suggests the service that a dependency was probably meant to name: the service with this name in another
// namespace, by named, or a service with a similar name.
func (w *managementCluster) dependencyHint(on string, names []string, named map[string]string) string {
	_, name, _ := strings.Cut(on, "/")
	if named[name] != "" {
		return "add namespace: " + named[name]
	}
	if near := w.Hints.Nearest(on, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// checkName reports a service whose name or namespace is not a valid name of a namespace.
func (w *managementCluster) checkName(p *rule.Pass, o *reconcile.Object, i int) {
	for _, field := range []string{"name", "namespace"} {
		path := at(servicesAt, i, field)
		name := o.Text(path...)
		if name == "" || platform.Unknown(name) {
			continue
		}
		if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
			p.ReportBuilt(o, finding.Finding{
				Message: fmt.Sprintf("%s has a service with %s %q, which kcm refuses", o, field, name),
				Hint:    "use at most 63 lower case letters, digits and dashes, with a letter or digit at both ends",
			}, path...)
		}
	}
}

// checkChain reports a service whose chain exists and does not support its template.
func (w *managementCluster) checkChain(p *rule.Pass, o *reconcile.Object, i int) {
	name, template := o.Text(at(servicesAt, i, "templateChain")...), o.Text(at(servicesAt, i, "template")...)
	chain := w.used(serviceChain, cmp.Or(o.Namespace, system), name)
	if name == "" || template == "" || chain == nil || platform.Unknown(template) {
		return
	}
	templates := supported(chain)
	w.steps += len(templates)
	if w.exceedsLimit(o, "has only services that their chains support", at(servicesAt, i, "template")...) || slices.Contains(templates, template) || slices.ContainsFunc(templates, platform.Unknown) {
		return
	}
	f := finding.Finding{Message: fmt.Sprintf("%s has a service with template %s, which its %s does not support: kcm refuses it", o, template, chain)}
	if near := w.Hints.Nearest(template, templates); near != "" {
		f.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	p.ReportBuilt(o, f, at(servicesAt, i, "template")...)
}

// waitForOthers reports MultiClusterServices that depend on a missing one, or on each other in a cycle.
func (w *managementCluster) waitForOthers(p *rule.Pass) {
	g := dependencies{edges: map[string][]edge{}}
	var references []platform.Reference
	for _, o := range w.Of(serviceKind) {
		g.names = append(g.names, o.Name)
		for i := range o.List("spec", "dependsOn") {
			r := reference(o, serviceKind, "", "spec", "dependsOn", i)
			references = append(references, r)
			g.edges[o.Name] = append(g.edges[o.Name], edge{to: r.Name, of: o, path: r.Path})
		}
	}
	there := func(r platform.Reference) (bool, string) { return false, w.Doubt(r) }
	platform.Dangling{There: there, Consequence: "kcm does not install it"}.Report(p, w.ManagementCluster, references)
	g.report(p, "MultiClusterServices", "kcm installs none of them")
}

// dependencies is a graph of dependencies between services of one object, or between objects, by name.
type dependencies struct {
	// of is the object whose services they are, nil if they are objects.
	of    *reconcile.Object
	names []string
	edges map[string][]edge
}

// edge is a dependency on a name, at a path of the object of.
type edge struct {
	to   string
	of   *reconcile.Object
	path []any
}

// report reports each cycle of dependencies at the first dependency of its first member.
func (d dependencies) report(p *rule.Pass, what, consequence string) {
	place := map[string]int{}
	for i, name := range d.names {
		place[name] = i + 1
	}
	parts := cycle.Parts(d.names, func(name string) []string {
		var to []string
		for _, e := range d.edges[name] {
			if place[e.to] > 0 {
				to = append(to, e.to)
			}
		}
		return to
	})
	for _, part := range parts {
		sorting.Func(part, func(a, b string) int { return cmp.Compare(place[a], place[b]) })
		inside := map[string]bool{}
		for _, name := range part {
			inside[name] = true
		}
		first := slices.IndexFunc(d.edges[part[0]], func(e edge) bool { return inside[e.to] })
		if first < 0 {
			continue
		}
		e := d.edges[part[0]][first]
		message := fmt.Sprintf("the %s %s depend on each other", what, listed(part))
		if len(part) == 1 {
			message = fmt.Sprintf("%s of the %s depends on itself", part[0], what)
		}
		if d.of != nil {
			message += " in " + d.of.String()
		}
		p.ReportBuilt(e.of, finding.Finding{Message: message + ": " + consequence, Hint: "remove one of the dependencies"}, e.path...)
	}
}

// mostListed is the maximum number of names in a message.
const mostListed = 8

// listed joins names for a message.
func listed(names []string) string {
	if more := len(names) - mostListed; more > 0 {
		return strings.Join(names[:mostListed], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}
