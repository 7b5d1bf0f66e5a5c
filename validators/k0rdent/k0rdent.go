// Package k0rdent holds the rules about management clusters of k0rdent: they find objects that kcm's webhooks and
// controllers would refuse, before they are pushed. The requirements were taken from kcm v1.11.4 and v1.12.0-rc2
// (internal/webhook, internal/controller).
package k0rdent

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/flux"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

const (
	group       = schemas.K0rdentGroup
	system      = "kcm-system"
	accessKind  = "AccessManagement"
	clusterKind = "ClusterDeployment"
	serviceKind = "MultiClusterService"
	credential  = "Credential"
	release     = "Release"
	management  = "Management"
	region      = "Region"
	dataSource  = "DataSource"
	auditPolicy = "ClusterAuditPolicy"
	clusterAuth = "ClusterAuthentication"
)

// The kinds of templates and of their chains, which list possible upgrades.
const (
	clusterTemplate  = "ClusterTemplate"
	serviceTemplate  = "ServiceTemplate"
	providerTemplate = "ProviderTemplate"
	clusterChain     = "ClusterTemplateChain"
	serviceChain     = "ServiceTemplateChain"
)

// managementCluster holds the objects of k0rdent that are applied to one management cluster, and the objects that they
// need.
type managementCluster struct {
	*platform.ManagementCluster
	// namespaces are the Namespaces by name.
	namespaces map[string]*reconcile.Object
	// kcm is kcm's HelmRelease; nil if it is not in Git.
	kcm *install
	// charts are the other HelmReleases, by the namespace that they install to: the objects of their charts are unknown.
	charts map[string]*reconcile.Object
	// several are the identities that more than one object has.
	several map[reconcile.Identity]bool
	// secrets are the Secrets that controllers create from objects in Git.
	secrets map[reconcile.Identity]bool
	// elsewhereOf are the namespaces that have an object, by its identity without the namespace; nil before the first
	// use.
	elsewhereOf map[reconcile.Identity][]string
	// identities are the kinds of identities that the ProviderInterfaces in Git name, by provider.
	identities map[string][]string
	// distributions caches the objects that the AccessManagement distributes, by kind and namespace. steps counts the
	// work, up to a limit.
	distributions map[[2]string]*distribution
	steps         int
}

var tooMuchOf = fmt.Sprintf("its cluster has more than %d access rules, chains and providers", limits.Comparisons)

// exceedsLimit reports whether the checks of the cluster exceed their limit. The first time, it reports that a question
// about an object, and all later ones, are not checked.
func (w *managementCluster) exceedsLimit(o *reconcile.Object, question string, path ...any) bool {
	if w.steps <= limits.Comparisons {
		return false
	}
	w.Exceeded(o, fmt.Sprintf("whether %s %s, like everything that is checked after it,", o, question), tooMuchOf, path...)
	return true
}

// managementClusters returns the management clusters of a repository.
func managementClusters(p *rule.Pass) []*managementCluster {
	var out []*managementCluster
	for _, of := range platform.ManagementClusters(p, flux.Doubts, group) {
		out = append(out, newManagementCluster(of))
	}
	return out
}

func newManagementCluster(of *platform.ManagementCluster) *managementCluster {
	w := &managementCluster{
		ManagementCluster: of, namespaces: map[string]*reconcile.Object{}, charts: map[string]*reconcile.Object{}, secrets: map[reconcile.Identity]bool{},
		several: map[reconcile.Identity]bool{}, identities: map[string][]string{}, distributions: map[[2]string]*distribution{},
	}
	for _, o := range of.Objects {
		w.add(o)
	}
	return w
}

func (w *managementCluster) add(o *reconcile.Object) {
	for _, id := range o.Creates() {
		w.secrets[id] = true
	}
	w.several[o.Identity] = w.All[o.Identity] != o || w.several[o.Identity]
	switch {
	case o.Group == group && o.Kind == "ProviderInterface":
		of := o.Label("cluster.x-k8s.io/provider")
		w.identities[of] = append(w.identities[of], texts(o.List("spec", "clusterIdentityKinds"))...)
		for i := range o.List("spec", "clusterIdentities") {
			w.identities[of] = append(w.identities[of], o.Text("spec", "clusterIdentities", i, "kind"))
		}
	case o.Group == "" && o.Kind == "Namespace":
		w.namespaces[o.Name] = o
	case o.Group == fluxapi.HelmGroup && o.Kind == "HelmRelease" && o.Name == "kcm":
		w.kcm = w.installOf(o)
	case o.Group == fluxapi.HelmGroup && o.Kind == "HelmRelease":
		w.charts[cmp.Or(o.Text("spec", "targetNamespace"), o.Namespace)] = o
	}
}

// reference returns the reference at a path of an object to an object of k0rdent.
func reference(from *reconcile.Object, kind, namespace string, path ...any) platform.Reference {
	return platform.Of(from, group, kind, namespace, path...)
}

// exists reports whether an object that Git does not have in its namespace exists because the AccessManagement
// distributes it or kcm creates it. doubt is the reason if that is unknown.
func (w *managementCluster) exists(r platform.Reference) (is bool, doubt string) {
	if r.Namespace != "" && r.Namespace != system {
		if is, doubt := w.isDistributed(r); is || doubt != "" {
			return is, doubt
		}
	}
	if doubt := w.Doubt(r); doubt != "" {
		return false, doubt
	}
	return w.created(r)
}

// lacks reports an object that lacks something. Without a cluster, the object may be a base that an overlay completes, so
// the question is unresolved.
func (w *managementCluster) lacks(p *rule.Pass, o *reconcile.Object, f finding.Finding, what string, path ...any) {
	if w.Cluster == nil {
		p.UnresolvedFor(o.Position(path...), fmt.Sprintf("whether %s gets %s", o, what), w.Partial)
		return
	}
	p.ReportBuilt(o, f, path...)
}

// distribution holds the objects of one kind that the AccessManagement distributes to a namespace: names, and open with
// the names for which that is unknown and the reasons. doubt is the reason why there may be more names.
type distribution struct {
	names map[string]bool
	open  map[string]string
	doubt string
}

// isDistributed reports whether a rule of the AccessManagement distributes an object to its namespace. doubt is the
// reason if that is unknown.
func (w *managementCluster) isDistributed(r platform.Reference) (is bool, doubt string) {
	key := [2]string{r.Kind, r.Namespace}
	if w.distributions[key] == nil {
		h := &distribution{names: map[string]bool{}, open: map[string]string{}}
		w.distributions[key] = h
		for _, o := range w.Of(accessKind) {
			for i := range o.List("spec", "accessRules") {
				w.follow(h, o, i, r.Kind, r.Namespace)
			}
		}
	}
	h := w.distributions[key]
	if h.names[r.Name] {
		return true, ""
	}
	return false, cmp.Or(h.open[r.Name], h.doubt)
}

// tooMuch is the reason why not all distributed objects are known.
const tooMuch = "the access rules exceed the limit"

// tooMuch records that the rules of an AccessManagement are not followed any further.
func (w *managementCluster) tooMuch(h *distribution, o *reconcile.Object) {
	h.doubt = tooMuch
	w.Exceeded(o, fmt.Sprintf("the distribution by %s", o), tooMuchOf, "spec", "accessRules")
}

// follow adds the objects that one access rule distributes to a namespace.
func (w *managementCluster) follow(h *distribution, o *reconcile.Object, i int, kind, namespace string) {
	if w.steps += 1 + len(o.List("spec", "accessRules", i, "targetNamespaces", "list")); w.steps > limits.Comparisons {
		w.tooMuch(h, o)
		return
	}
	reaches, open := w.reaches(o, namespace, i)
	if !reaches && open == "" {
		return
	}
	chain := map[string]string{clusterTemplate: clusterChain, serviceTemplate: serviceChain}[kind]
	names, all := objectsOfRule(o, i, cmp.Or(chain, kind))
	if all {
		w.steps += len(w.Own)
		names = w.Names(group, cmp.Or(chain, kind), system)
	}
	for _, name := range names {
		found := []string{name}
		if chain != "" {
			c := w.All[reconcile.Identity{Group: group, Kind: chain, Namespace: system, Name: name}]
			if c == nil { // reported by another rule
				h.doubt = "the AccessManagement distributes " + chain + " " + name + ", which does not exist"
				continue
			}
			found = supported(c)
		}
		if w.steps += len(found); w.steps > limits.Comparisons {
			w.tooMuch(h, o)
			return
		}
		for _, name := range found {
			if reaches {
				h.names[name] = true
			} else {
				h.open[name] = open
			}
		}
	}
}

// reaches reports whether an access rule applies to a namespace. doubt is the reason if that is unknown.
func (w *managementCluster) reaches(o *reconcile.Object, namespace string, i int) (is bool, doubt string) {
	at := []any{"spec", "accessRules", i, "targetNamespaces"}
	field := func(name string) any { return o.Field(append(slices.Clone(at), name)...) }
	list, _ := field("list").([]any)
	switch {
	case len(list) > 0:
		return slices.Contains(list, any(namespace)), ""
	case field("stringSelector") != nil && field("stringSelector") != "":
		return false, "the namespaces that a rule's stringSelector selects are unknown"
	case !platform.IsEmpty(field("selector")):
		ns := w.namespaces[namespace]
		if ns == nil {
			return false, "the labels of namespace " + namespace + " are not in Git"
		}
		labels, _ := ns.Field("metadata", "labels").(map[string]any)
		return platform.Selects(field("selector"), labels), ""
	}
	return true, ""
}

// accessLists are the fields of an access rule up to k0rdent 1.11, by the kind of the distributed objects.
var accessLists = map[string]string{
	clusterChain: "clusterTemplateChains", serviceChain: "serviceTemplateChains", credential: "credentials",
	clusterAuth: "clusterAuthentications", dataSource: "dataSources", auditPolicy: "clusterAuditPolicies",
}

// objectsOfRule returns the names of the objects of a kind that an access rule distributes, in either version of its
// schema. all reports whether it distributes all objects of the kind.
func objectsOfRule(o *reconcile.Object, i int, kind string) (names []string, all bool) {
	names = texts(o.List("spec", "accessRules", i, accessLists[kind]))
	for j := range o.List("spec", "accessRules", i, "resources") {
		at := []any{"spec", "accessRules", i, "resources", j}
		if o.Text(append(slices.Clone(at), "kind")...) != kind {
			continue
		}
		list := o.List(append(slices.Clone(at), "names")...)
		names = append(names, texts(list)...)
		all = all || len(list) == 0
	}
	return names, all
}

func texts(list []any) []string {
	var out []string
	for _, item := range list {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// supported returns the names of the templates of a chain.
func supported(chain *reconcile.Object) []string {
	var out []string
	for i := range chain.List("spec", "supportedTemplates") {
		out = append(out, chain.Text("spec", "supportedTemplates", i, "name"))
	}
	return out
}
