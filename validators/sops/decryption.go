package sops

import (
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// DecryptionMissing is the rule sops-decryption-missing.
var DecryptionMissing = rule.Rule{
	ID:       "sops-decryption-missing",
	Title:    "a Kustomization that applies encrypted values without decryption",
	Severity: finding.Error,
	Why: `kustomize-controller decrypts only if the Kustomization has spec.decryption, which is not inherited from a
parent Kustomization. Without it, a Secret whose stringData is encrypted is applied and becomes Ready with the
ciphertext as its value: the workload gets "ENC[AES256_GCM,…" as a password. A Secret whose data is encrypted is
refused by the API server.

A SopsSecret is not reported, because an operator in the cluster decrypts it.`,
	Fix: `Add spec.decryption with provider sops and, unless the controller has its own key, the secretRef of the key.`,
	Run: func(p *rule.Pass) {
		for _, c := range p.Clusters() {
			for _, k := range c.Kustomizations {
				if k.Spec.Decryption != nil || k.Spec.Suspend {
					continue
				}
				what, file, line := ciphertextOf(p, k)
				if what == "" {
					continue
				}
				message := fmt.Sprintf("Kustomization %s has no spec.decryption, but applies %s, which is encrypted with SOPS (%s:%d)", k, what, file, line)
				f := finding.Finding{Message: message, Hint: "add decryption: {provider: sops, secretRef: {name: …}}"}
				if k.Object != nil {
					p.ReportBuilt(k.Object, withKey(k.Object, f, "spec"), "spec")
					continue
				}
				f.Place = finding.Place{File: file, Line: line, Column: 1}
				p.ReportIn(c.Name, f)
			}
		}
	},
}

// withKey sets the place of a finding to the key of a field.
func withKey(o *reconcile.Object, f finding.Finding, path ...any) finding.Finding {
	f.Place = o.KeyPosition(path...)
	return f
}

// ciphertextOf returns the first encrypted part of a Kustomization and its place: an object, or a file that a
// generator reads.
func ciphertextOf(p *rule.Pass, k *reconcile.Kustomization) (what, file string, line int) {
	for _, o := range k.Objects {
		if o.Encrypted && o.HelmRelease == nil && !ofOperator(o) {
			if secrets.IsEncryptedValue(o.Name) {
				return "an object", o.File, o.Line // the kind may be encrypted, too
			}
			return o.String(), o.File, o.Line
		}
	}
	if k.Repo != p.Repo {
		return "", "", 0
	}
	for _, at := range k.Files {
		if !repository.IsKustomization(at) {
			continue
		}
		f, ok := p.Repo.File(p.Repo.Local(at))
		if !ok {
			continue
		}
		for _, d := range f.Documents {
			if n, input := encryptedInput(p, d); n != nil {
				return "the object generated from " + input, at, n.Line
			}
		}
	}
	return "", "", 0
}

// ofOperator reports whether an operator in the cluster decrypts an object: isindir's sops-secrets-operator
// decrypts a SopsSecret, and Capsule decrypts a SopsSecret or GlobalSopsSecret. Flux would decrypt it, too, if
// it has spec.decryption.
func ofOperator(o *reconcile.Object) bool { return strings.HasSuffix(o.Kind, "SopsSecret") }

// encryptedInput returns the entry of a generator that reads an encrypted file, and the file.
func encryptedInput(p *rule.Pass, d *repository.Document) (at *yaml.Node, file string) {
	for _, generators := range []string{"secretGenerator", "configMapGenerator"} {
		for in := range eachInput(d, generators) {
			if file := in.file(path.Dir(d.File.Path)); in.field != "literals" && p.Repo.Exists(file) && isEncryptedFile(p, file) {
				return in.node, file
			}
		}
	}
	return nil, ""
}

// Undecryptable is the rule sops-undecryptable.
var Undecryptable = rule.Rule{
	ID:       "sops-undecryptable",
	Title:    "an encrypted file that a cluster applies and cannot decrypt",
	Severity: finding.Error,
	Why: `kustomize-controller decrypts with the keys in the Secret of spec.decryption. If the file is not encrypted to
any of them, the Kustomization fails and none of its objects are applied any more.

The public keys of clusters and tenants come from the specification's Encryption. In a repository without one,
it is unknown which key a cluster has, and the rule checks nothing.`,
	Fix: `Add the cluster's public key to the rule of .sops.yaml that matches the file, then run "fleetwright secrets
updatekeys FILE", or "sops updatekeys FILE", with a key that can decrypt it.`,
	Run: func(p *rule.Pass) {
		keys := knownKeys(p.Repo)
		if keys == nil {
			return
		}
		for _, c := range p.Clusters() {
			for _, k := range c.Kustomizations {
				holder, held := keys.of(k)
				if len(held) == 0 || k.Spec.Suspend {
					continue
				}
				for _, o := range k.Objects {
					if !o.Encrypted || o.Source == nil {
						continue
					}
					meta, ok := secrets.MetadataOf(o.Source.Document)
					if !ok {
						continue
					}
					if opens, known := meta.Opens(held); !opens && known {
						p.ReportBuilt(o, finding.Finding{Place: finding.Place{File: o.File, Line: meta.Line, Column: meta.Column},
							Message: fmt.Sprintf("%s cannot decrypt %s, which Kustomization %s applies there: none of its keys is a recipient", holder, o, k),
							Hint:    fmt.Sprintf("add its key to the rule of %s that matches the file, then run fleetwright secrets updatekeys %s (or sops updatekeys)", secrets.ConfigName, o.File)})
					}
				}
			}
		}
	},
}
