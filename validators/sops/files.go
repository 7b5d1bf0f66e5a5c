package sops

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// files reports configuration files that most likely contain a secret.
func files(p *rule.Pass) {
	read := generatorFiles(p) // sops-generator-plaintext reports these files
	found := texts.Of(p)
	if found.unjudged != "" {
		p.Report(rule.Exceeded(finding.Finding{Place: finding.Place{File: found.unjudged}}, "the content of this file and the following ones",
			fmt.Sprintf("the lines of configuration files that mention secrets have more than %d MB in all", limits.SettingsBytes>>20)))
	}
	for _, d := range found.drawn {
		if !read[d.file] && !isWanted(p, d.file) {
			d.report(p)
		}
	}
	for _, file := range found.structured {
		data, err := p.Repo.ReadFile(file)
		if err != nil || p.Repo.Check(string(data)) != nil || secrets.StateOf(file, data) != secrets.Plaintext {
			continue
		}
		s := scanner{aliased: map[*yaml.Node]bool{}, pass: p, indent: indentsOf(p.Repo, file), file: file, settings: true, strict: !isValues(file) && !namedValues.Of(p)[file], stray: true,
			place: func(n *yaml.Node) (line, column int) { return n.Line, n.Column }}
		documents := documentsIn(string(data))
		for _, d := range documents {
			s.scan("", d, 0)
		}
		if _, unparsed := p.Repo.File(file); len(documents) > 0 || unparsed && secrets.SpeaksOfSecret(data) {
			continue // sops-plaintext-secret checks it
		}
		if d := judged(p, &credential.Search{Left: limits.SettingsBytes}, file, withoutActions(string(data))); d != nil {
			d.report(p)
		}
	}
}

// isWanted reports whether a rule of .sops.yaml requires a file to be encrypted. Then sops-plaintext-secret
// reports it.
func isWanted(p *rule.Pass, file string) bool {
	config := secrets.ConfigFor(configs.Of(p), file)
	if config == nil || secrets.FormatOf(file) != secrets.INI {
		return false
	}
	data, err := p.Repo.ReadFile(file)
	r := config.For(file)
	return err == nil && r != nil && r.Wants(file, data)
}
