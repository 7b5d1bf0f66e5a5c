package secrets_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/secrets"
)

// TestCountedRules: a rule whose regular expressions are too large is an error of the file, and none that
// SOPS would make of it.
func TestCountedRules(t *testing.T) {
	large := strings.Repeat("((a{1,9}b?){90})", 20)
	for name, c := range map[string]struct {
		rules string
		line  int
		want  string
	}{
		"path":  {"  - age: a\n    path_regex: a\n  - age: a\n    path_regex: '" + large + "'\n", 5, "the path_regex was not evaluated"},
		"key":   {"  - age: a\n    encrypted_regex: '" + large + "'\n", 2, "cannot determine which values are encrypted"},
		"note":  {"  - age: a\n    unencrypted_comment_regex: '" + large + "'\n", 2, "cannot determine which values are encrypted"},
		"total": {strings.Repeat("  - {age: a, path_regex: '"+strings.Repeat("(a{90})", 10)+"'}\n", 30), 23, "exceed 20000 instructions"},
		"few":   {strings.Repeat("  - {age: a, path_regex: '^(a|b)/[^/]+\\.sops\\.ya?ml$', encrypted_regex: '^(data|stringData)$'}\n", 100), 0, ""},
	} {
		config, err := secrets.ParseConfig(".sops.yaml", []byte("creation_rules:\n"+c.rules))
		if err != nil {
			t.Fatal(name, err)
		}
		switch {
		case c.want == "" && config.Err != nil:
			t.Errorf("%s: %v", name, config.Err)
		case c.want == "":
		case config.Err == nil || config.Err.Line != c.line || !strings.Contains(config.Err.Message, c.want):
			t.Errorf("%s: %+v", name, config.Err)
		}
	}
	s := secrets.Selection{EncryptedRegex: large}
	limit := (*count.Error)(nil)
	if _, err := secrets.ClearIn("a.yaml", []byte(fmt.Sprintf("data:\n  a: %s\n", strings.Repeat("a", 100))), s); !errors.As(err, &limit) {
		t.Error("values are chosen by a regular expression that is not evaluated")
	}
}
