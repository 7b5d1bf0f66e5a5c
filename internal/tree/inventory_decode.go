package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxInventory is the maximum size of an inventory's file, and maxInventoryMarks the maximum number of YAML characters
// in a file that is not in Encode's form: enough for 100,000 files.
const (
	maxInventory      = maxRead
	maxInventoryMarks = 2 * maxMarks
)

// Hints for an inventory that cannot be read.
const (
	hintRestore = "restore it from git; or delete it: the next render takes over files that are identical " +
		"to the generated ones, and reports all others without changing them"
	hintUpgrade  = "it was written by a newer version of fleetwright: use that version"
	hintConflict = "resolve the conflict by keeping either side of the whole file, then render again"
)

// DecodeInventory decodes an inventory. Errors are of type *FileError and name the file. Unknown fields are an error: a
// newer version wrote them, and rewriting the file would lose them.
func DecodeInventory(file string, content []byte) (*Inventory, error) {
	if inv, ok := scanInventory(content); ok {
		return inv, nil
	}
	d := &inventoryDecoder{file: file}
	inv, err := d.decode(content)
	if err != nil {
		return nil, err
	}
	inv.sort()
	return inv, nil
}

// scanInventory decodes an inventory in the form that Encode writes, many times faster than a YAML
// parser. It returns false for any other form, without judging it.
func scanInventory(content []byte) (*Inventory, bool) {
	if len(content) > maxInventory {
		return nil, false
	}
	rest, ok := strings.CutPrefix(string(content), inventoryHead)
	if !ok {
		return nil, false
	}
	inv := &Inventory{Files: make([]Entry, 0, len(rest)/150)}
	rest, empty := strings.CutPrefix(rest, emptyList)
	for !empty && strings.HasPrefix(rest, entryPath) {
		var e Entry
		var mode string
		if e.Path, rest, ok = scanField(rest, entryPath); !ok {
			return nil, false
		}
		if mode, rest, ok = scanField(rest, entryMode); !ok {
			return nil, false
		}
		if e.Digest, rest, ok = scanField(rest, entryDigest); !ok {
			return nil, false
		}
		e.Mode = Mode(mode)
		if last := len(inv.Files) - 1; !e.valid() || last >= 0 && inv.Files[last].Path >= e.Path {
			return nil, false
		}
		inv.Files = append(inv.Files, e)
	}
	if strings.HasPrefix(rest, inventoryTarget) {
		if inv.Target, rest, ok = scanWord(rest, inventoryTarget); !ok {
			return nil, false
		}
	}
	if strings.HasPrefix(rest, inventoryRelease) {
		if inv.Release, rest, ok = scanField(rest, inventoryRelease); !ok {
			return nil, false
		}
	}
	if rest, ok = strings.CutPrefix(rest, inventoryTenants); !ok {
		return nil, false
	}
	rest, guards, guarded := strings.Cut(rest, inventoryGuards)
	if guarded {
		rest += "\n"
		if inv.Guards, ok = scanGuards(guards); !ok {
			return nil, false
		}
	}
	if inv.Tenants, ok = scanTenants(rest); !ok {
		return nil, false
	}
	return inv, true
}

func scanGuards(rest string) ([]string, bool) {
	var out []string
	for rest != "\n" {
		guard, after, ok := scanField(rest, listItem)
		if !ok || len(out) > 0 && out[len(out)-1] >= guard {
			return nil, false
		}
		out, rest = append(out, guard), after
	}
	return out, len(out) > 0
}

func scanTenants(rest string) ([]TenantState, bool) {
	if rest == emptyList+"\n" {
		return nil, true
	}
	var out []TenantState
	for rest != "\n" {
		var t TenantState
		var ok bool
		if t.Name, rest, ok = scanWord(rest, tenantName); !ok {
			return nil, false
		}
		if t.State, rest, ok = scanWord(rest, tenantState); !ok {
			return nil, false
		}
		if len(out) > 0 && out[len(out)-1].Name >= t.Name {
			return nil, false
		}
		out = append(out, t)
	}
	return out, len(out) > 0
}

// scanField splits "label value" off a string if the value is plain.
func scanField(text, label string) (value, rest string, ok bool) {
	text, ok = strings.CutPrefix(text, label)
	if !ok {
		return "", "", false
	}
	end := strings.IndexByte(text, '\n')
	if end < 0 || !isPlain(text[:end]) {
		return "", "", false
	}
	return text[:end], text[end:], true
}

// plainWord matches a name that is certainly a string in YAML. scanWord excludes words that
// are a boolean or null in one of YAML's versions.
var plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{3,62}$`)

// scanWord splits "label word" off a string.
func scanWord(text, label string) (value, rest string, ok bool) {
	text, ok = strings.CutPrefix(text, label)
	if !ok {
		return "", "", false
	}
	end := strings.IndexByte(text, '\n')
	if end < 0 || !plainWord.MatchString(text[:end]) {
		return "", "", false
	}
	switch strings.ToLower(text[:end]) {
	case "true", "false", "null":
		return "", "", false
	}
	return text[:end], text[end:], true
}

// valid reports whether this version may have written an entry.
func (e Entry) valid() bool {
	return checkGenerated(e.Path) == nil && e.Mode.Valid() && validDigest(e.Digest)
}

// inventoryDecoder decodes an inventory in any YAML style.
type inventoryDecoder struct{ file string }

func (d *inventoryDecoder) fail(n *yaml.Node, hint, format string, args ...any) error {
	e := &FileError{File: d.file, Message: fmt.Sprintf(format, args...), Hint: hint}
	if n != nil {
		e.Line, e.Column = n.Line, n.Column
	}
	return e
}

func (d *inventoryDecoder) decode(content []byte) (*Inventory, error) {
	root, err := d.parse(content)
	if err != nil {
		return nil, err
	}
	fields, err := d.mapping(root, "apiVersion", "kind", "metadata", "spec")
	if err != nil {
		return nil, err
	}
	if err := d.checkKind(root, fields); err != nil {
		return nil, err
	}
	inv := &Inventory{}
	spec, ok := fields["spec"]
	if !ok {
		return nil, d.fail(root, hintRestore, "the inventory has no spec")
	}
	fields, err = d.mapping(spec, "files", "target", "release", "tenants", "guards")
	if err != nil {
		return nil, err
	}
	if fields["target"] != nil {
		if inv.Target, err = d.text(spec, fields, "target"); err != nil {
			return nil, err
		}
	}
	if fields["release"] != nil {
		if inv.Release, err = d.text(spec, fields, "release"); err != nil {
			return nil, err
		}
	}
	if inv.Files, err = d.files(fields["files"]); err != nil {
		return nil, err
	}
	if inv.Tenants, err = d.tenants(fields["tenants"]); err != nil {
		return nil, err
	}
	inv.Guards, err = d.guards(fields["guards"])
	return inv, err
}

// parse returns the mapping in an inventory's file.
func (d *inventoryDecoder) parse(content []byte) (*yaml.Node, error) {
	if len(content) > maxInventory || marks(content) > maxInventoryMarks {
		return nil, d.fail(nil, hintRestore, "the inventory is too large: more than %d MiB or %d values",
			maxInventory>>20, maxInventoryMarks)
	}
	if line, ok := mergeMarker(content); ok {
		return nil, d.fail(&yaml.Node{Line: line, Column: 1}, hintConflict, "the inventory contains an unresolved merge conflict")
	}
	dec := yaml.NewDecoder(bytes.NewReader(content))
	var doc, more yaml.Node // a Node keeps the document as it is: aliases do not expand
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, d.fail(nil, hintRestore, "the inventory is empty")
		}
		return nil, d.syntax(err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, d.fail(nil, hintRestore, "the inventory contains more than one document")
	}
	return doc.Content[0], nil
}

// mergeMarker returns the line, from 1, of a merge conflict that git left, and whether there is one.
func mergeMarker(content []byte) (int, bool) {
	at := 0
	if !bytes.HasPrefix(content, []byte("<<<<<<< ")) {
		if at = bytes.Index(content, []byte("\n<<<<<<< ")); at < 0 {
			return 0, false
		}
		at++
	}
	return 1 + bytes.Count(content[:at], []byte("\n")), true
}

var yamlErrorLine = regexp.MustCompile(`^yaml: line (\d+): `)

// syntax converts the YAML library's error to one with a place.
func (d *inventoryDecoder) syntax(err error) error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	var at *yaml.Node
	if m := yamlErrorLine.FindStringSubmatch(err.Error()); m != nil {
		if line, convErr := strconv.Atoi(m[1]); convErr == nil {
			at = &yaml.Node{Line: line, Column: 1}
			message = strings.TrimPrefix(err.Error(), m[0])
		}
	}
	return d.fail(at, hintRestore, "the inventory is not YAML: %s", message)
}

func (d *inventoryDecoder) checkKind(root *yaml.Node, fields map[string]*yaml.Node) error {
	const group = "fleetwright.dev/"
	version, err := d.text(root, fields, "apiVersion")
	if err != nil {
		return err
	}
	kind, err := d.text(root, fields, "kind")
	if err != nil {
		return err
	}
	switch {
	case !strings.HasPrefix(version, group) || kind != "Inventory":
		return d.fail(root, hintRestore, "this is %q of %q, not an Inventory of %sv1alpha1", kind, version, group)
	case version != group+"v1alpha1":
		return d.fail(fields["apiVersion"], hintUpgrade, "unknown inventory version %q: this version knows %sv1alpha1", version, group)
	}
	return nil
}

// mapping returns the values of a mapping; unknown keys are an error.
func (d *inventoryDecoder) mapping(n *yaml.Node, known ...string) (map[string]*yaml.Node, error) {
	if n.Kind != yaml.MappingNode {
		return nil, d.fail(n, hintRestore, "want a mapping with the fields %s", strings.Join(known, ", "))
	}
	out := make(map[string]*yaml.Node, len(known))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if !slices.Contains(known, key.Value) {
			return nil, d.fail(key, hintUpgrade, "unknown field %q: this version knows %s", key.Value, strings.Join(known, ", "))
		}
		if out[key.Value] != nil {
			return nil, d.fail(key, hintRestore, "field %q is set twice", key.Value)
		}
		out[key.Value] = n.Content[i+1]
	}
	return out, nil
}

// text returns a string field that must not be empty.
func (d *inventoryDecoder) text(parent *yaml.Node, fields map[string]*yaml.Node, name string) (string, error) {
	n := fields[name]
	if n == nil {
		return "", d.fail(parent, hintRestore, "field %q is missing", name)
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" || n.Value == "" {
		return "", d.fail(n, hintRestore, "field %q is not a string", name)
	}
	return n.Value, nil
}

// list returns the items of a list; none if the field is missing or null.
func (d *inventoryDecoder) list(n *yaml.Node, name string) ([]*yaml.Node, error) {
	switch {
	case n == nil, n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		return nil, nil
	case n.Kind != yaml.SequenceNode:
		return nil, d.fail(n, hintRestore, "field %q is not a list", name)
	}
	return n.Content, nil
}

func (d *inventoryDecoder) files(n *yaml.Node) ([]Entry, error) {
	items, err := d.list(n, "files")
	if err != nil {
		return nil, err
	}
	out := make([]Entry, 0, len(items))
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		e, err := d.entry(item)
		if err != nil {
			return nil, err
		}
		if seen[e.Path] {
			return nil, d.fail(item, hintRestore, "file %q is listed twice", e.Path)
		}
		seen[e.Path] = true
		out = append(out, e)
	}
	return out, nil
}

func (d *inventoryDecoder) entry(item *yaml.Node) (Entry, error) {
	fields, err := d.mapping(item, "path", "mode", "digest")
	if err != nil {
		return Entry{}, err
	}
	var values [3]string
	for i, name := range []string{"path", "mode", "digest"} {
		if values[i], err = d.text(item, fields, name); err != nil {
			return Entry{}, err
		}
	}
	e := Entry{Path: values[0], Mode: Mode(values[1]), Digest: values[2]}
	if err := checkGenerated(e.Path); err != nil {
		return Entry{}, d.fail(fields["path"], hintRestore, "%v", err)
	}
	if !e.Mode.Valid() {
		return Entry{}, d.fail(fields["mode"], hintUpgrade, "unknown mode %q: this version knows %s", e.Mode, knownModes())
	}
	if !validDigest(e.Digest) {
		return Entry{}, d.fail(fields["digest"], hintRestore, "digest %q is not %s and 64 lower-case hexadecimal digits", e.Digest, digestPrefix)
	}
	return e, nil
}

func (d *inventoryDecoder) tenants(n *yaml.Node) ([]TenantState, error) {
	items, err := d.list(n, "tenants")
	if err != nil {
		return nil, err
	}
	var out []TenantState
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		fields, err := d.mapping(item, "name", "state")
		if err != nil {
			return nil, err
		}
		var t TenantState
		if t.Name, err = d.text(item, fields, "name"); err != nil {
			return nil, err
		}
		if t.State, err = d.text(item, fields, "state"); err != nil {
			return nil, err
		}
		if seen[t.Name] {
			return nil, d.fail(item, hintRestore, "tenant %q is listed twice", t.Name)
		}
		seen[t.Name] = true
		out = append(out, t)
	}
	return out, nil
}

func (d *inventoryDecoder) guards(n *yaml.Node) ([]string, error) {
	items, err := d.list(n, "guards")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, item := range items {
		if item.Kind != yaml.ScalarNode || item.ShortTag() != "!!str" || item.Value == "" {
			return nil, d.fail(item, hintRestore, "a guard is not a string")
		}
		out = append(out, item.Value)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
