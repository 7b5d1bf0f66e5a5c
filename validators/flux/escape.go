package flux

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// builders maps each document to the Kustomizations, of all clusters, that build objects from it.
type builders map[*repository.Object][]*reconcile.Kustomization

func buildersOf(p *rule.Pass) builders {
	all := builders{}
	for _, c := range p.Fleet().Clusters {
		for _, k := range c.Kustomizations {
			for _, o := range k.Objects {
				if o.Source != nil {
					all[o.Source] = append(all[o.Source], k)
				}
			}
		}
	}
	return all
}

// escape returns the fix that writes $${NAME} for a variable that nothing defines. It returns nil unless the
// variable certainly belongs to a shell script: each string that uses it must set it, too. It also returns nil
// if a Kustomization applies the document without substitution, because $${NAME} would stay as it is.
func (w *world) escape(o *reconcile.Object, name string, by builders) *finding.Fix {
	if o.Source == nil {
		return nil
	}
	file, ok := w.repo.File(o.File)
	if !ok || file != o.Source.Document.File || file.FromItems {
		return nil
	}
	for _, k := range by[o.Source] {
		if v := k.Variables[name]; k.Spec.PostBuild == nil || v == nil || !v.Undefined {
			return nil
		}
	}
	data, ok := w.budget.read(w.repo, o.File)
	if !ok {
		return nil
	}
	start, _ := o.Source.Position()
	edits := escapes(data, o.File, name, start, endOf(o.Source))
	if len(edits) == 0 || len(edits) != setThere(o.Source.Node, name, setting(name)) {
		return nil
	}
	return &finding.Fix{Edits: edits}
}

// escapes returns the edits that add a $ before each ${NAME} in the lines from to end, exclusive, of a file.
func escapes(data, file, name string, from, end int) []finding.Edit {
	var edits []finding.Edit
	n := 0
	for line := range strings.Lines(data) {
		if n++; n < from || n >= end {
			continue
		}
		for _, at := range variableAt(line, name) {
			edits = append(edits, finding.Edit{
				Place: finding.Place{File: file, Line: n, Column: utf8.RuneCountInString(line[:at]) + 1}, Old: "${" + name, New: "$${" + name,
			})
		}
	}
	return edits
}

// variableAt returns the offsets of each ${NAME} in a string, without escaped ones and those with a default.
func variableAt(text, name string) []int {
	var found []int
	for at := 0; ; {
		i := strings.Index(text[at:], "${"+name+"}")
		if i < 0 {
			return found
		}
		start := at + i
		before := text[:start]
		if escaped := len(before) - len(strings.TrimRight(before, "$")); escaped%2 == 0 {
			found = append(found, start)
		}
		at = start + len("${"+name+"}")
	}
}

// setThere counts the uses of ${NAME} in the strings below a node. It returns -1 if a string uses the variable
// without setting it.
func setThere(n *yaml.Node, name string, sets *regexp.Regexp) int {
	total := 0
	for _, child := range n.Content {
		count := setThere(child, name, sets)
		if count < 0 {
			return count
		}
		total += count
	}
	if n.Kind != yaml.ScalarNode {
		return total
	}
	count := len(variableAt(n.Value, name))
	if count > 0 && !sets.MatchString(n.Value) {
		return -1
	}
	return total + count
}

// setting returns a regular expression that matches the statements of a shell script that set a variable. The
// name consists of letters, digits and _ only.
func setting(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)(^|[;&|({]|\b(then|do|else|export|local|readonly|declare)\b)\s*` + name + `=|\bfor\s+` + name + `\s+in\b|\bread\s+(-\w+\s+)*` + name + `\b`)
}
