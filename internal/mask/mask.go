// Package mask keeps secrets out of what is printed. The policy, for reports, messages and logs in every format:
//
//   - No line is shown of a file that holds a Secret: repository.Lines has none of it.
//   - A value of a Secret, what variables compute from one, and what package credential judges to be a credential are shown
//     as [Hidden].
//   - Libraries quote what they read, so that these values are known as [Texts], and a message or report is shown
//     without them, whoever wrote it.
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

// Lengths of the strings that are hidden, in bytes, and how many of them there are at most.
const (
	least      = 4
	leastCased = 8 // from here on also in lower and in upper case: templates may change the case
	most       = 16 << 10
	mostTexts  = 50_000

	longestName = 100
)

// Texts are the strings that nothing shows. They are safe for concurrent use.
type Texts struct {
	mu       sync.Mutex
	all      map[string]bool
	replacer *strings.Replacer // nil until it is needed
}

// Add adds strings. It ignores short ones, which are in any text by chance.
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

// Without returns a text in which the strings are hidden. Its time is linear in the text's length, for any number of them.
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

// replacer hides strings as they are and as messages quote them, in Go's way or in JSON's, longer ones first.
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
		if credential.IsDrawn(word) && !strings.HasPrefix(word, "age1") { // a public key
			all = append(all, word)
		}
	}
	return all
}

// one returns the spellings of a value. A single word or a number is hidden only in quotes, because it also occurs
// elsewhere.
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
	return len(value) <= longestName && plain.MatchString(value) && !credential.IsDrawn(value)
}

// IsEvident reports whether a value is a plain name or evidently public.
func IsEvident(value string) bool { return IsPlain(value) || credential.IsEvident(value) }

// Report hides what hide does in all strings of a report, to which it takes a pointer: not in the names of files, by which
// findings are ignored and known, and not in fixes.
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
