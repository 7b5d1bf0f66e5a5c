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
	// repeats is a repetition of a regular expression.
	repeats = regexp.MustCompile(`\{[0-9]`)
	// selectors are the fields of kustomize's files that hold regular expressions: the targets of patches
	// and what replacements select and reject.
	selectors = []string{"target", "targets", "select", "reject"}
)

// longText is the length of a file that may hold a large regular expression without a repetition.
const longText = 16 << 10

// CountSelectors returns an error where a file of kustomize's selects objects by a regular expression that
// is too large to be compared with each object. What is no YAML is left to kustomize to refuse.
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
			return nil //nolint:nilerr // kustomize says why
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

// countIn looks into a node; inline says that its texts may be files of kustomize's.
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

// mostSelectors is how deep lists of selectors and aliases of them nest at most: an alias may lead to
// the list that it stands in.
const mostSelectors = 4

// countSelected counts the regular expressions of a selector, or of a list of them. Other fields are none:
// panels of Grafana's have targets, too, with queries.
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

// selectorFields are those that kustomize takes for regular expressions.
// Source: types.NewSelectorRegex of kustomize's api.
var selectorFields = []string{"group", "version", "kind", "name", "namespace"}

// CountSelector returns an error where a field of a selector, as kustomize anchors it, is too large a regular
// expression.
func CountSelector(text string) error {
	if err := count.Short("^(?:" + text + ")$"); err != nil {
		return fmt.Errorf("what a patch or replacement selects is not evaluated: %w", err)
	}
	return nil
}

// CountTarget returns an error where a field of a selector is too large a regular expression.
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

// NewSelectorRegex is kustomize's, for a selector of a repository: it fails where a regular expression is
// too large.
func NewSelectorRegex(target *types.Selector) (*types.SelectorRegex, error) {
	if err := CountTarget(target); err != nil {
		return nil, err
	}
	return types.NewSelectorRegex(target)
}
