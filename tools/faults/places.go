//go:build tools

package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// place is a document in a file that clusters apply.
type place struct {
	file string // relative to the checkout, with forward slashes
	line int    // of the document
	kind string // of its object; "kustomization" for one of kustomize
	// builds are the folders of the Kustomizations that read the file.
	builds map[string]bool
	text   string // of the file
	root   *yaml.Node
	// substituted reports whether Flux substitutes variables in the document.
	substituted bool
}

// applier collects places.
type applier struct {
	dir    string
	places map[[2]any]*place
}

// add adds a document that the Kustomization of a folder reads. It skips documents that cannot be edited line
// by line.
func (a *applier) add(file string, index int, kind, build string, substituted bool) {
	key := [2]any{file, index}
	if p := a.places[key]; p != nil {
		p.builds[build] = true
		return
	}
	text, err := os.ReadFile(filepath.Join(a.dir, filepath.FromSlash(file)))
	if err != nil || bytes.ContainsAny(text, "\t\r") || bytes.Contains(text, []byte("\nsops:")) {
		return
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for i := 0; ; i++ {
		var node yaml.Node
		if decoder.Decode(&node) != nil {
			return
		}
		if i == index && len(node.Content) == 1 && node.Content[0].Kind == yaml.MappingNode {
			a.places[key] = &place{file: file, line: node.Content[0].Line, kind: kind, builds: map[string]bool{build: true}, text: string(text), root: node.Content[0], substituted: substituted}
			return
		}
	}
}

func (a *applier) sorted() []*place {
	return slices.SortedFunc(maps.Values(a.places), func(x, y *place) int {
		if c := strings.Compare(x.file, y.file); c != 0 {
			return c
		}
		return x.line - y.line
	})
}

// field returns the value at a path below the root of the document. A number in the path is the index of a list
// item.
func (p *place) field(path ...string) *yaml.Node { return below(p.root, path...) }

func below(node *yaml.Node, path ...string) *yaml.Node {
	for _, step := range path {
		if node == nil {
			return nil
		}
		next := (*yaml.Node)(nil)
		switch node.Kind {
		case yaml.MappingNode:
			for i := 0; i < len(node.Content); i += 2 {
				if node.Content[i].Value == step {
					next = node.Content[i+1]
				}
			}
		case yaml.SequenceNode:
			if step == "0" && len(node.Content) > 0 {
				next = node.Content[0]
			}
		}
		node = next
	}
	return node
}

// replace replaces a scalar that is on one line.
func (p *place) replace(node *yaml.Node, with string) bool {
	if node == nil || node.Kind != yaml.ScalarNode || node.Anchor != "" || node.Alias != nil || node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return false
	}
	lines := strings.Split(p.text, "\n")
	line, at := lines[node.Line-1], node.Column-1
	raw := node.Value
	switch {
	case node.Style&yaml.DoubleQuotedStyle != 0:
		raw = `"` + raw + `"`
	case node.Style&yaml.SingleQuotedStyle != 0:
		raw = "'" + raw + "'"
	}
	if at > len(line) || !strings.HasPrefix(line[at:], raw) || raw == "" {
		return false
	}
	if raw[0] == '"' || raw[0] == '\'' {
		with = `"` + with + `"`
	}
	lines[node.Line-1] = line[:at] + with + line[at+len(raw):]
	p.text = strings.Join(lines, "\n")
	return true
}

// typo removes a letter in the middle of a name or path. If a generator's key comes before the path, it does
// not change the key.
func (p *place) typo(node *yaml.Node) bool {
	if node == nil || len(node.Value) < 4 || strings.ContainsAny(node.Value, "${}\"\\") {
		return false
	}
	begin := strings.IndexByte(node.Value, '=') + 1
	at := (begin + len(node.Value)) / 2
	for at > begin+1 && !letters(node.Value[at]) {
		at--
	}
	return letters(node.Value[at]) && p.replace(node, node.Value[:at]+node.Value[at+1:])
}

func letters(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// key returns the node of a key in a mapping.
func key(mapping *yaml.Node, name string) *yaml.Node {
	if mapping == nil || mapping.Kind != yaml.MappingNode || mapping.Style&yaml.FlowStyle != 0 {
		return nil
	}
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i]
		}
	}
	return nil
}

// misspell removes a letter from a key.
func (p *place) misspell(mapping *yaml.Node, name string) bool {
	return p.typo(key(mapping, name))
}

// remove removes a field or an item, with all its lines. It must begin at the beginning of its line.
func (p *place) remove(node *yaml.Node) bool {
	if node == nil {
		return false
	}
	lines := strings.Split(p.text, "\n")
	indent := len(lines[node.Line-1]) - len(strings.TrimLeft(lines[node.Line-1], " "))
	item := strings.HasPrefix(strings.TrimLeft(lines[node.Line-1], " "), "- ")
	if !item && indent != node.Column-1 || item && node.Column-1 != indent+2 {
		return false
	}
	end := node.Line
	for ; end < len(lines); end++ {
		trimmed := strings.TrimLeft(lines[end], " ")
		deeper := len(lines[end]) - len(trimmed)
		if trimmed == "" || deeper > indent || !item && deeper == indent && strings.HasPrefix(trimmed, "- ") {
			continue
		}
		break
	}
	p.text = strings.Join(slices.Delete(lines, node.Line-1, end), "\n")
	return true
}

// insert inserts a line before a field, with the same indentation.
func (p *place) insert(before *yaml.Node, line string) bool {
	if before == nil {
		return false
	}
	lines := strings.Split(p.text, "\n")
	if strings.TrimLeft(lines[before.Line-1][:before.Column-1], " ") != "" {
		return false
	}
	p.text = strings.Join(slices.Insert(lines, before.Line-1, strings.Repeat(" ", before.Column-1)+line), "\n")
	return true
}

// last returns the last key of a mapping in block style.
func last(mapping *yaml.Node) *yaml.Node {
	if mapping == nil || mapping.Kind != yaml.MappingNode || mapping.Style&yaml.FlowStyle != 0 || len(mapping.Content) == 0 {
		return nil
	}
	return mapping.Content[len(mapping.Content)-2]
}
