package k0rdent

import (
	"path"
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/specs/check"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// capiRelease is the name of the HelmRelease of Cluster API.
const capiRelease = "capi"

// derived records the objects whose names are derived, and reports an object that has two
// origins. A component of the Management and a ClusterDeployment are HelmReleases with
// the same name (kcm v1.11, ReconcileHelmRelease).
func (c *checker) derived() {
	s := &c.of.Spec
	note := func(p *strict.Path, by, kind, namespace, name string) {
		if name != "" {
			c.Record(check.Claim{Path: p, By: by, Way: "choose another name"}, "", kind+" "+path.Join(namespace, name))
		}
	}
	const itself = "kcm itself"
	for _, chart := range []string{v1alpha1.K0rdentKCM, v1alpha1.K0rdentRegional} {
		note(nil, itself, "ProviderTemplate", "", v1alpha1.K0rdentObjectName(chart, s.Version))
	}
	note(nil, itself, "ProviderTemplate", "", v1alpha1.K0rdentObjectName(v1alpha1.K0rdentClusterAPI, s.CAPI.Version))
	for _, name := range []string{v1alpha1.K0rdentKCM, capiRelease} {
		note(nil, itself, "HelmRelease", v1alpha1.K0rdentNamespaceName, name)
	}
	note(nil, itself, v1alpha1.SourceOCI, v1alpha1.K0rdentNamespaceName, v1alpha1.K0rdentKCM)
	for i, p := range s.Providers {
		at, by := strict.At("spec", "providers").Item(i).Child("name"), "provider "+strict.Quote(p.Name)
		note(at, by, "ProviderTemplate", "", v1alpha1.K0rdentObjectName(p.Name, p.Version))
		if !p.Disabled {
			note(at, by, "HelmRelease", v1alpha1.K0rdentNamespaceName, p.Name)
		}
	}
	for i, x := range s.Sources {
		note(strict.At("spec", "sources").Item(i).Child("name"), "source "+strict.Quote(x.Name), x.Kind, v1alpha1.K0rdentNamespaceName, x.Name)
	}
	for i, x := range s.Credentials {
		for _, namespace := range append([]string{v1alpha1.K0rdentNamespaceName}, s.PropagatedTo(x)...) {
			note(strict.At("spec", "credentials").Item(i).Child("name"), "credential "+strict.Quote(x.Name), "Secret", namespace, x.SecretName())
		}
	}
	for i, d := range s.ClusterDeployments {
		note(strict.At("spec", "clusterDeployments").Item(i).Child("name"), "cluster "+strict.Quote(d.Namespace+"/"+d.Name), "HelmRelease", d.Namespace, d.Name)
	}
}

// ownNamespaces reports clusters in the namespaces of the cluster's own controllers:
// their users could read the controllers' Secrets, and Git would set the namespaces' labels.
func (c *checker) ownNamespaces() {
	notOwn := func(p *strict.Path, namespace string) {
		if slices.Contains(check.ControllerNamespaces, namespace) {
			c.Fail(c.of, p, "choose another namespace", "namespace %s belongs to the cluster's own controllers", strict.Quote(namespace))
		}
	}
	for i, n := range c.of.Spec.Namespaces {
		notOwn(strict.At("spec", "namespaces").Item(i).Child("name"), n.Name)
	}
	for i, rule := range c.of.Spec.Access {
		for j, name := range rule.Namespaces.List {
			notOwn(strict.At("spec", "access").Item(i).Child("namespaces").Child("list").Item(j), name)
		}
	}
	for i, d := range c.of.Spec.ClusterDeployments {
		notOwn(strict.At("spec", "clusterDeployments").Item(i).Child("namespace"), d.Namespace)
	}
}
