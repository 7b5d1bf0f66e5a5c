package v1alpha1

// KindKommander is the kind of a Kommander management cluster.
const KindKommander = "Kommander"

// Kommander describes the management repository of a Kommander management cluster (D2iQ DKP, Nutanix
// NKP): the steps of its installation, and then the workspaces, projects and applications. A
// specification has at most one.
type Kommander struct {
	TypeMeta `json:",inline"`
	Metadata ObjectMeta    `json:"metadata" jsonschema:"required"`
	Spec     KommanderSpec `json:"spec" jsonschema:"required"`
}

// KommanderSpec is the specification of a Kommander.
type KommanderSpec struct {
	// Version of Kommander. It determines the layout of the application definitions: services/ up to
	// 2.15, applications/ from 2.16.
	Version string `json:"version" jsonschema:"required,minLength=1,example=2.4.0,pattern=^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?$"`
	// Cluster is the name of the management cluster.
	Cluster string `json:"cluster" jsonschema:"required,minLength=1,example=management"`
	// Timeout of the health checks of each step; a step that is not healthy in time is retried.
	Timeout Duration `json:"timeout,omitempty" jsonschema:"default=15m"`
	// Management is the repository that Kommander's own Kustomizations and controllers use; by default
	// the repository of the Fleet.
	Management KommanderRepository `json:"management,omitempty"`
	// Variables in the ConfigMap kommander-vars, in addition to those that Fleetwright sets; a
	// variable with the same name overrides it.
	Variables map[string]string `json:"variables,omitempty"`
	// AirGapped replaces all Helm repositories by one mirror in the cluster.
	AirGapped *KommanderAirGapped `json:"airGapped,omitempty"`
	// RootCA is the certificate authority of the management cluster.
	RootCA KommanderRootCA `json:"rootCA,omitempty"`
	// Ingress is the management cluster's domain and certificate.
	Ingress *KommanderIngress `json:"ingress,omitempty"`
	// Definitions of applications: what Kommander installs for an AppDeployment.
	Definitions []KommanderDefinition `json:"definitions,omitempty" jsonschema:"minItems=1"`
	// ExistingDefinitions are copies in this repository, such as folders of a clone of the applications
	// repository: services/NAME/VERSION up to 2.15, applications/NAME/VERSION from 2.16. They are used
	// as definitions are, and Fleetwright never writes them.
	ExistingDefinitions []KommanderExisting `json:"existingDefinitions,omitempty" jsonschema:"minItems=1"`
	// ExistingCommon is set if the folder common/ of this repository is a copy, too: the Helm repositories and priority
	// classes that existing definitions reference. Fleetwright then applies it and does not write it; Helm repositories of
	// the specification are applied beside it.
	ExistingCommon bool `json:"existingCommon,omitempty"`
	// ChartMuseum serves charts inside of the cluster: the definition chartmuseum.
	ChartMuseum *KommanderChartMuseum `json:"chartMuseum,omitempty"`
	// Gitea serves Git inside of the cluster: the definition gitea.
	Gitea *KommanderGitea `json:"gitea,omitempty"`
	// Gatekeeper restricts projects to their service accounts: the definition gatekeeper.
	Gatekeeper KommanderCore `json:"gatekeeper" jsonschema:"required"`
	// AppManagement is the controller of AppDeployments: the definition
	// kommander-appmanagement.
	AppManagement KommanderCore `json:"appManagement" jsonschema:"required"`
	// HelmRepositories are URLs of Helm repositories in addition to those of the definitions' charts.
	HelmRepositories []string `json:"helmRepositories,omitempty" jsonschema:"pattern=^https?://,example=https://charts.example.com"`
	// Applications of the management cluster, in the namespace kommander.
	Applications []KommanderApplication `json:"applications,omitempty"`
	// Catalogs are Git repositories with applications from other publishers.
	Catalogs []KommanderCatalog `json:"catalogs,omitempty"`
	// Groups of people, which projects bind to roles.
	Groups []KommanderGroup `json:"groups,omitempty"`
	// Workspaces contain clusters and projects.
	Workspaces []KommanderWorkspace `json:"workspaces,omitempty"`
	// Projects are namespaces on clusters of a workspace.
	Projects []KommanderProject `json:"projects,omitempty"`
}

// KommanderRepository is the GitRepository kommander-flux/management.
type KommanderRepository struct {
	// URL of the repository, which has the same content as this one; the Fleet's by default.
	// Kommander's controllers write to it.
	URL string `json:"url,omitempty" jsonschema:"pattern=^https://,example=https://gitea-http.kommander.svc/kommander/kommander.git"`
	// Branch of the repository; the Fleet's by default.
	Branch string `json:"branch,omitempty" jsonschema:"example=main"`
	// Interval at which the repository is checked.
	Interval Duration `json:"interval,omitempty" jsonschema:"default=1m"`
	// Keys of the Secret kommander-flux/kommander-git-credentials, and the sources of their values
	// when it is created: username, password, and caFile if the cluster itself issued the server's
	// certificate. By default the first two, from the environment variables KOMMANDER_GIT_USERNAME and
	// KOMMANDER_GIT_PASSWORD.
	Keys []SecretKey `json:"keys,omitempty" jsonschema:"minItems=1"`
}

// KommanderAirGapped is a management cluster without internet access.
type KommanderAirGapped struct {
	// HelmMirrorURL replaces all Helm repositories.
	HelmMirrorURL string `json:"helmMirrorURL" jsonschema:"required,minLength=1,pattern=^https?://,example=https://chartmuseum.example.com"`
	// Keys of the Secret kommander-flux/tls-root-ca, the mirror's certificate
	// authority: caFile up to 2.7, ca.crt from 2.8. By default it comes from the
	// environment variable KOMMANDER_ROOT_CA.
	Keys []SecretKey `json:"keys,omitempty" jsonschema:"minItems=1"`
}

// KommanderRootCA is the ClusterIssuer kommander-ca.
type KommanderRootCA struct {
	// Namespace of its certificate, from which cert-manager reads the Secrets of ClusterIssuers. By default the namespace of
	// the Addon with the chart cert-manager on the management cluster, or cert-manager without such an Addon.
	Namespace string `json:"namespace,omitempty" jsonschema:"example=cert-manager,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
}

// KommanderIngress is the management cluster's domain and certificate.
type KommanderIngress struct {
	// Hostname of the management cluster.
	Hostname string `json:"hostname" jsonschema:"required,minLength=1,maxLength=253,pattern=^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$,example=kommander.example.com"`
	// ACME requests the certificate from a public authority; by default kommander-ca issues it.
	ACME *KommanderACME `json:"acme,omitempty"`
	// Certificate is your own, instead of one that cert-manager issues.
	Certificate *KommanderCertificate `json:"certificate,omitempty"`
}

// KommanderCertificate is the Secret kommander/kommander-ingress-tls with a certificate of your own.
type KommanderCertificate struct {
	// Keys of the Secret, and the sources of their values when it is created: tls.crt (the
	// certificate, followed by intermediate ones), tls.key, and ca.crt if no public authority issued
	// it. By default the first two, from the environment variables KOMMANDER_INGRESS_TLS_CRT and
	// KOMMANDER_INGRESS_TLS_KEY.
	Keys []SecretKey `json:"keys,omitempty" jsonschema:"minItems=1"`
}

// KommanderACME is the ClusterIssuer kommander-acme-issuer.
type KommanderACME struct {
	// Email address for messages from the authority.
	Email string `json:"email" jsonschema:"required,minLength=1,pattern=^[^@ ]+@[^@ ]+$,example=platform@example.com"`
	// Server of the authority.
	Server string `json:"server,omitempty" jsonschema:"pattern=^https://,default=https://acme-v02.api.letsencrypt.org/directory"`
}

// KommanderDefinition is a version of an application, which AppDeployments reference.
type KommanderDefinition struct {
	// Name of the application.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=reloader"`
	// Version of the application, exact; by default the chart's, without a v.
	Version string `json:"version,omitempty" jsonschema:"maxLength=63,pattern=^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9a-z.-]+)?$,example=0.0.121"`
	// Chart of the application.
	Chart Chart `json:"chart" jsonschema:"required"`
	// Values of the chart for all AppDeployments; ${NAME} is one of Kommander's variables.
	Values map[string]any `json:"values,omitempty"`
	// Namespace into which the application is installed; the workspace's by default.
	Namespace string `json:"namespace,omitempty" jsonschema:"maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=kommander"`
	// ReleaseName of the Helm release; the application's name by default. Two applications on a
	// cluster cannot share a release name in a namespace.
	ReleaseName string `json:"releaseName,omitempty" jsonschema:"maxLength=53,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=reloader"`
	// Catalog is the description of the application that Kommander shows.
	Catalog KommanderMetadata `json:"catalog,omitempty"`
}

// KommanderExisting is a definition whose folder is already in the repository.
type KommanderExisting struct {
	// Name of the application.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=reloader"`
	// Version of the application: the name of the folder.
	Version string `json:"version" jsonschema:"required,minLength=1,maxLength=63,pattern=^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9a-z.-]+)?$,example=2.2.5"`
}

// KommanderMetadata is the metadata.yaml of an application. If several versions share the file, the
// newest version's metadata are used.
type KommanderMetadata struct {
	// DisplayName for people.
	DisplayName string `json:"displayName,omitempty" jsonschema:"example=Reloader"`
	// Description for people.
	Description string `json:"description,omitempty" jsonschema:"example=Restarts workloads when their configuration changes"`
	// Category that the application is listed in.
	Category []string `json:"category,omitempty" jsonschema:"example=general"`
	// Type of the application, such as platform, or internal for one that users do not choose.
	Type string `json:"type,omitempty" jsonschema:"default=platform"`
	// Scope of the application: what it can be installed for.
	Scope []string `json:"scope,omitempty" jsonschema:"minItems=1,enum=workspace,enum=project,default=workspace"`
	// Dependencies are names of applications that it needs.
	Dependencies []string `json:"dependencies,omitempty" jsonschema:"example=cert-manager"`
}

// KommanderCore is an application that the installation itself needs.
type KommanderCore struct {
	// Version of its definition.
	Version string `json:"version" jsonschema:"required,minLength=1,example=3.10.0"`
}

// KommanderChartMuseum is the definition chartmuseum in the management cluster.
type KommanderChartMuseum struct {
	// Version of its definition.
	Version string `json:"version" jsonschema:"required,minLength=1,example=3.9.0"`
	// Bootstrap puts it into the cluster's helmfile, with the chart, version and
	// values of the definition, to be installed before Flux takes it over.
	Bootstrap bool `json:"bootstrap,omitempty"`
}

// KommanderGitea is the definition gitea in the management cluster.
type KommanderGitea struct {
	// Version of its definition.
	Version string `json:"version" jsonschema:"required,minLength=1,example=6.0.1"`
	// Keys of the Secret kommander/gitea-admin-credentials, and the sources of their values when it is
	// created: username and password, by default the environment variables GITEA_ADMIN_USERNAME and
	// GITEA_ADMIN_PASSWORD.
	Keys []SecretKey `json:"keys,omitempty" jsonschema:"minItems=1"`
	// Image of the Job that creates the management repository in Gitea, if spec.management.url is in
	// it: any image with sh and curl.
	Image string `json:"image,omitempty" jsonschema:"minLength=1,default=docker.io/curlimages/curl:8.16.0,example=registry.example.com/curl:8.16.0"`
}

// KommanderApplication is an AppDeployment.
type KommanderApplication struct {
	// Name of the AppDeployment. Kommander creates a Kustomization with this name beside it, so no
	// other Kustomization there can have the name.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=reloader"`
	// Application that is installed; by default the one with the AppDeployment's name.
	Application string `json:"application,omitempty" jsonschema:"example=reloader"`
	// Version of the application.
	Version string `json:"version" jsonschema:"required,minLength=1,example=0.0.121"`
	// Kind is ClusterApp for one of the definitions, or App for an application from a catalog.
	Kind string `json:"kind,omitempty" jsonschema:"enum=ClusterApp,enum=App,default=ClusterApp"`
	// Values that override those of the definition, on all clusters.
	Values map[string]any `json:"values,omitempty"`
	// Clusters of the application; all of the workspace or project by default. A cluster can have an
	// application only once in a namespace, whatever its AppDeployments are called.
	Clusters []string `json:"clusters,omitempty" jsonschema:"minItems=1,example=shop-eu"`
	// Overrides for some of the clusters.
	Overrides []KommanderOverride `json:"overrides,omitempty"`
}

// KommanderOverride changes an application on some clusters.
type KommanderOverride struct {
	// Name of the override, which is part of the name of its ConfigMap.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=canary"`
	// Clusters that the override changes.
	Clusters []string `json:"clusters" jsonschema:"required,minItems=1,example=shop-eu"`
	// Version on these clusters.
	Version string `json:"version,omitempty" jsonschema:"example=0.0.122"`
	// Values that override those of all clusters.
	Values map[string]any `json:"values,omitempty"`
}

// KommanderCatalog is a GitRepository with applications.
type KommanderCatalog struct {
	// Name of the GitRepository.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=shop"`
	// URL of the repository.
	URL string `json:"url" jsonschema:"required,minLength=1,pattern=^(https?|ssh)://,example=https://github.com/acme/catalog"`
	// Branch of the repository; main by default, unless there is a tag.
	Branch string `json:"branch,omitempty" jsonschema:"example=main"`
	// Tag of the repository.
	Tag string `json:"tag,omitempty" jsonschema:"example=v1.2.3"`
	// Interval at which the repository is checked.
	Interval Duration `json:"interval,omitempty" jsonschema:"default=10m"`
	// Type is dkp for applications from Kommander's vendor, or catalog for others.
	Type string `json:"type,omitempty" jsonschema:"enum=dkp,enum=catalog,default=catalog"`
	// Workspace that gets the catalog. By default the catalog is in the namespace kommander, and defaultFor selects who gets
	// it.
	Workspace string `json:"workspace,omitempty" jsonschema:"example=retail"`
	// DefaultFor offers the catalog to all workspaces, or to all projects.
	DefaultFor []string `json:"defaultFor,omitempty" jsonschema:"minItems=1,enum=workspaces,enum=projects"`
	// SecretRef names the Secret with the credentials, in the same namespace.
	SecretRef *SecretRef `json:"secretRef,omitempty"`
}

// KommanderGroup is a VirtualGroup.
type KommanderGroup struct {
	// Name of the group.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=retail-developers"`
	// Members are users and groups of the identity provider, as Kubernetes knows
	// them.
	Members []KommanderMember `json:"members" jsonschema:"required,minItems=1"`
}

// KommanderMember is a subject of a VirtualGroup.
type KommanderMember struct {
	// Kind of the member.
	Kind string `json:"kind,omitempty" jsonschema:"enum=Group,enum=User,default=Group"`
	// Name of the member.
	Name string `json:"name" jsonschema:"required,minLength=1,example=oidc:retail"`
}

// KommanderWorkspace is a Workspace and the objects in its namespace.
type KommanderWorkspace struct {
	// Name of the Workspace.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=retail"`
	// Namespace of the Workspace, which cannot be changed later; its name by default.
	Namespace string `json:"namespace,omitempty" jsonschema:"maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=retail"`
	// Existing is set for a workspace that Kommander creates itself, such as default-workspace.
	Existing bool `json:"existing,omitempty"`
	// ClusterLabels are added to all clusters of the workspace.
	ClusterLabels map[string]string `json:"clusterLabels,omitempty"`
	// Clusters that are attached to it.
	Clusters []KommanderAttached `json:"clusters,omitempty"`
	// Applications of its clusters.
	Applications []KommanderApplication `json:"applications,omitempty"`
}

// KommanderAttached is a KommanderCluster.
type KommanderAttached struct {
	// Name of the cluster.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=shop-eu"`
	// Labels of the cluster, by which projects select it.
	Labels map[string]string `json:"labels,omitempty"`
	// Kubeconfig names the Secret with the cluster's kubeconfig in the workspace's namespace;
	// NAME-kubeconfig by default.
	Kubeconfig string `json:"kubeconfig,omitempty" jsonschema:"example=shop-eu-kubeconfig"`
}

// KommanderProject is a Project and the objects in its namespace.
type KommanderProject struct {
	// Name of the Project.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=checkout"`
	// Workspace that the project is in.
	Workspace string `json:"workspace" jsonschema:"required,minLength=1,example=retail"`
	// Namespace of the project on its clusters; its name by default.
	Namespace string `json:"namespace,omitempty" jsonschema:"maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=checkout"`
	// Clusters of the project, by name.
	Clusters []string `json:"clusters,omitempty" jsonschema:"minItems=1,example=shop-eu"`
	// ClusterSelector selects clusters by label instead.
	ClusterSelector *LabelSelector `json:"clusterSelector,omitempty"`
	// Roles in the project's namespace.
	Roles []KommanderRole `json:"roles,omitempty"`
	// Bindings of groups to roles.
	Bindings []KommanderBinding `json:"bindings,omitempty"`
	// Sources are Git repositories that are deployed in the project.
	Sources []KommanderSource `json:"sources,omitempty"`
	// Applications of the project.
	Applications []KommanderApplication `json:"applications,omitempty"`
}

// KommanderRole is a ProjectRole.
type KommanderRole struct {
	// Name of the role.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=developer"`
	// Rules that the role grants in the project's namespace.
	Rules []PolicyRule `json:"rules" jsonschema:"required,minItems=1"`
}

// KommanderBinding is a VirtualGroupProjectRoleBinding: exactly one of projectRole
// and workspaceRole.
type KommanderBinding struct {
	// Name of the binding.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=developers"`
	// Group names one of the groups; if the specification has none, a group that is created elsewhere.
	Group string `json:"group" jsonschema:"required,minLength=1,example=retail-developers"`
	// ProjectRole is one of the project's roles.
	ProjectRole string `json:"projectRole,omitempty" jsonschema:"example=developer"`
	// WorkspaceRole is a WorkspaceRole of the project's workspace.
	WorkspaceRole string `json:"workspaceRole,omitempty" jsonschema:"example=workspace-viewer"`
}

// KommanderSource is a GitopsRepository.
type KommanderSource struct {
	// Name of the source.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=checkout"`
	// URL that the repository is cloned from.
	URL string `json:"url" jsonschema:"required,minLength=1,pattern=^(https?|ssh)://,example=https://github.com/acme/checkout"`
	// Branch of the repository.
	Branch string `json:"branch,omitempty" jsonschema:"default=main"`
	// Path in the repository.
	Path string `json:"path,omitempty" jsonschema:"example=./deploy"`
	// SecretRef names the Secret with username and password in the project's
	// namespace.
	SecretRef *SecretRef `json:"secretRef,omitempty"`
}
