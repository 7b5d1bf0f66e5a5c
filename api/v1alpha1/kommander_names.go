package v1alpha1

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// ProductKommander is the name of the platform product Kommander: of its folder, and
// the prefix of its Kustomizations.
const ProductKommander = "kommander"

// ProductName is the name of the product's folder.
func (k *Kommander) ProductName() string { return ProductKommander }

// ManagementCluster is the name of the cluster that manages Kommander.
func (k *Kommander) ManagementCluster() string { return k.Spec.Cluster }

// OwnNamespaces are all that Kommander has.
func (k *Kommander) OwnNamespaces() []string {
	return slices.Sorted(maps.Keys(k.NamespaceSteps()))
}

// FluxNamespaces is that of the Flux which Kommander brings.
func (k *Kommander) FluxNamespaces() []string { return []string{KommanderFluxNamespace} }

// AddNamespace says how the object gets another namespace.
func (k *Kommander) AddNamespace() string {
	return "give it to a workspace or project of the Kommander"
}

// CopiesClusterKey reports whether a Secret is Kommander's copy of the cluster's own key.
func (k *Kommander) CopiesClusterKey(namespace, name string) bool {
	return namespace == KommanderNamespace && name == KommanderAgeSecret
}

// Namespaces of Kommander: of itself and the management cluster's applications, and
// of its sources.
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
	// KommanderAgeSecret has the cluster's own key, key age.agekey, in Kommander's namespace.
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

// Folders are Kommander's own folders in the management repository.
func (k *Kommander) Folders() []string {
	return []string{
		"kommander", "kubernetes/kommander", "services", "applications", "common", "workspaces", "projects", "shared", "clusters/kommander_host-cluster",
	}
}

// AtLeast says whether the version of Kommander is a release or one after it.
func (s *KommanderSpec) AtLeast(major, minor uint64) bool { return AtLeast(s.Version, major, minor) }

// AtLeast says whether a version is of a release or of one after it; candidates of a
// release are of that one.
func AtLeast(version string, major, minor uint64) bool {
	v, err := semver.NewVersion(version)
	return err == nil && (v.Major() > major || v.Major() == major && v.Minor() >= minor)
}

// CAKey is the key of KommanderCASecret that Flux reads: in the Secret of
// spec.secretRef of a HelmRepository up to 2.7, of spec.certSecretRef from 2.8.
func (s *KommanderSpec) CAKey() string {
	if s.AtLeast(2, 8) {
		return "ca.crt"
	}
	return "caFile"
}

// KommanderHelmRepository is the name of the HelmRepository at a URL: its host and path.
func KommanderHelmRepository(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	return strings.Trim(strings.Map(func(r rune) rune {
		if r == '.' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(rest)), "-.")
}

// Definition is a version of an application, nil where there is none.
func (s *KommanderSpec) Definition(name, version string) *KommanderDefinition {
	i := slices.IndexFunc(s.Definitions, func(d KommanderDefinition) bool { return d.Name == name && d.Version == version })
	if i < 0 {
		return nil
	}
	return &s.Definitions[i]
}

// Workspace is the workspace of a name, nil where there is none.
func (s *KommanderSpec) Workspace(name string) *KommanderWorkspace {
	i := slices.IndexFunc(s.Workspaces, func(w KommanderWorkspace) bool { return w.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Workspaces[i]
}

// ObjectName is the name of the ClusterApp or App that an AppDeployment names.
func (a KommanderApplication) ObjectName() string { return a.Application + "-" + a.Version }

// certManagerChart is the chart of cert-manager, and the namespace that it is mostly installed in.
const certManagerChart = "cert-manager"

// CertManager is the add-on that brings cert-manager to a cluster, nil where none does, and the
// namespace where it reads what ClusterIssuers need: that of its pods, unless its values name
// another one (cert-manager's chart, templates/deployment.yaml). sure is false where
// they may do so by arguments or variables.
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
		if given, isText := values[field].(string); isText && given != "" {
			namespace = given
		}
	}
	if strings.Contains(namespace, "${") {
		return a, a.Spec.Namespace, false
	}
	return a, namespace, values["extraArgs"] == nil
}

// ApplyDefaults fills in what a Kommander leaves out.
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
	if a := s.AirGapped; a != nil && a.Keys == nil {
		a.Keys = []SecretKey{{Name: s.CAKey(), From: SecretSource{Env: "KOMMANDER_ROOT_CA"}}}
	}
	if i := s.Ingress; i != nil && i.ACME != nil {
		set(&i.ACME.Server, "https://acme-v02.api.letsencrypt.org/directory")
	}
	if g := s.Gitea; g != nil && g.Keys == nil {
		g.Keys = fromEnvironment("gitea-admin", "username", "password")
	}
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

// fromEnvironment are keys whose values come from environment variables: that of a
// name, and the key's.
func fromEnvironment(name string, keys ...string) []SecretKey {
	var out []SecretKey
	for _, key := range keys {
		out = append(out, SecretKey{Name: key, From: SecretSource{Env: variableOf(name) + "_" + variableOf(key)}})
	}
	return out
}

// NamespaceSteps are the namespaces of a Kommander, and the steps that apply the objects
// in them: its controllers create those of workspaces and projects.
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

// NeededSecrets are the Secrets that Kommander needs.
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
	if s.AirGapped != nil {
		out = append(out, declare(KommanderFluxNamespace, KommanderCASecret, KommanderStepHelmRepositories, s.AirGapped.Keys))
	}
	return out
}

// FluxVersion is the version of the Flux that Kommander installs in the clusters that
// it attaches: the Fleet's.
func (s *Spec) FluxVersion() string {
	return strings.TrimPrefix(cmp.Or(s.Fleet.Spec.Flux.Version, DefaultBootstrapVersion), "v")
}

// KommanderKustomization is the namespace and name of the Kustomization that Kommander
// makes of an AppDeployment: its own. Source: kommander-applications v2.8 to v2.17, whose
// velero waits for the Kustomization rook-ceph-cluster in ${releaseNamespace}, that of an
// AppDeployment: no definition has one of this name.
func KommanderKustomization(namespace, name string) (string, string) { return namespace, name }

// KommanderWorkspaces are the workspaces that Kommander makes itself, with their
// namespaces.
func KommanderWorkspaces() map[string]string {
	return map[string]string{KommanderOwnWorkspace: KommanderNamespace, "default-workspace": "kommander-default-workspace"}
}

// KommanderOwnWorkspace is the workspace of the management cluster.
const KommanderOwnWorkspace = "kommander-workspace"
