package patches

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/count"
)

var (
	// repeats matches the start of a repetition in a regular expression.
	repeats = regexp.MustCompile(`\{[0-9]`)
	// selectors are the fields of kustomize's files that contain regular expressions: the targets of patches, and
	// the objects that replacements select and reject.
	selectors = []string{"target", "targets", "select", "reject"}
)

// longText is the length from which a file may contain a large regular expression without a repetition.
const longText = 16 << 10

// CountSelectors returns an error if a file of kustomize selects objects with a regular expression that
// is too large to match each object. It ignores files that are not YAML: kustomize refuses them.
func CountSelectors(data []byte) error {
	if !mayHoldLarge(data) {
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return nil //nolint:nilerr // kustomize reports the error
		}
		if err := countIn(&doc, true); err != nil {
			return err
		}
	}
}

func mayHoldLarge(data []byte) bool {
	named := slices.ContainsFunc(selectors, func(field string) bool { return bytes.Contains(data, []byte(field)) })
	return named && (len(data) > longText || repeats.Match(data))
}

// countIn checks the selectors below a node; if inline is set, strings may be files of kustomize.
func countIn(n *yaml.Node, inline bool) error {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i].Value, n.Content[i+1]
			if slices.Contains(selectors, key) {
				if err := countSelected(value, mostSelectors); err != nil {
					return err
				}
			}
			if err := countIn(value, inline); err != nil {
				return err
			}
		}
	case yaml.ScalarNode:
		if inline && strings.Contains(n.Value, "\n") && mayHoldLarge([]byte(n.Value)) {
			var inner yaml.Node
			if yaml.Unmarshal([]byte(n.Value), &inner) == nil {
				return countIn(&inner, false)
			}
		}
	default:
		for _, child := range n.Content {
			if err := countIn(child, inline); err != nil {
				return err
			}
		}
	}
	return nil
}

// mostSelectors is the maximum depth of nested lists of selectors and of aliases: an alias may refer to
// the list that contains it.
const mostSelectors = 4

// countSelected checks the regular expressions of a selector, or of a list of selectors. It ignores other fields:
// Grafana panels also have targets, which contain queries.
func countSelected(n *yaml.Node, depth int) error {
	if depth == 0 {
		return nil
	}
	if n.Kind == yaml.AliasNode {
		return countSelected(n.Alias, depth-1)
	}
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			if err := countSelected(item, depth-1); err != nil {
				return err
			}
		}
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		var err error
		switch {
		case key == "<<":
			err = countSelected(value, depth-1)
		case value.Kind == yaml.ScalarNode && slices.Contains(selectorFields, key):
			err = CountSelector(value.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// selectorFields are the fields that kustomize reads as regular expressions.
// Source: types.NewSelectorRegex of kustomize's api.
var selectorFields = []string{"group", "version", "kind", "name", "namespace"}

// CountSelector returns an error if a field of a selector, anchored as kustomize does, is too large as a regular
// expression.
func CountSelector(text string) error {
	if err := count.Short("^(?:" + text + ")$"); err != nil {
		return fmt.Errorf("the selector of a patch or replacement was not evaluated: %w", err)
	}
	return nil
}

// CountTarget returns an error if a field of a selector is too large a regular expression.
func CountTarget(t *types.Selector) error {
	if t == nil {
		return nil
	}
	for _, text := range []string{t.Group, t.Version, t.Kind, t.Name, t.Namespace} {
		if err := CountSelector(text); err != nil {
			return err
		}
	}
	return nil
}

// NewSelectorRegex is kustomize's function for a selector of a repository: it returns an error if a regular expression is
// too large.
func NewSelectorRegex(target *types.Selector) (*types.SelectorRegex, error) {
	if err := CountTarget(target); err != nil {
		return nil, err
	}
	return types.NewSelectorRegex(target)
}
