// Package encryption generates the rules for who can decrypt which files: the .sops.yaml of each
// target and the decryption of Flux Kustomizations. It uses public keys only.
package encryption

import (
	"regexp"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/manifest"
	agekeys "github.com/fleetwright/fleetwright/internal/secrets/keys"
)

// File is the name of SOPS's configuration at a repository's root. SOPS searches for it in
// the folder of the file that it encrypts and in the folders above.
const File = ".sops.yaml"

// provider is the only provider that kustomize-controller supports.
const provider = "sops"

// config is the content of .sops.yaml (https://getsops.io/docs/#using-sopsyaml-conf-to-select-kms-pgp-and-age-for-new-files).
type config struct {
	CreationRules []rule `json:"creation_rules"`
	Stores        stores `json:"stores"`
}

// stores configures how SOPS writes files: with the indent of kyaml and kpt, which would otherwise
// rewrite each file.
type stores struct {
	YAML struct {
		Indent int `json:"indent"`
	} `json:"yaml"`
}

// configOf returns a config with rules.
func configOf(rules []rule) config {
	c := config{CreationRules: rules}
	c.Stores.YAML.Indent = 2
	return c
}

// rule is a creation rule. SOPS applies the first rule whose path_regex matches anywhere in the
// file's path relative to .sops.yaml, so generated patterns are anchored. mac_only_encrypted
// excludes unencrypted fields from the checksum: labels and annotations can be changed without the
// key.
type rule struct {
	PathRegex        string `json:"path_regex"`
	EncryptedRegex   string `json:"encrypted_regex,omitempty"`
	MACOnlyEncrypted bool   `json:"mac_only_encrypted"`
	Age              string `json:"age,omitempty"`
}

// Decryption is the spec.decryption of the platform's Kustomizations, with the key in their namespace,
// flux-system; nil if no secret is encrypted to the platform or a cluster. The caller owns the result.
func Decryption(spec *v1alpha1.Spec) *kustomizev1.Decryption {
	e := spec.Encryption
	if e == nil || len(e.Spec.Recipients.Platform.Age)+len(e.Spec.Recipients.Clusters) == 0 {
		return nil
	}
	return decryption(e)
}

// TenantDecryption returns the spec.decryption of a tenant's Kustomizations, with a key of the
// tenant's own in a Secret of its sync namespace. It is nil for a tenant without
// recipients, because kustomize-controller fails if the Secret is missing.
func TenantDecryption(spec *v1alpha1.Spec, t *v1alpha1.Tenant) *kustomizev1.Decryption {
	if len(tenantRecipients(spec, t)) == 0 {
		return nil
	}
	return decryption(spec.Encryption)
}

func decryption(e *v1alpha1.Encryption) *kustomizev1.Decryption {
	d := &kustomizev1.Decryption{Provider: provider}
	if e.Spec.SecretRef != nil {
		d.SecretRef = &meta.LocalObjectReference{Name: e.Spec.SecretRef.Name}
	}
	return d
}

func tenantRecipients(spec *v1alpha1.Spec, t *v1alpha1.Tenant) []string {
	if spec.Encryption == nil {
		return nil
	}
	return spec.Encryption.Spec.Recipients.Tenants[t.Metadata.Name].Age
}

// Platform returns the platform repository's .sops.yaml.
func Platform(spec *v1alpha1.Spec) ([]byte, error) {
	comment, rules := guidance, []rule{}
	if spec.Encryption != nil {
		comment, rules = "Who can decrypt which files, for `sops`: the first rule that matches a file's path applies.", platformRules(spec, layout.For(spec.Fleet.Spec.Layout))
	}
	return manifest.YAML(manifest.Header+"\n"+comment, configOf(rules))
}

// guidance is the comment in .sops.yaml if the specification has no Encryption.
const guidance = `No secret can be encrypted yet: the specification has no Encryption. Add one with
the public keys (age1…, from age-keygen) of the platform team and of the clusters:

  apiVersion: fleetwright.dev/v1alpha1
  kind: Encryption
  metadata:
    name: encryption
  spec:
    recipients:
      platform:
        age: [age1…]
      clusters:
        production:
          age: [age1…]`

// Tenant returns the .sops.yaml of a tenant's repository: a rule for the deployed folders with the tenant's own
// recipients (paths relative to the repository's root, such as ./production). Without recipients it has no rule, so that
// SOPS refuses to encrypt rather than encrypts without a recipient on the clusters.
func Tenant(spec *v1alpha1.Spec, t *v1alpha1.Tenant, paths ...string) ([]byte, error) {
	keys := recipients(tenantRecipients(spec, t))
	if keys == "" {
		return manifest.YAML(manifest.Header+"\nNo secret can be encrypted yet: ask the platform team to add your public key\n"+
			"(age1…, from age-keygen) to the recipients of tenant "+t.Metadata.Name+".", configOf([]rule{}))
	}
	return manifest.YAML(manifest.Header+"\nThe key that decrypts is in namespace "+t.Spec.SyncNamespace+" of each cluster.",
		configOf([]rule{{inFolders(paths), spec.Encryption.Spec.EncryptedRegex, true, keys}}))
}

// recipients joins keys, one a line, in the form that every version of SOPS reads. It removes the comments of SSH
// keys, which may contain a comma.
func recipients(all []string) string {
	bare := make([]string, len(all))
	for i, key := range all {
		bare[i] = agekeys.Bare(key)
	}
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(bare))), ",\n")
}

// secretFile matches the end of the path of a file that SOPS encrypts.
const secretFile = `.*\.sops\.ya?ml$`

// inFolders returns a path_regex for the secrets in folders; "." is the root and contains all.
func inFolders(folders []string) string {
	var quoted []string
	for _, f := range slices.Compact(slices.Sorted(slices.Values(folders))) {
		f = strings.Trim(strings.TrimPrefix(f, "./"), "/")
		if f == "" || f == "." {
			return "^" + secretFile
		}
		quoted = append(quoted, regexp.QuoteMeta(f))
	}
	quoted = slices.Compact(quoted)
	if len(quoted) == 1 {
		return "^" + quoted[0] + "/" + secretFile
	}
	return "^(" + strings.Join(quoted, "|") + ")/" + secretFile
}
