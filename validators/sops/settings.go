package sops

import (
	"fmt"
	"path"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// drawn is what most likely is a secret in a file of text.
type drawn struct {
	file, what string
	line       int
}

// otherTexts end the names of files of text that are no settings: prose, programs, tables.
var otherTexts = map[string]bool{
	".md": true, ".mdx": true, ".rst": true, ".adoc": true, ".html": true, ".htm": true, ".css": true, ".scss": true, ".js": true, ".mjs": true, ".cjs": true,
	".ts": true, ".tsx": true, ".jsx": true, ".vue": true, ".go": true, ".py": true, ".rb": true, ".java": true, ".kt": true, ".c": true, ".h": true, ".cpp": true,
	".hpp": true, ".rs": true, ".cs": true, ".php": true, ".lua": true, ".pl": true, ".swift": true, ".sql": true, ".csv": true, ".tsv": true, ".log": true, ".patch": true,
	".diff": true, ".k": true, ".jsonnet": true, ".libsonnet": true, ".nix": true, ".cue": true, ".dhall": true, ".bicep": true, ".groovy": true, ".scala": true,
	".dart": true, ".ex": true, ".exs": true, ".ps1": true, ".vim": true, ".el": true, ".proto": true, ".rego": true, ".map": true, ".snap": true, ".asc": true, ".pem": true, ".crt": true, ".pub": true,
}

// isSettings says whether a file is judged by its settings: one of text that holds no documents, and is
// neither prose nor a program, unless a generator reads it. Files of variables and those that are named
// as encrypted ones are judged by sops-plaintext-secret.
func isSettings(p *rule.Pass, file string) bool {
	if f, parsed := p.Repo.File(file); parsed && f.Err == nil || secrets.IsNamedEncrypted(file) || isVariables(file) || isSchema(file) {
		return false
	}
	_, read := configFiles.Of(p)[file]
	return read || !otherTexts[strings.ToLower(path.Ext(file))] && p.Repo.Use(file) != repository.Chart
}

// isSchema says whether a file describes the fields of others, by its name.
func isSchema(file string) bool { return strings.Contains(strings.ToLower(path.Base(file)), "schema") }

// configFiles are the keys for which generators of ConfigMaps read files, by their paths; "" for a file
// of variables.
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

// judged returns what most likely is a secret in a file of settings, nil for nothing. A file with nothing
// but a value is named as the value is.
func judged(p *rule.Pass, search *credential.Search, file, text string) *drawn {
	what, line := search.DrawnIn(text)
	if what == "" {
		key := configFiles.Of(p)[file]
		if key == "" {
			key = path.Base(file)
		}
		key = strings.TrimSuffix(key, path.Ext(key))
		if value := strings.TrimSpace(text); !credential.LooksDrawn(key, value) {
			return nil
		}
		what, line = "a value that looks like a secret", 1
	}
	if secrets.StateOf(file, []byte(text)) != secrets.InTheClear {
		return nil
	}
	return &drawn{file, what, line}
}

func (d drawn) report(p *rule.Pass) {
	if realIn(p, d.file) {
		p.Report(finding.Finding{File: d.file, Line: d.line, Column: 1, Secret: true, Severity: severityOf(d.what),
			Message: fmt.Sprintf("the file holds %s in plaintext", d.what), Hint: "store it elsewhere or encrypt the file, and rotate it: it is exposed"})
	}
}

// isStructured says whether a text that is not named as YAML is may be YAML: a template of it, or the
// configuration of a client of Kubernetes.
func isStructured(file string, text string) bool {
	return speaksOfYAML(file) && path.Ext(file) != ".json" || strings.Contains(text, "apiVersion:") && strings.Contains(text, "kind:")
}

// speaksOfYAML says whether a file is a copy or a template of one in YAML or JSON, by its name.
func speaksOfYAML(file string) bool {
	base := strings.ToLower(path.Base(file))
	return strings.Contains(base, ".yaml") || strings.Contains(base, ".yml") || strings.Contains(base, ".json")
}
