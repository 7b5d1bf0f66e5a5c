package builds

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// wrongKind matches why a path does not lead to a field. What follows it quotes the object.
var wrongKind = regexp.MustCompile(`expected [A-Za-z]+ but got [A-Za-z]+`)

// replaces finds the replacement of a kustomization that fails.
// Source of the messages: sigs.k8s.io/kustomize/api v0.21, filters/replacement/replacement.go.
func (v *diagnosis) replaces(k *repository.Kustomize) *Failure {
	for i, r := range k.Spec.Replacements {
		if r.Source == nil || v.out.has(entryAt(k, "replacements", i)) {
			continue
		}
		what := strings.TrimSpace(r.Source.Kind + " " + r.Source.Name)
		var f *Failure
		switch {
		case strings.Contains(v.message, "nothing selected by "+r.Source.String()):
			f = failureAt(k, fmt.Sprintf("replacements: there is no %s to copy from when replacements run", what), "replacements", i, "source")
		case strings.Contains(v.message, fmt.Sprintf("fieldPath `%s` is missing for replacement source %s", r.Source.FieldPath, r.Source.ResId)):
			f = failureAt(k, fmt.Sprintf("replacements: %s has no field %s to copy from", what, r.Source.FieldPath), "replacements", i, "source", "fieldPath")
		}
		for j, t := range r.Targets {
			if t == nil { // kustomize panics
				return failureAt(k, "replacements: a target is empty", "replacements", i, "targets", j)
			}
			for n, field := range t.FieldPaths {
				if f == nil && strings.Contains(v.message, fmt.Sprintf("unable to find field %q in replacement target", field)) {
					why := "; set options.create: true to add it"
					if kinds := wrongKind.FindString(v.message); kinds != "" {
						why = ": " + kinds
					}
					f = failureAt(k, fmt.Sprintf("replacements: the target has no field %s%s", field, why), "replacements", i, "targets", j, "fieldPaths", n)
				}
			}
		}
		if f != nil {
			f.open, f.out = true, nil // without the replacement every object may be wrong
			return f
		}
	}
	return nil
}

// nameless finds an object without a name in a file.
func (v *diagnosis) nameless(f *repository.File) *Failure {
	if !strings.Contains(v.message, "missing metadata.name in object ") {
		return nil
	}
	for o := range v.held(f) {
		if o.Name != "" || o.Kind == "" || strings.HasSuffix(o.Kind, "List") {
			continue
		}
		failure := &Failure{Reason: BuildFailed, Place: finding.Place{File: f.Path}, Message: o.Kind + " has no metadata.name"}
		if o.Kind == "Kustomization" && (o.APIVersion == "" || strings.HasPrefix(o.APIVersion, "kustomize.config.k8s.io/")) {
			failure.Message = "kustomize does not take this file for a kustomization, but for an object: name it kustomization.yaml"
		}
		failure.Line, failure.Column = o.Position()
		failure.out = &exclusion{file: f.Path, line: failure.Line}
		return failure
	}
	return nil
}
