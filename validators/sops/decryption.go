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
	Why: `kustomize-controller decrypts only where the Kustomization has spec.decryption; it is not inherited from the one that
brings it. Without it a Secret whose stringData is encrypted becomes Ready, with the ciphertext as the value: the
workload gets "ENC[AES256_GCM,…" for a password. A Secret whose data is encrypted is refused by the API server.

Not reported is a SopsSecret: an operator in the cluster decrypts it.`,
	Fix: `Add spec.decryption with provider sops and, unless the controller has a key of its own, the secretRef of the key.`,
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
				f.File, f.Line, f.Column = file, line, 1
				p.ReportIn(c.Name, f)
			}
		}
	},
}

// withKey places a finding at the key of a field.
func withKey(o *reconcile.Object, f finding.Finding, path ...any) finding.Finding {
	f.File, f.Line, f.Column = o.KeyPosition(path...)
	return f
}

// ciphertextOf is what of a Kustomization is encrypted, and where the first of it stands: an
// object, or a file that a generator reads.
func ciphertextOf(p *rule.Pass, k *reconcile.Kustomization) (what, file string, line int) {
	for _, o := range k.Objects {
		if o.Encrypted && o.HelmRelease == nil && !ofOperator(o) {
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

// ofOperator says whether an operator in the cluster decrypts an object: isindir's sops-secrets-operator
// a SopsSecret, Capsule's that and a GlobalSopsSecret. Flux would decrypt it, too, where it is told to.
func ofOperator(o *reconcile.Object) bool { return strings.HasSuffix(o.Kind, "SopsSecret") }

// encryptedInput is the entry of a generator that reads an encrypted file.
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
	Why: `kustomize-controller decrypts with the keys in the Secret of spec.decryption. Where the file is not encrypted to any
of them, nothing of the Kustomization is applied any more.

The public keys of the clusters and tenants are those of the specification's Encryption. A repository without one
doesn't say which key a cluster has, and isn't judged.`,
	Fix: `Add the cluster's public key to the rule of .sops.yaml that is for the file, then run "fleetwright secrets updatekeys FILE", or
"sops updatekeys FILE", with a key that can decrypt it.`,
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
						p.ReportBuilt(o, finding.Finding{File: o.File, Line: meta.Line, Column: meta.Column,
							Message: fmt.Sprintf("%s cannot decrypt %s, which Kustomization %s applies there: none of its keys is a recipient", holder, o, k),
							Hint:    fmt.Sprintf("add its key to the rule of %s that matches the file, then run fleetwright secrets updatekeys %s (or sops updatekeys)", secrets.ConfigName, o.File)})
					}
				}
			}
		}
	},
}
