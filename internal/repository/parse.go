package repository

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// filledIn is a placeholder in braces with text behind it, which no YAML has: a program fills it in.
var filledIn = regexp.MustCompile(`(?m):[ \t]+\{[A-Za-z_][A-Za-z0-9_.-]*\}[A-Za-z0-9_.-]`)

// parse parses the content of a file into documents. It records errors in f.Err. It keeps the valid documents, because a
// bootstrap may use one of them although kustomize refuses the whole file.
func parse(f *File, data []byte, most Limits) {
	f.Apart = apart(data)
	nodes, err := decode(data, 0, most)
	if err != nil && err.Reason == NotYAML {
		nodes = decodeApart(data, most)
	}
	if err != nil {
		err.Path, err.Template = f.Path, bytes.Contains(data, []byte("{{")) || bytes.Contains(data, []byte("{%")) || filledIn.Match(data)
		if f.Err = err; err.Reason == NotYAML && !err.Template {
			err.sharpen(data)
		}
	}
	for _, n := range nodes {
		if n.node == nil {
			continue
		}
		added, e := checkNode(n.node, most)
		if e != nil {
			e.Path = f.Path
			f.Err = firstError(f.Err, e)
			continue
		}
		f.added.add(added)
		f.Documents = append(f.Documents, newDocument(f, n.index, resolve(n.node)))
	}
}

func newDocument(f *File, index int, root *yaml.Node) *Document {
	d := &Document{File: f, Index: index, Line: root.Line, node: root, Encrypted: isEncrypted(root)}
	d.Objects = objectsOf(d)
	return d
}

func firstError(a, b *Error) *Error {
	if a != nil {
		return a
	}
	return b
}

type indexed struct {
	index int
	node  *yaml.Node
}

// decode decodes a stream of documents whose first line is offset+1. It uses one decoder
// for the whole stream, so that lines are absolute.
func decode(data []byte, offset int, most Limits) (nodes []indexed, failed *Error) {
	// The parser of yaml/v3 has panicked on hostile input before, and recovers only its own errors.
	defer func() {
		if p := recover(); p != nil {
			failed = &Error{Reason: NotYAML, Line: offset + 1, Message: "is not YAML: the parser gave up"}
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for i := 0; ; i++ {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return nodes, nil
		}
		if err != nil {
			return nodes, syntaxError(data, err, offset)
		}
		if i >= most.Documents {
			return nodes, &Error{Reason: TooLarge, Line: doc.Line + offset,
				Message: fmt.Sprintf("has more than %d documents", most.Documents)}
		}
		entry := indexed{index: i}
		if root := rootOf(&doc); root != nil {
			shift(root, offset)
			entry.node = root
		}
		nodes = append(nodes, entry)
	}
}

// rootOf returns a document's content, or nil if it is empty.
func rootOf(doc *yaml.Node) *yaml.Node {
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 {
		return nil
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.ShortTag() == nullTag {
		return nil
	}
	return root
}

// shift adds an offset to the lines of nodes that were parsed separately.
func shift(n *yaml.Node, offset int) {
	if offset == 0 {
		return
	}
	n.Line += offset
	for _, c := range n.Content {
		shift(c, offset)
	}
}

// decodeApart parses each document of a broken stream separately and keeps the valid ones. It
// splits at lines that start with "---", as kyaml does.
func decodeApart(data []byte, most Limits) []indexed {
	var all []indexed
	offset := 0
	for i, part := range splitDocuments(data) {
		if i >= most.Documents {
			return all
		}
		if nodes, err := decode(part, offset, most); err == nil {
			for _, n := range nodes {
				n.index = i
				all = append(all, n)
			}
		}
		offset += bytes.Count(part, []byte("\n"))
	}
	return all
}

// apart reports whether only lines with "---", white space and comments separate the documents
// of a stream, so that splitting at these lines results in the same documents as a parser.
func apart(data []byte) bool {
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(line, []byte("%")) || bytes.HasPrefix(line, []byte("...")) {
			return false
		}
		after, separates := bytes.CutPrefix(line, []byte("---"))
		if after = bytes.TrimLeft(after, " \t\r\n"); separates && len(after) > 0 && after[0] != '#' {
			return false
		}
	}
	return true
}

func splitDocuments(data []byte) [][]byte {
	var parts [][]byte
	start := 0
	for at := 0; at < len(data); {
		end := bytes.IndexByte(data[at:], '\n')
		next := len(data)
		if end >= 0 {
			next = at + end + 1
		}
		if at > start && bytes.HasPrefix(data[at:next], []byte("---")) {
			parts = append(parts, data[start:at])
			start = at
		}
		at = next
	}
	return append(parts, data[start:])
}

var (
	lineInError   = regexp.MustCompile(`^yaml: line (\d+): `)
	tabInError    = regexp.MustCompile(`tab character|character that cannot start any token`)
	anchorInError = regexp.MustCompile(`unknown anchor '(.*)' referenced`)
)

// syntaxError adds a position to the library's error. The library returns the line of most errors
// (sometimes the one before), and none for an undefined alias.
func syntaxError(data []byte, err error, offset int) *Error {
	text := err.Error()
	e := &Error{Reason: NotYAML, Line: offset + 1, Column: 1}
	if m := lineInError.FindStringSubmatch(text); m != nil {
		if n, convErr := strconv.Atoi(m[1]); convErr == nil {
			e.Line = n + offset
			if line, column, ok := tabAt(data, n); ok && tabInError.MatchString(text) {
				e.Line, e.Column = line+offset, column
				text = m[0] + "it is indented with a tab, but YAML requires spaces"
			}
		}
		text = text[len(m[0]):]
	} else if m := anchorInError.FindStringSubmatch(text); m != nil {
		if at := aliasAt(data, m[1]); at >= 0 {
			before := data[:at]
			e.Line = offset + 1 + bytes.Count(before, []byte("\n"))
			e.Column = at - bytes.LastIndexByte(before, '\n')
		}
		text = "an alias refers to an anchor that is not defined; quote it if it is text" // the alias may be a password
	}
	e.Message = "is not YAML: " + strings.TrimPrefix(text, "yaml: ")
	if strings.Contains(text, "exceeded max depth") {
		e.Reason, e.Message = TooDeep, "is nested too deep to be parsed"
	}
	return e
}

// tabAt returns the position of the tab in an indentation at which the library stops: in the line of the error, or
// in the next one.
func tabAt(data []byte, named int) (line, column int, ok bool) {
	for text := range bytes.Lines(data) {
		line++
		indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
		if at := bytes.IndexByte(indent, '\t'); line >= named && at >= 0 && len(bytes.TrimSpace(text)) > 0 {
			return line, at + 1, true
		}
		if line > named {
			break
		}
	}
	return 0, 0, false
}

// aliasAt returns the offset of the alias with a name, -1 if there is none.
func aliasAt(data []byte, name string) int {
	token := []byte("*" + name)
	for from := 0; ; {
		i := bytes.Index(data[from:], token)
		if i < 0 {
			return -1
		}
		at, end := from+i, from+i+len(token)
		if end == len(data) || strings.IndexByte(" \r\n,]}", data[end]) >= 0 {
			return at
		}
		from = end
	}
}

// checkNode returns an error for a document that is nested too deeply, that has maps with too many keys, or whose aliases
// contain themselves or expand above the limit. Every later walk over the document therefore ends, with a bounded cost.
// It returns the number of values that the aliases add, and the number of pairs of keys.
func checkNode(root *yaml.Node, most Limits) (added expanded, err *Error) {
	c := checker{most: most, size: map[*yaml.Node]expanded{}, active: map[*yaml.Node]bool{}}
	size, err := c.walk(root, 0)
	if c.own.levels < fewLevels {
		c.own.levels = 0
	}
	own := expanded{levels: c.own.levels, pairs: c.own.pairs}
	if err != nil {
		return own, err
	}
	wrong := func(reason Reason, format string, args ...any) *Error {
		return &Error{Reason: reason, Line: root.Line, Column: root.Column, Message: "the document" + fmt.Sprintf(format, args...)}
	}
	const grown = "'s aliases expand to more than %d %s"
	switch follows := len(c.size) > 0; {
	case follows && size.nodes > most.AliasNodes:
		return expanded{}, wrong(TooManyAliases, grown, most.AliasNodes, "values")
	case follows && size.bytes > most.AliasBytes:
		return expanded{}, wrong(TooManyAliases, grown, most.AliasBytes, "bytes")
	case c.own.levels > limits.Levels:
		return own, wrong(TooDeep, " is nested too deep for its size: its values have more than %d levels in all", limits.Levels)
	case c.own.pairs > most.KeyPairs:
		return own, wrong(TooLarge, " has maps of too many keys: more than %d pairs of them", most.KeyPairs)
	case follows:
		own.nodes, own.bytes = size.nodes-c.own.nodes, size.bytes-c.own.bytes
	}
	return own, nil
}

func (e *expanded) add(other expanded) {
	e.nodes += other.nodes
	e.bytes += other.bytes
	e.levels += other.levels
	e.pairs += other.pairs
}

// exceeds returns an error if the documents together exceed a limit.
func (e *expanded) exceeds(most Limits) *Error {
	switch {
	case e.nodes > most.AliasNodes || e.bytes > most.AliasBytes:
		return &Error{Reason: TooManyAliases, Message: fmt.Sprintf("the aliases up to here expand by more than %d values, or %s", most.AliasNodes, megabytes(most.AliasBytes))}
	case e.levels > limits.Levels:
		return &Error{Reason: TooDeep, Message: fmt.Sprintf("the documents up to here are nested too deep: their values have more than %d levels in all", limits.Levels)}
	case e.pairs > most.KeyPairs:
		return &Error{Reason: TooLarge, Message: fmt.Sprintf("the maps up to here have too many keys: more than %d pairs of them", most.KeyPairs)}
	}
	return nil
}

// fewLevels is the number of levels of a document that don't count.
const fewLevels = 500_000

// fewKeys is the number of keys up to which a map's pairs don't count.
const fewKeys = 200

// mostExpanded keeps sums from overflowing.
const mostExpanded = 1 << 40

type checker struct {
	most   Limits
	size   map[*yaml.Node]expanded
	active map[*yaml.Node]bool
	// own counts the document without following aliases, but includes the levels of the aliased values:
	// kustomize copies these level by level, for each alias.
	// Source: sigs.k8s.io/kustomize/kyaml/yaml v0.21, rnode.go, deAnchor and mergeAll.
	own expanded
}

func (c *checker) walk(n *yaml.Node, depth int) (expanded, *Error) {
	if depth > limits.Nesting {
		return expanded{}, c.tooDeep(n)
	}
	if n.Kind == yaml.AliasNode {
		c.own.nodes++
		return c.alias(n, depth)
	}
	total := expanded{nodes: 1, bytes: int64(len(n.Value))}
	c.own.nodes++
	c.own.bytes += total.bytes
	c.own.levels += int64(depth)
	if keys := int64(len(n.Content) / 2); n.Kind == yaml.MappingNode && keys > fewKeys {
		c.own.pairs += keys * keys / 2
	}
	for _, child := range n.Content {
		size, err := c.walk(child, depth+1)
		if err != nil {
			return total, err
		}
		total.nodes = min(total.nodes+size.nodes, mostExpanded)
		total.bytes = min(total.bytes+size.bytes, mostExpanded)
		total.levels = min(total.levels+size.levels+size.nodes, mostExpanded)
		total.depth = max(total.depth, size.depth+1)
	}
	return total, nil
}

func (c *checker) alias(n *yaml.Node, depth int) (expanded, *Error) {
	target := n.Alias
	if c.active[target] {
		return expanded{}, &Error{Reason: NotYAML, Endless: true, Line: n.Line, Column: n.Column,
			Message: fmt.Sprintf("the alias %q contains itself", "*"+n.Value)}
	}
	size, known := c.size[target]
	if !known {
		c.active[target] = true
		own := c.own // the target was already counted at its anchor
		var err *Error
		if size, err = c.walk(target, 0); err != nil {
			return size, err
		}
		c.own = own
		delete(c.active, target)
		c.size[target] = size
	}
	if depth+size.depth > limits.Nesting {
		return size, c.tooDeep(n)
	}
	c.own.levels = min(c.own.levels+size.levels, mostExpanded)
	return size, nil
}

func (c *checker) tooDeep(n *yaml.Node) *Error {
	return &Error{Reason: TooDeep, Line: n.Line, Column: n.Column,
		Message: fmt.Sprintf("is nested deeper than %d levels", limits.Nesting)}
}

// isEncrypted reports whether a document has the metadata of SOPS.
func isEncrypted(root *yaml.Node) bool {
	meta := Lookup(root, "sops")
	if meta == nil || meta.Kind != yaml.MappingNode {
		return false
	}
	for _, name := range []string{"mac", "lastmodified", "encrypted_regex", "unencrypted_regex"} {
		if Lookup(meta, name) != nil {
			return true
		}
	}
	return false
}

// objectsOf returns the Kubernetes objects in a document: the document itself, or the items
// if it is a List. A document whose kind is encrypted contains none.
func objectsOf(d *Document) []*Object {
	o := newObject(d, d.node)
	if o == nil {
		return nil
	}
	items := o.Lookup("items")
	if !strings.HasSuffix(o.Kind, "List") || items == nil || items.Kind != yaml.SequenceNode {
		return []*Object{o}
	}
	var objects []*Object
	for _, item := range items.Content {
		if io := newObject(d, resolve(item)); io != nil {
			objects = append(objects, io)
		}
	}
	if len(objects) == 0 && o.Kind != "List" {
		return []*Object{o}
	}
	return objects
}

func newObject(d *Document, n *yaml.Node) *Object {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	o := &Object{Document: d, Node: n}
	o.APIVersion, _ = o.Text("apiVersion")
	o.Kind, _ = o.Text("kind")
	if o.APIVersion == "" || o.Kind == "" || strings.HasPrefix(o.Kind, "ENC[") {
		return nil
	}
	o.Namespace, _ = o.Text("metadata", "namespace")
	o.Name, _ = o.Text("metadata", "name")
	return o
}
