package sops

import (
	"fmt"
	"path"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// NotDecrypted is the rule sops-not-decrypted.
var NotDecrypted = rule.Rule{
	ID:       "sops-not-decrypted",
	Title:    "an encrypted file that Flux does not decrypt",
	Severity: finding.Error,
	Why: `kustomize-controller decrypts the objects that a Kustomization applies, and the files that a secretGenerator reads. It
does not decrypt the files that a configMapGenerator reads: the ConfigMap contains the ciphertext and the metadata of SOPS,
and no error is reported until the application fails. If a secretGenerator reads the same file, the ConfigMap contains the
secret in plaintext, since Flux decrypts the file in place. In a repository with clusters, only files that Flux reads are
checked.`,
	Fix: `Generate a Secret instead: move the entry to a secretGenerator, and read the Secret where the ConfigMap is read. If
nothing in the file is secret, decrypt it (sops decrypt --in-place FILE).`,
	Run: func(p *rule.Pass) {
		decrypted := generatorFiles(p)
		for _, f := range p.Repo.Files() {
			if len(p.Fleet().Clusters) > 0 && !reached.Of(p)[f.Path] {
				continue
			}
			for _, d := range f.Documents {
				for in := range eachInput(d, "configMapGenerator") {
					file := in.file(path.Dir(f.Path))
					if in.field == "literals" || !p.Repo.Exists(file) || !isEncryptedFile(p, file) || !real(p, f.Path) {
						continue
					}
					why := "Flux decrypts only the files of a secretGenerator"
					if decrypted[file] {
						why = "Flux decrypts it in place for a secretGenerator, so that the ConfigMap holds the secret"
					}
					p.Report(finding.Finding{Place: finding.Place{File: f.Path, Line: in.node.Line, Column: in.node.Column},
						Message: fmt.Sprintf("the generator of ConfigMap %s reads %s, which is encrypted: %s", in.generated, in.text, why),
						Hint:    "use a secretGenerator"})
				}
			}
		}
	},
}
