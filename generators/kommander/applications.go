package kommander

import (
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/step"
	"github.com/fleetwright/fleetwright/internal/layout"
)

// clusterName is the label with the name of a cluster, by which AppDeployments select clusters.
const clusterName = "kommander.d2iq.io/cluster-name"

// coreApplications writes the AppDeployments of the applications that earlier steps have installed, which Kommander
// manages from then on. It also writes the AppDeployment of Flux for the attached clusters. The Flux of the management
// cluster belongs to the Fleet.
func (g *generator) coreApplications() {
	list := []v1alpha1.KommanderApplication{
		{Name: v1alpha1.KommanderAppManagementApp, Version: g.k.AppManagement.Version, Clusters: []string{v1alpha1.KommanderHost}},
	}
	if m := g.k.ChartMuseum; m != nil {
		list = append(list, v1alpha1.KommanderApplication{Name: v1alpha1.KommanderChartMuseumApp, Version: m.Version, Clusters: []string{v1alpha1.KommanderHost}})
	}
	files := map[string][]any{v1alpha1.KommanderFluxApp + ".yaml": {g.fluxDeployment(namespace, notIn(v1alpha1.KommanderHost))}}
	for _, a := range list {
		a.Application, a.Kind = a.Name, "ClusterApp"
		files[a.Name+".yaml"] = g.deployment(namespace, a)
	}
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepCore, After: []string{v1alpha1.KommanderStepAppManagement}, Files: files,
		Comments: map[string]string{v1alpha1.KommanderFluxApp + ".yaml": "The management cluster already has the Fleet's Flux: a second one would reconcile the same objects."},
	})
}

// fluxDeployment returns the AppDeployment of Flux in a namespace. If selector is nil, it is for all clusters
// of the namespace.
func (g *generator) fluxDeployment(namespace string, selector spec) any {
	s := spec{"appRef": spec{"kind": "ClusterApp", "name": v1alpha1.KommanderFluxApp + "-" + g.spec.FluxVersion()}}
	if selector != nil {
		s["clusterSelector"] = selector
	}
	return newObject(apps, "AppDeployment", metadata{Name: v1alpha1.KommanderFluxApp, Namespace: namespace}, s)
}

// applications writes the AppDeployments of the management cluster. Kommander itself is one of them, so the
// later steps wait for its CustomResourceDefinitions.
func (g *generator) applications() {
	files := map[string][]any{}
	for _, a := range g.k.Applications {
		files[a.Name+".yaml"] = g.deployment(namespace, a)
	}
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepApplications, Stays: true, After: []string{v1alpha1.KommanderStepCore}, Files: files, Unit: g.definitionsThere(),
	})
}

// definitionsThere returns a unit that waits for the CustomResourceDefinitions of the kinds that the next steps
// use.
func (g *generator) definitionsThere() layout.Unit {
	var names []string
	if g.k.Ingress != nil || g.attaches() {
		names = append(names, "kommanderclusters.kommander.mesosphere.io")
	}
	if len(g.k.Groups) > 0 {
		names = append(names, "virtualgroups.kommander.mesosphere.io")
	}
	if len(g.k.Workspaces) > 0 {
		names = append(names, "workspaces.workspaces.kommander.mesosphere.io")
	}
	if len(g.k.Projects) > 0 {
		names = append(names, "projects.workspaces.kommander.mesosphere.io")
	}
	var u layout.Unit
	for _, n := range names {
		u.HealthChecks = append(u.HealthChecks, meta.NamespacedObjectKindReference{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: n})
	}
	return u
}

func (g *generator) attaches() bool {
	for _, w := range g.k.Workspaces {
		if len(w.Clusters) > 0 {
			return true
		}
	}
	return false
}

// deployment returns an AppDeployment, with the ConfigMaps of its values.
func (g *generator) deployment(namespace string, a v1alpha1.KommanderApplication) []any {
	s := spec{"appRef": spec{"kind": a.Kind, "name": a.ObjectName()}}
	out := []any{nil}
	values := func(n string, v map[string]any) string {
		if len(v) == 0 {
			return ""
		}
		out = append(out, configMap(metadata{Name: n, Namespace: namespace}, map[string]string{"values.yaml": g.text(v)}))
		return n
	}
	if n := values(a.Name+"-overrides", a.Values); n != "" {
		s["configOverrides"] = name(n)
	}
	if a.Clusters != nil {
		s["clusterSelector"] = in(a.Clusters...)
	}
	var overrides []any
	for _, o := range a.Overrides {
		override := spec{"clusterSelector": in(o.Clusters...), "configMapName": values(a.Name+"-"+o.Name+"-overrides", o.Values)}
		if o.Version != "" {
			override["appVersion"] = o.Version
		}
		overrides = append(overrides, override)
	}
	if overrides != nil {
		s["clusterConfigOverrides"] = overrides
	}
	out[0] = newObject(apps, "AppDeployment", metadata{Name: a.Name, Namespace: namespace}, s)
	return out
}

func in(clusters ...string) spec    { return expression("In", clusters) }
func notIn(clusters ...string) spec { return expression("NotIn", clusters) }

func expression(operator string, clusters []string) spec {
	return spec{"matchExpressions": []any{spec{"key": clusterName, "operator": operator, "values": clusters}}}
}

// catalogs writes the Git repositories with other applications to the namespace kommander. The catalogs of a
// workspace are in the namespace of that workspace.
func (g *generator) catalogs() {
	files := map[string][]any{}
	for _, c := range g.k.Catalogs {
		if c.Workspace == "" {
			files[c.Name+".yaml"] = []any{g.catalog(c, namespace)}
		}
	}
	g.Add(step.Step{Name: v1alpha1.KommanderStepCatalogs, Stays: true, After: []string{v1alpha1.KommanderStepCore, v1alpha1.KommanderStepApplications}, Files: files, Unit: layout.Unit{Wait: true}})
}

// catalog returns a GitRepository with the labels by which Kommander recognizes a catalog.
func (g *generator) catalog(c v1alpha1.KommanderCatalog, namespace string) any {
	labels := map[string]string{
		"kommander.d2iq.io/gitapps-gitrepository-type": c.Type,
		"kommander.d2iq.io/gitrepository-type":         "catalog",
	}
	for _, who := range c.DefaultFor {
		labels["kommander.d2iq.io/"+who[:len(who)-1]+"-default-catalog-repository"] = "true"
	}
	return gitRepository(metadata{Name: c.Name, Namespace: namespace, Labels: labels}, c.URL,
		sourcev1.GitRepositoryRef{Branch: c.Branch, Tag: c.Tag}, c.Interval, c.SecretRef)
}
