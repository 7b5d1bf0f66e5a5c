package helmrelease

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Chart is the chart that a HelmRelease installs.
type Chart struct {
	Name, Version, url located.Text
	IsRange            bool
	// Locked is the version to which the lock pins a range, a digest or a tag that is not a version; "" if it pins none.
	Locked string
	// Patched is set if a kustomize patch sets the version.
	Patched bool
}

// Chart returns the chart that a HelmRelease installs.
func (g *Index) Chart(h *Release) Chart {
	known, done := g.charts[h]
	if !done {
		known = g.readChart(h)
		known.Locked = g.locked(h)
		g.charts[h] = known
	}
	return known
}

func (g *Index) readChart(h *Release) Chart {
	whole := g.whole(h)
	ref := whole.At("spec", "chartRef")
	if ref == nil {
		return g.chartOf(h, whole.At("spec", "chart", "spec"), h.MetadataNamespace())
	}
	kind, name := located.TextAt(ref, "kind").Value, located.TextAt(ref, "name").Value
	namespace := cmp.Or(located.TextAt(ref, "namespace").Value, h.MetadataNamespace())
	source, bad := g.source(h, kind, namespace, name)
	switch {
	case bad != nil:
		return unknownChart(ref.Place, *bad)
	case kind == "HelmChart":
		return g.chartOf(h, source.At("spec"), namespace)
	case kind == "OCIRepository":
		return ociChart(source)
	}
	return unknownChart(ref.Place, located.Unknown{Reason: fmt.Sprintf("the chart comes from a %s, which is not supported", kind)})
}

// locked returns the version of the chart to which the lock pins a HelmRelease, "" if the HelmRelease itself sets one version.
func (g *Index) locked(h *Release) string {
	spec, ref := g.whole(h).At("spec", "chart", "spec"), g.whole(h).At("spec", "chartRef")
	namespace := h.MetadataNamespace()
	if ref != nil {
		kind := located.TextAt(ref, "kind").Value
		namespace = cmp.Or(located.TextAt(ref, "namespace").Value, namespace)
		source, bad := g.source(h, kind, namespace, located.TextAt(ref, "name").Value)
		switch {
		case bad != nil:
			return ""
		case kind == "OCIRepository":
			return g.lockedVersion(chartref.FromOCIRepository(plainMap(source)))
		case kind != "HelmChart":
			return ""
		}
		spec = source.At("spec")
	}
	if spec == nil || located.TextAt(spec, "sourceRef", "kind").Value != "HelmRepository" {
		return ""
	}
	source, bad := g.source(h, "HelmRepository", cmp.Or(located.TextAt(spec, "sourceRef", "namespace").Value, namespace), located.TextAt(spec, "sourceRef", "name").Value)
	if bad != nil {
		return ""
	}
	return g.lockedVersion(chartref.FromHelmRepository(plainMap(source), located.TextAt(spec, "chart").Value, located.TextAt(spec, "version").Value))
}

func plainMap(v *located.Value) map[string]any {
	fields, _ := v.Plain().(map[string]any)
	return fields
}

// lockedVersion returns the version to which the lock pins a request, "" if the request is for one version.
func (g *Index) lockedVersion(ask chartref.Ask, err error) string {
	if err != nil {
		return ""
	}
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(cmp.Or(ask.Version, ask.Tag), "v")); err == nil {
		return ""
	}
	return g.Fleet.LockedVersion(ask)
}

func unknownChart(at finding.Place, m located.Unknown) Chart {
	unknown := located.Text{Place: at, Unknown: &m}
	return Chart{Name: unknown, Version: unknown, url: unknown}
}

// chartOf reads chart, version and sourceRef from the spec of a HelmChart or the chart template of a HelmRelease.
// namespace is the namespace of the source if sourceRef has none.
func (g *Index) chartOf(h *Release, spec *located.Value, namespace string) Chart {
	if spec == nil {
		return unknownChart(h.Place, located.Unknown{Reason: "the HelmRelease has no chart"})
	}
	out := Chart{Name: located.TextAt(spec, "chart"), Version: located.TextAt(spec, "version")}
	if out.Version.Value == "" {
		out.Version.Value = "*"
	}
	out.IsRange = IsRange(out.Version.Value)
	out.Patched = spec.At("version") != nil && spec.At("version").Patched
	kind, name := located.TextAt(spec, "sourceRef", "kind").Value, located.TextAt(spec, "sourceRef", "name").Value
	namespace = cmp.Or(located.TextAt(spec, "sourceRef", "namespace").Value, namespace)
	if kind == "GitRepository" || kind == "Bucket" {
		g.folderChart(h, &out, kind, namespace, name)
	}
	if source, bad := g.source(h, kind, namespace, name); bad == nil {
		out.url = located.TextAt(source, "spec", "url")
	}
	return out
}

// folderChart reads the name and version of a chart in a folder of a source, if the source is the
// repository that contains the HelmRelease. source-controller ignores
// spec.chart.spec.version of such a chart.
func (g *Index) folderChart(h *Release, c *Chart, kind, namespace, name string) {
	folder := c.Name.Value
	c.Name.Value = path.Base(folder)
	k := h.Applied.Kustomization
	if k == nil || k.Repo != g.Repo || k.Spec.SourceRef.Kind != kind || k.Spec.SourceRef.Name != name ||
		cmp.Or(k.Spec.SourceRef.Namespace, k.Namespace) != namespace {
		return
	}
	chart, version := FolderChart(g.Repo, repository.Clean(folder))
	if chart.Value != "" {
		c.Name = chart
	}
	if version.Value != "" {
		c.Version, c.IsRange = version, false
	}
}

// FolderChart returns the name and version in the Chart.yaml of a folder, empty where there is none.
func FolderChart(repo *repository.Repository, folder string) (name, version located.Text) {
	file, ok := repo.File(path.Join(folder, "Chart.yaml"))
	if !ok || len(file.Documents) == 0 {
		return name, version
	}
	n := file.Documents[0].Root()
	return located.ScalarText(file.Path, n, "name"), located.ScalarText(file.Path, n, "version")
}

// ociChart reads an OCIRepository: the chart is the last element of its URL, the version its tag or
// range. A digest next to a tag is not compared: a mirror may have another digest.
func ociChart(source *located.Value) Chart {
	spec := source.At("spec")
	if spec == nil {
		return unknownChart(source.Place, located.Unknown{Reason: "the OCIRepository has no spec"})
	}
	out := Chart{Name: located.TextAt(spec, "url"), url: located.TextAt(spec, "url"), Version: located.TextAt(spec, "ref", "tag")}
	ranged, digest := located.TextAt(spec, "ref", "semver"), located.TextAt(spec, "ref", "digest")
	if tag := spec.At("ref", "tag"); tag != nil {
		out.Patched = tag.Patched
	}
	switch {
	case out.Version.Value != "" && ranged.Value == "":
	case ranged.Value != "":
		out.Version, out.IsRange = ranged, true
	case digest.Value != "":
		out.Version = located.Text{Place: digest.Place, Unknown: &located.Unknown{Reason: "the OCIRepository is pinned only by a digest"}}
	default:
		out.Version = located.Text{Place: spec.Place, Value: "latest"}
	}
	return out
}

// ChartText returns the name of a HelmRelease's chart without its place, "" if it is not found.
func (g *Index) ChartText(h *Release) string {
	if ref := h.Field("spec", "chartRef"); ref == nil {
		return ChartName(h.text("spec", "chart", "spec", "chart"))
	}
	return ChartName(g.Chart(h).Name.Value)
}
