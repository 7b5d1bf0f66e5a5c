package builds

import (
	"maps"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// listedPart is a partial object of a patch.
type listedPart struct {
	resource *resource.Resource
	// value is the same, nil where only kustomize's code may merge it.
	value map[string]any
}

// mergeable is the value of a part that merges into a value as kustomize merges it into an object of
// a kind whose schema it doesn't know: maps field by field, and all else replaces what is there.
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

// instructs says whether a comment may tell kustomize how to merge a field.
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

// mergesPlainly says whether a value of a patch removes nothing, and holds no directive.
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

// embeds says whether an object holds another one, which may be of a kind whose schema kustomize knows.
func embeds(fields map[string]any) bool {
	for _, field := range fields {
		inner, _ := field.(map[string]any)
		if inner["apiVersion"] != nil && inner["kind"] != nil || embeds(inner) {
			return true
		}
	}
	return false
}

// knownKind says whether kustomize has a schema of a kind.
func knownKind(apiVersion, kind string) bool {
	return openapi.SchemaForResourceType(kyaml.TypeMeta{APIVersion: apiVersion, Kind: kind}) != nil
}

// merge merges a part of a patch into an object by kustomize's code, or into its value, where
// that is sure to be the same.
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
	return o.settle()
}

// mergeValue merges a part into the value of an object, and says false where only kustomize's code may.
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
	// These are put back to what they were.
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

// merged is a map with what a patch has of it. The map itself isn't changed.
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

// replaces says whether a value that is neither map nor list is sure to replace another one as it
// is. It is written in the style of the other one, which may be in quotes or fold lines.
func replaces(before, after any) bool {
	old, wasText := before.(string)
	text, isText := after.(string)
	switch before.(type) {
	case map[string]any, []any:
		return false
	}
	return isText && !strings.Contains(old+text, "\n") || !isText && !wasText
}
