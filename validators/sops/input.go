package sops

import (
	"iter"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// input is what a generator of a kustomization takes: a literal, or a file that it reads.
type input struct {
	// generated is the name of what is generated, "?" where it has none.
	generated string
	// field it stands in: literals, envs (also for env) or files.
	field string
	// key and text in front of and behind the first "="; key is the file's own name where a file
	// has none, and empty for envs and for a literal without "=".
	key, text string
	node      *yaml.Node
}

// file is the path of what is read, from the repository's root, for a kustomization in a folder.
func (in input) file(dir string) string {
	at, ok := repository.Join(dir, in.text)
	if !ok {
		return in.text
	}
	return at
}

// eachInput gives what the generators of a document take: those in a field of a kustomization such as
// secretGenerator, those of that kind that its field generators holds as texts, and objects of that kind.
// Names of fields may be spelled in any case, as kustomize reads them.
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

// eachOf gives what the generators in a text take, all at its place; false where no more are wanted.
func eachOf(text *yaml.Node, generators string, yield func(input) bool) bool {
	if text.Kind != yaml.ScalarNode || !strings.Contains(text.Value, "\n") || len(text.Value) > mostGenerators {
		return true // a path
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

// mostGenerators is how long a text with generators is that is read, in bytes.
const mostGenerators = 64 << 10

// takes gives what one generator takes, at a place if one is given; false where no more are wanted.
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
	case field == "literals" && !keyed: // which kustomize refuses
	case keyed:
		in.key, in.text = key, text
	default:
		in.key = path.Base(n.Value)
	}
	return in
}

// items are the entries of a list, none of what isn't one.
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

// anyCase is the value of a field whose name is spelled in any case, first of all as it should be.
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
