package flux

import (
	"strings"
	"unicode/utf8"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// locate is where a value of an object is to be mended: its field in the document that the
// object was built from; the item of a list that holds it where a patch moved it; the patch
// that brought it; else the nearest parent that is there.
func (b *budget) locate(repo *repository.Repository, o *reconcile.Object, value string, path ...any) place {
	if o.Source == nil || holds(o.Source, value, path) {
		return placeOf(o, path...)
	}
	for at, step := range path {
		if _, isIndex := step.(int); !isIndex {
			continue
		}
		if items := o.Source.Lookup(path[:at]...); items != nil {
			for i := range items.Content {
				other := append(append([]any{}, path[:at]...), i)
				if other = append(other, path[at+1:]...); holds(o.Source, value, other) {
					return placeOf(o, other...)
				}
			}
		}
		break
	}
	if at, ok := b.inPatch(repo, o, value); ok {
		return at
	}
	return placeOf(o, path...)
}

// locate is the same of the rule's budget.
func (w *world) locate(o *reconcile.Object, value string, path ...any) place {
	return w.budget.locate(w.repo, o, value, path...)
}

// holds says whether a field of a document has a value, or one that variables make it of.
func holds(source *repository.Object, value string, path []any) bool {
	node := source.Lookup(path...)
	return node != nil && (node.Value == value || strings.Contains(node.Value, "$"))
}

// inPatch finds a value in the patches that the object's Kustomization reads or holds.
func (b *budget) inPatch(repo *repository.Repository, o *reconcile.Object, value string) (place, bool) {
	k := o.Kustomization
	if k == nil || value == "" {
		return place{}, false
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
	return place{}, false
}

// inLines finds the first occurrence of a text from a line on that is accepted by what comes
// before and after it.
func (b *budget) inLines(repo *repository.Repository, file string, from int, value string, accept func(before, after string) bool) (place, bool) {
	data, ok := b.read(repo, file)
	if !ok {
		return place{}, false
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
				return place{file, n, utf8.RuneCountInString(line[:start]) + 1}, true
			}
		}
	}
	return place{}, false
}

// isWord says whether a text stands for itself, and is not a part of a longer name.
func isWord(before, after string) bool {
	const end = " \t\r\n\"',]}#"
	return (before == "" || strings.ContainsAny(before[len(before)-1:], " \t\"'[{:")) &&
		(after == "" || strings.ContainsAny(after[:1], end))
}
