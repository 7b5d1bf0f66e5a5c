package builds

import (
	"fmt"
	"iter"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// What kustomize says of an object that is there twice.
const (
	registered = "already registered id: "
	conflict   = "namespace transformation produces ID conflict"
	behaviors  = "can not use behavior"
)

// held are the objects of a file.
func held(f *repository.File) iter.Seq[*repository.Object] {
	return func(yield func(*repository.Object) bool) {
		for _, d := range f.Documents {
			for _, o := range d.Objects {
				if !yield(o) {
					return
				}
			}
		}
	}
}

// idOf is what kustomize tells objects apart by.
func idOf(o *repository.Object) resid.ResId {
	return resid.NewResIdWithNamespace(resid.NewGvk(o.Group(), o.Version(), o.Kind), o.Name, o.Namespace)
}

// twice finds a file of a kustomization that holds the object of another one, or one of its own
// again; and two objects of which the kustomization's namespace makes one.
func (v *diagnosis) twice(k *repository.Kustomize) *Failure {
	merged := strings.Contains(v.message, conflict) && k.Spec.Namespace != ""
	if !merged && !strings.Contains(v.message, registered) {
		return nil
	}
	type found struct {
		ref    string
		object *repository.Object
	}
	first := map[resid.ResId]found{}
	for i, ref := range k.Spec.Resources {
		at, _ := repository.Join(k.Dir, ref)
		f, ok := v.Repo.File(at)
		if !ok {
			continue
		}
		for o := range held(f) {
			id := idOf(o)
			if merged {
				id.Namespace = ""
			}
			before, known := first[id]
			switch {
			case !known:
				first[id] = found{ref, o}
			case before.ref == ref && !merged:
				return again(o, before.object, "")
			case merged:
				return failureAt(k, fmt.Sprintf("resources: %q holds %s, %q holds %s, and namespace: %s makes them the same object", ref, o, before.ref, before.object, k.Spec.Namespace), "resources", i)
			default:
				return failureAt(k, fmt.Sprintf("resources: %q holds %s, and so does %q", ref, o, before.ref), "resources", i)
			}
		}
	}
	return nil
}

// again is the failure of an object that is in another place too; why follows.
func again(o, before *repository.Object, why string) *Failure {
	f := &Failure{Reason: BuildFailed, File: o.File(), Message: fmt.Sprintf("%s is also in %s%s", o, before.File(), why)}
	if line, _ := before.Position(); line > 0 {
		f.Message = fmt.Sprintf("%s is also at %s:%d%s", o, before.File(), line, why)
	}
	f.Line, f.Column = o.Position()
	return f
}

// twiceIn finds an object that two files of a folder without a kustomization hold, or one of them
// twice: Flux lists them all.
func (v *diagnosis) twiceIn(dir string) *Failure {
	if !strings.Contains(v.message, registered) {
		return nil
	}
	first := map[resid.ResId]*repository.Object{}
	for _, f := range v.Repo.Files() {
		if !repository.Within(dir, f.Path) || v.Repo.Use(f.Path) != repository.Plain || f.Excluded {
			continue
		}
		for o := range held(f) {
			before := first[idOf(o)]
			if first[idOf(o)] = o; before != nil {
				return again(o, before, ", and Flux applies all files of "+dir)
			}
		}
	}
	return nil
}

// twiceRead finds the two objects that kustomize takes for one in all that the build read, where
// there are no more of that name: they come from folders of their own.
func (v *diagnosis) twiceRead() *Failure {
	_, wanted, ok := strings.Cut(v.message, registered)
	if !ok {
		return nil
	}
	var found []*repository.Object
	for _, file := range v.filesRead() {
		f, ok := v.Repo.File(file)
		if !ok || v.Repo.Use(file) < repository.Plain || repository.IsKustomization(file) {
			continue
		}
		for o := range held(f) {
			id := idOf(o)
			id.Namespace = ""
			name, _, _ := strings.Cut(id.String(), ".[noNs]")
			if strings.HasPrefix(wanted, name+".") {
				found = append(found, o)
			}
		}
	}
	if len(found) != 2 {
		return nil
	}
	return again(found[1], found[0], "")
}

// generatedTwice finds the generator of a ConfigMap or Secret that is there without it.
func (v *diagnosis) generatedTwice(k *repository.Kustomize) *Failure {
	if !strings.Contains(v.message, behaviors) {
		return nil
	}
	is := func(kind, name string) bool {
		return strings.Contains(v.message, fmt.Sprintf("Kind:%q", kind)) && strings.Contains(v.message, fmt.Sprintf("Name:%q", name))
	}
	const there = "%s: %q is also among the resources: rename it, or set behavior: merge or replace"
	for i, g := range k.Spec.ConfigMapGenerator {
		if is("ConfigMap", g.Name) {
			return failureAt(k, fmt.Sprintf(there, "configMapGenerator", g.Name), "configMapGenerator", i, "name")
		}
	}
	for i, g := range k.Spec.SecretGenerator {
		if is("Secret", g.Name) {
			return failureAt(k, fmt.Sprintf(there, "secretGenerator", g.Name), "secretGenerator", i, "name")
		}
	}
	return nil
}
