package reconcile

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

// countSelectors returns an error where a file of kustomize's selects objects by a regular expression that
// is too large to be compared with each object. What is no YAML is left to kustomize to refuse.
func countSelectors(data []byte) error {
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
		if err := countIn(&doc, false, true); err != nil {
			return err
		}
	}
}

func mayHoldLarge(data []byte) bool {
	named := slices.ContainsFunc(selectors, func(field string) bool { return bytes.Contains(data, []byte(field)) })
	return named && (len(data) > longText || repeats.Match(data))
}

// countIn looks into a node: selecting says that it is part of a selector, inline that its texts may be
// files of kustomize's.
func countIn(n *yaml.Node, selecting, inline bool) error {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if err := countIn(n.Content[i+1], selecting || slices.Contains(selectors, n.Content[i].Value), inline); err != nil {
				return err
			}
		}
	case yaml.ScalarNode, yaml.AliasNode:
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		if selecting && n.Kind == yaml.ScalarNode {
			return countSelector(n.Value)
		}
		if inline && strings.Contains(n.Value, "\n") && mayHoldLarge([]byte(n.Value)) {
			var inner yaml.Node
			if yaml.Unmarshal([]byte(n.Value), &inner) == nil {
				return countIn(&inner, false, false)
			}
		}
	default:
		for _, child := range n.Content {
			if err := countIn(child, selecting, inline); err != nil {
				return err
			}
		}
	}
	return nil
}

// countSelector counts a field of a selector, as kustomize anchors it.
func countSelector(text string) error {
	if err := count.Short("^(?:" + text + ")$"); err != nil {
		return &limitError{fmt.Errorf("what a patch or replacement selects is not evaluated: %w", err)}
	}
	return nil
}

// countTarget counts the fields of a selector.
func countTarget(t *types.Selector) error {
	if t == nil {
		return nil
	}
	for _, text := range []string{t.Group, t.Version, t.Kind, t.Name, t.Namespace} {
		if err := countSelector(text); err != nil {
			return err
		}
	}
	return nil
}

// NewSelectorRegex is kustomize's, for a selector of a repository: it fails where a regular expression is
// too large.
func NewSelectorRegex(target *types.Selector) (*types.SelectorRegex, error) {
	if err := countTarget(target); err != nil {
		return nil, err
	}
	return types.NewSelectorRegex(target)
}
