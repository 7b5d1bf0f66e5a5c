package tenant

import (
	"slices"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// index holds lookup tables for the objects of a cluster, so that the model of its tenants is built without
// searching all objects repeatedly. There may be thousands of tenants.
type index struct {
	namespaces []*reconcile.Object
	// sources are the sources that have a URL.
	sources []*reconcile.Object
	// reconcilers and accounts (ServiceAccounts) by namespace.
	reconcilers, accounts map[string][]*reconcile.Object
	// labelled are the service accounts by the tenant that their label names.
	labelled map[string][]*reconcile.Object
	// used are the service accounts with which Flux applies objects. workloads are the service accounts of pods.
	used, workloads map[account]bool
	// runs are the namespaces of the Kustomizations that apply workloads to a namespace, by that namespace.
	runs map[string]map[string]bool
	// bound are the grants by the namespace in which they are valid, "" for all. granted are the grants by
	// account; the name "" means all accounts of the namespace.
	bound   map[string][]grant
	granted map[account][]grant
	// subjects are the accounts with grants, by namespace.
	subjects map[string][]account
	// scopes reports, for the kinds that the cluster itself defines, whether they are cluster-scoped.
	scopes map[[2]string]bool
}

func indexOf(c *reconcile.Cluster, grants []grant) index {
	x := index{
		reconcilers: map[string][]*reconcile.Object{}, accounts: map[string][]*reconcile.Object{}, labelled: map[string][]*reconcile.Object{},
		used: map[account]bool{}, workloads: map[account]bool{}, bound: map[string][]grant{}, granted: map[account][]grant{}, subjects: map[string][]account{},
		scopes: map[[2]string]bool{}, runs: map[string]map[string]bool{},
	}
	for _, o := range c.Objects() {
		x.add(o)
	}
	for _, g := range grants {
		x.bound[g.namespace] = append(x.bound[g.namespace], g)
		if g.other || g.account == (account{}) {
			continue
		}
		x.granted[g.account] = append(x.granted[g.account], g)
		if known := x.subjects[g.account.namespace]; g.account.name != "" && !slices.Contains(known, g.account) {
			x.subjects[g.account.namespace] = append(known, g.account)
		}
	}
	return x
}

func (x *index) add(o *reconcile.Object) {
	switch {
	case o.Group == "" && o.Kind == "Namespace":
		x.namespaces = append(x.namespaces, o)
	case o.Group == "" && o.Kind == "ServiceAccount":
		x.accounts[o.Namespace] = append(x.accounts[o.Namespace], o)
		if label := o.Label(labelTenant); label != "" {
			x.labelled[label] = append(x.labelled[label], o)
		}
	case o.Group == fluxapi.SourceGroup && sourceResources[o.Kind] != "":
		x.sources = append(x.sources, o)
	case isReconciler(o):
		if o.Kind == "HelmRelease" {
			x.runIn(o)
		}
		x.reconcilers[o.Namespace] = append(x.reconcilers[o.Namespace], o)
		x.used[account{o.Namespace, o.Text("spec", "serviceAccountName")}] = true
	case o.Group == appsGroup || o.Group == "batch" || o.Group == "" && o.Kind == "Pod":
		x.runIn(o)
		for _, path := range podSpecs {
			if name := o.Text(append(path[:len(path):len(path)], "serviceAccountName")...); name != "" {
				x.workloads[account{o.Namespace, name}] = true
			}
		}
	case o.Kind == "CustomResourceDefinition":
		x.scopes[[2]string{o.Text("spec", "group"), o.Text("spec", "names", "kind")}] = o.Text("spec", "scope") == "Cluster"
	}
}

// runIn records which Kustomization runs a workload or a release in its namespace.
func (x *index) runIn(o *reconcile.Object) {
	if o.Kustomization == nil {
		return
	}
	if x.runs[o.Namespace] == nil {
		x.runs[o.Namespace] = map[string]bool{}
	}
	x.runs[o.Namespace][o.Kustomization.Namespace] = true
}

// podSpecs are the paths of the pod specification in the kinds that create pods.
var podSpecs = [][]any{{"spec"}, {"spec", "template", "spec"}, {"spec", "jobTemplate", "spec", "template", "spec"}}

// sourceResources maps the kinds of sources to their resource names in policies.
var sourceResources = map[string]string{
	"GitRepository": "gitrepositories", "OCIRepository": "ocirepositories", "HelmRepository": "helmrepositories", "Bucket": "buckets",
}
