package repository

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A parsed text takes six times its bytes, and most of what stands in the folders of a project's
// examples and tests is never looked at again: only the text of such a file is kept, once it is
// known to be whole and to hold no objects, and it is parsed anew for the one who asks.

// nodeBytes is the memory that a node takes.
const nodeBytes = 160

// fold gives up the nodes of a file of so many, where few will ask for them and they take
// more than its text. What they are was judged before.
func (f *File) fold(text []byte, nodes int64, limits Limits) {
	if f.Err != nil || !IsExample(f.Path) || IsKustomization(f.Path) || nodes*nodeBytes <= int64(len(text)) {
		return
	}
	for _, d := range f.Documents {
		if len(d.Objects) > 0 || d.Encrypted || slices.ContainsFunc(keysOf(d.node), isMerge) {
			return
		}
	}
	for _, d := range f.Documents {
		for _, key := range keysOf(d.node) {
			if key = resolve(key); key.Kind == yaml.ScalarNode {
				d.keys = append(d.keys, key.Value)
			}
		}
		d.node = nil
	}
	f.folded = &folded{text: text, limits: limits}
}

// keysOf are the keys of a mapping, none of another node.
func keysOf(n *yaml.Node) []*yaml.Node {
	var keys []*yaml.Node
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		keys = append(keys, n.Content[i])
	}
	return keys
}

// unfold parses the text as it was parsed before.
func (f *File) unfold() {
	f.folded.once.Do(func() {
		nodes, _ := decode(f.folded.text, 0, f.folded.limits)
		nodes = slices.DeleteFunc(nodes, func(n indexed) bool { return n.node == nil })
		for i, d := range f.Documents {
			d.node = resolve(nodes[i].node)
		}
	})
}

// Root is the document's root, never a document or alias node.
func (d *Document) Root() *yaml.Node {
	if d.File.folded != nil {
		d.File.unfold()
	}
	return d.node
}

// lacks says that the document has nothing at a path, as far as that is known without its nodes.
func (d *Document) lacks(path []any) bool {
	if d.File.folded == nil || len(path) == 0 {
		return false
	}
	name, isField := path[0].(string)
	return isField && !slices.Contains(d.keys, name)
}

// Mentions says whether a word stands in a key or value of the document, or may stand there.
func (d *Document) Mentions(word string) bool {
	if f := d.File.folded; f != nil {
		return bytes.Contains(f.text, []byte(word))
	}
	return mentions(d.node, word)
}

func mentions(n *yaml.Node, word string) bool {
	return strings.Contains(n.Value, word) || slices.ContainsFunc(n.Content, func(child *yaml.Node) bool { return mentions(child, word) })
}
