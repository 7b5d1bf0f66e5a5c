package finding

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// Lines returns the text of a line of a file, counted from 1, with the values of
// Secrets hidden, and whether there is one.
type Lines func(file string, line int) (text string, ok bool)

// sign sets the fingerprints of sorted findings. Those that nothing tells apart
// but their line are numbered.
func sign(findings []Finding) {
	seen := map[string]int{}
	for i := range findings {
		f := &findings[i]
		f.Fingerprint = numbered(seen, messageHash(*f))
	}
}

// numbered makes a hash unique: hash, hash:2, hash:3.
func numbered(seen map[string]int, hash string) string {
	if seen[hash]++; seen[hash] > 1 {
		return fmt.Sprintf("%s:%d", hash, seen[hash])
	}
	return hash
}

// positions are the numbers of lines in a message.
var (
	positions   = regexp.MustCompile(`([\w./-]*[A-Za-z]):\d+(?::\d+)?`)
	lineNumbers = regexp.MustCompile(`\b(lines?) \d+`)
)

// messageHash tells a finding by what it says, positions left out: it survives
// that the line moves or changes.
func messageHash(f Finding) string {
	message := lineNumbers.ReplaceAllString(positions.ReplaceAllString(f.Message, "$1"), "$1")
	return hash("message", f, message)
}

// sourceHash tells a finding by the line that it points at, "" where there is
// none: it survives that the line moves, or that a later version says it in other
// words. The text must have its secrets hidden: a hash of few possible values
// can be undone.
func sourceHash(f Finding, lines Lines) string {
	if lines == nil || f.Line == 0 {
		return ""
	}
	text, ok := lines(f.File, f.Line)
	if text = strings.TrimSpace(text); !ok || text == "" {
		return ""
	}
	return hash("source", f, text)
}

// hash leaves out the object's version, and the position.
func hash(what string, f Finding, text string) string {
	group, _, _ := strings.Cut(f.Object.APIVersion, "/")
	if !strings.Contains(f.Object.APIVersion, "/") {
		group = ""
	}
	h := sha256.New()
	for _, part := range []string{what, f.Rule, f.File, group, f.Object.Kind, f.Object.Namespace, f.Object.Name, f.Cluster, text} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part) // a hash takes all that is written
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
