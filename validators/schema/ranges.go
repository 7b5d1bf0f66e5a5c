package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
)

// versionRange is a field that source-controller reads as a range of versions, which no schema validates.
type versionRange struct {
	group, kind string
	path        []any
	// over are the fields that override it.
	over [][]any
	// ofRepository reports whether it is read only if the chart is from a HelmRepository.
	ofRepository bool
}

// versionRanges are parsed with Masterminds' semver. Helm's client ignores tags in a registry and charts in an index
// whose version is not a semantic version.
// Source: github.com/fluxcd/source-controller v1.9, internal/controller and internal/helm/repository;
// github.com/fluxcd/pkg/git, gogit.
var versionRanges = []versionRange{
	{group: fluxapi.SourceGroup, kind: "GitRepository", path: []any{"spec", "ref", "semver"}, over: [][]any{{"spec", "ref", "commit"}, {"spec", "ref", "name"}, {"spec", "ref", "tag"}}},
	{group: fluxapi.SourceGroup, kind: "OCIRepository", path: []any{"spec", "ref", "semver"}, over: [][]any{{"spec", "ref", "digest"}}},
	{group: fluxapi.SourceGroup, kind: "HelmChart", path: []any{"spec", "version"}, ofRepository: true},
	{group: fluxapi.HelmGroup, kind: "HelmRelease", path: []any{"spec", "chart", "spec", "version"}, ofRepository: true},
}

// rangeProblems returns the fields of an object that should be version ranges and are not. It skips strings with
// variables, encrypted strings, suspended objects, and charts that are not from a HelmRepository, which have one version.
func rangeProblems(object map[string]any) []schemas.Problem {
	o := reconcile.Object{Value: object}
	group, _, _ := strings.Cut(o.Text("apiVersion"), "/")
	problems := slices.Concat(policyProblems(&o, group), typeProblems(&o, group))
	for _, r := range versionRanges {
		text := o.Text(r.path...)
		if group != r.group || o.Text("kind") != r.kind || text == "" || strings.Contains(text, "${") || strings.HasPrefix(text, "ENC[") ||
			o.Field("spec", "suspend") == true || r.isOverruled(&o) {
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

// policyProblems returns a problem if the semver range of an ImagePolicy is not a version range:
// image-reflector-controller refuses it.
// Source: github.com/fluxcd/image-reflector-controller v1.2, internal/policy.
func policyProblems(o *reconcile.Object, group string) []schemas.Problem {
	at := []any{"spec", "policy", "semver", "range"}
	text := o.Text(at...)
	if _, err := semver.NewConstraint(text); group != fluxapi.ImageGroup || o.Text("kind") != "ImagePolicy" || text == "" || strings.Contains(text, "${") || err == nil {
		return nil
	}
	return []schemas.Problem{{Kind: schemas.Invalid, Path: at, Hint: `write a range such as "1.x" or ">=1.2.0 <2.0.0"`,
		Message: fmt.Sprintf("spec.policy.semver.range: %.200q is not a version range: image-reflector-controller refuses it", text)}}
}

// typeProblems returns a problem if a HelmRepository has the URL of a registry and not type oci: source-controller
// refuses it.
func typeProblems(o *reconcile.Object, group string) []schemas.Problem {
	if group != fluxapi.SourceGroup || o.Text("kind") != "HelmRepository" || !strings.HasPrefix(o.Text("spec", "url"), "oci://") ||
		o.Text("spec", "type") == "oci" || strings.Contains(o.Text("spec", "type"), "${") || o.Field("spec", "suspend") == true {
		return nil
	}
	return []schemas.Problem{{Kind: schemas.Invalid, Path: []any{"spec", "url"}, Required: true, Hint: "set type: oci, or create an OCIRepository for the chart",
		Message: "spec.url is the address of a registry, but spec.type is not oci: source-controller refuses the scheme"}}
}

// isOverruled reports whether the object has a field because of which the range is ignored.
func (r versionRange) isOverruled(o *reconcile.Object) bool {
	for _, path := range r.over {
		if o.Field(path...) != nil {
			return true
		}
	}
	if !r.ofRepository {
		return false
	}
	kind := slices.Concat(r.path[:len(r.path)-1], []any{"sourceRef", "kind"})
	return o.Text(kind...) != "HelmRepository"
}
