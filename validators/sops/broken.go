package sops

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Broken is the rule sops-broken.
var Broken = rule.Rule{
	ID:       "sops-broken",
	Title:    "an encrypted file that SOPS refuses",
	Severity: finding.Error,
	Why: `The file contains values that SOPS encrypted, but its metadata are missing or damaged: the checksum (mac), the
time (lastmodified), or all of them. kustomize-controller and sops refuse the file, or kustomize-controller
applies the ciphertext. Without the checksum, no tool can detect added, removed or swapped values.

kustomize-controller decrypts each object of a file with the metadata of its own document: an object without metadata is
applied as ciphertext, although sops reads the file.

A value that was added in plaintext to a file with complete metadata is reported by sops-partial.`,
	Fix: `Restore the file from Git, and edit it with "sops FILE". If only the checksum is missing, "sops --ignore-mac
FILE" opens the file and writes it again: compare every value before you save it.`,
	Run: func(p *rule.Pass) { eachFile(p, brokenDocuments, brokenFile) },
}

const brokenHint = "restore it from git: it cannot be decrypted or verified"

// brokenDocuments reports the documents of a file with encrypted values that SOPS or kustomize-controller
// cannot decrypt. kustomize-controller decrypts each object with its own metadata. The sops command uses the
// metadata of the first document, and writes them to each document.
func brokenDocuments(p *rule.Pass, f *repository.File) {
	sealed := false
	for _, d := range f.Documents {
		state := secrets.StateOfDocument(d)
		sealed = sealed || state == secrets.Encrypted
		at := encryptedValue(d.Root(), 0)
		if at == nil || state == secrets.Encrypted || sealed && len(d.Objects) == 0 || !real(p, f.Path) {
			continue
		}
		message, line, column := "holds encrypted values, but no SOPS metadata", at.Line, at.Column
		if state == secrets.Broken {
			message = secrets.WhyBroken(d)
			line, column = d.KeyPosition("sops")
		}
		report := finding.Finding{Place: finding.Place{File: f.Path, Line: line, Column: column}, Message: "the file " + message, Hint: brokenHint}
		if len(d.Objects) == 1 {
			report.Object, report.Message = rule.ObjectOf(d.Objects[0]), d.Objects[0].String()+" "+message
		}
		p.Report(report)
	}
}

// holdsEncrypted reports whether a YAML file has a value that SOPS encrypted.
func holdsEncrypted(p *rule.Pass, file string) bool {
	f, ok := p.Repo.File(file)
	return ok && slices.ContainsFunc(f.Documents, func(d *repository.Document) bool { return encryptedValue(d.Root(), 0) != nil })
}

// encryptedValue returns the first encrypted value in a document, outside the metadata of SOPS.
func encryptedValue(n *yaml.Node, depth int) *yaml.Node {
	if n.Kind == yaml.ScalarNode && secrets.IsEncryptedValue(n.Value) {
		return n
	}
	for i, c := range n.Content {
		if depth > limits.Nesting || n.Kind == yaml.MappingNode && (i%2 == 0 || depth == 0 && n.Content[i-1].Value == "sops") {
			continue
		}
		if found := encryptedValue(c, depth+1); found != nil {
			return found
		}
	}
	return nil
}

// brokenFile is like brokenDocuments for a file in another format.
func brokenFile(p *rule.Pass, file string) {
	data, err := p.Repo.ReadFile(file)
	if err != nil || secrets.StateOf(file, data) != secrets.Broken || !real(p, file) {
		return
	}
	p.Report(finding.Finding{Place: finding.Place{File: file, Line: 1, Column: 1}, Message: "the file is encrypted, but SOPS refuses its metadata: the checksum or the time is missing or damaged", Hint: brokenHint})
}
