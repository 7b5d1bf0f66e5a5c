package render

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/envsubst"
	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	kustypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/manifest"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// ClusterObjects returns the objects that Flux applies to a cluster from a freshly generated platform tree. It
// starts with the cluster's folder and follows the path of each Flux Kustomization on the platform repository.
// kustomize builds each path, and variables are substituted. Each object is returned once, in the order in
// which Flux finds it.
func ClusterObjects(t *tree.Tree, cluster *v1alpha1.Cluster) ([]*kyaml.RNode, error) {
	b := &clusterBuild{fs: filesys.MakeFsInMemory(), seen: map[string]string{}, configMaps: map[string]map[string]string{}}
	for f := range t.All() {
		if err := b.fs.WriteFile("/"+f.Path, f.Content); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	root := unit{name: emit.FluxSync, namespace: emit.FluxNamespace, dir: cluster.Spec.Path}
	queue := []unit{root}
	built := map[string]bool{}
	for len(queue) > 0 {
		u := queue[0]
		queue = queue[1:]
		id := u.namespace + "/" + u.name
		if built[id] {
			continue
		}
		built[id] = true
		found, err := b.unit(u)
		if err != nil {
			return nil, fmt.Errorf("cluster %q: Kustomization %s/%s: building %s: %w", cluster.Metadata.Name, u.namespace, u.name, u.dir, err)
		}
		queue = append(queue, found...)
	}
	return b.objects, nil
}

// unit holds the fields of a Flux Kustomization that ClusterObjects needs.
type unit struct {
	name, namespace, dir, targetNamespace string
	substitute                            map[string]string
	substituteFrom                        []string
	substitutes                           bool
}

// clusterBuild collects a cluster's objects.
type clusterBuild struct {
	fs         filesys.FileSystem
	objects    []*kyaml.RNode
	seen       map[string]string // id → YAML
	configMaps map[string]map[string]string
}

// unit builds one Kustomization and returns the Kustomizations that it creates.
func (b *clusterBuild) unit(u unit) ([]unit, error) {
	resources, err := b.build(u)
	if err != nil {
		return nil, err
	}
	var found []unit
	for _, r := range resources.Resources() {
		text, err := b.substitute(u, r)
		if err != nil {
			return nil, err
		}
		n, err := kyaml.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: after substitution: %w", r.CurId(), err)
		}
		id := r.CurId().String()
		if before, twice := b.seen[id]; twice {
			if before != text {
				return nil, fmt.Errorf("%s is applied twice, with different contents", id)
			}
			continue
		}
		b.seen[id] = text
		b.objects = append(b.objects, n)
		if n.GetKind() == "ConfigMap" && n.GetApiVersion() == "v1" {
			b.configMaps[n.GetNamespace()+"/"+n.GetName()] = n.GetDataMap()
		}
		child, ok, err := childUnit(n)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		if ok {
			found = append(found, child)
		}
	}
	return found, nil
}

// childUnit reads a Flux Kustomization of the platform repository.
func childUnit(n *kyaml.RNode) (unit, bool, error) {
	if n.GetKind() != kustomizev1.KustomizationKind || !strings.HasPrefix(n.GetApiVersion(), kustomizev1.GroupVersion.Group+"/") {
		return unit{}, false, nil
	}
	var k struct {
		Spec struct {
			Path            string `yaml:"path"`
			TargetNamespace string `yaml:"targetNamespace"`
			SourceRef       struct {
				Kind, Name, Namespace string
			} `yaml:"sourceRef"`
			PostBuild *struct {
				Substitute     map[string]string             `yaml:"substitute"`
				SubstituteFrom []struct{ Kind, Name string } `yaml:"substituteFrom"`
			} `yaml:"postBuild"`
		} `yaml:"spec"`
	}
	if err := n.YNode().Decode(&k); err != nil {
		return unit{}, false, err
	}
	source := k.Spec.SourceRef
	namespace := n.GetNamespace()
	if source.Namespace != "" {
		namespace = source.Namespace
	}
	if source.Kind != "GitRepository" || source.Name != emit.FluxSync || namespace != emit.FluxNamespace {
		return unit{}, false, nil
	}
	u := unit{
		name: n.GetName(), namespace: n.GetNamespace(),
		dir: path.Clean(strings.TrimPrefix(k.Spec.Path, "./")), targetNamespace: k.Spec.TargetNamespace,
	}
	if p := k.Spec.PostBuild; p != nil {
		u.substitutes, u.substitute = true, p.Substitute
		for _, from := range p.SubstituteFrom {
			if from.Kind == "ConfigMap" {
				u.substituteFrom = append(u.substituteFrom, from.Name)
			}
		}
	}
	return u, true, nil
}

// build runs kustomize on a unit's folder as Flux does: if the folder has no kustomization file, all its YAML
// files are built (fluxcd/pkg/kustomize, Generator).
func (b *clusterBuild) build(u unit) (resmap.ResMap, error) {
	dir := "/" + u.dir
	built := b.hasKustomization(dir)
	if built && u.targetNamespace == "" {
		return b.run(dir)
	}
	k := kustypes.Kustomization{
		TypeMeta:  kustypes.TypeMeta{APIVersion: kustypes.KustomizationVersion, Kind: kustypes.KustomizationKind},
		Namespace: u.targetNamespace,
	}
	resources := []string{dir}
	if !built {
		var err error
		if resources, err = b.manifests(dir); err != nil {
			return nil, err
		}
		if len(resources) == 0 {
			return nil, errors.New("the folder contains no manifest")
		}
	}
	for _, r := range resources {
		k.Resources = append(k.Resources, path.Join("../..", r))
	}
	text, err := manifest.YAML("", k)
	if err != nil {
		return nil, err
	}
	// A tree never has a .git folder, so the overlay cannot collide with a file of it.
	overlay := path.Join("/.git", u.namespace+"-"+u.name)
	if err := b.fs.WriteFile(overlay+"/kustomization.yaml", text); err != nil {
		return nil, err
	}
	return b.run(overlay)
}

func (b *clusterBuild) run(dir string) (resmap.ResMap, error) {
	o := krusty.MakeDefaultOptions()
	o.LoadRestrictions = kustypes.LoadRestrictionsNone // in memory, nothing lies outside
	return krusty.MakeKustomizer(o).Run(b.fs, dir)
}

func (b *clusterBuild) hasKustomization(dir string) bool {
	return slices.ContainsFunc(konfig.RecognizedKustomizationFileNames(), func(name string) bool {
		return b.fs.Exists(path.Join(dir, name))
	})
}

// manifests returns the YAML files of a folder, and the folders in it that have a kustomization file.
func (b *clusterBuild) manifests(dir string) ([]string, error) {
	names, err := b.fs.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range slices.Sorted(slices.Values(names)) {
		at := path.Join(dir, name)
		switch {
		case b.fs.IsDir(at) && b.hasKustomization(at):
			out = append(out, at)
		case b.fs.IsDir(at):
			below, err := b.manifests(at)
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
		case hasYAMLName(name):
			out = append(out, at)
		}
	}
	return out, nil
}

var variableName = regexp.MustCompile(`^[_[:alpha:]][_[:alpha:][:digit:]]*$`)

// substitute replaces variables as kustomize-controller does
// (fluxcd/pkg/kustomize, SubstituteVariables).
func (b *clusterBuild) substitute(u unit, r *resource.Resource) (string, error) {
	text, err := r.AsYAML()
	if err != nil {
		return "", err
	}
	if !u.substitutes || r.GetLabels()[emit.AnnotationSubstitute] == emit.Disabled || r.GetAnnotations()[emit.AnnotationSubstitute] == emit.Disabled {
		return string(text), nil
	}
	vars := map[string]string{}
	for _, name := range u.substituteFrom {
		data, ok := b.configMaps[u.namespace+"/"+name]
		if !ok {
			return "", fmt.Errorf("postBuild.substituteFrom references ConfigMap %s/%s, which is not generated", u.namespace, name)
		}
		maps.Copy(vars, data)
	}
	maps.Copy(vars, u.substitute)
	for name, value := range vars {
		if !variableName.MatchString(name) {
			return "", fmt.Errorf("variable name %q must match %s", name, variableName)
		}
		vars[name] = strings.ReplaceAll(value, "\n", "")
	}
	if len(vars) == 0 {
		return string(text), nil
	}
	out, err := envsubst.Eval(string(text), func(name string) (string, bool) { return vars[name], true })
	if err != nil {
		return "", fmt.Errorf("%s: %w", r.CurId(), err)
	}
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(out), &n); err != nil {
		return "", fmt.Errorf("%s: after substitution: %w", r.CurId(), err)
	}
	return out, nil
}
