package builds

import (
	"fmt"
	"iter"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Parts of kustomize's messages about duplicate objects.
const (
	registered = "already registered id: "
	conflict   = "namespace transformation produces ID conflict"
	behaviors  = "can not use behavior"
)

// held returns the objects of a file that are not excluded.
func (v *diagnosis) held(f *repository.File) iter.Seq[*repository.Object] {
	return func(yield func(*repository.Object) bool) {
		for _, d := range f.Documents {
			for _, o := range d.Objects {
				line, _ := o.Position()
				if !v.out.has(&exclusion{file: f.Path, line: line}) && !yield(o) {
					return
				}
			}
		}
	}
}

// idOf returns the id by which kustomize distinguishes objects.
func idOf(o *repository.Object) resid.ResId {
	return resid.NewResIdWithNamespace(resid.NewGvk(o.Group(), o.Version(), o.Kind), o.Name, o.Namespace)
}

// twice finds duplicates in a kustomization: a path that it lists twice, a file with an object that another file or the
// same file also contains, and two objects that become the same one in the kustomization's namespace.
func (v *diagnosis) twice(k *repository.Kustomize) *Failure {
	merged := strings.Contains(v.message, conflict) && k.Spec.Namespace != ""
	if !merged && !strings.Contains(v.message, registered) {
		return nil
	}
	type found struct {
		ref    string
		index  int
		object *repository.Object
	}
	listed := map[string]int{}
	first := map[resid.ResId]found{}
	for i, ref := range k.Spec.Resources {
		if v.out.has(entryAt(k, "resources", i)) {
			continue
		}
		at, inside := repository.Join(k.Dir, ref)
		if before, known := listed[at]; known && inside && !merged {
			message := fmt.Sprintf("resources: %q is listed twice", ref)
			if first := failureAt(k, "", "resources", before); first.Line > 0 {
				message += fmt.Sprintf(", first on line %d", first.Line)
			}
			return failureAt(k, message, "resources", i)
		}
		if inside {
			listed[at] = i
		}
		f, ok := v.Repo.File(at)
		if !ok {
			continue
		}
		for o := range v.held(f) {
			id := idOf(o)
			if merged {
				id.Namespace = ""
			}
			before, known := first[id]
			switch {
			case !known:
				first[id] = found{ref, i, o}
			case before.index == i && !merged:
				return again(o, before.object, "")
			case merged:
				return failureAt(k, fmt.Sprintf("resources: %q holds %s, %q holds %s, and namespace: %s turns them into the same object", ref, o, before.ref, before.object, k.Spec.Namespace), "resources", i)
			default:
				return failureAt(k, fmt.Sprintf("resources: %q holds %s, and so does %q", ref, o, before.ref), "resources", i)
			}
		}
	}
	return nil
}

// again returns the failure of an object that another place also contains; why is appended to the message.
func again(o, before *repository.Object, why string) *Failure {
	f := &Failure{Reason: BuildFailed, Place: finding.Place{File: o.File()}, Message: fmt.Sprintf("%s is also in %s%s", o, before.File(), why)}
	if line, _ := before.Position(); line > 0 {
		f.Message = fmt.Sprintf("%s is also at %s:%d%s", o, before.File(), line, why)
	}
	f.Line, f.Column = o.Position()
	f.out = &exclusion{file: o.File(), line: f.Line}
	return f
}

// twiceIn finds an object that occurs twice in the files of a folder without a kustomization.yaml: Flux applies all of them.
func (v *diagnosis) twiceIn(dir string) *Failure {
	if !strings.Contains(v.message, registered) {
		return nil
	}
	first := map[resid.ResId]*repository.Object{}
	for _, f := range v.Repo.Files() {
		if !repository.Within(dir, f.Path) || v.Repo.Use(f.Path) != repository.Plain || f.Excluded {
			continue
		}
		for o := range v.held(f) {
			before := first[idOf(o)]
			if first[idOf(o)] = o; before != nil {
				return again(o, before, ", and Flux applies all files of "+dir)
			}
		}
	}
	return nil
}

// twiceRead finds the two objects that kustomize considers the same among all files that the build read, if there
// are exactly two of that name: they come from different folders.
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
		for o := range v.held(f) {
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

// generatedTwice finds the generator of a ConfigMap or Secret that already exists without it.
func (v *diagnosis) generatedTwice(k *repository.Kustomize) *Failure {
	if !strings.Contains(v.message, behaviors) {
		return nil
	}
	is := func(kind, name string) bool {
		return strings.Contains(v.message, fmt.Sprintf("Kind:%q", kind)) && strings.Contains(v.message, fmt.Sprintf("Name:%q", name))
	}
	const there = "%s: %q is also among the resources: rename it, or set behavior: merge or replace"
	for i, g := range k.Spec.ConfigMapGenerator {
		if is("ConfigMap", g.Name) && !v.out.has(entryAt(k, "configMapGenerator", i)) {
			f := failureAt(k, fmt.Sprintf(there, "configMapGenerator", g.Name), "configMapGenerator", i, "name")
			f.open = true
			return f
		}
	}
	for i, g := range k.Spec.SecretGenerator {
		if is("Secret", g.Name) && !v.out.has(entryAt(k, "secretGenerator", i)) {
			f := failureAt(k, fmt.Sprintf(there, "secretGenerator", g.Name), "secretGenerator", i, "name")
			f.open = true
			return f
		}
	}
	return nil
}
