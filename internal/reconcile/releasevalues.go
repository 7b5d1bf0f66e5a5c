package reconcile

import (
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// ValuePosition returns the position where a value of the release is set: in spec.values, else in the ConfigMap or Secret
// that spec.valuesFrom names, else that of spec.values or of the HelmRelease. The path has field names and list indexes.
func (release *Release) ValuePosition(path ...any) finding.Place {
	o, inline := release.Object, append([]any{"spec", "values"}, path...)
	if len(path) == 0 || o.Field(inline...) != nil || release.spec == nil {
		return o.Position(inline...)
	}
	for _, ref := range slices.Backward(release.spec.Spec.ValuesFrom) {
		if from := release.from[ref.Kind+"/"+ref.Name]; from != nil {
			if at, found := from.valuePosition(ref, path); found {
				return at
			}
		}
	}
	return o.Position(inline...)
}

// valuePosition returns the position of a value in a ConfigMap or Secret that a release takes values from.
func (o *Object) valuePosition(ref helmv2.ValuesReference, path []any) (at finding.Place, found bool) {
	field, key := "data", ref.GetValuesKey()
	if o.Text("stringData", key) != "" {
		field = "stringData"
	}
	at = o.Position(field, key)
	if target := ref.TargetPath; target != "" {
		return at, target == dotted(path) || strings.HasPrefix(dotted(path), target+".")
	}
	entry := o.entries()[key]
	var document yaml.Node
	if !entry.known || yaml.Unmarshal([]byte(entry.text), &document) != nil || len(document.Content) == 0 {
		return at, false
	}
	if repository.Lookup(document.Content[0], path...) == nil {
		return at, false
	}
	if o.Source != nil {
		in := repository.Lookup(o.Source.Node, field, key)
		if in != nil && in.Style&yaml.LiteralStyle != 0 && in.Value == entry.text {
			below, _ := repository.Position(document.Content[0], path...)
			return finding.Place{File: o.File, Line: in.Line + below, Column: 1}, true
		}
	}
	return at, true
}

// dotted returns a path in the syntax of targetPath, up to the first index of a list.
func dotted(path []any) string {
	var names []string
	for _, step := range path {
		name, ok := step.(string)
		if !ok {
			break
		}
		names = append(names, strings.ReplaceAll(name, ".", `\.`))
	}
	return strings.Join(names, ".")
}
