package bootstrap

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// Rules that a difference falls under.
const (
	RuleVersionDrift       = "bootstrap-version-drift"
	RuleChartDrift         = "bootstrap-chart-drift"
	RuleValuesDrift        = "bootstrap-values-drift"
	RuleIdentityDrift      = "bootstrap-identity-drift"
	RuleHelmReleaseMissing = "bootstrap-helmrelease-missing"
)

// comparison gathers what differs between a release and its HelmRelease.
type comparison struct {
	*engine
	helmfile    string // that declares the release
	definition  string // what it is, in a word
	helmRelease *helmRelease
	differences []Difference
	unknown     []string
}

func (c *comparison) differ(rule, field, cause string, bootstrap, git Side) {
	cause = strings.ReplaceAll(cause, helmfileDefinition, c.definition)
	c.differences = append(c.differences, Difference{Rule: rule, Field: field, Cause: cause, Bootstrap: bootstrap, Git: git})
}

// gone tells of a field that the bootstrap reads from a file that doesn't exist.
func (c *comparison) gone(field string, t, git text) {
	c.differences = append(c.differences, Difference{Rule: RuleTemplatePath, Field: field,
		Bootstrap: Side{File: t.file, Line: t.line}, Git: side(git), missing: t.unknown.missing})
}

func (c *comparison) unresolved(m *mark) {
	if !slices.Contains(c.unknown, m.reason) {
		c.unknown = append(c.unknown, m.reason)
	}
}

func side(t text) Side {
	return Side{Value: t.value, File: t.file, Line: t.line}
}

// compare compares a release with the HelmRelease that takes it over.
func (g *git) compare(e *engine, r *release, h *helmRelease) *comparison {
	c := &comparison{engine: e, helmfile: r.file, definition: r.definition, helmRelease: h}
	if !r.crdsOnly {
		c.identity(r, g, h)
	}
	chart := g.chart(h)
	c.chart(r, chart)
	c.version(r, chart)
	if !r.crdsOnly {
		values := g.values(h)
		c.values(r.values, values, h.writtenValues())
		if r.reads[h.file] && slices.ContainsFunc(r.values.unknown, func(m mark) bool { return m.stops }) {
			c.unseen(values)
		}
	}
	return c
}

// unseen tells of the values that come from valuesFrom where the bootstrap reads the HelmRelease,
// which doesn't have them, and its template stops there.
func (c *comparison) unseen(git layered) {
	referred := emptyMap(git.value.place)
	for key, v := range git.value.fields {
		if anyPart(v, func(part *value) bool { return part.referred }) {
			referred.fields[key] = v
		}
	}
	c.diff("values", pair{}, pair{value: referred, sure: git.sure, open: len(git.unknown) > 0})
}

func (c *comparison) identity(r *release, g *git, h *helmRelease) {
	for _, each := range []struct {
		field          string
		bootstrap, git text
	}{
		{"release", r.name, g.identity(h, h.name, "releaseName", "targetNamespace", "name")},
		{"namespace", r.namespace, g.identity(h, h.namespace, "targetNamespace", "namespace")},
		{"storageNamespace", r.namespace, g.identity(h, h.storage, "storageNamespace", "namespace")},
	} {
		switch a, b := each.bootstrap, each.git; {
		case a.unknown != nil:
			c.unresolved(a.unknown)
		case b.unknown != nil:
			c.unresolved(b.unknown)
		case b.value == "" && h.likelyIn(a.value):
		case b.value == "":
			c.unresolved(&mark{reason: "the namespace of the HelmRelease is not known"})
		case a.value == "":
			c.unresolved(&mark{reason: "the release names no namespace"})
		case a.value == b.value:
		case each.field == "storageNamespace" && h.storage == h.namespace:
			// The difference of the namespaces says it already.
		default:
			c.differ(RuleIdentityDrift, each.field, causeIdentity, side(a), side(b))
		}
	}
}

// likelyIn says whether a HelmRelease whose namespace is set nowhere in the
// repository belongs to a namespace: its folders are named so, by convention
// apps/NAMESPACE/NAME, or its Flux Kustomization stands there.
func (h *helmRelease) likelyIn(namespace string) bool {
	folders := strings.Split(h.file, "/")
	k := h.applied.Kustomization
	return slices.Contains(folders[:len(folders)-1], namespace) || k != nil && k.Namespace == namespace
}

// packaged is the file name of a packaged chart, with its name and version.
var packaged = regexp.MustCompile(`^(.+?)-(v?[0-9]+\.[0-9]+\.[0-9]+.*)\.tgz$`)

// chartName is the last element of a chart's reference, without a tag; of an archive, the name in
// its file name.
func chartName(ref string) string {
	ref = strings.TrimSuffix(ref, "/")
	name := ref[strings.LastIndex(ref, "/")+1:]
	if m := packaged.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ":")
	return name
}

func (c *comparison) chart(r *release, git chart) {
	switch {
	case r.chart.unknown != nil && r.chart.unknown.missing != "":
		c.gone("chart", r.chart, git.name)
	case r.chart.unknown != nil:
		c.unresolved(r.chart.unknown)
	case git.name.unknown != nil:
		c.unresolved(git.name.unknown)
	case chartName(r.chart.value) != chartName(git.name.value):
		a, b := side(r.chart), side(git.name)
		c.differ(RuleChartDrift, "chart", causeChart, a, b)
	}
}

func (c *comparison) version(r *release, git chart) {
	v := r.version
	if v.value == "" && v.unknown == nil {
		// An OCI reference may carry the version itself, and so may an archive's name.
		if m := packaged.FindStringSubmatch(lastElement(r.chart.value)); m != nil {
			v.value, v.place = m[2], r.chart.place
		} else if _, tag, ok := strings.Cut(lastElement(r.chart.value), ":"); ok {
			v.value, v.place = tag, r.chart.place
		} else {
			v.place = r.place
		}
	}
	cause := versionCause(v, git.version, git.patched)
	switch {
	case v.unknown != nil && v.unknown.missing != "":
		c.gone("version", v, git.version)
	case v.unknown != nil:
		c.unresolved(v.unknown)
	case git.version.unknown != nil && variable.MatchString(v.value):
		c.differ(RuleVersionDrift, "version", cause, side(v), side(git.version))
	case git.version.unknown != nil:
		c.unresolved(git.version.unknown)
	case sameVersion(v.value, git.version.value):
	case git.isRange:
		c.ranged(v, git.version, cause)
	case v.value == "":
		c.differ(RuleVersionDrift, "version", cause, Side{Value: nil, File: v.file, Line: v.line}, side(git.version))
	default:
		c.differ(RuleVersionDrift, "version", cause, side(v), side(git.version))
	}
}

// ranged compares a version with a range: outside of it is drift, inside nobody
// can tell offline what Flux installs.
func (c *comparison) ranged(v, git text, cause string) {
	if v.value == "" {
		c.unresolved(&mark{reason: "neither the bootstrap nor Git pins a version"})
		return
	}
	allowed, err := semver.NewConstraint(git.value)
	exact, err2 := semver.NewVersion(normalVersion(v.value))
	if err == nil && err2 == nil && !allowed.Check(exact) && exact.Prerelease() == "" {
		c.differ(RuleVersionDrift, "version", cause, side(v), side(git))
		return
	}
	c.unresolved(&mark{reason: fmt.Sprintf("Git pins no version: %q is a range", git.value)})
}

func lastElement(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

// sameVersion ignores what only spells a version differently: a leading v, a
// digest after the tag, the underscore that stands for + in a tag.
func sameVersion(a, b string) bool {
	a, b = normalVersion(a), normalVersion(b)
	if a == b {
		return true
	}
	x, err1 := semver.StrictNewVersion(a)
	y, err2 := semver.StrictNewVersion(b)
	return err1 == nil && err2 == nil && x.Equal(y) && x.Metadata() == y.Metadata()
}

func normalVersion(v string) string {
	v, _, _ = strings.Cut(v, "@")
	if len(v) > 1 && (v[0] == 'v' || v[0] == 'V') && v[1] >= '0' && v[1] <= '9' {
		v = v[1:]
	}
	return strings.ReplaceAll(v, "_", "+")
}

// variable is what Flux substitutes.
var variable = regexp.MustCompile(`\$\{[A-Za-z_]`)

func (c *comparison) values(a, b layered, written *value) {
	for _, m := range a.missing {
		rule := RuleValuesDrift
		if m.unknown != nil {
			rule = RuleTemplatePath // a template reads it
		}
		c.differences = append(c.differences, Difference{Rule: rule, Field: "values",
			Bootstrap: Side{Value: m.value, File: m.file, Line: m.line}, missing: m.value})
	}
	for i := range a.unknown {
		if a.unknown[i].missing == "" {
			c.unresolved(&a.unknown[i])
		}
	}
	for i := range b.unknown {
		c.unresolved(&b.unknown[i])
	}
	c.diff("values", pair{a.value, a.sure, len(a.unknown) > 0, nil, nil},
		pair{b.value, b.sure, len(b.unknown) > 0, written, []any{"spec", "values"}})
}

// pair is one side's value at a path: what is known, what is sure, and whether
// an unknown layer could change what isn't.
type pair struct {
	value, sure *value
	open        bool
	// written is what the HelmRelease's file has there, and path leads to it.
	written *value
	path    []any
}

func (p pair) field(key string) pair {
	return pair{p.value.at(key), p.sure.at(key), p.open, p.written.at(key), append(p.path[:len(p.path):len(p.path)], key)}
}

// isNull says whether a value is null, and not just absent.
func isNull(v *value) bool {
	return v != nil && !v.isMap && !v.isList && v.scalar == nil && v.unknown == nil
}

// settled says whether the side's value is certain.
func (p pair) settled() bool { return !p.open || p.sure != nil && !p.sure.isMap }

const maxDifferences = 200

func (c *comparison) diff(path string, a, b pair) {
	if len(c.differences) >= maxDifferences {
		return
	}
	switch {
	case (isMap(a.value) || a.value == nil) && (isMap(b.value) || b.value == nil):
		keys := map[string]bool{}
		for _, v := range []*value{a.value, b.value} {
			if v != nil {
				for k := range v.fields {
					keys[k] = true
				}
			}
		}
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			c.diff(joinPath(path, key), a.field(key), b.field(key))
		}
	case isList(a.value) && isList(b.value) && len(a.value.items) == len(b.value.items) && a.settled() && b.settled():
		for i := range a.value.items {
			at := fmt.Sprintf("%s[%d]", path, i)
			c.diff(at, pair{value: a.value.items[i]}, pair{value: b.value.items[i], written: b.written.item(i)})
		}
	default:
		c.leaf(path, a, b)
	}
}

func isMap(v *value) bool  { return v != nil && v.isMap }
func isList(v *value) bool { return v != nil && v.isList }

func (c *comparison) leaf(path string, a, b pair) {
	if a.value != nil && b.value != nil && equalValues(a.value, b.value) && unknownIn(b.value) == nil {
		if m, bad := c.markedIn(a.value); bad {
			c.unresolved(&m)
		}
		return
	}
	if isNull(a.value) && b.value == nil && isNull(b.written) {
		return // kustomize drops nulls where it patches: both sides say the same
	}
	// What is unknown in a list doesn't matter where the rest differs anyway, nor does the value
	// of a variable that the bootstrap has as it stands.
	if c.mayEqual(a.value, b.value) {
		if m, bad := c.markedIn(a.value); bad {
			c.unresolved(&m)
			return
		}
		if m := unknownIn(b.value); m != nil && (a.value == nil || !containsVariable(a.value)) {
			c.unresolved(m)
			return
		}
	}
	if !a.settled() || !b.settled() {
		return // the reason stands in unresolved already
	}
	rule, cause := valuesRule(c.helmfile, a, b)
	git := valueSide(path, b.value)
	if b.value == nil && b.written != nil {
		git.File, git.Line, _, _ = c.helmRelease.applied.PatchPosition(b.path...) // that takes it out
	}
	c.differ(rule, path, cause, valueSide(path, a.value), git)
}

// mayEqual says whether two values may be the same, whatever what is unknown in them is.
func (c *comparison) mayEqual(a, b *value) bool {
	unknown := func(v *value) bool {
		if v == nil {
			return false
		}
		text, _ := v.scalar.(string)
		_, marked := c.marked(text)
		return v.unknown != nil || marked
	}
	switch {
	case a == nil:
		// Whatever a variable's value is, it is there; what a Secret holds is left open.
		return b != nil && anyPart(b, func(v *value) bool { return v.unknown != nil && v.referred })
	case unknown(a) || unknown(b):
		return true
	case b == nil:
		_, marked := c.markedIn(a)
		return marked
	case a.isList && b.isList:
		for i := range a.items {
			if len(a.items) != len(b.items) || !c.mayEqual(a.items[i], b.items[i]) {
				return false
			}
		}
		return len(a.items) == len(b.items)
	case a.isMap && b.isMap:
		for key, field := range a.fields {
			if other, ok := b.fields[key]; !ok || !c.mayEqual(field, other) {
				return false
			}
		}
		return len(a.fields) == len(b.fields)
	}
	return equalValues(a, b)
}

// markedIn finds what could not be computed in a value.
func (c *comparison) markedIn(v *value) (found mark, is bool) {
	if v == nil {
		return mark{}, false
	}
	v.walk("", func(_ string, s *value) {
		if t, ok := s.scalar.(string); ok && !is {
			found, is = c.marked(t)
		}
	})
	return found, is
}

func unknownIn(v *value) (found *mark) {
	if v == nil {
		return nil
	}
	v.walk("", func(_ string, s *value) {
		if s.unknown != nil && found == nil {
			found = s.unknown
		}
	})
	return found
}

func containsVariable(v *value) (found bool) {
	v.walk("", func(_ string, s *value) {
		if t, ok := s.scalar.(string); ok && variable.MatchString(t) {
			found = true
		}
	})
	return found
}

// equalValues compares values as Helm sees them.
func equalValues(a, b *value) bool {
	switch {
	case a == nil || b == nil:
		return a == b
	case a.isMap != b.isMap || a.isList != b.isList || len(a.items) != len(b.items) || len(a.fields) != len(b.fields):
		return false
	}
	for k, v := range a.fields {
		if other, ok := b.fields[k]; !ok || !equalValues(v, other) {
			return false
		}
	}
	for i := range a.items {
		if !equalValues(a.items[i], b.items[i]) {
			return false
		}
	}
	if a.isMap || a.isList {
		return true
	}
	if b.substituted && b.unknown == nil && fmt.Sprint(a.scalar) == b.spelled {
		return true
	}
	return sameScalar(a.scalar, b.scalar)
}

func valueSide(path string, v *value) Side {
	if v == nil {
		return Side{}
	}
	shown := v.mapScalars(func(s *value) *value {
		if s.secret {
			return &value{place: s.place, scalar: finding.Hidden}
		}
		return s
	})
	return Side{Value: hidden(path, shown.plain()), File: v.file, Line: v.line, scalar: !v.isMap && !v.isList}
}

// hidden keeps what looks like a secret out of reports.
func hidden(path string, v any) any {
	last := path[strings.LastIndexAny(path, ".")+1:]
	switch v := v.(type) {
	case string:
		if credential.Hide(last, v) {
			return finding.Hidden
		}
	case map[string]any:
		for k, item := range v {
			v[k] = hidden(path+"."+k, item)
		}
	case []any:
		for i, item := range v {
			v[i] = hidden(path, item)
		}
	}
	return v
}
