// Package k0rdent holds the rules about management clusters of k0rdent: what kcm's
// webhooks and controllers would refuse, found before it is pushed. What they
// refuse was read off kcm v1.11.4 and v1.12.0-rc2 (internal/webhook,
// internal/controller).
package k0rdent

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
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
	// cluster is nil in a repository without one.
	cluster *reconcile.Cluster
	// own are the objects of k0rdent's kinds, in their order.
	own []*reconcile.Object
	// all objects by identity, and namespaces by name.
	all        map[reconcile.Identity]*reconcile.Object
	namespaces map[string]*reconcile.Object
	// partial says why not all that is applied is known, "" where it is.
	partial string
	// toggles are the parts of kcm that Git says are off; nil where Git doesn't
	// hold kcm's HelmRelease.
	toggles map[string]bool
	// handedOn is what the AccessManagement hands to namespaces, computed when it
	// is first asked for; steps and hints bound the work.
	handedOn     map[[2]string]*handed
	steps, hints int
}

// mostSteps bounds how many entries of rules of access and chains are followed on a
// cluster, and mostHints for how many names one is sought that comes near.
const (
	mostSteps = 1_000_000
	mostHints = 100
)

// worlds are the management clusters of a repository: those that get any object of
// k0rdent's. Without a cluster the objects are those of the files as they stand.
func worlds(p *rule.Pass) []*world {
	var out []*world
	add := func(c *reconcile.Cluster, objects []*reconcile.Object, partial string) {
		if !slices.ContainsFunc(objects, func(o *reconcile.Object) bool { return o.Group == group }) {
			return
		}
		w := &world{cluster: c, partial: partial, all: map[reconcile.Identity]*reconcile.Object{}, namespaces: map[string]*reconcile.Object{}, handedOn: map[[2]string]*handed{}}
		for _, o := range objects {
			w.add(o)
		}
		out = append(out, w)
	}
	if len(p.Fleet().Clusters) == 0 {
		add(nil, p.Applied(), "no cluster of the repository says what is applied together")
		return out
	}
	for _, c := range p.Clusters() {
		var objects []*reconcile.Object
		partial := ""
		for _, k := range c.Kustomizations {
			if k.Spec.KubeConfig != nil {
				continue // they go to another cluster
			}
			if !k.Complete() {
				partial = "not all that Kustomization " + k.String() + " applies is known"
			}
			objects = append(objects, k.Objects...)
		}
		add(c, objects, partial)
	}
	return out
}

func (w *world) add(o *reconcile.Object) {
	w.all[o.Identity] = o
	switch {
	case o.Group == group:
		w.own = append(w.own, o)
	case o.Group == "" && o.Kind == "Namespace":
		w.namespaces[o.Name] = o
	case o.Group == "helm.toolkit.fluxcd.io" && o.Kind == "HelmRelease" && o.Name == "kcm":
		w.toggles = map[string]bool{}
		controller, _ := o.Field("spec", "values", "controller").(map[string]any)
		for name, value := range controller {
			w.toggles[name] = value == false
		}
	}
}

// of are the objects of one of k0rdent's kinds.
func (w *world) of(kind string) []*reconcile.Object {
	var out []*reconcile.Object
	for _, o := range w.own {
		if o.Kind == kind {
			out = append(out, o)
		}
	}
	return out
}

func (w *world) has(kind, namespace, name string) bool {
	return w.all[reconcile.Identity{Group: group, Kind: kind, Namespace: namespace, Name: name}] != nil
}

// names are those of a kind's objects in a namespace, sorted.
func (w *world) names(kind, namespace string) []string {
	var out []string
	for _, o := range w.of(kind) {
		if o.Namespace == namespace {
			out = append(out, o.Name)
		}
	}
	slices.Sort(out)
	return out
}

// off says that Git holds kcm's HelmRelease, and that a part of kcm is off in it.
func (w *world) off(toggle string) bool { return w.toggles[toggle] }

// unknown says that a variable whose value isn't known is in a text.
func unknown(text string) bool { return strings.Contains(text, "${") }

// reference is what an object names.
type reference struct {
	from            *reconcile.Object
	kind            string
	namespace, name string
	path            []any
}

func (r reference) String() string {
	if r.namespace == "" {
		return r.kind + " " + r.name
	}
	return r.kind + " " + r.namespace + "/" + r.name
}

// there says whether what a reference names is there: in Git, or handed to its
// namespace by the AccessManagement; and why that can't be told, "" where it can.
func (w *world) there(r reference) (is bool, doubt string) {
	if w.has(r.kind, r.namespace, r.name) {
		return true, ""
	}
	if r.namespace != "" && r.namespace != system {
		if is, doubt := w.handed(r); is || doubt != "" {
			return is, doubt
		}
	}
	return false, w.doubt(r)
}

// doubt is why something may be there although Git doesn't say so.
func (w *world) doubt(r reference) string {
	switch {
	case unknown(r.name + r.namespace):
		return "its name holds a variable whose value is not known"
	case w.partial != "":
		return w.partial
	case slices.Contains([]string{clusterTemplate, serviceTemplate, providerTemplate}, r.kind) && !w.off("createTemplates"):
		return "kcm makes templates of its own, unless controller.createTemplates is off in its HelmRelease"
	case r.kind == release && !w.off("createRelease"):
		return "kcm makes Releases of its own, unless controller.createRelease is off in its HelmRelease"
	case len(w.of(r.kind)) == 0:
		return "Git holds no " + r.kind + " at all"
	}
	return ""
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
func (w *world) handed(r reference) (is bool, doubt string) {
	key := [2]string{r.kind, r.namespace}
	if w.handedOn[key] == nil {
		h := &handed{names: map[string]bool{}, open: map[string]string{}}
		w.handedOn[key] = h
		for _, o := range w.of(accessKind) {
			for i := range o.List("spec", "accessRules") {
				w.follow(h, o, i, r.kind, r.namespace)
			}
		}
	}
	h := w.handedOn[key]
	if h.names[r.name] {
		return true, ""
	}
	return false, cmp.Or(h.open[r.name], h.doubt)
}

// tooMuch is why what the AccessManagement hands on is not known in full.
const tooMuch = "there is too much in the rules of access to follow"

// follow adds what one rule of access hands to a namespace.
func (w *world) follow(h *handed, o *reconcile.Object, i int, kind, namespace string) {
	if w.steps += 1 + len(o.List("spec", "accessRules", i, "targetNamespaces", "list")); w.steps > mostSteps {
		h.doubt = tooMuch
		return
	}
	reaches, open := w.reaches(o, namespace, i)
	if !reaches && open == "" {
		return
	}
	chain := map[string]string{clusterTemplate: clusterChain, serviceTemplate: serviceChain}[kind]
	names, all := given(o, i, cmp.Or(chain, kind))
	if all {
		w.steps += len(w.own)
		names = w.names(cmp.Or(chain, kind), system)
	}
	for _, name := range names {
		found := []string{name}
		if chain != "" {
			c := w.all[reconcile.Identity{Group: group, Kind: chain, Namespace: system, Name: name}]
			if c == nil { // told of by another rule
				h.doubt = "the AccessManagement hands on " + chain + " " + name + ", which is not there"
				continue
			}
			found = supported(c)
		}
		if w.steps += len(found); w.steps > mostSteps {
			h.doubt = tooMuch
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
	switch {
	case field("list") != nil:
		return slices.Contains(field("list").([]any), any(namespace)), ""
	case field("stringSelector") != nil:
		return false, "whom a rule's stringSelector selects is not known"
	case field("selector") != nil:
		ns := w.namespaces[namespace]
		if ns == nil {
			return false, "the labels of namespace " + namespace + " are not in Git"
		}
		labels, _ := ns.Field("metadata", "labels").(map[string]any)
		return selects(field("selector"), labels), ""
	}
	return true, ""
}

// selects says whether a label selector selects labels.
func selects(selector any, labels map[string]any) bool {
	s, _ := selector.(map[string]any)
	match, _ := s["matchLabels"].(map[string]any)
	for key, value := range match {
		if labels[key] != value {
			return false
		}
	}
	expressions, _ := s["matchExpressions"].([]any)
	for _, e := range expressions {
		expression, _ := e.(map[string]any)
		key, _ := expression["key"].(string)
		value, has := labels[key]
		values, _ := expression["values"].([]any)
		in := slices.Contains(values, value)
		if ok, known := map[any]bool{"In": has && in, "NotIn": !has || !in, "Exists": has, "DoesNotExist": !has}[expression["operator"]]; known && !ok {
			return false
		}
	}
	return true
}

// given are the objects of a kind that a rule of access hands on, in either
// generation of its schema; all says that it is every one.
func given(o *reconcile.Object, i int, kind string) (names []string, all bool) {
	lists := map[string]string{clusterChain: "clusterTemplateChains", serviceChain: "serviceTemplateChains", credential: "credentials"}
	names = texts(o.List("spec", "accessRules", i, lists[kind]))
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
