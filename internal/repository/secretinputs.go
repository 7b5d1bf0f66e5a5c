package repository

import (
	"maps"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// secretInputs returns the strings to hide for inputs of ResourceSets that the ResourceSet uses in a Secret. A
// ResourceSet may use an input anywhere, so that a message about its objects may contain the input.
func (r *Repository) secretInputs() []string {
	var uses, providers []*yaml.Node
	var all []string
	for _, f := range r.files {
		for _, d := range f.Documents {
			for _, o := range d.Objects {
				spec := Lookup(o.Node, "spec")
				switch {
				case !strings.HasPrefix(o.APIVersion, "fluxcd.controlplane.io/") || spec == nil:
				case o.Kind == "ResourceSet":
					uses = append(uses, spec)
				case o.Kind == "ResourceSetInputProvider":
					providers = append(providers, spec)
				}
			}
		}
	}
	everywhere := secretUses{names: map[string]bool{}}
	for _, spec := range uses {
		of := secretUses{names: map[string]bool{}}
		of.find(spec, false)
		everywhere.whole = everywhere.whole || of.whole
		maps.Copy(everywhere.names, of.names)
		if inputs := Lookup(spec, "inputs"); inputs != nil {
			for _, set := range inputs.Content {
				all = of.values(set, all)
			}
		}
	}
	for _, spec := range providers {
		if values := Lookup(spec, "defaultValues"); values != nil {
			all = everywhere.values(values, all)
		}
	}
	return all
}

// secretUses are the inputs that the templates of Secrets in a ResourceSet use.
type secretUses struct {
	names map[string]bool
	whole bool // a template uses inputs without their names
}

// find adds the inputs of the templates below a node; secret is set if the node is part of a Secret.
func (s *secretUses) find(n *yaml.Node, secret bool) {
	secret = secret || n.Kind == yaml.MappingNode && (IsSecret(n) || Lookup(n, "stringData") != nil)
	if n.Kind == yaml.ScalarNode && (secret || HoldsSecrets(n.Value)) {
		s.text(n.Value)
	}
	for _, c := range n.Content {
		s.find(c, secret)
	}
}

var (
	// namedInputs matches the use of an input by its name in a template.
	namedInputs = regexp.MustCompile(`\binputs\.([\p{L}\p{N}_]+)`)
	// wholeInputs matches the use of inputs without their names in a template.
	wholeInputs = regexp.MustCompile(`\binputs(?:[^.A-Za-z0-9_]|\.?$)`)
)

func (s *secretUses) text(template string) {
	s.whole = s.whole || wholeInputs.MatchString(template)
	for _, found := range namedInputs.FindAllStringSubmatch(template, -1) {
		s.names[found[1]] = true
	}
}

// values appends the strings to hide for the inputs that templates of Secrets use.
func (s secretUses) values(inputs *yaml.Node, all []string) []string {
	for i := 0; inputs.Kind == yaml.MappingNode && i+1 < len(inputs.Content); i += 2 {
		if name := inputs.Content[i].Value; s.whole || s.names[name] {
			all = leadingBelow(name, inputs.Content[i+1], all)
		}
	}
	return all
}

func leadingBelow(name string, n *yaml.Node, all []string) []string {
	switch n.Kind {
	case yaml.ScalarNode:
		return append(all, Leading(name, n.Value, !credential.IsPublic(name, n.Value))...)
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			all = leadingBelow(n.Content[i].Value, n.Content[i+1], all)
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			all = leadingBelow(name, item, all)
		}
	}
	return all
}
