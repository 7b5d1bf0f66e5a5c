package finding

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Lines returns the text of a line of a file, counted from 1, with the values of
// Secrets hidden, and whether there is one.
type Lines func(file string, line int) (text string, ok bool)

// sign sets the fingerprints of sorted findings. Those that nothing tells apart but their line are
// numbered.
func sign(findings []Finding) {
	seen := map[string]int{}
	for i := range findings {
		f := &findings[i]
		f.Fingerprint = numbered(seen, fingerprint(*f))
	}
}

// numbered makes a hash unique: hash, hash:2, hash:3.
func numbered(seen map[string]int, hash string) string {
	if seen[hash]++; seen[hash] > 1 {
		return fmt.Sprintf("%s:%d", hash, seen[hash])
	}
	return hash
}

// fingerprint tells a finding by its rule, file, object and cluster, and by the names and values in its
// message: it survives that the line moves, and that a later version says the same in other words.
func fingerprint(f Finding) string {
	return digest("names", f.Rule, f.File, f.Object.String(), f.Cluster, strings.Join(names(f.Message), "\x00"))
}

var (
	// positions are the numbers of lines in a message.
	positions   = regexp.MustCompile(`([\w./-]*[A-Za-z]):\d+(?::\d+)?`)
	lineNumbers = regexp.MustCompile(`\b(lines?) \d+`)
	quoted      = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
	// named is a word that no dictionary has.
	named = regexp.MustCompile(`[0-9_./:$@#=*{}-]`)
)

// withoutPositions is a message without the numbers of lines.
func withoutPositions(message string) string {
	return lineNumbers.ReplaceAllString(positions.ReplaceAllString(message, "$1"), "$1")
}

// names returns what a message names, sorted, each once: quoted texts, and words with a character that no
// word of English has. Flags of the command are advice.
func names(message string) []string {
	message = withoutPositions(message)
	var all []string
	for _, match := range quoted.FindAllStringSubmatch(message, -1) {
		all = append(all, match[1])
	}
	for word := range strings.FieldsSeq(quoted.ReplaceAllString(message, " ")) {
		if word = strings.Trim(word, ".,;:()[]…"); named.MatchString(word) && !strings.HasPrefix(word, "-") {
			all = append(all, word)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
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
	group, _, _ := strings.Cut(f.Object.APIVersion, "/")
	if !strings.Contains(f.Object.APIVersion, "/") {
		group = ""
	}
	return digest("source", f.Rule, f.File, group, f.Object.Kind, f.Object.Namespace, f.Object.Name, f.Cluster, text)
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part) // a hash takes all that is written
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
