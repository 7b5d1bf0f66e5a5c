package sops

import (
	"bytes"
	"fmt"
	"path"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// PrivateKey is the rule sops-private-key.
var PrivateKey = rule.Rule{
	ID:       "sops-private-key",
	Title:    "a private key in plaintext",
	Severity: finding.Error,
	Why: `Whoever reads the repository can decrypt everything that is encrypted to an age key that lies in it, and be who a
deploy key or a certificate's key says. git keeps it in its history when the file is deleted.

Judged are all files of text, whatever their names, outside of folders of examples and tests: keys in PEM, age's, and
PEM in base64, as kubeconfigs and Talos' files hold it. An age key must
be a whole one, with its checksum right; where it opens something that is encrypted in the repository, it counts in
examples, too.`,
	Fix: `Take the key out of the repository, keep it in a password manager or give it to the cluster by hand, and make a new
one: remove the old one from the specification, or from .sops.yaml, then "fleetwright secrets updatekeys --rotate" (or
"sops updatekeys" and "sops rotate" for every file that it could read).`,
	Run: func(p *rule.Pass) {
		marked, found := 0, texts.Of(p)
		for _, file := range found.keys {
			data, err := p.Repo.ReadFile(file)
			if err != nil || secrets.IsEncrypted(file, data) {
				continue
			}
			if marked += len(data); marked > mostMarked {
				p.Report(rule.Exceeded(finding.Finding{File: file}, "the content of this file and the following ones (for private keys)",
					fmt.Sprintf("the files that mention keys exceed %d MB", mostMarked>>20)))
				break
			}
			report(p, file, data, func(key credential.PrivateKey, line int) bool {
				return !inSecret(p.Repo, file, line) && !isTestOfChart(p, file) && (!repository.IsExample(file) || opening.Of(p)[key.Recipient] || real(p, file))
			})
		}
		found.report(p)
	},
}

// isTestOfChart says whether a file is one of the values that a chart is tested with.
// Source: github.com/helm/chart-testing, the folder ci of a chart.
func isTestOfChart(p *rule.Pass, file string) bool {
	return p.Repo.Use(file) == repository.Chart && path.Base(path.Dir(file)) == "ci"
}

// report tells of the first private key in a file that counts.
func report(p *rule.Pass, file string, data []byte, counts func(key credential.PrivateKey, line int) bool) {
	for _, key := range credential.PrivateKeysIn(string(data)) {
		before := data[:key.Offset]
		line := bytes.Count(before, []byte("\n")) + 1
		if !counts(key, line) {
			continue
		}
		f := finding.Finding{File: file, Message: key.Kind + " in plaintext", Hint: "remove it from the repository and rotate the key: it is exposed"}
		if known, ok := p.Repo.File(file); !ok || !known.FromItems {
			f.Line, f.Column = line, key.Offset-bytes.LastIndexByte(before, '\n')
		}
		p.Report(f)
		return
	}
}

// opening are the age recipients of what is encrypted outside of examples: their keys are real
// wherever they stand.
var opening = rule.Analysis[map[string]bool]{
	Name: "sops-opening",
	RunPass: func(p *rule.Pass) map[string]bool {
		recipients := map[string]bool{}
		for _, e := range encryptedIn(p.Whole()) {
			if !real(p, e.File.Path) {
				continue
			}
			for _, r := range e.meta.Recipients() {
				if r.Service == "age" {
					recipients[r.ID] = true
				}
			}
		}
		return recipients
	},
}

// inSecret says whether a line is of a Secret, of which sops-plaintext-secret tells.
func inSecret(repo *repository.Repository, file string, line int) bool {
	f, ok := repo.File(file)
	if !ok {
		return false
	}
	var around *repository.Document
	for _, d := range f.Documents {
		if d.Line <= line {
			around = d
		}
	}
	return around != nil && slices.ContainsFunc(around.Objects, isSecret)
}
