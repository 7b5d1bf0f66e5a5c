package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// ReleaseValues returns the values of a HelmRelease, including valuesFrom; find returns their ConfigMaps and
// Secrets. The error says why the values are unknown. An optional object that Git lacks may exist on the cluster.
func ReleaseValues(ctx context.Context, o *Object, find func(Identity) *Object) (map[string]any, error) {
	spec, err := charts.ParseRelease(o.Value)
	if err != nil {
		return nil, err
	}
	release := &Release{Object: o, spec: spec, from: map[string]*Object{}}
	for _, ref := range spec.Spec.ValuesFrom {
		from := find(Identity{Kind: ref.Kind, Namespace: o.Namespace, Name: ref.Name})
		if from == nil {
			return nil, &charts.UnknownError{Reason: fmt.Sprintf("values come from %s %s/%s, which is not among the cluster's objects", ref.Kind, o.Namespace, ref.Name)}
		}
		release.from[ref.Kind+"/"+ref.Name] = from
	}
	values, err := bounds.Do(release.unit("values composition"), func() (*charts.Values, error) { return charts.Compose(ctx, spec, release.data) })
	if err != nil {
		return nil, err
	}
	return values.All, nil
}

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
