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
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/settings"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
)

// The possible outputs of RenderFleet.
const (
	outputPackage = "package" // the platform repository's files, in place
	outputObjects = "objects" // the objects that Flux applies to one cluster
	outputFiles   = "files"   // every file of every target, each in an object
)

// renderFleet is the configuration of RenderFleet.
type renderFleet struct {
	output, cluster, path, fluxManifests string
	objects                              []*kyaml.RNode
	overwrite, allowRemoval              []string
}

func newRenderFleet() (settings.Fields, runner) {
	f := &renderFleet{}
	return settings.Fields{
		"output":        settings.Text(&f.output, outputPackage, outputObjects, outputFiles),
		"cluster":       settings.Text(&f.cluster),
		"path":          settings.Text(&f.path),
		"fluxManifests": settings.Text(&f.fluxManifests),
		"objects":       objectsSetting(&f.objects),
		"overwrite":     settings.List(&f.overwrite),
		"allowRemoval":  settings.List(&f.allowRemoval),
	}, f.run
}

// run renders the specification among the items, or the one in the folder that the functionConfig names.
func (f *renderFleet) run(ctx context.Context, list *resourceList, o Options) error {
	if err := f.check(list); err != nil {
		return advice.Input(fmt.Errorf("functionConfig RenderFleet: %w", err), "")
	}
	loaded, objects, err := f.load(list, o)
	if err != nil {
		return err
	}
	if f.output == outputPackage {
		return f.updatePackage(list, loaded)
	}
	from, closeAll, err := f.existing(list, loaded, o)
	if err != nil {
		return err
	}
	defer closeAll()
	rendered, err := render.Generate(loaded, from)
	if err != nil {
		return err
	}
	defer list.noteAbsent(rendered)
	if f.output == outputObjects {
		return f.emitObjects(ctx, list, rendered)
	}
	return list.emitFiles(rendered, objects)
}

// existing returns the readers of the existing files of the platform repository.
func (f *renderFleet) existing(list *resourceList, loaded *render.Specification, o Options) (render.GenerateOptions, func(), error) {
	from := render.GenerateOptions{PlatformOnly: f.output == outputObjects}
	dir := loaded.Root
	switch {
	case f.path != "":
	case list.kustomize:
		// The items from kustomize have no paths, and re-encoding encrypted items would lose the order of their fields.
		// Therefore read the files: kustomize calls an exec function in the kustomization's folder.
		dir = o.Root
	default:
		return from, func() {}, nil
	}
	folder, err := tree.OpenFolder(dir)
	if err != nil {
		return from, nil, err
	}
	from.Secrets = []tree.Reader{folder}
	if f.path != "" {
		from.Platform = from.Secrets
	}
	return from, func() { _ = folder.Close() }, nil // the folder was opened only for reading
}

// noteAbsent adds a result for each declared Secret without a file, with the command that creates it.
func (l *resourceList) noteAbsent(rendered *render.Rendered) {
	for _, s := range rendered.Absent {
		l.note(framework.Info, s.Path, fmt.Sprintf("Secret %s is declared, but its file is not among the items: no kustomization lists it\n"+
			"hint: if the file does not exist yet, create it with \"fleetwright secrets sync\"", s.Secret))
	}
}

// check returns an error for settings that contradict each other or do not fit the caller.
func (f *renderFleet) check(list *resourceList) error {
	switch {
	case f.output == "" && list.kustomize:
		return errors.New("spec.output is not set: kustomize strips file paths, so want objects (with spec.cluster) or files")
	case f.output == outputPackage && list.kustomize:
		return errors.New("spec.output package works only in kpt: kustomize strips file paths, so want objects (with spec.cluster) or files")
	case f.output == "":
		f.output = outputPackage
	}
	switch {
	case f.output == outputObjects && f.cluster == "":
		return errors.New("spec.output objects needs spec.cluster, because clusters have objects with the same names")
	case f.output != outputObjects && f.cluster != "":
		return fmt.Errorf("spec.cluster can be set only with spec.output objects, not %s", f.output)
	case f.path != "" && len(f.objects) > 0:
		return errors.New("spec.path and spec.objects cannot be used together")
	case f.output == outputPackage && (f.path != "" || len(f.objects) > 0):
		return errors.New("spec.output package reads the specification from the package's items, not from spec.path or spec.objects")
	case f.output != outputPackage && len(f.overwrite) > 0:
		return fmt.Errorf("spec.overwrite can be set only with spec.output package, not %s", f.output)
	case f.output != outputPackage && len(f.allowRemoval) > 0:
		return fmt.Errorf("spec.allowRemoval can be set only with spec.output package, not %s", f.output)
	case list.generator && f.path == "" && len(f.objects) == 0:
		return errors.New("a generator sees only its own functionConfig: set spec.objects or spec.path (exec form) to the specification, or use the function as a transformer")
	}
	return nil
}

// load loads the specification, and also returns its objects.
func (f *renderFleet) load(list *resourceList, o Options) (loaded *render.Specification, objects []*kyaml.RNode, err error) {
	manifests := ""
	if f.fluxManifests != "" {
		if manifests, err = inside(o.Root, f.fluxManifests, "spec.fluxManifests"); err != nil {
			return nil, nil, err
		}
	}
	if f.path != "" {
		dir, err := inside(o.Root, f.path, "spec.path")
		if err != nil {
			return nil, nil, err
		}
		if loaded, err = render.Load(dir, manifests); err != nil {
			return nil, nil, err
		}
		objects, err = documents(loaded.Files)
		return loaded, objects, err
	}
	nodes, objects, err := f.specification(list)
	if err != nil {
		return nil, nil, err
	}
	spec, err := specs.LoadNodes(nodes)
	if err != nil {
		return nil, nil, err
	}
	components, err := render.FluxComponents(spec, manifests)
	return &render.Specification{Spec: spec, Components: components}, objects, err
}

// specification returns the objects of the specification among the items or in spec.objects.
func (f *renderFleet) specification(list *resourceList) (nodes []*yaml.Node, objects []*kyaml.RNode, err error) {
	items := f.objects
	if len(items) == 0 {
		items = ownSpecification(list.items)
	}
	for _, item := range items {
		if isSpecification(item) {
			nodes = append(nodes, item.YNode())
			objects = append(objects, item)
		} else if len(f.objects) > 0 {
			return nil, nil, advice.Input(fmt.Errorf("functionConfig RenderFleet: spec.objects contains %s, which is not a kind of %s in a specification", nameOf(item), v1alpha1.APIVersion), "")
		}
	}
	if len(nodes) == 0 {
		return nil, nil, advice.Input(
			errors.New("the items contain no specification"),
			"list the files of fleet/ as resources, or set spec.objects or spec.path to the specification",
		)
	}
	return nodes, objects, nil
}

// ownSpecification removes the objects in nested kpt packages, which may have a specification of their own, unless only
// nested packages have a specification.
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

// isSpecification reports whether an object is part of a specification.
func isSpecification(n *kyaml.RNode) bool {
	return n.GetApiVersion() == v1alpha1.APIVersion && v1alpha1.IsKind(n.GetKind())
}

// documents returns the objects in the files of a specification.
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

// inside returns the path of a folder below the working directory. It returns an error if the path, or a
// symlink in it, leads outside.
func inside(root, dir, field string) (string, error) {
	bad := func(format string, args ...any) error {
		return advice.Input(fmt.Errorf("functionConfig: %s %q "+format, append([]any{field, dir}, args...)...), "")
	}
	if !filepath.IsLocal(filepath.FromSlash(dir)) {
		return "", bad("is outside of the working directory")
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return "", err
	}
	defer r.Close()
	info, err := r.Stat(filepath.FromSlash(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", bad("does not exist")
	case err != nil:
		return "", bad("cannot be read inside the working directory: %w", err)
	case !info.IsDir():
		return "", bad("is not a folder")
	}
	return filepath.Join(root, filepath.FromSlash(dir)), nil
}

// emitObjects adds the objects that Flux applies to one cluster.
func (f *renderFleet) emitObjects(ctx context.Context, list *resourceList, rendered *render.Rendered) error {
	cluster := rendered.Spec.Cluster(f.cluster)
	if cluster == nil {
		var names []string
		for _, c := range rendered.Spec.Clusters {
			names = append(names, c.Metadata.Name)
		}
		return advice.Input(fmt.Errorf("functionConfig RenderFleet: the specification has no cluster %q of spec.cluster: want %s", f.cluster, settings.Alternatives(names)), "")
	}
	objects, err := clusterObjects(ctx, rendered.Targets[0].Tree, cluster)
	if err != nil {
		return err
	}
	return list.emit(objects)
}

// emitFiles adds each file of each target as an object of kind File.
func (l *resourceList) emitFiles(rendered *render.Rendered, objects []*kyaml.RNode) error {
	specification, err := specificationYAML(objects)
	if err != nil {
		return err
	}
	carriers, err := render.Carriers(rendered, specification)
	if err != nil {
		return err
	}
	nodes := make([]*kyaml.RNode, len(carriers))
	for i, n := range carriers {
		nodes[i] = kyaml.NewRNode(n)
	}
	return l.emit(nodes)
}

// emit adds objects to the items. It keeps the item of a generator, its own configuration, because kustomize removes that
// item.
func (l *resourceList) emit(objects []*kyaml.RNode) error {
	there := map[string]bool{}
	for _, item := range l.items {
		there[idOf(item)] = true
	}
	for _, n := range objects {
		if there[idOf(n)] {
			return advice.Input(
				fmt.Errorf("%s is rendered, but is already among the items", nameOf(n)),
				"remove it from the kustomization's resources, or from the specification",
			)
		}
	}
	l.items = append(l.items, objects...)
	return nil
}

// idOf returns the string that identifies an object: group, kind, namespace and name.
func idOf(n *kyaml.RNode) string {
	group, _, found := strings.Cut(n.GetApiVersion(), "/")
	if !found {
		group = ""
	}
	return strings.Join([]string{group, n.GetKind(), n.GetNamespace(), n.GetName()}, "|")
}

// specificationYAML encodes the specification without the annotations that kustomize and kpt add. The result does not
// depend on the order of the items.
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

// isPassing reports whether an annotation is one that tools add to an object while they process it and remove afterwards.
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
