// Package v1alpha1 holds the input kinds of Fleetwright: Fleet, Cluster, Addon, Tenant, Encryption, K0rdent and
// Kommander (API group fleetwright.dev/v1alpha1).
//
// The package has the types, their defaults and their documentation. Package internal/specs reads files: it
// decodes strictly, checks references and limits, applies the defaults and returns a [Spec]. Field names are
// those of Flux if Flux has such a field (interval, sourceRef, dependsOn, path).
//
// The struct tags are the only source of the JSON Schemas in schemas/: `json` sets the name of the field,
// `jsonschema` its constraints (enum, pattern, minLength, default), and the doc comment its description.
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
	// Labels of the object; selectors match the labels of a Cluster.
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations of the object. config.kubernetes.io/local-config: "true"
	// keeps kustomize and kpt from applying a specification to a cluster.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Duration is a Go duration such as 30s, 10m or 1h, as Flux writes them.
type Duration string

// SecretRef names a Secret in the namespace of the object that references it.
type SecretRef struct {
	// Name of the Secret.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=253,pattern=^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$,example=registry-credentials"`
}

// NameRef names another object of the specification.
type NameRef struct {
	// Name of the object.
	Name string `json:"name" jsonschema:"required,minLength=1,example=cert-manager"`
}

// Fleet contains the settings that all clusters share: the platform repository, the layout of its
// folders and the installation of Flux. A specification has exactly one.
type Fleet struct {
	TypeMeta `json:",inline"`
	Metadata ObjectMeta `json:"metadata" jsonschema:"required"`
	Spec     FleetSpec  `json:"spec" jsonschema:"required"`
}

// FleetSpec is the specification of a Fleet.
type FleetSpec struct {
	// Repository is the platform repository, which the clusters sync from.
	Repository Repository `json:"repository" jsonschema:"required"`
	// Layout of the repository: fleet (clusters/, infrastructure/, tenants/) for several clusters, or
	// apps (kubernetes/apps/) for one.
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

// Flux says which Flux runs on the clusters and how it is installed.
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
	// Size of the clusters (FluxInstance spec.cluster.size), for which the operator sets the concurrency of the
	// controllers and their CPU and memory limits. Only with install: operator.
	Size string `json:"size,omitempty" jsonschema:"enum=small,enum=medium,enum=large"`
	// Sharding starts a set of controllers for each shard (FluxInstance spec.sharding), which reconcile the
	// objects that the shard's label is on. Only with install: operator.
	Sharding *Sharding `json:"sharding,omitempty"`
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
	// Lockdown forbids cross-namespace references and remote bases, and lets objects without a service account run as the
	// default account, which has no permissions (Flux: multi-tenancy lockdown). On unless set to false.
	Lockdown *bool `json:"lockdown,omitempty" jsonschema:"default=true"`
}

// Defaults for every generated Flux object; an object's own field overrides them.
type Defaults struct {
	// Interval between two reconciliations.
	Interval Duration `json:"interval,omitempty" jsonschema:"default=10m"`
	// RetryInterval after a failed reconciliation.
	RetryInterval Duration `json:"retryInterval,omitempty" jsonschema:"default=1m"`
	// Timeout of one reconciliation.
	Timeout Duration `json:"timeout,omitempty" jsonschema:"default=5m"`
	// DriftDetection of every HelmRelease.
	DriftDetection *DriftDetection `json:"driftDetection,omitempty"`
	// Install contains fields of spec.install of every HelmRelease; each replaces the generated one.
	Install *ReleaseInstall `json:"install,omitempty"`
	// Upgrade contains fields of spec.upgrade of every HelmRelease; each replaces the generated one.
	Upgrade *ReleaseUpgrade `json:"upgrade,omitempty"`
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

// Sync sets the interval of a cluster's root Kustomization.
type Sync struct {
	// Interval between two pulls of the repository.
	Interval Duration `json:"interval,omitempty" jsonschema:"default=1m"`
}

// ClusterSelector selects clusters; its conditions are combined with AND, and an empty selector
// selects all.
type ClusterSelector struct {
	// Names of clusters.
	Names []string `json:"names,omitempty" jsonschema:"minItems=1,example=production"`
	// Environments of clusters.
	Environments []string `json:"environments,omitempty" jsonschema:"minItems=1,example=production"`
	// MatchLabels are labels of clusters, each with its value.
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
	// PodSecurity is the pod-security level that the namespace enforces; it must be the same in all
	// add-ons of the namespace.
	PodSecurity PodSecurity `json:"podSecurity,omitempty" jsonschema:"enum=privileged,enum=baseline,enum=restricted"`
	// ReleaseName of the Helm release; the add-on's name by default.
	ReleaseName string `json:"releaseName,omitempty" jsonschema:"maxLength=53,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// Chart to install; an add-on without a chart has only resources.
	Chart *Chart `json:"chart,omitempty"`
	// Values of the chart.
	Values map[string]any `json:"values,omitempty"`
	// Overrides of the values and the chart's version for some clusters, in order.
	Overrides []AddonOverride `json:"overrides,omitempty"`
	// Resources are plain objects of the add-on, one file each. They are applied after the chart, so
	// they can use its custom resource definitions.
	Resources []ResourceFile `json:"resources,omitempty"`
	// DependsOn names add-ons that must be ready first, on the clusters that have them.
	DependsOn []NameRef `json:"dependsOn,omitempty"`
	// Stage is controllers, or configs, which starts when all controllers are
	// ready.
	Stage Stage `json:"stage,omitempty" jsonschema:"enum=controllers,enum=configs,default=controllers"`
	// Clusters on which the add-on is installed; all by default.
	Clusters ClusterSelector `json:"clusters,omitempty"`
	// Bootstrap installs the add-on before Flux runs, with the same chart, version and values that
	// Flux then uses.
	Bootstrap *Bootstrap `json:"bootstrap,omitempty"`
	// Stateful is set if the removal of the add-on loses data or addresses: a render then removes the add-on only with
	// --allow-removal. By default it is true if the values or resources of the add-on request volumes or load balancers, or
	// leave that to the chart.
	Stateful *bool `json:"stateful,omitempty"`
	// Interval between two reconciliations of the release; the Fleet's default
	// one by default.
	Interval Duration `json:"interval,omitempty"`
	// Timeout of one Helm action; the Fleet's default one by default.
	Timeout Duration `json:"timeout,omitempty"`
	// DriftDetection of the release; the Fleet's default one by default.
	DriftDetection *DriftDetection `json:"driftDetection,omitempty"`
	// Install contains fields of the HelmRelease's spec.install; each replaces the Fleet's default or the generated one.
	Install *ReleaseInstall `json:"install,omitempty"`
	// Upgrade contains fields of the HelmRelease's spec.upgrade; each replaces the Fleet's default or the generated one.
	Upgrade *ReleaseUpgrade `json:"upgrade,omitempty"`
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

// Chart is the source of a Helm chart.
type Chart struct {
	// URL of the chart itself in an OCI registry (oci://host/path/chart), or of an HTTP(S) Helm
	// repository.
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

// Bootstrap puts an add-on into the helmfile that prepares a cluster for Flux.
type Bootstrap struct {
	// Needs names bootstrapped add-ons that must be installed first, on the clusters that have them; by
	// default the bootstrapped add-ons of dependsOn.
	Needs []string `json:"needs,omitempty"`
	// CRDs installs the chart's custom resource definitions in a separate stage, before any release.
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

// Tenant is a team that deploys to the fleet from its own source.
type Tenant struct {
	TypeMeta `json:",inline"`
	Metadata ObjectMeta `json:"metadata" jsonschema:"required"`
	Spec     TenantSpec `json:"spec" jsonschema:"required"`
}

// TenantSpec is the specification of a Tenant.
type TenantSpec struct {
	// Namespaces of the tenant's workloads; by default one with the tenant's name.
	Namespaces []string `json:"namespaces,omitempty" jsonschema:"minItems=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// SyncNamespace contains the tenant's source, Kustomization and keys; the tenant itself has no
	// write access to it. <name>-flux by default.
	SyncNamespace string `json:"syncNamespace,omitempty" jsonschema:"maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// Source that the tenant deploys from; by default a branch of the platform
	// repository.
	Source TenantSource `json:"source,omitempty"`
	// Environments maps the name of a cluster or an environment to the path below source.path that is
	// applied there. If both are named, the cluster's entry is used; a name that is both a cluster and
	// an environment applies to both. By default the tenant is on every cluster, with the path
	// ./<environment>, or ./<cluster> if the cluster has no environment.
	Environments map[string]string `json:"environments,omitempty"`
	// Starter in the tenant's repository: web, a small web server as plain objects, which need no source but
	// the tenant's own; podinfo, the same as a release of its chart, oci://ghcr.io/stefanprodan/charts/podinfo,
	// which allowedSources has to allow; or none.
	Starter string `json:"starter,omitempty" jsonschema:"enum=web,enum=podinfo,enum=none,default=web"`
	// Access of the tenant's accounts to its namespaces.
	Access Access `json:"access,omitempty"`
	// PodSecurity is the level that the tenant's namespaces enforce.
	PodSecurity PodSecurity `json:"podSecurity,omitempty" jsonschema:"enum=privileged,enum=baseline,enum=restricted,default=restricted"`
	// Quota contains the hard limits of the ResourceQuota in each workload namespace, merged over the
	// defaults, which are listed below. Requests above the default limits raise those limits, and
	// limits below the default requests lower those requests.
	Quota map[string]string `json:"quota,omitempty"`
	// Limits of each container, merged over the defaults.
	Limits Limits `json:"limits,omitempty"`
	// NetworkPolicy allows traffic of the namespaces. By default only DNS and traffic inside the
	// namespace are allowed.
	NetworkPolicy NetworkPolicy `json:"networkPolicy,omitempty"`
	// AllowedSources are URL prefixes that the tenant's GitRepositories, OCIRepositories,
	// HelmRepositories and Buckets may use, in addition to its own source.
	AllowedSources []string `json:"allowedSources,omitempty" jsonschema:"pattern=^(https?|ssh|file|oci)://,example=oci://ghcr.io/acme/charts/"`
	// Hosts that the tenant's Ingresses and routes may serve, and that its Certificates may name: a
	// name, or *.NAME for all subdomains of NAME. Without hosts, the tenant can have no Ingresses and
	// routes. Two tenants of a cluster cannot share a host.
	Hosts []string `json:"hosts,omitempty" jsonschema:"maxLength=253,pattern=^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$,example=*.shop.example.com"`
	// State is Active; Draining removes the sync, so that Flux prunes the
	// workloads; Removed then removes the rest.
	State State `json:"state,omitempty" jsonschema:"enum=Active,enum=Draining,enum=Removed,default=Active"`
}

// TenantSource is the source that a tenant deploys from.
type TenantSource struct {
	// Kind of the source.
	Kind string `json:"kind,omitempty" jsonschema:"enum=GitRepository,enum=OCIRepository,default=GitRepository"`
	// URL of the source; by default the platform repository, on the tenant's own branch.
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

// Access says what a tenant's accounts can do in the tenant's namespaces.
type Access struct {
	// Profile is restricted (workloads, services, configuration), edit (the same, and Roles,
	// RoleBindings and ServiceAccounts, which most charts create) or admin (Kubernetes' admin
	// ClusterRole, bound only in the tenant's namespaces).
	Profile string `json:"profile,omitempty" jsonschema:"enum=restricted,enum=edit,enum=admin,default=restricted"`
	// Rules are granted in addition to those of the profile.
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

// Limits are the LimitRange of each workload namespace, merged over the defaults.
type Limits struct {
	// Default limits of a container.
	Default map[string]string `json:"default,omitempty"`
	// DefaultRequest of a container.
	DefaultRequest map[string]string `json:"defaultRequest,omitempty"`
	// Max of a container.
	Max map[string]string `json:"max,omitempty"`
}

// NetworkPolicy allows traffic of a tenant's namespaces.
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

// The starters of a tenant's repository, and the chart that one of them releases.
const (
	StarterWeb     = "web"
	StarterPodinfo = "podinfo"
	StarterNone    = "none"
	StarterChart   = "oci://ghcr.io/stefanprodan/charts/podinfo"
)

// The states of a tenant, in the order of its off-boarding.
const (
	StateActive   State = "Active"
	StateDraining State = "Draining"
	StateRemoved  State = "Removed"
)

// DurationPattern is the pattern of a duration in Flux's own CustomResourceDefinitions.
const DurationPattern = `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
