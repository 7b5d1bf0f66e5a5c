package manifest

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// write writes a node in block style, with the same bytes as yaml.v3 with an indent of two and
// compact sequences, which tests check. It is several times faster, which matters with tens of
// thousands of files: only scalars with special characters go through yaml.v3.
func write(out *bytes.Buffer, n *yaml.Node) error {
	switch {
	case n.Kind == yaml.MappingNode && len(n.Content) > 0:
		return writeMap(out, n, 0, false)
	case n.Kind == yaml.SequenceNode && len(n.Content) > 0:
		return writeList(out, n, 0, false)
	}
	err := writeValue(out, n, 0)
	out.WriteByte('\n')
	return err
}

// writeMap writes the pairs of a map at an indent; begun is set if the cursor is already at the
// indent (after a dash).
func writeMap(out *bytes.Buffer, n *yaml.Node, indent int, begun bool) error {
	for i := 0; i < len(n.Content); i += 2 {
		if i > 0 || !begun {
			spaces(out, indent)
		}
		if err := writeKey(out, n.Content[i], indent); err != nil {
			return err
		}
		value := n.Content[i+1]
		var err error
		switch {
		case value.Kind == yaml.MappingNode && len(value.Content) > 0:
			out.WriteByte('\n')
			err = writeMap(out, value, indent+2, false)
		case value.Kind == yaml.SequenceNode && len(value.Content) > 0:
			out.WriteByte('\n')
			err = writeList(out, value, indent, false)
		default:
			out.WriteByte(' ')
			err = writeValue(out, value, indent)
			out.WriteByte('\n')
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxKey is the maximum length of a key that is written without a question mark. YAML's own limit
// is 1,024 characters, and escapes lengthen keys.
const maxKey = 100

func writeKey(out *bytes.Buffer, n *yaml.Node, indent int) error {
	long := len(n.Value) > maxKey
	if long {
		out.WriteString("? ")
	}
	if err := writeScalar(out, n, indent); err != nil {
		return err
	}
	if long {
		out.WriteByte('\n')
		spaces(out, indent)
	}
	out.WriteByte(':')
	return nil
}

func writeList(out *bytes.Buffer, n *yaml.Node, indent int, begun bool) error {
	for i, item := range n.Content {
		if i > 0 || !begun {
			spaces(out, indent)
		}
		out.WriteString("- ")
		var err error
		switch {
		case item.Kind == yaml.MappingNode && len(item.Content) > 0:
			err = writeMap(out, item, indent+2, true)
		case item.Kind == yaml.SequenceNode && len(item.Content) > 0:
			err = writeList(out, item, indent+2, true)
		default:
			err = writeValue(out, item, indent)
			out.WriteByte('\n')
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeValue writes the value after a key or a dash, without the end of line.
func writeValue(out *bytes.Buffer, n *yaml.Node, indent int) error {
	switch n.Kind {
	case yaml.MappingNode:
		out.WriteString("{}")
	case yaml.SequenceNode:
		out.WriteString("[]")
	case yaml.ScalarNode:
		return writeScalar(out, n, indent)
	default:
		return fmt.Errorf("cannot write a YAML node of kind %d", n.Kind)
	}
	return nil
}

func writeScalar(out *bytes.Buffer, n *yaml.Node, indent int) error {
	switch {
	case n.Style == yaml.LiteralStyle:
		writeLiteral(out, n.Value, indent+2)
	case n.Style == yaml.DoubleQuotedStyle && simple(n.Value):
		out.WriteString(`"` + n.Value + `"`)
	case n.Style == 0 && (n.Tag != "!!str" || plain(n.Value)):
		out.WriteString(n.Value)
	default:
		data, err := yaml.Marshal(n)
		if err != nil {
			return err
		}
		out.Write(bytes.TrimSuffix(data, []byte("\n")))
	}
	return nil
}

// writeLiteral writes a literal block without the last end of line.
func writeLiteral(out *bytes.Buffer, s string, indent int) {
	body, whole := strings.CutSuffix(s, "\n")
	out.WriteByte('|')
	if !whole {
		out.WriteByte('-')
	}
	for l := range strings.SplitSeq(body, "\n") {
		out.WriteByte('\n')
		if l != "" {
			spaces(out, indent)
			out.WriteString(l)
		}
	}
}

// simple reports whether no character of a string needs escaping in double quotes.
func simple(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// plain reports whether a string certainly needs no quotes as a value or key; yaml.v3
// decides about all others.
func plain(s string) bool {
	if s == "" || !letter(s[0]) && s[0] != '/' {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case letter(c), c >= '0' && c <= '9', strings.IndexByte("._/-@+=,()$", c) >= 0:
		case c == ':' && i+1 < len(s) && s[i+1] != ' ':
		case c == ' ' && i+1 < len(s) && s[i+1] != ' ' && s[i+1] != '#':
		default:
			return false
		}
	}
	n := yaml.Node{Kind: yaml.ScalarNode, Value: s}
	return n.ShortTag() == "!!str"
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func spaces(out *bytes.Buffer, n int) {
	for range n {
		out.WriteByte(' ')
	}
}
