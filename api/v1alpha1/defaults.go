package v1alpha1

import (
	"maps"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Default values of fields. Defaults that need more than a constant are in the apply functions below; defaults
// are set nowhere else.
const (
	defaultBranch           = "main"
	defaultLayout           = LayoutFleet
	defaultInstall          = InstallOperator
	defaultOperatorVersion  = "2.9.x"
	DefaultBootstrapVersion = "2.9.4"
	defaultRegistry         = "ghcr.io/fluxcd"
	defaultShardingKey      = "sharding.fluxcd.io/key"
	defaultInterval         = Duration("10m")
	defaultRetryInterval    = Duration("1m")
	defaultTimeout          = Duration("5m")
	defaultSyncInterval     = Duration("1m")
	defaultStage            = StageControllers
	defaultProvider         = "cosign"
	defaultSourceKind       = SourceGit
	defaultSourcePath       = "./"
	defaultProfile          = "restricted"
	defaultTenantSecurity   = PodSecurityRestricted
	defaultStarter          = StarterWeb
	defaultState            = StateActive
	defaultEncryptedRegex   = "^(data|stringData)$"
	defaultSecretType       = "Opaque"
	defaultSecretScope      = ScopePlatform
	defaultSecretLength     = 32
	defaultSecretCharset    = "alphanumeric"
	defaultKeyAlgorithm     = "ecdsa"
	clusterNameVariable     = "CLUSTER_NAME"
)

// DefaultAgeSecret is the Secret with the age key of a cluster or a tenant, if an Encryption names none.
const DefaultAgeSecret = "sops-age"

// DefaultSyncNamespace is the namespace of a tenant's Flux objects if the Tenant does not set one.
func DefaultSyncNamespace(tenant string) string { return tenant + "-flux" }

// FluxNamespace is the namespace of Flux's controllers and of the platform's Flux objects.
const FluxNamespace = "flux-system"

// Kinds of a tenant's source.
const (
	SourceGit = "GitRepository"
	SourceOCI = "OCIRepository"
)

// defaultComponents returns the controllers that `flux install` installs.
func defaultComponents() []string {
	return []string{"source-controller", "kustomize-controller", "helm-controller", "notification-controller"}
}

// defaultQuota returns a quota for a few small services. It also limits the objects that load the control plane
// or the controllers most.
func defaultQuota() map[string]string {
	return map[string]string{
		"requests.cpu":           "4",
		"requests.memory":        "8Gi",
		"limits.cpu":             "8",
		"limits.memory":          "16Gi",
		"requests.storage":       "100Gi",
		"persistentvolumeclaims": "10",
		"pods":                   "50",
		"services":               "20",
		"services.loadbalancers": "0",
		"services.nodeports":     "0",
		"configmaps":             "100",
		"secrets":                "100",
		"count/deployments.apps": "30",
		"count/jobs.batch":       "50",
		"count/cronjobs.batch":   "20",
		"count/helmreleases.helm.toolkit.fluxcd.io":        "20",
		"count/kustomizations.kustomize.toolkit.fluxcd.io": "20",
		"count/gitrepositories.source.toolkit.fluxcd.io":   "10",
		"count/ocirepositories.source.toolkit.fluxcd.io":   "20",
		"count/helmrepositories.source.toolkit.fluxcd.io":  "10",
		"count/buckets.source.toolkit.fluxcd.io":           "5",
		"count/externalartifacts.source.toolkit.fluxcd.io": "10",
	}
}

// fittingQuota returns the default quota, adapted to the tenant's own values so that the two never contradict each other.
// Own requests above the default limits raise these limits, and own limits below the default requests lower these
// requests. The API server warns about a namespace whose requests may exceed its limits.
func fittingQuota(own map[string]string, more func(a, b string) bool) map[string]string {
	quota := defaultQuota()
	for _, name := range []string{"cpu", "memory"} {
		requests, limits := "requests."+name, "limits."+name
		switch {
		case own[limits] == "" && more(own[requests], quota[limits]):
			quota[limits] = own[requests]
		case own[requests] == "" && more(quota[requests], own[limits]):
			quota[requests] = own[limits]
		}
	}
	return quota
}

// Quantities parses a quantity of Kubernetes within bounds.
type Quantities func(string) (resource.Quantity, error)

// more reports whether quantity a is larger than b; it returns false if one of them is invalid.
func (parse Quantities) more(a, b string) bool {
	x, err := parse(a)
	y, otherErr := parse(b)
	return err == nil && otherErr == nil && x.Cmp(y) > 0
}

// defaultLimits returns the limits of a container that sets none.
func defaultLimits() Limits {
	return Limits{
		Default:        map[string]string{"cpu": "500m", "memory": "512Mi"},
		DefaultRequest: map[string]string{"cpu": "50m", "memory": "128Mi"},
		Max:            map[string]string{"cpu": "4", "memory": "8Gi"},
	}
}

// set sets a field that has the zero value.
func set[T comparable](field *T, value T) {
	var nothing T
	if *field == nothing {
		*field = value
	}
}

// over returns a map with the missing defaults added.
func over(own, defaults map[string]string) map[string]string {
	maps.Copy(defaults, own)
	return defaults
}

// ApplyDefaults sets the fields of a specification that are not set.
func ApplyDefaults(s *Spec, quantities Quantities) {
	if s.Fleet == nil {
		s = &Spec{Fleet: &Fleet{}, Clusters: s.Clusters, Addons: s.Addons, Tenants: s.Tenants, Encryption: s.Encryption, Products: s.Products}
	}
	defaultFleet(&s.Fleet.Spec)
	for _, c := range s.Clusters {
		defaultCluster(c, s.Fleet.Spec.Layout)
	}
	addons := make(map[string]*Addon, len(s.Addons))
	for _, a := range s.Addons {
		addons[a.Metadata.Name] = a
	}
	for _, a := range s.Addons {
		defaultAddon(a, addons, s.Fleet.Spec.Defaults)
	}
	everywhere := environmentPaths(s.Clusters)
	for _, t := range s.Tenants {
		defaultTenant(t, s.Fleet.Spec.Repository, everywhere, quantities)
	}
	if s.Encryption != nil {
		defaultEncryption(&s.Encryption.Spec)
		for _, d := range s.OwnSecrets() {
			defaultSecret(d, s.Tenant(d.Tenant))
		}
	}
	for _, p := range s.Products {
		p.ApplyDefaults(s)
	}
}

func defaultFleet(f *FleetSpec) {
	set(&f.Repository.Branch, defaultBranch)
	set(&f.Layout, defaultLayout)
	set(&f.Flux.Install, defaultInstall)
	if f.Flux.Install == InstallBootstrap {
		set(&f.Flux.Version, DefaultBootstrapVersion)
	}
	set(&f.Flux.Version, defaultOperatorVersion)
	if f.Flux.Components == nil {
		f.Flux.Components = defaultComponents()
	}
	set(&f.Flux.Registry, defaultRegistry)
	if f.Flux.Sharding != nil {
		set(&f.Flux.Sharding.Key, defaultShardingKey)
	}
	if f.MultiTenancy.Lockdown == nil {
		f.MultiTenancy.Lockdown = new(true)
	}
	set(&f.Defaults.Interval, defaultInterval)
	set(&f.Defaults.RetryInterval, defaultRetryInterval)
	set(&f.Defaults.Timeout, defaultTimeout)
}

func defaultCluster(c *Cluster, layout Layout) {
	set(&c.Spec.Sync.Interval, defaultSyncInterval)
	if c.Spec.Path == "" && layout == LayoutApps {
		c.Spec.Path = "kubernetes/flux/cluster"
	}
	set(&c.Spec.Path, "clusters/"+c.Metadata.Name)
	// Without any variable, Flux would skip the substitution, and leave even $${…} as it is.
	c.Spec.Variables = over(c.Spec.Variables, map[string]string{clusterNameVariable: c.Metadata.Name})
	// Use one spelling of the path, because other defaults are derived from it.
	if PathProblem(c.Spec.Path) == "" {
		c.Spec.Path = path.Clean(c.Spec.Path)
	}
}

func defaultAddon(a *Addon, addons map[string]*Addon, d Defaults) {
	set(&a.Spec.Stage, defaultStage)
	set(&a.Spec.ReleaseName, a.Metadata.Name)
	set(&a.Spec.Interval, d.Interval)
	set(&a.Spec.Timeout, d.Timeout)
	if c := a.Spec.Chart; c != nil {
		if !strings.HasPrefix(c.URL, "oci://") {
			set(&c.Name, a.Metadata.Name)
		}
		defaultVerify(c.Verify)
	}
	if b := a.Spec.Bootstrap; b != nil && b.Needs == nil {
		for _, ref := range a.Spec.DependsOn {
			if on := addons[ref.Name]; on != nil && on.Spec.Bootstrap != nil {
				b.Needs = append(b.Needs, ref.Name)
			}
		}
	}
}

func defaultVerify(v *Verify) {
	if v != nil {
		set(&v.Provider, defaultProvider)
	}
}

// environmentPaths returns the environments of a tenant that names none: every cluster, each with a path named
// after its environment, or after the cluster if it has no environment.
func environmentPaths(clusters []*Cluster) map[string]string {
	paths := map[string]string{}
	for _, c := range clusters {
		key := c.Spec.Environment
		set(&key, c.Metadata.Name)
		paths[key] = "./" + key
	}
	return paths
}

func defaultTenant(t *Tenant, platform Repository, everywhere map[string]string, quantities Quantities) {
	name := t.Metadata.Name
	if t.Spec.Namespaces == nil {
		t.Spec.Namespaces = []string{name}
	}
	set(&t.Spec.SyncNamespace, DefaultSyncNamespace(name))
	defaultSource(&t.Spec.Source, name, platform)
	if t.Spec.Environments == nil {
		t.Spec.Environments = everywhere // the tenants share this map, and no code changes it
	}
	set(&t.Spec.Access.Profile, defaultProfile)
	set(&t.Spec.PodSecurity, defaultTenantSecurity)
	set(&t.Spec.Starter, defaultStarter)
	t.Spec.Quota = over(t.Spec.Quota, fittingQuota(t.Spec.Quota, quantities.more))
	limits := defaultLimits()
	t.Spec.Limits.Default = over(t.Spec.Limits.Default, limits.Default)
	t.Spec.Limits.DefaultRequest = over(t.Spec.Limits.DefaultRequest, limits.DefaultRequest)
	t.Spec.Limits.Max = over(t.Spec.Limits.Max, limits.Max)
	set(&t.Spec.State, defaultState)
}

func defaultSource(s *TenantSource, tenant string, platform Repository) {
	set(&s.Kind, defaultSourceKind)
	set(&s.Path, defaultSourcePath)
	defaultVerify(s.Verify)
	if s.Kind != SourceGit {
		return
	}
	set(&s.URL, platform.URL)
	if s.Branch != "" || s.Tag != "" || s.SemVer != "" {
		return
	}
	s.Branch = defaultBranch
	if sameRepository(s.URL, platform.URL) {
		s.Branch = "tenant/" + tenant
	}
}

func defaultEncryption(e *EncryptionSpec) {
	set(&e.EncryptedRegex, defaultEncryptedRegex)
	if e.SecretRef == nil {
		e.SecretRef = &SecretRef{Name: DefaultAgeSecret}
	}
	for i := range e.Rules {
		set(&e.Rules[i].EncryptedRegex, e.EncryptedRegex)
	}
}

// defaultSecret sets the defaults of a declared Secret; t is its tenant, nil for a Secret without a tenant.
func defaultSecret(d *DeclaredSecret, t *Tenant) {
	set(&d.Type, defaultSecretType)
	set(&d.Scope, defaultSecretScope)
	if d.Scope == ScopeTenant && t != nil {
		set(&d.Namespace, t.Spec.SyncNamespace)
	}
	for _, k := range d.Keys {
		if g := k.From.Generate; g != nil {
			set(&g.Length, defaultSecretLength)
			set(&g.Charset, defaultSecretCharset)
		}
		if pair := k.From.SSHKeyPair; pair != nil {
			set(&pair.Algorithm, defaultKeyAlgorithm)
		}
	}
}
