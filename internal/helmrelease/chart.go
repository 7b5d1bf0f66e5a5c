package helmrelease

import (
	"cmp"
	"fmt"
	"path"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Chart is what a HelmRelease installs.
type Chart struct {
	Name, Version, url located.Text
	IsRange            bool
	// Patched says that a kustomize patch sets the version.
	Patched bool
}

// Chart returns the chart that a HelmRelease installs.
func (g *Index) Chart(h *Release) Chart {
	known, done := g.charts[h]
	if !done {
		known = g.readChart(h)
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
	return unknownChart(ref.Place, located.Unknown{Reason: fmt.Sprintf("the chart comes from a %s, which is not read", kind)})
}

func unknownChart(at located.Place, m located.Unknown) Chart {
	unknown := located.Text{Place: at, Unknown: &m}
	return Chart{Name: unknown, Version: unknown, url: unknown}
}

// chartOf reads chart, version and sourceRef as HelmChart and HelmRelease spell
// them. The namespace is that of the source where none is named.
func (g *Index) chartOf(h *Release, spec *located.Value, namespace string) Chart {
	if spec == nil {
		return unknownChart(h.Place, located.Unknown{Reason: "the HelmRelease names no chart"})
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

// folderChart reads name and version of a chart in a folder of a source, where that is the
// repository that the HelmRelease itself comes from. source-controller ignores
// spec.chart.spec.version of such a chart.
func (g *Index) folderChart(h *Release, c *Chart, kind, namespace, name string) {
	folder := c.Name.Value
	c.Name.Value = path.Base(folder)
	k := h.Applied.Kustomization
	if k == nil || k.Repo != g.Repo || k.Spec.SourceRef.Kind != kind || k.Spec.SourceRef.Name != name ||
		cmp.Or(k.Spec.SourceRef.Namespace, k.Namespace) != namespace {
		return
	}
	file, ok := g.Repo.File(path.Join(repository.Clean(folder), "Chart.yaml"))
	if !ok || len(file.Documents) == 0 {
		return
	}
	n := file.Documents[0].Root()
	if v := located.ScalarText(file.Path, n, "name"); v.Value != "" {
		c.Name = v
	}
	if v := located.ScalarText(file.Path, n, "version"); v.Value != "" {
		c.Version, c.IsRange = v, false
	}
}

// ociChart reads an OCIRepository: the chart is the last element of its URL, the
// version its tag or range. A digest beside a tag is not compared: a mirror's is another.
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
		out.Version = located.Text{Place: digest.Place, Unknown: &located.Unknown{Reason: "the OCIRepository is pinned by a digest alone"}}
	default:
		out.Version = located.Text{Place: spec.Place, Value: "latest"}
	}
	return out
}

// ChartText is the name of the chart that a HelmRelease names, without its places: "" where
// it is not found.
func (g *Index) ChartText(h *Release) string {
	if ref := h.Field("spec", "chartRef"); ref == nil {
		return ChartName(h.text("spec", "chart", "spec", "chart"))
	}
	return ChartName(g.Chart(h).Name.Value)
}
