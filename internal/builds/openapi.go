package builds

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// checkSchema checks the schema at the path in a kustomization's openapi field.
func (v *view) checkSchema(dir, ref string) error {
	text, err := v.ReadFile(absolute(path.Join(dir, ref)))
	if err != nil {
		return nil //nolint:nilerr // kustomize reports the same error
	}
	return checkSchema(text)
}

// checkSchema returns an error for the schema of a kustomization's openapi field if its references form a
// cycle: kustomize follows them forever. It ignores anything that is not a schema.
func checkSchema(text []byte) error {
	var schema any
	if err := yaml.Unmarshal(text, &schema); err != nil {
		return nil //nolint:nilerr // kustomize reports the same error
	}
	ends := map[string]bool{}
	var visit func(node any) error
	visit = func(node any) error {
		switch node := node.(type) {
		case map[string]any:
			if ref, ok := node["$ref"].(string); ok {
				if err := follow(schema, ref, ends); err != nil {
					return err
				}
			}
			for _, name := range slices.Sorted(maps.Keys(node)) {
				if err := visit(node[name]); err != nil {
					return err
				}
			}
		case []any:
			for _, item := range node {
				if err := visit(item); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return visit(schema)
}

// follow follows references until there is none, and returns an error for a cycle. ends are the references that are known
// to end.
func follow(schema any, ref string, ends map[string]bool) error {
	seen := map[string]bool{}
	for at, ok := ref, true; ok && !ends[at]; {
		if seen[at] {
			return fmt.Errorf("openapi: the reference %q points to itself, so kustomize would never finish", at)
		}
		seen[at] = true
		node, _ := pointed(schema, at).(map[string]any)
		at, ok = node["$ref"].(string)
	}
	for at := range seen {
		ends[at] = true
	}
	return nil
}

// pointed returns the value at a JSON pointer, nil if there is none.
func pointed(schema any, ref string) any {
	rest, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	for step := range strings.SplitSeq(rest, "/") {
		fields, _ := schema.(map[string]any)
		schema = fields[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return schema
}
