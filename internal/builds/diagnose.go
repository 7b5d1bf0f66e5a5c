package builds

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
	"github.com/fleetwright/fleetwright/schemas"
)

// diagnosis searches for the cause of an error of kustomize.
type diagnosis struct {
	*view
	// message is kustomize's error.
	message string
	seen    map[string]bool
}

// diagnose returns the most likely cause of kustomize's error in a folder, in its bases and components, or
// in the patches that the Flux Kustomization adds; nil if it finds none. kustomize's own
// errors name no line, and name the outermost file even if the cause is in an inner one.
func (v *view) diagnose(dir string, err error) *Failure {
	d := &diagnosis{view: v, message: err.Error(), seen: map[string]bool{}}
	if f := d.path(dir); f != nil {
		return f
	}
	if f := d.twiceRead(); f != nil {
		return f
	}
	return d.refused(addedEntries(v.patches))
}

// path checks what kustomize-controller builds from a folder: its kustomization, or, without one, all
// manifests in it.
func (v *diagnosis) path(dir string) *Failure {
	if v.hasKustomization(dir) {
		return v.folder(dir)
	}
	if f := v.twiceIn(dir); f != nil {
		return f
	}
	names, _ := v.Repo.ReadDir(dir)
	for _, name := range names {
		at := path.Join(dir, name)
		var f *Failure
		if v.IsDir(absolute(at)) {
			f = v.path(at)
		} else if ext := path.Ext(name); ext == ".yaml" || ext == ".yml" {
			f = v.malformed(at)
		}
		if f != nil {
			return f
		}
	}
	return nil
}

// folder checks the kustomization in a folder.
func (v *diagnosis) folder(dir string) *Failure {
	k, ok := v.Repo.KustomizeAt(dir)
	if !ok || v.seen[dir] {
		return nil
	}
	v.seen[dir] = true
	if k.Spec == nil {
		if f := v.malformed(k.File.Path); f != nil {
			f.out = nil
			return f
		}
		return mistyped(k, schemas.Invalid)
	}
	if strings.Contains(v.message, "json: unknown field ") && k.File.Path != v.overlay {
		if f := mistyped(k, schemas.UnknownField); f != nil {
			f.out = &exclusion{file: k.File.Path, field: f.Message}
			if !v.out.has(f.out) {
				return f
			}
		}
	}
	if f := v.missingFile(k); f != nil {
		return f
	}
	for i, ref := range k.Spec.Resources {
		if f := v.reference(k, "resources", i, ref, false); f != nil {
			return f
		}
	}
	for i, ref := range k.Spec.Components {
		if f := v.reference(k, "components", i, ref, true); f != nil {
			return f
		}
	}
	if f := misnamed(k); f != nil && !v.out.has(f.out) {
		return f
	}
	if f := v.twice(k); f != nil {
		return f
	}
	if f := v.generatedTwice(k); f != nil {
		return f
	}
	if f := v.generates(k); f != nil {
		return f
	}
	if f := v.replaces(k); f != nil {
		return f
	}
	return v.refused(v.entries(k))
}

// mistyped finds a field of a kustomization that has a wrong type or that kustomize does not know.
func mistyped(k *repository.Kustomize, kind schemas.ProblemKind) *Failure {
	s, _ := schemas.Lookup(kustomizationKind(k))
	value, isMap := k.Value.(map[string]any)
	if s == nil || !isMap {
		return nil
	}
	for _, p := range s.Validate(value) {
		if p.Kind == kind {
			f := failureAt(k, p.Message, p.Path...)
			f.Malformed = true
			return f
		}
	}
	return nil
}

// kustomizationKind returns the apiVersion and kind that kustomize assumes for a kustomization.
func kustomizationKind(k *repository.Kustomize) schema.GroupVersionKind {
	if k.Component {
		return schema.FromAPIVersionAndKind(types.ComponentVersion, types.ComponentKind)
	}
	return schema.FromAPIVersionAndKind(types.KustomizationVersion, types.KustomizationKind)
}

// misnamed finds an apiVersion or kind that kustomize does not accept in a kustomization.
func misnamed(k *repository.Kustomize) *Failure {
	wrong := k.Spec.EnforceFields()
	switch {
	case len(wrong) == 0:
		return nil
	case strings.HasPrefix(wrong[0], "kind"):
		return failureAt(k, wrong[0], "kind")
	}
	return failureAt(k, wrong[0], "apiVersion")
}

// reference checks a resource or component of a kustomization.
func (v *diagnosis) reference(k *repository.Kustomize, field string, i int, ref string, component bool) *Failure {
	at, inside := repository.Join(k.Dir, ref)
	if v.out.has(entryAt(k, field, i)) {
		return nil
	}
	if !inside || chartref.IsRemote(ref) && !v.Exists(absolute(at)) {
		return nil
	}
	switch other, ok := v.Repo.KustomizeAt(at); {
	case !v.Exists(absolute(at)):
		return failureAt(k, fmt.Sprintf("%s: %q doesn't exist", field, ref), field, i)
	case !v.IsDir(absolute(at)):
		return v.malformed(at)
	case !ok:
		return failureAt(k, fmt.Sprintf("%s: %q has no kustomization.yaml", field, ref), field, i)
	case other.Component && !component:
		return failureAt(k, fmt.Sprintf("%s: %q is a Component: list it under components", field, ref), field, i)
	case !other.Component && component && other.Spec != nil:
		return failureAt(k, fmt.Sprintf("%s: %q is not a Component: list it under resources", field, ref), field, i)
	}
	f := v.folder(at)
	if f != nil && f.out == nil {
		f.out = entryAt(k, field, i)
	}
	return f
}

// malformed finds a place in a file that is not valid YAML or not an object, such as a duplicate key.
func (v *diagnosis) malformed(file string) *Failure {
	f, ok := v.Repo.File(file)
	if !ok {
		return nil
	}
	if failure := v.nameless(f); failure != nil {
		return failure
	}
	wrong := f.Err
	for _, d := range f.Documents {
		for _, o := range d.Objects {
			if _, err := o.Value(); wrong == nil && err != nil {
				errors.As(err, &wrong)
			}
		}
	}
	if v.out.touches(file) && v.parses(file) {
		return nil
	}
	if wrong == nil || wrong.Reason != repository.NotYAML && wrong.Reason != "" {
		return nil
	}
	return &Failure{Reason: BuildFailed, Malformed: true, Place: finding.Place{File: file, Line: wrong.Line, Column: wrong.Column}, Message: wrong.Message,
		out: &exclusion{file: file, line: wrong.Line}}
}

// parses reports whether a file is valid YAML without its excluded parts.
func (v *diagnosis) parses(file string) bool {
	data, err := v.ReadFile(absolute(file))
	for decoder := yaml.NewDecoder(bytes.NewReader(data)); err == nil; {
		err = decoder.Decode(&yaml.Node{})
	}
	return errors.Is(err, io.EOF)
}

// missingFile finds a file of a patch or generator that does not exist.
func (v *diagnosis) missingFile(k *repository.Kustomize) *Failure {
	gone := func(ref string) bool {
		at, inside := repository.Join(k.Dir, ref)
		return ref != "" && inside && !chartref.IsRemoteFile(ref) && !v.Exists(absolute(at))
	}
	for i, p := range k.Spec.Patches {
		if gone(p.Path) && !v.out.has(entryAt(k, "patches", i)) {
			return failureAt(k, fmt.Sprintf("patches: %q doesn't exist", p.Path), "patches", i, "path")
		}
	}
	generator := func(field string, i int, from types.KvPairSources) *Failure {
		for _, list := range []struct {
			name string
			refs []string
		}{{"files", from.FileSources}, {"envs", from.EnvSources}} {
			for j, ref := range list.refs {
				key, file, keyed := strings.Cut(ref, "=")
				if keyed && list.name == "files" {
					ref = file
				}
				if gone(ref) && !v.out.has(entryAt(k, field, i)) {
					f := failureAt(k, fmt.Sprintf("%s: %q doesn't exist", field, ref), field, i, list.name, j)
					if keyed && credential.HideLiteral(key, file, field == "secretGenerator") {
						f.Message = fmt.Sprintf("%s: %q references a file that doesn't exist; list values under literals", field, key)
					}
					if at := path.Join(k.Dir, ref); v.Repo.Exists(at) {
						f.LeftOut = at
						f.Message = fmt.Sprintf("%s: Flux does not find %q: source-controller excludes it", field, ref)
					}
					return f
				}
			}
		}
		return nil
	}
	for _, list := range listedFiles(k.Spec) {
		for i, ref := range list.refs {
			if !strings.Contains(ref, "\n") && gone(ref) && !v.out.has(entryAt(k, list.field, i)) {
				return failureAt(k, fmt.Sprintf("%s: %q doesn't exist", list.field, ref), list.at(i)...)
			}
		}
	}
	for i, g := range k.Spec.ConfigMapGenerator {
		if f := generator("configMapGenerator", i, g.KvPairSources); f != nil {
			return f
		}
	}
	for i, g := range k.Spec.SecretGenerator {
		if f := generator("secretGenerator", i, g.KvPairSources); f != nil {
			return f
		}
	}
	return nil
}

// listed are the files that a field of a kustomization names: in its items, or in a field of each
// item.
type listed struct {
	field, inItem string
	refs          []string
}

func (l listed) at(i int) []any {
	if l.inItem == "" {
		return []any{l.field, i}
	}
	return []any{l.field, i, l.inItem}
}

// listedFiles returns the files that a kustomization reads in addition to its resources and patches.
func listedFiles(k *types.Kustomization) []listed {
	merged := listed{field: "patchesStrategicMerge"}
	for _, p := range k.PatchesStrategicMerge { //nolint:staticcheck // older repositories use it
		merged.refs = append(merged.refs, string(p))
	}
	json := listed{field: "patchesJson6902", inItem: "path"}
	for _, p := range k.PatchesJson6902 { //nolint:staticcheck // older repositories use it
		json.refs = append(json.refs, p.Path)
	}
	replacements := listed{field: "replacements", inItem: "path"}
	for _, r := range k.Replacements {
		replacements.refs = append(replacements.refs, r.Path)
	}
	return []listed{
		merged, json, replacements,
		{"transformers", "", k.Transformers}, {"generators", "", k.Generators}, {"validators", "", k.Validators},
		{"configurations", "", k.Configurations}, {"crds", "", k.Crds},
	}
}

// failureAt returns a failure at a place of a kustomization. A field that kustomize moved to its
// successor has no place: then the failure is at the file.
func failureAt(k *repository.Kustomize, message string, at ...any) *Failure {
	f := &Failure{Reason: BuildFailed, Place: finding.Place{File: k.File.Path}, Message: message}
	if k.Document != nil && (k.Document.Lookup(at...) != nil || slices.Contains([]any{"resources", "components"}, at[0])) {
		f.Line, f.Column = k.Document.Position(at...)
	}
	f.out = entryAt(k, at...)
	return f
}
