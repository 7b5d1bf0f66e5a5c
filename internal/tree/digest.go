package tree

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const digestPrefix = "sha256:"

// Digest returns the digest of a file's bytes as the inventory records it: "sha256:" and 64
// lower-case hexadecimal digits.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	var out [len(digestPrefix) + 2*sha256.Size]byte
	copy(out[:], digestPrefix)
	hex.Encode(out[len(digestPrefix):], sum[:])
	return string(out[:])
}

// validDigest reports whether a string has the form of Digest's result.
func validDigest(s string) bool {
	digits, ok := strings.CutPrefix(s, digestPrefix)
	return ok && len(digits) == 2*sha256.Size && strings.Trim(digits, "0123456789abcdef") == ""
}

// maxParsed is the maximum size of a file whose YAML is parsed to compare it, and maxMarks the maximum number of
// characters in it that can start or end a YAML node: a node takes 160 bytes of memory, so parsing takes less
// than 160 MB.
const (
	maxParsed = 4 << 20
	maxMarks  = 1_000_000
)

// sameYAML reports whether two versions of a YAML file differ only in style: their nodes are equal,
// and they have the same comments in the same order. Formatters (kpt writes each file of a package
// in its own style) change quotes, indents, blank lines and thereby the node that a comment belongs
// to; none of these is an edit. Files that cannot be parsed within the limits count as different.
func sameYAML(file string, a, b []byte) bool {
	ext := path.Ext(file)
	return (ext == ".yaml" || ext == ".yml" || path.Base(file) == "Kptfile") && sameDocuments(a, b)
}

func sameDocuments(a, b []byte) bool {
	left, ok := parseDocuments(a)
	if !ok {
		return false
	}
	right, ok := parseDocuments(b)
	if !ok || len(left) != len(right) {
		return false
	}
	var commentsLeft, commentsRight []string
	for i := range left {
		if !sameNode(left[i], right[i], 0) {
			return false
		}
		commentsLeft = comments(commentsLeft, left[i])
		commentsRight = comments(commentsRight, right[i])
	}
	return slices.Equal(commentsLeft, commentsRight)
}

// parseDocuments parses the documents of a file; it drops empty ones, as kyaml does.
func parseDocuments(content []byte) ([]*yaml.Node, bool) {
	if len(content) > maxParsed || marks(content) > maxMarks {
		return nil, false
	}
	var out []*yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var n yaml.Node
		err := dec.Decode(&n)
		if errors.Is(err, io.EOF) {
			return out, true
		}
		if err != nil {
			return nil, false
		}
		if !isEmpty(&n) {
			out = append(out, &n)
		}
	}
}

// isEmpty reports whether a document contains neither a value nor a comment.
func isEmpty(doc *yaml.Node) bool {
	if len(doc.Content) == 0 {
		return true
	}
	return doc.Content[0].ShortTag() == "!!null" && doc.Content[0].Value == "" && len(comments(nil, doc)) == 0
}

// marks counts the characters that can start, end or separate YAML nodes.
func marks(content []byte) int {
	n := 0
	for _, c := range content {
		switch c {
		case '\n', ',', ':', '[', '{', '-', '?':
			n++
		}
	}
	return n
}

// maxNesting is deeper than any manifest and shallow enough for recursion.
const maxNesting = 200

func sameNode(a, b *yaml.Node, depth int) bool {
	if depth > maxNesting || a.Kind != b.Kind || a.Anchor != b.Anchor || len(a.Content) != len(b.Content) {
		return false
	}
	if a.Kind != yaml.DocumentNode && (a.ShortTag() != b.ShortTag() || a.Value != b.Value) {
		return false
	}
	for i := range a.Content {
		if !sameNode(a.Content[i], b.Content[i], depth+1) {
			return false
		}
	}
	return true
}

// comments appends the lines of a node's comments in the order of the file.
func comments(to []string, n *yaml.Node) []string {
	add := func(text string) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				to = append(to, line)
			}
		}
	}
	add(n.HeadComment)
	add(n.LineComment)
	for _, child := range n.Content {
		to = comments(to, child)
	}
	add(n.FootComment)
	return to
}
