package schemas

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
)

// definitionKind is the kind of a CustomResourceDefinition.
const definitionKind = "CustomResourceDefinition"

// Set finds the schemas of kinds. The first source that has one is used:
//  1. the embedded schemas, of the kinds of Kubernetes, Flux and the Flux
//     Operator: definitions of these in a repository or a folder are often copies of
//     another version than the cluster's; and those of k0rdent, unless the
//     repository defines the kind itself;
//  2. the definitions that were added, those of the repository itself;
//  3. the folders, in their order.
//
// It is safe for concurrent use once all definitions are added.
type Set struct {
	folders     []*Folder
	definitions map[schema.GroupKind][]*Definition
	// copies maps sources to the schemas of definitions: a repository often contains the same
	// definition more than once.
	copies sync.Map
}

// source identifies a schema: the kind, its scope and the hash of the JSON.
type source struct {
	gvk        schema.GroupVersionKind
	namespaced bool
	text       [sha256.Size]byte
}

// schema returns the schema of a definition. Definitions with the same JSON share the schema of the first.
func (s *Set) schema(from origin, props map[string]any) (*Schema, error) {
	text, err := json.Marshal(props)
	if err != nil {
		return nil, err
	}
	made, _ := s.copies.LoadOrStore(source{from.gvk, from.namespaced, sha256.Sum256(text)}, sync.OnceValues(func() (*Schema, error) {
		return compileJSON(from, text)
	}))
	return made.(func() (*Schema, error))()
}

// Definition is a CustomResourceDefinition.
type Definition struct {
	Group, Kind string
	Namespaced  bool
	// File and Line of the definition; Line is 0 if it is unknown.
	File string
	Line int
	// Clusters are the names of the clusters that apply the definition, none if no build reads its file.
	Clusters []string
	// HelmRelease whose chart contains the definition, as NAMESPACE/NAME, and the chart's name and version; "" for others.
	HelmRelease, Chart string
	// Versions that are served. Each function returns the version's openAPIV3Schema as plain
	// values; it is called once, for the first object of the version.
	Versions map[string]func() (map[string]any, error)

	compiled map[string]func() (*Schema, error)
}

// NewSet returns a set of the embedded schemas and the schemas in folders.
func NewSet(folders ...*Folder) *Set {
	return &Set{folders: folders, definitions: map[schema.GroupKind][]*Definition{}}
}

// Add adds a definition. A kind may be defined more than once, for clusters with
// different versions.
func (s *Set) Add(d Definition) {
	of := schema.GroupKind{Group: d.Group, Kind: d.Kind}
	s.definitions[of] = append(s.definitions[of], d.compilable(s.schema))
}

// place returns the place of the definition for messages.
func (d Definition) place() string {
	if d.Line == 0 {
		return d.File
	}
	return fmt.Sprintf("%s:%d", d.File, d.Line)
}

// compilable returns the definition with a function for each version that compiles its schema once, by calling compile.
func (d Definition) compilable(compile func(origin, map[string]any) (*Schema, error)) *Definition {
	d.compiled = map[string]func() (*Schema, error){}
	for name, read := range d.Versions {
		d.compiled[name] = sync.OnceValues(func() (*Schema, error) {
			props, err := read()
			if err != nil {
				return nil, err
			}
			gvk := schema.GroupVersionKind{Group: d.Group, Version: name, Kind: d.Kind}
			return compile(origin{gvk, d.Namespaced, d.File, d.Line}, props)
		})
	}
	return &d
}

// DefinitionOf reads a CustomResourceDefinition from plain values, such as one that was built. The
// object must not be changed afterwards.
func DefinitionOf(object map[string]any, file string, line int) (Definition, bool) {
	apiVersion, _ := object["apiVersion"].(string)
	if !strings.HasPrefix(apiVersion, "apiextensions.k8s.io/") || object["kind"] != definitionKind {
		return Definition{}, false
	}
	spec, _ := object["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	d := Definition{File: file, Line: line, Namespaced: spec["scope"] == "Namespaced", Versions: map[string]func() (map[string]any, error){}}
	d.Group, _ = spec["group"].(string)
	d.Kind, _ = names["kind"].(string)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		if name == "" || version["served"] != true {
			continue
		}
		d.Versions[name] = func() (map[string]any, error) {
			holder, _ := version["schema"].(map[string]any)
			props, _ := holder["openAPIV3Schema"].(map[string]any)
			return props, nil
		}
	}
	return d, d.Group != "" && d.Kind != ""
}

// MissingError is the reason why a kind has no schema.
type MissingError struct {
	GVK schema.GroupVersionKind
	// Reason follows "no schema for KIND: " and includes what to do about it.
	Reason string
	// Limit is the counter that the schema exceeds, nil if none: the object is not checked.
	Limit *count.Error
	// Mistake is the certain mistake in the kind; nil if an unavailable CustomResourceDefinition may define the kind.
	Mistake *Mistake
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("no schema for %s %s: %s", e.GVK.GroupVersion(), e.GVK.Kind, e.Reason)
}

// varies reports whether a group belongs to a product whose releases differ, so that definitions in a repository are more
// accurate than the embedded ones.
func varies(group string) bool {
	return slices.Contains([]string{
		K0rdentGroup, KommanderGroup, KommanderAppsGroup, KommanderDispatchGroup, KommanderWorkspacesGroup, ConstraintsGroup, certManagerGroup,
	}, group)
}

// certManagerGroup is the group of cert-manager's kinds.
const certManagerGroup = "cert-manager.io"

// Lookup returns the schemas of a kind: one, or the schemas of all definitions if the kind is defined more than once. If
// there is none, the error is a *MissingError.
func (s *Set) Lookup(gvk schema.GroupVersionKind) ([]*Schema, error) {
	own := func() ([]*Schema, error) { return compiled(s.definitions[gvk.GroupKind()], gvk) }
	if varies(gvk.Group) {
		if found, err := own(); err == nil && len(found) > 0 {
			return found, nil
		}
	}
	if found, ok := Lookup(gvk); ok {
		return []*Schema{found}, nil
	}
	found, err := own()
	if err != nil || len(found) > 0 {
		return found, err
	}
	for _, f := range s.folders {
		found, err := f.lookup(gvk)
		if err != nil || len(found) > 0 {
			return found, err
		}
	}
	return nil, &MissingError{GVK: gvk, Reason: s.advice(gvk) + s.skipped(), Mistake: s.mistake(gvk)}
}

// LookupIn returns the schemas of a kind in a cluster: those of the definitions that the cluster applies, if there are
// any. Otherwise it returns the schemas that Lookup returns, and the embedded ones in addition to the repository's own.
// doubtful is set if only other clusters apply these definitions, which are often from another release.
func (s *Set) LookupIn(cluster string, gvk schema.GroupVersionKind) (found []*Schema, doubtful bool, err error) {
	embedded, isEmbedded := Lookup(gvk)
	if isEmbedded && !varies(gvk.Group) {
		return []*Schema{embedded}, false, nil
	}
	all := s.definitions[gvk.GroupKind()]
	applied := slices.DeleteFunc(slices.Clone(all), func(d *Definition) bool { return !slices.Contains(d.Clusters, cluster) })
	if found, err := compiled(applied, gvk); err != nil || len(found) > 0 {
		return found, false, err
	}
	if found, err = s.Lookup(gvk); err != nil {
		return nil, false, err
	}
	if isEmbedded && !slices.Contains(found, embedded) {
		return append(found, embedded), false, nil
	}
	serves := slices.DeleteFunc(slices.Clone(all), func(d *Definition) bool { return d.compiled[gvk.Version] == nil })
	return found, len(serves) > 0 && !slices.ContainsFunc(serves, func(d *Definition) bool { return len(d.Clusters) == 0 }), nil
}

// Own returns the schema of the definition that a cluster applies for a kind, as a list of one. It returns nil if the cluster
// applies no definition of the kind, or more than one.
func (s *Set) Own(cluster string, gvk schema.GroupVersionKind) []*Schema {
	var own []*Definition
	for _, d := range s.definitions[gvk.GroupKind()] {
		if slices.Contains(d.Clusters, cluster) {
			if own = append(own, d); len(own) > 1 {
				return nil
			}
		}
	}
	found, _ := compiled(own, gvk) // an invalid definition is reported elsewhere
	return found
}

// skipped describes the files of the folders that cannot be read: one of them may define the kind.
func (s *Set) skipped() string {
	var text strings.Builder
	for _, f := range s.folders {
		switch index := f.index(); {
		case index.skipped == 1:
			fmt.Fprintf(&text, " (in %q a file cannot be read: %v)", f.name, index.why)
		case index.skipped > 1:
			fmt.Fprintf(&text, " (in %q %d files cannot be read, the first: %v)", f.name, index.skipped, index.why)
		}
	}
	return text.String()
}

// compiled returns the schemas of the definitions that serve a version.
func compiled(definitions []*Definition, gvk schema.GroupVersionKind) ([]*Schema, error) {
	var found []*Schema
	for _, d := range definitions {
		compile, ok := d.compiled[gvk.Version]
		if !ok {
			continue
		}
		one, err := compile()
		if err != nil {
			missing := &MissingError{GVK: gvk, Reason: fmt.Sprintf("the %s in %s cannot be used: %v", definitionKind, d.place(), err)}
			errors.As(err, &missing.Limit)
			return nil, missing
		}
		if !slices.Contains(found, one) {
			found = append(found, one)
		}
	}
	return found, nil
}

// advice returns advice about a kind without a schema.
func (s *Set) advice(gvk schema.GroupVersionKind) string {
	if v, ok := VersionOf(gvk); ok && !v.Served && v.Replacement.Kind != "" {
		return fmt.Sprintf("it was removed in %s %s; move to %s %s", Product(gvk.Group), v.RemovedIn, v.Replacement.GroupVersion(), v.Replacement.Kind)
	}
	const definition = "the " + definitionKind + " that serves it"
	if known := s.Versions(gvk.GroupKind()); len(known) > 0 {
		verb := "are"
		if len(known) == 1 {
			verb = "is"
		}
		return fmt.Sprintf("%s of this kind %s known; move to a known version, or add %s to the repository or to --schemas",
			strings.Join(known, " and "), verb, definition)
	}
	return "add " + definition + " to the repository or to --schemas so that it is checked"
}

// Versions returns the served versions of a kind that have a schema, sorted.
func (s *Set) Versions(of schema.GroupKind) []string {
	known := map[string]bool{}
	for _, v := range Versions(of) {
		if _, ok := Lookup(of.WithVersion(v.Name)); ok && v.Served {
			known[v.Name] = true
		}
	}
	definitions := slices.Clone(s.definitions[of])
	for _, f := range s.folders {
		definitions = append(definitions, f.defined(of)...)
	}
	for _, d := range definitions {
		for name := range d.Versions {
			known[name] = true
		}
	}
	return slices.Sorted(maps.Keys(known))
}

const kubernetes = "Kubernetes"

// Product returns the product whose releases determine the versions of a group's kinds.
func Product(group string) string {
	switch {
	case strings.HasSuffix(group, ".toolkit.fluxcd.io") || strings.HasSuffix(group, ".extensions.fluxcd.io"):
		return "Flux"
	case group == fluxapi.OperatorGroup:
		return "the Flux Operator"
	}
	return kubernetes
}

// builtInProduct returns the product of the kinds in a group of the embedded schemas.
func builtInProduct(group string) string {
	switch group {
	case K0rdentGroup:
		return "k0rdent"
	case KommanderGroup, KommanderAppsGroup, KommanderDispatchGroup, KommanderWorkspacesGroup, ConstraintsGroup:
		return "Kommander"
	case certManagerGroup:
		return "cert-manager"
	case fluxapi.OperatorGroup:
		return "Flux Operator"
	case "kustomize.config.k8s.io":
		return "kustomize"
	}
	return Product(group)
}

// Reason returns the Reason of a MissingError, or the message of any other error.
func Reason(err error) string {
	var missing *MissingError
	if errors.As(err, &missing) {
		return missing.Reason
	}
	return err.Error()
}
