package builds

import (
	"bytes"
	"errors"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// inserted counts the bytes that the vars of a build's kustomizations insert. kustomize inserts them after it has read
// all files, and a long value that a text names often enlarges it very much.
type inserted struct {
	vars  map[string]bool
	named map[string]int // how often the files name a var, or a string that looks like one
	uses  int            // references to vars
	// longest is the number of bytes of the largest file, and value that of the longest string in a file: 0 until it is
	// needed, which few builds do.
	longest, value int
	files          [][]byte
}

// add counts a file, and the vars that it declares. It returns the maximum of bytes that the vars insert into all files
// so far.
func (n *inserted) add(vars []string, data []byte) int {
	if n.vars == nil {
		n.vars, n.named = map[string]bool{}, map[string]int{}
	}
	for _, name := range vars {
		if !n.vars[name] {
			n.vars[name] = true
			n.uses += n.named[name]
		}
	}
	n.count(data)
	n.longest = max(n.longest, len(data))
	n.files = append(n.files, data)
	if n.uses*n.longest <= limits.Inserted {
		return n.uses * n.longest
	}
	for _, file := range n.files {
		n.value = max(n.value, longestText(file))
	}
	n.files = nil
	return n.uses * n.value
}

// count counts how often a file names vars.
func (n *inserted) count(data []byte) {
	if !bytes.Contains(data, []byte("$(")) {
		return
	}
	for text, rest, found := bytes.Cut(data, []byte(")")); found; text, rest, found = bytes.Cut(rest, []byte(")")) {
		if at := bytes.LastIndex(text, []byte("$(")); at >= 0 {
			name := string(text[at+2:])
			n.named[name]++
			if n.vars[name] {
				n.uses++
			}
		}
	}
}

// longestText returns the number of bytes of the longest scalar in the documents of a file; of the whole file if it is not
// YAML: it may be the value of a generated ConfigMap.
func longestText(data []byte) int {
	longest := 0
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		longest = max(longest, len(n.Value))
		for _, child := range n.Content {
			walk(child)
		}
	}
	for decoder := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var n yaml.Node
		if err := decoder.Decode(&n); errors.Is(err, io.EOF) {
			return longest
		} else if err != nil {
			return len(data)
		}
		walk(&n)
	}
}
