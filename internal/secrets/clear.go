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

// ClearValue is a value that stands in plaintext where it is to be encrypted. It doesn't hold it.
type ClearValue struct {
	// Name of the value: the keys down to it, "" for a file that is encrypted as a whole.
	Name string
	// Line and Column of its key, 0 where the file came without lines.
	Line, Column int
}

// IsNamedEncrypted says whether a file's name says that it is encrypted, or is to be: it has
// .sops. or .enc. in it.
func IsNamedEncrypted(file string) bool {
	base := strings.ToLower(path.Base(file))
	return !strings.HasPrefix(base, ConfigName[:len(".sops.")]) && (strings.Contains(base, ".sops.") || strings.Contains(base, ".enc."))
}

// chooser says which values a selection is for, as SOPS does.
// Source: github.com/getsops/sops/v3 v3.13 Tree.shouldBeEncrypted.
type chooser struct {
	Selection
	regex *regexp.Regexp
}

// newChooser reads a selection. One without a choice leaves what is named so in plaintext.
func newChooser(s Selection) chooser {
	if s.Chosen() == 0 {
		s.UnencryptedSuffix = unencryptedSuffix
	}
	c := chooser{Selection: s}
	if text := s.EncryptedRegex + s.UnencryptedRegex; text != "" {
		c.regex, _ = count.CompileShort(text) // SOPS takes a wrong one for one that matches nothing
	}
	return c
}

// unencryptedSuffix ends the names of what stays in plaintext where nothing is chosen.
// Source: github.com/getsops/sops/v3 v3.13 DefaultUnencryptedSuffix.
const unencryptedSuffix = "_unencrypted"

// byComments says that comments choose, of which only SOPS knows where they belong.
func (s Selection) byComments() bool { return s.EncryptedCommentRegex+s.UnencryptedCommentRegex != "" }

// undecided is why it is not known which values are chosen: ErrByComments, or a *count.Error; nil where it
// is.
func (s Selection) undecided() error {
	if s.byComments() {
		return ErrByComments
	}
	return s.Counted()
}

// ErrByComments is about values that comments choose.
var ErrByComments = errors.New("comments choose them")

// chooses says whether what stands under keys is to be encrypted.
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

// ClearIn are the values of a file that stand in plaintext although a rule chooses them: of a file
// that is encrypted, the rule that its metadata hold. What stands for another value counts only
// there, since SOPS opens no file with such a value in it. Which values comments choose is not
// known: then there are none, and the error is ErrByComments. It is a *count.Error where a regular
// expression is too large, and a *repository.Error where not all of the file can be read.
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
	case format == Whole && state == InTheClear:
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

// ClearInDocument is [ClearIn] for one document in YAML or JSON of a file that SOPS encrypted,
// whose first document, with the metadata that count, is given beside.
func ClearInDocument(d, first *repository.Document) (clear []ClearValue, err error) {
	s := selectionOf(first)
	if err := s.undecided(); err != nil {
		return nil, err
	}
	c := newChooser(s)
	return append(clearNodes(d.Root(), c, true), leftClear(d, c)...), nil
}

// leftClear are the values of encrypted Secrets that the selection doesn't choose and that are
// secrets in plaintext. Where it chooses none of a field, it misses the field; where it chooses some,
// the others are meant to be readable, unless they most likely are secrets.
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
		if some && c.meant(key.Value) || IsEncryptedFile(key.Value, text) || grade == credential.Public || some && grade != credential.Likely {
			continue
		}
		left = append(left, ClearValue{field + "." + key.Value, key.Line, key.Column})
	}
	return left
}

// meant says that the key itself tells that its value stays in plaintext.
func (c chooser) meant(key string) bool {
	return c.UnencryptedSuffix != "" && strings.HasSuffix(key, c.UnencryptedSuffix) || c.EncryptedSuffix != "" && !strings.HasSuffix(key, c.EncryptedSuffix)
}

// IsEncryptedFile says whether a value of a Secret or ConfigMap is a whole file that SOPS
// encrypted, by its key or else as YAML.
func IsEncryptedFile(key, value string) bool {
	return IsEncrypted(key, []byte(value)) || IsEncrypted(key+".yaml", []byte(value))
}

// Decoded is a value under the data of a Secret in plaintext, or the value where it is no base64.
func Decoded(value string) string {
	plain, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(value), ""))
	if err != nil {
		return value
	}
	return string(plain)
}

// Wants says whether a file is to be encrypted by the rule, which is for its path: its name says
// so, or the rule names paths, and it is a Secret with values or a file of variables with one that
// most likely is a secret. A rule for all paths chooses by the name alone.
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

// secretKind is how a line says that it is of a Secret.
var secretKind = regexp.MustCompile(`^[ \t]*(?:- )?["']?kind["']?[ \t]*:[ \t]*["']?Secret(List)?\b`)

// SpeaksOfSecret says whether a text may hold a Secret in YAML.
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

// holdsSecret says whether a text is YAML or JSON with a Secret that has values.
func holdsSecret(data []byte) bool {
	if !bytes.Contains(data, []byte("Secret")) { // in JSON it may stand anywhere in a line
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

// Objects are the Secrets of a document. The items of a SecretList need not say that they are
// Secrets.
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
				section = "DEFAULT" // as the library of SOPS' names it
			}
			keys = []string{section, l.name}
		}
		if l.section == "sops" || format == Dotenv && strings.HasPrefix(l.name, "sops_") || !c.chooses(keys) || !stands(credential.Unquoted(l.value), encrypted) {
			continue
		}
		clear = append(clear, ClearValue{Name: l.name, Line: l.number, Column: 1})
	}
	return clear
}

// stands says whether a value stands in plaintext.
func stands(value string, encrypted bool) bool {
	return value != "" && !IsEncryptedValue(value) && (encrypted || !credential.IsPlaceholder(value))
}

// mostDeep is how deep values are looked for, and mostClear how many are told of.
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

// walk gathers the values of a document that stand in plaintext.
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
		if !null && w.chooses(keys) && stands(n.Value, w.encrypted) {
			w.clear = append(w.clear, ClearValue{strings.Join(keys, "."), at.Line, at.Column})
		}
	}
}
