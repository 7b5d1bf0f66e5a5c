package bootstrap

import (
	"fmt"
	"path"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/schemas"
)

// The causes of a difference, as reports tell them.
const (
	causeGitBumped       = "Git was bumped and the helmfile was not"
	causeBootstrapBumped = "the helmfile was bumped and Git was not"
	causeUnpinned        = "the bootstrap pins no version and installs the newest"
	causePatched         = "a kustomize patch sets it in Git"
	causeOverlay         = "a kustomize patch changes it, and the bootstrap has what the file says without the patch"
	causeSubstitution    = "Flux substitutes the variable and helmfile doesn't"
	causeValuesFrom      = "Flux adds it by valuesFrom, which the bootstrap doesn't read"
	causeStale           = "the values file says something else than Git"
	causeIdentity        = "Flux would install a second release beside the bootstrap's"
	causeChart           = "the bootstrap installs another chart than Flux"
)

// valuesRule is the rule that a difference of values falls under, and its likely cause, ""
// where it is not known. The file is the one that declares the release.
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

// versionCause is the likely cause of a difference of versions.
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

// Hint says what to do about a release that drifts, "" when there is nothing to
// add: what it says of the chart or its version before what it says of values.
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

// HintFor says what is likely the cause of one difference, and what to do about it.
func (r ReleaseReport) HintFor(d Difference) string {
	if d.missing != "" {
		tool := "helmfile"
		if r.definition == helmfile.InKustomization {
			tool = "kustomize"
		}
		return tool + " stops there: correct the path"
	}
	out := wayOut(d, r.definition)
	switch {
	case d.Cause == "":
		return out
	case out == "":
		return d.Cause
	}
	return d.Cause + ": " + out
}

// wayOut says what to do about a difference, "" where its cause says it.
func wayOut(d Difference, definition string) string {
	switch d.Rule {
	case RuleVersionDrift:
		if d.Cause == "" || d.Cause == causePatched {
			return "read the version from Git in the " + definition + ", so that it stands there once"
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
		return "name the same chart in both"
	case RuleSubstitution:
		return "write the value itself"
	case RuleOverlay:
		return "move what the patch sets into the HelmRelease"
	case RuleValuesFrom:
		return "give the bootstrap the same values, or move them into the HelmRelease"
	}
	if definition != helmfile.InHelmfile {
		return "make both read one values file, so that the values stand in Git once"
	}
	return "read the values from the HelmRelease in a values template, so that they stand in Git once"
}
