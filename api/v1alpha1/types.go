// Package v1alpha1 holds the input kinds of Fleetwright: Fleet, Cluster, Addon,
// Tenant, Encryption, K0rdent and Kommander (API group fleetwright.dev/v1alpha1).
//
// The package has the types, their defaults and their documentation. Package
// internal/specs reads files: it decodes strictly, checks references and bounds,
// applies the defaults and returns a [Spec]. Field names copy Flux's wherever Flux
// has one (interval, sourceRef, dependsOn, path).
//
// The struct tags are the one source of the JSON Schemas in schemas/:
// `json` names the field, `jsonschema` its bounds (enum, pattern, minLength,
// default), the doc comment its description.
package v1alpha1

// Group, Version and APIVersion name the API of the input kinds.
const (
	Group      = "fleetwright.dev"
	Version    = "v1alpha1"
	APIVersion = Group + "/" + Version
)

// Kinds of the input objects.
const (
	KindFleet      = "Fleet"
	KindCluster    = "Cluster"
	KindAddon      = "Addon"
	KindTenant     = "Tenant"
	KindEncryption = "Encryption"
)

// TypeMeta names an object's API version and kind.
type TypeMeta struct {
	// APIVersion is fleetwright.dev/v1alpha1.
	APIVersion string `json:"apiVersion" jsonschema:"required"`
	// Kind is the object's kind.
	Kind string `json:"kind" jsonschema:"required"`
}

// ObjectMeta is the part of Kubernetes' metadata that specifications use.
type ObjectMeta struct {
	// Name is a DNS label, unique among the objects of its kind.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=production"`
	// Labels of the object; those of a Cluster are matched by selectors.
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations of the object. config.kubernetes.io/local-config: "true"
	// keeps kustomize and kpt from applying a specification to a cluster.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Duration is a Go duration such as 30s, 10m or 1h, as Flux writes them.
type Duration string

// SecretRef names a Secret in the namespace of the object that refers to it.
type SecretRef struct {
	// Name of the Secret.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=253,pattern=^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$,example=registry-credentials"`
}

// NameRef names another object of the specification.
type NameRef struct {
	// Name of the object.
	Name string `json:"name" jsonschema:"required,minLength=1,example=cert-manager"`
}

// Fleet is what all clusters share: the platform repository, the layout of its
// folders and how Flux is installed. A specification has exactly one.
type Fleet struct {
	TypeMeta `json:",inline"`
	Metadata ObjectMeta `json:"metadata" jsonschema:"required"`
	Spec     FleetSpec  `json:"spec" jsonschema:"required"`
}

// FleetSpec is the specification of a Fleet.
type FleetSpec struct {
	// Repository is the platform repository, which the clusters sync from.
	Repository Repository `json:"repository" jsonschema:"required"`
	// Layout chooses where files stand: fleet (clusters/, infrastructure/,
	// tenants/) for several clusters, or apps (kubernetes/apps/) for one.
	Layout Layout `json:"layout,omitempty" jsonschema:"enum=fleet,enum=apps,default=fleet"`
	// Flux says how Flux itself is installed.
	Flux Flux `json:"flux,omitempty"`
	// MultiTenancy hardens Flux for several tenants.
	MultiTenancy MultiTenancy `json:"multiTenancy,omitempty"`
	// Defaults for every generated Flux object.
	Defaults Defaults `json:"defaults,omitempty"`
}

// Repository is a Git repository that Flux syncs from.
type Repository struct {
	// URL of the repository: https://, ssh:// (scp-like git@host:path is not
	// accepted by Flux).
	URL string `json:"url" jsonschema:"required,minLength=1,pattern=^(https?|ssh|file)://,example=https://github.com/acme/fleet,example=ssh://git@github.com/acme/fleet"`
	// Branch that the clusters follow.
	Branch string `json:"branch,omitempty" jsonschema:"default=main"`
	// SecretRef names the Secret with the repository's credentials in the
	// flux-system namespace; without it the repository is read anonymously.
	SecretRef *SecretRef `json:"secretRef,omitempty"`
}

// Layout names a way of laying out the platform repository.
type Layout string

// The two layouts.
const (
	LayoutFleet Layout = "fleet"
	LayoutApps  Layout = "apps"
)

// Flux says which Flux runs on the clusters and how it gets there.
type Flux struct {
	// Install is bootstrap (manifests in Git, as `flux bootstrap` writes them)
	// or operator (the Flux Operator and a FluxInstance).
	Install Install `json:"install,omitempty" jsonschema:"enum=bootstrap,enum=operator,default=operator"`
	// Version of the Flux distribution: exact (2.9.4, the default) for
	// bootstrap; exact or a range (2.9.x, the default) for operator.
	Version string `json:"version,omitempty" jsonschema:"default=2.9.x,pattern=^v?[0-9]+\\.[0-9x*]+(\\.[0-9x*]+)?$"`
	// Components are the controllers that are installed.
	Components []string `json:"components,omitempty" jsonschema:"minItems=1,enum=source-controller,enum=kustomize-controller,enum=helm-controller,enum=notification-controller,enum=image-reflector-controller,enum=image-automation-controller,enum=source-watcher,default=source-controller,default=kustomize-controller,default=helm-controller,default=notification-controller"`
	// Registry that the controllers' images are pulled from.
	Registry string `json:"registry,omitempty" jsonschema:"default=ghcr.io/fluxcd"`
}

// Install names a way of installing Flux.
type Install string

// The two installations.
const (
	InstallBootstrap Install = "bootstrap"
	InstallOperator  Install = "operator"
)

// MultiTenancy hardens Flux for several tenants.
type MultiTenancy struct {
	// Lockdown forbids cross-namespace references and remote bases, and lets
	// objects without a service account run as the powerless default one
	// (Flux: multi-tenancy lockdown). On unless set to false.
	Lockdown *bool `json:"lockdown,omitempty" jsonschema:"default=true"`
}

// Defaults for every generated Flux object; an object's own field wins.
type Defaults struct {
	// Interval between two reconciliations.
	Interval Duration `json:"interval,omitempty" jsonschema:"default=10m"`
	// RetryInterval after a failed reconciliation.
	RetryInterval Duration `json:"retryInterval,omitempty" jsonschema:"default=1m"`
	// Timeout of one reconciliation.
	Timeout Duration `json:"timeout,omitempty" jsonschema:"default=5m"`
}

// Cluster is one cluster of the fleet.
type Cluster struct {
	TypeMeta `json:",inline"`
	Metadata ObjectMeta  `json:"metadata" jsonschema:"required"`
	Spec     ClusterSpec `json:"spec,omitempty"`
}

// ClusterSpec is the specification of a Cluster.
type ClusterSpec struct {
	// Environment that the cluster belongs to, such as staging or production.
	Environment string `json:"environment,omitempty" jsonschema:"pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// Variables for postBuild.substituteFrom: written to the ConfigMap
	// flux-system/cluster-vars, usable as ${NAME} in the values of add-ons.
	// CLUSTER_NAME is the cluster's name unless it is set here.
	Variables map[string]string `json:"variables,omitempty"`
	// Sync of the cluster's root Kustomization.
	Sync Sync `json:"sync,omitempty"`
	// Path of the cluster's folder in the platform repository: by default
	// clusters/<name> (layout fleet) or kubernetes/flux/cluster (layout apps).
	Path string `json:"path,omitempty" jsonschema:"example=clusters/staging"`
}

// Sync sets the pace of a cluster's root Kustomization.
type Sync struct {
	// Interval between two pulls of the repository.
	Interval Duration `json:"interval,omitempty" jsonschema:"default=1m"`
}

// ClusterSelector selects clusters; its parts are ANDed, and an empty one
// selects all.
type ClusterSelector struct {
	// Names of clusters.
	Names []string `json:"names,omitempty" jsonschema:"minItems=1,example=production"`
	// Environments of clusters.
	Environments []string `json:"environments,omitempty" jsonschema:"minItems=1,example=production"`
	// MatchLabels are labels that a cluster carries, each with its value.
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
}

// Addon is a platform component: a Helm release, plain objects, or both.
type Addon struct {
	TypeMeta `json:",inline"`
	Metadata ObjectMeta `json:"metadata" jsonschema:"required"`
	Spec     AddonSpec  `json:"spec" jsonschema:"required"`
}

// AddonSpec is the specification of an Addon.
type AddonSpec struct {
	// Namespace that the add-on is installed in.
	Namespace string `json:"namespace" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// PodSecurity is the pod-security level that the namespace enforces;
	// add-ons that share a namespace must agree.
	PodSecurity PodSecurity `json:"podSecurity,omitempty" jsonschema:"enum=privileged,enum=baseline,enum=restricted"`
	// ReleaseName of the Helm release; the add-on's name by default.
	ReleaseName string `json:"releaseName,omitempty" jsonschema:"maxLength=53,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// Chart to install; an add-on without one has resources only.
	Chart *Chart `json:"chart,omitempty"`
	// Values of the chart.
	Values map[string]any `json:"values,omitempty"`
	// Overrides of the values for some clusters, in order.
	Overrides []AddonOverride `json:"overrides,omitempty"`
	// Resources are plain objects of the add-on, a file each. They are applied
	// after the chart, so they may use its custom resource definitions.
	Resources []ResourceFile `json:"resources,omitempty"`
	// DependsOn names add-ons that must be ready first.
	DependsOn []NameRef `json:"dependsOn,omitempty"`
	// Stage is controllers, or configs, which starts when all controllers are
	// ready.
	Stage Stage `json:"stage,omitempty" jsonschema:"enum=controllers,enum=configs,default=controllers"`
	// Clusters that get the add-on; all by default.
	Clusters ClusterSelector `json:"clusters,omitempty"`
	// Bootstrap installs the add-on before Flux runs, with the chart, version
	// and values that Flux then takes over.
	Bootstrap *Bootstrap `json:"bootstrap,omitempty"`
	// Interval between two reconciliations of the release; the Fleet's default
	// one by default.
	Interval Duration `json:"interval,omitempty"`
	// Timeout of one Helm action; the Fleet's default one by default.
	Timeout Duration `json:"timeout,omitempty"`
}

// PodSecurity is a level of the Pod Security Standards.
type PodSecurity string

// The levels of the Pod Security Standards.
const (
	PodSecurityPrivileged PodSecurity = "privileged"
	PodSecurityBaseline   PodSecurity = "baseline"
	PodSecurityRestricted PodSecurity = "restricted"
)

// Stage orders add-ons.
type Stage string

// The two stages.
const (
	StageControllers Stage = "controllers"
	StageConfigs     Stage = "configs"
)

// Chart is where a Helm chart comes from.
type Chart struct {
	// URL is the chart itself in an OCI registry (oci://host/path/chart), or
	// an HTTP(S) Helm repository.
	URL string `json:"url" jsonschema:"required,minLength=1,pattern=^(oci|https?)://,example=oci://quay.io/jetstack/charts/cert-manager"`
	// Name of the chart in an HTTP(S) repository; the add-on's name by default.
	Name string `json:"name,omitempty" jsonschema:"example=cert-manager"`
	// Version of the chart, exact.
	Version string `json:"version" jsonschema:"required,minLength=1,example=1.2.3,pattern=^v?(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?$"`
	// SecretRef names the Secret with the registry's credentials.
	SecretRef *SecretRef `json:"secretRef,omitempty"`
	// Verify checks the signature of an OCI chart.
	Verify *Verify `json:"verify,omitempty"`
}

// Verify says who must have signed an OCI artifact (OCIRepository spec.verify).
type Verify struct {
	// Provider of the signature.
	Provider string `json:"provider,omitempty" jsonschema:"enum=cosign,enum=notation,default=cosign"`
	// SecretRef names the Secret with the public keys; without it the
	// signature is keyless.
	SecretRef *SecretRef `json:"secretRef,omitempty"`
	// MatchOIDCIdentity are the accepted identities of a keyless signature.
	MatchOIDCIdentity []OIDCIdentity `json:"matchOIDCIdentity,omitempty"`
}

// OIDCIdentity is an accepted identity of a keyless signature.
type OIDCIdentity struct {
	// Issuer is a regular expression for the token's issuer.
	Issuer string `json:"issuer" jsonschema:"required,minLength=1,example=https://token.actions.githubusercontent.com"`
	// Subject is a regular expression for the token's subject.
	Subject string `json:"subject" jsonschema:"required,minLength=1,example=^https://github.com/acme/.*$"`
}

// AddonOverride changes the values of an add-on on some clusters.
type AddonOverride struct {
	// Clusters that are changed.
	Clusters ClusterSelector `json:"clusters" jsonschema:"required"`
	// Values merged over the add-on's: maps merge, lists replace, null deletes.
	Values map[string]any `json:"values" jsonschema:"required"`
}

// ResourceFile is a file of plain Kubernetes objects.
type ResourceFile struct {
	// Name of the file, without its ending.
	Name string `json:"name" jsonschema:"required,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// Manifests are the file's objects.
	Manifests []map[string]any `json:"manifests" jsonschema:"required,minItems=1"`
}

// Bootstrap puts an add-on into the helmfile that prepares a cluster for Flux.
type Bootstrap struct {
	// Needs names bootstrapped add-ons that must be installed before; the
	// bootstrapped ones of dependsOn by default.
	Needs []string `json:"needs,omitempty"`
	// CRDs installs the chart's custom resource definitions in a stage of
	// their own, before any release.
	CRDs bool `json:"crds,omitempty"`
	// Hooks run when the release is installed, in order.
	Hooks []BootstrapHook `json:"hooks,omitempty"`
}

// BootstrapHook runs after a bootstrapped release is installed.
type BootstrapHook struct {
	// WaitForCRDs are names of custom resource definitions to wait for.
	WaitForCRDs []string `json:"waitForCRDs,omitempty"`
	// Apply names one of the add-on's resources, which is then applied.
	Apply string `json:"apply,omitempty"`
}

// Tenant is a team that deploys to the fleet from a source of its own.
type Tenant struct {
	TypeMeta `json:",inline"`
	Metadata ObjectMeta `json:"metadata" jsonschema:"required"`
	Spec     TenantSpec `json:"spec" jsonschema:"required"`
}

// TenantSpec is the specification of a Tenant.
type TenantSpec struct {
	// Namespaces of the tenant's workloads; one named as the tenant by default.
	Namespaces []string `json:"namespaces,omitempty" jsonschema:"minItems=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// SyncNamespace holds the tenant's source, Kustomization and keys, where
	// the tenant itself may write nothing; <name>-flux by default.
	SyncNamespace string `json:"syncNamespace,omitempty" jsonschema:"maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// Source that the tenant deploys from; by default a branch of the platform
	// repository.
	Source TenantSource `json:"source,omitempty"`
	// Environments maps a cluster's name, or an environment's, to the path below
	// source.path which is applied there; the cluster's entry wins where both
	// are named, and a name that is a cluster's and an environment's stands for
	// both. By default the tenant is on every cluster, with the path
	// ./<environment>, or ./<cluster> where the cluster has no environment.
	Environments map[string]string `json:"environments,omitempty"`
	// Access of the tenant's accounts in its namespaces.
	Access Access `json:"access,omitempty"`
	// PodSecurity is the level that the tenant's namespaces enforce.
	PodSecurity PodSecurity `json:"podSecurity,omitempty" jsonschema:"enum=privileged,enum=baseline,enum=restricted,default=restricted"`
	// Quota is the hard limit of each workload namespace's ResourceQuota,
	// merged over the default one, which is listed below: requests beyond the
	// default limits raise these, limits below the default requests lower those.
	Quota map[string]string `json:"quota,omitempty"`
	// Limits are those of each container, merged over the default ones.
	Limits Limits `json:"limits,omitempty"`
	// NetworkPolicy opens the namespaces, which are closed but for DNS and
	// traffic inside the namespace.
	NetworkPolicy NetworkPolicy `json:"networkPolicy,omitempty"`
	// AllowedSources are URL prefixes, beside its own source, that the
	// tenant's GitRepositories, OCIRepositories, HelmRepositories and Buckets
	// may use.
	AllowedSources []string `json:"allowedSources,omitempty" jsonschema:"pattern=^(https?|ssh|file|oci)://,example=oci://ghcr.io/acme/charts/"`
	// Hosts that the tenant's Ingresses and routes may serve, and that its
	// Certificates may name: a name, or *.NAME for NAME's whole subdomain. Without
	// any, the tenant has no Ingress and no route. No two tenants of a cluster
	// share a host.
	Hosts []string `json:"hosts,omitempty" jsonschema:"maxLength=253,pattern=^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$,example=*.shop.example.com"`
	// State is Active; Draining removes the sync, so that Flux prunes the
	// workloads; Removed then removes the rest.
	State State `json:"state,omitempty" jsonschema:"enum=Active,enum=Draining,enum=Removed,default=Active"`
}

// TenantSource is the source that a tenant deploys from.
type TenantSource struct {
	// Kind of the source.
	Kind string `json:"kind,omitempty" jsonschema:"enum=GitRepository,enum=OCIRepository,default=GitRepository"`
	// URL of the source; the platform repository's by default, on a branch of
	// the tenant's own.
	URL string `json:"url,omitempty" jsonschema:"pattern=^(https?|ssh|file|oci)://"`
	// Branch of a GitRepository: main by default, or tenant/<name> in the
	// platform repository.
	Branch string `json:"branch,omitempty"`
	// Tag of the source.
	Tag string `json:"tag,omitempty"`
	// SemVer range of the source's tags.
	SemVer string `json:"semver,omitempty"`
	// Path that the environments' paths are relative to.
	Path string `json:"path,omitempty" jsonschema:"default=./"`
	// SecretRef names the Secret with the credentials in the sync namespace.
	SecretRef *SecretRef `json:"secretRef,omitempty"`
	// Verify checks the signature of an OCI artifact.
	Verify *Verify `json:"verify,omitempty"`
}

// Access says what a tenant's accounts may do in the tenant's namespaces.
type Access struct {
	// Profile is restricted (workloads, services, configuration), edit (that,
	// and Roles, RoleBindings and ServiceAccounts, which most charts make) or
	// admin (Kubernetes' admin ClusterRole, bound in the namespaces only).
	Profile string `json:"profile,omitempty" jsonschema:"enum=restricted,enum=edit,enum=admin,default=restricted"`
	// Rules are granted beside the profile's.
	Rules []PolicyRule `json:"rules,omitempty"`
}

// PolicyRule is a rule of an RBAC Role (rbac.authorization.k8s.io/v1).
type PolicyRule struct {
	// APIGroups of the resources; "" is the core group.
	APIGroups []string `json:"apiGroups" jsonschema:"required,minItems=1,example=apps"`
	// Resources that are granted.
	Resources []string `json:"resources" jsonschema:"required,minItems=1,example=deployments"`
	// Verbs that are granted.
	Verbs []string `json:"verbs" jsonschema:"required,minItems=1,example=get"`
}

// Limits are the LimitRange of each workload namespace, merged over the default.
type Limits struct {
	// Default limits of a container.
	Default map[string]string `json:"default,omitempty"`
	// DefaultRequest of a container.
	DefaultRequest map[string]string `json:"defaultRequest,omitempty"`
	// Max of a container.
	Max map[string]string `json:"max,omitempty"`
}

// NetworkPolicy opens a tenant's namespaces.
type NetworkPolicy struct {
	// IngressFrom are namespaces whose pods may call the tenant's.
	IngressFrom []string `json:"ingressFrom,omitempty" jsonschema:"maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// EgressTo are namespaces whose pods the tenant's may call.
	EgressTo []string `json:"egressTo,omitempty" jsonschema:"maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// EgressCIDRs are address ranges that the tenant's pods may call.
	EgressCIDRs []string `json:"egressCIDRs,omitempty" jsonschema:"example=10.0.0.0/8"`
}

// State of a tenant.
type State string

// The states of a tenant, in the order of its off-boarding.
const (
	StateActive   State = "Active"
	StateDraining State = "Draining"
	StateRemoved  State = "Removed"
)

// Spec is a whole, valid specification with its defaults applied. Its lists are
// sorted by name and nothing of it depends on the files it was read from.
type Spec struct {
	Fleet      *Fleet
	Clusters   []*Cluster
	Addons     []*Addon
	Tenants    []*Tenant
	Encryption *Encryption // nil when there is none
	Products   []Product   // of platform products, one of each kind

	// States are the places of the tenants' states, by the tenants' names. They are no part of the
	// specification itself.
	States map[string]Place
}

// Place is where a field is in the files of a specification.
type Place struct {
	File         string
	Line, Column int
	// Object and Field name it, such as Tenant payments and spec.state.
	Object, Field string
}

// DurationPattern is the pattern that Flux's own CRDs put on a duration.
const DurationPattern = `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
