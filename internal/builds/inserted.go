package builds

import "bytes"

// inserted counts what the vars of a build's kustomizations insert. kustomize inserts them after it has read all files, and a
// long value that a text names often makes it very large.
type inserted struct {
	vars    map[string]bool
	named   map[string]int // how often the files name a var, or what looks like one
	uses    int            // of vars
	longest int            // bytes of the largest file: no value is longer
}

// add counts a file, and the vars that it declares. It returns the most bytes that the vars insert into all files so far.
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
	n.longest = max(n.longest, len(data))
	if !bytes.Contains(data, []byte("$(")) {
		return n.uses * n.longest
	}
	for text, rest, found := bytes.Cut(data, []byte(")")); found; text, rest, found = bytes.Cut(rest, []byte(")")) {
		at := bytes.LastIndex(text, []byte("$("))
		if at < 0 {
			continue
		}
		name := string(text[at+2:])
		n.named[name]++
		if n.vars[name] {
			n.uses++
		}
	}
	return n.uses * n.longest
}
