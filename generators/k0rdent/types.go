package k0rdent

import (
	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
)

// The objects of k0rdent, with the fields that are generated (k0rdent.mirantis.com/v1beta1, kcm v1.11 and v1.12).

const apiVersion = "k0rdent.mirantis.com/v1beta1"

type (
	metadata = emit.Metadata
	object   = emit.Object
)

// componentLabel returns the label of objects that kcm backs up (kcm api/v1beta1, GenericComponentNameLabel).
func componentLabel() map[string]string {
	return map[string]string{v1alpha1.LabelK0rdentComponent: "kcm"}
}

func newObject(kind string, m metadata, spec any) object {
	return object{APIVersion: apiVersion, Kind: kind, Metadata: m, Spec: spec}
}

type templateName struct {
	Name     string `json:"name,omitempty"`
	Template string `json:"template"`
}

type releaseSpec struct {
	Version   string         `json:"version"`
	KCM       templateName   `json:"kcm"`
	Regional  templateName   `json:"regional"`
	CAPI      templateName   `json:"capi"`
	Providers []templateName `json:"providers,omitempty"`
}

type managementSpec struct {
	Release   string             `json:"release"`
	Core      managementCore     `json:"core"`
	Providers []managedComponent `json:"providers,omitempty"`
}

type managementCore struct {
	KCM  managedComponent  `json:"kcm"`
	CAPI *managedComponent `json:"capi,omitempty"`
}

type managedComponent struct {
	Name     string         `json:"name,omitempty"`
	Template string         `json:"template,omitempty"`
	Config   map[string]any `json:"config,omitempty"`
}

type sourceRef struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

type chartSpec struct {
	Chart     string    `json:"chart"`
	Version   string    `json:"version,omitempty"`
	Interval  string    `json:"interval"`
	SourceRef sourceRef `json:"sourceRef"`
}

type helmSpec struct {
	ChartSpec chartSpec `json:"chartSpec"`
}

type templateSpec struct {
	Helm              *helmSpec         `json:"helm,omitempty"`
	Kustomize         *contentSpec      `json:"kustomize,omitempty"`
	Resources         *contentSpec      `json:"resources,omitempty"`
	Providers         []string          `json:"providers,omitempty"`
	ProviderContracts map[string]string `json:"providerContracts,omitempty"`
	K8sVersion        string            `json:"k8sVersion,omitempty"`
	K8sConstraint     string            `json:"k8sConstraint,omitempty"`
	Version           string            `json:"version,omitempty"`
}

type contentSpec struct {
	DeploymentType   string      `json:"deploymentType"`
	Path             string      `json:"path,omitempty"`
	LocalSourceRef   *sourceRef  `json:"localSourceRef,omitempty"`
	RemoteSourceSpec *remoteSpec `json:"remoteSourceSpec,omitempty"`
}

type remoteSpec struct {
	Git *remoteSource `json:"git,omitempty"`
	OCI *remoteSource `json:"oci,omitempty"`
}

type remoteSource struct {
	Interval string     `json:"interval"`
	URL      string     `json:"url"`
	Ref      *sourceTag `json:"ref,omitempty"`
}

type sourceTag struct {
	Branch string `json:"branch,omitempty"`
	Tag    string `json:"tag,omitempty"`
}

type chainSpec struct {
	SupportedTemplates []supportedTemplate `json:"supportedTemplates"`
}

type supportedTemplate struct {
	Name              string    `json:"name"`
	AvailableUpgrades []upgrade `json:"availableUpgrades,omitempty"`
}

type upgrade struct {
	Name string `json:"name"`
}

type accessSpec struct {
	AccessRules []accessRule `json:"accessRules"`
}

// accessRule has lists up to k0rdent 1.11, and the field resources from 1.12 on.
type accessRule struct {
	TargetNamespaces      *targetNamespaces `json:"targetNamespaces,omitempty"`
	ClusterTemplateChains []string          `json:"clusterTemplateChains,omitempty"`
	ServiceTemplateChains []string          `json:"serviceTemplateChains,omitempty"`
	Credentials           []string          `json:"credentials,omitempty"`
	Resources             []resourceRule    `json:"resources,omitempty"`
}

type targetNamespaces struct {
	List           []string                `json:"list,omitempty"`
	Selector       *v1alpha1.LabelSelector `json:"selector,omitempty"`
	StringSelector string                  `json:"stringSelector,omitempty"`
}

type resourceRule struct {
	APIGroup string   `json:"apiGroup"`
	Kind     string   `json:"kind"`
	Names    []string `json:"names"`
}

type credentialSpec struct {
	Description string      `json:"description,omitempty"`
	Region      string      `json:"region,omitempty"`
	IdentityRef identityRef `json:"identityRef"`
}

type identityRef struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Namespace  string `json:"namespace,omitempty"`
}

type clusterSpec struct {
	Template             string         `json:"template"`
	Credential           string         `json:"credential,omitempty"`
	PropagateCredentials *bool          `json:"propagateCredentials,omitempty"`
	DryRun               bool           `json:"dryRun,omitempty"`
	Config               map[string]any `json:"config,omitempty"`
	ServiceSpec          map[string]any `json:"serviceSpec,omitempty"`
}

type multiClusterServiceSpec struct {
	ClusterSelector v1alpha1.LabelSelector `json:"clusterSelector"`
	DependsOn       []string               `json:"dependsOn,omitempty"`
	ServiceSpec     map[string]any         `json:"serviceSpec"`
}
