package sops

import (
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// lastApplied reports the plaintext Secrets in kubectl's last-applied annotation, also in objects that were
// encrypted or sealed later.
func lastApplied(p *rule.Pass) {
	for _, f := range p.Repo.Files() {
		if p.Repo.Use(f.Path) == repository.Chart {
			continue
		}
		for _, d := range f.Documents {
			for _, o := range d.Objects {
				for _, at := range [][]any{{"metadata"}, {"spec", "template", "metadata"}} {
					annotation := o.Lookup(append(at, "annotations", repository.LastApplied)...)
					if annotation == nil || annotation.Kind != yaml.ScalarNode || p.Repo.Check(annotation.Value) != nil {
						continue
					}
					appliedBefore(p, o, annotation)
				}
			}
		}
	}
}

func appliedBefore(p *rule.Pass, o *repository.Object, annotation *yaml.Node) {
	documents, err := decodeAll(annotation.Value)
	if err != nil {
		return
	}
	for _, d := range documents {
		if likely := likelyOf(plaintextKeys(d)); repository.IsSecret(d) && len(likely) > 0 && real(p, o.File()) {
			p.Report(finding.Finding{Object: rule.ObjectOf(o), Place: finding.Place{File: o.File(), Line: annotation.Line, Column: annotation.Column}, Secret: true, Severity: finding.Error,
				Message: fmt.Sprintf("the annotation %s of %s holds %s in plaintext", repository.LastApplied, o, listed(likely)),
				Hint:    "remove the annotation (in an encrypted file with sops edit), and rotate the value: it is exposed"})
		}
	}
}

// isVariables reports whether the name of a file is that of a file of environment variables.
func isVariables(file string) bool {
	base := strings.ToLower(path.Base(file))
	return (strings.HasSuffix(base, ".env") || strings.HasPrefix(base, ".env.")) && !repository.IsTemplate(file)
}

// variables reports a file of environment variables that most likely contains a secret, even if no rule of
// .sops.yaml is for it.
func variables(p *rule.Pass, file string) {
	if !isVariables(file) {
		return
	}
	data, err := p.Repo.ReadFile(file)
	if err != nil || secrets.StateOf(file, data) != secrets.Plaintext {
		return
	}
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		name := credential.SettingIn(line)
		if token := credential.TokenIn(line); name == "" && token != "" {
			name, _, _ = strings.Cut(strings.TrimSpace(line), "=")
		}
		if name == "" {
			continue
		}
		if real(p, file) {
			p.Report(finding.Finding{Place: finding.Place{File: file, Line: number, Column: 1}, Secret: true, Severity: finding.Error,
				Message: fmt.Sprintf("the file holds %q in plaintext", name), Hint: fixHint(p, file)})
		}
		return
	}
}
