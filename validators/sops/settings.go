package sops

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// drawn is a likely secret in a text file.
type drawn struct {
	file, what string
	line       int
}

// otherTexts are the extensions of text files that are not configuration: prose, programs, tables.
var otherTexts = map[string]bool{
	".md": true, ".mdx": true, ".rst": true, ".adoc": true, ".html": true, ".htm": true, ".css": true, ".scss": true, ".js": true, ".mjs": true, ".cjs": true,
	".ts": true, ".tsx": true, ".jsx": true, ".vue": true, ".go": true, ".py": true, ".rb": true, ".java": true, ".kt": true, ".c": true, ".h": true, ".cpp": true,
	".hpp": true, ".rs": true, ".cs": true, ".php": true, ".lua": true, ".pl": true, ".swift": true, ".sql": true, ".csv": true, ".tsv": true, ".log": true, ".patch": true,
	".diff": true, ".k": true, ".jsonnet": true, ".libsonnet": true, ".nix": true, ".cue": true, ".dhall": true, ".bicep": true, ".groovy": true, ".scala": true,
	".dart": true, ".ex": true, ".exs": true, ".ps1": true, ".psm1": true, ".psd1": true, ".vim": true, ".el": true, ".proto": true, ".rego": true, ".map": true, ".snap": true, ".asc": true, ".pem": true, ".crt": true, ".pub": true,
}

// isSettings reports whether a file is checked as configuration: a text file without documents that is neither prose nor
// a program, or one that a generator reads. It returns false for files that sops-plaintext-secret checks: files of
// environment variables, and files with the name of an encrypted file.
func isSettings(p *rule.Pass, file string) bool {
	if f, parsed := p.Repo.File(file); parsed && f.Err == nil || secrets.IsNamedEncrypted(file) || isVariables(file) || isSchema(file) {
		return false
	}
	_, read := configFiles.Of(p)[file]
	return read || !otherTexts[strings.ToLower(path.Ext(file))] && p.Repo.Use(file) != repository.Chart
}

// isSchema reports whether the name of a file is that of a schema.
func isSchema(file string) bool { return strings.Contains(strings.ToLower(path.Base(file)), "schema") }

// openAPI matches the beginning of an OpenAPI description, whose examples are not secrets.
var openAPI = regexp.MustCompile(`^\s*(\{\s*"(openapi|swagger)"\s*:|(openapi|swagger):\s)`)

func isOpenAPI(text string) bool { return openAPI.MatchString(text[:min(len(text), 200)]) }

// configFiles maps the files that ConfigMap generators read to their keys; "" for a file of environment
// variables.
var configFiles = rule.Analysis[map[string]string]{
	Name: "sops-config-files",
	RunPass: func(p *rule.Pass) map[string]string {
		read := map[string]string{}
		for _, f := range p.Repo.Files() {
			for _, d := range f.Documents {
				for in := range eachInput(d, "configMapGenerator") {
					if at := in.file(path.Dir(f.Path)); in.field != "literals" && read[at] == "" {
						read[at] = in.key
					}
				}
			}
		}
		return read
	},
}

// judged returns the likely secret in a configuration file, nil if there is none. For a file that consists of one value,
// the file's name is the name of the value.
func judged(p *rule.Pass, search *credential.Search, file, text string) *drawn {
	if isOpenAPI(text) {
		return nil
	}
	what, line := search.SecretIn(text)
	if what == "" {
		key := configFiles.Of(p)[file]
		if key == "" {
			key = path.Base(file)
		}
		key = strings.TrimSuffix(key, path.Ext(key))
		if value := strings.TrimSpace(text); !credential.LooksRandomSecret(key, value) {
			return nil
		}
		what, line = "a value that looks like a secret", 1
	}
	if secrets.StateOf(file, []byte(text)) != secrets.Plaintext {
		return nil
	}
	return &drawn{file, what, line}
}

func (d drawn) report(p *rule.Pass) {
	if realIn(p, d.file) {
		p.Report(finding.Finding{Place: finding.Place{File: d.file, Line: d.line, Column: 1}, Secret: true, Severity: severityOf(d.what),
			Message: fmt.Sprintf("the file holds %s in plaintext", d.what), Hint: "store it elsewhere or encrypt the file, and rotate it: it is exposed"})
	}
}

// isStructured reports whether a file without the extension of YAML may be YAML: a template of it, or the
// configuration of a Kubernetes client.
func isStructured(file string, text string) bool {
	return speaksOfYAML(file) && path.Ext(file) != ".json" || strings.Contains(text, "apiVersion:") && strings.Contains(text, "kind:")
}

// speaksOfYAML reports whether the name of a file shows that it is a copy or a template of a YAML or JSON file.
func speaksOfYAML(file string) bool {
	base := strings.ToLower(path.Base(file))
	return strings.Contains(base, ".yaml") || strings.Contains(base, ".yml") || strings.Contains(base, ".json")
}
