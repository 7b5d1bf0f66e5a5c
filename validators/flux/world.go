package flux

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/source"
)

// world is a cluster as the rules see it: the objects that it has, and the objects that it may have although they are not
// in Git.
type world struct {
	cluster *reconcile.Cluster
	repo    *repository.Repository
	// applied are the objects that are applied to the cluster itself, in the order of its Kustomizations.
	// objects has the same objects by identity.
	applied []*reconcile.Object
	objects map[reconcile.Identity][]*reconcile.Object
	// names are the sorted names of the objects, by kind and namespace.
	names map[kind]map[string][]string
	// incomplete are the Kustomizations for which not all objects are known.
	incomplete []*reconcile.Kustomization
	// read are the files that the Kustomizations read. releases are the HelmReleases by target namespace and
	// release name.
	read     map[string]bool
	releases map[release]*reconcile.Object
	// makers are the objects that contain manifests, by the kind of these manifests.
	makers map[string]*reconcile.Object
	// accounts are the service accounts that bindings name, with the namespaces in which they have permissions;
	// "" means all namespaces.
	accounts map[account]map[string]bool
	// minor is the minor version of Flux 2, 0 if unknown. strict reports whether Flux rejects undefined
	// variables.
	minor  int
	strict bool
	// asking is the object that has the reference being checked; nil if there is none.
	asking *reconcile.Object
	// budget is the budget of the running rule.
	budget *budget
	// beside are the clusters that may actually be the same cluster as this one: clusters whose root is a guess, too, and
	// that have no object in common with this one, and clusters that include this one or are included in it. others are
	// all other clusters.
	beside, others []*world
	// written are the names of the objects in all files, by kind, whether or not a cluster applies them.
	written  map[kind]map[string]bool
	scripted map[string]*reconcile.Object // ConfigMaps with scripts, by the name of an object that the script may create
	foreign  map[string]bool              // the namespaces that Git uses but does not create
	// owners are the known owners of the repository and of the cluster's sources.
	owners map[string]bool
}

type kind struct{ group, kind string }

// worlds computes the world of each cluster.
var worlds = &rule.Analysis[map[*reconcile.Cluster]*world]{Name: "flux", RunPass: func(p *rule.Pass) map[*reconcile.Cluster]*world {
	all := map[*reconcile.Cluster]*world{}
	var list []*world
	written := writtenNames(p.Repo)
	for _, c := range p.Fleet().Clusters {
		all[c] = newWorld(p, c)
		all[c].written, all[c].owners = written, source.Owners(c)
		for _, remote := range p.Fleet().Remotes {
			if owner, known := source.OwnerOf(roots.RepositoryAddress(remote)); known {
				all[c].owners[owner] = true
			}
		}
		list = append(list, all[c])
	}
	for _, w := range list {
		for _, other := range list {
			switch {
			case w == other:
			case w.guessed() && other.guessed() && !w.collides(other), w.includes(other), other.includes(w):
				w.beside = append(w.beside, other)
			default:
				w.others = append(w.others, other)
			}
		}
	}
	return all
}}

// writtenNames returns the names of the objects in the files, and those of generated objects.
func writtenNames(repo *repository.Repository) map[kind]map[string]bool {
	names := map[kind]map[string]bool{}
	add := func(of kind, name string) {
		if names[of] == nil {
			names[of] = map[string]bool{}
		}
		names[of][name] = true
	}
	for o := range repo.Objects() {
		add(kind{o.Group(), o.Kind}, o.Name)
	}
	for _, k := range repo.Kustomizes() {
		if k.Spec == nil {
			continue
		}
		for _, g := range k.Spec.ConfigMapGenerator {
			add(kind{"", "ConfigMap"}, g.Name)
		}
		for _, g := range k.Spec.SecretGenerator {
			add(kind{"", "Secret"}, g.Name)
		}
	}
	return names
}

// collides reports whether both clusters have a Kustomization or HelmRelease with the same identity. Then they
// cannot be parts of one cluster.
func (w *world) collides(other *world) bool {
	return slices.ContainsFunc(w.applied, func(o *reconcile.Object) bool {
		return (isKustomization(o) || isHelmRelease(o)) && len(other.objects[o.Identity]) > 0
	})
}

// includes reports whether this cluster's folder contains the folder of the other one, and this one applies
// everything that the other one applies, except the sync of the other root. Then both are syncs of one cluster,
// of which one is older or was moved.
func (w *world) includes(other *world) bool {
	if !repository.Within(w.cluster.Root.Path, other.cluster.Root.Path+"/") || w.cluster.Root.Path == other.cluster.Root.Path {
		return false
	}
	sync := other.cluster.Root
	graph := func(o *reconcile.Object) bool {
		return isHelmRelease(o) || isKustomization(o) && (o.Namespace != sync.Namespace || o.Name != sync.Name)
	}
	return slices.ContainsFunc(other.applied, graph) && !slices.ContainsFunc(other.applied, func(o *reconcile.Object) bool {
		return graph(o) && !slices.ContainsFunc(w.objects[o.Identity], func(same *reconcile.Object) bool { return same.File == o.File })
	})
}

func newWorld(p *rule.Pass, c *reconcile.Cluster) *world {
	w := &world{cluster: c, repo: p.Repo, objects: map[reconcile.Identity][]*reconcile.Object{},
		names: map[kind]map[string][]string{}, makers: map[string]*reconcile.Object{}, read: map[string]bool{}, releases: map[release]*reconcile.Object{}, accounts: map[account]map[string]bool{}}
	for _, k := range c.Kustomizations {
		if !k.Complete() {
			w.incomplete = append(w.incomplete, k)
		}
		for _, file := range k.Files {
			w.read[file] = true
		}
		if k.Spec.KubeConfig != nil {
			continue // they go to another cluster
		}
		for _, o := range k.Objects {
			w.add(o)
		}
	}
	w.addCreated()
	for _, r := range c.Releases {
		for _, o := range r.All() {
			w.add(o)
		}
	}
	w.addCreatedNames()
	w.addAllowed()
	for _, byNamespace := range w.names {
		for _, names := range byNamespace {
			slices.Sort(names)
		}
	}
	w.readVersion(p)
	return w
}

// guessed reports whether the root is a guess: no object in the repository syncs it.
func (w *world) guessed() bool { return w.cluster.Root.Object == nil }

// fromOutside is the reason why an object may exist if the object that syncs the cluster's root is not in Git.
const fromOutside = "the object that syncs the cluster's root is not in the repository, and may create it"

// outside returns the reason why something outside the repository may create an object, "" if nothing can. If the object
// that syncs the root is not in Git, it may create the root's source and other objects. It does not create objects in a
// namespace that Git creates.
func (w *world) outside(id reconcile.Identity) string {
	if !w.guessed() || id.Namespace != "" && id.Namespace != w.cluster.Kustomizations[0].Namespace && w.has(reconcile.Identity{Kind: "Namespace", Name: id.Namespace}) {
		return ""
	}
	return fromOutside
}

func (w *world) add(o *reconcile.Object) {
	id, of := o.Identity, kind{o.Group, o.Kind}
	if of.group == rbac && strings.HasPrefix(of.kind, "Cluster") {
		id.Namespace = "" // the API server removes a namespace from a cluster-scoped object
	}
	if len(w.objects[id]) == 0 {
		if w.names[of] == nil {
			w.names[of] = map[string][]string{}
		}
		w.names[of][id.Namespace] = append(w.names[of][id.Namespace], o.Name)
	}
	w.applied = append(w.applied, o)
	w.objects[id] = append(w.objects[id], o)
	w.addIntendedKind(o)
	if isHelmRelease(o) {
		w.releases[release{cmp.Or(text(o.Value, "spec", "targetNamespace"), o.Namespace), cmp.Or(text(o.Value, "spec", "releaseName"), o.Name)}] = o
	}
	w.addCreator(o)
	w.addBinding(o)
}

// addIntendedKind adds an object of a misspelled kind under its correct kind, too, so that references to it are not
// reported. The rule schema-invalid reports the kind.
func (w *world) addIntendedKind(o *reconcile.Object) {
	gvk := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind)
	if _, known := schemas.VersionOf(gvk); known {
		return
	}
	if m := schemas.MistakeOf(gvk); m != nil && m.Intended.Kind != "" {
		id := o.Identity
		id.Group, id.Kind = m.Intended.Group, m.Intended.Kind
		if id != o.Identity {
			w.objects[id] = append(w.objects[id], o)
		}
	}
}

// has reports whether an object is applied to the cluster, or to one that may be the same cluster.
func (w *world) has(id reconcile.Identity) bool { return w.find(id) != nil }

func (w *world) find(id reconcile.Identity) *reconcile.Object {
	if found := w.objects[id]; len(found) > 0 {
		return found[0]
	}
	for _, other := range w.beside {
		if found := other.objects[id]; len(found) > 0 {
			return found[0]
		}
	}
	return nil
}

// Doubts returns the doubts of a cluster for the rules about platform products, which know on their own the other
// creators of objects of their kinds.
func Doubts(p *rule.Pass, c *reconcile.Cluster) platform.Doubt {
	w := *worlds.Of(p)[c]
	w.budget, w.makers = newBudget(), nil
	return w.doubtOf
}

// doubt returns the reason why a missing object may exist nevertheless, "" if there is none.
func (w *world) doubt(id reconcile.Identity) string {
	return w.doubtOf(id, nil)
}

// doubtOf is doubt for a reference of the object of. Kustomizations that wait for this object cannot provide the objects
// that it needs.
func (w *world) doubtOf(id reconcile.Identity, of *reconcile.Object) string {
	own := *w
	own.asking = of
	return own.doubts(id)
}

func (w *world) doubts(id reconcile.Identity) string {
	isTypo := sync.OnceValue(func() bool { return w.misspelt(id) })
	if why := w.ownDoubt(id, isTypo); why != "" {
		return why
	}
	for _, other := range w.beside {
		if why := other.ownDoubt(id, isTypo); why != "" {
			return why
		}
	}
	return ""
}

// ownDoubt returns the reason for doubt within this cluster alone. isTypo reports whether the name is misspelled.
func (w *world) ownDoubt(id reconcile.Identity, isTypo func() bool) string {
	for _, k := range w.incomplete {
		if !w.mayBring(k, id) || w.cannotContain(k, id) || w.isAfter(k) || !mayContain(k, id, isTypo) {
			continue
		}
		switch {
		case k.Repo == nil && sourceOf(k) == id, w.sourceless(k) && w.awaited(id) && !k.Reach().Holds(id):
			continue // it applies nothing before another Kustomization provides its source
		case w.sourceless(k):
			return fmt.Sprintf("Kustomization %s, which may apply it, has no source", k)
		case k.Failure != nil:
			return fmt.Sprintf("Kustomization %s, which may apply it, cannot be built", k)
		}
		return fmt.Sprintf("Kustomization %s could not be fully built: %s", k, adding(k.Gaps)[0].Message)
	}
	for _, k := range w.cluster.Kustomizations {
		if k.Assumed != nil && !isTypo() {
			return fmt.Sprintf("%s, the source of Kustomization %s, is defined in a file that no Kustomization applies, and this object may be, too", k.Assumed, k)
		}
	}
	if maker := w.makers[id.Kind]; maker != nil && !isTypo() {
		return maker.String() + " may create it"
	}
	return ""
}

// mayContain reports whether the unknown part of a Kustomization may contain an object. If a build failed but all its
// files are available, its objects are known. The unknown part does not contain a name that is a typo and is in no file.
func mayContain(k *reconcile.Kustomization, id reconcile.Identity, isTypo func() bool) bool {
	open := true
	if len(k.Gaps) == 0 || k.LikelyOwnSource() {
		reach := k.Reach()
		if reach.Holds(id) {
			return true
		}
		open = reach.Open || reach.Charts(id)
	}
	return open && !isTypo()
}

// misspelt reports whether an identity is a typo. Its name is in no file but is similar to the name of an
// existing object, or its namespace is similar to that of an existing object with this name.
func (w *world) misspelt(id reconcile.Identity) bool {
	_, typo := w.typo(id, schemas.Misspelt)
	return typo
}

// resembles returns a hint with the object that a missing one may be a typo of. Unlike misspelt, it accepts
// short names, too.
func (w *world) resembles(id reconcile.Identity) (hint string, near bool) {
	if name, typo := w.typo(id, schemas.NearlySame); typo {
		return fmt.Sprintf("did you mean %q?", name), true
	}
	return "", false
}

func (w *world) typo(id reconcile.Identity, nearly func(string, []string) (string, bool)) (string, bool) {
	of := kind{id.Group, id.Kind}
	if unknown(id.Name) {
		return "", false
	}
	if namespace := (kind{"", "Namespace"}); isFlux(id.Group) && !w.written[namespace][id.Namespace] && w.written[of][id.Name] {
		return nearly(id.Namespace, w.inNamespaces(of, id.Name))
	}
	if w.written[of][id.Name] {
		return "", false
	}
	names := w.names[of][id.Namespace]
	if w.budget.names -= len(names); w.budget.names < 0 {
		return "", false
	}
	if root := sourceOf(w.cluster.Kustomizations[0]); id.Group == root.Group && id.Kind == root.Kind && id.Namespace == root.Namespace {
		names = append([]string{root.Name}, names...) // the cluster's own source is often not among its objects
	}
	return nearly(id.Name, names)
}

// awaited reports whether an identity is that of a missing source of a Kustomization.
func (w *world) awaited(id reconcile.Identity) bool {
	return slices.ContainsFunc(w.incomplete, func(k *reconcile.Kustomization) bool { return sourceOf(k) == id && w.sourceless(k) })
}

// isSource reports whether an identity is that of a source.
func isSource(id reconcile.Identity) bool { return id.Group == fluxapi.SourceGroup }

// sourceOf returns the identity of a Kustomization's source.
func sourceOf(k *reconcile.Kustomization) reconcile.Identity {
	ref := k.Spec.SourceRef
	return reconcile.Identity{Group: fluxapi.SourceGroup, Kind: ref.Kind, Namespace: cmp.Or(ref.Namespace, k.Namespace), Name: ref.Name}
}

// sourceless reports whether the source of a Kustomization does not exist in the cluster.
func (w *world) sourceless(k *reconcile.Kustomization) bool {
	return k.Parent != nil && k.Repo == nil && k.Spec.SourceRef.Kind != "ExternalArtifact" && !w.has(sourceOf(k))
}

// mayHold reports whether a failing Kustomization could apply an object once it is fixed. If only the substitution fails,
// its objects are known, except for objects with variables in their names.
func mayHold(k *reconcile.Kustomization, id reconcile.Identity) bool {
	f := k.Failure
	if f == nil || f.Reason != builds.SubstitutionFailed || len(k.Gaps) > 0 {
		return true
	}
	return slices.ContainsFunc(k.Objects, func(o *reconcile.Object) bool {
		return isKustomization(o) || o.Kind == id.Kind && unknown(o.Name+o.Namespace)
	})
}

// mayBring reports whether an incomplete Kustomization could apply an object. It cannot if it moves all objects
// to another namespace, or if its service account has no permission in the object's namespace.
func (w *world) mayBring(k *reconcile.Kustomization, id reconcile.Identity) bool {
	if !mayHold(k, id) || k.Spec.KubeConfig != nil || k.Spec.TargetNamespace != "" && id.Namespace != "" && id.Namespace != k.Spec.TargetNamespace {
		return false
	}
	if k.Spec.ServiceAccountName == "" {
		return true
	}
	granted, bound := w.granted(account{k.Namespace, k.Spec.ServiceAccountName})
	return !bound || granted[""] || granted[id.Namespace]
}

// hint suggests the object that a reference to a missing object was probably meant to name, or says where the object is;
// "" if no object is similar.
func (w *world) hint(id reconcile.Identity) string {
	byNamespace := w.names[kind{id.Group, id.Kind}]
	if near, ok := w.budget.nearest(id.Name, byNamespace[id.Namespace]); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if found := w.inNamespaces(kind{id.Group, id.Kind}, id.Name); len(found) > 0 {
		return fmt.Sprintf("it exists in namespace %q: set namespace: %s", found[0], found[0])
	}
	if o := w.inFiles(id); o != nil {
		line, _ := o.Position()
		return fmt.Sprintf("%s:%d defines it, but no Kustomization applies that file", o.File(), line)
	}
	if other, o := w.ofOther(id); o != nil {
		return fmt.Sprintf("cluster %s has it, from %s:%d", other.cluster.Name, o.File, o.Line)
	}
	return ""
}

// inFiles returns an object that is in a file but that no cluster applies; nil if there is none.
func (w *world) inFiles(id reconcile.Identity) *repository.Object {
	for _, o := range w.repo.ByKind(id.Group, id.Kind) {
		if o.Name == id.Name && (o.Namespace == id.Namespace || o.Namespace == "") && w.repo.Use(o.File()) != repository.Chart &&
			!slices.ContainsFunc(w.others, func(other *world) bool { return other.read[o.File()] }) {
			return o
		}
	}
	return nil
}

// ofOther returns an object that another cluster has, with that cluster.
func (w *world) ofOther(id reconcile.Identity) (*world, *reconcile.Object) {
	for _, other := range w.others {
		if found := other.objects[id]; len(found) > 0 {
			return other, found[0]
		}
	}
	return nil, nil
}

// near reports whether an existing object has a name similar to that of a missing one.
func (w *world) near(id reconcile.Identity) bool {
	_, near := w.budget.nearest(id.Name, w.names[kind{id.Group, id.Kind}][id.Namespace])
	return near
}

// inNamespaces returns the sorted namespaces that have an object with a kind and name.
func (w *world) inNamespaces(of kind, name string) []string {
	var found []string
	for namespace := range w.names[of] {
		if len(w.objects[reconcile.Identity{Group: of.group, Kind: of.kind, Namespace: namespace, Name: name}]) > 0 {
			found = append(found, namespace)
		}
	}
	slices.Sort(found)
	return found
}
