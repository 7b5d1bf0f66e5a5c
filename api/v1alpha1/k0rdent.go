package v1alpha1

// KindK0rdent is the kind of a k0rdent management cluster.
const KindK0rdent = "K0rdent"

// K0rdent is what a k0rdent management cluster consists of: kcm itself, its
// Release, the templates and the chains of their upgrades, credentials, who may
// use them, and the clusters and services that are deployed. A specification has
// at most one.
type K0rdent struct {
	TypeMeta `json:",inline"`
	Metadata ObjectMeta  `json:"metadata" jsonschema:"required"`
	Spec     K0rdentSpec `json:"spec" jsonschema:"required"`
}

// K0rdentSpec is the specification of a K0rdent.
type K0rdentSpec struct {
	// Version of k0rdent, 1.6.0 or later: of the kcm chart and of the Release. It
	// chooses between the generations of AccessManagement (up to 1.11, from 1.12).
	Version string `json:"version" jsonschema:"required,minLength=1,example=1.11.4,pattern=^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?$"`
	// Cluster is the name of the management cluster.
	Cluster string `json:"cluster" jsonschema:"required,minLength=1,example=management"`
	// ChartsURL is the folder of kcm's charts in an OCI registry: the kcm chart's
	// own, and the HelmRepository kcm-templates.
	ChartsURL string `json:"chartsURL,omitempty" jsonschema:"pattern=^oci://,default=oci://ghcr.io/k0rdent/kcm/charts"`
	// Values of the kcm chart. They are those of the bootstrap, of the HelmRelease
	// and of the Management, which takes the release over. What leaves to Git what Git
	// holds is added, and can't be set otherwise.
	Values map[string]any `json:"values,omitempty"`
	// Bootstrap puts kcm into the cluster's helmfile, to be installed before Flux
	// takes it over.
	Bootstrap bool `json:"bootstrap,omitempty"`
	// Timeout of the health checks of each step; a step that is not healthy in
	// time is tried again.
	Timeout Duration `json:"timeout,omitempty" jsonschema:"default=15m"`
	// CAPI is Cluster API in the Release.
	CAPI K0rdentComponent `json:"capi" jsonschema:"required"`
	// Providers are those of the Release, in the order of the Management.
	Providers []K0rdentProvider `json:"providers,omitempty"`
	// Sources of charts, kustomizations and manifests beside kcm's own.
	Sources []K0rdentSource `json:"sources,omitempty"`
	// ClusterTemplates are versions of charts that clusters are made with.
	ClusterTemplates []K0rdentTemplate `json:"clusterTemplates,omitempty"`
	// ServiceTemplates are versions of what is installed in clusters.
	ServiceTemplates []K0rdentServiceTemplate `json:"serviceTemplates,omitempty"`
	// ClusterTemplateChains are the upgrades of cluster templates that are allowed.
	ClusterTemplateChains []K0rdentChain `json:"clusterTemplateChains,omitempty"`
	// ServiceTemplateChains are the upgrades of service templates that are allowed.
	ServiceTemplateChains []K0rdentChain `json:"serviceTemplateChains,omitempty"`
	// Credentials for the infrastructure of clusters.
	Credentials []K0rdentCredential `json:"credentials,omitempty"`
	// Namespaces that are made, with their labels; those that rules list and
	// clusters stand in are made too.
	Namespaces []K0rdentNamespace `json:"namespaces,omitempty"`
	// Access hands templates and credentials to other namespaces.
	Access []K0rdentAccess `json:"access,omitempty"`
	// ClusterDeployments are the clusters that k0rdent makes.
	ClusterDeployments []K0rdentCluster `json:"clusterDeployments,omitempty"`
	// MultiClusterServices are installed in all clusters that they select.
	MultiClusterServices []K0rdentMultiClusterService `json:"multiClusterServices,omitempty"`
}

// K0rdentComponent is a chart of kcm's and its values.
type K0rdentComponent struct {
	// Version of the chart, exact.
	Version string `json:"version" jsonschema:"required,minLength=1,example=1.1.15,pattern=^v?(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?$"`
	// Config are values of the chart in the Management.
	Config map[string]any `json:"config,omitempty"`
}

// K0rdentProvider is a provider of the Release and the Management.
type K0rdentProvider struct {
	// Name of the provider, which is its chart's.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=cluster-api-provider-aws"`
	// Version of the chart, exact.
	Version string `json:"version" jsonschema:"required,minLength=1,example=1.0.25,pattern=^v?(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?$"`
	// Config are values of the chart in the Management.
	Config map[string]any `json:"config,omitempty"`
	// Disabled keeps the provider out of the Management; it stays in the Release.
	Disabled bool `json:"disabled,omitempty"`
}

// K0rdentSource is a Flux source in the system namespace that templates use.
type K0rdentSource struct {
	// Name of the source.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=charts"`
	// Kind of the source.
	Kind string `json:"kind,omitempty" jsonschema:"enum=HelmRepository,enum=GitRepository,enum=OCIRepository,default=HelmRepository"`
	// URL of the source; a HelmRepository may be in an OCI registry.
	URL string `json:"url" jsonschema:"required,minLength=1,pattern=^(https?|ssh|oci)://,example=https://charts.example.com"`
	// Branch of a GitRepository.
	Branch string `json:"branch,omitempty" jsonschema:"example=main"`
	// Tag of a GitRepository or OCIRepository.
	Tag string `json:"tag,omitempty" jsonschema:"example=v1.2.3"`
	// Interval between two looks at the source.
	Interval Duration `json:"interval,omitempty" jsonschema:"default=10m"`
	// SecretRef names the Secret with the credentials in the system namespace.
	SecretRef *SecretRef `json:"secretRef,omitempty"`
}

// K0rdentTemplate is a version of a cluster's chart. Name and version make the
// template's name: it is immutable, and an edit is a new version.
type K0rdentTemplate struct {
	// Name of the template without its version.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=200,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=aws-standalone-cp"`
	// Version of the chart, exact.
	Version string `json:"version" jsonschema:"required,minLength=1,example=1.0.43,pattern=^v?(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?$"`
	// Helm is where the chart is; by default the chart of the template's name
	// among kcm's.
	Helm *K0rdentHelm `json:"helm,omitempty"`
	// Providers that the template needs; by default those that its chart names.
	Providers []string `json:"providers,omitempty" jsonschema:"example=infrastructure-aws"`
	// ProviderContracts are the versions of Cluster API's contract that each
	// provider must have.
	ProviderContracts map[string]string `json:"providerContracts,omitempty"`
	// K8sVersion is the version of Kubernetes that clusters get.
	K8sVersion string `json:"k8sVersion,omitempty" jsonschema:"example=v1.34.1+k0s.0"`
}

// K0rdentHelm is a chart of a template.
type K0rdentHelm struct {
	// Chart is its name in a HelmRepository, or its path in a GitRepository; the
	// template's name by default.
	Chart string `json:"chart,omitempty" jsonschema:"example=aws-standalone-cp"`
	// SourceRef names one of the sources; kcm's own by default.
	SourceRef *NameRef `json:"sourceRef,omitempty"`
}

// K0rdentServiceTemplate is a version of what is installed in clusters: exactly
// one of a chart, a kustomization and plain resources.
type K0rdentServiceTemplate struct {
	// Name of the template without its version.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=200,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=ingress-nginx"`
	// Version of the template, and of the chart where it has one, exact.
	Version string `json:"version" jsonschema:"required,minLength=1,example=1.0.43,pattern=^v?(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?$"`
	// Helm is a chart.
	Helm *K0rdentHelm `json:"helm,omitempty"`
	// Kustomize is a kustomization.
	Kustomize *K0rdentContent `json:"kustomize,omitempty"`
	// Resources are plain manifests.
	Resources *K0rdentContent `json:"resources,omitempty"`
	// K8sConstraint is a range of the versions of Kubernetes that it works with.
	K8sConstraint string `json:"k8sConstraint,omitempty" jsonschema:"example=>=1.30"`
}

// K0rdentContent is where a kustomization or manifests are: in one of the
// sources, or in a repository of the template's own.
type K0rdentContent struct {
	// DeploymentType is Remote for objects of the deployed cluster, Local for
	// objects of the management cluster.
	DeploymentType string `json:"deploymentType,omitempty" jsonschema:"enum=Local,enum=Remote,default=Remote"`
	// Path in the source.
	Path string `json:"path,omitempty" jsonschema:"example=./deploy"`
	// SourceRef names one of the sources.
	SourceRef *NameRef `json:"sourceRef,omitempty"`
	// Remote is a repository of the template's own.
	Remote *K0rdentRemote `json:"remote,omitempty"`
}

// K0rdentRemote is a repository of a template's own.
type K0rdentRemote struct {
	// URL of a Git repository, or of an OCI artifact.
	URL string `json:"url" jsonschema:"required,minLength=1,pattern=^(https?|ssh|oci)://,example=https://github.com/acme/manifests"`
	// Branch of a Git repository.
	Branch string `json:"branch,omitempty" jsonschema:"example=main"`
	// Tag of either.
	Tag string `json:"tag,omitempty" jsonschema:"example=v1.2.3"`
	// Interval between two looks at it.
	Interval Duration `json:"interval,omitempty" jsonschema:"default=10m"`
}

// K0rdentChain is a set of upgrade paths. The chain's object is immutable: its
// name holds the newest version and a checksum, so a change makes a new object,
// which the rules of access then name.
type K0rdentChain struct {
	// Name of the chain, which the rules of access name.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=aws"`
	// Paths of upgrades.
	Paths []K0rdentPath `json:"paths" jsonschema:"required,minItems=1"`
}

// K0rdentPath are versions of one template, each of which may be upgraded to the
// next one.
type K0rdentPath struct {
	// Template is the name of a template without its version.
	Template string `json:"template" jsonschema:"required,minLength=1,example=aws-standalone-cp"`
	// Versions in the order of the upgrades, each newer than the one before; a single
	// one is allowed without any.
	Versions []string `json:"versions" jsonschema:"required,minItems=1,example=1.0.43"`
}

// K0rdentCredential is a Credential with its identity and the encrypted Secret
// that this needs: exactly one of aws, azure, openstack, vsphere and adopted.
type K0rdentCredential struct {
	// Name of the Credential.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=aws"`
	// Description for people.
	Description string `json:"description,omitempty" jsonschema:"example=AWS account of the shop"`
	// Region of k0rdent that the credential is for; it can't be changed later.
	Region string `json:"region,omitempty" jsonschema:"example=eu"`
	// AWS is an AWSClusterStaticIdentity. Its Secret has the keys AccessKeyID and
	// SecretAccessKey.
	AWS *K0rdentAWS `json:"aws,omitempty"`
	// Azure is an AzureClusterIdentity. Its Secret has the key clientSecret.
	Azure *K0rdentAzure `json:"azure,omitempty"`
	// OpenStack is a Secret with the key clouds.yaml, which is the identity too.
	OpenStack *K0rdentOpenStack `json:"openstack,omitempty"`
	// VSphere is a VSphereClusterIdentity. Its Secret has the keys username and
	// password.
	VSphere *K0rdentVSphere `json:"vsphere,omitempty"`
	// Adopted is a Secret with the key value, which is the identity too: the
	// kubeconfig of a cluster that is there already, for the template adopted-cluster.
	Adopted *K0rdentAdopted `json:"adopted,omitempty"`
	// Keys of the Secret, and where their values come from when it is made; by
	// default from environment variables: AWS_ACCESS_KEY_ID for the key
	// AccessKeyID of the credential aws, MUNICH_KUBECONFIG for the cluster of the
	// credential munich.
	Keys []SecretKey `json:"keys,omitempty" jsonschema:"minItems=1"`
	// ResourceTemplate is what Sveltos makes of the identity in each cluster, in
	// its template language: the data of the ConfigMap NAME-resource-template.
	ResourceTemplate map[string]string `json:"resourceTemplate,omitempty"`
}

// K0rdentAWS is an AWSClusterStaticIdentity
// (infrastructure.cluster.x-k8s.io/v1beta2).
type K0rdentAWS struct {
	// SessionToken says that the Secret has the key SessionToken too.
	SessionToken bool `json:"sessionToken,omitempty"`
}

// K0rdentAzure is an AzureClusterIdentity of a service principal
// (infrastructure.cluster.x-k8s.io/v1beta1).
type K0rdentAzure struct {
	// ClientID of the service principal.
	ClientID string `json:"clientID" jsonschema:"required,minLength=1,example=00000000-0000-0000-0000-000000000000"`
	// TenantID of the directory.
	TenantID string `json:"tenantID" jsonschema:"required,minLength=1,example=00000000-0000-0000-0000-000000000000"`
}

// K0rdentOpenStack is a Secret with clouds.yaml.
type K0rdentOpenStack struct{}

// K0rdentVSphere is a VSphereClusterIdentity
// (infrastructure.cluster.x-k8s.io/v1beta2).
type K0rdentVSphere struct{}

// K0rdentAdopted is a Secret with a kubeconfig (kcm v1.11,
// config/dev/adopted-credentials.yaml).
type K0rdentAdopted struct{}

// K0rdentNamespace is a namespace for clusters.
type K0rdentNamespace struct {
	// Name of the namespace.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=team-a"`
	// Labels of the namespace, for selectors of the rules of access.
	Labels map[string]string `json:"labels,omitempty"`
}

// K0rdentAccess is a rule of the AccessManagement: what some namespaces get.
type K0rdentAccess struct {
	// Namespaces that the rule is for.
	Namespaces K0rdentNamespaces `json:"namespaces,omitempty"`
	// ClusterTemplateChains by their names in this specification.
	ClusterTemplateChains []string `json:"clusterTemplateChains,omitempty" jsonschema:"example=aws"`
	// ServiceTemplateChains by their names in this specification.
	ServiceTemplateChains []string `json:"serviceTemplateChains,omitempty" jsonschema:"example=ingress"`
	// Credentials by their names.
	Credentials []string `json:"credentials,omitempty" jsonschema:"example=aws"`
}

// K0rdentNamespaces chooses namespaces by exactly one of its fields.
type K0rdentNamespaces struct {
	// All chooses every namespace, those that are made later among them.
	All bool `json:"all,omitempty"`
	// List of names.
	List []string `json:"list,omitempty" jsonschema:"minItems=1,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=team-a"`
	// Selector of labels.
	Selector *LabelSelector `json:"selector,omitempty"`
	// StringSelector is a selector of labels as kubectl takes it.
	StringSelector string `json:"stringSelector,omitempty" jsonschema:"example=environment=production"`
}

// LabelSelector selects objects by labels (k8s.io/apimachinery, metav1); its
// parts are ANDed.
type LabelSelector struct {
	// MatchLabels are labels, each with its value.
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
	// MatchExpressions are requirements on labels.
	MatchExpressions []LabelRequirement `json:"matchExpressions,omitempty"`
}

// LabelRequirement is a requirement on a label.
type LabelRequirement struct {
	// Key of the label.
	Key string `json:"key" jsonschema:"required,minLength=1,example=environment"`
	// Operator that holds between the label and the values.
	Operator string `json:"operator" jsonschema:"required,enum=In,enum=NotIn,enum=Exists,enum=DoesNotExist"`
	// Values of In and NotIn.
	Values []string `json:"values,omitempty" jsonschema:"example=production"`
}

// K0rdentTemplateRef names a version of a template.
type K0rdentTemplateRef struct {
	// Name of the template without its version.
	Name string `json:"name" jsonschema:"required,minLength=1,example=aws-standalone-cp"`
	// Version of the template.
	Version string `json:"version" jsonschema:"required,minLength=1,example=1.0.43"`
}

// K0rdentCluster is a ClusterDeployment.
type K0rdentCluster struct {
	// Name of the ClusterDeployment.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=tools"`
	// Namespace of the ClusterDeployment. Another than the system namespace uses
	// what a rule of access hands to it.
	Namespace string `json:"namespace,omitempty" jsonschema:"default=kcm-system,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// Labels of the ClusterDeployment, which MultiClusterServices select.
	Labels map[string]string `json:"labels,omitempty"`
	// Template that the cluster is made with.
	Template K0rdentTemplateRef `json:"template" jsonschema:"required"`
	// Credential for the cluster's infrastructure; kcm refuses a cluster without one.
	Credential string `json:"credential" jsonschema:"required,minLength=1,example=aws"`
	// Config are the values of the template's chart.
	Config map[string]any `json:"config,omitempty"`
	// DryRun checks the values and makes nothing.
	DryRun bool `json:"dryRun,omitempty"`
	// Services that are installed in the cluster.
	Services []K0rdentService `json:"services,omitempty"`
	// ServiceOptions are the other fields of serviceSpec, such as priority and
	// syncMode.
	ServiceOptions map[string]any `json:"serviceOptions,omitempty"`
}

// K0rdentService is a version of a service template in a cluster.
type K0rdentService struct {
	// Name of the service, also of its Helm release.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=ingress-nginx"`
	// Template that is installed.
	Template K0rdentTemplateRef `json:"template" jsonschema:"required"`
	// Namespace in the cluster that it is installed in; default by default.
	Namespace string `json:"namespace,omitempty" jsonschema:"maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=ingress-nginx"`
	// Values of the template's chart; k0rdent takes them as text.
	Values map[string]any `json:"values,omitempty"`
	// ValuesFrom are ConfigMaps and Secrets with values.
	ValuesFrom []K0rdentValuesFrom `json:"valuesFrom,omitempty"`
	// DependsOn names services that are installed first.
	DependsOn []K0rdentServiceRef `json:"dependsOn,omitempty"`
}

// K0rdentValuesFrom is a ConfigMap or Secret with values.
type K0rdentValuesFrom struct {
	// Kind of the object.
	Kind string `json:"kind" jsonschema:"required,enum=ConfigMap,enum=Secret"`
	// Name of the object.
	Name string `json:"name" jsonschema:"required,minLength=1,example=ingress-values"`
}

// K0rdentServiceRef names a service of the same list.
type K0rdentServiceRef struct {
	// Name of the service.
	Name string `json:"name" jsonschema:"required,minLength=1,example=cert-manager"`
	// Namespace of the service in the cluster.
	Namespace string `json:"namespace,omitempty" jsonschema:"example=cert-manager"`
}

// K0rdentMultiClusterService installs services in all clusters that it selects.
type K0rdentMultiClusterService struct {
	// Name of the MultiClusterService.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=ingress"`
	// ClusterSelector selects clusters by the labels of their ClusterDeployments.
	ClusterSelector LabelSelector `json:"clusterSelector" jsonschema:"required"`
	// DependsOn names MultiClusterServices that are installed first.
	DependsOn []string `json:"dependsOn,omitempty" jsonschema:"example=certificates"`
	// Services that are installed.
	Services []K0rdentService `json:"services" jsonschema:"required,minItems=1"`
	// ServiceOptions are the other fields of serviceSpec, such as priority and
	// syncMode.
	ServiceOptions map[string]any `json:"serviceOptions,omitempty"`
}
