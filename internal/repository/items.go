package repository

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/kyaml/kio/kioutil"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// packagePathAnnotation is the folder of an item's package, as kpt names it: an
// absolute path on its machine. The item's path is relative to it.
const packagePathAnnotation = "internal.config.kubernetes.io/package-path"

// FromItems loads the items of a KRM ResourceList. Their files are those that
// the path annotations name (both prefixes), those of a nested package in that
// package's folder; items without one each stand in a file named by kind and
// name. A ResourceList
// carries no lines of the files, so that every position is 0. The items are not
// changed.
func FromItems(items []*kyaml.RNode, opts Options) (*Repository, error) {
	limits := opts.Limits.withDefaults()
	type placed struct {
		path  string
		index int
		node  *yaml.Node
	}
	all := make([]placed, 0, len(items))
	var total expanded
	for i, item := range items {
		if item.IsNilOrEmpty() {
			continue
		}
		added, e := checkNode(item.YNode(), limits)
		if e != nil {
			return nil, fmt.Errorf("item %d: %s", i, e.Message)
		}
		total.add(added)
		if e := total.exceeds(limits); e != nil {
			return nil, fmt.Errorf("item %d: %s", i, e.Message)
		}
	}
	root := rootPackage(items)
	for i, item := range items {
		if item.IsNilOrEmpty() {
			continue
		}
		p, index, err := itemPath(item, root)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		all = append(all, placed{p, index, item.YNode()})
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.index, b.index))
	})
	r := &Repository{partial: true, limits: limits, paths: map[string]int64{}, charts: map[string]bool{}}
	var f *File
	for _, item := range all {
		if f == nil || f.Path != item.path {
			f = &File{Path: item.path, FromItems: true}
			r.files = append(r.files, f)
			r.paths[item.path] = 0
		}
		addItem(f, item.node, item.index)
	}
	if err := r.render(); err != nil {
		return nil, err
	}
	r.index()
	return r, nil
}

// render makes the texts of the files that the items stand in, for ReadFile: what
// a build reads. It is not what stands in the user's files, and has no comments.
func (r *Repository) render() error {
	texts := memory{}
	for _, f := range r.files {
		var text bytes.Buffer
		encoder := yaml.NewEncoder(&text)
		for _, d := range f.Documents {
			if err := encoder.Encode(d.node); err != nil {
				return fmt.Errorf("%s: %w", f.Path, err)
			}
		}
		if err := encoder.Close(); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		texts[f.Path] = text.Bytes()
		f.Size = int64(text.Len())
		r.paths[f.Path] = f.Size
	}
	r.src = texts
	return nil
}

// Partial says that the repository came as items of a ResourceList: files that
// hold no objects are not among them.
func (r *Repository) Partial() bool { return r.partial }

func addItem(f *File, n *yaml.Node, index int) {
	root := withoutLines(resolve(n), map[*yaml.Node]*yaml.Node{})
	f.Documents = append(f.Documents, newDocument(f, index, root))
}

// withoutLines copies a node without positions, aliases kept as aliases.
func withoutLines(n *yaml.Node, copied map[*yaml.Node]*yaml.Node) *yaml.Node {
	if n == nil {
		return nil
	}
	if c, done := copied[n]; done {
		return c
	}
	c := *n
	c.Line, c.Column = 0, 0
	copied[n] = &c
	c.Alias = withoutLines(n.Alias, copied)
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = withoutLines(child, copied)
	}
	return &c
}

// rootPackage is the folder that all packages of the items are in.
func rootPackage(items []*kyaml.RNode) string {
	var root []string
	first := true
	for _, item := range items {
		pkg := annotationsOf(item)[packagePathAnnotation]
		if pkg == "" {
			continue
		}
		elements := strings.Split(pkg, "/")
		if first {
			root, first = elements, false
			continue
		}
		same := 0
		for same < min(len(root), len(elements)) && root[same] == elements[same] {
			same++
		}
		root = root[:same]
	}
	return strings.Join(root, "/")
}

func annotationsOf(item *kyaml.RNode) map[string]string {
	annotations := map[string]string{}
	if item.IsNilOrEmpty() {
		return annotations
	}
	if meta := Lookup(item.YNode(), "metadata", "annotations"); meta != nil && meta.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(meta.Content); i += 2 {
			annotations[resolve(meta.Content[i]).Value] = resolve(meta.Content[i+1]).Value
		}
	}
	return annotations
}

// itemPath is the file that an item stands in, and its place there. Root is the
// folder of the outermost package.
func itemPath(item *kyaml.RNode, root string) (string, int, error) {
	annotations := annotationsOf(item)
	p := cmp.Or(annotations[kioutil.PathAnnotation], annotations[kioutil.LegacyPathAnnotation]) //nolint:staticcheck // kpt writes both
	if p == "" {
		p = defaultItemPath(item.YNode())
	} else if pkg := annotations[packagePathAnnotation]; pkg != "" {
		p = strings.TrimPrefix(strings.TrimPrefix(pkg, root)+"/"+p, "/")
	}
	clean := path.Clean(p)
	if !fs.ValidPath(clean) || strings.Contains(p, `\`) {
		return "", 0, fmt.Errorf("the path annotation %q leads out of the package", p)
	}
	index := cmp.Or(annotations[kioutil.IndexAnnotation], annotations[kioutil.LegacyIndexAnnotation]) //nolint:staticcheck // kpt writes both
	n, err := strconv.Atoi(cmp.Or(index, "0"))
	if err != nil {
		return "", 0, fmt.Errorf("the index annotation %q is not a number", index)
	}
	return clean, n, nil
}

// defaultItemPath is where kpt would write an item without a path.
func defaultItemPath(n *yaml.Node) string {
	text := func(path ...any) string {
		if v := Lookup(n, path...); v != nil && v.Kind == yaml.ScalarNode {
			return strings.NewReplacer("/", "_", `\`, "_", "..", "_").Replace(v.Value)
		}
		return ""
	}
	name := strings.ToLower(cmp.Or(text("kind"), "object")) + "_" + cmp.Or(text("metadata", "name"), "unnamed") + ".yaml"
	if ns := text("metadata", "namespace"); ns != "" {
		return ns + "/" + name
	}
	return name
}
