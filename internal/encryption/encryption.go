// Package encryption generates who can decrypt what: the .sops.yaml of each
// target and the decryption of Flux Kustomizations. It knows public keys only.
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

// File is the configuration of SOPS at a repository's root. SOPS looks for it in
// the folder of the file that it encrypts and upwards.
const File = ".sops.yaml"

// provider is the only one that kustomize-controller knows.
const provider = "sops"

// config is .sops.yaml (https://getsops.io/docs/#using-sopsyaml-conf-to-select-kms-pgp-and-age-for-new-files).
type config struct {
	CreationRules []rule `json:"creation_rules"`
	Stores        stores `json:"stores"`
}

// stores say how SOPS writes files: with the indent of kyaml, and so of kpt, which
// would write each of them anew otherwise.
type stores struct {
	YAML struct {
		Indent int `json:"indent"`
	} `json:"yaml"`
}

// configOf is a .sops.yaml with rules.
func configOf(rules []rule) config {
	c := config{CreationRules: rules}
	c.Stores.YAML.Indent = 2
	return c
}

// rule is a creation rule. SOPS takes the first one whose path_regex matches
// anywhere in the file's path from the folder of .sops.yaml, so generated ones
// are anchored. mac_only_encrypted keeps what is not encrypted out of the
// checksum: labels and annotations may change without the key.
type rule struct {
	PathRegex        string `json:"path_regex"`
	EncryptedRegex   string `json:"encrypted_regex,omitempty"`
	MACOnlyEncrypted bool   `json:"mac_only_encrypted"`
	Age              string `json:"age,omitempty"`
}

// Decryption is how the platform's Kustomizations decrypt, with the key that
// stands beside them in flux-system; nil when no secret is encrypted to the
// platform or a cluster. The result is the caller's.
func Decryption(spec *v1alpha1.Spec) *kustomizev1.Decryption {
	e := spec.Encryption
	if e == nil || len(e.Spec.Recipients.Platform.Age)+len(e.Spec.Recipients.Clusters) == 0 {
		return nil
	}
	return decryption(e)
}

// TenantDecryption is how a tenant's Kustomization decrypts: with a key of the
// tenant's own, a Secret in its sync namespace. It is nil for a tenant without
// recipients, since kustomize-controller fails when the Secret is missing.
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

// Platform is the platform repository's .sops.yaml, which says who can decrypt its secrets.
func Platform(spec *v1alpha1.Spec) ([]byte, error) {
	comment, rules := guidance, []rule{}
	if spec.Encryption != nil {
		comment, rules = "Who can decrypt what, for `sops`: the first rule that matches a file's path counts.", platformRules(spec, layout.For(spec.Fleet.Spec.Layout))
	}
	return manifest.YAML(manifest.Header+"\n"+comment, configOf(rules))
}

// guidance is what a repository says whose specification has no Encryption.
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

// Tenant is the .sops.yaml of a tenant's repository: the tenant's own recipients
// for each folder that is deployed (paths from the repository's root, such as
// ./production). Without recipients it has no rule, so that SOPS refuses to
// encrypt rather than encrypting to nobody who deploys.
func Tenant(spec *v1alpha1.Spec, t *v1alpha1.Tenant, paths ...string) ([]byte, error) {
	keys := recipients(tenantRecipients(spec, t))
	if keys == "" {
		return manifest.YAML(manifest.Header+"\nNo secret can be encrypted yet: ask the platform team to add a public key of yours\n"+
			"(age1…, from age-keygen) to the recipients of tenant "+t.Metadata.Name+".", configOf([]rule{}))
	}
	return manifest.YAML(manifest.Header+"\nThe key that decrypts stands in namespace "+t.Spec.SyncNamespace+" of each cluster.",
		configOf([]rule{{inFolders(paths), spec.Encryption.Spec.EncryptedRegex, true, keys}}))
}

// recipients joins keys in the form that every version of SOPS reads, one a line: those of SSH
// without their comments, which may hold a comma.
func recipients(all []string) string {
	bare := make([]string, len(all))
	for i, key := range all {
		bare[i] = agekeys.Bare(key)
	}
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(bare))), ",\n")
}

// secretFile matches the end of the path of a file that SOPS encrypts.
const secretFile = `.*\.sops\.ya?ml$`

// inFolders is a path_regex for the secrets in folders; the root, ".", holds all.
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
