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

// Install is what another tool than Flux installs in the place of a HelmRelease.
type Install struct {
	// Name and Namespace of the release.
	Name, Namespace string
	// Chart is nil where it is that of the HelmRelease.
	Chart *charts.Chart
	// Values as JSON has them.
	Values any
	// DefinitionsOnly says that nothing but CustomResourceDefinitions is installed.
	DefinitionsOnly bool
	// Unit is what is installed, to package bounds.
	Unit bounds.Unit
}

// InstallDiff is what differs between the objects of an installation and those of the HelmRelease in its place.
type InstallDiff struct {
	// Added are the objects that only the HelmRelease has, and Removed those that only the installation has.
	Added, Removed []*Object
	Changed        []ObjectDiff
	// Undecided are objects that differ, and whose templates read the cluster.
	Undecided []*Object
}

// Empty says whether nothing differs.
func (d *InstallDiff) Empty() bool {
	return len(d.Added)+len(d.Removed)+len(d.Changed)+len(d.Undecided) == 0
}

// HelmRelease returns what is known of a HelmRelease of the cluster, nil where it has none at the object.
func (c *Cluster) HelmRelease(o *Object) *Release {
	i := slices.IndexFunc(c.Releases, func(r *Release) bool { return r.Object == o })
	if i < 0 {
		return nil
	}
	return c.Releases[i]
}

// NotInstalled says why it is not known what the release installs, "" where it is known.
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

// Compare renders an installation, and compares its objects with those of the release, which is rendered. Objects that
// are the same count as such, whatever the values are; what is random or depends on the clock is the same on both sides. The
// error says why it cannot be known what is installed.
func (release *Release) Compare(ctx context.Context, in Install) (*InstallDiff, error) {
	defer builds.HoldSchema()()
	before, err := release.install(ctx, in, false)
	if err != nil {
		return nil, err
	}
	if d := release.compare(before, release.rendering.result, in); d.Empty() {
		return d, nil
	}
	// Random functions return something else after other calls.
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

// install renders an installation as if helm-controller did it: with the labels that it adds.
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

// compare compares what an installation renders with what the release renders.
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
		case o.Looks || was.Looks:
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

// installed are the objects of a rendering, hooks among them, by their identities. Optional are those that one side may
// lack: what a folder of definitions holds, which Flux and Helm install and upgrade as they are told.
func (release *Release) installed(result *charts.Result, namespace string, wide map[[2]string]bool, definitionsOnly bool) (all map[Identity]*Object, optional map[Identity]bool) {
	all, optional = map[Identity]*Object{}, map[Identity]bool{}
	add := func(manifests []charts.Manifest, may bool) {
		for _, m := range manifests {
			o := &Object{Kustomization: release.Object.Kustomization, Value: m.Value, HelmRelease: release.Object, Template: m.Template, Looks: m.Looks,
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

// wideKinds are the kinds in no namespace that the release's cluster, or one of two renderings, defines.
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

// inNamespace says whether objects of a kind are in namespaces, as most are that Kubernetes does not define.
func inNamespace(o *Object) bool {
	namespaced, known := openapi.IsNamespaceScoped(kyaml.TypeMeta{APIVersion: o.APIVersion, Kind: o.Kind})
	return namespaced || !known
}

// LocalChart returns the chart that another tool than Flux installs: the one with the name and version in the folders of
// charts, or else the one that the lock names for what the tool asks for. It returns nil where neither has it, or the tool
// asks for nothing.
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

// ChartVersion returns the version of the chart that the release renders, "" where it is not available.
func (release *Release) ChartVersion() string {
	if release.chart == nil {
		return ""
	}
	return release.chart.Version
}
