package builds

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/filters/labels"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// label adds labels to objects, in addition to the labels that they have.
// Source: sigs.k8s.io/kustomize/api v0.21 filters/labels, builtinpluginconsts/metadatalabels.go.
func (l *lister) label(all *level, added []types.Label) error {
	pairs := map[string]string{}
	for _, label := range added {
		for name, value := range label.Pairs {
			// kustomize writes a key without its type.
			key := yaml.Node{Kind: yaml.ScalarNode, Value: name}
			if key.ShortTag() != "!!str" || !l.isWrittenAsIs(name) || !l.isWrittenAsIs(value) {
				return errNotSimple
			}
			pairs[name] = value
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	for i := range all.objects {
		if err := all.objects[i].label(pairs); err != nil {
			return err
		}
	}
	return nil
}

func (o *member) label(pairs map[string]string) error {
	if r := o.resource; r != nil {
		if !plainMetadata(r.YNode()) {
			return errNotSimple
		}
		return r.ApplyFilter(labels.Filter{Labels: pairs, FsSlice: types.FsSlice{{Path: "metadata/labels", CreateIfNotPresent: true}}})
	}
	own := map[string]any{}
	if before, ok := o.metadata()["labels"].(map[string]any); ok {
		own = maps.Clone(before)
	}
	for name, value := range pairs {
		own[name] = value
	}
	o.set("labels", own)
	return nil
}

// metadata returns the metadata of an object that has no resource.
func (o *member) metadata() map[string]any { return o.Value["metadata"].(map[string]any) }

// set sets a field of the metadata. It copies the value, which other builds share.
func (o *member) set(field string, value any) {
	metadata := maps.Clone(o.metadata())
	metadata[field] = value
	o.Value = maps.Clone(o.Value)
	o.Value["metadata"] = metadata
}

// isWrittenAsIs reports whether kustomize and Flux leave a string unchanged: kustomize prints it exactly as it is, and Flux does
// not substitute variables in it.
func (l *lister) isWrittenAsIs(text string) bool {
	return isExact(text) && (!l.variables || !mentionsVariable(text))
}

// namespace moves objects into a namespace; "" keeps their own.
// Source: sigs.k8s.io/kustomize/api v0.21 filters/namespace, builtinpluginconsts/namespace.go.
func (l *lister) namespace(all *level, name string) error {
	if name == "" {
		return nil
	}
	if !l.isWrittenAsIs(name) {
		return errNotSimple
	}
	objects := all.objects
	*all = level{ids: make(map[resid.ResId]bool, len(objects)), objects: make([]member, 0, len(objects))}
	for _, o := range objects {
		if !o.onlyMoves() {
			return errNotSimple
		}
		if err := o.move(name); err != nil {
			return err
		}
		if err := all.add(o); err != nil {
			return err
		}
	}
	return nil
}

// onlyMoves reports whether setting the namespace changes only the namespace of an object, or only the name of a Namespace.
func (o *member) onlyMoves() bool {
	switch {
	case o.Kind == "Namespace":
		return o.id.Group == "" && o.id.Version == "v1"
	case o.Kind != "APIService" && o.Kind != "CustomResourceDefinition" && !bindings[o.Kind]:
		return true
	case o.resource != nil || o.Kind == "APIService":
		return false
	case bindings[o.Kind]:
		subjects, _ := o.Value["subjects"].([]any) // the document contains all names of subjects
		return !slices.ContainsFunc(subjects, func(s any) bool { return s.(map[string]any)["name"] == "default" })
	}
	spec, _ := o.Value["spec"].(map[string]any)
	return spec["conversion"] == nil
}

// move moves an object into a namespace.
func (o *member) move(namespace string) error {
	// kustomize stores the former names of an object in a list separated by commas.
	if strings.Contains(o.Name+o.Kind+o.id.Namespace, ",") {
		return errNotSimple
	}
	o.was = append(o.was[:len(o.was):len(o.was)], former{o.id.Namespace, o.Name})
	if r := o.resource; r != nil {
		if !plainMetadata(r.YNode()) {
			return errNotSimple
		}
		r.StorePreviousId()
	}
	switch {
	case o.Kind == "Namespace" && o.Name == namespace:
		return nil
	case o.Kind == "Namespace":
		o.Name, o.id.Name = namespace, namespace
		if o.resource != nil {
			return o.resource.SetMapField(kyaml.NewStringRNode(namespace), "metadata", "name")
		}
		o.set("name", namespace)
		return nil
	case o.id.IsClusterScoped():
		return nil
	}
	o.id.Namespace = namespace
	o.id = effective(o.id)
	if o.resource != nil {
		return o.resource.SetNamespace(namespace)
	}
	o.set("namespace", namespace)
	return nil
}

// plainMetadata reports whether the metadata fields that kustomize changes all have the right type.
func plainMetadata(n *yaml.Node) bool {
	if namespace := repository.Lookup(n, "metadata", "namespace"); namespace != nil && namespace.ShortTag() != "!!str" {
		return false
	}
	for _, field := range []string{"labels", "annotations"} {
		all := repository.Lookup(n, "metadata", field)
		if all == nil {
			continue
		}
		if all.Kind != yaml.MappingNode {
			return false
		}
		for _, text := range all.Content {
			if text.ShortTag() != "!!str" {
				return false
			}
		}
	}
	return true
}
