package credential

import (
	"regexp"
	"strings"
)

// hiddenNames are the ends of the names of fields whose texts are never shown.
var hiddenNames = regexp.MustCompile(`(?i)(password|passwd|passphrase|token|secret|apikey|api_key|privatekey|private_key|secretkey|accesskey|credential)s?$`)

// assigned is a setting in a text: NAME=VALUE or NAME: VALUE, as in files of settings and in flags.
var assigned = regexp.MustCompile(`([A-Za-z0-9_.-]+)["']?[ \t]*[:=][ \t]*["']?([^\s"',;]+)`)

// assignments returns where the settings in a text stand, as assigned finds them, those in the braces of
// others, too.
func assignments(text string) [][]int {
	if !strings.ContainsAny(text, ":=") {
		return nil
	}
	var all [][]int
	for begin := 0; ; {
		at := assigned.FindStringSubmatchIndex(text[begin:])
		if at == nil {
			return all
		}
		for i := range at {
			at[i] += begin
		}
		all = append(all, at)
		begin = at[1]
		if c := text[at[4]]; c == '{' || c == '[' {
			begin = at[4] + 1 // of settings in braces
		}
	}
}

// mostHidden is how long a text is looked through, in bytes; a longer one is hidden.
const mostHidden = 1 << 20

// Hide says whether a text that stands under a field is kept out of what people and scripts are
// shown: a text under a field that is named as secrets are, be it weak or only a placeholder, a
// credential of a known form, a private key, a URL with a password, and a text with a setting
// that looks like a secret. It errs on the side of hiding, other than [LooksSecret].
func Hide(field, value string) bool {
	field = Singular(field)
	if hidesURL(field, value) || hidesUser(value) {
		return true
	}
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
	many := field
	field = Singular(field)
	switch {
	case value == "":
		return false
	case len(value) > mostHidden || known(value) || LooksSecret(many, value) || hidesURL(field, value) || hidesUser(value) || strings.Contains(value, "PRIVATE KEY") || strings.Contains(value, "AGE-SECRET-KEY-"):
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
	return at >= 0 && (assignsSecret(value[at:]) || (webhooks.MatchString(field) || strings.HasSuffix(field, "address") || strings.Contains(value, "hooks.slack.com/")) && randomPart(value[at+len("://"):]))
}

// users is a password between a user's name and a host, as in the address of an image, or behind a flag
// of one letter, as clients of databases take it.
var users = regexp.MustCompile(`^[A-Za-z0-9_.-]+:([^\s:/@]{8,})@[A-Za-z0-9.-]+(?:[:/]|$)|^-[A-Za-z]([^\s=/:.,-][^\s=/:.,]{7,})$`)

// hidesUser says whether a value holds a password that looks drawn beside the name of a user, or behind a
// flag.
func hidesUser(value string) bool {
	if !strings.Contains(value, "@") && !strings.HasPrefix(value, "-") {
		return false
	}
	found := users.FindStringSubmatch(value)
	return found != nil && IsDrawn(found[1]+found[2])
}

// HideLiteral says whether what stands for a file behind the key of a generator's entry may be a value,
// meant as a literal.
func HideLiteral(key, value string, ofSecret bool) bool {
	return HideLine(key, value) || ofSecret && !IsEvident(value) && !words.MatchString(value)
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
	all := text
	for _, at := range assignments(all) {
		if value := all[at[4]:at[5]]; LooksSecret(strings.TrimLeft(all[at[2]:at[3]], "-"), value) || known(value) {
			text = strings.ReplaceAll(text, value, hidden)
		}
	}
	for _, found := range defaultsIn(all) {
		text = strings.ReplaceAll(text, found[0], strings.TrimSuffix(found[0], found[2]+"}")+hidden+"}")
		if len(found[2]) >= leastReplaced && !words.MatchString(found[2]) {
			text = strings.ReplaceAll(text, found[2], hidden)
		}
	}
	for _, word := range strings.Fields(text) {
		if known(word) {
			text = strings.ReplaceAll(text, word, hidden)
		}
	}
	return text
}

// defaults are those of variables of Flux: ${NAME:-VALUE}, with each of the marks that it takes.
var defaults = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*):?[-=?+]([^${}]+)\}`)

// Defaults are those in a text of the variables that are named as secrets are.
func Defaults(text string) []string {
	var all []string
	for _, found := range defaultsIn(text) {
		all = append(all, found[2])
	}
	return all
}

func defaultsIn(text string) (found [][]string) {
	if !strings.Contains(text, "${") || len(text) > mostHidden {
		return nil
	}
	for _, one := range defaults.FindAllStringSubmatch(text, -1) {
		if HideLine(one[1], one[2]) {
			found = append(found, one)
		}
	}
	return found
}

// leastReplaced is how long a default is at least that is left out of a text wherever it is.
const leastReplaced = 6

// urlIn is the URL in a word that has "://" at an offset, without what stands around it.
func urlIn(word string, at int) string {
	start := strings.LastIndexAny(word[:at], "\"'=,;([<`") + 1
	return strings.TrimRight(word[start:], "\"',;)]>`")
}
