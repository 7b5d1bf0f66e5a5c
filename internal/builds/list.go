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

// Most kustomizations only list files and folders, and their result is what these hold, one
// after the other, at most in a namespace of theirs, labelled, and some of it patched. kustomize
// takes a time for it that grows with the square of the number of objects: half a minute for the
// 5,000 objects of a large cluster. A lister does the same, with kustomize's own code for each
// object that a patch changes, and leaves to kustomize all that isn't as simple. The tests hold
// it against kustomize.
type lister struct {
	view      *view
	factory   *resource.Factory
	variables bool
	stack     []string // the folders that lead here
	steps     int
	// changing says that a kustomization on the way here changes objects.
	changing bool
}

// member is an object of a list.
type member struct {
	// Result is known from the beginning, but for an object that has a resource.
	Result
	// failed says why no result can be made of the object.
	failed error
	// id is what it must not share with another one.
	id resid.ResId
	// was is what kustomize knows it by, too: what it was called before each change.
	was []former
	// document is what its resource can be made of, nil where it has one or none is needed.
	document *repository.Document
	// pending is what the resource that is made of it has to be changed by, as the value was.
	pending []func(*member) error
	// changed says that a patch changed the value, and instructed that comments may tell kustomize
	// how to merge patches into the object.
	changed, instructed bool
	// resource is what kustomize changes in the place of the result.
	resource *resource.Resource
}

// former is what an object was called.
type former struct{ namespace, name string }

// level is what a folder holds.
type level struct {
	objects []member
	ids     map[resid.ResId]bool
}

// errNotSimple leaves a build to kustomize.
var errNotSimple = errors.New("not only a list")

// list makes the objects of a kustomization that lists resources, one after the other, and says
// false where it does more than a lister does. Variables says that those in the objects will be
// replaced. The error is a limit's where it says false, otherwise kustomize's.
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

// results are those of all objects. The error is about the first one that no result can be made of.
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

// finished is the result of a resource, after what kustomize does last.
func (l *lister) finished(r *resource.Resource) (Result, error) {
	if !keepsReferences(r.GetKind(), r.YNode()) {
		return Result{}, errNotSimple
	}
	r.RemoveBuildAnnotations() // which writes all annotations anew
	if r.SetOrigin(nil) != nil || r.ClearTransformations() != nil {
		return Result{}, errNotSimple
	}
	return newResult(r, l.variables)
}

// onlyLists says whether a kustomization or component has nothing but resources, generators whose
// objects keep their names, components, patches, a namespace and labels.
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

// changes says whether a kustomization changes the objects that it lists.
func changes(k *types.Kustomization) bool {
	return k.Namespace != "" || len(k.Labels) > 0 || len(k.Patches) > 0 || len(k.Components) > 0
}

// folder adds what a kustomization or component in a folder lists to what is there, and changes all of it
// as it says.
func (l *lister) folder(all *level, dir string, k *types.Kustomization) error {
	if l.steps++; l.steps > mostSteps {
		return errNotSimple
	}
	for _, visited := range l.stack {
		if dir == visited || repository.Within(dir, visited) {
			return errNotSimple // a circle
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

// local is the path in the repository of what a kustomization in a folder refers to.
func (l *lister) local(dir, ref string) (at string, ok bool) {
	at, ok = relative(path.Join(mount, dir, ref))
	return at, ok && !path.IsAbs(ref) && !strings.ContainsAny(ref, "\n\\") && at != l.view.overlay
}

// base adds what a folder with a kustomization of its own lists.
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

// below runs the kustomization or component in a folder, on a level of its own or on that of what names it.
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
		return errNotSimple // kustomize says where, too
	}
	return err
}

// listing is the kustomization in a file where it only lists, else nil.
func (f *Files) listing(file string, text []byte) *types.Kustomization {
	if known, ok := f.listings.Load(file); ok {
		return known.(*types.Kustomization)
	}
	k := &types.Kustomization{}
	if k.Unmarshal(text) != nil || !onlyLists(k) {
		k = nil
	}
	f.listings.Store(file, k)
	return k
}

// kustomization is the path of a folder's kustomization, and whether there is a single one.
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

// add adds objects, which must not be there yet.
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

// drop removes the objects of which kustomize has left nothing.
func (all *level) drop() {
	all.objects = slices.DeleteFunc(all.objects, func(o member) bool {
		gone := o.resource != nil && o.resource.IsNilOrEmpty()
		if gone {
			delete(all.ids, o.id)
		}
		return gone
	})
}
