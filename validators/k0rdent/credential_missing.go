package k0rdent

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// CredentialMissing is k0rdent-credential-missing.
var CredentialMissing = rule.Rule{
	ID:       "k0rdent-credential-missing",
	Title:    "a Credential, its identity or its Secret that does not exist",
	Severity: finding.Error,
	Why: `kcm's webhook refuses a ClusterDeployment without a credential, also if the cluster is adopted or a dry run, and
one whose credential is not in its namespace. The AccessManagement copies the credentials that a rule names from
kcm-system to other namespaces.

A Credential whose identity does not exist never becomes ready, and clusters that use it are refused. The
reference to an identity needs a namespace if the identity's kind is namespaced. The identity in turn references
a Secret, by default in kcm-system.

If Git has no object of the kind at all, such objects are created by hand and the reference is unresolved.
Secrets are unresolved, too, unless an ExternalSecret, a SealedSecret or the like in Git creates them, or the
name is a typo of an existing one.`,
	Fix: `Correct the name, add the missing object, or distribute the Credential to the namespace with an access rule of the AccessManagement.`,
	Run: func(p *rule.Pass) {
		const consequence = "kcm refuses clusters that use it"
		dangling(p, credentialReferences, map[string]string{"": consequence})
		for _, w := range managementClusters(p) {
			for _, o := range w.Of(clusterKind) {
				w.without(p, o)
			}
			var identities, secrets []platform.Reference
			seen := map[*reconcile.Object]bool{nil: true}
			for _, o := range w.Of(credential) {
				r := identityOf(o)
				if namespacedIdentities[r.Kind] && r.Namespace == "" && r.Name != "" {
					w.lacks(p, o, finding.Finding{
						Message: fmt.Sprintf("%s references %s without a namespace: %s", o, r, consequence),
						Hint:    "add identityRef.namespace: " + system,
					}, "the namespace of its identity", "spec", "identityRef")
					continue
				}
				identities = append(identities, r)
				if of := w.identity(r); !seen[of] {
					seen[of] = true
					secrets = append(secrets, w.secretOf(p, of)...)
				}
			}
			platform.Dangling{There: w.identityExists, Consequence: consequence}.Report(p, w.ManagementCluster, identities)
			platform.Dangling{There: w.identityExists, Consequence: consequence}.Report(p, w.ManagementCluster, secrets)
		}
	},
}

// credentialReferences returns the references to credentials in clusters and access rules.
func credentialReferences(w *managementCluster) []platform.Reference {
	out := accessReferences(w, credential)
	for _, o := range w.Of(clusterKind) {
		out = append(out, reference(o, credential, o.Namespace, "spec", "credential"))
	}
	return out
}

// without reports a cluster that names no credential.
func (w *managementCluster) without(p *rule.Pass, o *reconcile.Object) {
	if of := o.Field("spec", "credential"); of != nil && of != "" {
		return
	}
	w.lacks(p, o, finding.Finding{
		Message: fmt.Sprintf("%s has no spec.credential: kcm refuses it", o),
		Hint:    "add spec.credential; for an adopted cluster, its Credential references the Secret with the kubeconfig",
	}, "a credential", "spec")
}

// namespacedIdentities are the kinds of identities that are namespaced. The identities of AWS and vSphere are
// cluster-scoped.
var namespacedIdentities = map[string]bool{"Secret": true, "AzureClusterIdentity": true, "OpenStackClusterIdentity": true}

// identityOf returns the reference of a Credential to its identity.
func identityOf(o *reconcile.Object) platform.Reference {
	at := func(field string) string { return o.Text("spec", "identityRef", field) }
	group, _, versioned := strings.Cut(at("apiVersion"), "/")
	if !versioned {
		group = ""
	}
	return platform.Of(o, group, at("kind"), at("namespace"), "spec", "identityRef", "name")
}

// identity returns the object of an identity, nil if it is not in Git. An object of a cluster-scoped kind may
// nevertheless have a namespace in Git.
func (w *managementCluster) identity(r platform.Reference) *reconcile.Object {
	namespaces := []string{r.Namespace}
	if !namespacedIdentities[r.Kind] {
		in := w.namespacesOf(r)
		namespaces = append(namespaces, in[:min(len(in), 1)]...)
	}
	for _, namespace := range namespaces {
		if o := w.All[reconcile.Identity{Group: r.Group, Kind: r.Kind, Namespace: namespace, Name: r.Name}]; o != nil {
			return o
		}
	}
	return nil
}

// identityExists reports whether an identity or its Secret exists although Git does not have it at that place. doubt is
// the reason if that is unknown.
func (w *managementCluster) identityExists(r platform.Reference) (is bool, doubt string) {
	if w.identity(r) != nil {
		return true, ""
	}
	if r.Kind != "Secret" {
		if doubt := w.Doubt(r); doubt != "" {
			return false, doubt
		}
		return w.created(r)
	}
	if w.isCreatedSecret(reconcile.Identity{Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}) {
		return true, ""
	}
	if w.Doubt(r) == "" && w.TypoOf(r.Name, w.Names(r.Group, r.Kind, r.Namespace)) != "" {
		return false, ""
	}
	return false, "Secrets may be created outside Git"
}

// isCreatedSecret reports whether a controller creates a Secret from objects in Git.
func (w *managementCluster) isCreatedSecret(id reconcile.Identity) bool {
	if w.secrets[id] {
		return true
	}
	id.Namespace = "*"
	return w.secrets[id]
}

// identitySecret has the paths at which an identity, by its kind, names its Secret (kcm v1.11.4 and v1.12.0-rc2,
// templates/provider/*/templates/interface.yaml).
var identitySecret = map[string]struct{ name, namespace []any }{
	"AWSClusterStaticIdentity": {name: []any{"spec", "secretRef"}},
	"AzureClusterIdentity":     {name: []any{"spec", "clientSecret", "name"}, namespace: []any{"spec", "clientSecret", "namespace"}},
	"OpenStackClusterIdentity": {name: []any{"spec", "secretRef", "name"}, namespace: []any{"spec", "secretRef", "namespace"}},
	"VSphereClusterIdentity":   {name: []any{"spec", "secretName"}},
}

// secretReference returns the reference of an identity to its Secret. The reference has no name if the identity names no
// Secret.
func secretReference(identity *reconcile.Object) platform.Reference {
	field := identitySecret[identity.Kind]
	if field.name == nil {
		return platform.Reference{From: identity}
	}
	return platform.Of(identity, "", "Secret", cmp.Or(identity.Text(field.namespace...), system), field.name...)
}

// secretOf returns the reference of an identity to its Secret. It reports an identity that must name a Secret and does
// not.
func (w *managementCluster) secretOf(p *rule.Pass, identity *reconcile.Object) []platform.Reference {
	if _, names := identitySecret[identity.Kind]; !names {
		return nil
	}
	r := secretReference(identity)
	// Azure's other types are workload and managed identities, which need no Secret.
	if r.Name != "" || identity.Kind == "AzureClusterIdentity" && !strings.HasSuffix(identity.Text("spec", "type"), "ServicePrincipal") {
		return []platform.Reference{r}
	}
	if of := identity.Field(r.Path...); of == nil || of == "" {
		w.lacks(p, identity, finding.Finding{
			Message: fmt.Sprintf("%s references no Secret: clusters that use it are never created", identity),
			Hint:    "add " + schemas.Field(r.Path),
		}, "a Secret", "spec")
	}
	return nil
}
