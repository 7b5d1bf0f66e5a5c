package sops

import (
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// GeneratorPlaintext is the rule sops-generator-plaintext.
var GeneratorPlaintext = rule.Rule{
	ID:       "sops-generator-plaintext",
	Title:    "a secretGenerator that reads a secret in clear",
	Severity: finding.Error,
	Why: `What a secretGenerator puts into a Secret stands in Git: as a literal, or in a file that it reads. Whoever can
read the repository reads it.

kustomize-controller decrypts the files that a generator reads where the Flux Kustomization has spec.decryption: a
file may stay a file, encrypted. A literal cannot be. In a file of settings only what is most likely a
credential is reported: a token of a known form, or a value that looks like one under a name such as password.`,
	Fix: `Move literals to a .env file and encrypt that with SOPS (sops encrypt --in-place FILE), or write an encrypted
Secret in place of the generator. What was pushed once is known: make a new value.`,
	Bad: []rule.Example{{Files: `-- apps/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
secretGenerator:
  - name: db
    literals:
      - username=app
      - password=tr0ub4dor-and-3 # <-- here
`}, {Files: `-- apps/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
secretGenerator:
  - name: db
    envs:
      - db.env # <-- here
-- apps/db.env --
password=tr0ub4dor-and-3
`}},
	Good: []rule.Example{{Files: `-- apps/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
secretGenerator:
  - name: db
    envs:
      - db.env
-- apps/db.env --
password=ENC[AES256_GCM,data:9fQkzA==,iv:c29tZQ==,tag:dGFn,type:str]
sops_mac=ENC[AES256_GCM,data:bWFj,iv:c29tZQ==,tag:dGFn,type:str]
sops_version=3.13.3
`}},
	Run: func(p *rule.Pass) {
		real := reached.Of(p)
		for _, f := range p.Repo.Files() {
			if !repository.IsKustomization(f.Path) || !real.real(f.Path) {
				continue
			}
			for _, d := range f.Documents {
				g := generators{pass: p, document: d}
				g.check()
			}
		}
	},
}

// generators are those of a kustomization.
type generators struct {
	pass     *rule.Pass
	document *repository.Document
}

// check reports what the secretGenerators of a kustomization hold in clear. The field may be
// spelled in any case.
func (g *generators) check() {
	root := g.document.Node
	for i := 0; root.Kind == yaml.MappingNode && i+1 < len(root.Content); i += 2 {
		if !strings.EqualFold(root.Content[i].Value, "secretGenerator") {
			continue
		}
		list := repository.Lookup(root, root.Content[i].Value)
		for j := range list.Content {
			if n := repository.Lookup(list, j); n != nil && n.Kind == yaml.MappingNode {
				g.generator(n)
			}
		}
	}
}

func (g *generators) generator(n *yaml.Node) {
	name := "?"
	if v := repository.Lookup(n, "name"); v != nil {
		name = v.Value
	}
	g.each(n, "literals", func(entry *yaml.Node) {
		key, value, _ := strings.Cut(entry.Value, "=")
		value = strings.Trim(value, `"'`)
		if !isPlaceholder(value) && !isPublic(key, value) {
			g.report(entry, fmt.Sprintf("the generator of Secret %s holds %q in clear", name, key),
				"move it to a .env file that sops encrypts, or write an encrypted Secret in place of the generator")
		}
	})
	envs := func(entry *yaml.Node) {
		if key := g.env(entry.Value); key != "" {
			g.report(entry, fmt.Sprintf("the generator of Secret %s reads %q in clear from %s", name, key, entry.Value), g.hint(entry.Value))
		}
	}
	g.each(n, "envs", envs)
	if n := repository.Lookup(n, "env"); n != nil && n.Kind == yaml.ScalarNode {
		envs(n)
	}
	g.each(n, "files", func(entry *yaml.Node) {
		key, file, found := strings.Cut(entry.Value, "=")
		if !found {
			key, file = path.Base(entry.Value), entry.Value
		}
		if what := g.file(key, file); what != "" {
			g.report(entry, fmt.Sprintf("the generator of Secret %s reads %s in clear from %s", name, what, file), g.hint(file))
		}
	})
}

func (g *generators) each(n *yaml.Node, field string, check func(*yaml.Node)) {
	list := repository.Lookup(n, field)
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	for i := range list.Content {
		if entry := repository.Lookup(list, i); entry != nil && entry.Kind == yaml.ScalarNode {
			check(entry)
		}
	}
}

func (g *generators) report(at *yaml.Node, message, hint string) {
	g.pass.Report(finding.Finding{File: g.document.File.Path, Line: at.Line, Column: at.Column, Message: message, Hint: hint})
}

func (g *generators) hint(file string) string {
	at, ok := repository.Join(path.Dir(g.document.File.Path), file)
	if !ok {
		at = file
	}
	return fixHint(g.pass, at)
}

// read is the content of a file that a generator reads, nil where there is none, or SOPS
// encrypted it.
func (g *generators) read(file string) []byte {
	at, ok := repository.Join(path.Dir(g.document.File.Path), file)
	if !ok || !g.pass.Repo.Exists(at) {
		return nil
	}
	data, err := g.pass.Repo.ReadFile(at)
	if err != nil || secrets.IsEncrypted(data) {
		return nil
	}
	return data
}

// env is the first key of a file of variables whose value is a secret in clear.
func (g *generators) env(file string) string {
	for line := range strings.Lines(string(g.read(file))) {
		key, value, found := strings.Cut(strings.TrimSpace(line), "=")
		if !found || strings.HasPrefix(key, "#") {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		if !isPlaceholder(value) && !isPublic(key, value) {
			return key
		}
	}
	return ""
}

// file says what credential a file holds, or the value of a file with nothing else in it.
func (g *generators) file(key, file string) string {
	text := string(g.read(file))
	if _, ok := privateKeyIn(text); ok {
		return "" // sops-private-key tells
	}
	if name := tokenIn(text); name != "" {
		return name
	}
	for line := range strings.Lines(text) {
		field, value, found := strings.Cut(strings.TrimSpace(line), ":")
		if !found {
			field, value, found = strings.Cut(strings.TrimSpace(line), "=")
		}
		field, value = strings.Trim(strings.TrimSpace(field), `"'- `), strings.Trim(strings.TrimSpace(value), `"',`)
		if found && !strings.HasPrefix(field, "#") && looksSecret(field, value) {
			return fmt.Sprintf("%q", field)
		}
	}
	if !strings.Contains(strings.TrimSpace(text), "\n") && looksSecret(key, text) {
		return fmt.Sprintf("%q", key)
	}
	return ""
}
