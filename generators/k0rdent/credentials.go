package k0rdent

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/generators/step"
	"github.com/fleetwright/fleetwright/internal/layout"
)

// comment describes the Secret that a credential needs, how the Secret gets to the cluster, and which objects Git cannot
// contain.
func comment(c v1alpha1.K0rdentCredential) string {
	var out []string
	if keys := c.SecretKeys(); len(keys) > 0 {
		out = append(out, "It needs the Secret "+v1alpha1.K0rdentNamespaceName+"/"+c.SecretName()+" with the label "+v1alpha1.LabelK0rdentComponent+
			": kcm\nand the keys "+strings.Join(keys, ", ")+", encrypted in Git or created in another way.")
	}
	if c.Region != "" && c.HasResourceTemplate() {
		out = append(out, "Create the ConfigMap in the cluster of the region, too: kcm copies only the identity and its Secret to it.")
	}
	return strings.Join(out, "\n")
}

// credentials writes the step with the Credentials and their identities. The providers define the kinds of the
// identities.
func (g *generator) credentials() {
	files, comments := map[string][]any{}, map[string]string{}
	for _, c := range emit.ByName(g.k.Credentials, func(c v1alpha1.K0rdentCredential) string { return c.Name }) {
		identity, ref := identityOf(c)
		objects := []any{}
		if identity != nil {
			objects = append(objects, identity)
		}
		objects = append(objects, newObject("Credential", system(c.Name), credentialSpec{
			Description: c.Description, Region: c.Region, IdentityRef: ref,
		}), resourceTemplate(g.k.ClusterDeployments, c, v1alpha1.K0rdentNamespaceName))
		files[c.Name+".yaml"], comments[c.Name+".yaml"] = objects, comment(c)
	}
	g.Add(step.Step{
		Name: v1alpha1.K0rdentStepCredentials, Stays: true, After: []string{"management"}, Files: files, Comments: comments,
		Unit: layout.Unit{Wait: true, HealthCheckExprs: healthy("Credential")},
	})
}

// identityOf returns the identity from which a provider of Cluster API reads a credential, and the reference to it. The
// identity is nil if the reference names the Secret itself. Sources: k0rdent's documentation
// (docs/admin/installation/prepare-mgmt-cluster/{aws,azure,gcp,kubevirt,openstack,vmware}.md of
// https://github.com/k0rdent/docs, and for AKS and SSH docs/quickstarts/quickstart-2-{azure,remote}.md), and kcm v1.11
// (the clusterIdentities of each provider's ProviderInterface).
func identityOf(c v1alpha1.K0rdentCredential) (any, identityRef) {
	const infrastructure = "infrastructure.cluster.x-k8s.io"
	labelled := func(kind, version, namespace string, spec map[string]any) (object, identityRef) {
		ref := identityRef{APIVersion: infrastructure + "/" + version, Kind: kind, Name: c.Name, Namespace: namespace}
		return object{
			APIVersion: ref.APIVersion, Kind: kind,
			Metadata: metadata{Name: c.Name, Namespace: namespace, Labels: componentLabel()}, Spec: spec,
		}, ref
	}
	switch {
	case c.AWS != nil: // cluster-scoped
		return labelled("AWSClusterStaticIdentity", "v1beta2", "", map[string]any{
			"secretRef": c.SecretName(), "allowedNamespaces": map[string]any{},
		})
	case c.Azure != nil:
		identity, ref := labelled("AzureClusterIdentity", "v1beta1", v1alpha1.K0rdentNamespaceName, map[string]any{
			"type": "ServicePrincipal", "clientID": c.Azure.ClientID, "tenantID": c.Azure.TenantID,
			"clientSecret":      map[string]any{"name": c.SecretName(), "namespace": v1alpha1.K0rdentNamespaceName},
			"allowedNamespaces": map[string]any{},
		})
		identity.Metadata.Labels["clusterctl.cluster.x-k8s.io/move-hierarchy"] = "true"
		return identity, ref
	case c.VSphere != nil: // cluster-scoped; its ConfigMap and its Secret are in the namespace of the reference
		identity, ref := labelled("VSphereClusterIdentity", "v1beta1", "", map[string]any{
			"secretName":        c.SecretName(),
			"allowedNamespaces": map[string]any{"selector": map[string]any{"matchLabels": map[string]any{}}},
		})
		ref.Namespace = v1alpha1.K0rdentNamespaceName
		return identity, ref
	case c.Other != nil && c.Other.Identity != nil:
		return declaredIdentity(c)
	case c.Docker != nil: // Docker needs no credentials
		return emptySecret(c), secretRef(c)
	}
	return nil, secretRef(c)
}

// secretRef returns the reference to a Secret that is itself the identity.
func secretRef(c v1alpha1.K0rdentCredential) identityRef {
	return identityRef{APIVersion: "v1", Kind: "Secret", Name: c.SecretName(), Namespace: v1alpha1.K0rdentNamespaceName}
}

// declaredIdentity returns an identity of the kind that the specification names.
func declaredIdentity(c v1alpha1.K0rdentCredential) (any, identityRef) {
	of := c.Other.Identity
	ref := identityRef{APIVersion: of.APIVersion, Kind: of.Kind, Name: c.Name}
	if !of.ClusterScoped {
		ref.Namespace = v1alpha1.K0rdentNamespaceName
	}
	spec := of.Spec
	if spec == nil {
		spec = map[string]any{}
	}
	return object{APIVersion: of.APIVersion, Kind: of.Kind, Metadata: metadata{Name: c.Name, Namespace: ref.Namespace, Labels: componentLabel()}, Spec: spec}, ref
}

// emptySecret returns the identity for an infrastructure that needs no credentials.
func emptySecret(c v1alpha1.K0rdentCredential) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Name: c.SecretName(), Namespace: v1alpha1.K0rdentNamespaceName, Labels: componentLabel()},
		Type:       corev1.SecretTypeOpaque,
	}
}
