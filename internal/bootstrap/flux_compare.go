package bootstrap

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/internal/fluxinstall"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// withoutPath returns the sync without its path, which is the same on both sides where syncs are compared.
func withoutPath(spec *located.Value) *located.Value {
	out := *spec
	out.Fields = maps.Clone(spec.Fields)
	delete(out.Fields, "path")
	return &out
}

// fluxVersion compares versions. If one is a range that contains the other, the installed version is unresolved.
func (c *comparison) fluxVersion(a, b fluxinstall.Definition) {
	if a.Version.Value == "" && a.Spec != nil && a.Version.Unknown == nil {
		a.Version.Value = fluxinstall.DefaultInstance(a, "distribution", "version")
	}
	if b.Version.Value == "" && b.Spec != nil && b.Version.Unknown == nil {
		b.Version.Value = fluxinstall.DefaultInstance(b, "distribution", "version")
	}
	cause := versionCause(a.Version, b.Version, false)
	x, y := a.Version, b.Version
	switch {
	case x.Unknown != nil:
		c.unresolved(x.Unknown)
	case y.Unknown != nil:
		c.unresolved(y.Unknown)
	case x.Value == y.Value || helmrelease.SameVersion(x.Value, y.Value):
	case x.Value == "":
		c.differ(RuleFluxDrift, "version", cause, Side{File: x.File, Line: x.Line}, side(y))
	case a.Spec != nil && b.Spec != nil:
		c.differ(RuleFluxDrift, "version", cause, side(x), side(y))
	case helmrelease.IsRange(x.Value) && helmrelease.IsRange(y.Value):
		c.unresolved(&located.Unknown{Reason: "neither the bootstrap nor Git pins a version of Flux"})
	default:
		c.fluxRange(x, y, cause)
	}
}

// fluxRange compares versions, one of which may be a range.
func (c *comparison) fluxRange(x, y located.Text, cause string) {
	exact, allowed := x, y
	if helmrelease.IsRange(x.Value) {
		exact, allowed = y, x
	}
	version, err := semver.NewVersion(helmrelease.NormalVersion(exact.Value))
	constraint, err2 := semver.NewConstraint(helmrelease.NormalVersion(allowed.Value))
	switch {
	case err != nil || err2 != nil:
		c.unresolved(&located.Unknown{Reason: fmt.Sprintf("%q and %q cannot be compared as versions", x.Value, y.Value)})
	case helmrelease.IsRange(allowed.Value) && (constraint.Check(version) || version.Prerelease() != ""):
		c.unresolved(&located.Unknown{Reason: fmt.Sprintf("the version of Flux is not pinned: %q is a range", allowed.Value)})
	default:
		c.differ(RuleFluxDrift, "version", cause, side(x), side(y))
	}
}

// instances compares the specs of two FluxInstances, without their versions.
func (c *comparison) instances(a, b fluxinstall.Definition) {
	for _, m := range slices.Concat(a.Open, b.Open) {
		c.unresolved(&m)
	}
	x, y := a.Spec.Clone(), b.Spec.Clone()
	for _, spec := range []*located.Value{x, y} {
		if distribution := spec.At("distribution"); located.IsMap(distribution) {
			delete(distribution.Fields, "version")
		}
	}
	c.dropDefaults(x, y, a, b)
	c.diff("spec", pair{value: x, sure: x, open: len(a.Open) > 0}, pair{value: y, sure: y, open: len(b.Open) > 0})
}

// dropDefaults removes fields without an effect from both specs: defaults that only one side spells out, fields that one side's
// chart sets, and different paths of the same folder.
func (c *comparison) dropDefaults(x, y *located.Value, a, b fluxinstall.Definition) {
	for _, each := range []struct {
		spec, other *located.Value
		of          fluxinstall.Definition
	}{{x, y, a}, {y, x, b}} {
		for _, at := range fluxinstall.InstanceDefaults {
			explicit := each.other.At(at.Path...)
			if explicit == nil || each.spec.At(at.Path...) != nil {
				continue
			}
			byDefault := fluxinstall.DefaultInstance(each.of, at.Path...)
			if fluxinstall.TextOfDefault(explicit) == byDefault || each.of.FromChart && byDefault == "" {
				delete(each.other.At(at.Path[:len(at.Path)-1]...).Fields, at.Path[len(at.Path)-1])
			}
		}
	}
	folder := func(spec *located.Value) string { return repository.Clean(located.TextAt(spec, "sync", "path").Value) }
	if located.IsMap(x.At("sync")) && located.IsMap(y.At("sync")) && folder(x) == folder(y) {
		delete(x.At("sync").Fields, "path")
		delete(y.At("sync").Fields, "path")
	}
}

// components compares the controllers in manifests with those that a FluxInstance asks for.
func (c *comparison) components(a, b fluxinstall.Definition) {
	want := fluxinstall.DefaultInstance(b, "components")
	at := b.Place
	if list := b.Spec.At("components"); list != nil {
		if m := located.UnknownIn(list); m != nil || !located.IsList(list) {
			return
		}
		want, at = fluxinstall.TextOfDefault(list), list.Place
	}
	if have := strings.Join(a.Components, ","); have != want {
		c.differ(RuleFluxDrift, "components", "", Side{Value: have, File: a.File, Line: a.Line}, Side{Value: want, File: at.File, Line: at.Line})
	}
}
