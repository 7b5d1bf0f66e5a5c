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
	Why: `The values of a HelmRelease, the variables of a Kustomization and a ConfigMap are not meant for secrets: they
are in Git in plaintext, in etcd without the protection of Secrets, and in the output of "helm get values" and
"kubectl get".

A value is judged by its name, by known forms of credentials and by its entropy. The rule checks the values of
charts and values files, the environment and arguments of containers, literals of a configMapGenerator,
ConfigMaps and the strings in them, all fields of other objects, and base64 strings. It also checks files of
other tools: helmfiles, kubeconfigs, Talos files, INI, TOML, JSON, HCL, .netrc, .npmrc and the like. In files
that are not values files of a chart, and in kinds that describe Secrets, a value must look random or have a
known form. In prose and programs only the tokens of vendors count.

A value that looks random under a name such as password, token or apiKey, a credential of a known form, and a
URL with a password are errors. A word under the name of a password is a warning. Secrets within other objects
are checked like Secrets: in patches of a kustomization or of a Flux Kustomization, as manifests or as JSON
patches, and in ResourceSets. Names of existing Secrets, references (${VAR}, {{ … }}, op://…) and placeholders
are not reported.`,
	Fix: `Move the value to an encrypted Secret: use spec.valuesFrom of a HelmRelease, postBuild.substituteFrom of a
Kustomization, or the chart's own field for an existing Secret. Rotate a value that was pushed: it is exposed.`,
	Run: func(p *rule.Pass) {
		for _, f := range p.Repo.Files() {
			if p.Repo.Use(f.Path) == repository.Chart && (!isValues(f.Path) || !realIn(p, f.Path) || isTestOfChart(p, f.Path)) {
				continue
			}
			indent := indentsOf(p.Repo, f.Path)
			for _, d := range f.Documents {
				hardcoded(p, indent, d)
			}
		}
		files(p)
	},
}

// hardcoded searches a document for secrets.
func hardcoded(p *rule.Pass, indent func(line int) int, d *repository.Document) {
	s := scanner{aliased: map[*yaml.Node]bool{}, pass: p, indent: indent, file: d.File.Path, place: func(n *yaml.Node) (line, column int) { return n.Line, n.Column }}
	if d.Encrypted {
		for _, o := range d.Objects {
			s.metadata(o)
		}
		return
	}
	if len(d.Objects) == 0 || repository.IsKustomization(d.File.Path) {
		if secrets.IsNamedEncrypted(d.File.Path) || isSchema(d.File.Path) {
			return // sops-plaintext-secret checks the former, and the latter only describe fields
		}
		s.settings, s.strict = true, p.Repo.Use(d.File.Path) == repository.Chart || !repository.IsKustomization(d.File.Path) && !isValues(d.File.Path) && !namedValues.Of(p)[d.File.Path]
		s.scan("", d.Root(), 0)
		return
	}
	for _, o := range d.Objects {
		if isSecret(o) {
			s.metadata(o)
			continue // sops-plaintext-secret checks the rest
		}
		s.object = o
		s.about = aboutSecrets(o.Kind)
		s.settings, s.strict = !describesFields(o.Kind), s.about
		s.scan("", o.Node, 1)
	}
}

// metadata searches the labels and annotations of an object for secrets.
func (s scanner) metadata(o *repository.Object) {
	s.object, s.settings = o, true
	s.scan("metadata", o.Lookup("metadata"), 2)
}

// describesFields reports whether a kind describes the fields of other kinds, as a CustomResourceDefinition does.
func describesFields(kind string) bool {
	return kind == "CustomResourceDefinition" || kind == "APIService"
}
