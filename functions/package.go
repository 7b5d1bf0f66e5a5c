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
	"github.com/fleetwright/fleetwright/internal/manifest"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
)

// Annotations that place an item in a file. kpt reads either prefix, and refuses
// an item whose two prefixes disagree.
const (
	pathKey, legacyPathKey   = "internal.config.kubernetes.io/path", "config.kubernetes.io/path"
	indexKey, legacyIndexKey = "internal.config.kubernetes.io/index", "config.kubernetes.io/index"
)

// passing are the annotations that kpt takes away before it writes a file.
var passing = []string{
	pathKey, legacyPathKey, indexKey, legacyIndexKey, packagePath, kptResourceID, kioutil.SeqIndentAnnotation,
	"internal.config.kubernetes.io/annotations-migration-resource-id", "internal.config.kubernetes.io/id", "config.k8s.io/id",
}

// packageFiles are the files of a kpt package, made of its items. Paths are
// relative to the outermost package, whose root is the platform repository's.
type packageFiles struct {
	root     string            // the outermost package's path; may be empty
	packages map[string]string // folder of a package below root → its package path
	files    map[string][]*kyaml.RNode
	// placeless are items without a path.
	placeless []*kyaml.RNode
}

// readPackage groups the items by file. Items of nested packages have paths
// relative to these.
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
			return nil, fmt.Errorf("package path %q is not inside of %q", pkg, p.root)
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
		slices.SortStableFunc(items, func(a, b *kyaml.RNode) int { return cmp.Compare(indexOf(a), indexOf(b)) })
	}
	return p, nil
}

// within returns the path of a folder relative to another; "." for itself.
func within(root, dir string) (string, bool) {
	if dir == root {
		return ".", true
	}
	below, ok := strings.CutPrefix(dir, strings.TrimSuffix(root, "/")+"/")
	return below, ok
}

// fileOf is the file that an item stands in, from the root; empty for none.
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
		return "", fmt.Errorf("its path %q leads out of the package", file)
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

// contents are the bytes that kpt would write for each file.
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

// encodeFile writes the items of a file as kpt does.
func encodeFile(items []*kyaml.RNode) ([]byte, error) {
	var b bytes.Buffer
	// The path stays until the end: by it the writer knows a JSON file.
	err := kio.ByteWriter{Writer: &b, ClearAnnotations: passing}.Write(items)
	return b.Bytes(), err
}

// parseFile reads the documents of a rendered file.
func parseFile(content []byte) ([]*kyaml.RNode, error) {
	return (&kio.ByteReader{Reader: bytes.NewReader(content), OmitReaderAnnotations: true, DisableUnwrapping: true}).Read()
}

// isKRM says whether a rendered file is one that kpt reads as items: YAML whose
// documents are all objects. What isn't stands in .krmignore.
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

// updatePackage brings the items to what the specification says: the files that
// fleetwright owns are added, changed and dropped, all others are kept as they
// are.
func (f *renderFleet) updatePackage(list *resourceList, source *render.Source) error {
	p, err := readPackage(list)
	if err != nil {
		return &render.BadInput{Err: err}
	}
	current, err := p.contents()
	if err != nil {
		return err
	}
	inv, err := tree.ReadInventory(current)
	if err != nil {
		return err
	}
	target, err := source.Platform(current)
	if err != nil {
		return err
	}
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
	plan, err := source.Plan(target, current, visible, f.overwrite)
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

// splitInventory parts the files that items can show from those that kpt never
// gives to a function, such as .sops.yaml.
func splitInventory(inv *tree.Inventory, current tree.Memory, krm *tree.Tree) (visible *tree.Inventory, unseen []tree.Entry) {
	visible = &tree.Inventory{Target: inv.Target, Release: inv.Release, Tenants: inv.Tenants}
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

// apply does what a plan says to the items. unseen are the inventory's entries
// that the plan knows nothing of.
func (l *resourceList) apply(p *packageFiles, plan *tree.Plan, unseen []tree.Entry, before *tree.Inventory) error {
	next := &tree.Inventory{Target: plan.Inventory.Target, Release: plan.Inventory.Release, Files: slices.Concat(plan.Inventory.Files, unseen), Tenants: plan.Inventory.Tenants}
	slices.SortFunc(next.Files, func(a, b tree.Entry) int { return strings.Compare(a.Path, b.Path) })
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

// replace puts the new items of files in the place of their old ones, and those
// of new files at the end.
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

// place makes the items of a file.
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

// packageOf is the innermost package that a file lies in, and its path there.
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

// noteHidden tells of rendered files that a function cannot write: kpt gives
// objects to functions, and takes nothing else from them.
func (l *resourceList) noteHidden(hidden *tree.Tree, inv *tree.Inventory) {
	var stale []string
	for f := range hidden.All() {
		e, known := inv.Entry(f.Path)
		if !known || f.Mode == tree.Managed && e.Digest != tree.Digest(f.Content) {
			stale = append(stale, f.Path)
		}
	}
	if len(stale) > 0 {
		l.note(framework.Info, "", "files that are no KRM objects are written by \"fleetwright render\" only: "+strings.Join(stale, ", "))
	}
}

// repositoryItems are copies of the items whose paths are relative to the
// outermost package. Those of kustomize are what a build made, so each is the
// resource of one kustomization.
func (l *resourceList) repositoryItems() ([]*kyaml.RNode, error) {
	p, err := readPackage(l)
	if err != nil {
		return nil, &render.BadInput{Err: err}
	}
	out := make([]*kyaml.RNode, len(l.items))
	var built []string
	for i, item := range l.items {
		file, err := p.fileOf(item)
		if err != nil {
			return nil, &render.BadInput{Err: err}
		}
		if l.kustomize {
			file = fileFor(item)
			built = append(built, file)
		}
		if out[i], err = moved(item, file); err != nil {
			return nil, err
		}
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
	whole, err := moved(kyaml.NewRNode(listing), "kustomization.yaml")
	return append(out, whole), err
}

// moved is a copy of an item that stands in another file.
func moved(item *kyaml.RNode, file string) (*kyaml.RNode, error) {
	out := item.Copy()
	if file == "" {
		return out, nil
	}
	for _, key := range []string{pathKey, legacyPathKey} {
		if err := out.PipeE(kyaml.SetAnnotation(key, file)); err != nil {
			return nil, err
		}
	}
	return out, out.PipeE(kyaml.ClearAnnotation(packagePath))
}

// fileFor is a file for an item that has none.
func fileFor(item *kyaml.RNode) string {
	plain := strings.NewReplacer("/", "_", "\\", "_", "..", "_")
	name := plain.Replace(strings.ToLower(item.GetKind()) + "_" + cmp.Or(item.GetName(), "unnamed") + ".yaml")
	if ns := item.GetNamespace(); ns != "" {
		return plain.Replace(ns) + "/" + name
	}
	return name
}
