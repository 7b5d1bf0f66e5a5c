package bootstrap

import (
	"fmt"
	"path"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/schemas"
)

// The causes of a difference, as reports print them.
const (
	causeGitBumped       = "Git was updated, but the helmfile was not"
	causeBootstrapBumped = "the helmfile was updated, but Git was not"
	causeUnpinned        = "the bootstrap pins no version and installs the newest"
	causePatched         = "a kustomize patch sets it in Git"
	causeOverlay         = "a kustomize patch changes it, but the bootstrap has the unpatched value"
	causeSubstitution    = "Flux substitutes the variable, but helmfile does not"
	causeValuesFrom      = "Flux adds it with valuesFrom, which the bootstrap does not read"
	causeStale           = "the values file differs from Git"
	causeIdentity        = "Flux would install a second release beside the bootstrap's"
	causeObjects         = "the objects that the chart renders differ"
	causeChart           = "Flux installs another chart than the bootstrap"
)

// valuesRule returns the rule of a difference of values and its likely cause, "" if the cause is not known. The file is
// the one that declares the release.
func valuesRule(file string, a, b pair) (rule, cause string) {
	unpatched := b.written != nil && a.value != nil && located.Equal(a.value, b.written)
	switch {
	case a.value != nil && located.ContainsVariable(a.value) && b.value != nil && located.AnyPart(b.value, func(v *located.Value) bool { return v.Substituted || v.Unknown != nil }):
		return RuleSubstitution, causeSubstitution
	case b.value != nil && located.AnyPart(b.value, func(v *located.Value) bool { return v.Referred }):
		return RuleValuesFrom, causeValuesFrom
	case unpatched:
		return RuleOverlay, causeOverlay
	case b.value != nil && b.value.Patched:
		return RuleValuesDrift, causePatched
	case a.value != nil && a.value.File != file && a.value.File != "" && path.Ext(a.value.File) != ".gotmpl":
		return RuleValuesDrift, causeStale
	}
	return RuleValuesDrift, ""
}

// versionCause returns the likely cause of a difference of versions.
func versionCause(bootstrap, git located.Text, patched bool) string {
	a, err1 := semver.NewVersion(helmrelease.NormalVersion(bootstrap.Value))
	b, err2 := semver.NewVersion(helmrelease.NormalVersion(git.Value))
	switch {
	case patched:
		return causePatched
	case bootstrap.Value == "":
		return causeUnpinned
	case err1 == nil && err2 == nil && a.LessThan(b):
		return causeGitBumped
	case err1 == nil && err2 == nil && b.LessThan(a):
		return causeBootstrapBumped
	}
	return ""
}

// Hint returns the advice for a release that drifts, "" if there is none: advice about the chart or
// its version before advice about values.
func (r ReleaseReport) Hint() string {
	if r.Verdict != Drift {
		return ""
	}
	for _, rule := range []string{RuleChartDrift, RuleVersionDrift, RuleIdentityDrift, RuleTemplatePath, RuleSubstitution,
		RuleOverlay, RuleValuesFrom, RuleValuesDrift} {
		for _, d := range r.Differences {
			if d.Rule == rule && !d.Ignored {
				return r.HintFor(d)
			}
		}
	}
	return ""
}

// HintFor returns the likely cause of one difference, and how to fix it.
func (r ReleaseReport) HintFor(d Difference) string {
	if d.missing != "" {
		tool := "helmfile"
		if r.definition == helmfile.InKustomization {
			tool = "kustomize"
		}
		return tool + " fails there: correct the path"
	}
	out := wayOut(d, r.definition)
	switch {
	case d.Rule == RuleValuesDrift && !isValue(d.Field):
		return d.Cause
	case d.Cause == "":
		return out
	case out == "":
		return d.Cause
	}
	return d.Cause + ": " + out
}

// wayOut returns how to fix a difference, "" where its cause says so.
func wayOut(d Difference, definition string) string {
	switch d.Rule {
	case RuleVersionDrift:
		if d.Cause == "" || d.Cause == causePatched {
			return "read the version from Git in the " + definition + ", so that it is set only once"
		}
		return ""
	case RuleIdentityDrift:
		return "use the same release name and namespace"
	case RuleChartDrift:
		theirs, _ := d.Git.Value.(string)
		if own, _ := d.Bootstrap.Value.(string); own != "" && theirs != "" {
			if near, slip := schemas.Misspelt(path.Base(own), []string{path.Base(theirs)}); slip {
				return fmt.Sprintf("did you mean %q?", near)
			}
		}
		return "use the same chart in both"
	case RuleSubstitution:
		return "write the value itself"
	case RuleOverlay:
		return "set the patched value in the HelmRelease"
	case RuleValuesFrom:
		return "add the same values to the bootstrap, or move them to the HelmRelease"
	}
	if definition != helmfile.InHelmfile {
		return "let both read the same values file, so that the values are in Git only once"
	}
	return "read the values from the HelmRelease in a values template, so that they are in Git only once"
}

// isValue reports whether a field is part of the values.
func isValue(field string) bool {
	rest, is := strings.CutPrefix(field, "values")
	return is && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
