package sops

import (
	"encoding/base64"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Plaintext is the rule sops-plaintext-secret.
var Plaintext = rule.Rule{
	ID:       "sops-plaintext-secret",
	Title:    "a Secret in clear",
	Severity: finding.Error,
	Why: `Whoever can read the repository, its clones, its forks and its history reads the Secret. base64 hides nothing.

Not reported are values that stand for others (${VAR}, {{ … }}, op://…, "changeme", an empty one), what everybody may
know (certificates, public keys, user names, hosts), and what no cluster reads in folders of examples and tests.`,
	Fix: `Encrypt the file with SOPS, or keep the value elsewhere (External Secrets). What was pushed once is known: make a
new value.`,
	Bad: []rule.Example{{Files: `-- apps/secret.yaml --
apiVersion: v1
kind: Secret
metadata:
  name: db
  namespace: apps
stringData:
  username: app
  password: tr0ub4dor-and-3 # <-- here
`}},
	Good: []rule.Example{{Files: `-- apps/secret.sops.yaml --
apiVersion: v1
kind: Secret
metadata:
  name: db
  namespace: apps
stringData:
  username: ENC[AES256_GCM,data:5rk=,iv:c29tZQ==,tag:dGFn,type:str]
  password: ENC[AES256_GCM,data:9fQkzA==,iv:c29tZQ==,tag:dGFn,type:str]
` + sopsBlock + `-- apps/replaced.yaml --
apiVersion: v1
kind: Secret
metadata:
  name: replaced
  namespace: apps
stringData:
  password: ${DB_PASSWORD}
`}},
	Run: func(p *rule.Pass) {
		eachSecret(p, func(o *repository.Object) {
			if o.Document.Encrypted {
				return // sops-partial's
			}
			keys := clear(o, func(string) bool { return true })
			if len(keys) == 0 || !real(p, o.File()) {
				return
			}
			f := finding.Finding{Object: rule.ObjectOf(o), File: o.File(), Line: keys[0].line, Column: keys[0].column,
				Message: fmt.Sprintf("%s holds %s in clear", o, listed(keys)),
				Hint:    fixHint(p, o.File())}
			p.Report(f)
		})
	},
}

// Partial is the rule sops-partial.
var Partial = rule.Rule{
	ID:       "sops-partial",
	Title:    "a value in clear in a Secret that SOPS encrypted",
	Severity: finding.Error,
	Why: `The file looks encrypted, and a part of it isn't: somebody added a value with an editor, or the rule's
encrypted_regex doesn't name the field. What was edited by hand also breaks the checksum, so that Flux refuses the
file; with mac_only_encrypted it doesn't, and the value stays in clear.`,
	Fix: `Encrypt the value with "sops FILE" (which opens the file in clear and encrypts it again), or "sops set". Where the
rule's encrypted_regex leaves the field out, correct it, and encrypt anew.`,
	Bad: []rule.Example{{Files: `-- apps/secret.sops.yaml --
apiVersion: v1
kind: Secret
metadata:
  name: db
  namespace: apps
stringData:
  password: ENC[AES256_GCM,data:9fQkzA==,iv:c29tZQ==,tag:dGFn,type:str]
  replication: tr0ub4dor-and-3 # <-- here
` + sopsBlock}},
	Good: []rule.Example{{Files: `-- apps/secret.sops.yaml --
apiVersion: v1
kind: Secret
metadata:
  name: db
  namespace: apps
stringData:
  password: ENC[AES256_GCM,data:9fQkzA==,iv:c29tZQ==,tag:dGFn,type:str]
  replication: ENC[AES256_GCM,data:aWo5fQk=,iv:c29tZQ==,tag:dGFn,type:str]
` + sopsBlock}},
	Run: func(p *rule.Pass) {
		eachSecret(p, func(o *repository.Object) {
			if !o.Document.Encrypted {
				return
			}
			meta, _ := secrets.MetadataOf(o.Document)
			keys := clear(o, func(key string) bool { return meta == nil || !meta.LeavesClear(key) })
			if len(keys) == 0 || !real(p, o.File()) {
				return
			}
			for _, key := range keys {
				p.Report(finding.Finding{Object: rule.ObjectOf(o), File: o.File(), Line: key.line, Column: key.column,
					Message: fmt.Sprintf("%s holds %q in clear beside encrypted values", o, key.name),
					Hint:    fmt.Sprintf("encrypt it: sops edit %s", o.File())})
			}
		})
	},
}

// eachSecret gives the Secrets of all files but charts'.
func eachSecret(p *rule.Pass, check func(*repository.Object)) {
	for _, f := range p.Repo.Files() {
		if p.Repo.Use(f.Path) == repository.Chart {
			continue
		}
		for _, d := range f.Documents {
			for _, o := range d.Objects {
				if isSecret(o) {
					check(o)
				}
			}
		}
	}
}

// clearKey is a key whose value stands in clear.
type clearKey struct {
	name         string
	line, column int
}

// clear are the keys of a Secret that hold a secret in clear.
func clear(o *repository.Object, judged func(key string) bool) []clearKey {
	var keys []clearKey
	for _, field := range []string{"data", "stringData"} {
		n := o.Lookup(field)
		if n == nil || n.Kind != yaml.MappingNode {
			continue
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			value := repository.Lookup(n, key)
			if value == nil || value.Kind != yaml.ScalarNode || value.Tag == "!!null" || !judged(key) {
				continue
			}
			text := value.Value
			if field == "data" {
				text = decoded(text)
			}
			if secrets.InClear(key, text) && !secrets.IsEncrypted([]byte(text)) {
				keys = append(keys, clearKey{key, n.Content[i].Line, n.Content[i].Column})
			}
		}
	}
	return keys
}

// listed names the first keys.
func listed(keys []clearKey) string {
	switch len(keys) {
	case 1:
		return fmt.Sprintf("%q", keys[0].name)
	case 2:
		return fmt.Sprintf("%q and %q", keys[0].name, keys[1].name)
	}
	return fmt.Sprintf("%q and %d other values", keys[0].name, len(keys)-1)
}

// fixHint is how to encrypt a file.
func fixHint(p *rule.Pass, file string) string {
	config := secrets.ConfigFor(configs.Of(p), file)
	switch {
	case config == nil:
		return "say who can decrypt it in a .sops.yaml, encrypt the file with sops, and make a new value: this one is known"
	case config.For(file) == nil:
		return fmt.Sprintf("no rule of %s is for this file: add one, or rename the file so that one is; then encrypt it: sops encrypt --in-place %s", config.File, file)
	}
	return fmt.Sprintf("encrypt it: sops encrypt --in-place %s; then make a new value: this one is known", file)
}

// sopsBlock ends the examples' encrypted files.
const sopsBlock = "sops:\n" + sopsMetadata

const sopsMetadata = `  age:
    - recipient: age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p
      enc: |
        -----BEGIN AGE ENCRYPTED FILE-----
        YWdlLWVuY3J5cHRpb24ub3JnL3Yx
        -----END AGE ENCRYPTED FILE-----
  lastmodified: "2026-01-01T00:00:00Z"
  mac: ENC[AES256_GCM,data:bWFj,iv:c29tZQ==,tag:dGFn,type:str]
  encrypted_regex: ^(data|stringData)$
  version: 3.13.3
`

// decoded is a value of a Secret's data in clear.
func decoded(value string) string {
	plain, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(value), ""))
	if err != nil {
		return value
	}
	return string(plain)
}
