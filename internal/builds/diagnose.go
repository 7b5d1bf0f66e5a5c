package builds

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
	"github.com/fleetwright/fleetwright/schemas"
)

// diagnosis looks for what kustomize refused.
type diagnosis struct {
	*view
	// message is kustomize's own.
	message string
	seen    map[string]bool
}

// diagnose finds what kustomize most likely refuses in a folder, in those that it is made of, or
// in the patches that the Flux Kustomization adds, and nil where it finds nothing: kustomize's own
// errors name no line, and in the outermost file what is wrong in an inner one.
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

// path looks at what kustomize-controller builds of a folder: by its kustomization, else all
// that is in it.
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

// folder looks at a kustomization.
func (v *diagnosis) folder(dir string) *Failure {
	k, ok := v.Repo.KustomizeAt(dir)
	if !ok || v.seen[dir] {
		return nil
	}
	v.seen[dir] = true
	if k.Spec == nil {
		if f := v.malformed(k.File.Path); f != nil {
			return f
		}
		return mistyped(k)
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
	if f := misnamed(k); f != nil {
		return f
	}
	if f := v.twice(k); f != nil {
		return f
	}
	if f := v.generatedTwice(k); f != nil {
		return f
	}
	return v.refused(v.entries(k))
}

// mistyped finds a field of a kustomization that is of another type than kustomize reads.
func mistyped(k *repository.Kustomize) *Failure {
	s, _ := schemas.Lookup(kustomizationKind(k))
	value, isMap := k.Value.(map[string]any)
	if s == nil || !isMap {
		return nil
	}
	for _, p := range s.Validate(value) {
		if p.Kind == schemas.Invalid {
			f := failureAt(k, p.Message, p.Path...)
			f.Malformed = true
			return f
		}
	}
	return nil
}

// kustomizationKind is what kustomize takes a kustomization for.
func kustomizationKind(k *repository.Kustomize) schema.GroupVersionKind {
	if k.Component {
		return schema.FromAPIVersionAndKind(types.ComponentVersion, types.ComponentKind)
	}
	return schema.FromAPIVersionAndKind(types.KustomizationVersion, types.KustomizationKind)
}

// misnamed finds an apiVersion or kind that is no kustomization's.
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

// reference looks at what a kustomization refers to as a resource or component.
func (v *diagnosis) reference(k *repository.Kustomize, field string, i int, ref string, component bool) *Failure {
	at, inside := repository.Join(k.Dir, ref)
	if !inside || isRemote(ref) && !v.Exists(absolute(at)) {
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
	return v.folder(at)
}

// malformed finds what in a file is no YAML, or no object: a key given twice.
func (v *diagnosis) malformed(file string) *Failure {
	f, ok := v.Repo.File(file)
	if !ok {
		return nil
	}
	wrong := f.Err
	for _, d := range f.Documents {
		for _, o := range d.Objects {
			if _, err := o.Value(); wrong == nil && err != nil {
				errors.As(err, &wrong)
			}
		}
	}
	if wrong == nil || wrong.Reason != repository.NotYAML && wrong.Reason != "" {
		return nil
	}
	return &Failure{Reason: BuildFailed, Malformed: true, File: file, Line: wrong.Line, Column: wrong.Column, Message: wrong.Message}
}

// head is what names an object.
type head struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Metadata   struct {
		Name      string `yaml:"name"`
		Namespace string `yaml:"namespace"`
	} `yaml:"metadata"`
}

func (h head) String() string {
	return h.Kind + " " + strings.TrimPrefix(h.Metadata.Namespace+"/"+h.Metadata.Name, "/")
}

// id is what kustomize tells objects apart by.
func (h head) id() resid.ResId {
	group, version := resid.ParseGroupVersion(h.APIVersion)
	return resid.NewResIdWithNamespace(resid.NewGvk(group, version, h.Kind), h.Metadata.Name, h.Metadata.Namespace)
}

// missingFile finds a file of a patch or generator that isn't there.
func (v *diagnosis) missingFile(k *repository.Kustomize) *Failure {
	gone := func(ref string) bool {
		at, inside := repository.Join(k.Dir, ref)
		return ref != "" && inside && !isRemoteFile(ref) && !v.Exists(absolute(at))
	}
	for i, p := range k.Spec.Patches {
		if gone(p.Path) {
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
				if gone(ref) {
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
			if !strings.Contains(ref, "\n") && gone(ref) {
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

// listed are files that a field of a kustomization names: its items themselves, or a field of
// them.
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

// listedFiles are the files that a kustomization reads besides its resources and patches.
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

// failureAt is a failure at a place of a kustomization. Fields that kustomize moved to their
// successors stand nowhere: then it is the file.
func failureAt(k *repository.Kustomize, message string, at ...any) *Failure {
	f := &Failure{Reason: BuildFailed, File: k.File.Path, Message: message}
	if k.Document != nil && (k.Document.Lookup(at...) != nil || slices.Contains([]any{"resources", "components"}, at[0])) {
		f.Line, f.Column = k.Document.Position(at...)
	}
	return f
}
