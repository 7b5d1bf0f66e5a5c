package kommander

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/substitution"
)

// Names in the folder of an application definition.
const (
	kustomizationFile = "kustomization.yaml"
	defaultsFolder    = "defaults"
)

// releaseFolders are the folders in which published definitions have their releases.
var releaseFolders = []string{"release", "helmrelease"}

// The shared folders of all definitions.
const (
	commonBase       = "common/base"
	commonAirgapped  = "common/airgapped"
	commonPriorities = "common/priority-classes"
)

// Copied is a folder that the specification expects in the repository, where the user has copied it.
type Copied struct {
	// Dir is the folder. Files are the files that a render reads from it; only the first must exist.
	Dir   string
	Files []string
	// Declared names the field of the specification that expects the folder.
	Declared string
	// follows reports whether the files that its kustomizations list are read, too.
	follows bool
}

// Instead describes what the specification can use instead of the folder.
func (c Copied) Instead() string {
	if c.follows {
		return "define it with a chart in spec.definitions"
	}
	return "remove existingCommon, and list the URLs in spec.helmRepositories"
}

// CopiedFolders returns the folders that the specification's Kommander expects: the existing definitions, and
// common/.
func CopiedFolders(spec *v1alpha1.Spec) []Copied {
	of := v1alpha1.ProductOf[*v1alpha1.Kommander](spec)
	if of == nil {
		return nil
	}
	var out []Copied
	profile := profileOf(&of.Spec)
	for _, e := range of.Spec.ExistingDefinitions {
		c := Copied{Dir: profile.dir(e.Name, e.Version), Declared: e.Name + " " + e.Version + " in spec.existingDefinitions", follows: true}
		metadata := profile.metadataFile(v1alpha1.KommanderDefinition{Name: e.Name, Version: e.Version})
		c.Files = []string{path.Join(c.Dir, kustomizationFile), metadata}
		for _, folder := range append([]string{defaultsFolder}, releaseFolders...) {
			c.Files = append(c.Files, path.Join(c.Dir, folder, kustomizationFile))
		}
		out = append(out, c)
	}
	if of.Spec.ExistingCommon {
		c := Copied{Dir: commonBase, Declared: "spec.existingCommon"}
		if of.Spec.AirGapped != nil {
			c.Dir = commonAirgapped
		}
		c.Files = []string{path.Join(c.Dir, kustomizationFile), path.Join(commonPriorities, kustomizationFile)}
		out = append(out, c)
	}
	return out
}

// Listed returns the files in the folder that one of its files lists: a kustomization's resources, components
// and patches, and the kustomizations of listed folders.
func (c Copied) Listed(file string, content []byte) []string {
	var k struct {
		Resources, Components []string
		Patches               []struct{ Path string }
	}
	if !c.follows || path.Base(file) != kustomizationFile || yaml.Unmarshal(content, &k) != nil {
		return nil
	}
	names := slices.Concat(k.Resources, k.Components)
	for _, p := range k.Patches {
		names = append(names, p.Path)
	}
	var out []string
	for _, name := range names {
		if ext := path.Ext(name); ext != ".yaml" && ext != ".yml" {
			name = path.Join(name, kustomizationFile)
		}
		if name = path.Join(path.Dir(file), name); strings.HasPrefix(name, c.Dir+"/") {
			out = append(out, name)
		}
	}
	return out
}

// has reports whether the repository has a file of a copied folder.
func (g *generator) has(file string) bool {
	_, there := g.copied[file]
	return there
}

// applied returns the folders that a step lists for an application. If an existing definition has its release
// in a folder of its own, it returns only that. The rest of the definition consists of Kustomizations that read
// variables of Kommander, so Kommander applies it.
func (g *generator) applied(name, version string) []string {
	all := g.profile.applied(name, version)
	if !g.k.HasExisting(name, version) {
		return all
	}
	for _, folder := range releaseFolders {
		if dir := path.Join(all[0], folder); g.has(path.Join(dir, kustomizationFile)) {
			all[0] = dir
			break
		}
	}
	return slices.DeleteFunc(all, func(dir string) bool {
		return path.Base(dir) == defaultsFolder && !g.has(path.Join(dir, kustomizationFile))
	})
}

// unset returns the variables that an existing definition needs in a step, and that nothing sets. After an
// installation by Kommander's installer they are empty, which means the default values of the chart
// (kommander-applications, hack/list-images.sh).
func (g *generator) unset(name, version string, set ...map[string]string) []string {
	if !g.k.HasExisting(name, version) {
		return nil
	}
	needed := map[string]bool{}
	folder := Copied{Dir: g.profile.dir(name, version), follows: true}
	var files []string
	for _, dir := range g.applied(name, version) {
		files = append(files, path.Join(dir, kustomizationFile))
	}
	for seen := map[string]bool{}; len(files) > 0; files = files[1:] {
		if file := files[0]; !seen[file] {
			seen[file] = true
			variablesOf(g.copied[file], needed)
			files = append(files, folder.Listed(file, g.copied[file])...)
		}
	}
	for _, variables := range set {
		for name := range variables {
			delete(needed, name)
		}
	}
	return slices.Sorted(maps.Keys(needed))
}

// variablesOf adds the variables without a default in a file's objects. It ignores what it cannot read, because
// validate reports that.
func variablesOf(content []byte, needed map[string]bool) {
	for d := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var value any
		if d.Decode(&value) != nil {
			return
		}
		stringsIn(value, func(s string) {
			names, _ := substitution.Needed(s)
			for _, name := range names {
				needed[name] = true
			}
		})
	}
}

// stringsIn calls a function for each string in a value, including the keys of maps.
func stringsIn(value any, visit func(string)) {
	switch x := value.(type) {
	case string:
		visit(x)
	case []any:
		for _, item := range x {
			stringsIn(item, visit)
		}
	case map[string]any:
		for key, item := range x {
			visit(key)
			stringsIn(item, visit)
		}
	}
}
