package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/strict"
)

const (
	// draft is the version of JSON Schema that the YAML servers of editors support best.
	draft = "http://json-schema.org/draft-07/schema#"
	// base is the URL where the schemas are published.
	base         = "https://raw.githubusercontent.com/fleetwright/fleetwright/main/schemas/"
	combinedName = v1alpha1.Group + "_" + v1alpha1.Version + ".json"
	apiPackage   = "github.com/fleetwright/fleetwright/api/v1alpha1"
	// thisPackage joined with the folder of the types is apiPackage.
	thisPackage = "github.com/fleetwright/fleetwright/tools/specschema"
)

// kind is an input kind with its schema.
type kind struct {
	name   string
	schema *jsonschema.Schema
}

func (k kind) fileName() string { return strings.ToLower(k.name) + "_" + v1alpha1.Version + ".json" }

// reflectKinds creates the schemas of the input kinds from their types, tags and comments, in the order in
// which a specification is usually written, and last that of the boundary of a tenant, which people write, too.
func reflectKinds(types string) ([]kind, error) {
	r := &jsonschema.Reflector{
		Anonymous:                  true,
		DoNotReference:             true, // draft-07 ignores a description next to a $ref
		RequiredFromJSONSchemaTags: true,
		Mapper:                     mapType,
	}
	if err := r.AddGoComments(thisPackage, types, jsonschema.WithFullComment()); err != nil {
		return nil, fmt.Errorf("comments of the types: %w", err)
	}
	for name, comment := range r.CommentMap {
		r.CommentMap[name] = strings.Join(strings.Fields(comment), " ")
	}
	var kinds []kind
	for _, value := range append(v1alpha1.Kinds(), &v1alpha1.TenantBoundary{}) {
		name := reflect.TypeOf(value).Elem().Name()
		s := r.Reflect(value)
		if s.Description == "" {
			return nil, fmt.Errorf("type %s.%s has no comment", apiPackage, name)
		}
		s.Version = ""
		property(s, "apiVersion").Const = v1alpha1.APIVersion
		property(s, "kind").Const = name
		property(s, "metadata").Description = "Metadata are the object's name, labels and annotations."
		property(s, "spec").Description = "Spec is the specification of the " + name + "."
		explainPatterns(s)
		kinds = append(kinds, kind{name: name, schema: s})
	}
	return kinds, nil
}

// explainPatterns adds a description of each pattern, in the keyword that the YAML language server shows
// instead of the pattern.
func explainPatterns(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Pattern != "" {
		s.Extras = map[string]any{"patternErrorMessage": "want " + strict.PatternWords(s.Pattern)}
	}
	for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
		explainPatterns(pair.Value)
	}
	explainPatterns(s.Items)
	explainPatterns(s.AdditionalProperties)
}

// mapType returns the schema for types whose Go type does not say enough.
func mapType(t reflect.Type) *jsonschema.Schema {
	if t == reflect.TypeFor[v1alpha1.Duration]() {
		return &jsonschema.Schema{Type: "string", Pattern: v1alpha1.DurationPattern, Examples: []any{"30s", "10m", "1h"}}
	}
	return nil
}

func property(s *jsonschema.Schema, name string) *jsonschema.Schema {
	p, ok := s.Properties.Get(name)
	if !ok {
		return &jsonschema.Schema{}
	}
	return p
}

// document returns the schema file of one kind.
func (k kind) document() ([]byte, error) {
	s := *k.schema
	s.Version, s.ID, s.Title = draft, jsonschema.ID(base+k.fileName()), k.name+" ("+v1alpha1.APIVersion+")"
	return write(&s)
}

// combined returns one schema for all kinds, for files with several documents: the kind selects the rest of the
// schema.
func combined(kinds []kind) ([]byte, error) {
	all := &jsonschema.Schema{
		Version:     draft,
		ID:          jsonschema.ID(base + combinedName),
		Title:       "A specification of Fleetwright (" + v1alpha1.APIVersion + ")",
		Type:        "object",
		Required:    []string{"apiVersion", "kind"},
		Properties:  jsonschema.NewProperties(),
		Description: "An object of a specification.",
	}
	names := &jsonschema.Schema{Type: "string", Description: "The object's kind."}
	for _, k := range kinds {
		if !v1alpha1.IsKind(k.name) {
			continue
		}
		names.Enum = append(names.Enum, k.name)
		is := jsonschema.NewProperties()
		is.Set("kind", &jsonschema.Schema{Const: k.name})
		all.AllOf = append(all.AllOf, &jsonschema.Schema{
			If:   &jsonschema.Schema{Properties: is, Required: []string{"kind"}},
			Then: k.schema,
		})
	}
	all.Properties.Set("apiVersion", &jsonschema.Schema{Const: v1alpha1.APIVersion, Description: "The version of the object's kind."})
	all.Properties.Set("kind", names)
	return write(all)
}

func write(s *jsonschema.Schema) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return nil, err
	}
	// MarshalJSON of the schemas escapes characters that only need escaping in HTML.
	plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(out.String())
	return []byte(plain), nil
}
