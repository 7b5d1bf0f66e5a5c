package reconcile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// patch is one that a Kustomization's build may have applied: a partial object, or the
// operations of RFC 6902.
type patch struct {
	// file is how to tell of the file that it stands in, whose path in repo is local.
	file, local string
	repo        *repository.Repository
	// node is its root. An inline patch has the lines that it has in its file, and exact says
	// that they are all known.
	node  *yaml.Node
	exact bool
	// first and last are its lines.
	first, last int
	// target selects the objects that it changes, nil where it names its object itself.
	target *types.Selector
}

// patches are found once.
type patches struct {
	read, all once
}

// once are patches that are found once.
type once struct {
	sync.Once
	list []patch
}

// patches are those of the kustomizations that a build read, and of the Kustomization itself,
// the one that is applied last first. They are looked for when something asks for the position
// of what a patch has set.
func (k *Kustomization) patches() []patch {
	k.patched.all.Do(func() {
		if k.Repo != nil {
			own := k.ownPatches()
			slices.Reverse(own)
			k.patched.all.list = slices.Concat(own, k.readPatches())
		}
	})
	return k.patched.all.list
}

// readPatches are those of the kustomizations that a build read, the one that is applied last
// first.
func (k *Kustomization) readPatches() []patch {
	k.patched.read.Do(func() {
		var all []patch
		for _, file := range k.read {
			if f, ok := k.Repo.File(file); ok {
				if kustomize, ok := kustomizeIn(k.Repo, f); ok {
					all = append(all, patchesOf(k.Repo, kustomize)...)
				}
			}
		}
		for i := range all {
			all[i].file = k.origin(all[i].local)
		}
		slices.Reverse(all)
		k.patched.read.list = all
	})
	return k.patched.read.list
}

// patchesOf are the patches of a kustomization.
func patchesOf(repo *repository.Repository, k *repository.Kustomize) []patch {
	if k.Spec == nil || k.Document == nil {
		return nil
	}
	var all []patch
	add := func(p types.Patch, field ...any) {
		if p.Path == "" {
			all = append(all, inlinePatch(written{repo: repo, local: k.File.Path, node: k.Document.Lookup(field...), exact: true}, p.Target)...)
			return
		}
		at, _ := repository.Join(k.Dir, p.Path)
		if f, ok := repo.File(at); ok {
			for _, d := range f.Documents {
				one := patch{file: at, local: at, repo: repo, node: d.Root(), exact: true, target: p.Target}
				all = append(all, one.bounded())
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

// bounded is the patch with its lines.
func (p patch) bounded() patch {
	p.first, p.last = p.node.Line, p.node.Line
	move(p.node, func(n *yaml.Node) {
		p.first = min(p.first, n.Line)
		end := n.Line
		if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && p.exact {
			end += strings.Count(n.Value, "\n")
		}
		p.last = max(p.last, end)
	})
	return p
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
	matches := func(pattern, text string) bool {
		whole, err := count.CompileShort("^(?:" + pattern + ")$")
		return p.target != nil && err == nil && whole.MatchString(text)
	}
	if kind != "" && kind != o.Kind && !matches(kind, o.Kind) {
		return false
	}
	return name == "" || strings.Contains(o.Name, name) || matches(name, o.Name)
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

// plain is a scalar as it compares, whichever decoder has read it, and whether or not it had a
// line end that kustomize trims off a patch.
func plain(v any) any {
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

// Patched says whether a line of a file is one of a patch that is for the object, and maybe for
// others too.
func (o *Object) Patched(file string, line int) bool {
	return o.Kustomization != nil && slices.ContainsFunc(o.Kustomization.patches(), func(p patch) bool {
		return p.file == file && p.first <= line && line <= p.last
	})
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
