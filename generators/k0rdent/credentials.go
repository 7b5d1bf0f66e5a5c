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

// comment says which Secret a credential needs, and how it gets there.
func comment(c v1alpha1.K0rdentCredential) string {
	return "It needs the Secret " + v1alpha1.K0rdentNamespaceName + "/" + c.SecretName() + " with the label " + v1alpha1.LabelK0rdentComponent +
		": kcm\nand the keys " + strings.Join(c.SecretKeys(), ", ") + ", encrypted in Git or made otherwise."
}

// credentials is the step of the Credentials with their identities, whose kinds
// the providers define.
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
		}))
		if c.ResourceTemplate != nil {
			objects = append(objects, resourceTemplate(c, ref.Name))
		}
		files[c.Name+".yaml"], comments[c.Name+".yaml"] = objects, comment(c)
	}
	g.Add(step.Step{
		Name: v1alpha1.K0rdentStepCredentials, Stays: true, After: []string{"management"}, Files: files, Comments: comments,
		Unit: layout.Unit{Wait: true, HealthCheckExprs: healthy("Credential")},
	})
}

// identityOf is the object that a provider of Cluster API takes a credential
// from, nil where it is the Secret itself, and the reference to it (kcm v1.11,
// the clusterIdentities of each provider's ProviderInterface).
func identityOf(c v1alpha1.K0rdentCredential) (any, identityRef) {
	const infrastructure = "infrastructure.cluster.x-k8s.io"
	labelled := func(kind, version, namespace string, spec map[string]any) (any, identityRef) {
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
		return labelled("AzureClusterIdentity", "v1beta1", v1alpha1.K0rdentNamespaceName, map[string]any{
			"type": "ServicePrincipal", "clientID": c.Azure.ClientID, "tenantID": c.Azure.TenantID,
			"clientSecret":      map[string]any{"name": c.SecretName(), "namespace": v1alpha1.K0rdentNamespaceName},
			"allowedNamespaces": map[string]any{},
		})
	case c.VSphere != nil: // cluster-scoped
		return labelled("VSphereClusterIdentity", "v1beta2", "", map[string]any{
			"secretName":        c.SecretName(),
			"allowedNamespaces": map[string]any{"selector": map[string]any{"matchLabels": map[string]any{}}},
		})
	}
	return nil, identityRef{APIVersion: "v1", Kind: "Secret", Name: c.SecretName(), Namespace: v1alpha1.K0rdentNamespaceName}
}

// resourceTemplate is the ConfigMap that Sveltos fills in for each cluster; its
// name is the identity's with a suffix (kcm v1.11, serviceset_controller.go).
func resourceTemplate(c v1alpha1.K0rdentCredential, identity string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name: identity + "-resource-template", Namespace: v1alpha1.K0rdentNamespaceName,
			Labels: componentLabel(), Annotations: map[string]string{"projectsveltos.io/template": "true"},
		},
		Data: c.ResourceTemplate,
	}
}
