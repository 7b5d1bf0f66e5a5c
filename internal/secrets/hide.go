package secrets

import (
	"regexp"
	"strings"
)

// hiddenNames are the ends of the names of fields whose texts are never shown.
var hiddenNames = regexp.MustCompile(`(?i)(password|passwd|passphrase|token|secret|apikey|api_key|privatekey|private_key|secretkey|accesskey|credentials?)$`)

// assigned is a setting in a text: NAME=VALUE or NAME: VALUE, as in files of settings and in flags.
var assigned = regexp.MustCompile(`([A-Za-z0-9_.-]+)["']?[ \t]*[:=][ \t]*["']?([^\s"',;]+)`)

// mostHidden is how long a text is looked through, in bytes; a longer one is hidden.
const mostHidden = 1 << 20

// Hide says whether a text that stands under a field is kept out of what people and scripts are
// shown: a text under a field that is named as secrets are, be it weak or only a placeholder, a
// credential of a known form, a private key, a URL with a password, and a text with a setting
// that looks like a secret. It errs on the side of hiding, other than [LooksSecret].
func Hide(field, value string) bool {
	if len(value) > mostHidden || hiddenNames.MatchString(field) || LooksSecret(field, value) || strings.Contains(value, "PRIVATE KEY") ||
		strings.Contains(value, "AGE-SECRET-KEY-") || TokenIn(value) != "" {
		return true
	}
	for _, word := range strings.Fields(value) {
		if i := strings.Index(word, "://"); i >= 0 && HasPassword(urlIn(word, i)) {
			return true
		}
	}
	for _, found := range assigned.FindAllStringSubmatch(value, -1) {
		if LooksSecret(strings.TrimLeft(found[1], "-"), found[2]) {
			return true
		}
	}
	return false
}

// urlIn is the URL in a word that has "://" at an offset, without what stands around it.
func urlIn(word string, at int) string {
	start := strings.LastIndexAny(word[:at], "\"'=,;([<`") + 1
	return strings.TrimRight(word[start:], "\"',;)]>`")
}
