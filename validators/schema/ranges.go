package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
)

// versionRange is a field that source-controller reads as a range of versions, which no schema
// says.
type versionRange struct {
	group, kind string
	path        []any
	// over are the fields that it isn't read beside.
	over [][]any
	// orTag says that the version may be a tag of a registry, whatever it is called.
	orTag bool
}

// versionRanges are read with Masterminds' semver.
// Source: github.com/fluxcd/source-controller v1.9, internal/controller and
// internal/helm/repository; github.com/fluxcd/pkg/git, gogit.
var versionRanges = []versionRange{
	{group: fluxapi.SourceGroup, kind: "GitRepository", path: []any{"spec", "ref", "semver"}, over: [][]any{{"spec", "ref", "commit"}, {"spec", "ref", "name"}, {"spec", "ref", "tag"}}},
	{group: fluxapi.SourceGroup, kind: "OCIRepository", path: []any{"spec", "ref", "semver"}, over: [][]any{{"spec", "ref", "digest"}}},
	{group: fluxapi.SourceGroup, kind: "HelmChart", path: []any{"spec", "version"}, orTag: true},
	{group: fluxapi.HelmGroup, kind: "HelmRelease", path: []any{"spec", "chart", "spec", "version"}, orTag: true},
}

// registryTag is what a registry takes for a tag.
// Source: https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md#pulling-manifests
var registryTag = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)

// rangeProblems are the ranges of versions of an object that are none. A text that is substituted
// or encrypted may be one, a suspended object is not read, and a chart that isn't from a
// HelmRepository has the version that it has.
func rangeProblems(object map[string]any) []schemas.Problem {
	o := reconcile.Object{Value: object}
	group, _, _ := strings.Cut(o.Text("apiVersion"), "/")
	var problems []schemas.Problem
	for _, r := range versionRanges {
		text := o.Text(r.path...)
		if group != r.group || o.Text("kind") != r.kind || text == "" || strings.Contains(text, "${") || strings.HasPrefix(text, "ENC[") ||
			o.Field("spec", "suspend") == true || r.isOverruled(&o) || r.orTag && registryTag.MatchString(text) {
			continue
		}
		if _, err := semver.NewConstraint(text); err != nil {
			problems = append(problems, schemas.Problem{
				Kind: schemas.Invalid, Path: r.path,
				Message: fmt.Sprintf("%s: %.200q is not a version range: source-controller refuses it", schemas.Field(r.path), text),
				Hint:    `write a version, or a range such as "1.x" or ">=1.2.0 <2.0.0"`,
			})
		}
	}
	return problems
}

// isOverruled says whether the object has what makes the range count for nothing.
func (r versionRange) isOverruled(o *reconcile.Object) bool {
	for _, path := range r.over {
		if o.Field(path...) != nil {
			return true
		}
	}
	if !r.orTag {
		return false
	}
	kind := slices.Concat(r.path[:len(r.path)-1], []any{"sourceRef", "kind"})
	return o.Text(kind...) != "HelmRepository"
}
