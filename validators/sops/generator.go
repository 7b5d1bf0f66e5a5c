package sops

import (
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// GeneratorPlaintext is the rule sops-generator-plaintext.
var GeneratorPlaintext = rule.Rule{
	ID:       "sops-generator-plaintext",
	Title:    "a secretGenerator that reads a plaintext secret",
	Severity: finding.Error,
	Why: `The values that a secretGenerator, or an object of kind SecretGenerator, puts into a Secret are in Git: as
literals, or in a file that it reads. Everybody with access to the repository can read them.

kustomize-controller decrypts the files that a generator reads if the Flux Kustomization has spec.decryption:
files can therefore be encrypted, but literals cannot. In a file of settings, only likely credentials are
reported: a token of a known form, or a value that looks like one under a name such as password.`,
	Fix: `Move literals to a .env file and encrypt it (fleetwright secrets encrypt FILE, or sops encrypt --in-place FILE),
or replace the generator with an encrypted Secret. Rotate values that were pushed: they are exposed.`,
	Run: func(p *rule.Pass) {
		envs, files := map[string]string{}, map[string]string{}
		for _, f := range p.Repo.Files() {
			for _, d := range f.Documents {
				g := generators{pass: p, document: d, envs: envs, files: files}
				for in := range eachInput(d, "secretGenerator") {
					g.check(in)
				}
			}
		}
	},
}

// generatorFiles returns the paths of the files that secretGenerators read.
func generatorFiles(p *rule.Pass) map[string]bool {
	read := map[string]bool{}
	for _, f := range p.Repo.Files() {
		for _, d := range f.Documents {
			for in := range eachInput(d, "secretGenerator") {
				if in.field != "literals" {
					read[in.file(path.Dir(f.Path))] = true
				}
			}
		}
	}
	return read
}

// generators checks the generators of a kustomization.
type generators struct {
	pass     *rule.Pass
	document *repository.Document
	// envs and files cache the results for files that were read, by path, because many generators may read one
	// file.
	envs, files map[string]string
}

// check reports a credential in plaintext that a secretGenerator reads.
func (g *generators) check(in input) {
	switch in.field {
	case "literals":
		grade := credential.Judge(in.key, strings.Trim(in.text, `"'`))
		what := fmt.Sprintf("%q", in.key)
		if in.key == "" {
			what = "a literal without a key"
		}
		g.graded(in, grade, fmt.Sprintf("the generator of Secret %s holds %s in plaintext", in.generated, what),
			"move it to a .env file encrypted with SOPS, or replace the generator with an encrypted Secret")
	case "envs":
		key, grade := g.env(g.path(in))
		g.graded(in, grade, fmt.Sprintf("the generator of Secret %s reads %q in plaintext from %s", in.generated, key, in.text), fixHint(g.pass, g.path(in)))
	case "files":
		if what := g.file(in.key, g.path(in)); what != "" {
			g.graded(in, credential.Likely, fmt.Sprintf("the generator of Secret %s reads %s in plaintext from %s", in.generated, what, in.text), fixHint(g.pass, g.path(in)))
		}
	}
}

// graded reports a value with the severity of its grade. A value that does not look like a credential is a
// warning.
func (g *generators) graded(in input, grade credential.Grade, message, hint string) {
	switch grade {
	case credential.Likely:
		g.report(in.node, finding.Error, message, hint)
	case credential.Plain:
		g.report(in.node, finding.Warning, message+"; it does not look like a credential", "encrypt it if it is secret; otherwise use a configMapGenerator")
	}
}

func (g *generators) report(at *yaml.Node, severity finding.Severity, message, hint string) {
	if !real(g.pass, g.document.File.Path) {
		return
	}
	g.pass.Report(finding.Finding{Severity: severity, Place: finding.Place{File: g.document.File.Path, Line: at.Line, Column: at.Column}, Secret: true, Message: message, Hint: hint})
}

func (g *generators) path(in input) string { return in.file(path.Dir(g.document.File.Path)) }

// once calls look with the content of a file, and keeps the result in known for later calls. It returns "" if the file does not
// exist or is encrypted by SOPS.
func (g *generators) once(known map[string]string, at string, look func(text string) string) string {
	found, looked := known[at]
	if !looked && g.pass.Repo.Exists(at) && !isEncryptedFile(g.pass, at) {
		if data, err := g.pass.Repo.ReadFile(at); err == nil {
			found = look(string(data))
		}
	}
	known[at] = found
	return found
}

// env returns the highest grade of the values in a file of environment variables, and the first key with that
// grade.
func (g *generators) env(file string) (key string, grade credential.Grade) {
	marked := g.once(g.envs, file, func(text string) string {
		first, worst := "", credential.Public
		for line := range strings.Lines(text) {
			key, value, found := strings.Cut(strings.TrimSpace(line), "=")
			if !found || strings.HasPrefix(key, "#") {
				continue
			}
			if grade := credential.Judge(key, strings.Trim(strings.TrimSpace(value), `"'`)); grade > worst {
				first, worst = key, grade
			}
		}
		return string(rune('0'+worst)) + first
	})
	if marked == "" {
		return "", credential.Public
	}
	return marked[1:], credential.Grade(marked[0] - '0')
}

// file returns the name of the credential in a file, "" if there is none. A file that is one credential has the name of the
// first key that a generator reads from it.
func (g *generators) file(key, file string) string {
	return g.once(g.files, file, func(text string) string {
		if len(credential.PrivateKeysIn(text)) > 0 {
			return "" // sops-private-key reports it
		}
		if name := credential.TokenIn(text); name != "" {
			return name
		}
		if field := credential.SettingIn(text); field != "" {
			return fmt.Sprintf("%q", field)
		}
		if bare := strings.TrimSpace(text); !strings.Contains(bare, "\n") && credential.Judge(key, bare) == credential.Likely {
			return fmt.Sprintf("%q", key)
		}
		return ""
	})
}
