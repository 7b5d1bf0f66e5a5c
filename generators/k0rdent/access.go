package k0rdent

import (
	"maps"
	"slices"

	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/addon"
	"github.com/fleetwright/fleetwright/generators/step"
	"github.com/fleetwright/fleetwright/internal/layout"
)

// access writes the step with the chains and the AccessManagement, which names them. They share a step, because Flux
// applies before it prunes: a replaced chain is deleted only after the rules name the new one. The step comes after the
// templates, because the webhook of chains refuses a chain whose templates do not exist.
func (g *generator) access() {
	clusters, clusterNames := chainObjects("ClusterTemplateChain", g.k.ClusterTemplateChains)
	services, serviceNames := chainObjects("ServiceTemplateChain", g.k.ServiceTemplateChains)
	rules := []accessRule{}
	for _, a := range g.k.Access {
		rules = append(rules, g.rule(a, clusterNames, serviceNames))
	}
	g.Add(step.Step{
		Name: v1alpha1.K0rdentStepAccess, After: []string{"management", "templates", v1alpha1.K0rdentStepCredentials},
		Unit: layout.Unit{
			HealthChecks:     g.distributed(clusterNames, serviceNames),
			HealthCheckExprs: healthy("AccessManagement", "ClusterTemplate", "ServiceTemplate", "ClusterTemplateChain", "ServiceTemplateChain", "Credential"),
		},
		Files: map[string][]any{
			"namespaces.yaml":            g.namespaces(),
			"clustertemplatechains.yaml": clusters,
			"servicetemplatechains.yaml": services,
			"accessmanagement.yaml":      {newObject("AccessManagement", singleton(), accessSpec{rules})},
		},
	})
}

// rule returns a rule of the AccessManagement, in the form of the version of k0rdent.
func (g *generator) rule(a v1alpha1.K0rdentAccess, clusterNames, serviceNames map[string]string) accessRule {
	rename := func(names map[string]string, list []string) []string {
		var out []string
		for _, name := range list {
			out = append(out, names[name])
		}
		return out
	}
	var rule accessRule
	if n := a.Namespaces; n.List != nil || n.Selector != nil || n.StringSelector != "" {
		rule.TargetNamespaces = &targetNamespaces{List: n.List, Selector: n.Selector, StringSelector: n.StringSelector}
	}
	clusters, services := rename(clusterNames, a.ClusterTemplateChains), rename(serviceNames, a.ServiceTemplateChains)
	if !g.k.HasResourceRules() {
		rule.ClusterTemplateChains, rule.ServiceTemplateChains, rule.Credentials = clusters, services, a.Credentials
		return rule
	}
	for _, r := range []resourceRule{
		{group, "ClusterTemplateChain", clusters}, {group, "ServiceTemplateChain", services}, {group, "Credential", a.Credentials},
	} {
		if len(r.Names) > 0 {
			rule.Resources = append(rule.Resources, r)
		}
	}
	return rule
}

// group is the API group of k0rdent's kinds.
const group = "k0rdent.mirantis.com"

// distributed returns the objects to wait for: the chains, the AccessManagement, and the objects that kcm copies to other
// namespaces because clusters there use them.
func (g *generator) distributed(clusterNames, serviceNames map[string]string) []meta.NamespacedObjectKindReference {
	var out []meta.NamespacedObjectKindReference
	seen := map[meta.NamespacedObjectKindReference]bool{}
	wait := func(kind, namespace, name string) {
		ref := meta.NamespacedObjectKindReference{APIVersion: apiVersion, Kind: kind, Name: name, Namespace: namespace}
		if !seen[ref] {
			seen[ref] = true
			out = append(out, ref)
		}
	}
	wait("AccessManagement", "", "kcm")
	for _, name := range slices.Sorted(maps.Values(clusterNames)) {
		wait("ClusterTemplateChain", v1alpha1.K0rdentNamespaceName, name)
	}
	for _, name := range slices.Sorted(maps.Values(serviceNames)) {
		wait("ServiceTemplateChain", v1alpha1.K0rdentNamespaceName, name)
	}
	for _, d := range g.sortedClusters() {
		if d.Namespace == v1alpha1.K0rdentNamespaceName {
			continue
		}
		wait("ClusterTemplate", d.Namespace, d.Template.ObjectName())
		if d.Credential != "" {
			wait("Credential", d.Namespace, d.Credential)
		}
		for _, s := range d.Services {
			wait("ServiceTemplate", d.Namespace, s.Template.ObjectName())
		}
	}
	return out
}

// namespaces returns the namespaces that the specification names, except those of tenants and add-ons, which other steps
// create.
func (g *generator) namespaces() []any {
	others := addon.Namespaces(g.spec, g.cluster)
	others[v1alpha1.K0rdentNamespaceName] = true
	var out []any
	labels := g.k.K0rdentNamespaceLabels()
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if !others[name] {
			out = append(out, namespace(name, labels[name]))
		}
	}
	return out
}

func namespace(name string, labels map[string]string) *corev1.Namespace {
	ns := addon.Namespace(name, "")
	ns.Labels = labels
	return ns
}
