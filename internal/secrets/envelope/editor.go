package envelope

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/cmd/sops/formats"
	"github.com/getsops/sops/v3/config"
	"github.com/getsops/sops/v3/logging"
	"github.com/getsops/sops/v3/stores/dotenv"
	"github.com/getsops/sops/v3/stores/ini"
	sopsjson "github.com/getsops/sops/v3/stores/json"
	sopsyaml "github.com/getsops/sops/v3/stores/yaml"
	"github.com/sirupsen/logrus"
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
)

// editor reads and writes one file in its format.
type editor struct {
	file   string
	format formats.Format
	store  sops.Store
	// documents of a YAML or JSON file, for positions.
	documents []*repository.Document
}

// quiet turns off SOPS's log, which quotes comments of files.
var quiet = sync.OnceFunc(func() { logging.SetLevel(logrus.PanicLevel) })

func newEditor(file string, indents secrets.Indents) (*editor, error) {
	quiet()
	e := &editor{file: file, format: formats.FormatForPath(file)}
	switch e.format {
	case formats.Yaml:
		e.store = sopsyaml.NewStore(&config.YAMLStoreConfig{Indent: or(indents.YAML, 0)})
	case formats.Json:
		e.store = sopsjson.NewStore(&config.JSONStoreConfig{Indent: or(indents.JSON, -1)})
	case formats.Dotenv:
		e.store = dotenv.NewStore(&config.DotenvStoreConfig{})
	case formats.Ini:
		e.store = ini.NewStore(&config.INIStoreConfig{})
	default:
		e.store = sopsjson.NewBinaryStore(&config.JSONBinaryStoreConfig{Indent: or(indents.Binary, -1)})
	}
	for _, indent := range []*int{indents.YAML, indents.JSON, indents.Binary} {
		if indent != nil && (*indent < -1 || *indent > mostIndent) {
			return nil, &Error{Reason: Unusable, File: file, Message: fmt.Sprintf("stores in .sops.yaml sets an indent of %d", *indent), hint: "correct the indent"}
		}
	}
	return e, nil
}

// mostIndent is the largest indent that YAML's emitter supports.
const mostIndent = 9

func or(value *int, otherwise int) int {
	if value == nil {
		return otherwise
	}
	return *value
}

// whole reports whether the file is encrypted as one value.
func (e *editor) whole() bool { return e.format == formats.Binary }

// structured reports whether the content is a mapping in YAML or JSON. Files of other formats have a mapping only after
// encryption.
func (e *editor) structured(encrypted bool) bool {
	return e.format == formats.Yaml || e.format == formats.Json || encrypted && e.whole()
}

// read checks a file before it is passed to SOPS: SOPS's errors quote values, it accepts truncated
// JSON, and it follows aliases without a limit.
func (e *editor) read(data []byte, encrypted bool) error {
	if !e.structured(encrypted) {
		return nil
	}
	if e.format != formats.Yaml {
		if err := jsonError(e.file, data); err != nil {
			return err
		}
	}
	name := strings.TrimSuffix(path.Base(strings.ReplaceAll(e.file, `\`, "/")), ".yaml") + ".yaml"
	repo, err := repository.FromFiles(func(yield func(string, []byte) bool) { yield(name, data) }, repository.Options{})
	if err != nil {
		return &Error{Reason: Malformed, File: e.file, Message: "the file cannot be read"}
	}
	f, ok := repo.File(name)
	switch {
	case !ok:
	case f.Err != nil:
		return &Error{Reason: Malformed, File: e.file, Line: f.Err.Line, Column: f.Err.Column, Message: f.Err.Message, hint: f.Err.Hint}
	default:
		e.documents = f.Documents
	}
	for _, d := range e.documents {
		if root := d.Root(); root.Kind != yaml.MappingNode {
			return &Error{Reason: Malformed, File: e.file, Line: root.Line, Column: root.Column, Message: "sops encrypts only files with keys and values, but this file is a list or a single value", hint: "put the content under a key"}
		}
	}
	return nil
}

func jsonError(file string, data []byte) error {
	err := json.Unmarshal(data, new(json.RawMessage))
	if err == nil {
		return nil
	}
	line := 1
	if at := (*json.SyntaxError)(nil); errors.As(err, &at) && at.Offset <= int64(len(data)) {
		line += strings.Count(string(data[:at.Offset]), "\n")
	}
	return &Error{Reason: Malformed, File: file, Line: line, Column: 1, Message: "the file is not JSON: it is truncated, or contains an invalid character", hint: "restore the file from before the change (git log -p)"}
}

func (e *editor) loadPlain(data []byte) (sops.TreeBranches, error) {
	if e.format != formats.Yaml && secrets.StateOf(e.file, data) != secrets.Plaintext {
		return nil, e.alreadyEncrypted()
	}
	if err := e.read(data, false); err != nil {
		return nil, err
	}
	for _, d := range e.documents {
		if n := d.Lookup("sops"); n != nil {
			return nil, e.alreadyEncrypted()
		}
	}
	branches, err := e.store.LoadPlainFile(data)
	if err != nil {
		return nil, e.refused(err, "")
	}
	if len(branches) == 0 {
		return nil, &Error{Reason: Nothing, File: e.file, Message: "the file is empty"}
	}
	return branches, nil
}

func (e *editor) alreadyEncrypted() error {
	line, column := e.metadataPosition()
	return &Error{Reason: Encrypted, File: e.file, Line: line, Column: column, Message: "the file is already encrypted, or has a key \"sops\", which SOPS reserves",
		hint: "to change its recipients, run fleetwright secrets updatekeys; to change a value, run sops edit"}
}

// inLine matches the line number in an error of a library.
var inLine = regexp.MustCompile(`\bline (\d+)`)

// refused returns an error of SOPS's stores without the values that the original may quote.
func (e *editor) refused(err error, what string) *Error {
	line := 0
	if found := inLine.FindStringSubmatch(err.Error()); found != nil {
		line, _ = strconv.Atoi(found[1])
	}
	message := "sops cannot read the file"
	switch {
	case strings.Contains(err.Error(), "already defined"):
		message = "a map has a duplicate key, which sops refuses"
	case what != "":
		message = what
	case e.format == formats.Dotenv:
		message = "a line is not of the form NAME=VALUE"
	}
	return &Error{Reason: Malformed, File: e.file, Line: line, Column: min(line, 1), Message: message}
}

// notWhole is the message for metadata that SOPS refuses.
const notWhole = "the SOPS metadata are incomplete: the file is truncated, or was merged by hand"

// load reads an encrypted file without decrypting it.
func load(file string, data []byte, indents secrets.Indents) (*editor, *sops.Tree, error) {
	e, err := newEditor(file, indents)
	if err != nil {
		return nil, nil, err
	}
	if err := e.read(data, true); err != nil {
		return nil, nil, err
	}
	t, err := e.store.LoadEncryptedFile(data)
	if errors.Is(err, sops.MetadataNotFound) {
		return nil, nil, &Error{Reason: NotEncrypted, File: file, Message: "the file has no SOPS metadata: it is in plaintext, or truncated", hint: "fleetwright secrets encrypt " + file + ", or restore the file from before the change (git log -p)"}
	}
	if err != nil {
		refused := e.refused(err, notWhole)
		refused.hint = "restore the file from before the change (git log -p)"
		if refused.Line == 0 {
			refused.Line, refused.Column = e.metadataPosition()
		}
		return nil, nil, refused
	}
	m := t.Metadata
	s := secrets.Selection{EncryptedRegex: m.EncryptedRegex, UnencryptedRegex: m.UnencryptedRegex,
		EncryptedCommentRegex: m.EncryptedCommentRegex, UnencryptedCommentRegex: m.UnencryptedCommentRegex}
	if err := s.Counted(); err != nil {
		line, column := e.metadataPosition()
		return nil, nil, &Error{Reason: Unusable, File: file, Line: line, Column: column, Message: err.Error()}
	}
	return e, &t, nil
}

func (e *editor) emit(t *sops.Tree) ([]byte, error) {
	out, err := e.store.EmitEncryptedFile(*t)
	if err != nil {
		return nil, &Error{Reason: Unusable, File: e.file, Message: "sops cannot write the file in its format: it has a list or map that the format does not support, or a key that begins with sops_"}
	}
	return out, nil
}

// metadataPosition returns the position of a field of the metadata, or of the metadata itself.
func (e *editor) metadataPosition(fields ...any) (line, column int) {
	for _, d := range e.documents {
		if d.Lookup("sops") != nil {
			return d.KeyPosition(append([]any{"sops"}, fields...)...)
		}
	}
	return 0, 0
}

// recipientPosition returns the position of a recipient in the metadata.
func (e *editor) recipientPosition(r secrets.Recipient) (line, column int) {
	for _, d := range e.documents {
		m, ok := secrets.MetadataOf(d)
		if !ok {
			continue
		}
		for _, other := range m.Recipients() {
			if r.Same(other) {
				return other.Line, other.Column
			}
		}
	}
	return e.metadataPosition()
}

// position returns the position of a string at a path in SOPS's notation: keys, each followed by a colon.
func (e *editor) position(at, text string) (line, column int) {
	for _, d := range e.documents {
		if line, column = find(d.Root(), "", at, text); line > 0 {
			return line, column
		}
	}
	return 0, 0
}

func find(n *yaml.Node, path, at, text string) (line, column int) {
	switch n.Kind {
	case yaml.ScalarNode:
		if path == at && n.Value == text {
			return n.Line, n.Column
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if line, column = find(item, path, at, text); line > 0 {
				return line, column
			}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			below := path + n.Content[i].Value + ":"
			if !strings.HasPrefix(at, below) {
				continue
			}
			if line, column = find(n.Content[i+1], below, at, text); line > 0 {
				return line, column
			}
		}
	}
	return 0, 0
}
