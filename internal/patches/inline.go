package patches

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// Inline returns the documents of an inline patch: a string in a file. Their positions are those
// of the string if the lines inside of the string do not match the lines of the file.
func Inline(text Text, target *types.Selector) []Patch {
	at := text.Node
	if at == nil || at.Kind != yaml.ScalarNode {
		return nil
	}
	indent := -1
	if at.Style&yaml.LiteralStyle != 0 && text.Repo != nil && text.Exact {
		indent = indentOf(text.Repo, text.Local, at)
	}
	var all []Patch
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
		text.Node, text.Exact = document.Content[0], indent >= 0
		all = append(all, bounded(text, target))
	}
}

// indentOf returns the indent of a literal block in its file, -1 if it is unknown.
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
