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

// anySecretKind is how a text says that it is of a Secret, wherever in a line.
var anySecretKind = regexp.MustCompile(`\bkind["']?[ \t]*:[ \t]*["']?Secret(List)?\b`)

// Unread says why a text in YAML or JSON cannot be read that may hold a Secret, nil where it can or
// holds none. A template counts only with a credential outside of its actions.
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

// inTemplate says whether a line without an action holds a credential.
func inTemplate(text string) bool {
	var plain strings.Builder
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "{{") {
			plain.WriteString(line)
		}
	}
	return credential.SettingIn(plain.String()) != "" || credential.TokenIn(plain.String()) != ""
}

// MayHoldSecret says whether a file that is too large to be parsed may hold what [CreationRule.Wants]
// takes for a secret: YAML and JSON that speak of a Secret, and all files of variables.
func MayHoldSecret(file string, text io.Reader) bool {
	switch FormatOf(file) {
	case Dotenv, INI:
		return true
	case YAML, JSON:
		return anySecretKind.MatchReader(bufio.NewReader(text))
	}
	return false
}
