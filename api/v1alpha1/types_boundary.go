package v1alpha1

// TenantBoundaryKind is the kind of a TenantBoundary.
const TenantBoundaryKind = "TenantBoundary"

// TenantBoundary describes what a platform allows a tenant. It is a file in the tenant's repository, and does not belong
// to a specification. With it, `fleetwright validate` judges the objects of that repository as the platform's cluster
// does.
type TenantBoundary struct {
	TypeMeta `json:",inline"`
	Metadata ObjectMeta         `json:"metadata" jsonschema:"required"`
	Spec     TenantBoundarySpec `json:"spec" jsonschema:"required"`
}

// TenantBoundarySpec is the specification of a TenantBoundary.
type TenantBoundarySpec struct {
	// Paths are the folders of the repository that Flux applies.
	Paths []string `json:"paths" jsonschema:"required,minItems=1,example=./production"`
	// Namespaces that the tenant's objects may be in.
	Namespaces []string `json:"namespaces" jsonschema:"required,minItems=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// TargetNamespace of the Kustomization that applies the paths: the namespace of all their objects.
	TargetNamespace string `json:"targetNamespace,omitempty" jsonschema:"maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// SyncNamespace is the namespace of the Kustomization that applies the paths.
	SyncNamespace string `json:"syncNamespace" jsonschema:"required,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// ServiceAccountName of the tenant's HelmReleases and Kustomizations.
	ServiceAccountName string `json:"serviceAccountName" jsonschema:"required,minLength=1,example=payments-helm"`
	// Sources are the URLs of the tenant's sources; a URL that ends in / allows all URLs that begin with it.
	Sources []string `json:"sources,omitempty" jsonschema:"pattern=^(https?|ssh|file|oci)://,example=oci://ghcr.io/acme/charts/"`
	// Kinds that the tenant's objects may have; all namespaced kinds by default.
	Kinds []BoundaryKinds `json:"kinds,omitempty"`
	// Exposure limits the hosts, addresses and annotations of the tenant's Services, Ingresses and routes; they
	// are not checked by default.
	Exposure *BoundaryExposure `json:"exposure,omitempty"`
	// PodSecurity is the pod-security level that the namespaces enforce; pods are not checked against one by default.
	PodSecurity PodSecurity `json:"podSecurity,omitempty" jsonschema:"enum=privileged,enum=baseline,enum=restricted"`
	// Admission is set if the platform has the admission policies of a generated tenant: they then judge the objects,
	// too. The policy about hosts needs exposure.
	Admission *BoundaryAdmission `json:"admission,omitempty"`
	// Decryption of the Kustomization that applies the paths.
	Decryption *BoundaryDecryption `json:"decryption,omitempty"`
}

// BoundaryKinds are allowed kinds, in the form of an RBAC rule.
type BoundaryKinds struct {
	// APIGroups of the resources; "" is the core group.
	APIGroups []string `json:"apiGroups" jsonschema:"required,minItems=1,example=apps"`
	// Resources are the plural names of kinds in lower case.
	Resources []string `json:"resources" jsonschema:"required,minItems=1,example=deployments"`
	// Verbs that the tenant's role grants on them; all by default. Flux creates objects with patch and create, and changes
	// those that exist with patch.
	Verbs []string `json:"verbs,omitempty" jsonschema:"example=get"`
}

// BoundaryExposure limits what a tenant's objects may expose.
type BoundaryExposure struct {
	// Hosts are names, or *.NAME for all subdomains of NAME; none by default.
	Hosts []string `json:"hosts,omitempty" jsonschema:"maxLength=253,pattern=^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$,example=*.shop.example.com"`
}

// BoundaryAdmission contains the remaining settings on which the admission policies of a tenant depend.
type BoundaryAdmission struct {
	// Profile of the tenant's accounts. With admin, pods may run as the service account that Flux uses.
	Profile string `json:"profile,omitempty" jsonschema:"enum=restricted,enum=edit,enum=admin,default=restricted"`
	// Repository is the URL of the platform's repository, if the tenant is a branch of it.
	Repository string `json:"repository,omitempty" jsonschema:"pattern=^(https?|ssh|file)://,example=https://github.com/acme/fleet"`
	// Branch of the platform's repository that the tenant may read.
	Branch string `json:"branch,omitempty" jsonschema:"example=tenants/payments"`
}

// BoundaryDecryption says how Flux decrypts the files of a tenant.
type BoundaryDecryption struct {
	// Provider of the decryption.
	Provider string `json:"provider" jsonschema:"required,enum=sops"`
	// SecretRef names the Secret with the keys.
	SecretRef *SecretRef `json:"secretRef,omitempty"`
}
