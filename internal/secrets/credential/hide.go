package credential

import (
	"iter"
	"strings"
)

// hiddenNames matches the ends of the names of fields whose values are never shown.
var hiddenNames = lazily(`(?i)(password|passwd|passphrase|token|secret|apikey|api_key|privatekey|private_key|secretkey|accesskey|credential)s?$`)

// assigned matches a setting in a text: NAME=VALUE or NAME: VALUE, as in files of settings and in flags.
var assigned = lazily(`([A-Za-z0-9_.-]+)["']?[ \t]*[:=][ \t]*["']?([^\s"',;]+)`)

// assignments returns the matches of assigned in a text, including settings in the braces of others and in the values of flags,
// as in --from-literal=password=VALUE.
func assignments(text string) [][]int {
	if !strings.ContainsAny(text, ":=") {
		return nil
	}
	var all [][]int
	for begin := 0; ; {
		at := assigned().FindStringSubmatchIndex(text[begin:])
		if at == nil {
			return all
		}
		for i := range at {
			at[i] += begin
		}
		all = append(all, at)
		begin = at[1]
		switch c := text[at[4]]; {
		case c == '{' || c == '[':
			begin = at[4] + 1
		case text[at[2]] == '-' && strings.Contains(text[at[4]:at[5]], "=") && !strings.HasSuffix(text[at[2]:at[3]], "file"): // not --from-file
			begin = at[4]
		}
	}
}

// mostHidden is the maximum length of a string that is searched, in bytes. A longer string is hidden.
const mostHidden = 1 << 20

// Hide reports whether the value of a field is hidden from people and scripts: the value of a field with the name of a
// secret, even if it is weak or only a placeholder; a credential of a known form; a private key; a URL with a password;
// and a text with a setting that looks like a secret. In doubt it returns true, unlike [LooksSecret].
func Hide(field, value string) bool {
	field = Singular(field)
	if hidesURL(field, value) || hidesUser(value) {
		return true
	}
	if len(value) > mostHidden || hiddenNames().MatchString(field) || LooksSecret(field, value) || strings.Contains(value, "PRIVATE KEY") ||
		strings.Contains(value, "AGE-SECRET-KEY-") || TokenIn(value) != "" || shortPasswords().MatchString(field) {
		return true
	}
	return PasswordIn(value) || assignsSecret(value)
}

// reference matches the ends of the names of fields that contain names of Secrets as often as secrets.
var reference = lazily(`(?i)(secret|credentials?)$`)

// HideLine reports whether a value is hidden in its source line: if [LooksSecret] is true for it, if it
// has a known form, or if it is the value of a field with the name of a password or a key, unless it
// is evidently public.
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
		return !aboutPasswords().MatchString(field)
	}
	name := secretNames().FindStringSubmatchIndex(field)
	return name != nil && !reference().MatchString(field) && !otherNames().MatchString(field[:name[4]]) && !IsEvident(value) && !IsPlaceholder(value)
}

// hidesURL reports whether a URL is hidden: a URL with a secret parameter, and a webhook address, which anyone who knows
// it can call.
func hidesURL(field, value string) bool {
	at := strings.Index(value, "://")
	return at >= 0 && (assignsSecret(value[at:]) || (webhooks().MatchString(field) || strings.HasSuffix(field, "address") || strings.Contains(value, "hooks.slack.com/")) && randomPart(value[at+len("://"):]))
}

// users matches a password between a user name and a host, as in the address of an image, or after a flag
// of one letter, as database clients accept it.
var users = lazily(`^[A-Za-z0-9_.-]+:([^\s:/@]{8,})@[A-Za-z0-9.-]+(?:[:/]|$)|^-[A-Za-z]([^\s=/:.,-][^\s=/:.,]{7,})$`)

// hidesUser reports whether a value contains a password that looks randomly generated, next to a user name or after a
// flag.
func hidesUser(value string) bool {
	if !strings.Contains(value, "@") && !strings.HasPrefix(value, "-") {
		return false
	}
	found := users().FindStringSubmatch(value)
	return found != nil && IsSurelyRandom(found[1]+found[2])
}

// HideLiteral reports whether the file name after the key of a generator's entry may in fact be a value
// that was meant as a literal.
func HideLiteral(key, value string, ofSecret bool) bool {
	return HideLine(key, value) || ofSecret && !IsEvident(value) && !words().MatchString(value)
}

// HideIn returns the rest of a line from the first value on for which [HideLine] is true, and the name of its field; ""
// if no value is hidden.
func HideIn(line string) (field, rest string) {
	settings := assignments(line)
	for _, o := range otherSettings {
		if strings.Contains(line, o.mark) {
			settings = append(settings, o.form().FindAllStringSubmatchIndex(line, -1)...)
		}
	}
	for _, at := range settings {
		if field := strings.TrimLeft(line[at[2]:at[3]], "-"); HideLine(field, line[at[4]:at[5]]) {
			return field, line[at[4]:]
		}
	}
	if known(line) {
		return "", line
	}
	return "", ""
}

// Settings returns the names and values of the settings in a text.
func Settings(text string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, at := range assignments(text) {
			if !yield(strings.TrimLeft(text[at[2]:at[3]], "-"), strings.Trim(text[at[4]:at[5]], "{}[]")) {
				return
			}
		}
	}
}

// Without returns a text in which settings that look like secrets, and credentials of a known form, are hidden.
func Without(text, hidden string) string {
	all := text
	for name, value := range Settings(all) {
		if LooksSecret(name, value) || known(value) {
			text = strings.ReplaceAll(text, value, hidden)
		}
	}
	for _, value := range Defaults(all) {
		text = strings.ReplaceAll(text, value+"}", hidden+"}")
	}
	for _, word := range strings.Fields(text) {
		if known(word) {
			text = strings.ReplaceAll(text, word, hidden)
		}
	}
	return text
}

// defaults matches default values of Flux variables: ${NAME:-VALUE}, with each of the possible operators.
var defaults = lazily(`\$\{([A-Za-z_][A-Za-z0-9_]*):?[-=?+]([^${}]+)\}`)

// Defaults returns the default values in a text of the variables with names of secrets.
func Defaults(text string) (all []string) {
	if !strings.Contains(text, "${") || len(text) > mostHidden {
		return nil
	}
	for _, found := range defaults().FindAllStringSubmatch(text, -1) {
		if HideLine(found[1], found[2]) {
			all = append(all, found[2])
		}
	}
	return all
}

// urlIn returns the URL in a word that has "://" at an offset, without the characters around it.
func urlIn(word string, at int) string {
	start := strings.LastIndexAny(word[:at], "\"'=,;([<`") + 1
	return strings.TrimRight(word[start:], "\"',;)]>`")
}
