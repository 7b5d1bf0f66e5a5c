package v1alpha1

// KindK0rdent is the kind of a k0rdent management cluster.
const KindK0rdent = "K0rdent"

// K0rdent describes a k0rdent management cluster: kcm itself, its Release, the templates and their
// upgrade chains, credentials, access rules, and the clusters and services that are deployed. A
// specification has at most one.
type K0rdent struct {
	TypeMeta `json:",inline"`
	Metadata ObjectMeta  `json:"metadata" jsonschema:"required"`
	Spec     K0rdentSpec `json:"spec" jsonschema:"required"`
}

// K0rdentSpec is the specification of a K0rdent.
type K0rdentSpec struct {
	// Version of k0rdent, 1.6.0 or later: the version of the kcm chart and of the Release. It selects
	// the generation of AccessManagement (up to 1.11, or from 1.12 on).
	Version string `json:"version" jsonschema:"required,minLength=1,example=1.11.4,pattern=^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?$"`
	// Cluster is the name of the management cluster.
	Cluster string `json:"cluster" jsonschema:"required,minLength=1,example=management"`
	// ChartsURL is the folder of kcm's charts in an OCI registry. The kcm chart and the HelmRepository
	// kcm-templates use it.
	ChartsURL string `json:"chartsURL,omitempty" jsonschema:"pattern=^oci://,default=oci://ghcr.io/k0rdent/kcm/charts"`
	// Values of the kcm chart. The bootstrap, the HelmRelease and the Management, which takes the release over, use the same
	// values. Fleetwright adds values that turn off the functions of kcm that Git replaces. Of these,
	// controller.createRelease, createTemplates and createManagement may be true: Fleetwright then does not generate the
	// objects that kcm creates itself.
	Values map[string]any `json:"values,omitempty"`
	// Bootstrap puts kcm into the cluster's helmfile, to be installed before Flux
	// takes it over.
	Bootstrap bool `json:"bootstrap,omitempty"`
	// Timeout of the health checks of each step; a step that is not healthy in time is retried.
	Timeout Duration `json:"timeout,omitempty" jsonschema:"default=15m"`
	// CAPI is the Cluster API provider of the Release.
	CAPI K0rdentComponent `json:"capi,omitempty"`
	// Providers of the Release, in the order of the Management.
	Providers []K0rdentProvider `json:"providers,omitempty"`
	// Sources of charts, kustomizations and manifests in addition to kcm's own.
	Sources []K0rdentSource `json:"sources,omitempty"`
	// ClusterTemplates are versions of charts from which clusters are created.
	ClusterTemplates []K0rdentTemplate `json:"clusterTemplates,omitempty"`
	// ServiceTemplates are versions of services that are installed in clusters.
	ServiceTemplates []K0rdentServiceTemplate `json:"serviceTemplates,omitempty"`
	// ClusterTemplateChains are the allowed upgrades of cluster templates.
	ClusterTemplateChains []K0rdentChain `json:"clusterTemplateChains,omitempty"`
	// ServiceTemplateChains are the allowed upgrades of service templates.
	ServiceTemplateChains []K0rdentChain `json:"serviceTemplateChains,omitempty"`
	// Credentials for the infrastructure of clusters.
	Credentials []K0rdentCredential `json:"credentials,omitempty"`
	// Namespaces that are created, with their labels. Namespaces that access rules list, and those of
	// clusters, are created too.
	Namespaces []K0rdentNamespace `json:"namespaces,omitempty"`
	// Access distributes templates and credentials to other namespaces.
	Access []K0rdentAccess `json:"access,omitempty"`
	// ClusterDeployments are the clusters that k0rdent creates.
	ClusterDeployments []K0rdentCluster `json:"clusterDeployments,omitempty"`
	// MultiClusterServices are installed in all clusters that they select.
	MultiClusterServices []K0rdentMultiClusterService `json:"multiClusterServices,omitempty"`
}

// K0rdentComponent is one of kcm's charts and its values.
type K0rdentComponent struct {
	// Version of the chart, exact; by default that of the k0rdent version, where it is known.
	Version string `json:"version,omitempty" jsonschema:"minLength=1,example=1.1.15,pattern=^v?(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?$"`
	// Config contains values of the chart in the Management.
	Config map[string]any `json:"config,omitempty"`
}

// K0rdentProvider is a provider of the Release and the Management.
type K0rdentProvider struct {
	// Name of the provider, which by default is the name of its chart.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=cluster-api-provider-aws"`
	// Version of the chart, exact; by default that of the k0rdent version, where the chart is one of
	// kcm's own and that is known.
	Version string `json:"version,omitempty" jsonschema:"minLength=1,example=1.0.25,pattern=^v?(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?$"`
	// Helm is the source of the chart; by default the chart with the provider's name among kcm's
	// charts.
	Helm *K0rdentHelm `json:"helm,omitempty"`
	// Provides are the Cluster API providers in a chart that is not one of kcm's own, as templates
	// need them.
	Provides []string `json:"provides,omitempty" jsonschema:"example=infrastructure-hetzner"`
	// Config contains values of the chart in the Management.
	Config map[string]any `json:"config,omitempty"`
	// Disabled removes the provider from the Management; it stays in the Release.
	Disabled bool `json:"disabled,omitempty"`
}

// K0rdentSource is a Flux source in the system namespace that templates and providers use.
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
	// Interval at which the source is checked.
	Interval Duration `json:"interval,omitempty" jsonschema:"default=10m"`
	// SecretRef names the Secret with the credentials in the system namespace.
	SecretRef *SecretRef `json:"secretRef,omitempty"`
}

// K0rdentTemplate is a version of a cluster's chart. The name of the template object consists of name
// and version: templates are immutable, and a change needs a new version.
type K0rdentTemplate struct {
	// Name of the template without its version.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=200,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=aws-standalone-cp"`
	// Version of the chart, exact.
	Version string `json:"version" jsonschema:"required,minLength=1,example=1.0.43,pattern=^v?(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?$"`
	// Helm is the source of the chart; by default the chart with the template's name among kcm's
	// charts.
	Helm *K0rdentHelm `json:"helm,omitempty"`
	// Providers that the template needs; by default those that its chart names.
	Providers []string `json:"providers,omitempty" jsonschema:"example=infrastructure-aws"`
	// ProviderContracts are the versions of Cluster API's contract that each
	// provider must have.
	ProviderContracts map[string]string `json:"providerContracts,omitempty"`
	// K8sVersion is the Kubernetes version of the clusters.
	K8sVersion string `json:"k8sVersion,omitempty" jsonschema:"example=v1.34.1+k0s.0"`
}

// K0rdentHelm is a chart of a template.
type K0rdentHelm struct {
	// Chart is the name of the chart in a HelmRepository, or its path in a GitRepository; the
	// template's name by default.
	Chart string `json:"chart,omitempty" jsonschema:"example=aws-standalone-cp"`
	// SourceRef names one of the sources; kcm's own by default.
	SourceRef *NameRef `json:"sourceRef,omitempty"`
}

// K0rdentServiceTemplate is a version of a service that is installed in clusters: exactly one of a
// chart, a kustomization and plain resources.
type K0rdentServiceTemplate struct {
	// Name of the template without its version.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=200,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=ingress-nginx"`
	// Version of the template, and of its chart if it has one; exact.
	Version string `json:"version" jsonschema:"required,minLength=1,example=1.0.43,pattern=^v?(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?$"`
	// Helm is a chart.
	Helm *K0rdentHelm `json:"helm,omitempty"`
	// Kustomize is a kustomization.
	Kustomize *K0rdentContent `json:"kustomize,omitempty"`
	// Resources are plain manifests.
	Resources *K0rdentContent `json:"resources,omitempty"`
	// K8sConstraint is the range of Kubernetes versions that the service supports.
	K8sConstraint string `json:"k8sConstraint,omitempty" jsonschema:"example=>=1.30"`
}

// K0rdentContent is the source of a kustomization or manifests: one of the sources, or the template's
// own repository.
type K0rdentContent struct {
	// DeploymentType is Remote for objects of the deployed cluster, Local for
	// objects of the management cluster.
	DeploymentType string `json:"deploymentType,omitempty" jsonschema:"enum=Local,enum=Remote,default=Remote"`
	// Path in the source.
	Path string `json:"path,omitempty" jsonschema:"example=./deploy"`
	// SourceRef names one of the sources.
	SourceRef *NameRef `json:"sourceRef,omitempty"`
	// Remote is the template's own repository.
	Remote *K0rdentRemote `json:"remote,omitempty"`
}

// K0rdentRemote is the own repository of a template.
type K0rdentRemote struct {
	// URL of a Git repository, or of an OCI artifact.
	URL string `json:"url" jsonschema:"required,minLength=1,pattern=^(https?|ssh|oci)://,example=https://github.com/acme/manifests"`
	// Branch of a Git repository.
	Branch string `json:"branch,omitempty" jsonschema:"example=main"`
	// Tag of either.
	Tag string `json:"tag,omitempty" jsonschema:"example=v1.2.3"`
	// Interval at which the repository is checked.
	Interval Duration `json:"interval,omitempty" jsonschema:"default=10m"`
}

// K0rdentChain is a set of upgrade paths. The chain's object is immutable: its name contains the
// newest version and a checksum, so a change creates a new object, which the access rules then
// reference.
type K0rdentChain struct {
	// Name of the chain, by which access rules reference it.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=aws"`
	// Paths of upgrades.
	Paths []K0rdentPath `json:"paths" jsonschema:"required,minItems=1"`
}

// K0rdentPath are versions of one template, each of which may be upgraded to the
// next one.
type K0rdentPath struct {
	// Template is the name of a template without its version.
	Template string `json:"template" jsonschema:"required,minLength=1,example=aws-standalone-cp"`
	// Versions in upgrade order, each newer than the previous one; a single version has no upgrades.
	Versions []string `json:"versions" jsonschema:"required,minItems=1,example=1.0.43"`
}

// K0rdentNamespace is a namespace for clusters.
type K0rdentNamespace struct {
	// Name of the namespace.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=team-a"`
	// Labels of the namespace, for selectors of access rules.
	Labels map[string]string `json:"labels,omitempty"`
}

// K0rdentAccess is a rule of the AccessManagement: it distributes templates and credentials to some
// namespaces.
type K0rdentAccess struct {
	// Namespaces to which the rule distributes.
	Namespaces K0rdentNamespaces `json:"namespaces,omitempty"`
	// ClusterTemplateChains by their names in this specification.
	ClusterTemplateChains []string `json:"clusterTemplateChains,omitempty" jsonschema:"example=aws"`
	// ServiceTemplateChains by their names in this specification.
	ServiceTemplateChains []string `json:"serviceTemplateChains,omitempty" jsonschema:"example=ingress"`
	// Credentials by their names.
	Credentials []string `json:"credentials,omitempty" jsonschema:"example=aws"`
}

// K0rdentNamespaces selects namespaces with exactly one of its fields.
type K0rdentNamespaces struct {
	// All selects every namespace, including those that are created later.
	All bool `json:"all,omitempty"`
	// List of names.
	List []string `json:"list,omitempty" jsonschema:"minItems=1,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=team-a"`
	// Selector of labels.
	Selector *LabelSelector `json:"selector,omitempty"`
	// StringSelector is a label selector in kubectl's syntax.
	StringSelector string `json:"stringSelector,omitempty" jsonschema:"example=environment=production"`
}

// LabelSelector selects objects by labels (k8s.io/apimachinery, metav1); its conditions are combined
// with AND.
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
	// Operator between the label and the values.
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
	// Namespace of the ClusterDeployment. In a namespace other than the system namespace, it can use only templates and
	// credentials that an access rule distributes to it.
	Namespace string `json:"namespace,omitempty" jsonschema:"default=kcm-system,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// Labels of the ClusterDeployment, which MultiClusterServices select.
	Labels map[string]string `json:"labels,omitempty"`
	// Template from which the cluster is created.
	Template K0rdentTemplateRef `json:"template" jsonschema:"required"`
	// Credential for the cluster's infrastructure; kcm refuses a cluster without one.
	Credential string `json:"credential" jsonschema:"required,minLength=1,example=aws"`
	// Config are the values of the template's chart.
	Config map[string]any `json:"config,omitempty"`
	// DryRun checks the values and creates nothing.
	DryRun bool `json:"dryRun,omitempty"`
	// PropagateCredentials lets Sveltos render the credential's resource template in the cluster. By default it is true if
	// the credential has a resource template, except for clusters of the template gcp-gke.
	PropagateCredentials *bool `json:"propagateCredentials,omitempty"`
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
	// Namespace in the cluster into which the service is installed; default by default.
	Namespace string `json:"namespace,omitempty" jsonschema:"maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=ingress-nginx"`
	// Values of the template's chart; k0rdent stores them as a string.
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

// K0rdentCredential is a Credential with its identity, the encrypted Secret that the identity needs, and the ConfigMap
// with the resource template for clusters: exactly one of aws, azure, aks, gcp, openstack, vsphere, kubevirt, docker,
// remote, adopted, hetzner and other.
type K0rdentCredential struct {
	// Name of the Credential.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$,example=aws"`
	// Description for people.
	Description string `json:"description,omitempty" jsonschema:"example=AWS account of the shop"`
	// Region of k0rdent that the credential is for; it cannot be changed later.
	Region string `json:"region,omitempty" jsonschema:"example=eu"`
	// AWS is an AWSClusterStaticIdentity. Its Secret has the keys AccessKeyID and
	// SecretAccessKey.
	AWS *K0rdentAWS `json:"aws,omitempty"`
	// Azure is an AzureClusterIdentity. Its Secret has the key clientSecret.
	Azure *K0rdentAzure `json:"azure,omitempty"`
	// AKS is a Secret with the keys AZURE_CLIENT_ID, AZURE_CLIENT_SECRET, AZURE_SUBSCRIPTION_ID and
	// AZURE_TENANT_ID, which is also the identity: for the template azure-aks.
	AKS *K0rdentAKS `json:"aks,omitempty"`
	// GCP is a Secret with the key credentials, which is also the identity: the JSON key of a Google
	// service account. It is for the templates of virtual machines and of GKE.
	GCP *K0rdentGCP `json:"gcp,omitempty"`
	// OpenStack is a Secret with the key clouds.yaml, which is also the identity.
	OpenStack *K0rdentOpenStack `json:"openstack,omitempty"`
	// VSphere is a VSphereClusterIdentity. Its Secret has the keys username and
	// password.
	VSphere *K0rdentVSphere `json:"vsphere,omitempty"`
	// KubeVirt is a Secret with the key kubeconfig, which is also the identity: the kubeconfig of the
	// cluster that runs the virtual machines.
	KubeVirt *K0rdentKubeVirt `json:"kubevirt,omitempty"`
	// Docker is an empty Secret, which is also the identity; it is generated.
	Docker *K0rdentDocker `json:"docker,omitempty"`
	// Remote is a Secret with the key value, which is also the identity: the private SSH key for the
	// machines of the template remote-cluster.
	Remote *K0rdentMachines `json:"remote,omitempty"`
	// Adopted is a Secret with the key value, which is also the identity: the kubeconfig of an
	// existing cluster, for the template adopted-cluster.
	Adopted *K0rdentAdopted `json:"adopted,omitempty"`
	// Hetzner is a Secret with the key hcloud, which is also the identity: the API token of a project
	// in Hetzner Cloud, for cluster-api-provider-hetzner, which is not among kcm's own charts.
	Hetzner *K0rdentHetzner `json:"hetzner,omitempty"`
	// Other is the identity for any other infrastructure.
	Other *K0rdentOther `json:"other,omitempty"`
	// Keys of the Secret, and the sources of their values when it is created; by default environment
	// variables: AWS_ACCESS_KEY_ID for the key AccessKeyID of the credential aws, MUNICH_KUBECONFIG
	// for the cluster of the credential munich. With other, they have no default.
	Keys []SecretKey `json:"keys,omitempty" jsonschema:"minItems=1"`
	// ResourceTemplate is a template, in the template language of Sveltos, that Sveltos renders from the identity in each
	// cluster: the data of the ConfigMap NAME-resource-template. By default it creates the objects that the cloud
	// controllers and the storage drivers of azure, gcp, openstack and vsphere read, and is empty for the others.
	ResourceTemplate map[string]string `json:"resourceTemplate,omitempty"`
}

// K0rdentAWS is an AWSClusterStaticIdentity
// (infrastructure.cluster.x-k8s.io/v1beta2).
type K0rdentAWS struct {
	// SessionToken is set if the Secret also has the key SessionToken.
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

// K0rdentAKS is a Secret with a service principal, as Azure Service Operator reads it (kcm v1.11,
// config/dev/aks-credentials.yaml).
type K0rdentAKS struct{}

// K0rdentGCP is a Secret with the key of a Google service account (kcm v1.11,
// config/dev/gcp-credentials.yaml).
type K0rdentGCP struct{}

// K0rdentOpenStack is a Secret with clouds.yaml.
type K0rdentOpenStack struct {
	// CACert is set if the Secret also has the key cacert, the certificate authority of the cloud's API. Clusters then need
	// identityRef.caCert.secretName: openstack-ca-cert in their config.
	CACert bool `json:"caCert,omitempty"`
}

// K0rdentVSphere is a VSphereClusterIdentity
// (infrastructure.cluster.x-k8s.io/v1beta1, which every kcm since 1.6 knows).
type K0rdentVSphere struct {
	// Datacenters of the vCenter that the cloud controller and the storage driver use; by default the data centers of the
	// clusters with this credential (config.vsphere.datacenter), or all data centers if the clusters name none.
	Datacenters []string `json:"datacenters,omitempty" jsonschema:"minItems=1,example=munich-1"`
}

// K0rdentKubeVirt is a Secret with the kubeconfig of a cluster with KubeVirt (kcm v1.11,
// config/dev/kubevirt-credentials.yaml).
type K0rdentKubeVirt struct{}

// K0rdentDocker is a Secret without data (kcm v1.11, config/dev/docker-credentials.yaml).
type K0rdentDocker struct{}

// K0rdentMachines is a Secret with an SSH key (kcm v1.11, config/dev/remote-credentials.yaml).
type K0rdentMachines struct{}

// K0rdentAdopted is a Secret with a kubeconfig (kcm v1.11,
// config/dev/adopted-credentials.yaml).
type K0rdentAdopted struct{}

// K0rdentHetzner is a Secret for cluster-api-provider-hetzner.
type K0rdentHetzner struct {
	// Robot is set if the Secret also has the keys robot-user and robot-password, with which the provider manages bare metal
	// servers.
	Robot bool `json:"robot,omitempty"`
}

// K0rdentOther is the identity for an infrastructure that has no field of its own.
type K0rdentOther struct {
	// Identity is the object from which the infrastructure's provider takes the credential; without it,
	// the Secret itself is the identity.
	Identity *K0rdentIdentity `json:"identity,omitempty"`
}

// K0rdentIdentity is an object of the kind that a provider of Cluster API takes credentials from.
type K0rdentIdentity struct {
	// APIVersion of the object.
	APIVersion string `json:"apiVersion" jsonschema:"required,minLength=1,pattern=^[a-z0-9.-]+/v[a-z0-9]+$,example=infrastructure.cluster.x-k8s.io/v1beta2"`
	// Kind of the object.
	Kind string `json:"kind" jsonschema:"required,minLength=1,pattern=^[A-Z][A-Za-z0-9]*$,example=AWSClusterControllerIdentity"`
	// ClusterScoped is set for a kind without a namespace; otherwise the object is in the system namespace.
	ClusterScoped bool `json:"clusterScoped,omitempty"`
	// Spec of the object. If the object needs a Secret, the declared Secret is called NAME-secret.
	Spec map[string]any `json:"spec,omitempty"`
}
