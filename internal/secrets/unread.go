package secrets

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"strings"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// anySecretKind matches the kind of a Secret anywhere in a line.
var anySecretKind = regexp.MustCompile(`\bkind["']?[ \t]*:[ \t]*["']?Secret(List)?\b`)

// Unread returns the reason why a YAML or JSON file that may contain a Secret cannot be parsed; nil for other files. A
// template counts only if it contains a credential outside of its actions.
func Unread(file string, data []byte) *repository.Error {
	if format := FormatOf(file); format != YAML && format != JSON || !bytes.Contains(data, []byte("Secret")) || !anySecretKind.Match(data) {
		return nil
	}
	f := parsed(data)
	if f == nil || f.Err == nil || f.Err.Template && !inTemplate(string(data)) {
		return nil
	}
	return f.Err
}

// inTemplate reports whether a line without an action contains a credential.
func inTemplate(text string) bool {
	var plain strings.Builder
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "{{") {
			plain.WriteString(line)
		}
	}
	return credential.SettingIn(plain.String()) != "" || credential.TokenIn(plain.String()) != ""
}

// MayHoldSecret reports whether a file that is too large to be parsed may contain a secret by the criteria of
// [CreationRule.Wants]: YAML and JSON with the kind Secret, and all files of variables.
func MayHoldSecret(file string, text io.Reader) bool {
	switch FormatOf(file) {
	case Dotenv, INI:
		return true
	case YAML, JSON:
		return anySecretKind.MatchReader(bufio.NewReader(text))
	}
	return false
}
