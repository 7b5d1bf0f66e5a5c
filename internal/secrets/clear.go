package secrets

import (
	"bytes"
	"encoding/base64"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// ClearValue is a value that is in plaintext but should be encrypted. It does not contain the value
// itself.
type ClearValue struct {
	// Name of the value: the keys that lead to it, "" for a file that is encrypted as a whole.
	Name string
	// Line and Column of its key, 0 if the file has no lines.
	Line, Column int
	// Unmatched is the encrypted_regex of the file's metadata if it matches no value in the Secret's field; "" otherwise.
	Unmatched string
}

// IsNamedEncrypted reports whether the name of a file says that it is, or should be, encrypted: it
// contains .sops. or .enc.
func IsNamedEncrypted(file string) bool {
	base := strings.ToLower(path.Base(file))
	return !strings.HasPrefix(base, ConfigName[:len(".sops.")]) && (strings.Contains(base, ".sops.") || strings.Contains(base, ".enc."))
}

// chooser selects the values to encrypt, as SOPS does.
// Source: github.com/getsops/sops/v3 v3.13 Tree.shouldBeEncrypted.
type chooser struct {
	Selection
	regex *regexp.Regexp
}

// newChooser returns the chooser for a selection. An empty selection excludes values with unencryptedSuffix.
func newChooser(s Selection) chooser {
	if s.Chosen() == 0 {
		s.UnencryptedSuffix = unencryptedSuffix
	}
	c := chooser{Selection: s}
	if text := s.EncryptedRegex + s.UnencryptedRegex; text != "" {
		c.regex, _ = count.CompileShort(text) // as in SOPS, an invalid expression matches nothing
	}
	return c
}

// unencryptedSuffix ends the names of values that stay in plaintext if the selection is empty.
// Source: github.com/getsops/sops/v3 v3.13 DefaultUnencryptedSuffix.
const unencryptedSuffix = "_unencrypted"

// byComments reports whether comments select the values: only SOPS knows which values they belong to.
func (s Selection) byComments() bool { return s.EncryptedCommentRegex+s.UnencryptedCommentRegex != "" }

// undecided returns the reason why the selected values are unknown: ErrByComments, or a *count.Error; nil if they are
// known.
func (s Selection) undecided() error {
	if s.byComments() {
		return ErrByComments
	}
	return s.Counted()
}

// ErrByComments is returned if comments select the values.
var ErrByComments = errors.New("comments choose them")

// chooses reports whether the value at a path of keys is to be encrypted.
func (c chooser) chooses(keys []string) bool {
	matches := func(key string) bool { return c.regex != nil && c.regex.MatchString(key) }
	switch {
	case c.EncryptedRegex != "":
		return slices.ContainsFunc(keys, matches)
	case c.UnencryptedRegex != "":
		return !slices.ContainsFunc(keys, matches)
	case c.EncryptedSuffix != "":
		return slices.ContainsFunc(keys, func(key string) bool { return strings.HasSuffix(key, c.EncryptedSuffix) })
	}
	return !slices.ContainsFunc(keys, func(key string) bool { return strings.HasSuffix(key, c.UnencryptedSuffix) })
}

// ClearIn returns the values of a file that are in plaintext although a rule selects them. For an encrypted file it
// uses the rule in the file's metadata, and includes placeholders, because SOPS cannot open a file with a
// placeholder in it. If comments select the values, they are unknown: it returns none and ErrByComments. The error
// is a *count.Error if a regular expression is too large, and a *repository.Error if the file cannot be read
// completely.
func ClearIn(file string, data []byte, rule Selection) (clear []ClearValue, err error) {
	state, own := stateOf(file, data)
	if state == Encrypted {
		rule = own
	}
	format := FormatOf(file)
	switch c, err := newChooser(rule), rule.undecided(); {
	case err != nil:
		return nil, err
	case format == Dotenv || format == INI:
		return clearLines(format, data, c, state == Encrypted), nil
	case format == Whole && state == Plaintext:
		if len(bytes.TrimSpace(data)) == 0 {
			return nil, nil
		}
		return []ClearValue{{Line: 1, Column: 1}}, nil
	default:
		f := parsed(data)
		if f == nil {
			return nil, nil
		}
		for _, d := range f.Documents {
			clear = append(clear, clearNodes(d.Root(), c, state == Encrypted)...)
			if state == Encrypted {
				clear = append(clear, leftClear(d, c)...)
			}
		}
		if f.Err != nil {
			return clear, f.Err
		}
		return clear, nil
	}
}

// ClearInDocument is [ClearIn] for one YAML or JSON document of a file that SOPS encrypted.
// first is the first document of the file, whose metadata apply.
func ClearInDocument(d, first *repository.Document) (clear []ClearValue, err error) {
	s := selectionOf(first)
	if err := s.undecided(); err != nil {
		return nil, err
	}
	c := newChooser(s)
	return append(clearNodes(d.Root(), c, true), leftClear(d, c)...), nil
}

// leftClear returns the plaintext secrets in encrypted Secrets that the selection doesn't select. If the selection
// selects no value of data or stringData, it probably misses that field by mistake. If it selects some values, the other
// values are probably plaintext on purpose, and leftClear returns only those that are most likely secrets.
func leftClear(d *repository.Document, c chooser) []ClearValue {
	var clear []ClearValue
	for _, o := range Objects(d) {
		for _, field := range []string{"data", "stringData"} {
			n := o.Lookup(field)
			if n == nil || n.Kind != yaml.MappingNode {
				continue
			}
			clear = append(clear, leftIn(n, field, c)...)
		}
	}
	return clear
}

func leftIn(n *yaml.Node, field string, c chooser) []ClearValue {
	var left []ClearValue
	some := false
	for i := 0; i+1 < len(n.Content); i += 2 {
		some = some || c.chooses([]string{field, n.Content[i].Value})
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		value := repository.Lookup(n, key.Value)
		if value == nil || value.Kind != yaml.ScalarNode || c.chooses([]string{field, key.Value}) {
			continue
		}
		text := value.Value
		if field == "data" {
			text = Decoded(text)
		}
		grade := credential.Judge(key.Value, text)
		if some && c.meansPlaintext(key.Value) || IsEncryptedFile(key.Value, text) || grade == credential.Public || some && grade != credential.Likely {
			continue
		}
		one := ClearValue{Name: field + "." + key.Value, Line: key.Line, Column: key.Column}
		if !some {
			one.Unmatched = c.EncryptedRegex
		}
		left = append(left, one)
	}
	return left
}

// meansPlaintext reports whether the suffix of a key means that its value stays in plaintext.
func (c chooser) meansPlaintext(key string) bool {
	return c.UnencryptedSuffix != "" && strings.HasSuffix(key, c.UnencryptedSuffix) || c.EncryptedSuffix != "" && !strings.HasSuffix(key, c.EncryptedSuffix)
}

// IsEncryptedFile reports whether a value of a Secret or ConfigMap is a whole file that SOPS
// encrypted, in the format of its key or else in YAML.
func IsEncryptedFile(key, value string) bool {
	return IsEncrypted(key, []byte(value)) || IsEncrypted(key+".yaml", []byte(value))
}

// Decoded returns a value in the data of a Secret, decoded from base64, or unchanged if it is not base64.
func Decoded(value string) string {
	plain, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(value), ""))
	if err != nil {
		return value
	}
	return string(plain)
}

// Wants reports whether a file should be encrypted according to a rule for its path: its name says
// so, or the rule has a path_regex and the file is a Secret with values or a file of variables with one that
// most likely is a secret. For a rule for all paths, only the name counts.
func (r CreationRule) Wants(file string, data []byte) bool {
	switch {
	case IsNamedEncrypted(file):
		return true
	case r.PathRegex == "":
		return false
	}
	switch FormatOf(file) {
	case Dotenv, INI:
		return credential.SettingIn(string(data)) != ""
	case YAML, JSON:
		return holdsSecret(data)
	}
	return false
}

// secretKind matches a line with the kind of a Secret.
var secretKind = regexp.MustCompile(`^[ \t]*(?:- )?["']?kind["']?[ \t]*:[ \t]*["']?Secret(List)?\b`)

// SpeaksOfSecret reports whether a file may contain a Secret in YAML.
func SpeaksOfSecret(text []byte) bool {
	for {
		at := bytes.Index(text, []byte("Secret"))
		if at < 0 {
			return false
		}
		line := text[bytes.LastIndexByte(text[:at], '\n')+1:]
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text) - at
		}
		if kind := bytes.Index(line, []byte("kind")); kind >= 0 && kind < at && secretKind.Match(line[:len(line)-len(text)+at+end]) {
			return true
		}
		text = text[at+end:]
	}
}

// holdsSecret reports whether a file is YAML or JSON with a Secret that has values.
func holdsSecret(data []byte) bool {
	if !bytes.Contains(data, []byte("Secret")) { // in JSON the word may be anywhere in a line
		return false
	}
	f := parsed(data)
	if f == nil {
		return false
	}
	for _, d := range f.Documents {
		for _, o := range Objects(d) {
			for _, field := range []string{"data", "stringData"} {
				if n := o.Lookup(field); n != nil && len(n.Content) > 0 {
					return true
				}
			}
		}
	}
	return false
}

// Objects returns the Secrets in a document. The items of a SecretList count even if they do not
// name their kind.
func Objects(d *repository.Document) []*repository.Object {
	var all []*repository.Object
	for _, o := range d.Objects {
		items := o.Lookup("items")
		switch {
		case o.APIVersion == "v1" && o.Kind == "Secret":
			all = append(all, o)
		case o.APIVersion == "v1" && o.Kind == "SecretList" && items != nil && items.Kind == yaml.SequenceNode:
			for i := range items.Content {
				if n := o.Lookup("items", i); n != nil && n.Kind == yaml.MappingNode {
					item := &repository.Object{Document: d, Node: n, APIVersion: "v1", Kind: "Secret"}
					item.Name, _ = item.Text("metadata", "name")
					item.Namespace, _ = item.Text("metadata", "namespace")
					all = append(all, item)
				}
			}
		}
	}
	return all
}

func clearLines(format Format, data []byte, c chooser, encrypted bool) []ClearValue {
	var clear []ClearValue
	for _, l := range lines(format, data) {
		keys := []string{l.name}
		if format == INI {
			section := l.section
			if section == "" {
				section = "DEFAULT" // the name in the library of SOPS
			}
			keys = []string{section, l.name}
		}
		if l.section == "sops" || format == Dotenv && strings.HasPrefix(l.name, "sops_") || !c.chooses(keys) || !inPlaintext(credential.Unquoted(l.value), encrypted) {
			continue
		}
		clear = append(clear, ClearValue{Name: l.name, Line: l.number, Column: 1})
	}
	return clear
}

// inPlaintext reports whether a value is in plaintext. A placeholder counts only in an encrypted file.
func inPlaintext(value string, encrypted bool) bool {
	return value != "" && !IsEncryptedValue(value) && (encrypted || !credential.IsPlaceholder(value))
}

// mostDeep is the maximum depth at which values are searched, and mostClear the maximum number that is reported.
const (
	mostDeep  = 200
	mostClear = 100
)

func clearNodes(root *yaml.Node, c chooser, encrypted bool) []ClearValue {
	w := walk{chooser: c, encrypted: encrypted}
	for i := 0; root.Kind == yaml.MappingNode && i+1 < len(root.Content); i += 2 {
		if key := root.Content[i]; key.Value != "sops" {
			w.value([]string{key.Value}, key, root.Content[i+1])
		}
	}
	return w.clear
}

// walk collects the values of a document that are in plaintext.
type walk struct {
	chooser
	encrypted bool
	clear     []ClearValue
}

func (w *walk) value(keys []string, at, n *yaml.Node) {
	if len(w.clear) >= mostClear || len(keys) > mostDeep {
		return
	}
	switch n.Kind {
	case yaml.AliasNode:
		if n.Alias != nil {
			w.value(keys, at, n.Alias)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			w.value(append(keys[:len(keys):len(keys)], n.Content[i].Value), n.Content[i], n.Content[i+1])
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			w.value(keys, item, item)
		}
	case yaml.ScalarNode:
		null := n.ShortTag() == "!!null" || n.ShortTag() == "!!bool" && !w.encrypted
		if !null && w.chooses(keys) && inPlaintext(n.Value, w.encrypted) {
			w.clear = append(w.clear, ClearValue{Name: strings.Join(keys, "."), Line: at.Line, Column: at.Column})
		}
	}
}
