package sops

import (
	"bytes"
	"fmt"
	"path"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
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
	Why: `Everybody with access to the repository can decrypt all files that are encrypted to an age key in it, and can use a
deploy key or the key of a certificate. The key stays in the Git history when the file is deleted.

The rule checks all text files, whatever their names, outside of folders of examples and tests: PEM keys, age
keys, keys of PuTTY, and PEM in base64, as in kubeconfigs and Talos files. An age key must be complete, with a valid
checksum. In examples, an age key is reported only if it can decrypt a file of the repository.`,
	Fix: `Remove the key from the repository, and store it in a password manager or add it to the cluster by hand. Then
replace it by a new key: remove the old one from the specification, or from .sops.yaml, and run "fleetwright secrets
updatekeys --rotate" (or "sops updatekeys" and "sops rotate" for every file that the old key decrypts).`,
	Run: func(p *rule.Pass) {
		marked, found := 0, texts.Of(p)
		for _, file := range found.keys {
			data, err := p.Repo.ReadFile(file)
			if err != nil || secrets.IsEncrypted(file, data) {
				continue
			}
			if marked += len(data); marked > limits.KeyFileBytes {
				p.Report(rule.Exceeded(finding.Finding{Place: finding.Place{File: file}}, "the content of this file and the following ones (for private keys)",
					fmt.Sprintf("the files that mention keys exceed %d MB", limits.KeyFileBytes>>20)))
				break
			}
			report(p, file, data, func(key credential.PrivateKey, line int) bool {
				return !inSecret(p.Repo, file, line) && !isTestOfChart(p, file) && (!repository.IsExample(file) || opening.Of(p)[key.Recipient] || real(p, file))
			})
		}
		found.report(p)
	},
}

// isTestOfChart reports whether a file contains values for the tests of a chart.
// Source: github.com/helm/chart-testing, the folder ci of a chart.
func isTestOfChart(p *rule.Pass, file string) bool {
	return p.Repo.Use(file) == repository.Chart && path.Base(path.Dir(file)) == "ci"
}

// report reports the first private key in a file for which counts returns true.
func report(p *rule.Pass, file string, data []byte, counts func(key credential.PrivateKey, line int) bool) {
	for _, key := range credential.PrivateKeysIn(string(data)) {
		before := data[:key.Offset]
		line := bytes.Count(before, []byte("\n")) + 1
		if !counts(key, line) {
			continue
		}
		f := finding.Finding{Place: finding.Place{File: file}, Message: key.Kind + " in plaintext", Hint: "remove it from the repository and rotate the key: it is exposed"}
		if known, ok := p.Repo.File(file); !ok || !known.FromItems {
			f.Line, f.Column = line, key.Offset-bytes.LastIndexByte(before, '\n')
		}
		p.Report(f)
		return
	}
}

// opening are the age recipients of all files that are encrypted outside examples. Their private keys are real, whichever
// file has them.
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

// inSecret reports whether a line belongs to a Secret, which sops-plaintext-secret reports.
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
