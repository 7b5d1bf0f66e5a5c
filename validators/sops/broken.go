package sops

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Broken is the rule sops-broken.
var Broken = rule.Rule{
	ID:       "sops-broken",
	Title:    "an encrypted file that SOPS refuses",
	Severity: finding.Error,
	Why: `The file holds values that SOPS encrypted, and the metadata that it needs are missing or damaged: the checksum (mac),
the time (lastmodified), or all of them. kustomize-controller and sops refuse the file, or apply the ciphertext as it is.
Without the checksum nobody can tell whether somebody added, removed or swapped values.

What a value that was added in plaintext means is told by sops-partial, where the metadata are whole.`,
	Fix: `Restore the file from git, and edit it with "sops FILE". Where only the checksum is lost, "sops --ignore-mac FILE" opens
the file and writes it again: compare every value before you save it.`,
	Run: func(p *rule.Pass) { eachFile(p, brokenDocuments, brokenFile) },
}

const brokenHint = "restore it from git: it cannot be decrypted or verified"

// brokenDocuments reports the documents of a file that hold encrypted values and that SOPS refuses.
// The metadata of the first document count for all.
func brokenDocuments(p *rule.Pass, f *repository.File) {
	sealed := false
	for _, d := range f.Documents {
		state := secrets.StateOfDocument(d)
		sealed = sealed || state == secrets.Encrypted
		at := encryptedValue(d.Root(), 0)
		if at == nil || sealed || !real(p, f.Path) {
			continue
		}
		message, line, column := "holds encrypted values, but no SOPS metadata", at.Line, at.Column
		if state == secrets.Broken {
			message = secrets.WhyBroken(d)
			line, column = d.KeyPosition("sops")
		}
		report := finding.Finding{File: f.Path, Line: line, Column: column, Message: "the file " + message, Hint: brokenHint}
		if len(d.Objects) == 1 {
			report.Object, report.Message = rule.ObjectOf(d.Objects[0]), d.Objects[0].String()+" "+message
		}
		p.Report(report)
	}
}

// holdsEncrypted says whether a file of YAML holds a value that SOPS encrypted.
func holdsEncrypted(p *rule.Pass, file string) bool {
	f, ok := p.Repo.File(file)
	return ok && slices.ContainsFunc(f.Documents, func(d *repository.Document) bool { return encryptedValue(d.Root(), 0) != nil })
}

// encryptedValue is the first value in a document that SOPS encrypted, outside of its metadata.
func encryptedValue(n *yaml.Node, depth int) *yaml.Node {
	if n.Kind == yaml.ScalarNode && secrets.IsEncryptedValue(n.Value) {
		return n
	}
	for i, c := range n.Content {
		if depth > mostScanned || n.Kind == yaml.MappingNode && (i%2 == 0 || depth == 0 && n.Content[i-1].Value == "sops") {
			continue
		}
		if found := encryptedValue(c, depth+1); found != nil {
			return found
		}
	}
	return nil
}

// brokenFile reports a file of another format.
func brokenFile(p *rule.Pass, file string) {
	data, err := p.Repo.ReadFile(file)
	if err != nil || secrets.StateOf(file, data) != secrets.Broken || !real(p, file) {
		return
	}
	p.Report(finding.Finding{File: file, Line: 1, Column: 1, Message: "the file is encrypted, but SOPS refuses its metadata: the checksum or the time is missing or damaged", Hint: brokenHint})
}
