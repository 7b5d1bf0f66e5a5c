// Package specs loads a specification: it decodes the files of the input kinds, applies the defaults and
// checks the result. The checks of platform products are in packages of their own.
package specs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// MaxFileSize is the largest specification file that Load reads, in bytes.
const MaxFileSize = 10 << 20

// maxSeparators is the maximum number of lines and commas in all files together. It limits the
// nodes, which take about 500 bytes of memory each. 10,000 tenants have 250,000 separators.
const maxSeparators = 500_000

// File is one file of a specification.
type File struct {
	// Path is the name of the file in errors; the file is not read.
	Path string
	// Content is one or more YAML documents.
	Content []byte
}

// Load decodes the files of a specification, applies the defaults and checks the result. It does no I/O.
// The Spec does not depend on the order and names of the files, nor on which object is in which file. A
// kustomization.yaml or Kptfile among the files is skipped; any other object that does not belong to the
// specification is an error. The error is nil or [strict.Errors], with all errors.
func Load(files []File) (*v1alpha1.Spec, error) { return load(files, false) }

// LoadKeyless is Load for commands that create keys of clusters: it accepts a cluster without a key to decrypt its
// Secrets.
func LoadKeyless(files []File) (*v1alpha1.Spec, error) { return load(files, true) }

func load(files []File, keyless bool) (*v1alpha1.Spec, error) {
	l, err := newLoader()
	if err != nil {
		return nil, err
	}
	l.keyless = keyless
	files = slices.SortedFunc(slices.Values(files), func(a, b File) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), bytes.Compare(a.Content, b.Content))
	})
	for _, f := range files {
		l.file(f)
	}
	return l.finish()
}

// LoadNodes is Load for the items of a KRM function, which are one object each. Objects that do not
// belong to the specification are skipped. Errors contain the object and the field, and the file if
// the item has a path annotation, but no line, because an item's lines differ from those in the
// user's file.
func LoadNodes(items []*yaml.Node) (*v1alpha1.Spec, error) {
	l, err := newLoader()
	if err != nil {
		return nil, err
	}
	l.fromItems = true
	for _, item := range items {
		if item.Kind == yaml.DocumentNode && len(item.Content) == 1 {
			item = item.Content[0]
		}
		if name := itemFile(item); l.sound(name, item) {
			l.document(name, item)
		}
	}
	return l.finish()
}

// loader collects the objects and errors of a specification.
type loader struct {
	table     strict.Table
	report    strict.Report
	objects   []*strict.Object
	fromItems bool
	// incomplete is set if a file could not be read: then references to missing objects are
	// not reported.
	incomplete bool
	// keyless is set if clusters may have no keys.
	keyless    bool
	separators int // number of line breaks and commas so far
}

func newLoader() (*loader, error) {
	table, err := fieldTable()
	if err != nil {
		return nil, fmt.Errorf("struct tags of the input kinds: %w", err)
	}
	return &loader{table: table}, nil
}

// file parses one file and decodes its documents.
func (l *loader) file(f File) {
	switch path.Base(f.Path) {
	case "kustomization.yaml", "kustomization.yml", "Kustomization", "Kptfile":
		return
	}
	if len(f.Content) > MaxFileSize {
		l.incomplete = true
		l.report.Add(strict.Error{File: f.Path, Message: fmt.Sprintf("larger than %d MB", MaxFileSize>>20), Hint: "move data that is not part of the specification to another folder"})
		return
	}
	for _, separator := range []string{"\n", "\r", ",", "\u0085", "\u2028", "\u2029"} {
		l.separators += bytes.Count(f.Content, []byte(separator))
	}
	if l.separators > maxSeparators {
		l.incomplete = true
		l.report.Add(strict.Error{File: f.Path, Message: fmt.Sprintf("including this file, the specification has more than %d lines and items", maxSeparators), Hint: "move generated data, such as dashboards, out of the specification"})
		return
	}
	l.privateKeys(f)
	reader := yaml.NewDecoder(bytes.NewReader(f.Content))
	for {
		var doc yaml.Node
		err := reader.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			l.incomplete = true
			l.report.Add(syntaxError(f, err))
			return
		}
		if len(doc.Content) == 1 && !strict.IsNull(doc.Content[0]) && l.sound(f.Path, doc.Content[0]) {
			l.document(f.Path, doc.Content[0])
		}
	}
}

var (
	yamlLine      = regexp.MustCompile(`line (\d+): `)
	unknownAnchor = regexp.MustCompile(`unknown anchor '([^']*)' referenced`)
)

// syntaxError converts an error of the YAML parser to one with a position.
func syntaxError(f File, err error) strict.Error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	line, hint := 1, "look for the error here, or in the block that begins here: indentation, open brackets and quotes; a value that contains \": \" must be quoted"
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = strings.Replace(message, m[0], "", 1)
	} else if m := unknownAnchor.FindStringSubmatch(message); m != nil {
		hint = "define the anchor above, or quote the value if the * is literal"
		if i := bytes.Index(f.Content, []byte("*"+m[1])); i >= 0 {
			line += bytes.Count(f.Content[:i], []byte("\n"))
		}
		message = "an alias refers to an anchor that is not defined" // the alias may be a password
	}
	e := strict.Error{File: f.Path, Line: max(line, 1), Column: 1, Message: "not YAML: " + strict.Shorten(message), Hint: hint}
	if i := strayByte(f.Content); i >= 0 {
		e.Line, e.Column = 1+bytes.Count(f.Content[:i], []byte("\n")), i-bytes.LastIndexByte(f.Content[:i], '\n')
		e.Hint = "the file is not UTF-8 text"
	} else if tabIndent.Match(lineOf(f.Content, e.Line)) {
		e.Hint = "indent with spaces: YAML does not allow tabs there"
	}
	return e
}

var tabIndent = regexp.MustCompile(`^ *\t`)

// lineOf returns a line of a file; the first is 1.
func lineOf(content []byte, line int) []byte {
	for range line - 1 {
		_, content, _ = bytes.Cut(content, []byte("\n"))
	}
	first, _, _ := bytes.Cut(content, []byte("\n"))
	return first
}

// strayByte returns the offset of the first byte that is not UTF-8 text, or -1. It does not check a
// file in UTF-16, which YAML allows.
func strayByte(content []byte) int {
	if bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) {
		return -1
	}
	for i := 0; i < len(content); {
		r, size := utf8.DecodeRune(content[i:])
		if r == utf8.RuneError && size == 1 || r < ' ' && !strings.ContainsRune("\t\n\r", r) || r == 0x7f {
			return i
		}
		i += size
	}
	return -1
}

// sound checks the size and depth of a document before other code walks it.
func (l *loader) sound(file string, root *yaml.Node) bool {
	n, problem, hint := strict.CheckShape(root)
	if n == nil {
		return true
	}
	l.incomplete = true
	o := &strict.Object{File: file, Unplaced: l.fromItems}
	l.report.Add(o.ErrorAt(n, nil, hint, problem))
	return false
}

const keyHint = "a specification is committed to Git and must not contain a private key: remove it and rotate the key"

// privateKeys reports private keys anywhere in a file, comments included.
func (l *loader) privateKeys(f File) {
	for _, secret := range []*regexp.Regexp{strict.AgePrivateKey, strict.PEMPrivateKey} {
		for _, m := range secret.FindAllIndex(f.Content, strict.MaxErrors) {
			before := f.Content[:m[0]]
			l.report.Add(strict.Error{
				File: f.Path, Line: 1 + bytes.Count(before, []byte("\n")), Column: m[0] - bytes.LastIndexByte(before, '\n'),
				Message: "this is a private key", Hint: keyHint,
			})
		}
	}
}

// itemKeys reports private keys in an item.
func (l *loader) itemKeys(o *strict.Object, n *yaml.Node) {
	for _, text := range []string{n.Value, n.HeadComment, n.LineComment, n.FootComment} {
		if strict.AgePrivateKey.MatchString(text) || strict.PEMPrivateKey.MatchString(text) {
			l.report.Add(o.ErrorAt(n, nil, keyHint, "it contains a private key"))
			return
		}
	}
	for _, child := range n.Content {
		l.itemKeys(o, child)
	}
}

// itemFile reads the file of a KRM function's item from its annotations.
func itemFile(root *yaml.Node) string {
	for _, name := range []string{"internal.config.kubernetes.io/path", "config.kubernetes.io/path"} {
		if _, value, found := strict.At("metadata", "annotations", name).Find(root); found {
			return strict.Dereference(value).Value
		}
	}
	return ""
}
