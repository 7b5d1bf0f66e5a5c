package bootstrap

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// helmRelease is a HelmRelease of the repository as Flux would apply it through
// one placement.
type helmRelease struct {
	place
	object    *repository.Object
	placement placement
	// whole is the object after the patches of its kustomizations and the
	// substitution of variables.
	whole *value
	// Names that Helm uses. An empty namespace is one that isn't known.
	name, namespace, storage text
	ignores                  []string
}

// cluster is what Git says: its HelmReleases and what they refer to.
type cluster struct {
	*graph
	releases []*helmRelease
	vars     map[*repository.Object]variables
	charts   map[*helmRelease]chart
	comments map[string][]finding.Comment // that ignore rules, by file
	hasFlux  bool
}

const maxHelmReleases = 20_000

func newCluster(repo *repository.Repository) *cluster {
	c := &cluster{graph: newGraph(repo), vars: map[*repository.Object]variables{},
		charts: map[*helmRelease]chart{}, comments: map[string][]finding.Comment{}}
	for o := range repo.Objects() {
		if g := o.Group(); strings.HasSuffix(g, ".toolkit.fluxcd.io") || g == "fluxcd.controlplane.io" {
			c.hasFlux = true
			break
		}
	}
	for _, o := range repo.ByKind(helmGroup, "HelmRelease") {
		switch repo.Use(o.File()) {
		case repository.Patch, repository.Input, repository.Transformer, repository.Chart:
			continue
		}
		for _, p := range c.placements(o.File()) {
			h := c.helmRelease(o, p)
			fragment := h.whole.at("spec", "chart") == nil && h.whole.at("spec", "chartRef") == nil
			if fragment || len(c.releases) >= maxHelmReleases {
				continue
			}
			if !slices.ContainsFunc(c.releases, func(other *helmRelease) bool { return other.sameAs(h) }) {
				c.releases = append(c.releases, h)
			}
		}
	}
	return c
}

// sameAs says whether two placements of one object come to the same.
func (h *helmRelease) sameAs(other *helmRelease) bool {
	return h.object == other.object && h.placement.cluster == other.placement.cluster &&
		h.placement.flux == other.placement.flux && h.name.value == other.name.value && h.namespace.value == other.namespace.value
}

// applied is an object as Flux applies it through a placement: patched by the
// kustomizations from the innermost to the Flux Kustomization, its variables
// substituted.
func (c *cluster) applied(o *repository.Object, p placement) *value {
	v, err := valueOf(o.File(), o.Node, asKustomize)
	if err != nil || !v.isMap {
		return emptyMap(place{o.File(), o.Node.Line})
	}
	for _, k := range p.chain {
		for _, each := range c.patchesOf(k) {
			if each.targets(o) {
				v = each.apply(o, v)
			}
		}
	}
	if p.flux != nil {
		for _, each := range c.fluxPatches(p.flux) {
			if each.targets(o) {
				v = each.apply(o, v)
			}
		}
	}
	if o.Document.Encrypted {
		v = v.mapScalars(func(s *value) *value {
			if t, ok := s.scalar.(string); ok && strings.HasPrefix(t, "ENC[") {
				out := *s
				out.unknown = &mark{reason: fmt.Sprintf("%s %s is encrypted", o.Kind, o.Name)}
				return &out
			}
			return s
		})
	}
	if c.substitutes(p) && !substitutionDisabled(o) {
		v = c.substituted(v, p)
	}
	return v
}

func substitutionDisabled(o *repository.Object) bool {
	const key = kustomizeGroup + "/substitute"
	return textMap(o, "annotations")[key] == "disabled" || textMap(o, "labels")[key] == "disabled"
}

func (c *cluster) helmRelease(o *repository.Object, p placement) *helmRelease {
	h := &helmRelease{place: place{o.File(), o.Node.Line}, object: o, placement: p, whole: c.applied(o, p)}
	h.ignores = ignoredRules(o)
	own := textAt(h.whole, "metadata", "namespace")
	if p.namespace != "" {
		at := own.place
		if own.value == "" {
			at = h.place
		}
		own = text{place: at, value: p.namespace}
		if strings.Contains(p.namespace, "${") {
			own.unknown = &mark{reason: fmt.Sprintf("the namespace is %q, which Flux substitutes", p.namespace)}
		}
	}
	name, target := textAt(h.whole, "metadata", "name"), textAt(h.whole, "spec", "targetNamespace")
	h.name, h.namespace, h.storage = name, own, own
	if target.value != "" {
		h.namespace = target
		h.name.value = target.value + "-" + name.value
	}
	if r := textAt(h.whole, "spec", "releaseName"); r.value != "" {
		h.name = r
	}
	if s := textAt(h.whole, "spec", "storageNamespace"); s.value != "" {
		h.storage = s
	}
	return h
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

// ignoredRules are the rules that an object's annotation ignores, each with a
// reason.
func ignoredRules(o *repository.Object) []string {
	value, ok := textMap(o, "annotations")[finding.Annotation]
	if !ok {
		return nil
	}
	var rules []string
	for _, i := range finding.ParseAnnotation(value) {
		if i.Mistake == "" {
			rules = append(rules, i.Rule)
		}
	}
	return rules
}

// source finds the object that a HelmRelease takes its chart from: in its own
// folder first, then by namespace, then the only one of that name.
func (c *cluster) source(h *helmRelease, kind, name, namespace string) (*value, *mark) {
	var all []*repository.Object
	for _, o := range c.repo.ByKind(sourceGroup, kind) {
		use := c.repo.Use(o.File())
		named := o.Name == name || strings.Contains(o.Name, "${") &&
			textAt(c.applied(o, c.placementNear(o, h)), "metadata", "name").value == name
		if named && use != repository.Patch && use != repository.Input {
			all = append(all, o)
		}
	}
	filters := []func(*repository.Object) bool{
		func(o *repository.Object) bool { return path.Dir(o.File()) == path.Dir(h.object.File()) },
		func(o *repository.Object) bool { return namespace != "" && c.namespaceOf(o, h) == namespace },
		func(*repository.Object) bool { return true },
	}
	if namespace != "" && namespace != h.storage.value && namespace != textAt(h.whole, "metadata", "namespace").value {
		filters = filters[1:]
	}
	for _, keep := range filters {
		var found []*value
		for _, o := range all {
			if !keep(o) {
				continue
			}
			v := c.applied(o, c.placementNear(o, h))
			if !slices.ContainsFunc(found, func(other *value) bool { return equalValues(other.at("spec"), v.at("spec")) }) {
				found = append(found, v)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return nil, &mark{reason: fmt.Sprintf("several %s objects are named %q and differ", kind, name)}
		}
	}
	return nil, &mark{reason: fmt.Sprintf("the %s %q is not in the repository", kind, name)}
}

// placementNear is the placement of an object that shares the HelmRelease's
// Flux Kustomization, or cluster; the first one otherwise.
func (c *cluster) placementNear(o *repository.Object, h *helmRelease) placement {
	all := c.placements(o.File())
	for _, same := range []func(placement) bool{
		func(p placement) bool { return p.flux == h.placement.flux },
		func(p placement) bool { return p.cluster == h.placement.cluster },
	} {
		if i := slices.IndexFunc(all, same); i >= 0 {
			return all[i]
		}
	}
	return all[0]
}

func (c *cluster) namespaceOf(o *repository.Object, h *helmRelease) string {
	if p := c.placementNear(o, h); p.namespace != "" {
		return p.namespace
	}
	return o.Namespace
}

// chart is what a HelmRelease installs.
type chart struct {
	name, version, url text
	isRange            bool
}

func (c *cluster) chart(h *helmRelease) chart {
	known, done := c.charts[h]
	if !done {
		known = c.readChart(h)
		c.charts[h] = known
	}
	return known
}

func (c *cluster) readChart(h *helmRelease) chart {
	if ref := h.whole.at("spec", "chartRef"); ref != nil {
		kind, name := textAt(ref, "kind").value, textAt(ref, "name").value
		namespace := orText(textAt(ref, "namespace").value, h.metadataNamespace())
		source, bad := c.source(h, kind, name, namespace)
		switch {
		case bad != nil:
			return unknownChart(ref.place, *bad)
		case kind == "HelmChart":
			return c.chartOf(h, source.at("spec"))
		case kind == "OCIRepository":
			return ociChart(source)
		}
		return unknownChart(ref.place, mark{reason: fmt.Sprintf("the chart comes from a %s, which is not read", kind)})
	}
	return c.chartOf(h, h.whole.at("spec", "chart", "spec"))
}

func (h *helmRelease) metadataNamespace() string {
	if h.placement.namespace != "" {
		return h.placement.namespace
	}
	return textAt(h.whole, "metadata", "namespace").value
}

func unknownChart(at place, m mark) chart {
	unknown := text{place: at, unknown: &m}
	return chart{name: unknown, version: unknown, url: unknown}
}

// chartOf reads chart, version and sourceRef as HelmChart and HelmRelease spell
// them.
func (c *cluster) chartOf(h *helmRelease, spec *value) chart {
	if spec == nil {
		return unknownChart(h.place, mark{reason: "the HelmRelease names no chart"})
	}
	out := chart{name: textAt(spec, "chart"), version: textAt(spec, "version")}
	if out.version.value == "" || out.version.value == "*" {
		out.version.value = "*"
	}
	out.isRange = isRange(out.version.value)
	kind, name := textAt(spec, "sourceRef", "kind").value, textAt(spec, "sourceRef", "name").value
	namespace := orText(textAt(spec, "sourceRef", "namespace").value, h.metadataNamespace())
	if kind == "GitRepository" || kind == "Bucket" {
		out.name.value = path.Base(out.name.value)
	}
	if source, bad := c.source(h, kind, name, namespace); bad == nil {
		out.url = textAt(source, "spec", "url")
	}
	return out
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
// version its tag or range.
func ociChart(source *value) chart {
	spec := source.at("spec")
	if spec == nil {
		return unknownChart(source.place, mark{reason: "the OCIRepository has no spec"})
	}
	out := chart{name: textAt(spec, "url"), url: textAt(spec, "url"), version: textAt(spec, "ref", "tag")}
	semver, digest := textAt(spec, "ref", "semver"), textAt(spec, "ref", "digest")
	switch {
	case out.version.value != "" && semver.value == "":
	case semver.value != "":
		out.version, out.isRange = semver, true
	case digest.value != "":
		out.version = text{place: digest.place, unknown: &mark{reason: "the OCIRepository is pinned by a digest alone"}}
	default:
		out.version = text{place: spec.place, value: "latest"}
	}
	return out
}
