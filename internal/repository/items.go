package repository

import (
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

// packagePathAnnotation is what kpt adds to the items of nested packages, whose
// path is relative to the nested package.
const packagePathAnnotation = "internal.config.kubernetes.io/package-path"

// FromItems loads the items of a KRM ResourceList. Their files are those that
// the path annotations name (both prefixes, kpt's package path in front); items
// without one each stand in a file named by kind and name. A ResourceList
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
	for i, item := range items {
		if item.IsNilOrEmpty() {
			continue
		}
		p, index, err := itemPath(item)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		all = append(all, placed{p, index, item.YNode()})
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.index, b.index))
	})
	r := &Repository{src: memory{}, limits: limits, paths: map[string]int64{}, charts: map[string]bool{}}
	var f *File
	for _, item := range all {
		if f == nil || f.Path != item.path {
			f = &File{Path: item.path, FromItems: true}
			r.files = append(r.files, f)
			r.paths[item.path] = 0
		}
		if err := addItem(f, item.node, item.index, limits); err != nil {
			return nil, err
		}
	}
	r.index()
	return r, nil
}

func addItem(f *File, n *yaml.Node, index int, limits Limits) error {
	if e := checkNode(n, limits); e != nil {
		e.Path, e.Line, e.Column = f.Path, 0, 0
		return e
	}
	doc := &Document{File: f, Index: index, Node: withoutLines(resolve(n), map[*yaml.Node]*yaml.Node{})}
	doc.Encrypted = isEncrypted(doc.Node)
	doc.Objects = objectsOf(doc)
	f.Documents = append(f.Documents, doc)
	return nil
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

// itemPath is the file that an item stands in, and its place there.
func itemPath(item *kyaml.RNode) (string, int, error) {
	annotations := map[string]string{}
	if meta := Lookup(item.YNode(), "metadata", "annotations"); meta != nil && meta.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(meta.Content); i += 2 {
			annotations[resolve(meta.Content[i]).Value] = resolve(meta.Content[i+1]).Value
		}
	}
	p := cmp.Or(annotations[kioutil.PathAnnotation], annotations[kioutil.LegacyPathAnnotation]) //nolint:staticcheck // kpt writes both
	if p == "" {
		p = defaultItemPath(item.YNode())
	} else if pkg := annotations[packagePathAnnotation]; pkg != "" {
		p = pkg + "/" + p
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
