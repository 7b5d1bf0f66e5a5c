package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Install is an installation by another tool than Flux, which replaces a HelmRelease.
type Install struct {
	// Name and Namespace of the release.
	Name, Namespace string
	// Chart is the installed chart, nil for the chart of the HelmRelease.
	Chart *charts.Chart
	// Values as decoded from JSON.
	Values any
	// DefinitionsOnly reports whether only CustomResourceDefinitions are installed.
	DefinitionsOnly bool
	// Unit names the installation in errors of package bounds.
	Unit bounds.Unit
}

// InstallDiff is how the objects of a HelmRelease differ from those that another tool installs in its place.
type InstallDiff struct {
	// Added are the objects that only the HelmRelease has, and Removed those that only the installation has.
	Added, Removed []*Object
	Changed        []ObjectDiff
	// Undecided are objects that differ, but whose templates look up objects in the cluster.
	Undecided []*Object
}

// Empty reports whether nothing differs.
func (d *InstallDiff) Empty() bool {
	return len(d.Added)+len(d.Removed)+len(d.Changed)+len(d.Undecided) == 0
}

// HelmRelease returns the release of a HelmRelease of the cluster, nil if the cluster has none for the object.
func (c *Cluster) HelmRelease(o *Object) *Release {
	i := slices.IndexFunc(c.Releases, func(r *Release) bool { return r.Object == o })
	if i < 0 {
		return nil
	}
	return c.Releases[i]
}

// NotInstalled returns why the objects that the release installs are unknown, "" if they are known.
func (release *Release) NotInstalled() string {
	switch {
	case release.Unknown != "":
		return release.Unknown
	case release.Failure != nil:
		return "its chart does not render: " + release.Failure.String()
	case len(release.Problems) > 0:
		return "its chart refuses its values: " + release.Problems[0].Message
	case release.Chart == "" || release.rendering == nil:
		return "its chart is not available locally"
	case release.spec.Spec.KubeConfig != nil:
		return "Flux installs it on another cluster"
	}
	return ""
}

// Compare renders an installation and compares its objects with those of the rendered release. Equal objects count as
// equal even if the values differ; random values and times are the same on both sides. The error is why the installed
// objects cannot be known.
func (release *Release) Compare(ctx context.Context, in Install) (*InstallDiff, error) {
	defer builds.HoldSchema()()
	before, err := release.install(ctx, in, false)
	if err != nil {
		return nil, err
	}
	if d := release.compare(before, release.rendering.result, in); d.Empty() {
		return d, nil
	}
	// Random functions return other values after other calls.
	if before, err = release.install(ctx, in, true); err != nil {
		return nil, err
	}
	values, err := charts.Compose(ctx, release.spec, release.data)
	if err != nil {
		return nil, err
	}
	after, err := charts.Render(ctx, charts.Request{Release: release.spec, Chart: release.chart, Values: values,
		Capabilities: release.rendering.capabilities, Decode: builds.ValueOf, Unit: release.unit(""), Steady: true})
	if err != nil {
		return nil, err
	}
	return release.compare(before, after, in), nil
}

// install renders an installation as helm-controller would: with the labels that it adds.
func (release *Release) install(ctx context.Context, in Install, steady bool) (*charts.Result, error) {
	values, err := charts.NewValues(in.Values)
	if err != nil {
		return nil, err
	}
	spec := &helmv2.HelmRelease{}
	spec.Name, spec.Namespace = release.Object.Name, release.Object.Namespace
	spec.Spec.ReleaseName, spec.Spec.TargetNamespace = in.Name, in.Namespace
	chart := in.Chart
	if chart == nil {
		chart = release.chart
	}
	result, err := charts.Render(ctx, charts.Request{Release: spec, Chart: chart, Values: values,
		Capabilities: release.rendering.capabilities, Decode: builds.ValueOf, Unit: in.Unit, Steady: steady})
	switch {
	case err != nil && ctx.Err() == nil:
		return nil, fmt.Errorf("the chart %s does not render with the values of the bootstrap: %w", chart, err)
	case err == nil && len(result.Problems) > 0:
		return nil, fmt.Errorf("the chart %s refuses the values of the bootstrap: %s", chart, result.Problems[0].Message)
	}
	return result, err
}

// compare compares the objects that an installation renders with those that the release renders.
func (release *Release) compare(before, after *charts.Result, in Install) *InstallDiff {
	wide := release.wideKinds(before, after)
	old, oldOptional := release.installed(before, in.Namespace, wide, in.DefinitionsOnly)
	now, nowOptional := release.installed(after, release.spec.GetReleaseNamespace(), wide, in.DefinitionsOnly)
	d := &InstallDiff{}
	for id, o := range now {
		was := old[id]
		if was == nil {
			if !nowOptional[id] {
				d.Added = append(d.Added, o)
			}
			continue
		}
		fields := compareValues(was, o)
		switch {
		case len(fields) == 0:
		case o.LooksUp || was.LooksUp:
			d.Undecided = append(d.Undecided, o)
		default:
			d.Changed = append(d.Changed, ObjectDiff{From: was, To: o, Fields: fields})
		}
	}
	for id, o := range old {
		if now[id] == nil && !oldOptional[id] {
			d.Removed = append(d.Removed, o)
		}
	}
	sorting.Func(d.Added, compareObjects)
	sorting.Func(d.Removed, compareObjects)
	sorting.Func(d.Undecided, compareObjects)
	sorting.Func(d.Changed, func(a, b ObjectDiff) int { return compareObjects(a.To, b.To) })
	return d
}

// installed returns the objects of a rendering with its hooks, by identity. Optional are objects that one side may lack:
// those of a folder of definitions, which Flux and Helm install and upgrade depending on options.
func (release *Release) installed(result *charts.Result, namespace string, wide map[[2]string]bool, definitionsOnly bool) (all map[Identity]*Object, optional map[Identity]bool) {
	all, optional = map[Identity]*Object{}, map[Identity]bool{}
	add := func(manifests []charts.Manifest, may bool) {
		for _, m := range manifests {
			o := &Object{Kustomization: release.Object.Kustomization, Value: m.Value, HelmRelease: release.Object, Template: m.Template, LooksUp: m.LooksUp,
				Place: release.Object.Place}
			o.identify()
			definition := o.Kind == "CustomResourceDefinition"
			if definitionsOnly && !definition {
				continue
			}
			if o.Namespace == "" && !wide[[2]string{o.Group, o.Kind}] && inNamespace(o) {
				o.setNamespace(namespace)
			}
			all[o.Identity], optional[o.Identity] = o, may || definitionsOnly
		}
	}
	add(result.Definitions, true)
	add(result.Manifests, false)
	add(result.Hooks, false)
	return all, optional
}

// wideKinds returns the cluster-scoped kinds that the release's cluster or one of the renderings defines.
func (release *Release) wideKinds(renderings ...*charts.Result) map[[2]string]bool {
	wide := maps.Clone(release.Object.Kustomization.Cluster.wide)
	if wide == nil {
		wide = map[[2]string]bool{}
	}
	for _, r := range renderings {
		for _, m := range slices.Concat(r.Definitions, r.Manifests) {
			if kind, isWide := clusterScoped(m.Value); isWide {
				wide[kind] = true
			}
		}
	}
	return wide
}

// inNamespace reports whether objects of a kind have a namespace, as most do that Kubernetes does not define.
func inNamespace(o *Object) bool {
	namespaced, known := openapi.IsNamespaceScoped(kyaml.TypeMeta{APIVersion: o.APIVersion, Kind: o.Kind})
	return namespaced || !known
}

// LocalChart returns the chart that another tool than Flux installs: the one with the name and version in the folders of
// charts, else the one that the lock names for the tool's request. It returns nil if neither has it, or if there is no
// request.
func (f *Fleet) LocalChart(name, version string, ask *chartref.Ask) (*charts.Chart, error) {
	found, err := f.library.Find(name, version)
	if other := (*charts.OtherVersionError)(nil); found != nil || err != nil && !errors.As(err, &other) {
		return found, err
	}
	if ask == nil {
		return nil, nil
	}
	return f.locked.installed(*ask)
}

// ChartVersion returns the version of the chart that the release renders, "" if the chart is not available.
func (release *Release) ChartVersion() string {
	if release.chart == nil {
		return ""
	}
	return release.chart.Version
}
