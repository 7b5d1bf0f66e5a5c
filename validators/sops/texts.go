package sops

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/mask"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// text searches a multi-line string in a document: manifests, patches, values of charts, and files in a
// ConfigMap.
func (s scanner) text(field string, n *yaml.Node) {
	speaks := mask.HoldsSecrets(n.Value)
	if strings.Contains(n.Value, "ENC[AES256_GCM,") || !speaks && (!s.settings || !credential.MayHold(n.Value)) {
		return
	}
	if err := s.pass.Repo.Check(n.Value); err != nil {
		s.exceeded(field, n, err.Error())
		return
	}
	documents := documentsIn(n.Value)
	if s.within >= limits.NestedTexts {
		if len(documents) > 0 {
			s.exceeded(field, n, fmt.Sprintf("it is a string nested in %d others", limits.NestedTexts))
		}
		return
	}
	inner := s.inside(n)
	inner.strict = s.strict || !speaks && !holdsValues(field)
	for _, d := range documents {
		inner.scan("", d, 0)
	}
	if len(documents) > 0 || !s.settings {
		return
	}
	if what, line := credential.SecretIn(n.Value); what != "" {
		inner.report(&yaml.Node{Line: line, Column: 1}, severityOf(what), messageAbout(what, s.what()))
	}
}

// messageAbout returns the message about a result of [credential.SecretIn] for a string: the name of a setting, or the
// form of a credential.
func messageAbout(what, holder string) string {
	if name, err := strconv.Unquote(what); err == nil {
		return name + " of " + holder + " looks like a secret in plaintext"
	}
	return "a string of " + holder + " holds " + what + " in plaintext"
}

// exceeded reports a string that is not searched because it exceeds a limit.
func (s scanner) exceeded(field string, n *yaml.Node, why string) {
	if !real(s.pass, s.file) {
		return
	}
	f := finding.Finding{Place: finding.Place{File: s.file}}
	f.Line, f.Column = s.place(n)
	if s.object != nil {
		f.Object = rule.ObjectOf(s.object)
	}
	s.pass.Report(rule.Exceeded(f, strings.TrimSpace("the string "+field)+" of "+s.what(), why))
}

// holdsValues reports whether a field has values of a chart as a string.
func holdsValues(field string) bool {
	return strings.HasPrefix(strings.ToLower(field), "values")
}

// inside returns a scanner for the string in a node.
func (s scanner) inside(n *yaml.Node) scanner {
	inner := s
	inner.within++
	line, column := s.place(n)
	inner.place = func(*yaml.Node) (int, int) { return line, column }
	if n.Style == yaml.LiteralStyle {
		inner.place = func(at *yaml.Node) (int, int) {
			return line + at.Line, s.indent(line+1) + at.Column
		}
	}
	return inner
}

// indentsOf returns a function that returns the number of spaces that a line of a file begins with.
func indentsOf(repo *repository.Repository, file string) func(line int) int {
	lines := sync.OnceValue(func() []string {
		data, _ := repo.ReadFile(file)
		return strings.Split(string(data), "\n")
	})
	return func(line int) int {
		if line > len(lines()) {
			return 0
		}
		return len(lines()[line-1]) - len(strings.TrimLeft(lines()[line-1], " "))
	}
}
