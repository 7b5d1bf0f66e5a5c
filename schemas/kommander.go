package schemas

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// The groups of Kommander's kinds, and of the Gatekeeper constraint that it installs.
// Their schemas are Fleetwright's own description, tools/schemas/kommander.txt.
const (
	KommanderGroup           = "kommander.mesosphere.io"
	KommanderAppsGroup       = "apps.kommander.d2iq.io"
	KommanderDispatchGroup   = "dispatch.d2iq.io"
	KommanderWorkspacesGroup = "workspaces.kommander.mesosphere.io"
	ConstraintsGroup         = "constraints.gatekeeper.sh"
)

// typos returns the unknown fields of an object whose kind is only partly known, if they are typos of a known field that
// the object does not have. Any other unknown field may belong to a later release.
func (s *Schema) typos(object map[string]any, opts Options) []Problem {
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
				} else if intended := typoFor(node, v, key); intended != "" && (opts.Literal || !isSubstituted(key)) {
					found = append(found, Problem{
						Kind: UnknownField, Path: path, intended: intended, Hint: fmt.Sprintf("did you mean %q?", intended),
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

// typoFor returns the field of which an unknown field of an object must be a typo, "" if there is none, or if the object
// already has it.
func typoFor(node *structural.Structural, object map[string]any, key string) string {
	if !node.XPreserveUnknownFields {
		return "" // the API server's code reports it
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
