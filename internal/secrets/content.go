package secrets

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// Format is the format of a file's values. SOPS determines it by the end of the file's name, in
// lower case, and encrypts every other file as a whole.
// Source: github.com/getsops/sops/v3 v3.13 cmd/sops/formats, FormatForPath.
type Format string

// The formats.
const (
	YAML   Format = "yaml"
	JSON   Format = "json"
	Dotenv Format = "dotenv"
	INI    Format = "ini"
	Whole  Format = "binary"
)

// FormatOf returns the format of a file according to its name.
func FormatOf(file string) Format {
	for _, f := range []struct {
		end    string
		format Format
	}{{".yaml", YAML}, {".yml", YAML}, {".json", JSON}, {".env", Dotenv}, {".ini", INI}} {
		if strings.HasSuffix(file, f.end) {
			return f.format
		}
	}
	return Whole
}

// State describes whether SOPS considers a file encrypted.
type State int

// The states.
const (
	// Plaintext is a file without metadata of SOPS.
	Plaintext State = iota
	// Broken is a file with metadata that SOPS refuses: truncated, or edited by hand.
	Broken
	// Encrypted is a file with metadata that SOPS accepts.
	Encrypted
)

// IsEncrypted reports whether SOPS encrypted a file: in the format of its name, with metadata that
// SOPS accepts. It decrypts nothing.
func IsEncrypted(file string, data []byte) bool { return StateOf(file, data) == Encrypted }

// StateOf returns the state of a file according to its structure.
func StateOf(file string, data []byte) State {
	state, _ := stateOf(file, data)
	return state
}

// stateOf returns the state of a file, and for an encrypted file the selection of its values.
func stateOf(file string, data []byte) (State, Selection) {
	if !bytes.Contains(data, []byte("sops")) {
		return Plaintext, Selection{}
	}
	format := FormatOf(file)
	switch {
	case format == Dotenv || format == INI:
		return stateOfFields(metadataFields(format, data))
	case format == Whole && !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")):
		if state, selection := stateOfFields(metadataFields(Dotenv, data)); state == Encrypted {
			return state, selection // kustomize-controller reads env files of any name as with sops --input-type dotenv
		}
		return Plaintext, Selection{}
	case format != YAML && !json.Valid(data): // YAML would parse the start of truncated JSON
		return unreadable(data), Selection{}
	}
	f := parsed(data)
	if f == nil || f.Err != nil || len(f.Documents) == 0 {
		return unreadable(data), Selection{}
	}
	return StateOfDocument(f.Documents[0]), selectionOf(f.Documents[0])
}

// metadataLine matches the start of the metadata in a YAML or JSON file.
var metadataLine = regexp.MustCompile(`(?m)^[ \t]*sops[ \t]*:|"sops"[ \t]*:`)

// unreadable returns the state of a file that is not valid in its format: Broken if it contains encrypted
// values, whose metadata were truncated; otherwise it only mentions SOPS.
func unreadable(data []byte) State {
	if bytes.Contains(data, []byte("ENC[AES256_GCM,")) && metadataLine.Match(data) {
		return Broken
	}
	return Plaintext
}

// parsed parses YAML; it returns nil for an empty file.
func parsed(data []byte) *repository.File {
	const name = "content.yaml"
	repo, err := repository.FromFiles(func(yield func(string, []byte) bool) { yield(name, data) }, repository.Options{})
	if err != nil {
		return nil
	}
	f, _ := repo.File(name)
	return f
}

// StateOfDocument returns the state of one YAML or JSON document: each document of a file has its
// own metadata.
func StateOfDocument(d *repository.Document) State {
	n := d.Lookup("sops")
	if n == nil || n.Kind != yaml.MappingNode {
		return Plaintext
	}
	fields := map[string]string{}
	sealed := false
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		fields[name] = text(n, name)
		sealed = sealed || fileFields[name] != "" && repository.Lookup(n, name, 0, "enc") != nil
	}
	_, mac := fields["mac"]
	_, modified := fields["lastmodified"]
	switch {
	case accepted(fields, readSelection(n)):
		return Encrypted
	case mac || modified || sealed:
		return Broken
	}
	return Plaintext // "sops" is the name of ordinary settings
}

func selectionOf(d *repository.Document) Selection {
	n := d.Lookup("sops")
	if n == nil {
		return Selection{}
	}
	return readSelection(n)
}

// accepted reports whether SOPS accepts metadata.
// Source: github.com/getsops/sops/v3 v3.13 stores, metadata.ToInternal, and the MAC that each
// file has.
func accepted(fields map[string]string, s Selection) bool {
	_, err := time.Parse(time.RFC3339, fields["lastmodified"])
	return err == nil && IsEncryptedValue(fields["mac"]) && s.Chosen() <= 1
}

// metadataFields returns the metadata in a dotenv or INI file, by name without SOPS's prefix; nil for a file without
// metadata. Source: github.com/getsops/sops/v3 v3.13 stores/dotenv and stores/ini.
func metadataFields(format Format, data []byte) map[string]string {
	fields := map[string]string{}
	for _, l := range lines(format, data) {
		name, own := l.name, l.section == "sops"
		if format == Dotenv {
			name, own = strings.CutPrefix(l.name, "sops_")
		}
		if own {
			fields[name] = l.value
		}
	}
	return fields
}

func stateOfFields(fields map[string]string) (State, Selection) {
	s := Selection{
		EncryptedRegex: fields["encrypted_regex"], UnencryptedRegex: fields["unencrypted_regex"],
		EncryptedSuffix: fields["encrypted_suffix"], UnencryptedSuffix: fields["unencrypted_suffix"],
		EncryptedCommentRegex: fields["encrypted_comment_regex"], UnencryptedCommentRegex: fields["unencrypted_comment_regex"],
	}
	_, mac := fields["mac"]
	_, modified := fields["lastmodified"]
	sealed := false
	for name := range fields {
		sealed = sealed || strings.HasSuffix(name, "__map_enc")
	}
	switch {
	case accepted(fields, s):
		return Encrypted, s
	case mac || modified || sealed:
		return Broken, s
	}
	return Plaintext, s
}

// encryptedValue matches a value that SOPS encrypted.
// Source: github.com/getsops/sops/v3 v3.13 aes, encre; the parts are in base64.
var encryptedValue = regexp.MustCompile(`^ENC\[AES256_GCM,data:[A-Za-z0-9+/]+={0,2},iv:[A-Za-z0-9+/]+={0,2},tag:[A-Za-z0-9+/]+={0,2},type:[a-z]+\]$`)

// IsEncryptedValue reports whether a value has the form of a value that SOPS encrypted.
func IsEncryptedValue(value string) bool {
	return strings.HasPrefix(value, "ENC[") && encryptedValue.MatchString(strings.TrimSpace(value))
}

// line is a line of a dotenv or INI file that sets a value.
type line struct {
	// section of an INI file.
	section, name, value string
	// number of the line, from 1.
	number int
}

// lines returns the lines of a dotenv or INI file that set values. It skips comments, and returns only the first line of
// a value with several lines, which INI allows.
func lines(format Format, data []byte) []line {
	var all []line
	section, number := "", 0
	for text := range strings.Lines(string(data)) {
		number++
		text = strings.TrimRight(text, "\r\n")
		if format == INI {
			text = strings.TrimSpace(text)
			if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
				section = strings.TrimSpace(text[1 : len(text)-1])
				continue
			}
		}
		if text == "" || text[0] == '#' || format == INI && text[0] == ';' {
			continue
		}
		between := "="
		if format == INI {
			between = "=:"
		}
		at := strings.IndexAny(text, between)
		if at < 0 {
			continue
		}
		name, value := text[:at], text[at+1:]
		if format == INI {
			name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		}
		all = append(all, line{section, name, value, number})
	}
	return all
}

// WhyBroken returns the reason why SOPS refuses the metadata of a document.
func WhyBroken(d *repository.Document) string {
	n := d.Lookup("sops")
	switch _, err := time.Parse(time.RFC3339, text(n, "lastmodified")); {
	case text(n, "mac") == "":
		return "is encrypted without a checksum: sops.mac is missing"
	case !IsEncryptedValue(text(n, "mac")):
		return "is encrypted with a damaged checksum: sops.mac is not an encrypted value"
	case err != nil:
		return "is encrypted, but sops.lastmodified is missing or not a time"
	}
	return "is encrypted, but its metadata select values in several ways, and SOPS supports only one"
}
