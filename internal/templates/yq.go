package templates

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// yqStep is a step of a yq expression: a path, a selection, or an alternative for null.
type yqStep struct {
	path []any // strings are keys, and integers list indexes
	// where keeps only documents with a value at this path.
	where     []any
	is        string
	negative  bool
	otherwise *yaml.Node
}

// parseYqExpression parses the part of yq's language that helmfiles use to read
// manifests: paths, select(PATH == "TEXT"), //, and | between them.
func parseYqExpression(source string) ([]yqStep, error) {
	p := &yqParser{rest: strings.TrimSpace(source)}
	var steps []yqStep
	for {
		step, ok := p.step()
		if !ok {
			return nil, notRun("yq " + source)
		}
		steps = append(steps, step)
		p.space()
		if p.rest == "" {
			return steps, nil
		}
		// A path may follow a selection without a pipe.
		if !p.take("|") && !strings.HasPrefix(p.rest, ".") {
			return nil, notRun("yq " + source)
		}
	}
}

type yqParser struct{ rest string }

func (p *yqParser) space() { p.rest = strings.TrimLeft(p.rest, " \t\n") }

// take consumes a string that must come next, after spaces.
func (p *yqParser) take(text string) bool {
	p.space()
	rest, found := strings.CutPrefix(p.rest, text)
	if found {
		p.rest = rest
	}
	return found
}

func (p *yqParser) step() (s yqStep, ok bool) {
	if p.take("select(") {
		s.where, ok = p.path()
		switch {
		case ok && p.take("=="):
		case ok && p.take("!="):
			s.negative = true
		default:
			return s, false
		}
		if s.is, ok = p.text(); !ok {
			return s, false
		}
		return s, p.take(")")
	}
	if s.path, ok = p.path(); !ok {
		return s, false
	}
	if p.take("//") {
		s.otherwise, ok = p.literal()
	}
	return s, ok
}

// path parses .a.b, ."a b", .["a"] and .[0].
func (p *yqParser) path() (path []any, ok bool) {
	p.space()
	if !strings.HasPrefix(p.rest, ".") {
		return nil, false
	}
	path = []any{}
	for {
		switch {
		case strings.HasPrefix(p.rest, ".["), strings.HasPrefix(p.rest, "[") && len(path) > 0:
			p.rest = p.rest[strings.Index(p.rest, "[")+1:]
			if key, ok := p.text(); ok {
				path = append(path, key)
			} else if n, ok := p.digits(); ok {
				path = append(path, n)
			} else {
				return nil, false
			}
			if !p.take("]") {
				return nil, false
			}
		case strings.HasPrefix(p.rest, `."`):
			p.rest = p.rest[1:]
			key, ok := p.text()
			if !ok {
				return nil, false
			}
			path = append(path, key)
		case strings.HasPrefix(p.rest, "."):
			n := 1
			for n < len(p.rest) && isWord(p.rest[n]) {
				n++
			}
			if n > 1 {
				path = append(path, p.rest[1:n])
			} else if len(path) > 0 {
				return nil, false
			}
			p.rest = p.rest[n:]
			if n == 1 {
				return path, true
			}
		default:
			return path, true
		}
	}
}

func isWord(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// text parses a double-quoted string without escapes.
func (p *yqParser) text() (string, bool) {
	p.space()
	if !strings.HasPrefix(p.rest, `"`) {
		return "", false
	}
	text, rest, found := strings.Cut(p.rest[1:], `"`)
	if !found || strings.Contains(text, `\`) {
		return "", false
	}
	p.rest = rest
	return text, true
}

func (p *yqParser) digits() (int, bool) {
	n := 0
	for n < len(p.rest) && p.rest[n] >= '0' && p.rest[n] <= '9' {
		n++
	}
	i, err := strconv.Atoi(p.rest[:n])
	p.rest = p.rest[n:]
	return i, err == nil
}

// literal parses an alternative for null: {}, [], or a string.
func (p *yqParser) literal() (*yaml.Node, bool) {
	switch {
	case p.take("{}"):
		return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, true
	case p.take("[]"):
		return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}, true
	}
	text, ok := p.text()
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}, ok
}

// applyYq evaluates an expression on a document. It returns false if a selection excludes the
// document.
func applyYq(steps []yqStep, doc *yaml.Node) (*yaml.Node, bool) {
	at := doc
	if at.Kind == yaml.DocumentNode && len(at.Content) == 1 {
		at = at.Content[0]
	}
	for _, s := range steps {
		if s.where != nil {
			value := repository.Lookup(at, s.where...)
			same := value != nil && value.Kind == yaml.ScalarNode && value.Value == s.is
			if same == s.negative {
				return nil, false
			}
			continue
		}
		if at != nil {
			at = repository.Lookup(at, s.path...)
		}
		if s.otherwise != nil && (at == nil || slices.Contains([]string{"!!null"}, at.ShortTag()) || at.Kind == yaml.ScalarNode && at.Value == "false" && at.ShortTag() == "!!bool") {
			at = s.otherwise
		}
	}
	if at == nil {
		at = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
	return at, true
}
