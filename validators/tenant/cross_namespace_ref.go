package tenant

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// CrossNamespaceRef is the rule tenant-cross-namespace-ref.
var CrossNamespaceRef = rule.Rule{
	ID:       "tenant-cross-namespace-ref",
	Title:    "a reference to another namespace's source or object",
	Severity: finding.Error,
	Why: `A Flux controller reads a source with its own permissions, whoever references it. A tenant's reference to a
source in another namespace therefore uses that namespace's credentials, for example to read the platform's
whole repository. If Flux is locked down (--no-cross-namespace-refs), every such reference fails with
AccessDenied, including the platform's own.

dependsOn may name another namespace even under lockdown: whether an object there is ready reveals little. A
readyExpr, however, can read the whole object with the controller's permissions: its spec, and the variables and
paths in it.`,
	Fix: `Create a source in the object's own namespace, and remove the namespace from the reference.`,
	Run: func(p *rule.Pass) {
		for _, c := range clusters(p) {
			for _, o := range c.Objects() {
				for _, ref := range referencesOf(o) {
					c.judgeReference(p, o, ref)
				}
				c.judgeDependencies(p, o)
			}
		}
	},
}

// referenceFields are the fields with references to sources, by kind. For a list, all items are checked.
// Source: the API reference of each controller. References of a Provider, and to Secrets, have no namespace.
var referenceFields = map[string][][]any{
	fluxapi.KustomizeGroup + "/Kustomization":           {{"spec", "sourceRef"}},
	fluxapi.HelmGroup + "/HelmRelease":                  {{"spec", "chartRef"}, {"spec", "chart", "spec", "sourceRef"}},
	fluxapi.ImageGroup + "/ImageUpdateAutomation":       {{"spec", "sourceRef"}},
	fluxapi.ImageGroup + "/ImagePolicy":                 {{"spec", "imageRepositoryRef"}},
	fluxapi.NotificationGroup + "/Alert":                {{"spec", "eventSources"}},
	fluxapi.NotificationGroup + "/Receiver":             {{"spec", "resources"}},
	fluxapi.ArtifactGroup + "/ArtifactGenerator":        {{"spec", "sources"}},
	fluxapi.OperatorGroup + "/ResourceSetInputProvider": {{"spec", "selectors"}},
}

// referencesOf returns the paths of an object's references to other namespaces.
func referencesOf(o *reconcile.Object) [][]any {
	var paths [][]any
	add := func(path []any) {
		if namespace := o.Text(append(path, "namespace")...); namespace != "" && namespace != o.Namespace && o.Namespace != "" {
			paths = append(paths, append(path, "namespace"))
		}
	}
	for _, path := range referenceFields[o.Group+"/"+o.Kind] {
		path = path[:len(path):len(path)]
		add(path)
		for i := range o.List(path...) {
			add(append(path, i))
		}
	}
	return paths
}

func (c *cluster) judgeReference(p *rule.Pass, o *reconcile.Object, path []any) {
	to := o.Text(path...)
	if !c.forbids(o.Namespace, to) {
		return
	}
	from := c.byNamespace[o.Namespace]
	f := finding.Finding{Hint: "create a source in the same namespace"}
	switch {
	case from == nil:
		f.Message = fmt.Sprintf("%s refers to namespace %q: Flux is locked down and refuses it", o, to)
	case c.lockdown.refusesCrossRefs():
		f.Message = fmt.Sprintf("tenant %s: %s refers to namespace %q: Flux is locked down and refuses it", from.name, o, to)
	default:
		f.Message = fmt.Sprintf("tenant %s: %s reads a source of namespace %q with that namespace's credentials", from.name, o, to)
	}
	p.ReportBuilt(o, f, path...)
}

// forbids reports whether an object of a namespace must not refer to a source of another one: Flux refuses the reference,
// or the source belongs to a tenant.
func (c *cluster) forbids(namespace, to string) bool {
	from := c.byNamespace[namespace]
	return namespace != to && (c.lockdown.refusesCrossRefs() || from != nil && from != c.byNamespace[to])
}

// ForbidsReference reports whether an object of a namespace of a cluster must not refer to a source of another namespace.
func ForbidsReference(p *rule.Pass, of *reconcile.Cluster, namespace, to string) bool {
	c := models.Of(p)[of.Name]
	switch {
	case of.Root.Boundary != nil:
		return namespace != to
	case c == nil:
		c = &cluster{Cluster: of, lockdown: lockdownOf(p.Repo, &cluster{Cluster: of})}
	}
	return c.forbids(namespace, to)
}

// judgeDependencies reports dependencies that read an object of another namespace, which Flux allows even under
// lockdown. An object that a ResourceSet names without a namespace is cluster-scoped.
func (c *cluster) judgeDependencies(p *rule.Pass, o *reconcile.Object) {
	t := c.byNamespace[o.Namespace]
	if t == nil || !isReconciler(o) {
		return
	}
	for i := range o.List("spec", "dependsOn") {
		at := []any{"spec", "dependsOn", i, "readyExpr"}
		to := o.Text("spec", "dependsOn", i, "namespace")
		if o.Kind == "ResourceSet" && c.isClusterScopedKind(o.Text("spec", "dependsOn", i, "apiVersion"), o.Text("spec", "dependsOn", i, "kind")) {
			to = "" // the operator's client ignores the namespace
		}
		if o.Field(at...) == nil || to == "" && o.Kind != "ResourceSet" || to == o.Namespace || to != "" && c.byNamespace[to] == t {
			continue
		}
		where := fmt.Sprintf("an object of namespace %q", to)
		if to == "" {
			where = "a cluster-scoped object"
		}
		p.ReportBuilt(o, finding.Finding{
			Message: fmt.Sprintf("tenant %s: %s reads %s with the controller's account (readyExpr)", t.name, o, where),
			Hint:    "remove readyExpr: without it, the object only needs to be ready",
		}, at...)
	}
}
