package v1alpha1

import (
	"slices"
	"strings"
)

// ProductK0rdent is the name of the platform product k0rdent. Its folder has this name, and the names
// of its Kustomizations begin with it.
const ProductK0rdent = "k0rdent"

// ProductName returns the name of the product's folder.
func (k *K0rdent) ProductName() string { return ProductK0rdent }

// ManagementCluster returns the name of the cluster that manages k0rdent.
func (k *K0rdent) ManagementCluster() string { return k.Spec.Cluster }

// OwnNamespaces returns the namespace of kcm; the namespaces of k0rdent's clusters may also be
// tenants' namespaces.
func (k *K0rdent) OwnNamespaces() []string { return []string{K0rdentNamespaceName} }

// FluxNamespaces returns none, because k0rdent does not install Flux.
func (k *K0rdent) FluxNamespaces() []string { return nil }

// AddNamespace describes how to add a namespace to the object.
func (k *K0rdent) AddNamespace() string { return "add it to spec.namespaces of the K0rdent" }

// ByHand returns "", because kcm needs no manual step.
func (k *K0rdent) ByHand() string { return "" }

// Folders returns k0rdent's own folders in the platform repository.
func (k *K0rdent) Folders() []string { return []string{"kubernetes/k0rdent", "k0rdent"} }

// CopiesClusterKey returns false, because k0rdent does not copy the cluster's key.
func (k *K0rdent) CopiesClusterKey(_, _ string) bool { return false }

// K0rdentNamespaceName is the system namespace of k0rdent: kcm runs in it, and it contains templates,
// chains and credentials before they are distributed.
const K0rdentNamespaceName = "kcm-system"

// Names of kcm's own charts, and of its components in the Management (kcm v1.11, CoreKCMName and similar
// constants).
const (
	K0rdentKCM        = "kcm"
	K0rdentRegional   = "kcm-regional"
	K0rdentClusterAPI = "cluster-api"
)

// K0rdentCharts is the registry folder in which kcm's charts are published.
const K0rdentCharts = "oci://ghcr.io/k0rdent/kcm/charts"

// K0rdentTemplates is the HelmRepository of kcm's own charts, which kcm itself also creates.
const K0rdentTemplates = "kcm-templates"

// K0rdentObjectName returns the object name for a version of a template: name and version, with dashes instead
// of characters that names cannot contain (kcm v1.11, ReleaseNameFromVersion).
func K0rdentObjectName(name, version string) string {
	return name + "-" + strings.ToLower(strings.NewReplacer(".", "-", "+", "-").Replace(strings.TrimPrefix(version, "v")))
}

// ObjectName returns the object name of the referenced template.
func (r K0rdentTemplateRef) ObjectName() string { return K0rdentObjectName(r.Name, r.Version) }

// HasResourceRules reports whether AccessManagement has accessRules[].resources. The webhook of 1.12 converts
// the separate lists of older versions to it.
func (s *K0rdentSpec) HasResourceRules() bool { return AtLeast(s.Version, 1, 12) }

// Names of values of kcm's chart, below controller, that select the objects that kcm creates at its first installation.
const (
	K0rdentCreateManagement = "createManagement"
	K0rdentCreateRelease    = "createRelease"
	K0rdentCreateTemplates  = "createTemplates"
)

// Creates reports whether the values let kcm create the objects of one of these toggles itself.
func (s *K0rdentSpec) Creates(toggle string) bool {
	controller, _ := s.Values["controller"].(map[string]any)
	return controller[toggle] == true
}

// Matches reports whether a selector selects an object with the labels.
func (s *LabelSelector) Matches(labels map[string]string) bool {
	for key, value := range s.MatchLabels {
		if has, ok := labels[key]; !ok || has != value {
			return false
		}
	}
	for _, r := range s.MatchExpressions {
		if !r.matches(labels) {
			return false
		}
	}
	return true
}

func (r LabelRequirement) matches(labels map[string]string) bool {
	value, has := labels[r.Key]
	in := false
	for _, v := range r.Values {
		in = in || v == value
	}
	switch r.Operator {
	case "In":
		return has && in
	case "NotIn":
		return !has || !in
	case "Exists":
		return has
	}
	return !has
}

// Names of steps that other packages use.
const (
	K0rdentStepKCM         = "kcm"
	K0rdentStepCredentials = "credentials"
	K0rdentStepAccess      = "access"
	K0rdentStepClusters    = "clusters"
)

// NamespaceSteps returns the namespaces of a K0rdent, each with the step that creates it.
func (k *K0rdent) NamespaceSteps() map[string]string {
	out := map[string]string{}
	for name := range k.Spec.K0rdentNamespaceLabels() {
		out[name] = K0rdentStepAccess
	}
	out[K0rdentNamespaceName] = K0rdentStepKCM
	return out
}

// K0rdentNamespaceLabels returns the namespaces of a K0rdent, including its system namespace, with
// their labels.
func (s *K0rdentSpec) K0rdentNamespaceLabels() map[string]map[string]string {
	out := map[string]map[string]string{K0rdentNamespaceName: nil}
	for _, rule := range s.Access {
		for _, name := range rule.Namespaces.List {
			out[name] = nil
		}
	}
	for _, c := range s.ClusterDeployments {
		out[c.Namespace] = nil
	}
	for _, n := range s.Namespaces {
		out[n.Name] = n.Labels
	}
	return out
}

// Reach reports whether an access rule selects a namespace, and whether that is known. The labels of namespaces
// that are created elsewhere are unknown.
func (n K0rdentNamespaces) Reach(namespace string, labels map[string]string) (reaches, known bool) {
	switch {
	case n.List != nil:
		for _, name := range n.List {
			reaches = reaches || name == namespace
		}
		return reaches, true
	case n.Selector != nil:
		// A namespace may have more labels than those in the specification.
		return n.Selector.Matches(labels), n.Selector.Matches(labels)
	case n.StringSelector != "":
		return false, false
	}
	return n.All, true
}

// ApplyDefaults sets the defaults of a K0rdent.
func (k *K0rdent) ApplyDefaults(*Spec) {
	s := &k.Spec
	set(&s.ChartsURL, K0rdentCharts)
	set(&s.Timeout, "15m")
	for i := range s.Sources {
		set(&s.Sources[i].Kind, "HelmRepository")
		set(&s.Sources[i].Interval, defaultInterval)
	}
	for i := range s.Providers {
		if p := &s.Providers[i]; p.Helm != nil {
			defaultHelm(p.Helm, p.Name)
		}
	}
	for i := range s.ClusterTemplates {
		t := &s.ClusterTemplates[i]
		if t.Helm == nil {
			t.Helm = &K0rdentHelm{}
		}
		defaultHelm(t.Helm, t.Name)
	}
	for i := range s.ServiceTemplates {
		t := &s.ServiceTemplates[i]
		if t.Helm != nil {
			defaultHelm(t.Helm, t.Name)
		}
		for _, content := range []*K0rdentContent{t.Kustomize, t.Resources} {
			if content == nil {
				continue
			}
			set(&content.DeploymentType, "Remote")
			if content.Remote != nil {
				set(&content.Remote.Interval, defaultInterval)
			}
		}
	}
	for i := range s.Credentials {
		if c := &s.Credentials[i]; c.Keys == nil {
			c.Keys = c.defaultKeys()
		}
	}
	for i := range s.ClusterDeployments {
		set(&s.ClusterDeployments[i].Namespace, K0rdentNamespaceName)
	}
}

func defaultHelm(h *K0rdentHelm, name string) {
	set(&h.Chart, name)
	if h.SourceRef == nil {
		h.SourceRef = &NameRef{Name: K0rdentTemplates}
	}
}

// Holds returns the clusters that k0rdent deploys, as NAME.NAMESPACE. k0rdent deletes the machines of a removed
// cluster.
func (k *K0rdent) Holds() []Held {
	var out []Held
	for _, c := range k.Spec.ClusterDeployments {
		out = append(out, Held{"clusterDeployment", c.Name + "." + c.Namespace})
	}
	return out
}

// HasResourceTemplate reports whether Sveltos renders anything from the credential.
func (c K0rdentCredential) HasResourceTemplate() bool {
	if c.ResourceTemplate != nil {
		return len(c.ResourceTemplate) > 0
	}
	return c.Azure != nil || c.GCP != nil || c.OpenStack != nil || c.VSphere != nil
}

// gkeTemplate is the template of clusters whose cloud controller Google runs. k0rdent's documentation turns the
// propagation of credentials off for it (docs/quickstarts/quickstart-2-gcp.md).
const gkeTemplate = "gcp-gke"

// Propagates reports whether Sveltos renders the resource template of a cluster's credential in the cluster. If
// it does, the ConfigMap must exist in the cluster's namespace even if it is empty, because Sveltos otherwise
// deploys nothing at all (kcm v1.11, serviceset_controller.go).
func (s *K0rdentSpec) Propagates(d K0rdentCluster) bool {
	if d.PropagateCredentials != nil {
		return *d.PropagateCredentials
	}
	i := slices.IndexFunc(s.Credentials, func(c K0rdentCredential) bool { return c.Name == d.Credential })
	return i >= 0 && s.Credentials[i].HasResourceTemplate() && d.Template.Name != gkeTemplate
}

// PropagatedTo returns the namespaces of the clusters in which Sveltos renders a credential's resource
// template, without the system namespace. It returns none for a credential with a region, whose clusters are
// managed in another Kubernetes cluster.
func (s *K0rdentSpec) PropagatedTo(c K0rdentCredential) []string {
	var out []string
	for _, d := range s.ClusterDeployments {
		if d.Credential == c.Name && c.Region == "" && d.Namespace != K0rdentNamespaceName && s.Propagates(d) {
			out = append(out, d.Namespace)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
