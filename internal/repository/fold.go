package repository

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A parsed file takes six times its size, and most files in the folders of examples and
// tests are never read again. For such a file, only its bytes are kept once they are known
// to be valid and to contain no objects. They are parsed again when they are needed.

// nodeBytes is the memory that a node takes, in bytes.
const nodeBytes = 160

// fold drops the nodes of a file if they are rarely needed and take more memory than the file's
// bytes. The file has already been checked.
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

// keysOf returns the keys of a mapping, none for other nodes.
func keysOf(n *yaml.Node) []*yaml.Node {
	var keys []*yaml.Node
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		keys = append(keys, n.Content[i])
	}
	return keys
}

// unfold parses the bytes again, as they were parsed before.
func (f *File) unfold() {
	f.folded.once.Do(func() {
		nodes, _ := decode(f.folded.text, 0, f.folded.limits)
		nodes = slices.DeleteFunc(nodes, func(n indexed) bool { return n.node == nil })
		for i, d := range f.Documents {
			d.node = resolve(nodes[i].node)
		}
	})
}

// Root returns the document's root, never a document or alias node.
func (d *Document) Root() *yaml.Node {
	if d.File.folded != nil {
		d.File.unfold()
	}
	return d.node
}

// lacks reports whether the document certainly has no value at a path, as far as that is known without its nodes.
func (d *Document) lacks(path []any) bool {
	if d.File.folded == nil || len(path) == 0 {
		return false
	}
	name, isField := path[0].(string)
	return isField && !slices.Contains(d.keys, name)
}

// Mentions reports whether a key or value of the document contains a word, or may contain it.
func (d *Document) Mentions(word string) bool {
	if f := d.File.folded; f != nil {
		return bytes.Contains(f.text, []byte(word))
	}
	return mentions(d.node, word)
}

func mentions(n *yaml.Node, word string) bool {
	return strings.Contains(n.Value, word) || slices.ContainsFunc(n.Content, func(child *yaml.Node) bool { return mentions(child, word) })
}
