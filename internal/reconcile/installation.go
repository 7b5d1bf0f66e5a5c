package reconcile

import (
	"context"
	"encoding/json"

	"github.com/Masterminds/semver/v3"
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
)

// Installation is a release that Helm installs before Flux runs.
type Installation struct {
	// Ask is the request for its chart.
	Ask             chartref.Ask
	Name, Namespace string
	Values          map[string]any
	File            string
	Line            int
}

// Install renders a release that Helm installs; nil if its chart is not available or cannot be rendered. The release
// belongs to no cluster.
func (f *Fleet) Install(ctx context.Context, i Installation) *Release {
	chart, err := f.locked.installed(i.Ask)
	if err != nil || chart == nil {
		return nil
	}
	values, err := json.Marshal(i.Values)
	if err != nil {
		return nil
	}
	spec := &helmv2.HelmRelease{}
	spec.Name, spec.Namespace = i.Name, i.Namespace
	spec.Spec.ReleaseName, spec.Spec.Values = i.Name, &apiextensionsv1.JSON{Raw: values}
	release := &Release{Object: &Object{Identity: Identity{fluxapi.HelmGroup, "HelmRelease", i.Namespace, i.Name}, Place: finding.Place{File: i.File, Line: i.Line}},
		Chart: chart.String(), spec: spec, chart: chart}
	release.values, err = bounds.Do(release.unit("values composition"), func() (*charts.Values, error) {
		return charts.Compose(ctx, spec, func(string, string, string) (charts.Data, bool) { return charts.Data{}, false })
	})
	if err != nil {
		return nil
	}
	w := &walker{ctx: ctx, cluster: &Cluster{}}
	w.listKinds()
	result, err := charts.Render(ctx, charts.Request{Release: spec, Chart: chart, Values: release.values,
		Capabilities: charts.Capabilities{Kubernetes: charts.DefaultKubernetes, APIVersions: w.apiVersions}, Decode: builds.ValueOf, Unit: release.unit("")})
	if err != nil || len(result.Problems) > 0 {
		return nil
	}
	release.addObjects(w, result)
	return release
}

// LockedVersion returns the version of the chart that the lock names for a request, "" if it names none or the version is
// unknown.
func (f *Fleet) LockedVersion(ask chartref.Ask) string {
	entry, found := f.locked.entry(ask)
	if !found {
		return ""
	}
	if _, err := semver.NewVersion(entry.Resolved); err == nil {
		return entry.Resolved
	}
	if chart, err := f.locked.chart(entry.Ask); err == nil && chart != nil {
		return chart.Version
	}
	return ""
}
