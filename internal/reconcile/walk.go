package reconcile

import (
	"context"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/roots"
)

func (w *walker) start(root roots.Root) {
	root.Patched(w.own.Repo)
	w.cluster = &Cluster{Root: root, byName: map[[2]string]*Kustomization{}}
	w.index, w.rebuilt = map[Identity][]*Object{}, map[*Kustomization]bool{}
	w.artifacts, w.ownBy = map[roots.Source]*builds.Files{}, map[roots.Source]*builds.Files{}
	w.wanted, w.included = map[roots.Source]*WantedSource{}, map[roots.Source]bool{}
	if root.Base != "." {
		w.own = &builds.Files{Repo: w.own.Repo, Base: root.Base, Budget: w.own.Budget, Remotes: w.own.Remotes}
	}
	if brought := broughtBy(sourceInFile(root, w.own.Repo), w.own); len(brought) > 0 {
		w.own = &builds.Files{Repo: w.own.Repo, Base: w.own.Base, Budget: w.own.Budget, Remotes: w.own.Remotes, Brought: brought}
	}
	for _, r := range append([]roots.Root{root}, root.Scripted...) {
		k := &Kustomization{Cluster: w.cluster, Namespace: r.Namespace, Name: r.Name, Spec: r.Spec}
		if r.Object != nil && r.Object.Kind == kindKs {
			k.Object = staticObject(k, r)
		}
		w.add(k)
	}
}

// walk builds, substitutes and follows objects until a round finds nothing new.
func (w *walker) walk() {
	for w.ctx.Err() == nil && (w.buildFound(false) || w.substituteReady() || w.substituteNext() || w.followSets() || w.buildFound(true)) {
	}
}

// staticObject returns a root Kustomization as written in its file.
func staticObject(k *Kustomization, root roots.Root) *Object {
	value, _ := root.Object.Value()
	fields, _ := value.(map[string]any)
	o := &Object{Kustomization: k, Value: fields, Source: root.Object, Place: finding.Place{File: root.File}}
	o.Line, o.Column = root.Object.Position()
	o.identify()
	return o
}

func (w *walker) add(k *Kustomization) {
	w.cluster.Kustomizations = append(w.cluster.Kustomizations, k)
	w.cluster.byName[[2]string{k.Namespace, k.Name}] = k
	w.unbuilt = append(w.unbuilt, k)
}

// buildFound builds concurrently the Kustomizations whose sources are known, and at last all others, whose sources are
// not in Git. It reports whether there was any.
func (w *walker) buildFound(atLast bool) bool {
	var wg sync.WaitGroup
	var later []*Kustomization
	before := len(w.waiting)
	for _, k := range w.unbuilt {
		from, gap := w.own, (*builds.Gap)(nil)
		if k.Parent != nil {
			from, gap = w.sourceOf(k)
		}
		if from == nil && gap == nil && atLast && !k.Unbuilt {
			if k.Assumed = w.secondName(k); k.Assumed != nil {
				from = w.own
			}
		}
		switch {
		case from == nil && gap == nil && !atLast:
			later = append(later, k)
			continue
		case from == nil && gap == nil && !k.Unbuilt:
			gap = w.sourceMissing(k)
		case gap == nil && strings.Contains(k.Spec.Path, "${"):
			gap = &builds.Gap{Kind: builds.UnknownPath, Message: "spec.path contains a variable with an unknown value"}
		}
		if gap == nil && from != nil {
			dir := path.Join(from.Base, repository.Clean(k.Spec.Path))
			if why := from.BroughtFrom(dir); why != "" {
				gap = &builds.Gap{Kind: builds.OtherSource, Message: fmt.Sprintf("folder %q is not in this repository: %s", dir, why)}
			}
		}
		if gap == nil && from != nil {
			k.Repo, k.Dir = from.Repo, path.Join(from.Base, repository.Clean(k.Spec.Path))
		}
		w.waiting = append(w.waiting, k)
		if k.Unbuilt { // the API server refuses it
			k.from, k.built = from, &builds.Built{}
			continue
		}
		if gap != nil {
			gap.Place = k.position("spec", "sourceRef")
			k.Gaps = append(k.Gaps, *gap)
			k.built = &builds.Built{}
			continue
		}
		k.from = from
		wg.Go(func() {
			w.slots <- struct{}{}
			defer func() { <-w.slots }()
			k.build(w.ctx, from)
		})
	}
	wg.Wait()
	w.unbuilt = later
	return len(w.waiting) > before
}

func (k *Kustomization) build(ctx context.Context, from *builds.Files) {
	k.built = from.Build(ctx, k.Dir, &k.Spec)
	k.read, k.origin = k.built.Files, from.Naming()
	k.Unbuilt = k.built.Unbuilt
	for _, file := range k.built.Files {
		k.Files = append(k.Files, from.Origin(file))
	}
	slices.Sort(k.Files)
	for _, gap := range k.built.Gaps {
		if gap.File = from.Origin(gap.File); gap.File == "" {
			gap.Place = k.position("spec", "path")
		}
		k.Gaps = append(k.Gaps, gap)
	}
	for _, remote := range k.built.Remotes {
		if remote.File = from.Origin(remote.File); remote.File == "" {
			remote.Place = k.position("spec", "path")
		}
		k.Remotes = append(k.Remotes, remote)
	}
	k.Failure, k.More = nil, slices.Clone(k.built.More)
	for i := range k.More {
		k.placeFailure(&k.More[i], from)
	}
	if k.built.Failure != nil {
		failure := *k.built.Failure // the build may be shared
		k.Failure = &failure
		k.placeFailure(k.Failure, from)
	}
}

// placeFailure sets the position of a failure to a file that the reader knows.
func (k *Kustomization) placeFailure(f *builds.Failure, from *builds.Files) {
	switch i := slices.Index(k.Spec.Components, f.Component); {
	case i >= 0 && f.Component != "":
		f.Place = k.position("spec", "components", i)
	case f.Added != nil:
		f.Place = k.positionOf(*f.Added)
	case f.File == "":
		f.Place = k.position("spec", "path")
	default:
		f.File = from.Origin(f.File)
	}
}

// substituteReady substitutes the waiting Kustomizations whose references are all found, and reports whether there was
// any.
func (w *walker) substituteReady() bool { return w.substituteWhere(w.isReady) }

// substituteNext substitutes waiting Kustomizations although some of their references are missing: those whose missing
// references no other waiting Kustomization can create, or else the first one.
func (w *walker) substituteNext() bool {
	if len(w.waiting) == 0 {
		return false
	}
	type named struct{ kind, name string }
	builders := map[named]map[*Kustomization]bool{}
	for _, k := range w.waiting {
		for _, r := range k.built.Results {
			n := named{r.Kind, r.Name}
			if builders[n] == nil {
				builders[n] = map[*Kustomization]bool{}
			}
			builders[n][k] = true
		}
	}
	alone := func(k *Kustomization) bool {
		return !slices.ContainsFunc(w.references(k), func(r Reference) bool {
			others := builders[named{r.Kind, r.Name}]
			return r.Found == nil && (len(others) > 1 || len(others) == 1 && !others[k])
		})
	}
	first := w.waiting[0]
	return w.substituteWhere(alone) || w.substituteWhere(func(k *Kustomization) bool { return k == first })
}

// substituteWhere substitutes the waiting Kustomizations that are chosen, concurrently, and then follows their objects in
// order. It reports whether there was any.
func (w *walker) substituteWhere(choose func(*Kustomization) bool) bool {
	var chosen, later []*Kustomization
	for _, k := range w.waiting {
		if choose(k) {
			k.References = w.references(k)
			chosen = append(chosen, k)
			continue
		}
		later = append(later, k)
	}
	w.waiting = later
	var wg sync.WaitGroup
	for _, k := range chosen {
		wg.Go(func() {
			w.slots <- struct{}{}
			defer func() { <-w.slots }()
			k.substitute()
		})
	}
	wg.Wait()
	for _, k := range chosen {
		w.follow(k)
	}
	return len(chosen) > 0
}

// references returns the entries of substituteFrom of a Kustomization, with the objects that they name.
func (w *walker) references(k *Kustomization) []Reference {
	if k.Spec.PostBuild == nil {
		return nil
	}
	references := make([]Reference, 0, len(k.Spec.PostBuild.SubstituteFrom))
	for i, from := range k.Spec.PostBuild.SubstituteFrom {
		ref := Reference{Index: i, Kind: from.Kind, Name: from.Name, Optional: from.Optional}
		ref.Found = w.find(ref.identity(k.Namespace))
		references = append(references, ref)
	}
	return references
}

func (w *walker) isReady(k *Kustomization) bool {
	return !slices.ContainsFunc(w.references(k), func(r Reference) bool { return r.Found == nil })
}

// substitute creates the objects of a built Kustomization.
func (k *Kustomization) substitute() {
	k.Objects = k.objects()
	switch {
	case k.Spec.PostBuild != nil:
		k.replaceVariables()
	case k.Parent == nil && k.Object == nil && k.Cluster.Root.Guessed():
		k.markVariablesUnknown()
	}
	for _, o := range k.Objects {
		applyCommonMetadata(o, k.Spec.CommonMetadata)
	}
}

// follow indexes the objects of a Kustomization, and adds the Kustomizations, generators and ResourceSets among them.
func (w *walker) follow(k *Kustomization) {
	if w.rebuilds(k) {
		w.waiting = append([]*Kustomization{k}, w.waiting...)
		return
	}
	k.built = nil
	if k.Spec.KubeConfig != nil {
		return // they go to another cluster
	}
	for _, o := range k.Objects {
		w.index[o.Identity] = append(w.index[o.Identity], o)
		w.addKinds(o)
		w.takeGenerator(o)
		if o.isKustomization() {
			w.addKustomization(k, o)
		}
		w.takeResourceSet(k, o)
	}
}

// objects returns the objects that kustomize built, with their origins.
func (k *Kustomization) objects() []*Object {
	if k.Repo == nil {
		return nil
	}
	fallback := k.position("spec", "path")
	if err := k.from.Budget.Apply(len(k.built.Results)); err != nil {
		k.fail(builds.BuildFailed, nil, err)
		k.built.Results = nil
		return nil
	}
	from := originsOf(k.from, k.built.Files, fallback)
	objects := make([]*Object, 0, len(k.built.Results))
	for _, r := range k.built.Results {
		o := newObject(k, r)
		from.locate(o)
		o.File = k.from.Origin(o.File)
		objects = append(objects, o)
	}
	return objects
}

// replaceVariables runs postBuild on the objects. The objects of the Kustomization itself may define variables of it,
// too, once they are applied.
func (k *Kustomization) replaceVariables() {
	own := map[Identity]*Object{}
	count := map[string]int{}
	for _, o := range k.Objects {
		count[o.uniqueness()]++
		if own[o.Identity] == nil {
			own[o.Identity] = o
		}
	}
	for i, r := range k.References {
		if r.Found == nil {
			k.References[i].Found = own[r.identity(k.Namespace)]
		}
	}
	if k.from != nil { // else there is nothing to replace them in
		if err := k.from.Budget.Define(countVariables(&k.Spec, k.References)); err != nil {
			k.fail(builds.SubstitutionFailed, nil, err)
			k.Objects = nil
			return
		}
	}
	k.Variables = variablesOf(k)
	misnamed := k.Variables.misnamed()
	// An object that is not in Git may define variables; if it is not on the cluster either, Flux stops.
	always := k.Spec.PostBuild.SubstituteStrategy == kustomizev1.SubstituteStrategyAlways ||
		slices.ContainsFunc(k.References, func(r Reference) bool { return r.Found == nil && !r.Optional })
	if len(k.Variables) == 0 && !always && slices.ContainsFunc(k.References, func(r Reference) bool { return r.Found == nil }) {
		k.markVariablesUnknown() // an optional ConfigMap or Secret that is not in Git may define them
	}
	grown := 0
	var unknown []*Object
	for i, o := range k.Objects {
		before := o.uniqueness()
		growth, err := k.Variables.substitute(k.built.Results[i], o, always, limits.Growth-grown, misnamed)
		if grown += growth; err == nil {
			err = k.from.Budget.Grow(growth)
		}
		if err != nil {
			if k.Failure == nil || !errors.Is(err, misnamed) {
				k.fail(builds.SubstitutionFailed, o, err)
			}
			if limit := (*builds.LimitError)(nil); errors.As(err, &limit) {
				unknown = append(unknown, o)
			}
		}
		o.identify()
		if after := o.uniqueness(); after != before {
			count[before]--
			if count[after]++; count[after] > 1 {
				k.fail(builds.SubstitutionFailed, o, fmt.Errorf("variable substitution produces a second %s", o))
			}
		}
	}
	if len(unknown) > 0 {
		k.Objects = slices.DeleteFunc(k.Objects, func(o *Object) bool {
			found := len(unknown) > 0 && unknown[0] == o // they are in the same order
			if found {
				unknown = unknown[1:]
			}
			return found
		})
	}
}

// rebuilds builds a root again that its own build changes, for example by a patch in its flux-system folder, and reports
// whether it did.
func (w *walker) rebuilds(k *Kustomization) bool {
	if k.Parent != nil || k.Repo == nil {
		return false
	}
	self := slices.IndexFunc(k.Objects, func(o *Object) bool {
		return o.isKustomization() && o.Namespace == k.Namespace && o.Name == k.Name
	})
	if self < 0 {
		return false
	}
	spec, wrong := builds.SpecOf(k.Objects[self].Value)
	changed := wrong == "" && !reflect.DeepEqual(spec, k.Spec) && !w.rebuilt[k]
	k.Object = k.Objects[self]
	if changed {
		w.rebuilt[k] = true
		k.Spec, k.Dir = spec, path.Join(w.own.Base, repository.Clean(spec.Path))
		k.Files, k.Gaps, k.Failure = nil, nil, nil
		k.build(w.ctx, w.own)
	}
	return changed
}

// refuse records that a field of the Kustomization has the wrong type, so that the API server refuses the object, unless
// the field contains a variable with an unknown value.
func (k *Kustomization) refuse(field string) {
	at := k.position("spec", field)
	k.Unbuilt = true
	if len(k.Object.Unknown) > 0 {
		k.Gaps = append(k.Gaps, builds.Gap{Kind: builds.UnknownPath, Place: at,
			Message: fmt.Sprintf("spec.%s contains a variable with an unknown value", field)})
		return
	}
	k.Failure = &builds.Failure{Reason: builds.Refused, Place: at,
		Message: fmt.Sprintf("the API server refuses it: spec.%s has the wrong type", field)}
}

func (k *Kustomization) fail(reason builds.Reason, o *Object, err error) {
	var limit *builds.LimitError
	if errors.As(err, &limit) {
		k.Gaps = append(k.Gaps, builds.Gap{Kind: builds.Limit, Place: k.position("spec", "path"), Message: err.Error()})
		return
	}
	if k.Failure != nil && o == nil || len(k.More) >= mostFailures {
		return
	}
	f := builds.Failure{Reason: reason, Message: err.Error()}
	if bad := (*badName)(nil); errors.As(err, &bad) {
		f.Place = bad.place(k)
		f.Message += fmt.Sprintf("; Kustomization %s, which reads it, fails as a whole", k)
	} else if o != nil {
		f.Place = o.Position()
		if broken := (*brokenYAML)(nil); errors.As(err, &broken) && broken.name != "" {
			path := Holding(o.Value, "${"+broken.name)
			f.Place = o.Position(path...)
			if o.Text(path...) == "${"+broken.name+"}" {
				f.Message += `; quote it in the value of the variable, as in "'…'"`
			}
		}
		if line, column, ok := unreadable(o); ok {
			f.Line, f.Column = line, column
			f.Message = "the variables here cannot be read: " + err.Error() + "; write $${ if it is not a Flux variable"
		}
	} else {
		f.Place = k.position("spec", "path")
	}
	if k.Failure == nil {
		k.Failure = &f
		return
	}
	k.More = append(k.More, f)
}

// mostFailures is the maximum of further failures of a Kustomization that are reported.
const mostFailures = 100

// endless returns an error if a Kustomization must not be followed: a document that creates Kustomizations with variables
// in their names may create more of them without end.
func (w *walker) endless(k *Kustomization) error {
	if len(w.cluster.Kustomizations) >= limits.Kustomizations {
		return &builds.LimitError{Err: fmt.Errorf("%s is not followed: there are more than %d Kustomizations", k, limits.Kustomizations)}
	}
	same := 0
	for p := k; p != nil; p = p.Parent {
		if p.Object != nil && p.Object.document() == k.Object.document() && p.Object.document() != nil {
			same++
		}
	}
	if same > limits.KustomizationChain {
		return &builds.LimitError{Err: fmt.Errorf("%s is not followed: it is the %dth of a chain from one document", k, same)}
	}
	return nil
}

// addKustomization adds a Kustomization that another one applies. One that is already known is the root's own, or is
// applied by two.
func (w *walker) addKustomization(parent *Kustomization, o *Object) {
	if _, known := w.cluster.byName[[2]string{o.Namespace, o.Name}]; known {
		return
	}
	k := &Kustomization{Cluster: w.cluster, Parent: parent, Object: o, Namespace: o.Namespace, Name: o.Name, Loose: o.loose || parent.Loose}
	if err := w.endless(k); err != nil {
		parent.fail(builds.BuildFailed, o, err)
		return
	}
	var wrong string
	if k.Spec, wrong = builds.SpecOf(o.Value); wrong != "" {
		k.refuse(wrong)
	}
	w.add(k)
}
