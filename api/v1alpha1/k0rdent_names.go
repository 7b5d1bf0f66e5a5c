package v1alpha1

import (
	"strings"
)

// ProductK0rdent is the name of the platform product k0rdent: of its folder, and
// the prefix of its Kustomizations.
const ProductK0rdent = "k0rdent"

// ProductName is the name of the product's folder.
func (k *K0rdent) ProductName() string { return ProductK0rdent }

// ManagementCluster is the name of the cluster that manages k0rdent.
func (k *K0rdent) ManagementCluster() string { return k.Spec.Cluster }

// OwnNamespaces is kcm's: the clusters of k0rdent may be in namespaces of tenants.
func (k *K0rdent) OwnNamespaces() []string { return []string{K0rdentNamespaceName} }

// FluxNamespaces are none: k0rdent brings no Flux of its own.
func (k *K0rdent) FluxNamespaces() []string { return nil }

// AddNamespace says how the object gets another namespace.
func (k *K0rdent) AddNamespace() string { return "add it to spec.namespaces of the K0rdent" }

// Folders are k0rdent's own folders in the platform repository.
func (k *K0rdent) Folders() []string { return []string{"kubernetes/k0rdent", "k0rdent"} }

// CopiesClusterKey is false: k0rdent has no copy of the cluster's key.
func (k *K0rdent) CopiesClusterKey(_, _ string) bool { return false }

// K0rdentNamespaceName is the system namespace of k0rdent: kcm runs in it, and
// templates, chains and credentials stand in it before they are handed on.
const K0rdentNamespaceName = "kcm-system"

// Names of kcm's own charts, and of its components in the Management (kcm v1.11,
// CoreKCMName and its kin).
const (
	K0rdentKCM        = "kcm"
	K0rdentRegional   = "kcm-regional"
	K0rdentClusterAPI = "cluster-api"
)

// K0rdentCharts is where kcm's charts are published.
const K0rdentCharts = "oci://ghcr.io/k0rdent/kcm/charts"

// K0rdentTemplates is the source of kcm's own charts, which kcm keeps too.
const K0rdentTemplates = "kcm-templates"

// K0rdentObjectName is the name of the object for a version of something: both,
// with dashes for what no name may hold (kcm v1.11, ReleaseNameFromVersion).
func K0rdentObjectName(name, version string) string {
	return name + "-" + strings.ToLower(strings.NewReplacer(".", "-", "+", "-").Replace(strings.TrimPrefix(version, "v")))
}

// ObjectName is the name of the template that a reference names.
func (r K0rdentTemplateRef) ObjectName() string { return K0rdentObjectName(r.Name, r.Version) }

// HasResourceRules says whether AccessManagement has accessRules[].resources, of
// which 1.12's webhook makes what older versions have as lists of their own.
func (s *K0rdentSpec) HasResourceRules() bool { return AtLeast(s.Version, 1, 12) }

// Matches says whether a selector selects an object with some labels.
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

// Steps that others refer to.
const (
	K0rdentStepKCM         = "kcm"
	K0rdentStepCredentials = "credentials"
	K0rdentStepAccess      = "access"
)

// NamespaceSteps are the namespaces that a K0rdent names, and the steps that create them.
func (k *K0rdent) NamespaceSteps() map[string]string {
	out := map[string]string{}
	for name := range k.Spec.K0rdentNamespaceLabels() {
		out[name] = K0rdentStepAccess
	}
	out[K0rdentNamespaceName] = K0rdentStepKCM
	return out
}

// K0rdentNamespaceLabels are the namespaces that a K0rdent names, its own among
// them, with the labels that it gives them.
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

// Reach says whether a rule of access is for a namespace, and whether that is
// known: the labels of namespaces that others make are not.
func (n K0rdentNamespaces) Reach(namespace string, labels map[string]string) (reaches, known bool) {
	switch {
	case n.List != nil:
		for _, name := range n.List {
			reaches = reaches || name == namespace
		}
		return reaches, true
	case n.Selector != nil:
		// A namespace may have more labels than the specification gives it.
		return n.Selector.Matches(labels), n.Selector.Matches(labels)
	case n.StringSelector != "":
		return false, false
	}
	return n.All, true
}

// ApplyDefaults fills in what a K0rdent leaves out.
func (k *K0rdent) ApplyDefaults(*Spec) {
	s := &k.Spec
	set(&s.ChartsURL, K0rdentCharts)
	set(&s.Timeout, "15m")
	for i := range s.Sources {
		set(&s.Sources[i].Kind, "HelmRepository")
		set(&s.Sources[i].Interval, defaultInterval)
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
