package bootstrap

import (
	"cmp"
	"fmt"
	"path"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// chart is what a HelmRelease installs.
type chart struct {
	name, version, url text
	isRange            bool
	// patched says that a kustomize patch sets the version.
	patched bool
}

func (g *git) chart(h *helmRelease) chart {
	known, done := g.charts[h]
	if !done {
		known = g.readChart(h)
		g.charts[h] = known
	}
	return known
}

func (g *git) readChart(h *helmRelease) chart {
	whole := g.whole(h)
	ref := whole.at("spec", "chartRef")
	if ref == nil {
		return g.chartOf(h, whole.at("spec", "chart", "spec"), h.metadataNamespace())
	}
	kind, name := textAt(ref, "kind").value, textAt(ref, "name").value
	namespace := cmp.Or(textAt(ref, "namespace").value, h.metadataNamespace())
	source, bad := g.source(h, kind, namespace, name)
	switch {
	case bad != nil:
		return unknownChart(ref.place, *bad)
	case kind == "HelmChart":
		return g.chartOf(h, source.at("spec"), namespace)
	case kind == "OCIRepository":
		return ociChart(source)
	}
	return unknownChart(ref.place, mark{reason: fmt.Sprintf("the chart comes from a %s, which is not read", kind)})
}

func unknownChart(at place, m mark) chart {
	unknown := text{place: at, unknown: &m}
	return chart{name: unknown, version: unknown, url: unknown}
}

// chartOf reads chart, version and sourceRef as HelmChart and HelmRelease spell
// them. The namespace is that of the source where none is named.
func (g *git) chartOf(h *helmRelease, spec *value, namespace string) chart {
	if spec == nil {
		return unknownChart(h.place, mark{reason: "the HelmRelease names no chart"})
	}
	out := chart{name: textAt(spec, "chart"), version: textAt(spec, "version")}
	if out.version.value == "" {
		out.version.value = "*"
	}
	out.isRange = isRange(out.version.value)
	out.patched = spec.at("version") != nil && spec.at("version").patched
	kind, name := textAt(spec, "sourceRef", "kind").value, textAt(spec, "sourceRef", "name").value
	namespace = cmp.Or(textAt(spec, "sourceRef", "namespace").value, namespace)
	if kind == "GitRepository" || kind == "Bucket" {
		g.folderChart(h, &out, kind, namespace, name)
	}
	if source, bad := g.source(h, kind, namespace, name); bad == nil {
		out.url = textAt(source, "spec", "url")
	}
	return out
}

// folderChart reads name and version of a chart in a folder of a source, where that is the
// repository that the HelmRelease itself comes from. source-controller ignores
// spec.chart.spec.version of such a chart.
func (g *git) folderChart(h *helmRelease, c *chart, kind, namespace, name string) {
	folder := c.name.value
	c.name.value = path.Base(folder)
	k := h.applied.Kustomization
	if k == nil || k.Repo != g.repo || k.Spec.SourceRef.Kind != kind || k.Spec.SourceRef.Name != name ||
		cmp.Or(k.Spec.SourceRef.Namespace, k.Namespace) != namespace {
		return
	}
	file, ok := g.repo.File(path.Join(repository.Clean(folder), "Chart.yaml"))
	if !ok || len(file.Documents) == 0 {
		return
	}
	n := file.Documents[0].Root()
	if v := scalarText(file.Path, n, "name"); v.value != "" {
		c.name = v
	}
	if v := scalarText(file.Path, n, "version"); v.value != "" {
		c.version, c.isRange = v, false
	}
}

// isRange reports whether Helm takes a chart's version for a range of versions
// (https://helm.sh/docs/chart_best_practices/dependencies/#versions), such as 1.18.x or >=1.2.
func isRange(version string) bool {
	if _, err := semver.StrictNewVersion(normalVersion(version)); err == nil {
		return false
	}
	_, err := semver.NewConstraint(version)
	return err == nil
}

// ociChart reads an OCIRepository: the chart is the last element of its URL, the
// version its tag or range. A digest beside a tag is not compared: a mirror's is another.
func ociChart(source *value) chart {
	spec := source.at("spec")
	if spec == nil {
		return unknownChart(source.place, mark{reason: "the OCIRepository has no spec"})
	}
	out := chart{name: textAt(spec, "url"), url: textAt(spec, "url"), version: textAt(spec, "ref", "tag")}
	ranged, digest := textAt(spec, "ref", "semver"), textAt(spec, "ref", "digest")
	if tag := spec.at("ref", "tag"); tag != nil {
		out.patched = tag.patched
	}
	switch {
	case out.version.value != "" && ranged.value == "":
	case ranged.value != "":
		out.version, out.isRange = ranged, true
	case digest.value != "":
		out.version = text{place: digest.place, unknown: &mark{reason: "the OCIRepository is pinned by a digest alone"}}
	default:
		out.version = text{place: spec.place, value: "latest"}
	}
	return out
}

// textAt is the scalar in a field as text.
func textAt(v *value, keys ...string) text {
	found := v.at(keys...)
	if found == nil || found.isMap || found.isList || found.scalar == nil {
		return text{place: v.place}
	}
	t := text{place: found.place, value: fmt.Sprint(found.scalar)}
	if found.spelled != "" {
		t.value = found.spelled
	}
	t.unknown = found.unknown
	return t
}

// chartText is the name of the chart that a HelmRelease names, without its places: "" where
// it is not found.
func (g *git) chartText(h *helmRelease) string {
	if ref := h.field("spec", "chartRef"); ref == nil {
		return chartName(h.text("spec", "chart", "spec", "chart"))
	}
	return chartName(g.chart(h).name.value)
}
