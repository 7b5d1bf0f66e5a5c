package mask

import (
	"regexp"
	"strings"
)

var (
	// ofSecretLine matches a line of a manifest, a patch or a generator of a Secret. Each such line contains one of
	// secretWords.
	ofSecretLine = regexp.MustCompile(`\bkind["']?[ \t]*:[ \t]*["']?Secret(List|Generator)?\b|\bstringData\b|\bpath["']?[ \t]*:[ \t]*["']?/data\b`)
	secretWords  = []string{"Secret", "stringData", "/data"}
)

// HoldsSecrets reports whether a string in a document may be a manifest, a patch or a generator of a
// Secret: it contains a line such as "kind: Secret", the word stringData, or the path of a JSON patch to values of a Secret.
func HoldsSecrets(text string) bool {
	for line := range strings.Lines(text) {
		for _, word := range secretWords {
			if strings.Contains(line, word) && ofSecretLine.MatchString(line) {
				return true
			}
		}
	}
	return false
}
