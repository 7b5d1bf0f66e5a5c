// Package mask removes secrets from output. The policy, for reports, messages and logs in every format:
//
//   - No line of a file with a Secret is shown: repository.Lines does not contain it.
//   - A value of a Secret, a value that variables compute from one, and a string that package credential takes for a
//     credential are shown as [Hidden].
//   - Libraries quote strings that they read. Therefore these values are also collected as [Texts], and hidden in every
//     message and report, whoever wrote it.
package mask

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// Hidden replaces a secret value in output.
const Hidden = "<hidden>"

// Limits of the strings that are hidden: their lengths in bytes, and their number.
const (
	least      = 4
	leastCased = 8 // strings of this length are also hidden in lower and upper case, because templates may change the case
	most       = 16 << 10
	mostTexts  = 50_000

	longestName = 100
)

// Texts are the strings that must not be shown. They are safe for concurrent use.
type Texts struct {
	mu       sync.Mutex
	all      map[string]bool
	replacer *strings.Replacer // nil until it is first used
}

// Add adds strings. It ignores short ones, which occur in any text by chance.
func (t *Texts) Add(texts ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, text := range texts {
		if len(text) < least || t.all[text] || len(t.all) >= mostTexts {
			continue
		}
		if t.all == nil {
			t.all = map[string]bool{}
		}
		t.all[text], t.replacer = true, nil
	}
}

// Without returns a text with the strings hidden. It takes time linear in the text's length, for any number of strings.
func (t *Texts) Without(text string) string {
	t.mu.Lock()
	if t.replacer == nil {
		t.replacer = replacer(t.all)
	}
	replacer := t.replacer
	t.mu.Unlock()
	text = replacer.Replace(text)
	for strings.Contains(text, Hidden+Hidden) {
		text = strings.ReplaceAll(text, Hidden+Hidden, Hidden)
	}
	return text
}

// replacer hides strings as written and as quoted in Go and JSON, longer strings first.
func replacer(texts map[string]bool) *strings.Replacer {
	all := make([]string, 0, 2*len(texts))
	for text := range texts {
		all = append(all, text)
		all = append(all, unquoted(strconv.Quote(text)))
		if quoted, err := json.Marshal(text); err == nil {
			all = append(all, unquoted(string(quoted)))
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, text := range slices.Compact(all) {
		pairs = append(pairs, text, Hidden)
	}
	return strings.NewReplacer(pairs...)
}

// unquoted returns a quoted string without the quotes around it.
func unquoted(text string) string { return text[1 : len(text)-1] }

// Strings returns the strings to hide for the value of a field: the value, its lines, the settings in it, and its words that
// look randomly generated. A build may copy them into any field. If ofSecret is set, the value is one of a Secret and is
// hidden unless it is a plain name or evidently public.
func Strings(field, value string, ofSecret bool) []string {
	if ofSecret && credential.Judge(field, value) == credential.Public {
		return nil
	}
	all := one(field, value, ofSecret)
	if !ofSecret && len(all) == 0 {
		return nil
	}
	for line := range strings.Lines(value) {
		all = append(all, one(field, line, ofSecret)...)
	}
	for name, setting := range credential.Settings(value) {
		all = append(all, one(name, setting, ofSecret && credential.IsRandom(setting))...)
	}
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\n\"',;:=@{}[]", r) }) {
		if credential.IsSurelyRandom(word) && !strings.HasPrefix(word, "age1") { // a public key
			all = append(all, word)
		}
	}
	return all
}

// one returns the spellings of a value. A single word or a number is hidden only in quotes, because it also occurs in
// other texts.
func one(field, value string, ofSecret bool) []string {
	value = strings.TrimSpace(value)
	if len(value) < least || len(value) > most || strings.HasPrefix(value, "ENC[") || credential.IsPlaceholder(value) {
		return nil
	}
	secret, evident := credential.HideLine(field, value), IsEvident(value)
	switch {
	case !secret && (!ofSecret || evident):
		return nil
	case IsPlain(value), evident && len(value) < leastCased:
		return []string{`"` + value + `"`}
	}
	all := []string{value, base64.StdEncoding.EncodeToString([]byte(value))}
	if len(value) >= leastCased {
		all = append(all, strings.ToLower(value), strings.ToUpper(value))
	}
	return all
}

// plain matches words, and the start of a block, flow or anchor in YAML.
var plain = regexp.MustCompile(`^(?:[A-Za-z]+(?:[-_.][A-Za-z]+)*|[{\[|>&][-+]?)$`)

// IsPlain reports whether a value is a plain name.
func IsPlain(value string) bool {
	return len(value) <= longestName && plain.MatchString(value) && !credential.IsSurelyRandom(value)
}

// IsEvident reports whether a value is a plain name or evidently public.
func IsEvident(value string) bool { return IsPlain(value) || credential.IsEvident(value) }

// Report applies hide to all strings of a report, except fixes, and except file names, which identify findings. report is a
// pointer to the report.
func Report(report any, hide func(text string) string) { walk(reflect.ValueOf(report), hide) }

func walk(v reflect.Value, hide func(text string) string) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() && v.Type() == reflect.TypeFor[string]() { // others are enumerations
			v.SetString(hide(v.String()))
		}
	case reflect.Pointer:
		walk(v.Elem(), hide)
	case reflect.Interface:
		if !v.IsNil() {
			v.Set(changed(v.Elem(), hide))
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), hide)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := v.MapIndex(key)
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(changed(key, hide), changed(value, hide))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); (f.IsExported() || f.Anonymous) && f.Name != "File" && f.Name != "Fix" {
				walk(v.Field(i), hide)
			}
		}
	}
}

// changed returns a copy of a value in which texts are hidden.
func changed(v reflect.Value, hide func(text string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	walk(out, hide)
	return out
}
