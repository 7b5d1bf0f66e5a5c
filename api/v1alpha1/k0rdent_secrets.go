package v1alpha1

import (
	"strings"
	"unicode"
)

// LabelK0rdentComponent is the label, set to kcm, of the objects that kcm backs up and looks up: the identities
// and their Secrets (kcm api/v1beta1, GenericComponentNameLabel).
const LabelK0rdentComponent = "k0rdent.mirantis.com/component"

// Infrastructures returns the names of the infrastructure fields of a credential that are set.
func (c K0rdentCredential) Infrastructures() []string {
	var set []string
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"aws", c.AWS != nil}, {"azure", c.Azure != nil}, {"aks", c.AKS != nil}, {"gcp", c.GCP != nil},
		{"openstack", c.OpenStack != nil}, {"vsphere", c.VSphere != nil}, {"kubevirt", c.KubeVirt != nil}, {"docker", c.Docker != nil},
		{"remote", c.Remote != nil}, {"adopted", c.Adopted != nil}, {"hetzner", c.Hetzner != nil}, {"other", c.Other != nil},
	} {
		if field.set {
			set = append(set, field.name)
		}
	}
	return set
}

// HasIdentity reports whether the identity is a separate object that names the Secret. Otherwise the Secret
// itself is the identity.
func (c K0rdentCredential) HasIdentity() bool {
	return c.AWS != nil || c.Azure != nil || c.VSphere != nil || c.Other != nil && c.Other.Identity != nil
}

// SecretName returns the name of the Secret that a credential needs in k0rdent's system namespace.
func (c K0rdentCredential) SecretName() string {
	if c.HasIdentity() {
		return c.Name + "-secret"
	}
	return c.Name
}

// SecretKeys returns the names of the keys that the Secret must have. For other infrastructures these are the
// declared keys.
func (c K0rdentCredential) SecretKeys() []string {
	switch {
	case c.AWS != nil && c.AWS.SessionToken:
		return []string{"AccessKeyID", "SecretAccessKey", "SessionToken"}
	case c.AWS != nil:
		return []string{"AccessKeyID", "SecretAccessKey"}
	case c.Azure != nil:
		return []string{"clientSecret"}
	case c.AKS != nil:
		return []string{"AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_SUBSCRIPTION_ID", "AZURE_TENANT_ID"}
	case c.GCP != nil:
		return []string{"credentials"}
	case c.OpenStack != nil && c.OpenStack.CACert:
		return []string{"clouds.yaml", "cacert"}
	case c.OpenStack != nil:
		return []string{"clouds.yaml"}
	case c.VSphere != nil:
		return []string{"username", "password"}
	case c.KubeVirt != nil:
		return []string{"kubeconfig"}
	case c.Remote != nil, c.Adopted != nil:
		return []string{"value"}
	case c.Hetzner != nil && c.Hetzner.Robot:
		return []string{"hcloud", "robot-user", "robot-password"}
	case c.Hetzner != nil:
		return []string{"hcloud"}
	case c.Other != nil:
		var names []string
		for _, key := range c.Keys {
			names = append(names, key.Name)
		}
		return names
	}
	return nil
}

// defaultKeys returns keys with values from environment variables. The name of a variable consists of the
// credential's name and the key's name.
func (c K0rdentCredential) defaultKeys() []SecretKey {
	named := func(key, variable string) []SecretKey {
		return []SecretKey{{Name: key, From: SecretSource{Env: variableOf(c.Name) + variable}}}
	}
	switch {
	case c.Adopted != nil:
		return named("value", "_KUBECONFIG")
	case c.Remote != nil:
		return named("value", "_SSH_KEY")
	}
	return fromEnvironment(c.Name, c.SecretKeys()...)
}

// variableOf converts a name to the form of environment variables: AccessKeyID becomes ACCESS_KEY_ID.
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

// NeededSecrets returns the Secrets of the K0rdent's credentials. Sveltos reads the Secret of an identity from the cluster's
// namespace. kcm copies it there only for Azure, so that for other identities there is one Secret for each namespace that has
// the credential.
func (k *K0rdent) NeededSecrets() []*DeclaredSecret {
	var out []*DeclaredSecret
	for _, c := range k.Spec.Credentials {
		if len(c.SecretKeys()) == 0 {
			continue // the Secret has no data
		}
		out = append(out, k.needed(c, K0rdentNamespaceName, K0rdentStepCredentials))
		if !c.HasIdentity() || c.Azure != nil {
			continue
		}
		for _, namespace := range k.Spec.PropagatedTo(c) {
			out = append(out, k.needed(c, namespace, K0rdentStepClusters))
		}
	}
	return out
}

// needed returns the Secret of a credential in a namespace.
func (k *K0rdent) needed(c K0rdentCredential, namespace, step string) *DeclaredSecret {
	return &DeclaredSecret{
		Name: c.SecretName(), Namespace: namespace, Type: defaultSecretType,
		Scope: ScopeClusters, Clusters: ClusterSelector{Names: []string{k.Spec.Cluster}},
		Labels: map[string]string{LabelK0rdentComponent: "kcm"}, Keys: c.Keys,
		Product: ProductK0rdent, Step: step,
	}
}

// IdentityKind returns the kind of the identity that is generated for a credential. It returns "" if the
// credential has none, or if its cluster already exists.
func (c K0rdentCredential) IdentityKind() string {
	switch {
	case c.AWS != nil:
		return "AWSClusterStaticIdentity"
	case c.Azure != nil:
		return "AzureClusterIdentity"
	case c.VSphere != nil:
		return "VSphereClusterIdentity"
	case c.Other != nil && c.Other.Identity != nil:
		return c.Other.Identity.Kind
	case c.Adopted != nil, len(c.Infrastructures()) == 0:
		return ""
	}
	return "Secret"
}
