// Package sops holds the rules about secrets: no secret is in Git in plaintext, and an encrypted secret can be read
// exactly by the holders that should be able to read it.
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

// configs are the .sops.yaml files of the repository, by folder.
var configs = rule.Analysis[map[string]*secrets.Config]{
	Name: "sops-configs",
	Run: func(_ context.Context, repo *repository.Repository) map[string]*secrets.Config {
		return secrets.Configs(repo)
	},
}

// countedConfigs reports the .sops.yaml files that are not used because they exceed a limit, so that their rules are
// unknown.
func countedConfigs(p *rule.Pass) {
	for _, c := range configs.Of(p) {
		if c.Err != nil && c.Err.Limit {
			p.Report(rule.Exceeded(finding.Finding{Place: finding.Place{File: c.File, Line: c.Err.Line, Column: c.Err.Column}}, c.File, c.Err.Message))
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

// reached are the files that the builds of the clusters read.
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

// real reports whether a file is in use, and not an example or for a test. A file that a cluster reads is always in use.
// The files that clusters read are computed at the first call for an example.
func real(p *rule.Pass, file string) bool {
	return !repository.IsExample(file) || reached.Of(p)[file] || repository.IsCalledTemplate(file) && !isTemplate(p, file)
}

// realIn reports whether a likely secret in a file counts. Unlike real, it returns true for templates,
// including those of charts.
func realIn(p *rule.Pass, file string) bool {
	if p.Repo.Use(file) == repository.Chart {
		return !repository.IsSetAside(strings.ReplaceAll(file, "/templates/", "/"))
	}
	return real(p, file) || repository.IsTemplate(file) && !repository.IsSetAside(file)
}

// isTemplate reports whether a file with the name of a template contains placeholders.
func isTemplate(p *rule.Pass, file string) bool {
	data, err := p.Repo.ReadFile(file)
	return err == nil && templateMarks.Match(data)
}

var templateMarks = regexp.MustCompile(`\{\{|\{%|<<|<%|\$\{|\$\(|<[A-Za-z][A-Za-z _.:/-]*>|\b[A-Z]+_[A-Z_]+_HERE\b|(?i:change[-_ ]?me|replace[-_ ]?me|your[-_ ])`)

// inputs caches which files SOPS encrypted.
type inputs struct {
	mu        sync.Mutex
	encrypted map[string]bool
}

var inputsRead = rule.Analysis[*inputs]{
	Name: "sops-inputs",
	Run:  func(context.Context, *repository.Repository) *inputs { return &inputs{encrypted: map[string]bool{}} },
}

// isEncryptedFile reports whether SOPS encrypted a file, in any format. It reads each file once.
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

// isSecret reports whether an object is a Secret of Kubernetes.
func isSecret(o *repository.Object) bool { return o.APIVersion == "v1" && o.Kind == "Secret" }
