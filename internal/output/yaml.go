package output

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// YAML returns a YAML document so that it can be printed: where it holds what must not be, the
// strings that hold it are in double quotes, where YAML spells such characters. It loads as the same
// values. A document without such strings is returned as it is.
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

// quote puts the strings of a node that must not be printed as they are in double quotes, and makes
// its comments printable.
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

// spell writes the characters that must not be printed as double quotes spell them: they are
// nowhere else.
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
