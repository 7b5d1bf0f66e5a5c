package functions

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	kustypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/fn/framework"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/kio/kioutil"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/manifest"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
)

// Annotations with the file of an item. kpt reads both prefixes, and rejects an item whose annotations
// disagree.
const (
	pathKey, legacyPathKey   = "internal.config.kubernetes.io/path", "config.kubernetes.io/path"
	indexKey, legacyIndexKey = "internal.config.kubernetes.io/index", "config.kubernetes.io/index"
)

// passing are the annotations that kpt removes before it writes a file.
var passing = []string{
	pathKey, legacyPathKey, indexKey, legacyIndexKey, packagePath, kptResourceID, kioutil.SeqIndentAnnotation,
	"internal.config.kubernetes.io/annotations-migration-resource-id", "internal.config.kubernetes.io/id", "config.k8s.io/id",
}

// packageFiles are the files of a kpt package, from its items. Paths are relative to the outermost package, whose root is
// the root of the platform repository.
type packageFiles struct {
	root     string            // path of the outermost package; may be empty
	packages map[string]string // folder of a package below root → its package path
	files    map[string][]*kyaml.RNode
	// placeless are the items without a path.
	placeless []*kyaml.RNode
}

// readPackage groups the items by file. The paths of items in nested packages are relative to the nested
// package.
func readPackage(list *resourceList) (*packageFiles, error) {
	p := &packageFiles{packages: map[string]string{}, files: map[string][]*kyaml.RNode{}}
	roots := map[string]bool{}
	for _, item := range list.items {
		if pkg := annotationsOf(item)[packagePath]; pkg != "" {
			roots[path.Clean(pkg)] = true
		}
	}
	p.root = annotationsOf(list.config)[packagePath]
	for pkg := range roots {
		if p.root == "" || len(pkg) < len(p.root) {
			p.root = pkg
		}
	}
	for pkg := range roots {
		below, ok := within(path.Clean(p.root), pkg)
		if !ok {
			return nil, fmt.Errorf("package path %q is not inside %q", pkg, p.root)
		}
		p.packages[below] = pkg
	}
	for _, item := range list.items {
		file, err := p.fileOf(item)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", nameOf(item), err)
		}
		if file == "" {
			p.placeless = append(p.placeless, item)
			continue
		}
		p.files[file] = append(p.files[file], item)
	}
	for _, items := range p.files {
		sorting.StableFunc(items, func(a, b *kyaml.RNode) int { return cmp.Compare(indexOf(a), indexOf(b)) })
	}
	return p, nil
}

// within returns the path of a folder relative to another one, "." for the folder itself. It returns false if
// the folder is not inside.
func within(root, dir string) (string, bool) {
	if dir == root {
		return ".", true
	}
	below, ok := strings.CutPrefix(dir, strings.TrimSuffix(root, "/")+"/")
	return below, ok
}

// fileOf returns the file of an item, relative to the root; "" for an item without a file.
func (p *packageFiles) fileOf(item *kyaml.RNode) (string, error) {
	a := annotationsOf(item)
	file := cmp.Or(a[pathKey], a[legacyPathKey])
	if file == "" {
		return "", nil
	}
	if pkg := a[packagePath]; pkg != "" {
		below, _ := within(path.Clean(p.root), path.Clean(pkg))
		file = path.Join(below, file)
	}
	file = path.Clean(file)
	if path.IsAbs(file) || file == ".." || strings.HasPrefix(file, "../") {
		return "", fmt.Errorf("its path %q is outside of the package", file)
	}
	return file, nil
}

func indexOf(item *kyaml.RNode) int {
	a := annotationsOf(item)
	n, err := strconv.Atoi(cmp.Or(a[indexKey], a[legacyIndexKey]))
	if err != nil {
		return 0
	}
	return n
}

// contents returns each file as kpt would write it.
func (p *packageFiles) contents() (tree.Memory, error) {
	out := tree.Memory{}
	for file, items := range p.files {
		content, err := encodeFile(items)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out[file] = content
	}
	return out, nil
}

func encodeFile(items []*kyaml.RNode) ([]byte, error) {
	var b bytes.Buffer
	// The path annotation is removed last, because the writer recognizes a JSON file by it.
	err := kio.ByteWriter{Writer: &b, ClearAnnotations: passing}.Write(items)
	return b.Bytes(), err
}

// parseFile parses the documents of a rendered file.
func parseFile(content []byte) ([]*kyaml.RNode, error) {
	return (&kio.ByteReader{Reader: bytes.NewReader(content), OmitReaderAnnotations: true, DisableUnwrapping: true}).Read()
}

// isKRM reports whether kpt reads a rendered file as items: it is YAML and all its documents are objects. Other
// files are in .krmignore.
func isKRM(f tree.File) bool {
	base := path.Base(f.Path)
	if ext := path.Ext(base); ext != ".yaml" && ext != ".yml" && base != "Kptfile" {
		return false
	}
	nodes, err := parseFile(f.Content)
	if err != nil {
		return false
	}
	return len(nodes) > 0 && !slices.ContainsFunc(nodes, func(n *kyaml.RNode) bool {
		return n.YNode().Kind != kyaml.MappingNode || n.GetApiVersion() == "" || n.GetKind() == ""
	})
}

// updatePackage updates the items to the rendered files: it adds, changes and removes files that Fleetwright owns, and
// keeps all other files.
func (f *renderFleet) updatePackage(list *resourceList, loaded *render.Specification) error {
	p, err := readPackage(list)
	if err != nil {
		return advice.Input(err, "")
	}
	current, err := p.contents()
	if err != nil {
		return err
	}
	inv, err := tree.ReadInventory(current)
	if err != nil {
		return err
	}
	from := []tree.Reader{current}
	rendered, err := render.Generate(loaded, render.GenerateOptions{Platform: from, Secrets: from, PlatformOnly: true})
	if err != nil {
		return err
	}
	defer list.noteAbsent(rendered)
	target := rendered.Targets[0]
	krm, hidden := &tree.Tree{}, &tree.Tree{}
	for file := range target.Tree.All() {
		to := hidden
		if isKRM(file) {
			to = krm
		}
		if err := to.Add(file); err != nil {
			return err
		}
	}
	visible, unseen := splitInventory(inv, current, krm)
	target.Tree = krm
	plan, err := render.Compare(rendered, target, current, visible, f.overwrite, f.allowRemoval)
	if err != nil {
		return err
	}
	if err := list.apply(p, plan, unseen, inv); err != nil {
		return err
	}
	for _, c := range plan.Conflicts {
		c.Path = strings.TrimPrefix(c.Path, "./")
		list.note(framework.Warning, c.Path, c.Message()+"\nhint: "+strings.ReplaceAll(c.Hint(), "--overwrite "+c.Path, "spec.overwrite: ["+c.Path+"]"))
	}
	for _, l := range plan.Left {
		list.note(framework.Warning, l.Path, l.Message()+"\nhint: "+l.Hint())
	}
	list.noteHidden(hidden, inv)
	return nil
}

// splitInventory splits the inventory into files that kpt passes to a function as items, and files that it never passes,
// such as .sops.yaml.
func splitInventory(inv *tree.Inventory, current tree.Memory, krm *tree.Tree) (visible *tree.Inventory, unseen []tree.Entry) {
	visible = &tree.Inventory{Target: inv.Target, Release: inv.Release, Tenants: inv.Tenants, Guards: inv.Guards}
	for _, e := range inv.Files {
		_, there := current[e.Path]
		_, rendered := krm.Get(e.Path)
		if there || rendered {
			visible.Files = append(visible.Files, e)
		} else {
			unseen = append(unseen, e)
		}
	}
	return visible, unseen
}

// apply applies a plan to the items. unseen are the entries of the inventory that are not in the plan.
func (l *resourceList) apply(p *packageFiles, plan *tree.Plan, unseen []tree.Entry, before *tree.Inventory) error {
	next := *plan.Inventory
	next.Files = slices.Concat(plan.Inventory.Files, unseen)
	sorting.Func(next.Files, func(a, b tree.Entry) int { return strings.Compare(a.Path, b.Path) })
	replaced := map[string][]*kyaml.RNode{}
	put := func(file string, content []byte) (err error) {
		replaced[file], err = p.place(file, content)
		return err
	}
	for step := range plan.Changes() {
		switch {
		case step.Path == tree.InventoryPath:
		case step.Action == tree.Delete:
			replaced[step.Path] = nil
		default:
			if err := put(step.Path, step.New); err != nil {
				return fmt.Errorf("%s: %w", step.Path, err)
			}
		}
	}
	if _, there := p.files[tree.InventoryPath]; !there || !next.Equal(before) {
		if err := put(tree.InventoryPath, next.Encode()); err != nil {
			return fmt.Errorf("%s: %w", tree.InventoryPath, err)
		}
	}
	l.items = p.replace(l.items, replaced)
	return nil
}

// replace replaces the old items of each file by its new ones. Items of new files are added at the end.
func (p *packageFiles) replace(items []*kyaml.RNode, replaced map[string][]*kyaml.RNode) []*kyaml.RNode {
	fileOf := map[*kyaml.RNode]string{}
	for file, list := range p.files {
		for _, item := range list {
			fileOf[item] = file
		}
	}
	var out []*kyaml.RNode
	done := map[string]bool{}
	for _, item := range items {
		file := fileOf[item]
		list, changes := replaced[file]
		switch {
		case file == "" || !changes:
			out = append(out, item)
		case !done[file]:
			out = append(out, list...)
			done[file] = true
		}
	}
	var added []string
	for file := range replaced {
		if !done[file] {
			added = append(added, file)
		}
	}
	slices.Sort(added)
	for _, file := range added {
		out = append(out, replaced[file]...)
	}
	return out
}

// place returns the content of a file as items, with annotations of their file and position.
func (p *packageFiles) place(file string, content []byte) ([]*kyaml.RNode, error) {
	items, err := parseFile(content)
	if err != nil {
		return nil, err
	}
	pkg, below := p.packageOf(file)
	for i, item := range items {
		index := strconv.Itoa(i)
		annotations := [][2]string{
			{legacyIndexKey, index}, {legacyPathKey, below},
			{indexKey, index}, {pathKey, below},
			{kioutil.SeqIndentAnnotation, kyaml.DeriveSeqIndentStyle(string(content))},
			{packagePath, pkg},
		}
		for _, a := range annotations {
			if a[1] == "" {
				continue
			}
			if err := item.PipeE(kyaml.SetAnnotation(a[0], a[1])); err != nil {
				return nil, err
			}
		}
	}
	return items, nil
}

// packageOf returns the innermost package that contains a file, and the path within that package.
func (p *packageFiles) packageOf(file string) (pkg, below string) {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if pkg, ok := p.packages[dir]; ok {
			below, _ := within(dir, file)
			if dir == "." {
				below = file
			}
			return pkg, below
		}
		if dir == "." || dir == "/" {
			return "", file
		}
	}
}

// noteHidden adds a result about rendered files that a function cannot write, because kpt exchanges only
// objects with functions.
func (l *resourceList) noteHidden(hidden *tree.Tree, inv *tree.Inventory) {
	var stale []string
	for f := range hidden.All() {
		e, known := inv.Entry(f.Path)
		if !known || f.Mode == tree.Managed && e.Digest != tree.Digest(f.Content) {
			stale = append(stale, f.Path)
		}
	}
	if len(stale) > 0 {
		l.note(framework.Info, "", "only \"fleetwright render\" writes files that are not KRM objects: "+strings.Join(stale, ", "))
	}
}

// repositoryItems returns the items with paths relative to the outermost package. The items from kustomize are the output
// of one build, so each counts as a resource of one kustomization.
func (l *resourceList) repositoryItems() ([]repository.Item, error) {
	p, err := readPackage(l)
	if err != nil {
		return nil, advice.Input(err, "")
	}
	out := make([]repository.Item, len(l.items))
	var built []string
	for i, item := range l.items {
		file, err := p.fileOf(item)
		if err != nil {
			return nil, advice.Input(err, "")
		}
		if l.kustomize {
			file = fileFor(item)
			built = append(built, file)
		}
		out[i] = repository.Item{Node: item, Path: file}
	}
	if !l.kustomize {
		return out, nil
	}
	slices.Sort(built)
	listing, err := manifest.Node(emit.Kustomization{
		APIVersion: kustypes.KustomizationVersion, Kind: kustypes.KustomizationKind, Resources: slices.Compact(built),
	})
	if err != nil {
		return nil, err
	}
	return append(out, repository.Item{Node: kyaml.NewRNode(listing), Path: "kustomization.yaml"}), nil
}

// fileFor returns a file path for an item without one.
func fileFor(item *kyaml.RNode) string {
	plain := strings.NewReplacer("/", "_", "\\", "_", "..", "_")
	name := plain.Replace(strings.ToLower(item.GetKind()) + "_" + cmp.Or(item.GetName(), "unnamed") + ".yaml")
	if ns := item.GetNamespace(); ns != "" {
		return plain.Replace(ns) + "/" + name
	}
	return name
}
