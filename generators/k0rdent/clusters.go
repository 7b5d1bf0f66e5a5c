package k0rdent

import (
	"maps"
	"path"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/generators/step"
	"github.com/fleetwright/fleetwright/internal/manifest"
)

func (g *generator) sortedClusters() []v1alpha1.K0rdentCluster {
	return emit.ByName(g.k.ClusterDeployments, func(c v1alpha1.K0rdentCluster) string { return c.Namespace + "/" + c.Name })
}

// clusters writes the step with the ClusterDeployments, and with the resource templates that Sveltos looks for in their
// namespaces: kcm copies a Credential and its identity there, but not the ConfigMap. No step waits for the clusters,
// because their creation may take any time.
func (g *generator) clusters() {
	files := map[string][]any{}
	for _, c := range g.k.Credentials {
		for _, namespace := range g.k.PropagatedTo(c) {
			files[path.Join(namespace, "resource-templates", c.Name+".yaml")] = []any{resourceTemplate(g.k.ClusterDeployments, c, namespace)}
		}
	}
	for _, c := range g.sortedClusters() {
		m := metadata{Name: c.Name, Namespace: c.Namespace, Labels: c.Labels}
		files[path.Join(c.Namespace, c.Name+".yaml")] = []any{newObject("ClusterDeployment", m, clusterSpec{
			Template: c.Template.ObjectName(), Credential: c.Credential, PropagateCredentials: g.propagates(c), DryRun: c.DryRun, Config: c.Config,
			ServiceSpec: g.serviceSpec(c.ServiceOptions, c.Services),
		})}
	}
	g.Add(step.Step{Name: v1alpha1.K0rdentStepClusters, Stays: true, After: []string{v1alpha1.K0rdentStepAccess}, Files: files})
}

// propagates returns the field propagateCredentials of a ClusterDeployment, nil for kcm's default, which is true.
func (g *generator) propagates(c v1alpha1.K0rdentCluster) *bool {
	if is := g.k.Propagates(c); !is {
		return &is
	}
	return nil
}

// services writes the step with the MultiClusterServices, whose templates are in the system namespace.
func (g *generator) services() {
	files := map[string][]any{}
	for _, m := range g.k.MultiClusterServices {
		files[m.Name+".yaml"] = []any{newObject("MultiClusterService", metadata{Name: m.Name}, multiClusterServiceSpec{
			ClusterSelector: m.ClusterSelector, DependsOn: m.DependsOn, ServiceSpec: g.serviceSpec(m.ServiceOptions, m.Services),
		})}
	}
	g.Add(step.Step{Name: "services", Stays: true, After: []string{"templates"}, Files: files})
}

// serviceSpec returns the fields that a ClusterDeployment and a MultiClusterService share; nil if none is set. The
// services keep their order.
func (g *generator) serviceSpec(options map[string]any, services []v1alpha1.K0rdentService) map[string]any {
	out := maps.Clone(options)
	if len(services) == 0 {
		return out
	}
	if out == nil {
		out = map[string]any{}
	}
	list := make([]any, len(services))
	for i, s := range services {
		list[i] = g.service(s)
	}
	out["services"] = list
	return out
}

func (g *generator) service(s v1alpha1.K0rdentService) map[string]any {
	out := map[string]any{"name": s.Name, "template": s.Template.ObjectName()}
	if s.Namespace != "" {
		out["namespace"] = s.Namespace
	}
	if len(s.Values) > 0 {
		text, err := manifest.YAML("", s.Values)
		if err != nil {
			g.out.Fail(err)
		}
		out["values"] = strings.TrimSuffix(string(text), "\n") + "\n"
	}
	if len(s.ValuesFrom) > 0 {
		list := make([]any, len(s.ValuesFrom))
		for i, v := range s.ValuesFrom {
			list[i] = map[string]any{"kind": v.Kind, "name": v.Name}
		}
		out["valuesFrom"] = list
	}
	if len(s.DependsOn) > 0 {
		list := make([]any, len(s.DependsOn))
		for i, d := range s.DependsOn {
			ref := map[string]any{"name": d.Name}
			if d.Namespace != "" {
				ref["namespace"] = d.Namespace
			}
			list[i] = ref
		}
		out["dependsOn"] = list
	}
	return out
}
