package flux

import (
	"strings"
	"unicode/utf8"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// locate returns the place where a value of an object has to be fixed. It is the first of these that has the
// value: the field in the document that the object was built from; the list item that has the value, if a patch
// moved it; the patch that sets it; else the nearest existing parent of the field.
func (b *budget) locate(repo *repository.Repository, o *reconcile.Object, value string, path ...any) finding.Place {
	if o.Source == nil || holds(o.Source, value, path) {
		return o.Position(path...)
	}
	for at, step := range path {
		if _, isIndex := step.(int); !isIndex {
			continue
		}
		if items := o.Source.Lookup(path[:at]...); items != nil {
			for i := range items.Content {
				other := append(append([]any{}, path[:at]...), i)
				if other = append(other, path[at+1:]...); holds(o.Source, value, other) {
					return o.Position(other...)
				}
			}
		}
		break
	}
	if at, ok := b.inPatch(repo, o, value); ok {
		return at
	}
	return o.Position(path...)
}

// locate does the same with the budget of the rule.
func (w *world) locate(o *reconcile.Object, value string, path ...any) finding.Place {
	return w.budget.locate(w.repo, o, value, path...)
}

// holds reports whether a field of a document has a value, or contains variables that may produce it.
func holds(source *repository.Object, value string, path []any) bool {
	node := source.Lookup(path...)
	return node != nil && (node.Value == value || strings.Contains(node.Value, "$"))
}

// inPatch returns the place of a value in the patch files and kustomizations that the object's Kustomization
// reads, or in the Kustomization's own patches.
func (b *budget) inPatch(repo *repository.Repository, o *reconcile.Object, value string) (finding.Place, bool) {
	k := o.Kustomization
	if k == nil || value == "" {
		return finding.Place{}, false
	}
	for _, file := range k.Files {
		if repo.Use(file) == repository.Patch || repository.IsKustomization(file) {
			if at, ok := b.inLines(repo, file, 1, value, isWord); ok {
				return at, true
			}
		}
	}
	if k.Object != nil && k.Object.Source != nil && k.Object.Source.Lookup("spec", "patches") != nil {
		line, _ := k.Object.Source.Position("spec", "patches")
		return b.inLines(repo, k.Object.File, line, value, isWord)
	}
	return finding.Place{}, false
}

// inLines returns the first occurrence of a string in a file, from a line on, for which accept returns true.
// accept is called with the parts of the line before and after the string.
func (b *budget) inLines(repo *repository.Repository, file string, from int, value string, accept func(before, after string) bool) (finding.Place, bool) {
	data, ok := b.read(repo, file)
	if !ok {
		return finding.Place{}, false
	}
	n := 0
	for line := range strings.Lines(data) {
		if n++; n < from || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for at := 0; ; {
			i := strings.Index(line[at:], value)
			if i < 0 {
				break
			}
			start := at + i
			if at = start + len(value); accept(line[:start], line[at:]) {
				return finding.Place{File: file, Line: n, Column: utf8.RuneCountInString(line[:start]) + 1}, true
			}
		}
	}
	return finding.Place{}, false
}

// isWord reports whether a string is a whole word in its line, by the characters before and after it, and not a
// part of a longer name.
func isWord(before, after string) bool {
	const end = " \t\r\n\"',]}#"
	return (before == "" || strings.ContainsAny(before[len(before)-1:], " \t\"'[{:")) &&
		(after == "" || strings.ContainsAny(after[:1], end))
}
