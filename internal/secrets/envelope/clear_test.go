package envelope

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getsops/sops/v3"

	"github.com/fleetwright/fleetwright/internal/secrets"
)

// sealedNames are the names of the values that SOPS encrypted, without comments.
func sealedNames(value any, name string) []string {
	var all []string
	switch value := value.(type) {
	case string:
		if secrets.IsEncryptedValue(value) && !strings.HasSuffix(value, "type:comment]") {
			all = append(all, name)
		}
	case []any:
		for _, item := range value {
			all = append(all, sealedNames(item, name)...)
		}
	case sops.TreeBranch:
		for _, item := range value {
			key, ok := item.Key.(string)
			if !ok || key == "sops" || strings.HasPrefix(key, "sops_") {
				continue
			}
			all = append(all, sealedNames(item.Value, strings.TrimPrefix(name+"."+key, "."))...)
		}
	}
	return all
}

// What is said to be chosen is what SOPS encrypts, and of what it encrypted nothing is in plaintext.
func TestClearInIsWhatSOPSEncrypts(t *testing.T) {
	files := map[string]string{
		"a.yaml":      "# a comment\ndb:\n  password: hunter2 # inline\n  port: 5432\n  ratio: 0.5\n  at: 2026-01-02T03:04:05Z\n  empty: ''\n  none: null\n  list: [a1, {b: c1}]\n  text: |\n    one\n    two\nkept_unencrypted: clear\ntoken_secret: x1\n",
		"two.yml":     "data: {a: b1}\n---\ndata: {c: d1}\nother: e1\n",
		"a.json":      `{"data": {"password": "hunter2", "port": 5432, "list": ["a1", 1, {"x": "y1"}]}, "kept_unencrypted": "clear", "token_secret": "x1"}`,
		"a.env":       "# a comment\nPASSWORD=hunter2\n\ndata=x1\nkept_unencrypted=clear\ntoken_secret=x1\n",
		"a.ini":       "first = x1\n[data]\npassword = hunter2\n; c = d\n# e = f\nkept_unencrypted : clear\n[other]\ntoken_secret=x1\n",
		"secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  password: aHVudGVyMg==\nstringData:\n  token_secret: x1\n",
	}
	for _, s := range []secrets.Selection{
		{}, {EncryptedRegex: "^(data|stringData|db|PASSWORD)$"}, {UnencryptedRegex: "^(apiVersion|kind|metadata|data|db)$"},
		{EncryptedSuffix: "_secret"}, {UnencryptedSuffix: "word"}, {EncryptedRegex: "^(data|DEFAULT)$", MACOnlyEncrypted: true},
	} {
		rule := &secrets.CreationRule{Selection: s, Groups: [][]secrets.Recipient{{{Service: "age", ID: ageOne}}}}
		for file, text := range files {
			want, _ := secrets.ClearIn(file, []byte(text), s)
			out, err := Encrypt(file, []byte(text), rule, time.Unix(1767225600, 0))
			if nothing := (*Error)(nil); errors.As(err, &nothing) && nothing.Reason == Nothing {
				if len(want) > 0 {
					t.Errorf("%s, %+v: SOPS encrypts nothing, and %v is chosen", file, s, want)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			e, err := newEditor(file, secrets.Indents{})
			if err != nil {
				t.Fatal(err)
			}
			branches, err := e.store.LoadPlainFile(out)
			if err != nil {
				t.Fatal(err)
			}
			var sealed, chosen []string
			for _, b := range branches {
				sealed = append(sealed, sealedNames(b, "")...)
			}
			for _, v := range want {
				name := v.Name
				if file == "a.ini" { // its sections
					name = map[string]string{"first": "DEFAULT.first", "token_secret": "other.token_secret"}[name]
					if name == "" {
						name = "data." + v.Name
					}
				}
				chosen = append(chosen, name)
			}
			sealed = slices.DeleteFunc(sealed, func(name string) bool { return name == "kind" }) // its value, Secret, is taken for a placeholder
			slices.Sort(sealed)
			slices.Sort(chosen)
			if !slices.Equal(sealed, chosen) {
				t.Errorf("%s, %+v: SOPS encrypts %v, and %v is chosen", file, s, sealed, chosen)
			}
			if left, err := secrets.ClearIn(file, out, secrets.Selection{}); err != nil || len(left) > 0 && file != "secret.yaml" {
				t.Errorf("%s, %+v: %v is in plaintext in what SOPS encrypted\n%s", file, s, left, out)
			}
			if !secrets.IsEncrypted(file, out) {
				t.Errorf("%s, %+v: it isn't known as encrypted\n%s", file, s, out)
			}
		}
	}
}
