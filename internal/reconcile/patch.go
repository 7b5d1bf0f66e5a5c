package reconcile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// patch is one that a Kustomization's build may have applied: a partial object, or the
// operations of RFC 6902.
type patch struct {
	file string
	// node is its root. An inline patch has the lines that it has in its file.
	node *yaml.Node
	// target selects the objects that it changes, nil where it names its object itself.
	target *types.Selector
}

// patches are found once.
type patches struct {
	once sync.Once
	list []patch
}

// patches are those of the kustomizations that a build read, and of the Kustomization itself,
// the one that is applied last first. They are looked for when something asks for the position
// of what a patch has set.
func (k *Kustomization) patches() []patch {
	k.patched.once.Do(func() {
		if k.Repo == nil {
			return
		}
		var all []patch
		for _, file := range k.read {
			if f, ok := k.Repo.File(file); ok {
				if kustomize, ok := kustomizeIn(k.Repo, f); ok {
					all = append(all, patchesOf(k.Repo, kustomize)...)
				}
			}
		}
		for i := range all {
			all[i].file = k.origin(all[i].file)
		}
		if k.Object != nil && k.Object.Source != nil {
			all = append(all, k.ownPatches()...)
		}
		slices.Reverse(all)
		k.patched.list = all
	})
	return k.patched.list
}

// ownPatches are those of the Flux Kustomization itself.
func (k *Kustomization) ownPatches() []patch {
	var all []patch
	for i, p := range k.Spec.Patches {
		var target *types.Selector
		if t := p.Target; t != nil {
			target = &types.Selector{}
			target.Kind, target.Name = t.Kind, t.Name
		}
		at := k.Object.Source.Lookup("spec", "patches", i, "patch")
		all = append(all, inlinePatch(k.Object.Kustomization.repository(), k.Object.Source.File(), at, target)...)
	}
	for i := range all {
		all[i].file = k.Object.File
	}
	return all
}

// repository is where a Kustomization's objects stand.
func (k *Kustomization) repository() *repository.Repository {
	if k == nil {
		return nil
	}
	return k.Repo
}

// patchesOf are the patches of a kustomization.
func patchesOf(repo *repository.Repository, k *repository.Kustomize) []patch {
	if k.Spec == nil || k.Document == nil {
		return nil
	}
	var all []patch
	add := func(p types.Patch, field ...any) {
		if p.Path == "" {
			all = append(all, inlinePatch(repo, k.File.Path, k.Document.Lookup(field...), p.Target)...)
			return
		}
		at, _ := repository.Join(k.Dir, p.Path)
		if f, ok := repo.File(at); ok {
			for _, d := range f.Documents {
				all = append(all, patch{at, d.Node, p.Target})
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

// inlinePatch are the documents of a patch that stands as a text in a file. They have its
// position where the text's own lines are not those of the file.
func inlinePatch(repo *repository.Repository, file string, at *yaml.Node, target *types.Selector) []patch {
	if at == nil || at.Kind != yaml.ScalarNode {
		return nil
	}
	indent := -1
	if at.Style&yaml.LiteralStyle != 0 && repo != nil {
		indent = indentOf(repo, file, at)
	}
	var all []patch
	for decoder := yaml.NewDecoder(strings.NewReader(at.Value)); ; {
		var document yaml.Node
		if decoder.Decode(&document) != nil || len(document.Content) == 0 {
			return all
		}
		move(document.Content[0], func(n *yaml.Node) {
			if indent < 0 {
				n.Line, n.Column = at.Line, at.Column
				return
			}
			n.Line, n.Column = n.Line+at.Line, n.Column+indent
		})
		all = append(all, patch{file, document.Content[0], target})
	}
}

// indentOf is how far a literal text is indented in its file, -1 where that is not known.
func indentOf(repo *repository.Repository, file string, at *yaml.Node) int {
	data, err := repo.ReadFile(file)
	if err != nil {
		return -1
	}
	first, _, _ := strings.Cut(at.Value, "\n")
	n := 0
	for line := range strings.Lines(string(data)) {
		if n++; n == at.Line+1 {
			line = strings.TrimRight(line, "\r\n")
			if before, found := strings.CutSuffix(line, first); found && strings.TrimSpace(before) == "" {
				return utf8.RuneCountInString(before)
			}
			return -1
		}
	}
	return -1
}

// move changes the position of a node and of all in it.
func move(n *yaml.Node, change func(*yaml.Node)) {
	change(n)
	for _, c := range n.Content {
		move(c, change)
	}
}

// place is where something stands in a patch.
func (p patch) place(path []any, key bool) place {
	at := place{file: p.file}
	if n := len(path); key && p.node.Kind == yaml.SequenceNode && n == 2 {
		path, key = []any{path[0], "path"}, false // an operation names the field there
	}
	if key {
		at.line, at.column = repository.KeyPosition(p.node, path...)
	} else {
		at.line, at.column = repository.Position(p.node, path...)
	}
	return at
}

// sets returns where the patch sets a value of the object, as a path from its root.
func (p patch) sets(o *Object, field []any, value any) ([]any, bool) {
	switch p.node.Kind {
	case yaml.MappingNode:
		if !p.selects(o) {
			return nil, false
		}
		return reaches(p.node, nil, field, value)
	case yaml.SequenceNode:
		if !p.selects(o) {
			return nil, false
		}
		for i := range p.node.Content {
			pointer := repository.Lookup(p.node, i, "path")
			if pointer == nil || repository.Lookup(p.node, i, "value") == nil {
				continue
			}
			if rest, ok := below(pointer.Value, field); ok {
				if at, ok := reaches(p.node, []any{i, "value"}, rest, value); ok {
					return at, true
				}
			}
		}
	}
	return nil, false
}

// selects says whether the patch may be for the object, whose name others may have prefixed.
func (p patch) selects(o *Object) bool {
	kind, name := "", ""
	switch {
	case p.target != nil:
		kind, name = p.target.Kind, p.target.Name
	case p.node.Kind == yaml.MappingNode:
		kind, name = text(p.node, "kind"), text(p.node, "metadata", "name")
	}
	if kind != "" && kind != o.Kind {
		return false
	}
	if name == "" || strings.Contains(o.Name, name) {
		return true
	}
	pattern, err := regexp.Compile("^(?:" + name + ")$")
	return p.target != nil && err == nil && pattern.MatchString(o.Name)
}

func text(n *yaml.Node, path ...any) string {
	if at := repository.Lookup(n, path...); at != nil && at.Kind == yaml.ScalarNode {
		return at.Value
	}
	return ""
}

// reaches follows a field from a place in a patch to a value. A list of a patch holds other
// items than the object's: any of them may be the one.
func reaches(root *yaml.Node, at, field []any, value any) ([]any, bool) {
	n := repository.Lookup(root, at...)
	if n == nil {
		return nil, false
	}
	if len(field) == 0 {
		return at, same(n, value)
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

// below returns what of a field is below a JSON pointer.
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

// same says whether a node holds a value, or one that variables make it of. Maps and lists
// that are there count as the same: they are merged.
func same(n *yaml.Node, value any) bool {
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
	return err == nil && plain(own) == plain(value)
}

// plain is a scalar as it compares, whichever decoder has read it.
func plain(v any) any {
	switch v := v.(type) {
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	}
	return v
}

// PatchPosition returns the file, line and column of a patch's part that changes what is at a
// path of the object or below it, whatever it sets there; ok is false where no patch does.
func (o *Object) PatchPosition(field ...any) (file string, line, column int, ok bool) {
	if o.Kustomization == nil {
		return "", 0, 0, false
	}
	for _, p := range o.Kustomization.patches() {
		if at, ok := p.touches(o, field); ok {
			found := p.place(at, false)
			return found.file, found.line, found.column, true
		}
	}
	return "", 0, 0, false
}

// touches returns what the patch has at a field of the object, or below it, as a path from its
// root.
func (p patch) touches(o *Object, field []any) ([]any, bool) {
	if !p.selects(o) {
		return nil, false
	}
	if p.node.Kind == yaml.MappingNode {
		return field, repository.Lookup(p.node, field...) != nil
	}
	for i := range p.node.Content {
		pointer, under := text(p.node, i, "path"), []any(nil)
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

// patchOf returns where a patch has set what is at a path of the object, and whether one has:
// the document that the object was built from has nothing there, or another value.
func (o *Object) patchOf(field []any, key bool) (place, bool) {
	value := o.Field(field...)
	if o.Kustomization == nil || value == nil || len(field) == 0 {
		return place{}, false
	}
	if o.Source != nil {
		if n := o.Source.Lookup(field...); n != nil && same(n, value) {
			return place{}, false
		}
	}
	for _, p := range o.Kustomization.patches() {
		if at, ok := p.sets(o, field, value); ok {
			return p.place(at, key), true
		}
	}
	return place{}, false
}
