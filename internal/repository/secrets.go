package repository

import (
	"encoding/base64"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/mask"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// search finds the possible secrets in a document.
type search struct {
	// found is set if there is one, and inSecret if one is in a Secret or in a string with one, as ResourceSets create them.
	found, inSecret bool
	// texts are the strings to hide.
	texts []string
	// within is the number of nested strings that the nodes are in.
	within int
	limits Limits
}

func (r *Repository) searched(n *yaml.Node) *search {
	s := &search{limits: r.limits}
	s.walk("", n)
	return s
}

// inputSecrets returns the strings to hide because a ResourceSet may write them into a Secret: all inputs of each ResourceSet that
// creates a Secret, and then also the default values of all ResourceSetInputProviders. Its template may use any of them.
func (r *Repository) inputSecrets() []string {
	const group = "fluxcd.controlplane.io"
	var all search
	creates := false
	for _, o := range r.ByKind(group, "ResourceSet") {
		if s := r.searched(o.Node); s.inSecret {
			creates = true
			all.hide("", o.Lookup("spec", "inputs"), true)
		}
	}
	for _, o := range r.ByKind(group, "ResourceSetInputProvider") {
		if creates {
			all.hide("", o.Lookup("spec", "defaultValues"), true)
		}
	}
	return all.texts
}

// hide hides the value of a field and everything below it.
func (s *search) hide(field string, n *yaml.Node, ofSecret bool) {
	s.found = true
	if n = resolve(n); n == nil {
		return
	}
	switch n.Kind {
	case yaml.ScalarNode:
		s.text(field, n.Value, ofSecret)
		s.text(field, strings.TrimLeft(n.Tag, "!"), ofSecret) // YAML reads a password that starts with ! as a tag
		s.text(field, n.Anchor, ofSecret)
		if plain, err := base64.StdEncoding.DecodeString(n.Value); err == nil {
			s.text(field, string(plain), ofSecret)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			s.hide(n.Content[i].Value, n.Content[i+1], ofSecret)
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			s.hide(field, item, ofSecret)
		}
	}
}

func (s *search) text(field, value string, ofSecret bool) {
	s.texts = append(s.texts, mask.Strings(field, value, ofSecret)...)
}

// walk searches below a field.
func (s *search) walk(field string, n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		s.several(field, n)
		s.mapping(n)
	case yaml.SequenceNode:
		for i, item := range n.Content {
			name := field
			if i > 0 && strings.HasPrefix(n.Content[i-1].Value, "-") && !strings.Contains(n.Content[i-1].Value, "=") {
				name = strings.TrimLeft(n.Content[i-1].Value, "-") // a flag; the next item is its value
			}
			if key, value, found := strings.Cut(item.Value, "="); found && item.Kind == yaml.ScalarNode && credential.HideLine(strings.TrimLeft(key, "-"), value) {
				s.hide(strings.TrimLeft(key, "-"), item, true)
			}
			s.walk(name, item)
		}
	case yaml.ScalarNode:
		if mask.HoldsSecrets(n.Value) {
			s.found, s.inSecret = true, true
			s.inside(field, n.Value)
		} else if credential.HideLine(field, n.Value) {
			s.hide(field, n, false)
		}
		if strings.Contains(n.Value, "\n") {
			s.lines(n.Value)
		}
		for _, value := range credential.Defaults(n.Value) {
			s.found = true
			s.text("", value, true)
		}
	}
}

// lines searches the lines of a string, as settings have them.
func (s *search) lines(text string) {
	for line := range strings.Lines(text) {
		if len(line) > longestLine || !credential.MayHold(line) {
			continue
		}
		if field, rest := credential.HideIn(line); rest != "" {
			s.found, s.texts = true, append(s.texts, restOf(field, rest)...)
		}
	}
}

// inside searches the documents in a string, as patches and templates have them. One that is not YAML is secret as a whole.
func (s *search) inside(field, text string) {
	if s.within >= limits.NestedTexts || nodeEstimate([]byte(text)) > s.limits.FileNodes {
		s.text(field, text, true)
		return
	}
	nodes, failed := decode([]byte(text), 0, s.limits)
	for _, n := range nodes {
		if n.node != nil && failed == nil {
			_, failed = checkNode(n.node, s.limits)
		}
	}
	if failed != nil {
		s.text(field, text, true)
		return
	}
	s.within++
	for _, n := range nodes {
		if n.node != nil {
			s.walk("", n.node)
		}
	}
	s.within--
}

// several hides the values of a mapping whose field name means several secrets, such as passwords.
func (s *search) several(field string, n *yaml.Node) {
	one := credential.Several(field)
	if one == "" {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if name, value := n.Content[i].Value+"-"+one, n.Content[i+1]; value.Kind == yaml.ScalarNode && credential.HideLine(name, value.Value) {
			s.hide(name, value, false)
		}
	}
}

// drawn is an example of a value that looks randomly generated.
const drawn = "qT7-drawn-4xR8zK2m"

func (s *search) mapping(n *yaml.Node) {
	if s.patch(n) {
		return
	}
	if IsSecretGenerator(n) {
		s.generator(n)
	}
	secret := IsSecret(n)
	name := scalarOf(n, "name")
	for i := 0; i+1 < len(n.Content); i += 2 {
		field, value := n.Content[i].Value, n.Content[i+1]
		switch {
		case strings.EqualFold(field, "secretGenerator"):
			for _, g := range value.Content {
				s.generator(g)
			}
		case field == "stringData" || secret && !IsOfSecret(field, value):
			s.inSecret = true
			s.hide(strings.TrimPrefix(field, "type"), value, true) // a type that is not a string may be a value
		case field == LastApplied || field == "sourceValue" || field == "value" && name != "" && value.Kind != yaml.ScalarNode && credential.HideLine(name, drawn):
			s.hide(name, value, true)
		case field == "value" && name != "" && value.Kind == yaml.ScalarNode:
			s.walk(name, value)
		case value.Kind == yaml.AliasNode && value.Alias != nil && value.Alias.Kind == yaml.ScalarNode && credential.HideLine(field, value.Alias.Value):
			s.hide(field, value, false)
		default:
			s.walk(field, value)
		}
	}
}

// generator hides the literals of a generator of a Secret. Messages name the files that it reads.
func (s *search) generator(n *yaml.Node) {
	literals := Lookup(n, "literals")
	if literals == nil {
		return
	}
	s.found = true
	for _, literal := range literals.Content {
		key, value, found := strings.Cut(literal.Value, "=")
		if !found {
			value = key // kustomize's error quotes it
		}
		s.text(key, value, true)
	}
}

// patch hides the value of an operation of a JSON patch if it may be a secret according to its path. It returns false for
// other mappings.
func (s *search) patch(n *yaml.Node) bool {
	op, at := scalarOf(n, "op"), scalarOf(n, "path")
	if !slices.Contains([]string{"add", "replace", "test", "remove", "move", "copy"}, op) || !strings.HasPrefix(at, "/") && at != "" {
		return false
	}
	steps := strings.Split(at, "/")
	last := steps[len(steps)-1]
	ofSecret := len(steps) < 2 || slices.Contains([]string{"", "data", "stringData"}, steps[1]) || last == "annotations" || strings.Contains(at, "last-applied-configuration")
	if value := Lookup(n, "value"); value != nil && (ofSecret || value.Kind != yaml.ScalarNode || last == "value" || last == "-" ||
		credential.HideLine(last, value.Value) || credential.Hide(last, value.Value)) {
		s.hide(last, value, ofSecret)
	}
	return true
}

// IsOfSecret reports whether a field of a Secret contains none of its values.
func IsOfSecret(field string, value *yaml.Node) bool {
	return mask.IsOfSecret(field, value.Kind == yaml.ScalarNode)
}

// LastApplied is the annotation in which kubectl stores the applied object, including the values
// of a Secret.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// IsSecret reports whether a mapping is a Kubernetes Secret, at any place in a document. It returns false for the items of a
// SecretList without a kind and for a reference to a Secret, and true for a Secret whose kind or group is misspelt.
func IsSecret(n *yaml.Node) bool {
	version := strings.ToLower(scalarOf(n, "apiVersion"))
	return strings.EqualFold(scalarOf(n, "kind"), "Secret") && (version == "v1" || version == "" || version == "core/v1") && !isReference(n)
}

// referenceFields are the fields of references to Secrets, as in substituteFrom and valuesFrom.
var referenceFields = []string{"kind", "name", "namespace", "optional", "valuesKey", "targetPath", "key"}

// isReference reports whether a mapping names a Secret and contains nothing else.
func isReference(n *yaml.Node) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !slices.Contains(referenceFields, n.Content[i].Value) || n.Content[i+1].Kind != yaml.ScalarNode {
			return false
		}
	}
	return scalarOf(n, "name") != ""
}

// IsSecretGenerator reports whether a mapping is kustomize's generator of a Secret.
func IsSecretGenerator(n *yaml.Node) bool {
	return strings.EqualFold(scalarOf(n, "kind"), "SecretGenerator")
}

func scalarOf(n *yaml.Node, field string) string {
	if v := Lookup(n, field); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}
