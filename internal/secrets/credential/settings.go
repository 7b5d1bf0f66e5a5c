package credential

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// mostLine is the maximum length of a line of settings, in bytes.
const mostLine = 8 << 10

// SettingIn returns the name of the first setting in a text with several lines, such as YAML, JSON or a file of
// variables, whose value is most likely a secret in plaintext; "" if no value is.
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
		for _, at := range assignments(line) { // JSON has several settings in a line
			if field := strings.TrimLeft(line[at[2]:at[3]], "-"); LooksSecret(field, line[at[4]:at[5]]) {
				return field
			}
		}
	}
	return ""
}

// SecretIn finds the first string in a text of any kind that is most likely a secret. It returns a description and the
// line, from 1: the quoted name of a setting whose value looks randomly generated, a URL with a password, or a credential
// of a known form; "" if it finds none. It ignores values that consist of words: in programs, the name of a password may
// be next to any word.
func SecretIn(text string) (what string, line int) {
	return (&Search{Left: math.MaxInt}).SecretIn(text)
}

// Search searches several texts, as long as not too many of their lines mention secrets.
type Search struct {
	// Left is the number of bytes of lines mentioning secrets that may still be searched. If it is negative, some lines were
	// not searched.
	Left int
}

// SecretIn is the function [SecretIn] for one of the texts, until Left bytes of lines that mention secrets were searched.
// Then it returns "".
func (s *Search) SecretIn(text string) (what string, line int) {
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
			if name := secretInLine(piece); name != "" && !hashes().MatchString(piece) {
				return strconv.Quote(name), number
			}
		}
	}
	return known, line
}

// IsHash reports whether a value is the hash of a password.
func IsHash(value string) bool {
	at := hashes().FindStringIndex(value)
	return at != nil && at[0] == 0 && at[1] == len(value)
}

// Hash is the result of [SecretIn] for the hash of a password. An attacker can only use it to guess the password.
const Hash = "the hash of a password"

// knownIn returns the name of the first credential of a known form in a text, without private keys, and its line.
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

// pieces returns the parts of a line that are short enough to be judged. A long line, as in JSON, is split at its commas.
func pieces(line string) []string {
	if len(line) <= mostLine {
		return []string{line}
	}
	return strings.SplitAfter(line, ",")
}

func secretInLine(line string) string {
	field, value := setting(line)
	if LooksRandomSecret(field, value) {
		return lastWord(field)
	}
	for _, at := range assignments(line) {
		folder := strings.LastIndexFunc(line[:at[2]], func(r rune) bool { return !isOfPath(r) }) + 1 // the name may be an annotation such as checksum/secret
		if field := strings.TrimLeft(line[at[2]:at[3]], "-"); LooksRandomSecret(line[folder:at[2]]+field, line[at[4]:at[5]]) {
			return field
		}
	}
	for _, o := range otherSettings {
		if !strings.Contains(line, o.mark) {
			continue
		}
		for _, found := range o.form().FindAllStringSubmatch(line, -1) {
			if LooksRandomSecret(found[1], found[2]) {
				return found[1]
			}
		}
	}
	return ""
}

// otherSettings are the forms of settings without a colon or an equals sign: an XML element, and a flag
// followed by its value.
var otherSettings = []struct {
	mark string
	form func() *regexp.Regexp
}{
	{"</", lazily(`<([A-Za-z0-9_.-]+)>([^<>\s]+)</`)},
	{" --", lazily(`[ \t"']--([A-Za-z][A-Za-z0-9-]*)[ \t]+["']?([^\s"';-][^\s"';]*)`)},
}

func isOfPath(r rune) bool { return r == '/' || r == '.' || r == '-' || unicode.IsLetter(r) }

// LooksRandomSecret is [LooksSecret] for a value in any text: the value must look randomly generated or, for the name of a
// password, be a short word with digits.
func LooksRandomSecret(field, value string) bool {
	if !LooksSecret(field, value) || isExpression(value) || HasPassword(value) {
		return false
	}
	if madeUp().MatchString(value) && !hasRealPart(value) {
		return false
	}
	return IsSurelyRandom(value) || strings.Contains(value, "://") || strongName(field) && len(value) <= longestWeak && strings.ContainsAny(value, "0123456789") && IsRandom(value)
}

// madeUp matches digits in their order after a word that marks a value as an example, as in tests.
var madeUp = lazily(`(?i)^[a-z._-]*(?:test|example|sample|dummy|fake|demo)[a-z._-]*(12345|123456|1234567|12345678|123456789)0?$`)

// longestWeak is the maximum length of a password that a person chose.
const longestWeak = 20

// expressions matches expressions with which programs compute a value: a call, an element of a map, a path of jq, a cmdlet of
// PowerShell, a comparison, a formatted string of Python, a shell's in a Makefile ($$); and the key of a map in a map.
var expressions = lazily(`^(?:Get|New|Read|Select|Invoke|Convert|ConvertTo|ConvertFrom|Import|Join|Find|Resolve|Unprotect)-[A-Z][A-Za-z]+$|^\(?\.?[A-Za-z_][A-Za-z_.]+(?:64)?[A-Za-z_.]*[(\[]|^\([A-Za-z_]*\.|[:({\[]$|^\$\$?\(|^\x60|\\[sdwbS]|a-z|\s(?:==|!=|\?|&&|\|\|)\s|^(?:f|rf|fr)["']`)

func isExpression(value string) bool { return expressions().MatchString(value) }

// lastWord returns the last word: the name of a variable after the export of a shell.
func lastWord(field string) string { return field[strings.LastIndexByte(field, ' ')+1:] }

// setting parses a line of settings: NAME: VALUE or NAME=VALUE, with or without a comment after it.
func setting(line string) (field, value string) {
	line = strings.TrimSpace(line)
	at := strings.IndexAny(line, ":=")
	if at < 0 || line[0] == '#' {
		return "", ""
	}
	return strings.Trim(line[:at], "\"'- \t"), Unquoted(strings.TrimSpace(line[at+1:]))
}

// Unquoted returns the value in a line of settings without its quotes, and without the comma or
// comment after it.
func Unquoted(value string) string {
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		if end := strings.IndexByte(value[1:], value[0]); end >= 0 {
			return value[1 : 1+end]
		}
	}
	value, _, _ = strings.Cut(value, " #")
	return strings.Trim(strings.TrimSpace(value), `"',`)
}
