package credential

import (
	"regexp"
	"strings"
)

// hiddenNames are the ends of the names of fields whose texts are never shown.
var hiddenNames = regexp.MustCompile(`(?i)(password|passwd|passphrase|token|secret|apikey|api_key|privatekey|private_key|secretkey|accesskey|credentials?)$`)

// assigned is a setting in a text: NAME=VALUE or NAME: VALUE, as in files of settings and in flags.
var assigned = regexp.MustCompile(`([A-Za-z0-9_.-]+)["']?[ \t]*[:=][ \t]*["']?([^\s"',;]+)`)

// assignments returns where the settings in a text stand, as assigned finds them.
func assignments(text string) [][]int {
	if !strings.ContainsAny(text, ":=") {
		return nil
	}
	return assigned.FindAllStringSubmatchIndex(text, -1)
}

// mostHidden is how long a text is looked through, in bytes; a longer one is hidden.
const mostHidden = 1 << 20

// Hide says whether a text that stands under a field is kept out of what people and scripts are
// shown: a text under a field that is named as secrets are, be it weak or only a placeholder, a
// credential of a known form, a private key, a URL with a password, and a text with a setting
// that looks like a secret. It errs on the side of hiding, other than [LooksSecret].
func Hide(field, value string) bool {
	if len(value) > mostHidden || hiddenNames.MatchString(field) || LooksSecret(field, value) || strings.Contains(value, "PRIVATE KEY") ||
		strings.Contains(value, "AGE-SECRET-KEY-") || TokenIn(value) != "" || shortPasswords.MatchString(field) {
		return true
	}
	return PasswordIn(value) || assignsSecret(value)
}

// reference are the ends of the names of fields that hold the names of Secrets as often as secrets.
var reference = regexp.MustCompile(`(?i)(secret|credentials?)$`)

// HideLine says whether a value is left out of the source line that it stands in: what [LooksSecret]
// or has a known form, and whatever stands under the name of a password or a key but for what
// evidently is none.
func HideLine(field, value string) bool {
	value = strings.TrimSpace(value)
	switch {
	case value == "":
		return false
	case len(value) > mostHidden || known(value) || LooksSecret(field, value) || hidesURL(field, value) || strings.Contains(value, "PRIVATE KEY") || strings.Contains(value, "AGE-SECRET-KEY-"):
		return true
	case !nameStems.in(field) || isReference(value) || isPlain(value):
		return false
	case strongName(field):
		return !aboutPasswords.MatchString(field)
	}
	name := secretNames.FindStringSubmatchIndex(field)
	return name != nil && !reference.MatchString(field) && !otherNames.MatchString(field[:name[4]]) && !IsEvident(value) && !IsPlaceholder(value)
}

// hidesURL says whether a URL is left out: one that sets a secret, and one that anybody may call who
// knows it.
func hidesURL(field, value string) bool {
	at := strings.Index(value, "://")
	return at >= 0 && (assignsSecret(value[at:]) || (webhooks.MatchString(field) || strings.HasSuffix(field, "address")) && randomPart(value[at+len("://"):]))
}

// HideIn is a line without what [HideLine] leaves out of it: all from the first such value on. It
// returns what it left out, too.
func HideIn(line string, hidden string) (shown, left string) {
	for _, at := range assignments(line) {
		name, value := strings.TrimLeft(line[at[2]:at[3]], "-"), line[at[4]:at[5]]
		if HideLine(name, value) {
			return line[:at[4]] + hidden, line[at[4]:]
		}
	}
	for _, o := range otherSettings {
		if !strings.Contains(line, o.mark) {
			continue
		}
		for _, at := range o.form.FindAllStringSubmatchIndex(line, -1) {
			if HideLine(line[at[2]:at[3]], line[at[4]:at[5]]) {
				return line[:at[4]] + hidden, line[at[4]:]
			}
		}
	}
	if known(line) {
		return hidden, line
	}
	return line, ""
}

// Without is a text without the settings in it that look like secrets, and credentials of a known form.
func Without(text, hidden string) string {
	for _, found := range assigned.FindAllStringSubmatch(text, -1) {
		if value := found[2]; LooksSecret(strings.TrimLeft(found[1], "-"), value) || known(value) {
			text = strings.ReplaceAll(text, value, hidden)
		}
	}
	for _, word := range strings.Fields(text) {
		if known(word) {
			text = strings.ReplaceAll(text, word, hidden)
		}
	}
	return text
}

// urlIn is the URL in a word that has "://" at an offset, without what stands around it.
func urlIn(word string, at int) string {
	start := strings.LastIndexAny(word[:at], "\"'=,;([<`") + 1
	return strings.TrimRight(word[start:], "\"',;)]>`")
}
