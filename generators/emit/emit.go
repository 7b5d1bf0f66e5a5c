// Package emit collects the objects that generators create, and writes them to the files of a tree.
package emit

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	kustypes "sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/manifest"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// Names that Flux uses for its own objects.
const (
	FluxNamespace = "flux-system" // namespace of the controllers
	FluxSync      = "flux-system" // root source and Kustomization of a cluster
	// LabelTenant marks the objects of a tenant, as `flux create tenant` does.
	LabelTenant = "toolkit.fluxcd.io/tenant"
	// AnnotationPrune set to "disabled" keeps Flux from deleting an object.
	AnnotationPrune = "kustomize.toolkit.fluxcd.io/prune"
	// AnnotationSubstitute set to "disabled" keeps Flux from substituting
	// variables in an object.
	AnnotationSubstitute = "kustomize.toolkit.fluxcd.io/substitute"
	// Disabled is the value of both annotations.
	Disabled = "disabled"
	// ClusterVars is the ConfigMap with a cluster's variables.
	ClusterVars = "cluster-vars"
)

// Files collects generated files. It keeps the first error: callers continue to write and check Err once at the
// end.
type Files struct {
	Tree *tree.Tree
	err  error
	// notKRM are YAML files of the user that are not KRM objects.
	notKRM []string
}

// New returns an empty collection.
func New() *Files { return &Files{Tree: &tree.Tree{}} }

// Err returns the first error, if any.
func (f *Files) Err() error { return f.err }

// Objects writes a managed file of objects with the usual header. The lines of comment, if any, follow the
// header.
func (f *Files) Objects(file, comment string, objects ...any) {
	f.YAML(file, tree.Managed, comment, objects...)
}

// YAML writes a file of objects. The first line of a managed file names its origin.
func (f *Files) YAML(file string, mode tree.Mode, comment string, objects ...any) {
	if mode == tree.Managed {
		comment = header(comment)
	}
	content, err := manifest.YAML(comment, objects...)
	if err != nil {
		f.Fail(fmt.Errorf("%s: %w", file, err))
		return
	}
	f.Text(file, mode, content)
}

// Text writes a file.
func (f *Files) Text(file string, mode tree.Mode, content []byte) {
	f.Fail(f.Tree.Add(tree.File{Path: file, Mode: mode, Content: content}))
}

// Kustomization writes dir/kustomization.yaml. Resources and components keep their order.
func (f *Files) Kustomization(dir string, k Kustomization) {
	k.APIVersion, k.Kind = kustypes.KustomizationVersion, kustypes.KustomizationKind
	f.Objects(dir+"/kustomization.yaml", "", k)
}

// Merge adds the files of another collection.
func (f *Files) Merge(other *Files) {
	f.Fail(other.err)
	for file := range other.Tree.All() {
		f.Fail(f.Tree.Add(file))
	}
}

// Fail records an error. It ignores nil, and any error after the first.
func (f *Files) Fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

func header(comment string) string {
	if comment == "" {
		return manifest.Header
	}
	return manifest.Header + "\n" + comment
}

// Kustomization is a kustomization.yaml with its fields in the usual order (kustomize.config.k8s.io/v1beta1;
// the types of kustomize itself declare resources after patches).
type Kustomization struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	Namespace  string            `json:"namespace,omitempty"`
	Resources  []string          `json:"resources,omitzero"`
	Components []string          `json:"components,omitempty"`
	Patches    []kustypes.Patch  `json:"patches,omitempty"`
	// CommonAnnotations are set on all resources.
	CommonAnnotations map[string]string `json:"commonAnnotations,omitempty"`
}

// Sorted returns the distinct names in alphabetical order, as kustomizations list files.
func Sorted(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return slices.Compact(out)
}

// Relative returns the relative path from a folder of a tree (. is its root) to another path in it.
func Relative(from, to string) string {
	rel, err := filepath.Rel(filepath.FromSlash(from), filepath.FromSlash(to))
	if err != nil { // only an absolute path fails, and a tree has none
		return to
	}
	return filepath.ToSlash(rel)
}

// NotKRM records a pattern of .krmignore for YAML files of the user that are not KRM objects.
func (f *Files) NotKRM(pattern string) { f.notKRM = append(f.notKRM, pattern) }

// Ignore writes .krmignore for the YAML files that are not KRM objects, because kpt treats every other
// YAML file of a package as one. It must be called last.
func (f *Files) Ignore() {
	var ignored []string
	for file := range f.Tree.All() {
		ext := path.Ext(file.Path)
		if (ext == ".yaml" || ext == ".yml") && !isKRM(file.Content) {
			ignored = append(ignored, "/"+file.Path)
		}
	}
	if ignored = Sorted(append(ignored, f.notKRM...)); len(ignored) > 0 {
		f.Text(".krmignore", tree.Managed, []byte("# "+manifest.Header+
			"\n# YAML files that are not KRM objects, for kpt.\n"+strings.Join(ignored, "\n")+"\n"))
	}
}

func isKRM(content []byte) bool {
	return bytes.HasPrefix(content, []byte("apiVersion:")) || bytes.Contains(content, []byte("\napiVersion:"))
}
