package sops

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// actions matches the template actions of Helm, ResourceSets and Jinja.
var actions = regexp.MustCompile(`(?s)\{\{.*?\}\}|\{%.*?%\}|<<[^\n]*?>>`)

// withoutActions replaces each template action that produces a value by a variable reference, and removes all other
// actions. The number of lines does not change.
func withoutActions(text string) string {
	const marker = "\ue000"
	lines := strings.Split(actions.ReplaceAllStringFunc(text, func(action string) string {
		return marker + strings.Repeat("\n", strings.Count(action, "\n"))
	}), "\n")
	for i, line := range lines {
		bare := strings.TrimSpace(strings.ReplaceAll(line, marker, ""))
		if strings.Contains(line, marker) && (bare == "" || bare == "-") {
			lines[i] = "" // the action is a condition or a loop
			continue
		}
		lines[i] = strings.ReplaceAll(line, marker, "${X}")
	}
	return strings.Join(lines, "\n")
}

// documentsIn returns the root nodes of the YAML documents in a string, which may be a template. It returns
// none if the string is not YAML.
func documentsIn(text string) []*yaml.Node {
	if all, err := decodeAll(text); err == nil {
		return all
	}
	if !actions.MatchString(text) {
		return nil
	}
	all, err := decodeAll(withoutActions(text))
	if err != nil {
		return nil
	}
	return all
}

func decodeAll(text string) (all []*yaml.Node, err error) {
	defer func() {
		if recover() != nil { // as internal/repository does
			all, err = nil, errors.New("the parser gave up")
		}
	}()
	for decoder := yaml.NewDecoder(bytes.NewReader([]byte(text))); ; {
		var doc yaml.Node
		if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if len(doc.Content) == 1 && doc.Content[0].Kind != yaml.ScalarNode {
			all = append(all, doc.Content[0])
		}
	}
}
