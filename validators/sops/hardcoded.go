package sops

import (
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Hardcoded is the rule secret-hardcoded.
var Hardcoded = rule.Rule{
	ID:       "secret-hardcoded",
	Title:    "a password or token among settings",
	Severity: finding.Warning,
	Why: `The values of a HelmRelease, the variables of a Kustomization and a ConfigMap are not meant for secrets: they stand
in Git in plaintext, in etcd without the protection that Secrets have, and in the output of "helm get values" and of every
"kubectl get" that somebody may run.

A value is judged by its name, by known forms of credentials and by its entropy: in the values of charts and in files of
values, in the environment and arguments of containers, in literals of a configMapGenerator, in ConfigMaps and the texts in
them, in all fields of other objects, in text in base64, and in files of other tools: helmfiles, kubeconfigs, Talos' files, INI, TOML, JSON,
HCL, .netrc, .npmrc and their like. In files that no chart takes for values, and in kinds that describe Secrets, a value must
look drawn or have a known form. A value that looks random under a name such as password, token or apiKey, a credential
of a known form and a URL with a password are errors; a word under the name of a password is a warning. Secrets
within other objects are judged as Secrets are: in patches of a kustomization or of a Flux Kustomization, as manifests or as
JSON patches, and in ResourceSets. Names of existing Secrets, references (${VAR}, {{ … }}, op://…) and placeholders are not reported.`,
	Fix: `Put the value into an encrypted Secret: spec.valuesFrom of a HelmRelease, postBuild.substituteFrom of a
Kustomization, or the chart's own field for an existing Secret. What was pushed once is known: make a new value.`,
	Run: func(p *rule.Pass) {
		lines := p.Repo.Lines()
		for _, f := range p.Repo.Files() {
			if p.Repo.Use(f.Path) == repository.Chart && (!isValues(f.Path) || !realIn(p, f.Path) || isTestOfChart(p, f.Path)) {
				continue
			}
			for _, d := range f.Documents {
				hardcoded(p, lines, d)
			}
		}
		files(p)
	},
}

// hardcoded looks through a document.
func hardcoded(p *rule.Pass, lines *repository.Lines, d *repository.Document) {
	s := scanner{aliased: map[*yaml.Node]bool{}, pass: p, lines: lines, file: d.File.Path, place: func(n *yaml.Node) (line, column int) { return n.Line, n.Column }}
	if d.Encrypted {
		for _, o := range d.Objects {
			s.metadata(o)
		}
		return
	}
	if len(d.Objects) == 0 || repository.IsKustomization(d.File.Path) {
		if secrets.IsNamedEncrypted(d.File.Path) || isSchema(d.File.Path) {
			return // sops-plaintext-secret's, and what describes the fields of others
		}
		s.settings, s.strict = true, p.Repo.Use(d.File.Path) == repository.Chart || !repository.IsKustomization(d.File.Path) && !isValues(d.File.Path) && !namedValues.Of(p)[d.File.Path]
		s.scan("", d.Root(), 0)
		return
	}
	for _, o := range d.Objects {
		if isSecret(o) {
			s.metadata(o)
			continue // the rest is sops-plaintext-secret's
		}
		s.object = o
		s.about = aboutSecrets(o.Kind)
		s.settings, s.strict = !describesFields(o.Kind), s.about
		s.scan("", o.Node, 1)
	}
}

// metadata looks through the labels and annotations of an object.
func (s scanner) metadata(o *repository.Object) {
	s.object, s.settings = o, true
	s.scan("metadata", o.Lookup("metadata"), 2)
}

// describesFields says whether the fields of a kind are the names of other kinds' fields.
func describesFields(kind string) bool {
	return kind == "CustomResourceDefinition" || kind == "APIService"
}
