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

	"github.com/fleetwright/fleetwright/internal/sorting"
)

// packagePathAnnotation is the annotation in which kpt stores the folder of an item's package: an
// absolute path on the machine. The item's path is relative to it.
const packagePathAnnotation = "internal.config.kubernetes.io/package-path"

// FromItems loads the items of a KRM ResourceList. The path annotations (with both prefixes) name their
// files; items of a nested package are in that package's folder; an item without the annotation gets a
// file of its own, named by kind and name. A ResourceList contains no line numbers, so that every
// position is 0. FromItems does not change the items.
func FromItems(items []*kyaml.RNode, opts Options) (*Repository, error) {
	all := make([]Item, len(items))
	for i, item := range items {
		all[i].Node = item
	}
	return FromPlaced(all, opts)
}

// Item is an item of a ResourceList.
type Item struct {
	Node *kyaml.RNode
	// Path is the file of the item, if it differs from the annotation.
	Path string
}

// FromPlaced is FromItems for items whose files may differ from their annotations.
func FromPlaced(items []Item, opts Options) (*Repository, error) {
	most := opts.Limits.withDefaults()
	type placed struct {
		path  string
		index int
		node  *yaml.Node
	}
	nodes := make([]*kyaml.RNode, len(items))
	for i, item := range items {
		nodes[i] = item.Node
	}
	if i, err := checkItems(nodes, most); err != nil {
		return nil, fmt.Errorf("item %d: %s", i, err.Message)
	}
	all := make([]placed, 0, len(items))
	root := rootPackage(items)
	for i, item := range items {
		if item.Node.IsNilOrEmpty() {
			continue
		}
		p, index, err := itemPath(item, root)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		all = append(all, placed{p, index, item.Node.YNode()})
	}
	sorting.StableFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.index, b.index))
	})
	r := &Repository{partial: true, limits: most, paths: map[string]int64{}, charts: map[string]bool{}}
	texts := memory{}
	for len(all) > 0 {
		f := &File{Path: all[0].path, FromItems: true}
		var text bytes.Buffer
		encoder := yaml.NewEncoder(&text)
		for ; len(all) > 0 && all[0].path == f.Path; all = all[1:] {
			item := all[0]
			node := unplaced(withoutLines(resolve(item.node), map[*yaml.Node]*yaml.Node{}))
			if err := encoder.Encode(node); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Path, err)
			}
			f.Documents = append(f.Documents, newDocument(f, item.index, node))
		}
		if err := encoder.Close(); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		// A build reads this string. It differs from the user's file, and has no comments.
		texts[f.Path], f.Size, f.Apart = text.Bytes(), int64(text.Len()), apart(text.Bytes())
		r.files, r.paths[f.Path] = append(r.files, f), f.Size
	}
	r.src = texts
	r.index()
	return r, nil
}

// CheckItems returns the index of the first item whose aliases contain themselves, or that exceeds a limit of a repository's
// documents, alone or together with those before it, and the error. No code may read such an item.
func CheckItems(items []*kyaml.RNode) (int, *Error) {
	return checkItems(items, Limits{}.withDefaults())
}

func checkItems(items []*kyaml.RNode, most Limits) (int, *Error) {
	var total expanded
	for i, item := range items {
		if item == nil || item.YNode() == nil {
			continue
		}
		added, err := checkNode(item.YNode(), most)
		if total.add(added); err == nil {
			err = total.exceeds(most)
		}
		if err != nil {
			return i, err
		}
	}
	return 0, nil
}

// placing are the annotations for the place of an item; they are not in its file.
var placing = map[string]bool{
	kioutil.PathAnnotation: true, kioutil.LegacyPathAnnotation: true, //nolint:staticcheck // kpt writes both
	kioutil.IndexAnnotation: true, kioutil.LegacyIndexAnnotation: true, //nolint:staticcheck // as the path
	packagePathAnnotation: true, kioutil.SeqIndentAnnotation: true,
}

// unplaced returns a copy of an item without the annotations for its place. It also removes a map that is then empty.
func unplaced(root *yaml.Node) *yaml.Node {
	metadata := Lookup(root, "metadata")
	annotations := Lookup(root, "metadata", "annotations")
	if metadata == nil || metadata.Kind != yaml.MappingNode || annotations == nil || annotations.Kind != yaml.MappingNode || annotations.Anchor != "" {
		return root
	}
	kept := make([]*yaml.Node, 0, len(annotations.Content))
	for i := 0; i+1 < len(annotations.Content); i += 2 {
		if !placing[annotations.Content[i].Value] {
			kept = append(kept, annotations.Content[i:i+2]...)
		}
	}
	if changed := len(kept) < len(annotations.Content); !changed {
		return root
	}
	if annotations.Content = kept; len(kept) > 0 {
		return root
	}
	for i := 0; i+1 < len(metadata.Content); i += 2 {
		if metadata.Content[i+1] == annotations {
			metadata.Content = slices.Delete(metadata.Content, i, i+2)
			break
		}
	}
	return root
}

// Partial reports whether the repository was loaded from items of a ResourceList: files without
// objects are not among them.
func (r *Repository) Partial() bool { return r.partial }

// withoutLines returns a copy of a node without positions; aliases stay aliases.
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

// rootPackage returns the folder that contains all packages of the items.
func rootPackage(items []Item) string {
	var root []string
	first := true
	for _, item := range items {
		pkg := annotationsOf(item.Node)[packagePathAnnotation]
		if item.Path != "" || pkg == "" {
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

// itemPath returns the file of an item, and its index there. root is the folder of the outermost
// package.
func itemPath(item Item, root string) (string, int, error) {
	annotations := annotationsOf(item.Node)
	p := cmp.Or(item.Path, annotations[kioutil.PathAnnotation], annotations[kioutil.LegacyPathAnnotation]) //nolint:staticcheck // kpt writes both
	if p == "" {
		p = defaultItemPath(item.Node.YNode())
	} else if pkg := annotations[packagePathAnnotation]; item.Path == "" && pkg != "" {
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

// defaultItemPath returns the path at which kpt would write an item without a path.
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
