package builds

import (
	"cmp"
	"errors"
	"path"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// lister builds kustomizations that only list files and folders, set a namespace, add labels or apply patches.
// Most kustomizations are like that: their result is the listed objects, one after the other.
// kustomize's time grows with the square of the number of objects: half a minute for the
// 5,000 objects of a large cluster. A lister does the same faster, with kustomize's own code for each
// object that a patch changes, and leaves everything less simple to kustomize. The tests compare
// its results with kustomize's.
type lister struct {
	view      *view
	factory   *resource.Factory
	variables bool
	stack     []string // folders from the root of the build to the current one
	steps     int
	// changing is set if a kustomization in the stack changes objects.
	changing bool
}

// mostSteps is the maximum of kustomizations that a lister reads: kustomize, which counts more of them, does a larger
// build.
const mostSteps = 5_000

// member is an object in the result of a lister.
type member struct {
	// Result is set from the start, except for an object with a resource.
	Result
	// failed is why the object has no result.
	failed error
	// id must be unique among the objects.
	id resid.ResId
	// was are earlier names of the object, before each change; kustomize still finds the object by them.
	was []former
	// document is the source of the resource, nil if the object has a resource or needs none.
	document *repository.Document
	// pending are the changes that were made to the value and that the resource still needs when it is created.
	pending []func(*member) error
	// changed is set if a patch changed the value, and instructed if comments may control how kustomize merges patches
	// into the object.
	changed, instructed bool
	// resource is the object that kustomize's code changes, in place of the result.
	resource *resource.Resource
}

// former is an earlier namespace and name of an object.
type former struct{ namespace, name string }

// level holds the objects of a folder.
type level struct {
	objects []member
	ids     map[resid.ResId]bool
}

// errNotSimple is returned if kustomize must do the build.
var errNotSimple = errors.New("not only a list")

// list returns the objects of a kustomization that lists resources. It returns simple as false if the
// kustomization needs more than a lister can do; then an error is about a limit, otherwise it is kustomize's.
// If variables is set, Flux substitutes variables in the objects later.
func (v *view) list(dir string, k *types.Kustomization, variables bool) (results []Result, simple bool, err error) {
	l := &lister{view: v, factory: provider.NewDefaultDepProvider().GetResourceFactory(), variables: variables}
	if _, single := l.kustomization(dir); !single || k.Kind == types.ComponentKind || !onlyLists(k) {
		return nil, false, nil
	}
	all := level{ids: map[resid.ResId]bool{}}
	if err = l.folder(&all, dir, k); err == nil {
		results, err = l.results(all)
	}
	var limit *LimitError
	switch {
	case errors.As(err, &limit):
		return nil, false, err
	case errors.Is(err, errNotSimple):
		return nil, false, nil
	case err != nil:
		return nil, true, err
	}
	return results, true, nil
}

// results returns the results of all objects. The error is that of the first object without a result.
func (l *lister) results(all level) (results []Result, failed error) {
	moved := map[string]bool{}
	for _, o := range all.objects {
		moved[o.Kind] = moved[o.Kind] || len(o.was) > 0
	}
	for _, o := range all.objects {
		if o.resource != nil {
			o.Result, o.failed = l.finished(o.resource)
		} else if o.changed {
			o.Variables = l.variables && mentionsVariable(o.Value)
		}
		if errors.Is(o.failed, errNotSimple) || moved[serviceAccount] && bindings[o.Kind] {
			return nil, errNotSimple
		}
		failed = cmp.Or(failed, o.failed)
		results = append(results, o.Result)
	}
	if failed != nil {
		return nil, failed
	}
	return results, nil
}

// finished returns the result of a resource, after the last steps of kustomize.
func (l *lister) finished(r *resource.Resource) (Result, error) {
	if !keepsReferences(r.GetKind(), r.YNode()) {
		return Result{}, errNotSimple
	}
	r.RemoveBuildAnnotations() // it rewrites all annotations
	if r.SetOrigin(nil) != nil || r.ClearTransformations() != nil {
		return Result{}, errNotSimple
	}
	return newResult(r, l.variables)
}

// onlyLists reports whether a kustomization or component has nothing but resources, components, patches, a namespace,
// labels, and generators whose objects keep their names.
func onlyLists(k *types.Kustomization) bool {
	version := types.KustomizationVersion
	if k.Kind == types.ComponentKind {
		version = types.ComponentVersion
	}
	if k.APIVersion != "" && k.APIVersion != version || k.Kind != "" && k.Kind != types.KustomizationKind && k.Kind != types.ComponentKind {
		return false
	}
	for _, g := range generators(k) {
		if g.Options == nil || !g.Options.DisableNameSuffixHash || g.Behavior != "" && g.Behavior != "create" || g.EnvSource != "" {
			return false
		}
	}
	for _, label := range k.Labels {
		if label.IncludeSelectors || label.IncludeTemplates || len(label.FieldSpecs) > 0 {
			return false
		}
	}
	rest := *k
	rest.TypeMeta, rest.MetaData, rest.Resources, rest.Namespace, rest.Labels, rest.Patches = types.TypeMeta{}, nil, nil, "", nil, nil
	rest.Components, rest.ConfigMapGenerator, rest.SecretGenerator, rest.GeneratorOptions = nil, nil, nil, nil
	return reflect.ValueOf(rest).IsZero() && !reflect.DeepEqual(*k, types.Kustomization{TypeMeta: k.TypeMeta})
}

// changes reports whether a kustomization changes the objects that it lists.
func changes(k *types.Kustomization) bool {
	return k.Namespace != "" || len(k.Labels) > 0 || len(k.Patches) > 0 || len(k.Components) > 0
}

// folder adds the objects that a kustomization or component in a folder lists to those in all, and then changes all
// of them as it says.
func (l *lister) folder(all *level, dir string, k *types.Kustomization) error {
	if l.steps++; l.steps > mostSteps {
		return errNotSimple
	}
	for _, visited := range l.stack {
		if dir == visited || repository.Within(dir, visited) {
			return errNotSimple // a cycle
		}
	}
	outer := l.changing
	l.stack, l.changing = append(l.stack, dir), outer || changes(k)
	defer func() { l.stack, l.changing = l.stack[:len(l.stack)-1], outer }()
	for _, ref := range k.Resources {
		at, ok := l.local(dir, ref)
		if !ok {
			return errNotSimple
		}
		var err error
		if l.view.IsDir(absolute(at)) {
			err = l.base(all, at)
		} else {
			err = l.file(all, at)
		}
		if err != nil {
			return err
		}
	}
	if err := l.generate(all, dir, k); err != nil {
		return err
	}
	for _, ref := range k.Components {
		at, ok := l.local(dir, ref)
		if !ok {
			return errNotSimple
		}
		if err := l.below(all, at, types.ComponentKind); err != nil {
			return err
		}
	}
	if err := l.patch(all, dir, k.Patches); err != nil {
		return err
	}
	if err := l.namespace(all, k.Namespace); err != nil {
		return err
	}
	return l.label(all, k.Labels)
}

// local returns the path in the repository of a reference of a kustomization in a folder.
func (l *lister) local(dir, ref string) (at string, ok bool) {
	at, ok = relative(path.Join(mount, dir, ref))
	at = canonical(at)
	return at, ok && !path.IsAbs(ref) && !strings.ContainsAny(ref, "\n\\") && at != l.view.overlay
}

// base adds the objects of a folder that has a kustomization of its own.
func (l *lister) base(to *level, dir string) error {
	if len(to.objects) == 0 {
		return l.below(to, dir, types.KustomizationKind)
	}
	own := level{ids: map[resid.ResId]bool{}}
	if err := l.below(&own, dir, types.KustomizationKind); err != nil {
		return err
	}
	return to.add(own.objects...)
}

// below adds the objects of the kustomization or component in a folder to a level.
func (l *lister) below(to *level, dir, kind string) error {
	at, single := l.kustomization(dir)
	if !single || at == l.view.overlay {
		return errNotSimple
	}
	text, err := l.view.ReadFile(absolute(at))
	if err != nil {
		return errNotSimple
	}
	k := l.view.listing(at, text)
	if k == nil || (k.Kind == types.ComponentKind) != (kind == types.ComponentKind) {
		return errNotSimple
	}
	err = l.folder(to, dir, k)
	if limit := (*LimitError)(nil); err != nil && !errors.As(err, &limit) {
		return errNotSimple // kustomize's error also names the place
	}
	return err
}

// listing returns the kustomization in a file if it only lists, else nil.
func (v *view) listing(file string, text []byte) *types.Kustomization {
	f, touched := v.Files, v.out.touches(file)
	if known, ok := f.listings.Load(file); ok && !touched {
		return known.(*types.Kustomization)
	}
	k := &types.Kustomization{}
	if k.Unmarshal(text) != nil || !onlyLists(k) {
		k = nil
	}
	if !touched {
		f.listings.Store(file, k)
	}
	return k
}

// kustomization returns the path of a folder's kustomization, and whether there is exactly one.
func (l *lister) kustomization(dir string) (at string, single bool) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if file := path.Join(dir, name); l.view.isFile(file) {
			at, single = file, at == ""
			if !single {
				return "", false
			}
		}
	}
	return at, single
}

// add adds objects to a level. It returns errNotSimple if one is already there.
func (all *level) add(objects ...member) error {
	for _, o := range objects {
		if all.ids[o.id] {
			return errNotSimple
		}
		all.ids[o.id] = true
	}
	all.objects = append(all.objects, objects...)
	return nil
}

// drop removes the objects that kustomize has emptied.
func (all *level) drop() {
	all.objects = slices.DeleteFunc(all.objects, func(o member) bool {
		gone := o.resource != nil && o.resource.IsNilOrEmpty()
		if gone {
			delete(all.ids, o.id)
		}
		return gone
	})
}
