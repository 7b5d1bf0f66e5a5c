package sops

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Hardcoded is the rule secret-hardcoded.
var Hardcoded = rule.Rule{
	ID:       "secret-hardcoded",
	Title:    "a password or token among settings",
	Severity: finding.Warning,
	Why: `The values of a HelmRelease, the variables of a Kustomization and a ConfigMap are not meant for secrets: they stand
in Git in clear, in etcd without the protection that Secrets have, and in the output of "helm get values" and of every
"kubectl get" that somebody may run.

Reported are credentials of a known form wherever they stand in an object (an error), passwords in the addresses of sources,
and values that look random under names such as password, token or apiKey among settings; so are those in the values that a
ConfigMap holds under values.yaml. Names of existing Secrets, references (${VAR}, {{ … }}, op://…), placeholders and words are
not.`,
	Fix: `Put the value into an encrypted Secret: spec.valuesFrom of a HelmRelease, postBuild.substituteFrom of a
Kustomization, or the chart's own field for an existing Secret. What was pushed once is known: make a new value.`,
	Bad: []rule.Example{{Files: `-- apps/release.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: grafana
  namespace: apps
spec:
  interval: 1h
  chartRef:
    kind: OCIRepository
    name: grafana
  values:
    adminUser: admin
    adminPassword: kX9-vbQ2mZ7pL # <-- here
    env:
      - name: SMTP_PASSWORD
        value: Zq4tR8wY1nB6 # <-- here
`}, {Files: `-- clusters/red.yaml --
apiVersion: k0rdent.mirantis.com/v1beta1
kind: ClusterDeployment
metadata:
  name: red
  namespace: team-red
spec:
  template: aws-standalone-cp-1-0-42
  credential: aws
  config:
    region: eu-central-1
    bastion:
      password: kX9-vbQ2mZ7pL # <-- here
  serviceSpec:
    services:
      - name: grafana
        template: grafana-10-0-0
        values: |
          admin:
            password: Zq4tR8wY1nB6 # <-- here
`}, {Files: `-- clusters/source.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: apps
  namespace: flux-system
spec:
  interval: 1h
  url: https://bot:kX9-vbQ2mZ7pL@git.example.com/apps.git # <-- here
  ref:
    branch: main
`}},
	Good: []rule.Example{{Files: `-- apps/release.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: grafana
  namespace: apps
spec:
  interval: 1h
  chartRef:
    kind: OCIRepository
    name: grafana
  values:
    admin:
      existingSecret: grafana-admin
      passwordKey: admin-password
    smtpPassword: ${SMTP_PASSWORD}
  valuesFrom:
    - kind: Secret
      name: grafana-values
-- apps/source.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata:
  name: grafana
  namespace: apps
spec:
  interval: 1h
  url: oci://ghcr.io/grafana/helm-charts/grafana
  ref:
    tag: 10.0.0
`}},
	Run: func(p *rule.Pass) {
		lines := p.Repo.Lines()
		for _, f := range p.Repo.Files() {
			if p.Repo.Use(f.Path) == repository.Chart {
				continue
			}
			for _, d := range f.Documents {
				if d.Encrypted {
					continue
				}
				for _, o := range d.Objects {
					settings(p, lines, o)
				}
			}
		}
	},
}

// settings looks through those fields of an object that hold settings.
func settings(p *rule.Pass, lines *repository.Lines, o *repository.Object) {
	s := scanner{pass: p, object: o, scanned: map[*yaml.Node]bool{}, place: func(n *yaml.Node) (line, column int) { return n.Line, n.Column }}
	switch {
	case o.Group() == helmGroup && o.Kind == "HelmRelease":
		s.scan("", o.Lookup("spec", "values"), 0)
	case o.Group() == kustomizeGroup && o.Kind == "Kustomization":
		s.scan("", o.Lookup("spec", "postBuild", "substitute"), 0)
	case o.APIVersion == "v1" && o.Kind == "ConfigMap":
		s.scan("", o.Lookup("data"), 0)
		s.values(lines, o.Lookup("data", valuesKey))
	case o.Group() == schemas.K0rdentGroup:
		s.k0rdent(lines)
	}
	if o.APIVersion != "v1" || o.Kind != "Secret" { // sops-plaintext-secret is about those
		s.elsewhere = true
		s.scan("", o.Node, 0)
	}
}

// holdURLs says whether an object's fields are those of a source or of k0rdent: addresses in them are
// what a controller calls.
func holdURLs(o *repository.Object) bool {
	return o.Group() == sourceGroup || o.Group() == schemas.KommanderDispatchGroup || o.Group() == schemas.K0rdentGroup
}

// k0rdent looks through what k0rdent's objects hand on to charts: the values of templates, and of
// services as texts.
func (s scanner) k0rdent(lines *repository.Lines) {
	for _, path := range [][]any{{"spec", "config"}, {"spec", "core"}, {"spec", "providers"}} {
		s.scan("", s.object.Lookup(path...), 0)
	}
	services := s.object.Lookup("spec", "serviceSpec", "services")
	if services == nil || services.Kind != yaml.SequenceNode {
		return
	}
	for _, service := range services.Content {
		s.values(lines, repository.Lookup(service, "values"))
	}
}

// valuesKey is the key under which a ConfigMap holds the values of a HelmRelease, unless
// that one names another.
const valuesKey = "values.yaml"

// values looks through the values that a ConfigMap holds as a text.
func (s scanner) values(lines *repository.Lines, n *yaml.Node) {
	if n == nil || n.Kind != yaml.ScalarNode || s.pass.Repo.Check(n.Value) != nil {
		return
	}
	var doc yaml.Node
	if yaml.Unmarshal([]byte(n.Value), &doc) != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return
	}
	s.scanned[n] = true
	s.place = func(*yaml.Node) (line, column int) { return n.Line, n.Column }
	if n.Style == yaml.LiteralStyle {
		s.place = func(inner *yaml.Node) (line, column int) {
			first, _ := lines.Line(s.object.File(), n.Line+1)
			return n.Line + inner.Line, len(first) - len(strings.TrimLeft(first, " ")) + inner.Column
		}
	}
	s.scan("", doc.Content[0], 0)
}

// scanner looks for secrets in an object's fields.
type scanner struct {
	pass   *rule.Pass
	object *repository.Object
	// scanned are the settings that were looked at; elsewhere says that the rest of the object is, for
	// credentials of a known form alone.
	scanned   map[*yaml.Node]bool
	elsewhere bool
	// place says where a value stands in the file.
	place func(n *yaml.Node) (line, column int)
}

// mostScanned is how deep settings are looked through.
const mostScanned = 40

// scan looks at a value under a field, and below it.
func (s scanner) scan(field string, n *yaml.Node, depth int) {
	if n == nil || depth > mostScanned || s.elsewhere && s.scanned[n] {
		return
	}
	if depth == 0 {
		s.scanned[n] = true
	}
	switch n.Kind {
	case yaml.MappingNode:
		variable := ""
		if name := repository.Lookup(n, "name"); name != nil {
			variable = name.Value // "" unless it is a scalar
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i].Value, n.Content[i+1]
			if key == "value" && variable != "" {
				key = variable // the name and value of a container's environment
			}
			s.scan(key, value, depth+1)
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			s.scan(field, item, depth+1)
		}
	case yaml.ScalarNode:
		s.value(field, n)
	}
}

// value judges one value.
func (s scanner) value(field string, n *yaml.Node) {
	if n.Tag != "!!str" {
		return
	}
	if !s.elsewhere && s.manifest(n) {
		return
	}
	token := secrets.TokenIn(n.Value)
	if token == "" && s.elsewhere && (!holdURLs(s.object) || !secrets.HasPassword(n.Value)) {
		return
	}
	if token == "" && !s.elsewhere && (strings.Contains(n.Value, "\n") || !secrets.LooksSecret(field, n.Value) && !secrets.HasPassword(n.Value)) {
		return // a text with lines is a file of its own, in which names mean anything
	}
	if !real(s.pass, s.object.File()) {
		return
	}
	line, column := s.place(n)
	f := finding.Finding{Object: rule.ObjectOf(s.object), File: s.object.File(), Line: line, Column: column, Secret: true,
		Message: fmt.Sprintf("%s of %s looks like a secret in clear", field, s.object),
		Hint:    "put it into an encrypted Secret, and make a new one: this one is known"}
	if token != "" {
		f.Severity, f.Message = finding.Error, fmt.Sprintf("%s of %s holds %s", field, s.object, token)
	}
	s.pass.Report(f)
}

// manifest reports a Secret in clear in a text of lines, which somebody applies from there.
func (s scanner) manifest(n *yaml.Node) bool {
	if !strings.Contains(n.Value, "\n") || !secrets.SpeaksOfSecret([]byte(n.Value)) {
		return false
	}
	for _, held := range secretsInText([]byte(n.Value)) {
		if len(held.clear) == 0 || !real(s.pass, s.object.File()) {
			continue
		}
		line, column := s.place(n)
		s.pass.Report(finding.Finding{Object: rule.ObjectOf(s.object), File: s.object.File(), Line: line, Column: column, Secret: true,
			Message: fmt.Sprintf("a text in %s is the manifest of %s, which holds %s in clear", s.object, held.object, listed(held.clear)),
			Hint:    "let it be an encrypted Secret of its own, and make a new value: this one is known"})
		return true
	}
	return false
}
