package patches

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Text is a string in a file, with its node.
type Text struct {
	// File is the file's name in messages; Local is its path in Repo.
	File, Local string
	Repo        *repository.Repository
	Node        *yaml.Node
	// Exact is set if the position of the node is known, and not only the position of a string that contains it.
	Exact bool
}

// Patch is a patch that a build may have applied: a partial object, or the operations of RFC 6902. Its node is
// the root; the lines of an inline patch are its lines in the file.
type Patch struct {
	Text
	// first and last are the first and the last line of the patch.
	first, last int
	// target selects the objects that the patch changes, nil if the patch names its object itself.
	target *types.Selector
}

// Named has the fields of an object by which patches select it.
type Named struct{ Kind, Name string }

// Of returns the patches of a kustomization, in the order in which kustomize applies them. origin returns the name of a file
// in messages.
func Of(repo *repository.Repository, k *repository.Kustomize, origin func(file string) string) []Patch {
	if k.Spec == nil || k.Document == nil {
		return nil
	}
	var all []Patch
	add := func(p types.Patch, field ...any) {
		if p.Path == "" {
			all = append(all, Inline(Text{File: origin(k.File.Path), Local: k.File.Path, Repo: repo, Node: k.Document.Lookup(field...), Exact: true}, p.Target)...)
			return
		}
		at, _ := repository.Join(k.Dir, p.Path)
		if f, ok := repo.File(at); ok {
			for _, d := range f.Documents {
				all = append(all, bounded(Text{File: origin(at), Local: at, Repo: repo, Node: d.Root(), Exact: true}, p.Target))
			}
		}
	}
	for i, p := range k.Spec.PatchesStrategicMerge { //nolint:staticcheck // older repositories use it
		one := types.Patch{Path: string(p)}
		if strings.Contains(string(p), "\n") {
			one = types.Patch{Patch: string(p)}
		}
		add(one, "patchesStrategicMerge", i)
	}
	for i, p := range k.Spec.PatchesJson6902 { //nolint:staticcheck // older repositories use it
		add(p, "patchesJson6902", i, "patch")
	}
	for i, p := range k.Spec.Patches {
		add(p, "patches", i, "patch")
	}
	return all
}

// bounded returns the patch that a text contains, with the numbers of its first and last line.
func bounded(text Text, target *types.Selector) Patch {
	p := Patch{Text: text, target: target, first: text.Node.Line, last: text.Node.Line}
	move(p.Node, func(n *yaml.Node) {
		p.first = min(p.first, n.Line)
		end := n.Line
		if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && p.Exact {
			end += strings.Count(n.Value, "\n")
		}
		p.last = max(p.last, end)
	})
	return p
}

// move calls change for a node and all nodes below it, to change their positions.
func move(n *yaml.Node, change func(*yaml.Node)) {
	change(n)
	for _, c := range n.Content {
		move(c, change)
	}
}

// Place returns the position of the value at a path in the patch, or of its key.
func (p Patch) Place(path []any, key bool) finding.Place {
	at := finding.Place{File: p.File}
	if n := len(path); key && p.Node.Kind == yaml.SequenceNode && n == 2 {
		path, key = []any{path[0], "path"}, false // the path of an operation contains the field
	}
	if key {
		at.Line, at.Column = repository.KeyPosition(p.Node, path...)
	} else {
		at.Line, at.Column = repository.Position(p.Node, path...)
	}
	return at
}

// Sets returns the path in the patch of the value that it sets for a field of an object; ok is false if the patch
// sets another value, or none.
func (p Patch) Sets(of Named, field []any, value any) (at []any, ok bool) {
	switch p.Node.Kind {
	case yaml.MappingNode:
		if !p.selects(of) {
			return nil, false
		}
		return reaches(p.Node, nil, field, value)
	case yaml.SequenceNode:
		if !p.selects(of) {
			return nil, false
		}
		for i := range p.Node.Content {
			pointer := repository.Lookup(p.Node, i, "path")
			if pointer == nil || repository.Lookup(p.Node, i, "value") == nil {
				continue
			}
			if rest, ok := below(pointer.Value, field); ok {
				if at, ok := reaches(p.Node, []any{i, "value"}, rest, value); ok {
					return at, true
				}
			}
		}
	}
	return nil, false
}

// selects reports whether the patch may select an object. Other kustomizations may have prefixed the object's name.
func (p Patch) selects(of Named) bool {
	kind, name := "", ""
	switch {
	case p.target != nil:
		kind, name = p.target.Kind, p.target.Name
	case p.Node.Kind == yaml.MappingNode:
		kind, name = text(p.Node, "kind"), text(p.Node, "metadata", "name")
	}
	matches := func(pattern, text string) bool {
		whole, err := count.CompileShort("^(?:" + pattern + ")$")
		return p.target != nil && err == nil && whole.MatchString(text)
	}
	if kind != "" && kind != of.Kind && !matches(kind, of.Kind) {
		return false
	}
	return name == "" || strings.Contains(of.Name, name) || matches(name, of.Name)
}

func text(n *yaml.Node, path ...any) string {
	if at := repository.Lookup(n, path...); at != nil && at.Kind == yaml.ScalarNode {
		return at.Value
	}
	return ""
}

// reaches follows a field from a path in a patch to a value. The indexes of a patch's list differ from the
// object's, so that any item may match.
func reaches(root *yaml.Node, at, field []any, value any) ([]any, bool) {
	n := repository.Lookup(root, at...)
	if n == nil {
		return nil, false
	}
	if len(field) == 0 {
		return at, Same(n, value)
	}
	if _, isIndex := field[0].(int); !isIndex {
		return reaches(root, append(slices.Clone(at), field[0]), field[1:], value)
	}
	for i := range n.Content {
		if n.Kind != yaml.SequenceNode {
			break
		}
		if found, ok := reaches(root, append(slices.Clone(at), i), field[1:], value); ok {
			return found, true
		}
	}
	return nil, false
}

// below returns the part of a field's path below a JSON pointer.
func below(pointer string, field []any) (rest []any, ok bool) {
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if len(field) == 0 {
			return nil, false
		}
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		switch f := field[0].(type) {
		case string:
			if f != step {
				return nil, false
			}
		case int:
			if _, err := strconv.Atoi(step); err != nil && step != "-" {
				return nil, false
			}
		}
		field = field[1:]
	}
	return field, true
}

// Same reports whether a node contains a value, or a string that becomes the value when variables are substituted. Maps and
// lists always count as the same: they are merged.
func Same(n *yaml.Node, value any) bool {
	switch value.(type) {
	case map[string]any:
		return n.Kind == yaml.MappingNode
	case []any:
		return n.Kind == yaml.SequenceNode
	}
	if n.Kind != yaml.ScalarNode {
		return false
	}
	if strings.Contains(n.Value, "$") {
		return true
	}
	own, err := repository.Value("", n)
	return err == nil && normal(own) == normal(value)
}

// normal returns a scalar in a form to compare: independent of the decoder that has read it, and without the
// line end that kustomize trims from a patch.
func normal(v any) any {
	switch v := v.(type) {
	case string:
		return strings.TrimRight(v, "\n")
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	}
	return v
}

// Touches returns the path in the patch that changes a field of an object or a value below it; ok is false
// if the patch changes nothing there.
func (p Patch) Touches(of Named, field []any) (at []any, ok bool) {
	if !p.selects(of) {
		return nil, false
	}
	if p.Node.Kind == yaml.MappingNode {
		return field, repository.Lookup(p.Node, field...) != nil
	}
	for i := range p.Node.Content {
		pointer, under := text(p.Node, i, "path"), []any(nil)
		for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
			under = append(under, step)
		}
		n := min(len(field), len(under))
		if pointer != "" && slices.EqualFunc(field[:n], under[:n], func(a, b any) bool { return fmt.Sprint(a) == b }) {
			return []any{i, "path"}, true
		}
	}
	return nil, false
}

// Covers reports whether a line of a file belongs to the patch.
func (p Patch) Covers(file string, line int) bool {
	return p.File == file && p.first <= line && line <= p.last
}

// At returns the string at a path of the patch.
func (p Patch) At(path []any) Text {
	text := p.Text
	text.Node = repository.Lookup(p.Node, path...)
	return text
}
