package builds

import (
	"maps"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// listedPart is a partial object of a strategic merge patch.
type listedPart struct {
	resource *resource.Resource
	// value is the partial object as a map, nil if only kustomize's code may merge it.
	value map[string]any
}

// mergeable returns the value of a partial object that can be merged without kustomize's code, else nil. For
// a kind whose schema kustomize doesn't know, it merges maps field by field and replaces all other values.
func mergeable(part *resource.Resource, variables bool) map[string]any {
	n := part.YNode()
	if !isPlain(n, false) || !plainFields(n) || instructs(n) {
		return nil
	}
	fields, err := part.Map()
	if err != nil {
		return nil
	}
	value, ok := jsonValue(fields)
	if !ok || variables && !isExact(value) || !mergesPlainly(value) || embeds(fields) || !plainHead(value) {
		return nil
	}
	return fields
}

// instructs reports whether a comment may control how kustomize merges a field.
func instructs(n *yaml.Node) bool {
	for _, comment := range []string{n.LineComment, n.HeadComment} {
		if strings.HasPrefix(strings.TrimLeft(comment, "# \t"), "{") {
			return true
		}
	}
	for _, child := range n.Content {
		if instructs(child) {
			return true
		}
	}
	return false
}

// mergesPlainly reports whether a value of a patch contains no null, no directive, and no empty map or list.
func mergesPlainly(value any) bool {
	switch value := value.(type) {
	case nil:
		return false
	case map[string]any:
		for key, field := range value {
			if strings.HasPrefix(key, "$patch") || !mergesPlainly(field) {
				return false
			}
		}
		return len(value) > 0
	case []any:
		for _, item := range value {
			if !mergesPlainly(item) {
				return false
			}
		}
		return len(value) > 0
	}
	return true
}

// embeds reports whether an object contains another one, whose kind may have a schema that kustomize knows.
func embeds(fields map[string]any) bool {
	for _, field := range fields {
		inner, _ := field.(map[string]any)
		if inner["apiVersion"] != nil && inner["kind"] != nil || embeds(inner) {
			return true
		}
	}
	return false
}

// knownKind reports whether kustomize has a schema of a kind.
func knownKind(apiVersion, kind string) bool {
	return openapi.SchemaForResourceType(kyaml.TypeMeta{APIVersion: apiVersion, Kind: kind}) != nil
}

// merge merges a part of a patch into an object: into its value if the result is certainly the same, otherwise with
// kustomize's code.
func (o *member) merge(part listedPart, kustomize func(*member) error) error {
	if o.resource == nil && o.mergeValue(part) {
		o.pending = append(o.pending[:len(o.pending):len(o.pending)], kustomize)
		return nil
	}
	if err := o.thaw(); err != nil {
		return err
	}
	if err := kustomize(o); err != nil {
		return err
	}
	return o.refresh()
}

// mergeValue merges a part into the value of an object. It returns false if only kustomize's code may do that.
// Source: sigs.k8s.io/kustomize/kyaml v0.21 yaml/merge2, yaml/walk; sigs.k8s.io/kustomize/api v0.21 resource/resource.go, ApplySmPatch.
func (o *member) mergeValue(part listedPart) bool {
	if part.value == nil || o.instructed || rare[o.Kind] || bindings[o.Kind] || referrers[o.Kind] || embeds(o.Value) {
		return false
	}
	version := o.Value["apiVersion"].(string)
	if knownKind(version, o.Kind) || knownKind(version, part.value["kind"].(string)) {
		return false
	}
	value, ok := merged(o.Value, part.value)
	if !ok {
		return false
	}
	// A patch does not change these fields.
	value["apiVersion"], value["kind"] = version, o.Kind
	before, after := o.metadata(), value["metadata"].(map[string]any)
	after["name"] = o.Name
	if namespace, ok := before["namespace"]; ok {
		after["namespace"] = namespace
	} else {
		delete(after, "namespace")
	}
	if !plainHead(value) {
		return false
	}
	o.Value, o.changed = value, true
	return true
}

// merged returns a copy of a map with the fields of a patch merged into it. It returns false if only kustomize's code may
// do that.
func merged(own, patch map[string]any) (map[string]any, bool) {
	all := maps.Clone(own)
	for key, field := range patch {
		before := own[key]
		if before == nil {
			all[key] = field
			continue
		}
		switch field := field.(type) {
		case map[string]any:
			inner, ok := before.(map[string]any)
			if ok {
				all[key], ok = merged(inner, field)
			}
			if !ok {
				return nil, false
			}
			continue
		case []any:
			if _, ok := before.([]any); !ok {
				return nil, false
			}
		default:
			if !replaces(before, field) {
				return nil, false
			}
		}
		all[key] = field
	}
	return all, true
}

// replaces reports whether kustomize would replace a scalar with another one unchanged: it writes the new
// scalar in the style of the old one, such as quoted or folded.
func replaces(before, after any) bool {
	old, wasText := before.(string)
	text, isText := after.(string)
	switch before.(type) {
	case map[string]any, []any:
		return false
	}
	return isText && !strings.Contains(old+text, "\n") || !isText && !wasText
}
