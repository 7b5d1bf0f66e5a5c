package reconcile

import (
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/resourceset"
)

// takeResourceSet follows a ResourceSet of a Kustomization; one with input providers or copies of other objects waits
// until everything else is found.
func (w *walker) takeResourceSet(k *Kustomization, o *Object) {
	switch {
	case o.Group != fluxapi.OperatorGroup || o.Encrypted:
	case o.Kind == resourceset.ProviderKind:
		w.providers = append(w.providers, resourceset.NewProvider(o.Namespace, o.Name, o.located(o.Value)))
	case o.Kind != "ResourceSet":
	default:
		if from, _, _ := unstructured.NestedSlice(o.Value, "spec", "inputsFrom"); len(from) > 0 || resourceset.HasCopies(o.Value) {
			w.sets = append(w.sets, waitingSet{k, o})
			return
		}
		w.followSet(k, o)
	}
}

// followSets follows the ResourceSets that wait for their input providers, and reports whether there were any.
func (w *walker) followSets() bool {
	sets := w.sets
	w.sets = nil
	for _, set := range sets {
		w.followSet(set.by, set.object)
	}
	return len(sets) > 0
}

// followSet adds the Kustomizations that a ResourceSet creates, and indexes the sources, ConfigMaps, Secrets and input
// providers that it creates for others.
func (w *walker) followSet(k *Kustomization, o *Object) {
	if w.evaluator == nil {
		w.evaluator = resourceset.NewEvaluator(w.ctx)
	}
	result := w.evaluator.Evaluate(resourceset.ResourceSet{Namespace: o.Namespace, Name: o.Name, Whole: o.located(o.Value), Unknown: o.unknownIn, Providers: w.providers})
	if result.Because != "" {
		w.cluster.OpenSets = append(w.cluster.OpenSets, OpenSet{o, result.Because, result.Refused})
	}
	for _, v := range result.Copies {
		w.addCopy(o, v)
	}
	for _, v := range result.Objects {
		created := o.createdObject(v)
		if created == nil {
			w.cluster.named = append(w.cluster.named, o.namedObject(v))
			continue
		}
		w.cluster.created = append(w.cluster.created, created)
		w.index[created.Identity] = append(w.index[created.Identity], created)
		if created.isKustomization() {
			w.addKustomization(k, created)
		}
		if created.Group == fluxapi.OperatorGroup && created.Kind == resourceset.ProviderKind {
			w.providers = append(w.providers, resourceset.NewProvider(created.Namespace, created.Name, v))
		}
	}
}

// addCopy adds an object that the operator fills with the data of another one, if that one is a ConfigMap in Git. Of others
// only the name is known.
func (w *walker) addCopy(set *Object, v *located.Value) {
	namespace, name := resourceset.CopyOf(v)
	created := set.createdObject(v)
	from := w.find(Identity{Kind: "ConfigMap", Namespace: namespace, Name: name})
	if created == nil || created.Kind != "ConfigMap" || from == nil || from.Encrypted || len(from.Unknown) > 0 {
		w.cluster.named = append(w.cluster.named, set.namedObject(v))
		return
	}
	delete(created.Value, "data")
	for _, field := range []string{"data", "binaryData"} {
		if data, isMap := from.Value[field].(map[string]any); isMap {
			created.Value[field] = maps.Clone(data)
		}
	}
	w.cluster.created = append(w.cluster.created, created)
	w.index[created.Identity] = append(w.index[created.Identity], created)
}

// namedObject returns an object that a ResourceSet creates, with its name only.
func (o *Object) namedObject(v *located.Value) *Object {
	metadata := map[string]any{"name": located.TextAt(v, "metadata", "name").Value}
	if namespace := located.TextAt(v, "metadata", "namespace").Value; namespace != "" {
		metadata["namespace"] = namespace
	}
	named := &Object{Kustomization: o.Kustomization, Place: finding.Place{File: v.File, Line: v.Line, Column: 1}, Substituted: true, set: o, places: v,
		Value: map[string]any{"apiVersion": located.TextAt(v, "apiVersion").Value, "kind": located.TextAt(v, "kind").Value, "metadata": metadata}}
	named.identify()
	return named
}

// Created returns the objects that ResourceSets create.
func (c *Cluster) Created() []*Object { return c.created }

// Named returns the objects of which only the name is known.
func (c *Cluster) Named() []*Object { return c.named }

// InputProviders returns the input providers among the objects of the cluster.
func (c *Cluster) InputProviders() []resourceset.Provider {
	var all []resourceset.Provider
	for _, o := range c.Objects() {
		if o.Group == fluxapi.OperatorGroup && o.Kind == resourceset.ProviderKind && !o.Encrypted {
			all = append(all, resourceset.NewProvider(o.Namespace, o.Name, o.located(o.Value)))
		}
	}
	return all
}

// createdObject returns an object that a ResourceSet creates, nil if a part of it is unknown.
func (o *Object) createdObject(v *located.Value) *Object {
	if located.UnknownIn(v) != nil {
		return nil
	}
	value, isMap := v.Plain().(map[string]any)
	if !isMap {
		return nil
	}
	created := &Object{Kustomization: o.Kustomization, Value: value, Place: finding.Place{File: v.File, Line: v.Line, Column: 1}, Substituted: true, set: o, places: v}
	created.identify()
	return created
}

// ResourceSet returns the ResourceSet that creates the object, nil if none does.
func (o *Object) ResourceSet() *Object { return o.set }

// Places returns the object with the positions of its parts in the template of the ResourceSet, nil if none creates it.
func (o *Object) Places() *located.Value { return o.places }

// placeIn returns the position of a path in an object that a ResourceSet creates, or that of the nearest parent with a
// position.
func (o *Object) placeIn(path []any) finding.Place {
	at := o.Place
	v := o.places
	for _, step := range path {
		switch step := step.(type) {
		case string:
			v = v.At(step)
		case int:
			v = v.Item(step)
		}
		if v == nil {
			break
		}
		if v.Line > 0 {
			at.File, at.Line = v.File, v.Line
		}
	}
	return at
}

// document returns the document that the object was built from, or that of the ResourceSet that creates it.
func (o *Object) document() *repository.Object {
	if o.set != nil {
		return o.set.Source
	}
	return o.Source
}

// unknownIn returns the variable in a string of the object whose value is unknown, nil if there is none.
func (o *Object) unknownIn(text string) *located.Unknown {
	for _, name := range o.Unknown {
		if strings.Contains(text, "${"+name+"}") {
			return &located.Unknown{Reason: fmt.Sprintf("Flux substitutes ${%s}, whose value is not in the repository", name)}
		}
	}
	return nil
}

// located returns a part of the object, at a path, with the positions where it is written.
func (o *Object) located(v any, path ...any) *located.Value {
	out := &located.Value{}
	below := func(step any) []any { return append(path[:len(path):len(path)], step) }
	switch v := v.(type) {
	case map[string]any:
		out.IsMap, out.Fields = true, make(map[string]*located.Value, len(v))
		for key, field := range v {
			out.Fields[key] = o.located(field, below(key)...)
		}
	case []any:
		out.IsList = true
		for i, item := range v {
			out.Items = append(out.Items, o.located(item, below(i)...))
		}
	default:
		out.Scalar = v
		if text, isText := v.(string); isText {
			out.Unknown = o.unknownIn(text)
		}
	}
	at := o.Position(path...)
	out.Place = finding.Place{File: at.File, Line: at.Line}
	return out
}
