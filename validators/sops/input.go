package sops

import (
	"iter"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// input is an entry of a kustomization's generator: a literal, or a file that it reads.
type input struct {
	// generated is the name of the generated object, "?" if it has none.
	generated string
	// field is the field that has the entry: literals, envs (also for env) or files.
	field string
	// key and text are the parts before and after the first "=". For a file without "=", key is the name of the
	// file. For envs, and for a literal without "=", key is empty.
	key, text string
	node      *yaml.Node
}

// file returns the path of the file that the entry reads, relative to the repository's root. dir is the folder
// of the kustomization.
func (in input) file(dir string) string {
	at, ok := repository.Join(dir, in.text)
	if !ok {
		return in.text
	}
	return at
}

// eachInput returns the entries of a document's generators. They are in a field of a kustomization such as
// secretGenerator, in inline YAML of its field generators, or in objects of the generator's kind. Case does not
// matter in field names, as in kustomize.
func eachInput(d *repository.Document, generators string) iter.Seq[input] {
	return func(yield func(input) bool) {
		for _, o := range d.Objects {
			if strings.EqualFold(o.Kind, generators) && !takes(o.Node, o.Name, nil, yield) {
				return
			}
		}
		if !repository.IsKustomization(d.File.Path) {
			return
		}
		for _, g := range items(anyCase(d.Root(), generators)) {
			name := "?"
			if n := anyCase(g, "name"); n != nil {
				name = n.Value
			}
			if !takes(g, name, nil, yield) {
				return
			}
		}
		for _, text := range items(anyCase(d.Root(), "generators")) {
			if !eachOf(text, generators, yield) {
				return
			}
		}
	}
}

// eachOf yields the entries of the generators in a string, all with the place of the string. It returns false
// if the consumer stopped.
func eachOf(text *yaml.Node, generators string, yield func(input) bool) bool {
	if text.Kind != yaml.ScalarNode || !strings.Contains(text.Value, "\n") || len(text.Value) > mostGenerators {
		return true // the string is a path
	}
	for _, g := range documentsIn(text.Value) {
		kind, name := repository.Lookup(g, "kind"), "?"
		if kind == nil || !strings.EqualFold(kind.Value, generators) {
			continue
		}
		if n := repository.Lookup(g, "metadata", "name"); n != nil {
			name = n.Value
		}
		if !takes(g, name, text, yield) {
			return false
		}
	}
	return true
}

// mostGenerators is the maximum length, in bytes, of a string that is searched for generators.
const mostGenerators = 64 << 10

// takes yields the entries of one generator. If at is not nil, all entries get its place. It returns false if
// the consumer stopped.
func takes(g *yaml.Node, name string, at *yaml.Node, yield func(input) bool) bool {
	for _, field := range []string{"literals", "envs", "env", "files"} {
		entries := items(anyCase(g, field))
		if n := anyCase(g, field); field == "env" && n != nil {
			field, entries = "envs", []*yaml.Node{n}
		}
		for _, n := range entries {
			if n.Kind != yaml.ScalarNode {
				continue
			}
			in := inputOf(name, field, n)
			if at != nil {
				in.node = at
			}
			if !yield(in) {
				return false
			}
		}
	}
	return true
}

func inputOf(generated, field string, n *yaml.Node) input {
	in := input{generated: generated, field: field, text: n.Value, node: n}
	key, text, keyed := strings.Cut(n.Value, "=")
	switch {
	case field == "envs":
	case field == "literals" && !keyed: // kustomize refuses such a literal
	case keyed:
		in.key, in.text = key, text
	default:
		in.key = path.Base(n.Value)
	}
	return in
}

// items returns the items of a list, none for other nodes.
func items(list *yaml.Node) []*yaml.Node {
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	var all []*yaml.Node
	for i := range list.Content {
		if n := repository.Lookup(list, i); n != nil {
			all = append(all, n)
		}
	}
	return all
}

// anyCase returns the value of a field, ignoring the case of its name. An exact match has priority.
func anyCase(n *yaml.Node, name string) *yaml.Node {
	if value := repository.Lookup(n, name); value != nil || n.Kind != yaml.MappingNode {
		return value
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i].Value; strings.EqualFold(key, name) {
			return repository.Lookup(n, key)
		}
	}
	return nil
}
