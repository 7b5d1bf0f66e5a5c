package output

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// YAML returns a YAML document that can be printed. If a string contains characters that must not be printed,
// it is double-quoted and the characters are escaped. The document has the same values. A document without
// such strings is returned unchanged.
func YAML(document []byte) ([]byte, error) {
	if Check(document) == nil {
		return document, nil
	}
	var node yaml.Node
	if err := yaml.Unmarshal(document, &node); err != nil {
		return nil, err
	}
	quote(&node)
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&node); err != nil {
		return nil, err
	}
	return spell(out.Bytes()), nil
}

// quote sets the style of strings that must not be printed unchanged to double-quoted, and replaces unprintable
// characters in comments.
func quote(n *yaml.Node) {
	for _, comment := range []*string{&n.HeadComment, &n.LineComment, &n.FootComment} {
		if Check([]byte(*comment)) != nil {
			*comment = Inert(*comment)
		}
	}
	if n.Kind == yaml.ScalarNode && Check([]byte(n.Value)) != nil {
		n.Style = n.Style&yaml.TaggedStyle | yaml.DoubleQuotedStyle
	}
	for _, child := range n.Content {
		quote(child)
	}
}

// spell escapes the characters that must not be printed: after quote, they occur only in double-quoted
// strings.
func spell(document []byte) []byte {
	var g guard
	var out []byte
	for _, r := range string(document) {
		completes := g.completes(r)
		switch {
		case r != '\n' && !printable(r) && !joins(r), completes && r == '[':
			out = fmt.Appendf(out, `\U%08X`, r)
		default:
			out = append(out, string(r)...)
		}
	}
	return out
}
