package main

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// k0rdentText describes the kinds of k0rdent, whose definitions are no module's, in
// our own words and in the form that it explains.
//
//go:embed k0rdent.txt
var k0rdentText string

const (
	k0rdentGroup   = "k0rdent.mirantis.com"
	k0rdentVersion = "v1beta1"
	// ourModule and k0rdentFile are where the schemas of k0rdent come from.
	ourModule   = "github.com/fleetwright/fleetwright"
	k0rdentFile = "tools/schemas/k0rdent.txt"
)

// editions are releases of k0rdent before which some kinds had fewer fields: the
// name of the edition of those that came before.
var editions = map[string]string{"1.12": "1.11"}

// addK0rdent adds the schemas of k0rdent's kinds, and those of earlier editions
// where they differ.
func addK0rdent(files map[string][]byte, origin map[string]provenance) error {
	kinds, err := describe(k0rdentText)
	if err != nil {
		return fmt.Errorf("%s: %w", k0rdentFile, err)
	}
	from := provenance{Module: ourModule, File: k0rdentFile}
	for _, k := range kinds {
		s := schema{Group: k0rdentGroup, Version: k0rdentVersion, Kind: k.name, Namespaced: k.namespaced, Schema: k.schema("")}
		name := dataName(s)
		if files[name], err = encode(s); err != nil {
			return err
		}
		origin[name] = from
		for _, since := range slices.Sorted(maps.Keys(k.sinces)) {
			s.Schema = k.schema(since)
			edition := strings.TrimSuffix(name, ".json.gz") + "_" + editions[since] + ".json.gz"
			if files[edition], err = encode(s); err != nil {
				return err
			}
			origin[edition] = from
		}
	}
	return nil
}

// addK0rdent tells the one version that k0rdent's kinds have.
func (h history) addK0rdent() error {
	kinds, err := describe(k0rdentText)
	for _, k := range kinds {
		v := h.at(k0rdentGroup, k.name, k0rdentVersion)
		v.Served, v.Storage = true, true
	}
	return err
}

// line is a line of a description with the lines below it.
type line struct {
	number int
	words  []string
	text   string
	below  []*line
}

// describedKind is a kind of a description.
type describedKind struct {
	name       string
	namespaced bool
	root       *line
	defs       map[string]*line
	sinces     map[string]bool
}

// describe reads a description. What is wrong with it is told with its line.
func describe(text string) (kinds []*describedKind, err error) {
	defer func() {
		if r := recover(); r != nil {
			bad, ours := r.(badLine)
			if !ours {
				panic(r)
			}
			err = bad
		}
	}()
	defs := map[string]*line{}
	for _, l := range outline(text) {
		switch l.words[0] {
		case "def":
			defs[l.words[1]] = l
		case "kind":
			k := &describedKind{name: l.words[1], namespaced: l.words[2] == "namespaced", root: l, defs: defs, sinces: map[string]bool{}}
			k.findSinces(l)
			kinds = append(kinds, k)
		default:
			panic(badLine{l, "want def or kind"})
		}
	}
	for _, k := range kinds {
		k.schema("") // what is wrong is told now
	}
	return kinds, nil
}

// badLine is what is wrong with a line of a description.
type badLine struct {
	line    *line
	problem string
}

func (e badLine) Error() string {
	return fmt.Sprintf("line %d: %q: %s", e.line.number, e.line.text, e.problem)
}

// outline nests the lines of a text by their indentation of two spaces.
func outline(text string) []*line {
	root := &line{}
	stack := []*line{root}
	for i, raw := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(raw)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		l := &line{number: i + 1, words: strings.Fields(trimmed), text: trimmed}
		depth := (len(raw) - len(strings.TrimLeft(raw, " "))) / 2
		if depth >= len(stack) || len(l.words) < 2 {
			panic(badLine{l, "indented too far, or without a type"})
		}
		stack = append(stack[:depth+1], l)
		stack[depth].below = append(stack[depth].below, l)
	}
	return root.below
}

func (k *describedKind) findSinces(l *line) {
	for _, w := range l.words {
		if version, found := strings.CutPrefix(w, "since="); found {
			k.sinces[version] = true
		}
	}
	for _, b := range l.below {
		k.findSinces(b)
	}
}

// schema is the kind's openAPIV3Schema, without the fields that a release
// brought.
func (k *describedKind) schema(before string) map[string]any {
	d := describer{defs: k.defs, before: before}
	out := d.fields(map[string]any{"type": "object"}, k.root)
	properties := out["properties"].(map[string]any)
	for _, name := range []string{"apiVersion", "kind"} {
		properties[name] = map[string]any{"type": "string"}
	}
	properties["metadata"] = map[string]any{"type": "object"}
	return out
}

type describer struct {
	defs   map[string]*line
	before string
}

// fields adds the fields and rules below a line to the schema of an object.
func (d describer) fields(out map[string]any, of *line) map[string]any {
	properties := map[string]any{}
	var required []any
	for _, l := range of.below {
		if l.words[0] == "rule" {
			addRule(out, l)
			continue
		}
		if d.before != "" && slices.Contains(l.words, "since="+d.before) {
			continue
		}
		name, must := strings.CutSuffix(l.words[0], "!")
		if must {
			required = append(required, name)
		}
		properties[name] = d.value(l, l.words[1:])
	}
	if len(properties) > 0 {
		out["properties"] = properties
	}
	if required != nil {
		out["required"] = required
	}
	return out
}

func addRule(out map[string]any, l *line) {
	expression, message, found := strings.Cut(strings.TrimPrefix(l.text, "rule "), " :: ")
	if !found {
		panic(badLine{l, "want rule EXPRESSION :: MESSAGE"})
	}
	rules, _ := out["x-kubernetes-validations"].([]any)
	out["x-kubernetes-validations"] = append(rules, map[string]any{"rule": expression, "message": message})
}

// value is the schema of a field: its type and its attributes.
func (d describer) value(l *line, words []string) map[string]any {
	typeName, attributes := words[0], words[1:]
	switch {
	case typeName == "list" && len(attributes) > 0:
		out := map[string]any{"type": "array", "items": d.value(l, attributes[:1])}
		return attribute(l, out, attributes[1:])
	case typeName == "map" && len(attributes) > 0:
		return attribute(l, map[string]any{"type": "object", "additionalProperties": d.value(l, attributes[:1])}, attributes[1:])
	case strings.HasPrefix(typeName, "@"):
		def := d.defs[typeName[1:]]
		if def == nil {
			panic(badLine{l, "there is no definition " + typeName[1:]})
		}
		return attribute(l, d.value(def, def.words[2:]), attributes)
	case typeName == "object":
		return attribute(l, d.fields(map[string]any{"type": "object"}, l), attributes)
	}
	out := scalarType(l, typeName)
	for _, b := range l.below {
		if b.words[0] != "rule" {
			panic(badLine{b, "only an object has fields"})
		}
		addRule(out, b)
	}
	return attribute(l, out, attributes)
}

func scalarType(l *line, name string) map[string]any {
	switch name {
	case "string":
		return map[string]any{"type": "string"}
	case "bool":
		return map[string]any{"type": "boolean"}
	case "int":
		return map[string]any{"type": "integer"}
	case "int32":
		return map[string]any{"type": "integer", "format": "int32"}
	case "any":
		return map[string]any{"x-kubernetes-preserve-unknown-fields": true}
	}
	if !strings.Contains(name, "|") {
		panic(badLine{l, "unknown type " + name})
	}
	var values []any
	for value := range strings.SplitSeq(strings.TrimSuffix(name, "|"), "|") {
		values = append(values, value)
	}
	return map[string]any{"type": "string", "enum": values}
}

// attribute adds attributes to a schema; a pattern takes the rest of the line.
func attribute(l *line, out map[string]any, words []string) map[string]any {
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "len":
			least, most, _ := strings.Cut(value, "..")
			out["minLength"] = number(l, least)
			if most != "" {
				out["maxLength"] = number(l, most)
			}
		case "re":
			out["pattern"] = value
		case "min":
			out["minimum"] = number(l, value)
		case "max":
			out["maximum"] = number(l, value)
		case "default":
			out["default"] = defaultOf(l, out["type"], value)
		case "keys":
			var keys []any
			for k := range strings.SplitSeq(value, ",") {
				keys = append(keys, k)
			}
			out["x-kubernetes-list-type"], out["x-kubernetes-list-map-keys"] = "map", keys
		case "atomic":
			if out["type"] == "array" {
				out["x-kubernetes-list-type"] = "atomic"
			} else {
				out["x-kubernetes-map-type"] = "atomic"
			}
		case "open":
			out["x-kubernetes-preserve-unknown-fields"] = true
		case "since":
			if editions[value] == "" {
				panic(badLine{l, "no edition came before " + value})
			}
		default:
			panic(badLine{l, "unknown attribute " + key})
		}
	}
	return out
}

func number(l *line, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(badLine{l, text + " is no number"})
	}
	return n
}

func defaultOf(l *line, typeName any, text string) any {
	switch typeName {
	case "boolean":
		return text == "true"
	case "integer":
		return number(l, text)
	}
	return text
}
