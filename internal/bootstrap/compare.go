package bootstrap

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/mask"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// comparison collects the differences between a release and its HelmRelease.
type comparison struct {
	*templates.Engine
	helmfile    string // the file that declares the release
	definition  string // the kind of that file in a word, such as helmfile
	helmRelease *helmrelease.Release
	differences []Difference
	unknown     []string
}

func (c *comparison) differ(rule, field, cause string, bootstrap, git Side) {
	cause = strings.ReplaceAll(cause, helmfile.InHelmfile, c.definition)
	c.differences = append(c.differences, Difference{Rule: rule, Field: field, Cause: cause, Bootstrap: bootstrap, Git: git})
}

// missingFile adds a difference in a field that the bootstrap reads from a file that doesn't exist.
func (c *comparison) missingFile(field string, t, git located.Text) {
	c.differences = append(c.differences, Difference{Rule: RuleTemplatePath, Field: field,
		Bootstrap: Side{File: t.File, Line: t.Line}, Git: side(git), missing: t.Unknown.Missing})
}

func (c *comparison) unresolved(m *located.Unknown) {
	if !slices.Contains(c.unknown, m.Reason) {
		c.unknown = append(c.unknown, m.Reason)
	}
}

func side(t located.Text) Side {
	return Side{Value: t.Value, File: t.File, Line: t.Line}
}

// compare compares a release with the HelmRelease that takes it over.
func (j *judge) compare(r *helmfile.Release, h *helmrelease.Release) *comparison {
	c := &comparison{Engine: j.engine, helmfile: r.File, definition: r.Definition, helmRelease: h}
	if !r.CRDsOnly {
		c.identity(r, j.Index, h)
	}
	chart := j.Chart(h)
	c.chart(j.chartName(r), chart)
	c.version(j.version(r), chart, j.lockedVersion(r))
	if !r.CRDsOnly {
		values := j.Values(h)
		c.values(r.Values, values, h.WrittenValues())
		if r.Reads[h.File] && slices.ContainsFunc(r.Values.Unknown, func(m located.Unknown) bool { return m.Stops }) {
			c.addReferred(values)
		}
	}
	return c
}

// addReferred adds differences in the values that the HelmRelease has from valuesFrom, where the bootstrap's template reads the
// HelmRelease's file, which lacks these values, and stops there.
func (c *comparison) addReferred(git located.Layers) {
	referred := located.EmptyMap(git.Value.Place)
	for key, v := range git.Value.Fields {
		if located.AnyPart(v, func(part *located.Value) bool { return part.Referred }) {
			referred.Fields[key] = v
		}
	}
	c.diff("values", pair{}, pair{value: referred, sure: git.Sure, open: len(git.Unknown) > 0})
}

func (c *comparison) identity(r *helmfile.Release, g *helmrelease.Index, h *helmrelease.Release) {
	for _, each := range []struct {
		field          string
		bootstrap, git located.Text
	}{
		{"release", r.Name, g.Identity(h, h.Name, "releaseName", "targetNamespace", "name")},
		{"namespace", r.Namespace, g.Identity(h, h.Namespace, "targetNamespace", "namespace")},
		{"storageNamespace", r.Namespace, g.Identity(h, h.Storage, "storageNamespace", "namespace")},
	} {
		switch a, b := each.bootstrap, each.git; {
		case a.Unknown != nil:
			c.unresolved(a.Unknown)
		case b.Unknown != nil:
			c.unresolved(b.Unknown)
		case b.Value == "" && h.LikelyIn(a.Value):
		case b.Value == "":
			c.unresolved(&located.Unknown{Reason: "the namespace of the HelmRelease is unknown"})
		case a.Value == "":
			c.unresolved(&located.Unknown{Reason: "the release sets no namespace"})
		case a.Value == b.Value:
		case each.field == "storageNamespace" && h.Storage == h.Namespace:
			// The difference in the namespace already reports it.
		default:
			c.differ(RuleIdentityDrift, each.field, causeIdentity, side(a), side(b))
		}
	}
}

func (c *comparison) chart(own located.Text, git helmrelease.Chart) {
	switch {
	case own.Unknown != nil && own.Unknown.Missing != "":
		c.missingFile("chart", own, git.Name)
	case own.Unknown != nil:
		c.unresolved(own.Unknown)
	case git.Name.Unknown != nil:
		c.unresolved(git.Name.Unknown)
	case helmrelease.ChartName(own.Value) != helmrelease.ChartName(git.Name.Value):
		a, b := side(own), side(git.Name)
		c.differ(RuleChartDrift, "chart", causeChart, a, b)
	}
}

// chartName returns the name of a release's chart: of a folder, the one in its Chart.yaml.
func (j *judge) chartName(r *helmfile.Release) located.Text {
	if r.Folder != "" {
		if name, _ := helmrelease.FolderChart(j.Repo, r.Folder); name.Value != "" {
			return name
		}
	}
	return r.Chart
}

// version returns the version of a release's chart. Of a folder, it is the one in its Chart.yaml: Helm ignores any other.
func (j *judge) version(r *helmfile.Release) located.Text {
	v := r.Version
	if r.Folder != "" {
		if _, version := helmrelease.FolderChart(j.Repo, r.Folder); version.Value != "" {
			return version
		}
	}
	if v.Value == "" && v.Unknown == nil {
		// An OCI reference may carry the version itself, and so may an archive's name.
		if m := helmrelease.Packaged.FindStringSubmatch(helmrelease.LastElement(r.Chart.Value)); m != nil {
			v.Value, v.Place = m[2], r.Chart.Place
		} else if _, tag, ok := strings.Cut(helmrelease.LastElement(r.Chart.Value), ":"); ok {
			v.Value, v.Place = tag, r.Chart.Place
		} else {
			v.Place = r.Place
			if strings.HasPrefix(r.Chart.Value, "./") || strings.HasPrefix(r.Chart.Value, "../") {
				v.Unknown = &located.Unknown{Reason: fmt.Sprintf("the version of the chart %s is not known: the repository has no %s", r.Chart.Value, path.Join(r.Chart.Value, "Chart.yaml"))}
			}
		}
	}
	return v
}

func (c *comparison) version(v located.Text, git helmrelease.Chart, locked string) {
	cause := versionCause(v, git.Version, git.Patched)
	switch {
	case v.Unknown != nil && v.Unknown.Missing != "":
		c.missingFile("version", v, git.Version)
	case v.Unknown != nil:
		c.unresolved(v.Unknown)
	case git.Version.Unknown != nil && located.Variable.MatchString(v.Value):
		c.differ(RuleVersionDrift, "version", cause, side(v), side(git.Version))
	case git.Version.Unknown == nil && helmrelease.SameVersion(v.Value, git.Version.Value):
	case git.Locked != "" && cmp.Or(locked, exactly(v.Value)) != "":
		if !helmrelease.SameVersion(cmp.Or(locked, v.Value), git.Locked) {
			a, b := side(v), side(git.Version)
			a.Locked, b.Locked = locked, git.Locked
			if v.Value == "" {
				a.Value = nil
			}
			v.Value, git.Version.Value = cmp.Or(locked, v.Value), git.Locked
			c.differ(RuleVersionDrift, "version", versionCause(v, git.Version, git.Patched), a, b)
		}
	case git.Version.Unknown != nil:
		c.unresolved(git.Version.Unknown)
	case git.IsRange:
		c.ranged(v, git.Version, cause)
	case v.Value == "":
		c.differ(RuleVersionDrift, "version", cause, Side{Value: nil, File: v.File, Line: v.Line}, side(git.Version))
	default:
		c.differ(RuleVersionDrift, "version", cause, side(v), side(git.Version))
	}
}

// exactly returns the version, or "" if it is a range or not a version.
func exactly(version string) string {
	if _, err := semver.StrictNewVersion(helmrelease.NormalVersion(version)); err != nil {
		return ""
	}
	return version
}

// lockedVersion returns the version to which the lock pins a release's version range, "" if it pins none.
func (j *judge) lockedVersion(r *helmfile.Release) string {
	ask, err := r.Request()
	if ask == nil || err != nil || exactly(ask.Version) != "" {
		return ""
	}
	return j.Fleet.LockedVersion(*ask)
}

// ranged compares a version with a range. A version outside of the range is drift; with one inside, the version that Flux
// installs is not known offline.
func (c *comparison) ranged(v, git located.Text, cause string) {
	if v.Value == "" {
		c.unresolved(&located.Unknown{Reason: "neither the bootstrap nor Git pins a version"})
		return
	}
	allowed, err := semver.NewConstraint(git.Value)
	exact, err2 := semver.NewVersion(helmrelease.NormalVersion(v.Value))
	if err == nil && err2 == nil && !allowed.Check(exact) && exact.Prerelease() == "" {
		c.differ(RuleVersionDrift, "version", cause, side(v), side(git))
		return
	}
	c.unresolved(&located.Unknown{Reason: fmt.Sprintf("Git pins no version: %q is a range", git.Value)})
}

func (c *comparison) values(a, b located.Layers, written *located.Value) {
	for _, m := range a.Missing {
		rule := RuleValuesDrift
		if m.Unknown != nil {
			rule = RuleTemplatePath // a template reads it
		}
		c.differences = append(c.differences, Difference{Rule: rule, Field: "values",
			Bootstrap: Side{Value: m.Value, File: m.File, Line: m.Line}, missing: m.Value})
	}
	for i := range a.Unknown {
		if a.Unknown[i].Missing == "" {
			c.unresolved(&a.Unknown[i])
		}
	}
	for i := range b.Unknown {
		c.unresolved(&b.Unknown[i])
	}
	c.diff("values", pair{a.Value, a.Sure, len(a.Unknown) > 0, nil, nil},
		pair{b.Value, b.Sure, len(b.Unknown) > 0, written, []any{"spec", "values"}})
}

const maxDifferences = 200

func (c *comparison) diff(path string, a, b pair) {
	if len(c.differences) >= maxDifferences {
		return
	}
	switch {
	case (located.IsMap(a.value) || a.value == nil) && (located.IsMap(b.value) || b.value == nil):
		keys := map[string]bool{}
		for _, v := range []*located.Value{a.value, b.value} {
			if v != nil {
				for k := range v.Fields {
					keys[k] = true
				}
			}
		}
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			c.diff(located.JoinPath(path, key), a.field(key), b.field(key))
		}
	case located.IsList(a.value) && located.IsList(b.value) && len(a.value.Items) == len(b.value.Items) && a.certain() && b.certain():
		for i := range a.value.Items {
			at := fmt.Sprintf("%s[%d]", path, i)
			c.diff(at, pair{value: a.value.Items[i]}, pair{value: b.value.Items[i], written: b.written.Item(i)})
		}
	default:
		c.leaf(path, a, b)
	}
}

func (c *comparison) leaf(path string, a, b pair) {
	if a.value != nil && b.value != nil && located.Equal(a.value, b.value) && located.UnknownIn(b.value) == nil {
		if m, bad := c.MarkedIn(a.value); bad {
			c.unresolved(&m)
		}
		return
	}
	if located.IsNull(a.value) && b.value == nil && located.IsNull(b.written) {
		return // kustomize drops nulls where it patches: both sides say the same
	}
	// An unknown value in a list doesn't matter where the rest differs anyway, nor does the value of a variable that the
	// bootstrap has unsubstituted.
	if c.mayEqual(a.value, b.value) {
		if m, bad := c.MarkedIn(a.value); bad {
			c.unresolved(&m)
			return
		}
		if m := located.UnknownIn(b.value); m != nil && (a.value == nil || !located.ContainsVariable(a.value)) {
			c.unresolved(m)
			return
		}
	}
	if !a.certain() || !b.certain() {
		return // the reason is among the unresolved ones already
	}
	rule, cause := valuesRule(c.helmfile, a, b)
	git := valueSide(path, b.value)
	if b.value == nil && b.written != nil {
		at, _ := c.helmRelease.Applied.PatchPosition(b.path...) // the patch that removes it
		git.File, git.Line = at.File, at.Line
	}
	c.differ(rule, path, cause, valueSide(path, a.value), git)
}

// mayEqual reports whether two values may be the same, depending on their unknown parts.
func (c *comparison) mayEqual(a, b *located.Value) bool {
	unknown := func(v *located.Value) bool {
		if v == nil {
			return false
		}
		text, _ := v.Scalar.(string)
		_, marked := c.Marked(text)
		return v.Unknown != nil || marked
	}
	switch {
	case a == nil:
		// A variable always has some value; a Secret may lack the key.
		return b != nil && located.AnyPart(b, func(v *located.Value) bool { return v.Unknown != nil && v.Referred })
	case unknown(a) || unknown(b):
		return true
	case b == nil:
		_, marked := c.MarkedIn(a)
		return marked
	case a.IsList && b.IsList:
		for i := range a.Items {
			if len(a.Items) != len(b.Items) || !c.mayEqual(a.Items[i], b.Items[i]) {
				return false
			}
		}
		return len(a.Items) == len(b.Items)
	case a.IsMap && b.IsMap:
		for key, field := range a.Fields {
			if other, ok := b.Fields[key]; !ok || !c.mayEqual(field, other) {
				return false
			}
		}
		return len(a.Fields) == len(b.Fields)
	}
	return located.Equal(a, b)
}

func valueSide(path string, v *located.Value) Side {
	if v == nil {
		return Side{}
	}
	shown := v.MapScalars(func(s *located.Value) *located.Value {
		if s.Secret {
			return &located.Value{Place: s.Place, Scalar: mask.Hidden}
		}
		return s
	})
	value := mask.Value(path[strings.LastIndexByte(path, '.')+1:], shown.Plain())
	if masked, is := value.(mask.Masked); is {
		value = string(masked)
	}
	return Side{Value: value, File: v.File, Line: v.Line, scalar: !v.IsMap && !v.IsList}
}
