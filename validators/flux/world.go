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
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// world is a cluster with what the rules ask of it: what is there, and what may be there
// although Git doesn't say so.
type world struct {
	cluster *reconcile.Cluster
	repo    *repository.Repository
	// applied are the objects that are applied to the cluster itself, in the order of its
	// Kustomizations; objects the same by identity.
	applied []*reconcile.Object
	objects map[reconcile.Identity][]*reconcile.Object
	// names by kind and namespace, sorted.
	names map[kind]map[string][]string
	// incomplete are the Kustomizations of which not all objects are known.
	incomplete []*reconcile.Kustomization
	// read are the files that the Kustomizations read, and releases the HelmReleases by
	// target namespace and release name.
	read     map[string]bool
	releases map[release]*reconcile.Object
	// makers are objects that hold others in their fields, by the kind of those.
	makers map[string]*reconcile.Object
	// accounts are the service accounts that bindings name, with the namespaces where they
	// may do something, "" standing for all.
	accounts map[account]map[string]bool
	// minor is the minor version of Flux 2, 0 where it isn't known; strict says that a
	// variable which nothing defines is refused.
	minor  int
	strict bool
	// budget of the rule that asks.
	budget *budget
	// beside are the other clusters whose root is guessed like this one's and that hold no object
	// of the same identity: they may be parts of one. Others are the rest.
	beside, others []*world
	// written are the names of what all files hold, by kind, whether or not a cluster applies it.
	written map[kind]map[string]bool
}

type kind struct{ group, kind string }

type account struct{ namespace, name string }

// worlds are the clusters of a repository.
var worlds = &rule.Analysis[map[*reconcile.Cluster]*world]{Name: "flux", RunPass: func(p *rule.Pass) map[*reconcile.Cluster]*world {
	all := map[*reconcile.Cluster]*world{}
	var list []*world
	written := writtenNames(p.Repo)
	for _, c := range p.Fleet().Clusters {
		all[c] = newWorld(p.Repo, c)
		all[c].written = written
		list = append(list, all[c])
	}
	for _, w := range list {
		for _, other := range list {
			switch {
			case w == other:
			case w.guessed() && other.guessed() && !w.collides(other):
				w.beside = append(w.beside, other)
			default:
				w.others = append(w.others, other)
			}
		}
	}
	return all
}}

// writtenNames are the names of the objects in the files, and of those that are generated.
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

// collides says whether another cluster has a Kustomization or HelmRelease of the same identity as
// this one, so that the two are no parts of one cluster.
func (w *world) collides(other *world) bool {
	return slices.ContainsFunc(w.applied, func(o *reconcile.Object) bool {
		return (isKustomization(o) || isHelmRelease(o)) && len(other.objects[o.Identity]) > 0
	})
}

func newWorld(repo *repository.Repository, c *reconcile.Cluster) *world {
	w := &world{cluster: c, repo: repo, objects: map[reconcile.Identity][]*reconcile.Object{},
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
	for _, r := range c.Releases {
		for _, o := range r.All() {
			w.add(o)
		}
	}
	for _, byNamespace := range w.names {
		for _, names := range byNamespace {
			slices.Sort(names)
		}
	}
	w.readVersion()
	return w
}

// guessed says whether nothing in the repository syncs the cluster's root: its FluxInstance,
// or what else does it, is elsewhere.
func (w *world) guessed() bool { return w.cluster.Root.Object == nil }

func (w *world) add(o *reconcile.Object) {
	if len(w.objects[o.Identity]) == 0 {
		of := kind{o.Group, o.Kind}
		if w.names[of] == nil {
			w.names[of] = map[string][]string{}
		}
		w.names[of][o.Namespace] = append(w.names[of][o.Namespace], o.Name)
	}
	w.applied = append(w.applied, o)
	w.objects[o.Identity] = append(w.objects[o.Identity], o)
	w.addMeant(o)
	if isHelmRelease(o) {
		w.releases[release{cmp.Or(text(o.Value, "spec", "targetNamespace"), o.Namespace), cmp.Or(text(o.Value, "spec", "releaseName"), o.Name)}] = o
	}
	w.addMaker(o)
	w.addBinding(o)
}

// addMeant notes an object of a kind that there is not, which schema-invalid tells, as what it was
// meant to be: what refers to it is right.
func (w *world) addMeant(o *reconcile.Object) {
	gvk := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind)
	if _, known := schemas.VersionOf(gvk); known {
		return
	}
	if m := schemas.MistakeOf(gvk); m != nil && m.Meant.Kind != "" {
		id := o.Identity
		id.Group, id.Kind = m.Meant.Group, m.Meant.Kind
		if id != o.Identity {
			w.objects[id] = append(w.objects[id], o)
		}
	}
}

// addBinding notes where the subjects of a binding may do something.
func (w *world) addBinding(o *reconcile.Object) {
	if o.Group != "rbac.authorization.k8s.io" || o.Kind != "RoleBinding" && o.Kind != "ClusterRoleBinding" {
		return
	}
	for _, s := range list(o.Value, "subjects") {
		if text(s, "kind") != "ServiceAccount" {
			continue
		}
		a := account{cmp.Or(text(s, "namespace"), o.Namespace), text(s, "name")}
		if w.accounts[a] == nil {
			w.accounts[a] = map[string]bool{}
		}
		w.accounts[a][o.Namespace] = true
	}
}

// made are the kinds of objects whose makers are of interest.
var made = []string{kustomizationKind, helmReleaseKind, "GitRepository", "OCIRepository", "Bucket", "HelmRepository", "HelmChart",
	"ExternalArtifact", "ArtifactGenerator", "ConfigMap", "Secret", "Namespace", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob"}

// notMade are fields that hold patches of objects, not objects.
var notMade = []string{"patches", "patch", "patchesStrategicMerge", "patchesJson6902", "postRenderers"}

// addMaker notes of which kinds an object holds others in its fields, as a ResourceSet, the
// values of a chart or the manifest of another controller do.
func (w *world) addMaker(o *reconcile.Object) {
	if o.Kind == "CustomResourceDefinition" {
		return
	}
	var walk func(value any, depth int)
	walk = func(value any, depth int) {
		switch value := value.(type) {
		case map[string]any:
			of, isText := value["kind"].(string)
			_, hasMetadata := value["metadata"].(map[string]any)
			if depth > 0 && isText && hasMetadata {
				w.note(of, o)
			}
			for name, item := range value {
				if generated := text(item, "kind"); name == "generate" && generated != "" {
					w.note(generated, o) // Kyverno's
				}
				if !slices.Contains(notMade, name) {
					walk(item, depth+1)
				}
			}
		case []any:
			for _, item := range value {
				walk(item, depth+1)
			}
		case string:
			w.noteText(value, o)
		}
	}
	walk(o.Value, 0)
}

// noteText notes the kinds of the manifests that a text holds: a kind with an apiVersion beside
// it. A kind alone is a configuration's, such as what kube-state-metrics watches.
func (w *world) noteText(value string, o *reconcile.Object) {
	if !strings.Contains(value, "apiVersion") {
		return
	}
	const near = 2 // lines, for a comment between them
	version := -1 - near
	var waiting []string // kinds of the last lines
	line := 0
	for text := range strings.Lines(value) {
		if line++; strings.Contains(text, "apiVersion") {
			version = line
			for _, of := range waiting {
				w.note(of, o)
			}
		}
		if waiting = append(waiting, ""); len(waiting) > near {
			waiting = waiting[1:]
		}
		_, of, found := strings.Cut(text, "kind: ")
		if !found {
			continue
		}
		of = strings.Trim(strings.TrimSpace(of), `"'`)
		if waiting[len(waiting)-1] = of; line-version <= near {
			w.note(of, o)
		}
	}
}

func (w *world) note(of string, o *reconcile.Object) {
	if slices.Contains(made, of) && w.makers[of] == nil {
		w.makers[of] = o
	}
}

// has says whether an object is applied to the cluster. Clusters whose roots are guessed may
// be one.
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

// doubt says why an object that is not there may be nevertheless; "" where it can't.
func (w *world) doubt(id reconcile.Identity) string {
	slip := sync.OnceValue(func() bool { return w.misspelt(id) })
	if why := w.ownDoubt(id, slip); why != "" {
		return why
	}
	for _, other := range w.beside {
		if why := other.ownDoubt(id, slip); why != "" {
			return why
		}
	}
	return ""
}

// ownDoubt is that of what the cluster alone may have; slip says whether the name is misspelt.
func (w *world) ownDoubt(id reconcile.Identity, slip func() bool) string {
	for _, k := range w.incomplete {
		if !w.mayBring(k, id) || !leads(k, id, slip) {
			continue
		}
		switch {
		case k.Repo == nil && sourceOf(k) == id, w.sourceless(k) && w.awaited(id) && !k.Reach().Holds(id):
			continue // it brings nothing before another one brings its source
		case w.sourceless(k):
			return fmt.Sprintf("Kustomization %s, which may apply it, has no source", k)
		case k.Failure != nil:
			return fmt.Sprintf("Kustomization %s, which may apply it, cannot be built", k)
		}
		return fmt.Sprintf("Kustomization %s could not be fully built: %s", k, k.Gaps[0].Message)
	}
	if maker := w.makers[id.Kind]; maker != nil {
		return maker.String() + " may create it"
	}
	return ""
}

// leads says whether what is not known of a Kustomization may hold an object. What the files of
// one that fails hold is known, as far as nothing is missed there; and a name that is a slip of
// the pen for another one, and stands in no file, is none of what cannot be seen either.
func leads(k *reconcile.Kustomization, id reconcile.Identity, slip func() bool) bool {
	open := true
	if (len(k.Gaps) == 0 || k.Astray()) && !k.Skipped {
		reach := k.Reach()
		if reach.Holds(id) {
			return true
		}
		open = reach.Open || reach.Charts(id)
	}
	return open && !slip()
}

// misspelt says whether a name stands in no file, and nearly is that of an object that is there.
func (w *world) misspelt(id reconcile.Identity) bool {
	of := kind{id.Group, id.Kind}
	if w.written[of][id.Name] || unknown(id.Name) {
		return false
	}
	names := w.names[of][id.Namespace]
	if w.budget.names -= len(names); w.budget.names < 0 {
		return false
	}
	_, slip := schemas.Misspelt(id.Name, names)
	return slip
}

// awaited says whether an identity is that of a source which a Kustomization lacks.
func (w *world) awaited(id reconcile.Identity) bool {
	return slices.ContainsFunc(w.incomplete, func(k *reconcile.Kustomization) bool { return sourceOf(k) == id && w.sourceless(k) })
}

// isSource says whether an identity is that of a source.
func isSource(id reconcile.Identity) bool { return id.Group == fluxapi.SourceGroup }

// sourceOf is the identity of a Kustomization's source.
func sourceOf(k *reconcile.Kustomization) reconcile.Identity {
	ref := k.Spec.SourceRef
	return reconcile.Identity{Group: fluxapi.SourceGroup, Kind: ref.Kind, Namespace: cmp.Or(ref.Namespace, k.Namespace), Name: ref.Name}
}

// sourceless says whether the source of a Kustomization is not among the objects.
func (w *world) sourceless(k *reconcile.Kustomization) bool {
	return k.Parent != nil && k.Repo == nil && k.Spec.SourceRef.Kind != "ExternalArtifact" && !w.has(sourceOf(k))
}

// mayHold says whether a Kustomization that fails could apply an object once it is mended. Where
// only variables fail its objects are known, but for names that variables are in.
func mayHold(k *reconcile.Kustomization, id reconcile.Identity) bool {
	f := k.Failure
	if f == nil || f.Reason != builds.SubstitutionFailed || len(k.Gaps) > 0 {
		return true
	}
	return slices.ContainsFunc(k.Objects, func(o *reconcile.Object) bool {
		return isKustomization(o) || o.Kind == id.Kind && unknown(o.Name+o.Namespace)
	})
}

// mayBring says whether a Kustomization of which not all is known could apply an object: not
// one that it would move to another namespace, and not where its service account may not.
func (w *world) mayBring(k *reconcile.Kustomization, id reconcile.Identity) bool {
	if !mayHold(k, id) || k.Spec.KubeConfig != nil || k.Spec.TargetNamespace != "" && id.Namespace != "" && id.Namespace != k.Spec.TargetNamespace {
		return false
	}
	if k.Spec.ServiceAccountName == "" {
		return true
	}
	granted, bound := w.accounts[account{k.Namespace, k.Spec.ServiceAccountName}]
	return !bound || granted[""] || granted[id.Namespace]
}

// hint says what an object that is missing was meant to be, if anything comes near.
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

// inFiles is an object of a file that no Kustomization of a cluster applies.
func (w *world) inFiles(id reconcile.Identity) *repository.Object {
	for _, o := range w.repo.ByKind(id.Group, id.Kind) {
		if o.Name == id.Name && (o.Namespace == id.Namespace || o.Namespace == "") && w.repo.Use(o.File()) != repository.Chart &&
			!slices.ContainsFunc(w.others, func(other *world) bool { return other.read[o.File()] }) {
			return o
		}
	}
	return nil
}

// ofOther is an object that another cluster has.
func (w *world) ofOther(id reconcile.Identity) (*world, *reconcile.Object) {
	for _, other := range w.others {
		if found := other.objects[id]; len(found) > 0 {
			return other, found[0]
		}
	}
	return nil, nil
}

// near says whether there is an object whose name comes near to one that is missing.
func (w *world) near(id reconcile.Identity) bool {
	_, near := w.budget.nearest(id.Name, w.names[kind{id.Group, id.Kind}][id.Namespace])
	return near
}

// inNamespaces are the namespaces that have an object of a kind and name, sorted.
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
