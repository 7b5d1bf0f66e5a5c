// Package k0rdent holds the rules about management clusters of k0rdent: what kcm's
// webhooks and controllers would refuse, found before it is pushed. What they
// refuse was read off kcm v1.11.4 and v1.12.0-rc2 (internal/webhook,
// internal/controller).
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

// The kinds of templates, and of the chains of their upgrades.
const (
	clusterTemplate  = "ClusterTemplate"
	serviceTemplate  = "ServiceTemplate"
	providerTemplate = "ProviderTemplate"
	clusterChain     = "ClusterTemplateChain"
	serviceChain     = "ServiceTemplateChain"
)

// world is what is applied to one cluster, as far as it is k0rdent's.
type world struct {
	*platform.World
	// namespaces by name.
	namespaces map[string]*reconcile.Object
	// kcm is its HelmRelease; nil where Git doesn't hold it.
	kcm *install
	// charts are HelmReleases other than kcm's by the namespace that they install to: what they
	// bring isn't looked into.
	charts map[string]*reconcile.Object
	// several are the identities that more than one object has.
	several map[reconcile.Identity]bool
	// secrets are those that controllers make of what Git holds.
	secrets map[reconcile.Identity]bool
	// elsewhereOf are the namespaces with an object of a name, by its identity without one; nil until
	// it is asked for.
	elsewhereOf map[reconcile.Identity][]string
	// identities are the kinds of identities that the ProviderInterfaces in Git name, by provider.
	identities map[string][]string
	// handedOn is what the AccessManagement hands to namespaces, computed when it
	// is first asked for; steps bound the work.
	handedOn map[[2]string]*handed
	steps    int
}

var tooMuchOf = fmt.Sprintf("its cluster has more than %d access rules, chains and providers", limits.Comparisons)

// spent says whether there is more on a cluster than is followed, and reports the first time that a
// question about an object, and those after it, is not checked.
func (w *world) spent(o *reconcile.Object, question string, path ...any) bool {
	if w.steps <= limits.Comparisons {
		return false
	}
	w.Exceeded(o, fmt.Sprintf("whether %s %s, and what comes after it,", o, question), tooMuchOf, path...)
	return true
}

// worlds are the management clusters of a repository.
func worlds(p *rule.Pass) []*world {
	var out []*world
	for _, of := range platform.Worlds(p, flux.Doubts, group) {
		out = append(out, newWorld(of))
	}
	return out
}

func newWorld(of *platform.World) *world {
	w := &world{
		World: of, namespaces: map[string]*reconcile.Object{}, charts: map[string]*reconcile.Object{}, secrets: map[reconcile.Identity]bool{},
		several: map[reconcile.Identity]bool{}, identities: map[string][]string{}, handedOn: map[[2]string]*handed{},
	}
	for _, o := range of.Objects {
		w.add(o)
	}
	return w
}

func (w *world) add(o *reconcile.Object) {
	for _, made := range o.Creates() {
		w.secrets[made] = true
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

// references are made of what an object names.
func reference(from *reconcile.Object, kind, namespace string, path ...any) platform.Reference {
	return platform.Of(from, group, kind, namespace, path...)
}

// there says whether what Git doesn't hold at its place is handed to its namespace by
// the AccessManagement, and why that, or whether kcm makes it, can't be told.
func (w *world) there(r platform.Reference) (is bool, doubt string) {
	if r.Namespace != "" && r.Namespace != system {
		if is, doubt := w.handed(r); is || doubt != "" {
			return is, doubt
		}
	}
	if doubt := w.Doubt(r); doubt != "" {
		return false, doubt
	}
	return w.made(r)
}

// lacks reports an object that lacks something. Where no cluster says how it is applied it may be a
// base that others fill in, and is unresolved.
func (w *world) lacks(p *rule.Pass, o *reconcile.Object, f finding.Finding, what string, path ...any) {
	if w.Cluster == nil {
		p.UnresolvedFor(o.Position(path...), fmt.Sprintf("whether %s gets %s", o, what), w.Partial)
		return
	}
	p.ReportBuilt(o, f, path...)
}

// handed is what the AccessManagement hands to a namespace of one kind: names, and
// those of which it isn't known with the reasons. doubt is why there may be more.
type handed struct {
	names map[string]bool
	open  map[string]string
	doubt string
}

// handed says whether a rule of the AccessManagement hands something to its
// namespace, and why that can't be told.
func (w *world) handed(r platform.Reference) (is bool, doubt string) {
	key := [2]string{r.Kind, r.Namespace}
	if w.handedOn[key] == nil {
		h := &handed{names: map[string]bool{}, open: map[string]string{}}
		w.handedOn[key] = h
		for _, o := range w.Of(accessKind) {
			for i := range o.List("spec", "accessRules") {
				w.follow(h, o, i, r.Kind, r.Namespace)
			}
		}
	}
	h := w.handedOn[key]
	if h.names[r.Name] {
		return true, ""
	}
	return false, cmp.Or(h.open[r.Name], h.doubt)
}

// tooMuch is why what the AccessManagement hands on is not known in full.
const tooMuch = "the access rules exceed the limit"

// tooMuch notes that what an AccessManagement hands on is not followed any further.
func (w *world) tooMuch(h *handed, o *reconcile.Object) {
	h.doubt = tooMuch
	w.Exceeded(o, fmt.Sprintf("what %s hands to namespaces", o), tooMuchOf, "spec", "accessRules")
}

// follow adds what one rule of access hands to a namespace.
func (w *world) follow(h *handed, o *reconcile.Object, i int, kind, namespace string) {
	if w.steps += 1 + len(o.List("spec", "accessRules", i, "targetNamespaces", "list")); w.steps > limits.Comparisons {
		w.tooMuch(h, o)
		return
	}
	reaches, open := w.reaches(o, namespace, i)
	if !reaches && open == "" {
		return
	}
	chain := map[string]string{clusterTemplate: clusterChain, serviceTemplate: serviceChain}[kind]
	names, all := given(o, i, cmp.Or(chain, kind))
	if all {
		w.steps += len(w.Own)
		names = w.Names(group, cmp.Or(chain, kind), system)
	}
	for _, name := range names {
		found := []string{name}
		if chain != "" {
			c := w.All[reconcile.Identity{Group: group, Kind: chain, Namespace: system, Name: name}]
			if c == nil { // told of by another rule
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

// reaches says whether a rule of access is for a namespace, and why that can't be
// told.
func (w *world) reaches(o *reconcile.Object, namespace string, i int) (is bool, doubt string) {
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

// accessLists are the fields of a rule of access up to k0rdent 1.11 for what it hands on.
var accessLists = map[string]string{
	clusterChain: "clusterTemplateChains", serviceChain: "serviceTemplateChains", credential: "credentials",
	clusterAuth: "clusterAuthentications", dataSource: "dataSources", auditPolicy: "clusterAuditPolicies",
}

// given are the objects of a kind that a rule of access hands on, in either
// generation of its schema; all says that it is every one.
func given(o *reconcile.Object, i int, kind string) (names []string, all bool) {
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

// supported are the templates of a chain.
func supported(chain *reconcile.Object) []string {
	var out []string
	for i := range chain.List("spec", "supportedTemplates") {
		out = append(out, chain.Text("spec", "supportedTemplates", i, "name"))
	}
	return out
}
