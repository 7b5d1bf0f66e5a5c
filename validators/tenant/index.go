package tenant

import (
	"slices"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// index finds what the model of a cluster is made of, without looking at all objects again
// and again: there may be thousands of tenants.
type index struct {
	namespaces []*reconcile.Object
	// sources that have a URL.
	sources []*reconcile.Object
	// reconcilers and accounts (of the kind ServiceAccount) by namespace.
	reconcilers, accounts map[string][]*reconcile.Object
	// labelled are the accounts by the tenant that their label names.
	labelled map[string][]*reconcile.Object
	// used are the accounts that Flux applies something as, workloads those that pods run as.
	used, workloads map[account]bool
	// bound are the grants by the namespace that they hold in, "" for all; granted by the
	// account that they are for, its name "" for all of a namespace.
	bound   map[string][]grant
	granted map[account][]grant
	// subjects are the accounts that are granted something, by their namespace.
	subjects map[string][]account
	// scopes say whether the kinds of the cluster's own definitions are cluster-wide.
	scopes map[[2]string]bool
}

func indexOf(c *reconcile.Cluster, grants []grant) index {
	x := index{
		reconcilers: map[string][]*reconcile.Object{}, accounts: map[string][]*reconcile.Object{}, labelled: map[string][]*reconcile.Object{},
		used: map[account]bool{}, workloads: map[account]bool{}, bound: map[string][]grant{}, granted: map[account][]grant{}, subjects: map[string][]account{},
		scopes: map[[2]string]bool{},
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
		x.reconcilers[o.Namespace] = append(x.reconcilers[o.Namespace], o)
		x.used[account{o.Namespace, o.Text("spec", "serviceAccountName")}] = true
	case o.Group == appsGroup || o.Group == "batch" || o.Group == "" && o.Kind == "Pod":
		for _, path := range podSpecs {
			if name := o.Text(append(path[:len(path):len(path)], "serviceAccountName")...); name != "" {
				x.workloads[account{o.Namespace, name}] = true
			}
		}
	case o.Kind == "CustomResourceDefinition":
		x.scopes[[2]string{o.Text("spec", "group"), o.Text("spec", "names", "kind")}] = o.Text("spec", "scope") == "Cluster"
	}
}

// podSpecs are where the kinds that make pods have the pod's spec.
var podSpecs = [][]any{{"spec"}, {"spec", "template", "spec"}, {"spec", "jobTemplate", "spec", "template", "spec"}}

// sourceResources are the kinds of sources, with the name that policies call them by.
var sourceResources = map[string]string{
	"GitRepository": "gitrepositories", "OCIRepository": "ocirepositories", "HelmRepository": "helmrepositories", "Bucket": "buckets",
}
