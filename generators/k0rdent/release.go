package k0rdent

import (
	"maps"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/addon"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/generators/step"
	"github.com/fleetwright/fleetwright/internal/layout"
)

// chartInterval is the interval of kcm's own templates and sources. kcm would reset any other one (kcm internal/helm,
// DefaultReconcileInterval).
const chartInterval = "10m0s"

// annotationSSA with the value ifNotPresent lets Flux create an object, and not change it afterwards
// (kustomize-controller v1.1).
const (
	annotationSSA = "kustomize.toolkit.fluxcd.io/ssa"
	ifNotPresent  = "IfNotPresent"
)

// values returns the values of the kcm chart: the specification's own, and values that turn off what Git and the
// platform's Flux manage instead. It also sets the toggles of the objects that the specification leaves to kcm.
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
	controller := map[string]any{"createAccessManagement": false}
	for _, toggle := range []string{v1alpha1.K0rdentCreateManagement, v1alpha1.K0rdentCreateRelease, v1alpha1.K0rdentCreateTemplates} {
		controller[toggle] = k.Creates(toggle)
	}
	if k.ChartsURL != v1alpha1.K0rdentCharts {
		controller["templatesRepoURL"] = k.ChartsURL
	}
	set("controller", controller)
	set("flux2", map[string]any{"enabled": false})
	return out
}

// kcmAddon returns the kcm chart as an add-on.
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

// home is kcm's own namespace. kcm's Management looks there, and under this name, for the HelmRelease that it takes over.
var home = layout.Home{Namespace: v1alpha1.K0rdentNamespaceName}

// Products returns kcm's release for the bootstrap of a cluster.
func Products(spec *v1alpha1.Spec, lay layout.Layout, c *v1alpha1.Cluster) []*addon.Placed {
	g := newGenerator(nil, spec, lay, nil)
	if g == nil || g.cluster != c || !g.k.Bootstrap {
		return nil
	}
	return []*addon.Placed{{
		Addon: kcmAddon(spec), Release: g.Dir("kcm"),
		// kcm's controllers do not start without these definitions.
		WaitFor: []string{"helmcharts.source.toolkit.fluxcd.io", "helmreleases.helm.toolkit.fluxcd.io"},
	}}
}

// kcm writes the step that installs kcm. Flux creates the HelmRelease once, and then the Management takes it over, with
// the same values and with the chart of its Release.
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

// chartRepository returns the source of kcm's own templates, equal to the one that kcm creates with createTemplates, so
// that kcm keeps it (kcm internal/helm, repo.go).
func (g *generator) chartRepository() *sourcev1.HelmRepository {
	return &sourcev1.HelmRepository{
		TypeMeta:   metav1.TypeMeta{APIVersion: sourcev1.GroupVersion.String(), Kind: sourcev1.HelmRepositoryKind},
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.K0rdentTemplates, Namespace: v1alpha1.K0rdentNamespaceName, Labels: managedLabel()},
		Spec: sourcev1.HelmRepositorySpec{
			Type: sourcev1.HelmRepositoryTypeOCI, URL: g.k.ChartsURL, Interval: emit.Duration(chartInterval),
		},
	}
}

// release writes the step with the Release and its ProviderTemplates. kcm reports a Release as ready when all of these
// are valid. The step waits for the Release even if kcm creates it.
func (g *generator) release() {
	k := g.k
	spec := releaseSpec{
		Version:  k.Version,
		KCM:      templateName{Template: v1alpha1.K0rdentObjectName(v1alpha1.K0rdentKCM, k.Version)},
		Regional: templateName{Template: v1alpha1.K0rdentObjectName(v1alpha1.K0rdentRegional, k.Version)},
		CAPI:     templateName{Template: v1alpha1.K0rdentObjectName(v1alpha1.K0rdentClusterAPI, k.CAPI.Version)},
	}
	for _, p := range k.Providers {
		spec.Providers = append(spec.Providers, templateName{Name: p.Name, Template: v1alpha1.K0rdentObjectName(p.Name, p.Version)})
	}
	files := map[string][]any{"sources.yaml": g.sources(g.ofProviders), "providertemplates.yaml": g.providerTemplates()}
	if !g.created.Release {
		files["release.yaml"] = []any{newObject("Release", kept(metadata{Name: releaseName(k)}), spec)}
	}
	g.Add(g.awaiting(step.Step{
		Name: "release", After: []string{"kcm"}, Files: files,
		Unit: layout.Unit{HealthCheckExprs: healthy("ProviderTemplate", "Release")},
	}, g.created.Release || g.created.Templates, reference("Release", "", releaseName(k))))
}

// providerTemplates returns the ProviderTemplates that kcm does not create.
func (g *generator) providerTemplates() []any {
	var out []any
	add := func(p v1alpha1.K0rdentProvider) {
		chart := p.Name
		if p.Helm != nil {
			chart = p.Helm.Chart
		}
		// The version is unknown only for a Release that kcm creates.
		if p.Version != "" && !g.created.Template(p.Name, p.Version, p.Helm) && (!g.created.Release || p.Helm != nil) {
			out = append(out, g.providerTemplate(p, chart))
		}
	}
	for _, chart := range []string{v1alpha1.K0rdentKCM, v1alpha1.K0rdentRegional} {
		add(v1alpha1.K0rdentProvider{Name: chart, Version: g.k.Version})
	}
	add(v1alpha1.K0rdentProvider{Name: v1alpha1.K0rdentClusterAPI, Version: g.k.CAPI.Version})
	for _, p := range g.k.Providers {
		add(p)
	}
	return out
}

// ofProviders reports whether the chart of a provider is in a source, so that the providers' step contains the source.
func (g *generator) ofProviders(source string) bool {
	return slices.ContainsFunc(g.k.Providers, func(p v1alpha1.K0rdentProvider) bool {
		return p.Helm != nil && p.Helm.SourceRef.Name == source
	})
}

// awaiting adds the health checks of a step. If kcm creates none of the objects to wait for, the step waits for all of
// its own objects. Otherwise it waits for the objects that kcm creates, too. Flux waits either for all objects that a
// Kustomization applies or for its healthChecks, so these also name the k0rdent objects of the step.
func (g *generator) awaiting(s step.Step, kcmCreates bool, created ...meta.NamespacedObjectKindReference) step.Step {
	if !kcmCreates {
		s.Unit.Wait = true
		return s
	}
	s.Stays = true
	for _, file := range slices.Sorted(maps.Keys(s.Files)) {
		for _, o := range s.Files[file] {
			if o, ok := o.(object); ok && o.APIVersion == apiVersion {
				s.Unit.HealthChecks = append(s.Unit.HealthChecks, reference(o.Kind, o.Metadata.Namespace, o.Metadata.Name))
			}
		}
	}
	for _, ref := range created {
		if !slices.Contains(s.Unit.HealthChecks, ref) {
			s.Unit.HealthChecks = append(s.Unit.HealthChecks, ref)
		}
	}
	return s
}

// reference returns a reference to an object of k0rdent, for a health check.
func reference(kind, namespace, name string) meta.NamespacedObjectKindReference {
	return meta.NamespacedObjectKindReference{APIVersion: apiVersion, Kind: kind, Name: name, Namespace: namespace}
}

// releaseName returns kcm-<version>.
func releaseName(k *v1alpha1.K0rdentSpec) string {
	return v1alpha1.K0rdentObjectName(v1alpha1.K0rdentKCM, k.Version)
}

// providerTemplate returns the ProviderTemplate of a provider.
func (g *generator) providerTemplate(p v1alpha1.K0rdentProvider, chart string) object {
	source := sourceRef{Kind: sourcev1.HelmRepositoryKind, Name: v1alpha1.K0rdentTemplates}
	if p.Helm != nil {
		source = sourceRef{Kind: g.sourceKind(p.Helm.SourceRef.Name), Name: p.Helm.SourceRef.Name}
	}
	return newObject("ProviderTemplate", kept(metadata{Name: v1alpha1.K0rdentObjectName(p.Name, p.Version)}), templateSpec{
		Helm:      &helmSpec{ChartSpec: chartSpec{Chart: chart, Version: p.Version, Interval: chartInterval, SourceRef: source}},
		Providers: p.Provides,
	})
}

// management writes the step with the Management, which installs Cluster API and the providers.
func (g *generator) management() {
	spec := managementSpec{
		Release: releaseName(g.k),
		Core:    managementCore{KCM: managedComponent{Config: values(g.k)}},
	}
	if g.k.CAPI.Config != nil {
		spec.Core.CAPI = &managedComponent{Config: g.k.CAPI.Config}
	}
	for _, p := range g.k.Providers {
		if p.Disabled {
			continue
		}
		component := managedComponent{Name: p.Name, Config: p.Config}
		if g.created.Release && p.Helm != nil { // kcm's Release does not list the provider
			component.Template = v1alpha1.K0rdentObjectName(p.Name, p.Version)
		}
		spec.Providers = append(spec.Providers, component)
	}
	files := map[string][]any{}
	if !g.created.Management {
		files["management.yaml"] = []any{newObject("Management", singleton(), spec)}
	}
	g.Add(g.awaiting(step.Step{
		Name: "management", After: []string{"release"}, Files: files,
		Unit: layout.Unit{HealthCheckExprs: healthy("Management")},
	}, g.created.Management, reference("Management", "", "kcm")))
}
