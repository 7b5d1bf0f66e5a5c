package finding

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Lines returns a line of a file, counted from 1, with the values of Secrets hidden, and whether the
// line exists.
type Lines func(file string, line int) (text string, ok bool)

// sign sets the fingerprints of sorted findings. Findings that differ only in their line get
// numbers.
func sign(findings []Finding) {
	seen := map[string]int{}
	for i := range findings {
		f := &findings[i]
		f.Fingerprint = numbered(seen, fingerprint(*f))
	}
}

// numbered returns a unique form of a hash: hash, hash:2, hash:3.
func numbered(seen map[string]int, hash string) string {
	if seen[hash]++; seen[hash] > 1 {
		return fmt.Sprintf("%s:%d", hash, seen[hash])
	}
	return hash
}

// fingerprint identifies a finding by its rule, file, object and cluster, and by the names and values in its
// message. It stays the same if the line moves or a later version rewords the message.
func fingerprint(f Finding) string {
	return digest("names", f.Rule, f.File, f.Object.String(), f.Cluster, strings.Join(names(f.Message), "\x00"))
}

var (
	// positions matches line numbers in a message.
	positions   = regexp.MustCompile(`([\w./-]*[A-Za-z]):\d+(?::\d+)?`)
	lineNumbers = regexp.MustCompile(`\b(lines?) \d+`)
	quoted      = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
	// named matches a character that no English word contains.
	named = regexp.MustCompile(`[0-9_./:$@#=*{}-]`)
)

// withoutPositions returns a message without line numbers.
func withoutPositions(message string) string {
	return lineNumbers.ReplaceAllString(positions.ReplaceAllString(message, "$1"), "$1")
}

// names returns the names in a message, sorted and without duplicates: quoted strings, and words with a character that no
// English word contains. Flags of the command are advice and don't count.
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

// sourceHash returns a hash of the line of a finding, "" if there is none. It stays the same if the
// line moves or a later version rewords the message. lines must hide secrets: a hash of a value
// with few possibilities can be reversed.
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
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part) // writing to a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
