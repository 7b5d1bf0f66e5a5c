package v1alpha1

import (
	"strings"
	"unicode"
)

// LabelK0rdentComponent set to kcm marks what kcm backs up and looks for: the
// identities and their Secrets (kcm api/v1beta1, GenericComponentNameLabel).
const LabelK0rdentComponent = "k0rdent.mirantis.com/component"

// SecretName is the name of the Secret that a credential needs in k0rdent's system
// namespace.
func (c K0rdentCredential) SecretName() string {
	if c.OpenStack != nil || c.Adopted != nil {
		return c.Name // it is the identity itself
	}
	return c.Name + "-secret"
}

// SecretKeys are the names of the keys that the Secret must have.
func (c K0rdentCredential) SecretKeys() []string {
	switch {
	case c.AWS != nil && c.AWS.SessionToken:
		return []string{"AccessKeyID", "SecretAccessKey", "SessionToken"}
	case c.AWS != nil:
		return []string{"AccessKeyID", "SecretAccessKey"}
	case c.Azure != nil:
		return []string{"clientSecret"}
	case c.OpenStack != nil:
		return []string{"clouds.yaml"}
	case c.VSphere != nil:
		return []string{"username", "password"}
	case c.Adopted != nil:
		return []string{"value"}
	}
	return nil
}

// defaultKeys take the values from environment variables: the credential's name
// and the key's, in the form of such variables.
func (c K0rdentCredential) defaultKeys() []SecretKey {
	if c.Adopted != nil {
		return []SecretKey{{Name: "value", From: SecretSource{Env: variableOf(c.Name) + "_KUBECONFIG"}}}
	}
	return fromEnvironment(c.Name, c.SecretKeys()...)
}

// variableOf spells a name as environment variables are: AccessKeyID is
// ACCESS_KEY_ID.
func variableOf(name string) string {
	var out strings.Builder
	var before rune
	for _, r := range name {
		switch {
		case r == '-' || r == '.':
			r = '_'
		case unicode.IsUpper(r) && unicode.IsLower(before):
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToUpper(r))
		before = r
	}
	return out.String()
}

// NeededSecrets are the Secrets that the credentials of the K0rdent need.
func (k *K0rdent) NeededSecrets() []*DeclaredSecret {
	var out []*DeclaredSecret
	for _, c := range k.Spec.Credentials {
		out = append(out, &DeclaredSecret{
			Name: c.SecretName(), Namespace: K0rdentNamespaceName, Type: defaultSecretType,
			Scope: ScopeClusters, Clusters: ClusterSelector{Names: []string{k.Spec.Cluster}},
			Labels: map[string]string{LabelK0rdentComponent: "kcm"}, Keys: c.Keys,
			Product: ProductK0rdent, Step: K0rdentStepCredentials,
		})
	}
	return out
}

// IdentityKind is the kind of the identity that is made for a credential, "" where it says none.
func (c K0rdentCredential) IdentityKind() string {
	switch {
	case c.AWS != nil:
		return "AWSClusterStaticIdentity"
	case c.Azure != nil:
		return "AzureClusterIdentity"
	case c.VSphere != nil:
		return "VSphereClusterIdentity"
	case c.OpenStack != nil:
		return "Secret"
	}
	return ""
}
