package v1alpha1

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// ProductKommander is the name of the platform product Kommander. Its folder has this name, and the
// names of its Kustomizations begin with it.
const ProductKommander = "kommander"

// ProductName returns the name of the product's folder.
func (k *Kommander) ProductName() string { return ProductKommander }

// ManagementCluster returns the name of the cluster that manages Kommander.
func (k *Kommander) ManagementCluster() string { return k.Spec.Cluster }

// OwnNamespaces returns all namespaces of Kommander.
func (k *Kommander) OwnNamespaces() []string {
	return slices.Sorted(maps.Keys(k.NamespaceSteps()))
}

// FluxNamespaces returns the namespace of the Flux that Kommander installs.
func (k *Kommander) FluxNamespaces() []string { return []string{KommanderFluxNamespace} }

// AddNamespace describes how to add a namespace to the object.
func (k *Kommander) AddNamespace() string {
	return "set it in a workspace or project of the Kommander"
}

// CopiesClusterKey reports whether a Secret is Kommander's copy of the cluster's own key.
func (k *Kommander) CopiesClusterKey(namespace, name string) bool {
	return namespace == KommanderNamespace && name == KommanderAgeSecret
}

// ByHand describes how the management repository gets into a Gitea of the cluster.
func (k *Kommander) ByHand() string {
	owner, name := k.Spec.GiteaRepository()
	if name == "" {
		return ""
	}
	return fmt.Sprintf("when Kustomization %s-%s is Ready, push to %s/%s in Gitea, or the next command waits in vain: read the CA, secrets sync with caFile, "+
		"render, commit, port-forward and push, as docs/kommander.md#the-repository-in-gitea says", ProductKommander, KommanderStepGitRepository, owner, name)
}

// Namespaces of Kommander: one for Kommander itself and the management cluster's applications, and one
// for its sources.
const (
	KommanderNamespace     = "kommander"
	KommanderFluxNamespace = "kommander-flux"
)

// KommanderHost is the management cluster's own name in Kommander.
const KommanderHost = "host-cluster"

// Names of the applications that the installation itself needs.
const (
	KommanderChartMuseumApp   = "chartmuseum"
	KommanderGiteaApp         = "gitea"
	KommanderGatekeeperApp    = "gatekeeper"
	KommanderAppManagementApp = "kommander-appmanagement"
	KommanderFluxApp          = "kommander-flux"
)

// Secrets of Kommander.
const (
	KommanderGitSecret   = "kommander-git-credentials"
	KommanderGiteaSecret = "gitea-admin-credentials"
	KommanderCASecret    = "tls-root-ca"
	// KommanderIngressSecret has the certificate of the management cluster's domain.
	KommanderIngressSecret = "kommander-ingress-tls"
	// KommanderAgeSecret is the Secret in Kommander's namespace with the cluster's own key, in the key
	// age.agekey.
	KommanderAgeSecret = "sops-age"
	// KommanderGitFile is the file of KommanderGitSecret in the management repository.
	KommanderGitFile = "shared/kommander-git-repository/git-credentials.yaml"
)

// Steps of the installation, in order.
const (
	KommanderStepBase             = "base"
	KommanderStepRootCA           = "root-ca"
	KommanderStepChartMuseum      = "chartmuseum"
	KommanderStepHelmRepositories = "helm-repositories"
	KommanderStepIngress          = "ingress"
	KommanderStepGitea            = "gitea"
	KommanderStepGitRepository    = "gitea-repository"
	KommanderStepRepository       = "repository"
	KommanderStepFlux             = "flux-configuration"
	KommanderStepGatekeeper       = "gatekeeper"
	KommanderStepTemplates        = "gatekeeper-templates"
	KommanderStepConstraints      = "gatekeeper-constraints"
	KommanderStepAppManagement    = "app-management"
	KommanderStepCore             = "core-applications"
	KommanderStepApplications     = "applications"
	KommanderStepCluster          = "cluster"
	KommanderStepCatalogs         = "catalogs"
	KommanderStepGroups           = "groups"
	KommanderStepWorkspaces       = "workspaces"
	KommanderStepWorkspaceContent = "workspace-content"
	KommanderStepProjects         = "projects"
	KommanderStepProjectContent   = "project-content"
)

// AppsKommander is the Kustomization of the applications that Kommander's controllers
// write into the management repository.
const AppsKommander = "apps-kommander"

// Folders returns Kommander's own folders in the management repository.
func (k *Kommander) Folders() []string {
	return []string{
		"kommander", "kubernetes/kommander", "services", "applications", "common", "workspaces", "projects", "shared", "clusters/kommander_host-cluster",
	}
}

// AtLeast reports whether the version of Kommander is the release major.minor or a later one.
func (s *KommanderSpec) AtLeast(major, minor uint64) bool { return AtLeast(s.Version, major, minor) }

// AtLeast reports whether a version is the release major.minor or a later one; release candidates count as their release.
func AtLeast(version string, major, minor uint64) bool {
	v, err := semver.NewVersion(version)
	return err == nil && (v.Major() > major || v.Major() == major && v.Minor() >= minor)
}

// CAKey returns the key of KommanderCASecret that Flux reads: caFile up to 2.7, for spec.secretRef of a
// HelmRepository, and ca.crt from 2.8, for spec.certSecretRef.
func (s *KommanderSpec) CAKey() string {
	if s.AtLeast(2, 8) {
		return "ca.crt"
	}
	return "caFile"
}

// KommanderHelmRepository returns the name of the HelmRepository for a URL, derived from its host and path.
func KommanderHelmRepository(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	return strings.Trim(strings.Map(func(r rune) rune {
		if r == '.' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(rest)), "-.")
}

// Definition returns a version of an application, or nil.
func (s *KommanderSpec) Definition(name, version string) *KommanderDefinition {
	i := slices.IndexFunc(s.Definitions, func(d KommanderDefinition) bool { return d.Name == name && d.Version == version })
	if i < 0 {
		return nil
	}
	return &s.Definitions[i]
}

// HasExisting reports whether a version of an application is an existing definition.
func (s *KommanderSpec) HasExisting(name, version string) bool {
	return slices.Contains(s.ExistingDefinitions, KommanderExisting{name, version})
}

// Deploys reports whether an AppDeployment of the management cluster takes over the application that the
// installation applies.
func (s *KommanderSpec) Deploys(application string) bool {
	return slices.ContainsFunc(s.Applications, func(a KommanderApplication) bool { return a.Adopts(application) })
}

// Adopts reports whether an AppDeployment of the management cluster installs an application as the
// installation does, under its own name.
func (a KommanderApplication) Adopts(application string) bool {
	return a.Kind == "ClusterApp" && a.Name == application && a.Application == application
}

// KommanderGiteaHost is the host of the definition gitea inside of the cluster.
const KommanderGiteaHost = "gitea-http." + KommanderNamespace + ".svc"

// GiteaRepository returns the owner and the name of the management repository if Gitea of the
// specification serves it, otherwise "".
func (s *KommanderSpec) GiteaRepository() (owner, name string) {
	u, err := url.Parse(s.Management.URL)
	if s.Gitea == nil || err != nil || strings.TrimSuffix(u.Hostname(), ".cluster.local") != KommanderGiteaHost {
		return "", ""
	}
	owner, name, _ = strings.Cut(strings.Trim(u.Path, "/"), "/")
	if name = strings.TrimSuffix(name, ".git"); name == "" || strings.Contains(name, "/") {
		return "", ""
	}
	return owner, name
}

// Workspace returns the workspace with a name, or nil.
func (s *KommanderSpec) Workspace(name string) *KommanderWorkspace {
	i := slices.IndexFunc(s.Workspaces, func(w KommanderWorkspace) bool { return w.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Workspaces[i]
}

// ObjectName returns the name of the ClusterApp or App that an AppDeployment references.
func (a KommanderApplication) ObjectName() string { return a.Application + "-" + a.Version }

// certManagerChart is the name of cert-manager's chart, and of the namespace in which it is usually installed.
const certManagerChart = "cert-manager"

// CertManager returns the add-on that installs cert-manager on a cluster, nil if no add-on does, and the namespace in
// which cert-manager reads the Secrets of ClusterIssuers. That is the namespace of its pods, unless its values name
// another one (cert-manager's chart, templates/deployment.yaml). sure is false if arguments or variables in the values
// may name another one.
func (s *Spec) CertManager(c *Cluster) (a *Addon, namespace string, sure bool) {
	addons := s.AddonsOn(c)
	i := slices.IndexFunc(addons, func(a *Addon) bool {
		return a.Spec.Chart != nil && cmp.Or(a.Spec.Chart.Name, path.Base(a.Spec.Chart.URL)) == certManagerChart
	})
	if i < 0 {
		return nil, "", false
	}
	a = addons[i]
	namespace = a.Spec.Namespace
	values := s.EffectiveValues(a, c)
	for _, field := range []string{"namespace", "clusterResourceNamespace"} {
		if text, isText := values[field].(string); isText && text != "" {
			namespace = text
		}
	}
	if strings.Contains(namespace, "${") {
		return a, a.Spec.Namespace, false
	}
	return a, namespace, values["extraArgs"] == nil
}

// ApplyDefaults sets the defaults of a Kommander.
func (k *Kommander) ApplyDefaults(of *Spec) {
	s, f := &k.Spec, of.Fleet.Spec
	set(&s.Timeout, "15m")
	set(&s.Management.URL, f.Repository.URL)
	set(&s.Management.Branch, f.Repository.Branch)
	set(&s.Management.Interval, defaultSyncInterval)
	if s.Management.Keys == nil {
		s.Management.Keys = fromEnvironment("kommander-git", "username", "password")
	}
	if c := of.Cluster(s.Cluster); c != nil {
		_, namespace, _ := of.CertManager(c)
		set(&s.RootCA.Namespace, namespace)
	}
	set(&s.RootCA.Namespace, certManagerChart)
	s.defaultInstallation()
	for i := range s.Definitions {
		defaultDefinition(&s.Definitions[i])
	}
	defaultApplications(s.Applications)
	for i := range s.Catalogs {
		c := &s.Catalogs[i]
		set(&c.Interval, defaultInterval)
		set(&c.Type, "catalog")
		if c.Tag == "" {
			set(&c.Branch, defaultBranch)
		}
	}
	for _, g := range s.Groups {
		for i := range g.Members {
			set(&g.Members[i].Kind, "Group")
		}
	}
	for i := range s.Workspaces {
		w := &s.Workspaces[i]
		set(&w.Namespace, w.Name)
		for j := range w.Clusters {
			set(&w.Clusters[j].Kubeconfig, w.Clusters[j].Name+"-kubeconfig")
		}
		defaultApplications(w.Applications)
	}
	for i := range s.Projects {
		p := &s.Projects[i]
		set(&p.Namespace, p.Name)
		for j := range p.Sources {
			set(&p.Sources[j].Branch, defaultBranch)
		}
		defaultApplications(p.Applications)
	}
}

// defaultInstallation sets the defaults of the optional parts of the installation.
func (s *KommanderSpec) defaultInstallation() {
	if a := s.AirGapped; a != nil && a.Keys == nil {
		a.Keys = []SecretKey{{Name: s.CAKey(), From: SecretSource{Env: "KOMMANDER_ROOT_CA"}}}
	}
	if i := s.Ingress; i != nil && i.ACME != nil {
		set(&i.ACME.Server, "https://acme-v02.api.letsencrypt.org/directory")
	}
	if i := s.Ingress; i != nil && i.Certificate != nil && i.Certificate.Keys == nil {
		i.Certificate.Keys = fromEnvironment("kommander-ingress", "tls.crt", "tls.key")
	}
	if g := s.Gitea; g != nil {
		set(&g.Image, "docker.io/curlimages/curl:8.16.0")
		if g.Keys == nil {
			g.Keys = fromEnvironment("gitea-admin", "username", "password")
		}
	}
}

func defaultDefinition(d *KommanderDefinition) {
	set(&d.Version, strings.TrimPrefix(d.Chart.Version, "v"))
	if !strings.HasPrefix(d.Chart.URL, "oci://") {
		set(&d.Chart.Name, d.Name)
	}
	defaultVerify(d.Chart.Verify)
	set(&d.ReleaseName, d.Name)
	set(&d.Catalog.Type, "platform")
	if d.Catalog.Scope == nil {
		d.Catalog.Scope = []string{"workspace"}
	}
}

func defaultApplications(list []KommanderApplication) {
	for i := range list {
		set(&list[i].Application, list[i].Name)
		set(&list[i].Kind, "ClusterApp")
	}
}

// fromEnvironment returns keys with values from environment variables. The name of a variable consists of a
// common name and the key's name.
func fromEnvironment(name string, keys ...string) []SecretKey {
	var out []SecretKey
	for _, key := range keys {
		out = append(out, SecretKey{Name: key, From: SecretSource{Env: variableOf(name) + "_" + variableOf(key)}})
	}
	return out
}

// NamespaceSteps returns the namespaces of a Kommander, each with the step that applies the objects in it.
// Kommander's controllers create the namespaces of workspaces and projects.
func (k *Kommander) NamespaceSteps() map[string]string {
	out := map[string]string{KommanderNamespace: KommanderStepBase, KommanderFluxNamespace: KommanderStepBase}
	for _, w := range k.Spec.Workspaces {
		out[w.Namespace] = KommanderStepWorkspaceContent
	}
	for _, p := range k.Spec.Projects {
		out[p.Namespace] = KommanderStepProjectContent
	}
	return out
}

// Holds returns the workspaces and projects. If one is removed, Kommander deletes its namespace on all of its
// clusters.
func (k *Kommander) Holds() []Held {
	var out []Held
	for _, w := range k.Spec.Workspaces {
		if !w.Existing {
			out = append(out, Held{"workspace", w.Name})
		}
	}
	for _, p := range k.Spec.Projects {
		out = append(out, Held{"project", p.Name})
	}
	return out
}

// NeededSecrets returns the Secrets that Kommander needs.
func (k *Kommander) NeededSecrets() []*DeclaredSecret {
	s := &k.Spec
	declare := func(namespace, name, step string, keys []SecretKey) *DeclaredSecret {
		return &DeclaredSecret{
			Name: name, Namespace: namespace, Type: defaultSecretType, Keys: keys,
			Scope: ScopeClusters, Clusters: ClusterSelector{Names: []string{s.Cluster}},
			Product: ProductKommander, Step: step,
		}
	}
	git := declare(KommanderFluxNamespace, KommanderGitSecret, KommanderStepFlux, s.Management.Keys)
	git.File = KommanderGitFile
	out := []*DeclaredSecret{git}
	if s.Gitea != nil {
		out = append(out, declare(KommanderNamespace, KommanderGiteaSecret, KommanderStepGitea, s.Gitea.Keys))
	}
	if s.Ingress != nil && s.Ingress.Certificate != nil {
		tls := declare(KommanderNamespace, KommanderIngressSecret, KommanderStepIngress, s.Ingress.Certificate.Keys)
		tls.Type = "kubernetes.io/tls"
		out = append(out, tls)
	}
	if s.AirGapped != nil {
		out = append(out, declare(KommanderFluxNamespace, KommanderCASecret, KommanderStepHelmRepositories, s.AirGapped.Keys))
	}
	return out
}

// FluxVersion returns the version of the Flux that Kommander installs on the clusters that it attaches: the version of
// the Fleet's Flux.
func (s *Spec) FluxVersion() string {
	return strings.TrimPrefix(cmp.Or(s.Fleet.Spec.Flux.Version, DefaultBootstrapVersion), "v")
}

// KommanderKustomization returns the namespace and name of the Kustomization that Kommander creates for an AppDeployment:
// the namespace and name of the AppDeployment itself. Source: kommander-applications v2.8 to v2.17, where velero waits
// for the Kustomization rook-ceph-cluster in ${releaseNamespace}. No definition contains a Kustomization with this name,
// so it belongs to an AppDeployment.
func KommanderKustomization(namespace, name string) (string, string) { return namespace, name }

// KommanderWorkspaces returns the workspaces that Kommander itself creates, with their namespaces.
func KommanderWorkspaces() map[string]string {
	return map[string]string{KommanderOwnWorkspace: KommanderNamespace, "default-workspace": "kommander-default-workspace"}
}

// KommanderOwnWorkspace is the workspace of the management cluster.
const KommanderOwnWorkspace = "kommander-workspace"
