package functions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/kyaml/fn/framework"
	"sigs.k8s.io/kustomize/kyaml/kio/kioutil"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
)

// The outputs of RenderFleet.
const (
	outputPackage = "package" // the platform repository's files, in place
	outputObjects = "objects" // what Flux applies on one cluster
	outputFiles   = "files"   // every file of every target, in an object each
)

// renderFleet is the configuration of RenderFleet.
type renderFleet struct {
	output, cluster, path, fluxManifests string
	objects                              []*kyaml.RNode
	overwrite                            []string
}

func newRenderFleet() (settings, runner) {
	f := &renderFleet{}
	return settings{
		"output":        textSetting(&f.output, outputPackage, outputObjects, outputFiles),
		"cluster":       textSetting(&f.cluster),
		"path":          textSetting(&f.path),
		"fluxManifests": textSetting(&f.fluxManifests),
		"objects":       objectsSetting(&f.objects),
		"overwrite":     listSetting(&f.overwrite),
	}, f.run
}

// run renders the specification among the items (or of the configuration).
func (f *renderFleet) run(_ context.Context, list *resourceList, o Options) error {
	if err := f.check(list); err != nil {
		return &render.BadInput{Err: fmt.Errorf("functionConfig RenderFleet: %w", err)}
	}
	source, objects, err := f.source(list, o)
	if err != nil {
		return err
	}
	if list.kustomize && f.path == "" {
		// Its items have no places, and encrypted ones would lose their order.
		// kustomize calls an exec function in the kustomization's folder.
		folder, err := tree.OpenFolder(o.Root)
		if err != nil {
			return err
		}
		defer func() { _ = folder.Close() }() // opened for reading
		source.UseSecrets(folder)
	}
	defer func() { list.noteAbsent(source) }()
	switch f.output {
	case outputObjects:
		return f.emitObjects(list, source)
	case outputFiles:
		return f.emitFiles(list, source, objects)
	}
	return f.updatePackage(list, source)
}

// noteAbsent names the declared Secrets whose files are not at hand, and the
// command that makes them.
func (l *resourceList) noteAbsent(source *render.Source) {
	for _, s := range source.AbsentSecrets() {
		l.note(framework.Info, s.Path, fmt.Sprintf("Secret %s is declared and its file is not at hand: no kustomization lists it\n"+
			"hint: make it with \"fleetwright secrets sync\", where it is not there yet", s.Secret))
	}
}

// check refuses settings that contradict each other or the caller.
func (f *renderFleet) check(list *resourceList) error {
	switch {
	case f.output == "" && list.kustomize:
		return errors.New("spec.output is not set: kustomize strips files' paths, so want objects (with spec.cluster) or files")
	case f.output == outputPackage && list.kustomize:
		return errors.New("spec.output package is for kpt: kustomize strips files' paths, so want objects (with spec.cluster) or files")
	case f.output == "":
		f.output = outputPackage
	}
	switch {
	case f.output == outputObjects && f.cluster == "":
		return errors.New("spec.output objects wants spec.cluster: clusters have objects of the same names")
	case f.output != outputObjects && f.cluster != "":
		return fmt.Errorf("spec.cluster is for spec.output objects, not %s", f.output)
	case f.path != "" && len(f.objects) > 0:
		return errors.New("spec.path and spec.objects exclude each other")
	case f.output == outputPackage && (f.path != "" || len(f.objects) > 0):
		return errors.New("spec.output package takes the specification from the package's items, not from spec.path or spec.objects")
	case f.output != outputPackage && len(f.overwrite) > 0:
		return fmt.Errorf("spec.overwrite is for spec.output package, not %s", f.output)
	case list.generator && f.path == "" && len(f.objects) == 0:
		return errors.New("a generator sees only its own functionConfig: give the specification as spec.objects, as spec.path (exec form), or use the function as a transformer")
	}
	return nil
}

// source loads the specification, and returns its objects too.
func (f *renderFleet) source(list *resourceList, o Options) (*render.Source, []*kyaml.RNode, error) {
	source, objects, err := f.load(list, o)
	if err != nil {
		return nil, nil, err
	}
	if f.fluxManifests != "" {
		dir, err := inside(o.Root, f.fluxManifests, "spec.fluxManifests")
		if err != nil {
			return nil, nil, err
		}
		if err := source.UseFluxManifests(dir); err != nil {
			return nil, nil, err
		}
	}
	return source, objects, nil
}

func (f *renderFleet) load(list *resourceList, o Options) (*render.Source, []*kyaml.RNode, error) {
	if f.path != "" {
		dir, err := inside(o.Root, f.path, "spec.path")
		if err != nil {
			return nil, nil, err
		}
		source, err := render.FromFolder(dir, "")
		if err != nil {
			return nil, nil, err
		}
		objects, err := documents(source.Files)
		return source, objects, err
	}
	items := f.objects
	if len(items) == 0 {
		items = ownSpecification(list.items)
	}
	var nodes []*yaml.Node
	var objects []*kyaml.RNode
	for _, item := range items {
		if isSpecification(item) {
			nodes = append(nodes, item.YNode())
			objects = append(objects, item)
		} else if len(f.objects) > 0 {
			return nil, nil, &render.BadInput{Err: fmt.Errorf("functionConfig RenderFleet: spec.objects holds %s, which is no kind of %s that a specification has", nameOf(item), v1alpha1.APIVersion)}
		}
	}
	if len(nodes) == 0 {
		return nil, nil, &render.BadInput{
			Err:  errors.New("there is no specification among the items"),
			Hint: "list the files of fleet/ as resources, or give the specification as spec.objects or spec.path",
		}
	}
	spec, err := specs.LoadNodes(nodes)
	if err != nil {
		return nil, nil, err
	}
	return render.FromSpec(spec), objects, nil
}

// ownSpecification leaves out what stands in nested kpt packages, which may have
// a specification of their own, unless there is none outside of them.
func ownSpecification(items []*kyaml.RNode) []*kyaml.RNode {
	root := ""
	for _, item := range items {
		if pkg := annotationsOf(item)[packagePath]; pkg != "" && (root == "" || len(pkg) < len(root)) {
			root = pkg
		}
	}
	var own []*kyaml.RNode
	for _, item := range items {
		if isSpecification(item) && annotationsOf(item)[packagePath] == root {
			own = append(own, item)
		}
	}
	if len(own) == 0 {
		return items
	}
	return own
}

// isSpecification says whether an object is of a specification.
func isSpecification(n *kyaml.RNode) bool {
	return n.GetApiVersion() == v1alpha1.APIVersion && v1alpha1.IsKind(n.GetKind())
}

// documents are the objects in a specification's files.
func documents(files []specs.File) ([]*kyaml.RNode, error) {
	var out []*kyaml.RNode
	for _, f := range files {
		nodes, err := parseFile(f.Content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		out = append(out, slices.DeleteFunc(nodes, func(n *kyaml.RNode) bool { return !isSpecification(n) })...)
	}
	return out, nil
}

// inside returns the path of a folder below the working directory; symlinks may
// not lead out of it.
func inside(root, dir, field string) (string, error) {
	bad := func(format string, args ...any) error {
		return &render.BadInput{Err: fmt.Errorf("functionConfig: %s %q "+format, append([]any{field, dir}, args...)...)}
	}
	if !filepath.IsLocal(filepath.FromSlash(dir)) {
		return "", bad("leads out of the working directory")
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return "", err
	}
	defer r.Close()
	info, err := r.Stat(filepath.FromSlash(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", bad("is not there")
	case err != nil:
		return "", bad("cannot be read inside of the working directory: %w", err)
	case !info.IsDir():
		return "", bad("is no folder")
	}
	return filepath.Join(root, filepath.FromSlash(dir)), nil
}

// readers read what another tool wrote to the platform repository, where the
// configuration names its folder.
func (f *renderFleet) readers(source *render.Source) ([]tree.Reader, func(), error) {
	if f.path == "" {
		return nil, func() {}, nil
	}
	folder, err := tree.OpenFolder(source.Root)
	if err != nil {
		return nil, nil, err
	}
	return []tree.Reader{folder}, func() { _ = folder.Close() }, nil // opened for reading
}

// emitObjects adds what Flux applies on one cluster.
func (f *renderFleet) emitObjects(list *resourceList, source *render.Source) error {
	cluster := source.Spec.Cluster(f.cluster)
	if cluster == nil {
		var names []string
		for _, c := range source.Spec.Clusters {
			names = append(names, c.Metadata.Name)
		}
		return &render.BadInput{Err: fmt.Errorf("functionConfig RenderFleet: spec.cluster %q is not in the specification: want %s", f.cluster, alternatives(names))}
	}
	readers, closeAll, err := f.readers(source)
	if err != nil {
		return err
	}
	defer closeAll()
	platform, err := source.Platform(readers...)
	if err != nil {
		return err
	}
	objects, err := render.ClusterObjects(platform.Tree, cluster)
	if err != nil {
		return err
	}
	return list.emit(objects)
}

// emitFiles adds each file of each target in an object of kind File.
func (f *renderFleet) emitFiles(list *resourceList, source *render.Source, objects []*kyaml.RNode) error {
	readers, closeAll, err := f.readers(source)
	if err != nil {
		return err
	}
	defer closeAll()
	targets, err := source.Targets(readers...)
	if err != nil {
		return err
	}
	specification, err := specificationYAML(objects)
	if err != nil {
		return err
	}
	carriers, err := source.Carriers(targets, specification)
	if err != nil {
		return err
	}
	nodes := make([]*kyaml.RNode, len(carriers))
	for i, n := range carriers {
		nodes[i] = kyaml.NewRNode(n)
	}
	return list.emit(nodes)
}

// emit adds objects to the items, which stay. A generator's item is its own
// configuration, which kustomize drops from the build by itself.
func (l *resourceList) emit(objects []*kyaml.RNode) error {
	there := map[string]bool{}
	for _, item := range l.items {
		there[idOf(item)] = true
	}
	for _, n := range objects {
		if there[idOf(n)] {
			return &render.BadInput{
				Err:  fmt.Errorf("%s is rendered, and is among the items already", nameOf(n)),
				Hint: "take it out of the kustomization's resources, or out of the specification",
			}
		}
	}
	l.items = append(l.items, objects...)
	return nil
}

// idOf is what makes an object one of its kind.
func idOf(n *kyaml.RNode) string {
	group, _, found := strings.Cut(n.GetApiVersion(), "/")
	if !found {
		group = ""
	}
	return strings.Join([]string{group, n.GetKind(), n.GetNamespace(), n.GetName()}, "|")
}

// specificationYAML writes the specification without what kustomize and kpt add
// to objects in passing, in an order that doesn't depend on the items'.
func specificationYAML(objects []*kyaml.RNode) ([]byte, error) {
	sorted := slices.SortedFunc(slices.Values(objects), func(a, b *kyaml.RNode) int { return strings.Compare(idOf(a), idOf(b)) })
	nodes := make([]*yaml.Node, len(sorted))
	for i, n := range sorted {
		clean := n.Copy()
		for name := range annotationsOf(clean) {
			if isPassing(name) {
				if err := clean.PipeE(kyaml.ClearAnnotation(name)); err != nil {
					return nil, err
				}
			}
		}
		if err := kyaml.ClearEmptyAnnotations(clean); err != nil {
			return nil, err
		}
		nodes[i] = clean.YNode()
	}
	return render.SpecificationYAML(nodes)
}

// isPassing says whether an annotation is one that tools add to an object while
// they process it, and take away again.
func isPassing(name string) bool {
	for _, prefix := range []string{"internal.config.kubernetes.io/", "internal.config.k8s.io/", "kustomize.config.k8s.io/", "alpha.config.kubernetes.io/"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains([]string{
		"config.kubernetes.io/path", "config.kubernetes.io/index", "config.kubernetes.io/origin", "config.k8s.io/id", kioutil.SeqIndentAnnotation,
	}, name)
}
