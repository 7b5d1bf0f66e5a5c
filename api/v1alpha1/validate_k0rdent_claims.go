package v1alpha1

import (
	"path"
	"slices"
)

// Names of kcm's own charts, and of its components in the Management (kcm v1.11,
// CoreKCMName and its kin).
const (
	K0rdentKCM         = "kcm"
	K0rdentRegional    = "kcm-regional"
	K0rdentClusterAPI  = "cluster-api"
	k0rdentCAPIRelease = "capi"
)

// derived notes the objects whose names are derived, and reports those that two things
// come to. A component of the Management and a ClusterDeployment are HelmReleases of
// their own name (kcm v1.11, ReconcileHelmRelease).
func (c *k0rdentChecker) derived() {
	s := &c.of.Spec
	note := func(p *fieldPath, by, kind, namespace, name string) {
		if name != "" {
			c.makes(claim{p, by, "choose another name"}, "", kind+" "+path.Join(namespace, name))
		}
	}
	const itself = "kcm itself"
	for _, chart := range []string{K0rdentKCM, K0rdentRegional} {
		note(nil, itself, "ProviderTemplate", "", K0rdentObjectName(chart, s.Version))
	}
	note(nil, itself, "ProviderTemplate", "", K0rdentObjectName(K0rdentClusterAPI, s.CAPI.Version))
	for _, name := range []string{K0rdentKCM, k0rdentCAPIRelease} {
		note(nil, itself, "HelmRelease", K0rdentNamespaceName, name)
	}
	note(nil, itself, SourceOCI, K0rdentNamespaceName, K0rdentKCM)
	for i, p := range s.Providers {
		at, by := at("spec", "providers").item(i).child("name"), "provider "+quote(p.Name)
		note(at, by, "ProviderTemplate", "", K0rdentObjectName(p.Name, p.Version))
		if !p.Disabled {
			note(at, by, "HelmRelease", K0rdentNamespaceName, p.Name)
		}
	}
	for i, x := range s.Sources {
		note(at("spec", "sources").item(i).child("name"), "source "+quote(x.Name), x.Kind, K0rdentNamespaceName, x.Name)
	}
	for i, x := range s.Credentials {
		note(at("spec", "credentials").item(i).child("name"), "credential "+quote(x.Name), "Secret", K0rdentNamespaceName, x.SecretName())
	}
	for i, d := range s.ClusterDeployments {
		note(at("spec", "clusterDeployments").item(i).child("name"), "cluster "+quote(d.Namespace+"/"+d.Name), "HelmRelease", d.Namespace, d.Name)
	}
}

// ownNamespaces refuses to give the namespaces of the cluster's own controllers to
// clusters: their users could read what those run with, and their labels would be Git's.
func (c *k0rdentChecker) ownNamespaces() {
	check := func(p *fieldPath, namespace string) {
		if slices.Contains(controllerNamespaces, namespace) {
			c.fail(c.of, p, "choose another namespace", "namespace %s belongs to the cluster's own controllers", quote(namespace))
		}
	}
	for i, n := range c.of.Spec.Namespaces {
		check(at("spec", "namespaces").item(i).child("name"), n.Name)
	}
	for i, rule := range c.of.Spec.Access {
		for j, name := range rule.Namespaces.List {
			check(at("spec", "access").item(i).child("namespaces").child("list").item(j), name)
		}
	}
	for i, d := range c.of.Spec.ClusterDeployments {
		check(at("spec", "clusterDeployments").item(i).child("namespace"), d.Namespace)
	}
}
