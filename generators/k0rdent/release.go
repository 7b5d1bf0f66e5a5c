package k0rdent

import (
	"maps"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/addon"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/generators/step"
	"github.com/fleetwright/fleetwright/internal/layout"
)

// chartInterval is that of kcm's own templates and sources, which kcm would
// otherwise set back (kcm internal/helm, DefaultReconcileInterval).
const chartInterval = "10m0s"

// annotationSSA set to ifNotPresent lets Flux make an object and leave it alone
// from then on (kustomize-controller v1.1).
const (
	annotationSSA = "kustomize.toolkit.fluxcd.io/ssa"
	ifNotPresent  = "IfNotPresent"
)

// values are those of the kcm chart: the specification's, and those that leave
// to Git what Git holds, and to the platform's Flux what Flux does.
func values(k *v1alpha1.K0rdentSpec) map[string]any {
	out := maps.Clone(k.Values)
	if out == nil {
		out = map[string]any{}
	}
	set := func(key string, fields map[string]any) {
		own, _ := out[key].(map[string]any)
		merged := maps.Clone(own)
		if merged == nil {
			merged = map[string]any{}
		}
		maps.Copy(merged, fields)
		out[key] = merged
	}
	controller := map[string]any{"createManagement": false, "createAccessManagement": false, "createRelease": false, "createTemplates": false}
	if k.ChartsURL != v1alpha1.K0rdentCharts {
		controller["templatesRepoURL"] = k.ChartsURL
	}
	set("controller", controller)
	set("flux2", map[string]any{"enabled": false})
	return out
}

// kcmAddon is the kcm chart as an add-on.
func kcmAddon(spec *v1alpha1.Spec) *v1alpha1.Addon {
	k := &v1alpha1.ProductOf[*v1alpha1.K0rdent](spec).Spec
	a := &v1alpha1.Addon{
		Metadata: v1alpha1.ObjectMeta{Name: "kcm"},
		Spec: v1alpha1.AddonSpec{
			Namespace: v1alpha1.K0rdentNamespaceName, ReleaseName: "kcm",
			Chart:  &v1alpha1.Chart{URL: strings.TrimSuffix(k.ChartsURL, "/") + "/kcm", Version: k.Version},
			Values: values(k), Timeout: k.Timeout,
		},
	}
	if k.Bootstrap {
		a.Spec.Bootstrap = &v1alpha1.Bootstrap{}
	}
	return a
}

// home of kcm is its own namespace: there, and under this name, kcm's Management
// looks for the HelmRelease that it takes over.
var home = layout.Home{Namespace: v1alpha1.K0rdentNamespaceName}

// Products is kcm's release for the bootstrap of a cluster.
func Products(spec *v1alpha1.Spec, lay layout.Layout, c *v1alpha1.Cluster) []*addon.Placed {
	g := newGenerator(nil, spec, lay, nil)
	if g == nil || g.cluster != c || !g.k.Bootstrap {
		return nil
	}
	return []*addon.Placed{{
		Addon: kcmAddon(spec), Release: g.Dir("kcm"),
		// Without them its controllers don't start.
		WaitFor: []string{"helmcharts.source.toolkit.fluxcd.io", "helmreleases.helm.toolkit.fluxcd.io"},
	}}
}

// kcm is the step that installs kcm. The HelmRelease is made once: Management
// takes it over, with the same values and with the chart of its Release.
func (g *generator) kcm() {
	a := kcmAddon(g.spec)
	release := addon.Release(g.spec, a, home, nil)
	if release.Annotations == nil {
		release.Annotations = map[string]string{}
	}
	release.Annotations[annotationSSA] = ifNotPresent
	g.Add(step.Step{
		Name: v1alpha1.K0rdentStepKCM, Unit: layout.Unit{Wait: true},
		Files: map[string][]any{
			"namespace.yaml":     {addon.Namespace(v1alpha1.K0rdentNamespaceName, "")},
			"helmrelease.yaml":   {release},
			addon.SourceFile(a):  {addon.Source(g.spec, a, home)},
			"kcm-templates.yaml": {g.chartRepository()},
		},
	})
}

// chartRepository is the source of kcm's own templates, as kcm itself would make
// it with createTemplates, and keeps it (kcm internal/helm, repo.go).
func (g *generator) chartRepository() *sourcev1.HelmRepository {
	return &sourcev1.HelmRepository{
		TypeMeta:   metav1.TypeMeta{APIVersion: sourcev1.GroupVersion.String(), Kind: sourcev1.HelmRepositoryKind},
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.K0rdentTemplates, Namespace: v1alpha1.K0rdentNamespaceName, Labels: managedLabel()},
		Spec: sourcev1.HelmRepositorySpec{
			Type: sourcev1.HelmRepositoryTypeOCI, URL: g.k.ChartsURL, Interval: emit.Duration(chartInterval),
		},
	}
}

// release is the step of the Release and its ProviderTemplates. kcm calls the
// Release ready when all of them are valid.
func (g *generator) release() {
	k := g.k
	spec := releaseSpec{
		Version:  k.Version,
		KCM:      templateName{Template: v1alpha1.K0rdentObjectName(v1alpha1.K0rdentKCM, k.Version)},
		Regional: templateName{Template: v1alpha1.K0rdentObjectName(v1alpha1.K0rdentRegional, k.Version)},
		CAPI:     templateName{Template: v1alpha1.K0rdentObjectName(v1alpha1.K0rdentClusterAPI, k.CAPI.Version)},
	}
	templates := []any{
		g.providerTemplate(v1alpha1.K0rdentKCM, k.Version), g.providerTemplate(v1alpha1.K0rdentRegional, k.Version), g.providerTemplate(v1alpha1.K0rdentClusterAPI, k.CAPI.Version),
	}
	for _, p := range k.Providers {
		spec.Providers = append(spec.Providers, templateName{Name: p.Name, Template: v1alpha1.K0rdentObjectName(p.Name, p.Version)})
		templates = append(templates, g.providerTemplate(p.Name, p.Version))
	}
	g.Add(step.Step{
		Name: "release", After: []string{"kcm"},
		Unit: layout.Unit{Wait: true, HealthCheckExprs: healthy("ProviderTemplate", "Release")},
		Files: map[string][]any{
			"release.yaml":           {newObject("Release", kept(metadata{Name: releaseName(k)}), spec)},
			"providertemplates.yaml": templates,
		},
	})
}

// releaseName is kcm-<version>.
func releaseName(k *v1alpha1.K0rdentSpec) string {
	return v1alpha1.K0rdentObjectName(v1alpha1.K0rdentKCM, k.Version)
}

func (g *generator) providerTemplate(chart, version string) object {
	return newObject("ProviderTemplate", kept(metadata{Name: v1alpha1.K0rdentObjectName(chart, version)}), templateSpec{
		Helm: &helmSpec{ChartSpec: chartSpec{
			Chart: chart, Version: version, Interval: chartInterval,
			SourceRef: sourceRef{Kind: sourcev1.HelmRepositoryKind, Name: v1alpha1.K0rdentTemplates},
		}},
	})
}

// management is the step of the Management, which installs Cluster API and the
// providers.
func (g *generator) management() {
	spec := managementSpec{
		Release: releaseName(g.k),
		Core:    managementCore{KCM: managedComponent{Config: values(g.k)}},
	}
	if g.k.CAPI.Config != nil {
		spec.Core.CAPI = &managedComponent{Config: g.k.CAPI.Config}
	}
	for _, p := range g.k.Providers {
		if !p.Disabled {
			spec.Providers = append(spec.Providers, managedComponent{Name: p.Name, Config: p.Config})
		}
	}
	g.Add(step.Step{
		Name: "management", After: []string{"release"},
		Unit:  layout.Unit{Wait: true, HealthCheckExprs: healthy("Management")},
		Files: map[string][]any{"management.yaml": {newObject("Management", singleton(), spec)}},
	})
}
