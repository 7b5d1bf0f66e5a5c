package reconcile

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// written is a text as it stands in a file.
type written struct {
	// file is how to tell of the file, whose path in repo is local.
	file, local string
	repo        *repository.Repository
	node        *yaml.Node
	// exact says that the position of the node is known, and not only that of a text around it.
	exact bool
}

// ownPatches are those of the Flux Kustomization itself.
func (k *Kustomization) ownPatches() []patch {
	var all []patch
	for i, p := range k.Spec.Patches {
		if text, ok := k.ownPatch(i); ok {
			all = append(all, inlinePatch(text, selector(p.Target))...)
		}
	}
	return all
}

// ownPatch is the text of an entry of spec.patches where it stands: in the Kustomization's
// document, or in the patch that brought it.
func (k *Kustomization) ownPatch(i int) (written, bool) {
	return k.ownText(k.Spec.Patches[i].Patch, "spec", "patches", i, "patch")
}

// ownText is a text of the Flux Kustomization where it stands.
func (k *Kustomization) ownText(value string, field ...any) (written, bool) {
	if k.Object == nil || k.Object.Source == nil {
		return written{}, false
	}
	by := k.Object.Kustomization
	if n := k.Object.Source.Lookup(field...); n != nil && same(n, value) {
		return written{file: k.Object.File, local: k.Object.Source.File(), repo: by.repository(), node: n, exact: true}, true
	}
	if by == nil || by.Repo == nil {
		return written{}, false
	}
	brought := by.readPatches()
	if by != k { // a root may apply itself
		brought = by.patches()
	}
	for _, p := range brought {
		if at, ok := p.sets(k.Object, field, value); ok {
			return written{file: p.file, local: p.local, repo: p.repo, node: repository.Lookup(p.node, at...), exact: p.exact}, true
		}
	}
	return written{}, false
}

// positionOf is that of a part of the Flux Kustomization's own patches.
func (k *Kustomization) positionOf(part addedPart) (file string, line, column int) {
	if part.target != "" {
		return k.position("spec", "patches", part.entry, "target", part.target)
	}
	text, ok := k.ownPatch(part.entry)
	if !ok {
		return k.position("spec", "patches", part.entry)
	}
	if documents := inlinePatch(text, nil); len(part.part) > 0 && len(documents) == 1 {
		at := documents[0].place(part.part, false)
		return at.file, at.line, at.column
	}
	return text.file, text.node.Line, text.node.Column
}

// repository is where a Kustomization's objects stand.
func (k *Kustomization) repository() *repository.Repository {
	if k == nil {
		return nil
	}
	return k.Repo
}

// inlinePatch are the documents of a patch that stands as a text in a file. They have its
// position where the text's own lines are not those of the file.
func inlinePatch(text written, target *types.Selector) []patch {
	at := text.node
	if at == nil || at.Kind != yaml.ScalarNode {
		return nil
	}
	indent := -1
	if at.Style&yaml.LiteralStyle != 0 && text.repo != nil && text.exact {
		indent = indentOf(text.repo, text.local, at)
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
		one := patch{file: text.file, local: text.local, repo: text.repo, node: document.Content[0], exact: indent >= 0, target: target}
		all = append(all, one.bounded())
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
