package credential

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// mostLine is how long a line of settings may be, in bytes.
const mostLine = 8 << 10

// SettingIn names the first setting in a text of lines, as in YAML, JSON or a file of variables,
// whose value is most likely a secret in plaintext; "" where there is none.
func SettingIn(text string) string {
	for line := range strings.Lines(text) {
		if len(line) > mostLine || !nameStems.in(line) && !strings.Contains(line, "://") {
			continue
		}
		if field, value := setting(line); LooksSecret(field, value) || HasPassword(value) {
			return field
		}
		if strings.Count(line, ":")+strings.Count(line, "=") < 2 || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for _, found := range assigned.FindAllStringSubmatch(line, -1) { // several in a line, as in JSON
			if field := strings.TrimLeft(found[1], "-"); LooksSecret(field, found[2]) {
				return field
			}
		}
	}
	return ""
}

// DrawnIn says what in a text of any kind is most likely a secret, and its line from 1: a setting whose
// value looks drawn, by its name in quotes, a URL with a password, or a credential of a known form; "" for
// nothing. Words count for nothing: in texts such as programs the name of a password may stand beside any.
func DrawnIn(text string) (what string, line int) {
	return (&Search{Left: math.MaxInt}).DrawnIn(text)
}

// Search looks through texts, as long as not too many of their lines speak of secrets.
type Search struct {
	// Left is how many bytes of lines that speak of secrets are looked through; below 0, some were not.
	Left int
}

// DrawnIn is [DrawnIn].
func (s *Search) DrawnIn(text string) (what string, line int) {
	if s.Left < 0 {
		return "", 0
	}
	known, line := knownIn(text)
	if known != "" && known != Hash {
		return known, line
	}
	if !strings.ContainsAny(text, ":=") && !strings.Contains(text, "</") && !strings.Contains(text, " --") {
		return known, line
	}
	number := 0
	for part := range strings.Lines(text) {
		number++
		for _, piece := range pieces(part) {
			if len(piece) > mostLine || !nameStems.in(piece) {
				continue
			}
			if s.Left -= len(piece); s.Left < 0 {
				return known, line
			}
			if name := drawnIn(piece); name != "" {
				return strconv.Quote(name), number
			}
		}
	}
	return known, line
}

// Hash is what [DrawnIn] calls the hash of a password, which only helps to guess it.
const Hash = "the hash of a password"

// knownIn names the first credential of a known form in a text, but for private keys.
func knownIn(text string) (what string, line int) {
	found, at := formMarks.in(text), -1
	for _, all := range [][]form{tokens, entries} {
		if name, begin := formIn(all, text, found); begin >= 0 && (at < 0 || begin < at) {
			what, at = name, begin
		}
	}
	if urlMarks.meets(found) {
		if begin := passwordIn(text); begin >= 0 && (at < 0 || begin < at) {
			what, at = "a URL with a password", begin
		}
	}
	if at < 0 {
		return "", 0
	}
	return what, strings.Count(text[:at], "\n") + 1
}

// pieces are the parts of a line that are short enough to be judged: those between the commas of a long
// one, as in JSON.
func pieces(line string) []string {
	if len(line) <= mostLine {
		return []string{line}
	}
	return strings.SplitAfter(line, ",")
}

func drawnIn(line string) string {
	field, value := setting(line)
	if LooksDrawn(field, value) {
		return lastWord(field)
	}
	for _, at := range assignments(line) {
		folder := strings.LastIndexFunc(line[:at[2]], func(r rune) bool { return !isOfPath(r) }) + 1 // of an annotation such as checksum/secret
		if field := strings.TrimLeft(line[at[2]:at[3]], "-"); LooksDrawn(line[folder:at[2]]+field, line[at[4]:at[5]]) {
			return field
		}
	}
	for _, o := range otherSettings {
		if !strings.Contains(line, o.mark) {
			continue
		}
		for _, found := range o.form.FindAllStringSubmatch(line, -1) {
			if LooksDrawn(found[1], found[2]) {
				return found[1]
			}
		}
	}
	return ""
}

// otherSettings are the forms of settings without a colon or an equals sign: an element of XML, and a flag
// with its value behind it.
var otherSettings = []struct {
	mark string
	form *regexp.Regexp
}{
	{"</", regexp.MustCompile(`<([A-Za-z0-9_.-]+)>([^<>\s]+)</`)},
	{" --", regexp.MustCompile(`[ \t"']--([A-Za-z][A-Za-z0-9-]*)[ \t]+["']?([^\s"';-][^\s"';]*)`)},
}

func isOfPath(r rune) bool { return r == '/' || r == '.' || r == '-' || unicode.IsLetter(r) }

// LooksDrawn is [LooksSecret] for what stands anywhere: the value must look drawn or, under the name of a
// password, be a short word with digits.
func LooksDrawn(field, value string) bool {
	if !LooksSecret(field, value) || isExpression(value) || HasPassword(value) {
		return false
	}
	return IsDrawn(value) || strings.Contains(value, "://") || strongName(field) && len(value) <= longestWeak && strings.ContainsAny(value, "0123456789") && IsRandom(value)
}

// longestWeak is how long a password is that somebody made up.
const longestWeak = 20

// expressions are how programs compute a value: a call, an element of a map, a path of jq; and the key of
// a map in a map.
var expressions = regexp.MustCompile(`^\(?\.?[A-Za-z_][A-Za-z_.]+(?:64)?[A-Za-z_.]*[(\[]|^\(\.|[:({\[]$|^\$\(|^\x60|\\[sdwbS]|a-z`)

func isExpression(value string) bool { return expressions.MatchString(value) }

// lastWord is the name of a variable that a shell exports.
func lastWord(field string) string { return field[strings.LastIndexByte(field, ' ')+1:] }

// setting reads a line of settings: NAME: VALUE or NAME=VALUE, with a comment behind it or not.
func setting(line string) (field, value string) {
	line = strings.TrimSpace(line)
	at := strings.IndexAny(line, ":=")
	if at < 0 || line[0] == '#' {
		return "", ""
	}
	return strings.Trim(line[:at], "\"'- \t"), Unquoted(strings.TrimSpace(line[at+1:]))
}

// Unquoted is the value of a line of settings without its quotes, and without the comma or the
// comment behind it.
func Unquoted(value string) string {
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		if end := strings.IndexByte(value[1:], value[0]); end >= 0 {
			return value[1 : 1+end]
		}
	}
	value, _, _ = strings.Cut(value, " #")
	return strings.Trim(strings.TrimSpace(value), `"',`)
}
