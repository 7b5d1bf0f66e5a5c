package schemas

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// The groups of Kommander's kinds, and the one of the constraint that it brings for
// Gatekeeper. Their schemas are our own description, tools/schemas/kommander.txt.
const (
	KommanderGroup           = "kommander.mesosphere.io"
	KommanderAppsGroup       = "apps.kommander.d2iq.io"
	KommanderDispatchGroup   = "dispatch.d2iq.io"
	KommanderWorkspacesGroup = "workspaces.kommander.mesosphere.io"
	ConstraintsGroup         = "constraints.gatekeeper.sh"
)

// slips are the fields of an object that a kind which is known in part doesn't have
// and that are slips of the pen for one which it has and the object doesn't. Any
// other unknown field may be one of a later release.
func (s *Schema) slips(object map[string]any, opts Options) []Problem {
	var found []Problem
	var walk func(node *structural.Structural, v any, at []any)
	walk = func(node *structural.Structural, v any, at []any) {
		if node == nil {
			return
		}
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				path := slices.Concat(at, []any{key})
				if p, known := node.Properties[key]; known {
					walk(&p, v[key], path)
				} else if meant := slipFor(node, v, key); meant != "" && (opts.Literal || !isSubstituted(key)) {
					found = append(found, Problem{
						Kind: UnknownField, Path: path, meant: meant, Hint: fmt.Sprintf("did you mean %q?", meant),
						Message: fmt.Sprintf("unknown field %q in %s", key, Field(at)),
					})
				}
			}
		case []any:
			for i, item := range v {
				walk(node.Items, item, slices.Concat(at, []any{i}))
			}
		}
	}
	spec := s.structure.Properties["spec"]
	walk(&spec, object["spec"], []any{"spec"})
	return found
}

// slipFor is the field that an unknown one of an object must have been meant to be,
// "" where there is none, or the object has it.
func slipFor(node *structural.Structural, object map[string]any, key string) string {
	if !node.XPreserveUnknownFields {
		return "" // told by the API server's code
	}
	for _, name := range slices.Sorted(maps.Keys(node.Properties)) {
		if _, there := object[name]; there {
			continue
		}
		if _, slip := Misspelt(key, []string{name}); slip || strings.EqualFold(key, name) {
			return name
		}
	}
	return ""
}
