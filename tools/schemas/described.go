package main

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// descriptions are the descriptions of kinds whose CustomResourceDefinitions are in no Go module, by file name.
// They are written for this project, in the format that k0rdent.txt explains.
//
//go:embed *.txt
var descriptions embed.FS

const (
	// ourModule and ourFolder are the source of the descriptions.
	ourModule = "github.com/fleetwright/fleetwright"
	ourFolder = "tools/schemas/"
)

// editions maps each release of k0rdent that added fields to some kinds to the name of the edition without
// these fields.
var editions = map[string]string{"1.12": "1.11"}

// described returns the kinds of all descriptions, by file.
func described() (map[string][]*describedKind, error) {
	entries, err := descriptions.ReadDir(".")
	if err != nil {
		return nil, err
	}
	all := map[string][]*describedKind{}
	for _, e := range entries {
		text, err := descriptions.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		if all[e.Name()], err = describe(string(text)); err != nil {
			return nil, fmt.Errorf("%s%s: %w", ourFolder, e.Name(), err)
		}
	}
	return all, nil
}

// addDescribed adds the schemas of the described kinds, and those of earlier editions if they differ.
func addDescribed(files map[string][]byte, origin map[string]provenance) error {
	all, err := described()
	if err != nil {
		return err
	}
	for name, kinds := range all {
		for _, k := range kinds {
			from := provenance{Module: ourModule, File: ourFolder + name, Sources: k.sources}
			if err := addKind(files, origin, k, from); err != nil {
				return err
			}
		}
	}
	return nil
}

func addKind(files map[string][]byte, origin map[string]provenance, k *describedKind, from provenance) (err error) {
	s := schema{Group: k.group, Version: k.version, Kind: k.name, Namespaced: k.namespaced, Partial: k.partial, Schema: k.schema("")}
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
	return nil
}

// addDescribed adds the only version of each described kind.
func (h history) addDescribed() error {
	all, err := described()
	for _, kinds := range all {
		for _, k := range kinds {
			v := h.at(k.group, k.name, k.version)
			v.Served, v.Storage = true, true
		}
	}
	return err
}

// line is a line of a description, with the lines nested below it.
type line struct {
	number int
	words  []string
	text   string
	below  []*line
}

// describedKind is a kind of a description.
type describedKind struct {
	group, version, name string
	namespaced           bool
	// partial reports whether the kind may have more fields than the description.
	partial bool
	// sources are the sources of the facts in the description.
	sources []string
	root    *line
	defs    map[string]*line
	sinces  map[string]bool
}

// describe parses a description. The error has the line number.
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
	defs, sources := map[string]*line{}, map[string]string{}
	var group *line
	for _, l := range outline(text) {
		switch l.words[0] {
		case "def":
			defs[l.words[1]] = l
		case "source":
			sources[l.words[1]] = l.words[2]
		case "group":
			group = l
		case "kind":
			k := &describedKind{
				group: group.words[1], version: group.words[2], partial: slices.Contains(group.words, "partial"),
				name: l.words[1], namespaced: l.words[2] == "namespaced", root: l, defs: defs, sinces: map[string]bool{},
			}
			k.findSources(l, sources)
			k.findSinces(l)
			kinds = append(kinds, k)
		default:
			panic(badLine{l, "want def, source, group or kind"})
		}
	}
	for _, k := range kinds {
		k.schema("") // reports errors now
	}
	return kinds, nil
}

// badLine is an error in a line of a description.
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

func (k *describedKind) findSources(l *line, sources map[string]string) {
	for _, w := range l.words {
		names, found := strings.CutPrefix(w, "from=")
		for name := range strings.SplitSeq(names, ",") {
			if !found {
				continue
			}
			if sources[name] == "" {
				panic(badLine{l, "unknown source " + name})
			}
			k.sources = append(k.sources, sources[name])
		}
	}
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

// schema returns the kind's openAPIV3Schema. If before is a release, it leaves out the fields that this release
// added.
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

// value returns the schema of a field, from its type and attributes.
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
			panic(badLine{l, "unknown definition " + typeName[1:]})
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

// attribute adds attributes to a schema. A pattern extends to the end of the line.
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
			if out["type"] == "array" {
				panic(badLine{l, "a list isn't open: the definition of its entries is"})
			}
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
		panic(badLine{l, text + " is not a number"})
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
