// Package sops holds the rules about secrets: that none stands in Git in plaintext, that
// who should read an encrypted one can, and that nobody else does.
package sops

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// configs are the files .sops.yaml of the repository, by their folders.
var configs = rule.Analysis[map[string]*secrets.Config]{
	Name: "sops-configs",
	Run: func(_ context.Context, repo *repository.Repository) map[string]*secrets.Config {
		return secrets.Configs(repo)
	},
}

// countedConfigs reports the files .sops.yaml that are not followed, since they go beyond a limit: what
// their rules say is not known.
func countedConfigs(p *rule.Pass) {
	for _, c := range configs.Of(p) {
		if c.Err != nil && c.Err.Limit {
			p.Report(rule.Exceeded(finding.Finding{File: c.File, Line: c.Err.Line, Column: c.Err.Column}, c.File, c.Err.Message))
		}
	}
}

// encrypted is a document that SOPS encrypted.
type encrypted struct {
	*repository.Document
	meta *secrets.Metadata
}

// ciphertexts are the documents that SOPS encrypted, in the order of their files.
var ciphertexts = rule.Analysis[[]encrypted]{
	Name: "sops-ciphertexts",
	Run:  func(_ context.Context, repo *repository.Repository) []encrypted { return encryptedIn(repo) },
}

func encryptedIn(repo *repository.Repository) []encrypted {
	var all []encrypted
	for _, f := range repo.Files() {
		for _, d := range f.Documents {
			if meta, ok := secrets.MetadataOf(d); ok {
				all = append(all, encrypted{d, meta})
			}
		}
	}
	return all
}

// reached are the files that the clusters' builds read.
var reached = rule.Analysis[map[string]bool]{
	Name: "sops-reached",
	RunPass: func(p *rule.Pass) map[string]bool {
		files := map[string]bool{}
		for _, c := range p.Fleet().Clusters {
			for _, k := range c.Kustomizations {
				if k.Repo != p.Whole() {
					continue
				}
				for _, file := range k.Files {
					files[file] = true
				}
			}
		}
		return files
	},
}

// real says whether what a file holds is meant: what a cluster reads is, and what is neither
// an example nor for a test. What clusters read is computed for the first example that is
// asked for: rules ask when they have something to tell.
func real(p *rule.Pass, file string) bool {
	return !repository.IsExample(file) || reached.Of(p)[file] || repository.IsCalledTemplate(file) && !isTemplate(p, file)
}

// realIn says whether what most likely is a secret counts in a file: that of templates, too, those of
// charts among them.
func realIn(p *rule.Pass, file string) bool {
	if p.Repo.Use(file) == repository.Chart {
		return !repository.IsSetAside(strings.ReplaceAll(file, "/templates/", "/"))
	}
	return real(p, file) || repository.IsTemplate(file) && !repository.IsSetAside(file)
}

// isTemplate says whether a file that is called a template has marks of one: something to replace.
func isTemplate(p *rule.Pass, file string) bool {
	data, err := p.Repo.ReadFile(file)
	return err == nil && templateMarks.Match(data)
}

var templateMarks = regexp.MustCompile(`\{\{|\{%|<<|<%|\$\{|\$\(|<[A-Za-z][A-Za-z _.:/-]*>|\b[A-Z]+_[A-Z_]+_HERE\b|(?i:change[-_ ]?me|replace[-_ ]?me|your[-_ ])`)

// inputs are the files that were looked at whether SOPS encrypted them.
type inputs struct {
	mu        sync.Mutex
	encrypted map[string]bool
}

var inputsRead = rule.Analysis[*inputs]{
	Name: "sops-inputs",
	Run:  func(context.Context, *repository.Repository) *inputs { return &inputs{encrypted: map[string]bool{}} },
}

// isEncryptedFile says whether SOPS encrypted a file, whatever its format. It reads a file
// once.
func isEncryptedFile(p *rule.Pass, file string) bool {
	in := inputsRead.Of(p)
	in.mu.Lock()
	defer in.mu.Unlock()
	encrypted, known := in.encrypted[file]
	if !known {
		data, err := p.Repo.ReadFile(file)
		encrypted = err == nil && secrets.IsEncrypted(file, data)
		in.encrypted[file] = encrypted
	}
	return encrypted
}

// isSecret says whether an object is a Secret of Kubernetes.
func isSecret(o *repository.Object) bool { return o.APIVersion == "v1" && o.Kind == "Secret" }

// How deep settings are looked through, which is as deep as a document may nest, and texts within texts.
const (
	mostScanned = 200
	mostWithin  = 3
)

// mostSecretFile is the size of a file that is looked through for Secrets, which have up to 1 MB, or for settings.
const mostSecretFile = 1 << 20
