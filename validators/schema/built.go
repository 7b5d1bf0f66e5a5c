package schema

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/definitions"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// reach determines which files the applied objects are built from. In a repository with clusters, the built objects are
// validated, not the files. The files of a Kustomization that could not be built are validated as they are. Files that no
// build reads are not validated.
type reach struct {
	// all reports whether the repository has no cluster: then every file is validated, except for the skipped ones.
	all bool
	// skipped are the files of examples and tests.
	skipped map[string]bool
	// built are the files of Kustomizations that could be built, failed the files of those that could not. failedDirs are
	// the folders of the latter.
	built, failed map[string]bool
	failedDirs    []string
	// known are the documents whose built objects are validated. lacking reports whether some builds lack files: the
	// objects that they apply may differ from the files.
	known map[*repository.Object]bool
	// deployed are the definitions of applications, which no Kustomization in Git builds.
	deployed platform.Definitions
	lacking  bool
	// malformed are the files that are not YAML and therefore cause a build to fail.
	malformed map[string]bool
}

func reached(fleet *reconcile.Fleet) reach {
	r := reach{all: len(fleet.Clusters) == 0, built: map[string]bool{}, failed: map[string]bool{}, known: map[*repository.Object]bool{}, malformed: map[string]bool{}}
	for _, c := range fleet.Clusters {
		for _, k := range c.Kustomizations {
			files := r.built
			lacks := len(k.MissingFiles()) > 0
			recovered := k.Failure != nil && len(k.Objects) > 0
			if k.Failure != nil || lacks || len(k.Gaps) > 0 && len(k.Objects) == 0 {
				files = r.failed
			}
			if k.Unbuilt && k.Repo != nil || k.Failure != nil && k.Failure.Reason != builds.PathMissing && k.Repo != nil {
				r.failedDirs = append(r.failedDirs, k.Dir)
			}
			r.lacking = r.lacking || lacks
			if f := k.Failure; f != nil && f.Malformed && !k.Spec.Suspend {
				r.malformed[f.File] = true
			}
			for _, f := range k.Files {
				files[f] = true
			}
			for _, o := range k.Objects {
				files[o.File] = true
				if lacks || recovered {
					r.known[o.Source] = true
				}
			}
		}
	}
	return r
}

// skipExamples determines the files of examples and tests, which are skipped if the repository has no cluster.
func (r *reach) skipExamples(repo *repository.Repository) {
	r.skipped = map[string]bool{}
	for _, f := range repo.Files() {
		use := repo.Use(f.Path)
		kustomization := repository.IsKustomization(f.Path)
		if !r.all || f.Excluded || use != repository.Plain && use != repository.Resource && !kustomization || !repository.IsExample(f.Path) {
			continue
		}
		if kustomization || f.Err != nil || slices.ContainsFunc(f.Documents, func(d *repository.Document) bool { return len(d.Objects) > 0 }) {
			r.skipped[f.Path] = true
		}
	}
}

// validatesFile reports whether the objects in a file are validated as they are in the file.
func (r reach) validatesFile(file string) bool {
	return r.all && !r.skipped[file] || !r.built[file] && r.mayFail(file)
}

// reads reports whether a build reads a file, or would read it if it did not fail.
func (r reach) reads(file string) bool {
	return r.all && !r.skipped[file] || r.built[file] || r.mayFail(file)
}

func (r reach) mayFail(file string) bool {
	if r.failed[file] || r.deployed.Hold(file) {
		return true
	}
	for _, dir := range r.failedDirs {
		if dir = path.Clean(dir); dir == "." || strings.HasPrefix(file, dir+"/") {
			return true
		}
	}
	return false
}

// built validates an object as Flux would apply it to a cluster.
func (w work) built(cluster string, o *reconcile.Object) checked {
	c := checked{Place: o.Place, object: rule.Built(o), built: o}
	found, doubtful, err := w.kinds.LookupIn(cluster, apischema.FromAPIVersionAndKind(o.APIVersion, o.Kind))
	if err != nil {
		if c.lacks(err); c.noSchema != "" {
			for _, p := range schemas.Metadata(o.Value, schemas.Options{Hints: w.hints}) {
				if p.Kind == schemas.Invalid {
					c.found = append(c.found, located{Problem: p})
				}
			}
		}
		for i := range c.found {
			f := &c.found[i]
			f.Place = o.Position(f.Path...)
		}
		return c
	}
	problems, judged := w.judge(found, o.Value, c, len(o.Unknown) == 0)
	c.judged = judged
	if len(problems) > 0 && controllers.MatchString(o.Group) {
		// Flux's own definitions that the cluster applies are used if they allow more, because users patch them.
		if own := w.kinds.Own(cluster, apischema.FromAPIVersionAndKind(o.APIVersion, o.Kind)); own != nil {
			if fewer, judged := w.judge(own, o.Value, c, len(o.Unknown) == 0); judged && len(fewer) < len(problems) {
				found, problems = own, fewer
			}
		}
	}
	if o.Carries(fluxapi.KustomizeGroup+"/ssa", kustomizev1.MergeValue) {
		// It is part of an object that exists, which has the rest.
		problems = slices.DeleteFunc(problems, func(p schemas.Problem) bool { return p.Required || p.Rule })
	}
	problems = append(problems, withoutNamespace(o)...)
	if len(problems) == 0 {
		return c
	}
	own := w.ownProblems(found, o, c)
	for _, p := range problems {
		if o.LooksUp && p.Kind == schemas.Invalid {
			p.Kind, p.Required, p.Misspelt, p.Rule = schemas.Unresolved, false, false, false
			p.Message = fmt.Sprintf("%s of %s: HelmRelease %s looks up objects in the cluster, which are unknown here", p.Message, o, o.HelmRelease.Name)
		}
		l := located{Problem: p, doubtful: doubtful}
		why, hint := unreplaced(o, p)
		if why != "" {
			l.Message, l.Hint = l.Message+why, hint
		}
		if p.Kind == schemas.UnknownField {
			l.Place = o.KeyPosition(p.Path...)
		} else {
			l.Place = o.Position(p.Path...)
			if placeInSource(o, p) == l.Place && why == "" {
				l.Hint = asWritten(o.Source, p)
			}
			if at, ok := o.PatchPosition(p.Path...); ok && (p.Rule || p.Required) && !own(p) {
				l.Place = at
			}
		}
		c.found = append(c.found, l)
	}
	c.found = withoutAliases(o.Source, c.found)
	return c
}

// controllers matches the API groups of Flux's controllers.
var controllers = regexp.MustCompile(`\.(?:toolkit|extensions)\.fluxcd\.io$`)

// unreplaced returns an addition to the message about a value with a variable, and a hint, if Flux replaces no variables
// in the object because its Kustomization has none; "" otherwise.
func unreplaced(o *reconcile.Object, p schemas.Problem) (why, hint string) {
	k := o.Kustomization
	if k == nil || o.HelmRelease != nil || k.Parent == nil && k.Object == nil || !strings.Contains(o.Text(p.Path...), "${") || len(k.Variables) > 0 ||
		k.Spec.PostBuild != nil && (k.Spec.PostBuild.SubstituteStrategy == "Always" || len(k.Spec.PostBuild.SubstituteFrom) > 0) {
		return "", ""
	}
	return fmt.Sprintf(": Flux replaces no variable here, since Kustomization %s has none", k), "define one in spec.postBuild, or set spec.postBuild.substituteStrategy: Always"
}

// withoutNamespace returns a problem if an object of a namespaced kind that a Kustomization applies has no namespace: Flux
// fails with "namespace not specified". Source: github.com/fluxcd/pkg/ssa v0.77, manager_apply.go.
func withoutNamespace(o *reconcile.Object) []schemas.Problem {
	k := o.Kustomization
	if o.Namespace != "" || o.Name == "" || o.HelmRelease != nil || o.ResourceSet() != nil || k == nil || k.Parent == nil && k.Object == nil {
		return nil
	}
	for _, at := range []string{"annotations", "labels"} {
		if o.Text("metadata", at, "kustomize.toolkit.fluxcd.io/ssa") == "Ignore" || o.Text("metadata", at, "kustomize.toolkit.fluxcd.io/reconcile") == "disabled" {
			return nil
		}
	}
	if o.Source != nil && strings.Contains(o.Source.Namespace, "${") {
		return nil // the variable is empty
	}
	if s, known := schemas.Lookup(apischema.FromAPIVersionAndKind(o.APIVersion, o.Kind)); !known || !s.Namespaced {
		return nil
	}
	return []schemas.Problem{{Kind: schemas.Invalid, Path: []any{"metadata", "name"},
		Message: fmt.Sprintf("%s has no namespace: Flux applies no object of a namespaced kind without one, and nothing else of Kustomization %s", o, k),
		Hint:    "set metadata.namespace, namespace in the kustomization.yaml, or spec.targetNamespace of the Kustomization"}}
}

// lacks records that there is no schema for the kind: the kind does not exist, or is unknown.
func (c *checked) lacks(err error) {
	var missing *schemas.MissingError
	if errors.As(err, &missing) && missing.Limit != nil {
		c.found = []located{{Problem: schemas.Problem{Kind: schemas.Exceeded, Message: missing.Reason}}}
		return
	}
	if p, found := ownKind(c.object); found {
		c.found = []located{{Problem: p}}
		return
	}
	if missing == nil || missing.Mistake == nil {
		c.noSchema = schemas.Reason(err)
		return
	}
	m := missing.Mistake
	c.found = []located{{Problem: schemas.Problem{Kind: schemas.Invalid, Path: []any{m.Field}, Message: m.Message, Hint: m.Hint}, doubtful: m.Newer}}
}

// ownKind returns the problem of an object of Fleetwright's own API group: its kind is misspelt, or no cluster serves it.
func ownKind(o finding.Object) (p schemas.Problem, found bool) {
	all := v1alpha1.KindNames()
	near, misspelt := nearest.To(o.Kind, all)
	switch {
	case !strings.HasPrefix(o.APIVersion, v1alpha1.Group+"/"):
		return p, false
	case slices.Contains(all, o.Kind):
		p.Message = fmt.Sprintf("only Fleetwright reads kind %q of %s: no cluster serves it", o.Kind, v1alpha1.Group)
		p.Hint = `add the annotation config.kubernetes.io/local-config: "true", with which kustomize omits the object`
	case misspelt:
		p.Message, p.Hint = fmt.Sprintf("there is no kind %q in %s", o.Kind, v1alpha1.Group), fmt.Sprintf("did you mean %q?", near)
	default:
		return p, false
	}
	p.Kind, p.Path = schemas.Invalid, []any{"kind"}
	return p, true
}

// ownProblems returns a function that reports whether the document that an object was built from has a problem itself. If
// it has, no patch caused the problem.
func (w work) ownProblems(found []*schemas.Schema, o *reconcile.Object, c checked) func(schemas.Problem) bool {
	problems := sync.OnceValue(func() []schemas.Problem {
		if o.Source == nil {
			return nil
		}
		value, err := o.Source.Value()
		fields, isMap := value.(map[string]any)
		if err != nil || !isMap {
			return nil
		}
		all, _ := w.judge(found, fields, c, false)
		return all
	})
	return func(p schemas.Problem) bool {
		return slices.ContainsFunc(problems(), func(q schemas.Problem) bool {
			return q.Kind == p.Kind && q.Message == p.Message && slices.Equal(q.Path, p.Path)
		})
	}
}

// chosen returns the results that a pass reports: those of its clusters, and those of files.
func chosen(p *rule.Pass) iter.Seq[checked] {
	clusters := map[*reconcile.Cluster]bool{}
	for _, c := range p.Clusters() {
		clusters[c] = true
	}
	return func(yield func(checked) bool) {
		for _, c := range problems.Of(p) {
			if (c.built == nil || c.built.Kustomization == nil || clusters[c.built.Kustomization.Cluster]) && !yield(c) {
				return
			}
		}
	}
}

// report reports a problem.
func (c checked) report(p *rule.Pass, l located) {
	f := finding.Finding{
		Place: finding.Place{File: cmp.Or(l.File, c.File), Line: l.Line, Column: l.Column}, Object: c.object, Message: l.Message, Hint: l.Hint,
	}
	if l.doubtful {
		f.Severity = finding.Warning
	}
	if l.Kind == schemas.Exceeded {
		f = rule.Exceeded(f, c.part(l.Path), l.Message)
	}
	if c.built != nil {
		if l.Kind == schemas.UnknownField && c.built.HelmRelease != nil {
			f.Severity = finding.Warning // a release that was first installed with client-side apply keeps it
		}
		if l.Required && c.built.Group == fluxapi.KustomizeGroup && schemas.Field(l.Path) == "spec.prune" {
			// A missing prune is never intended: the API server refuses the object.
			f.Fix = p.AddField(c.built, "prune: true", "spec")
		}
		p.ReportBuilt(c.built, f, l.Path...)
		return
	}
	p.Report(f)
}

// part names the value at a path of the checked object, or the object itself for an empty path.
func (c checked) part(at []any) string {
	if len(at) == 0 {
		return c.object.String()
	}
	return schemas.Field(at) + " of " + c.object.String()
}

// objectsInFiles returns the objects that are validated as they are in the files.
func (r reach) objectsInFiles(repo *repository.Repository) iter.Seq2[*repository.Object, repository.Use] {
	return func(yield func(*repository.Object, repository.Use) bool) {
		for _, f := range repo.Files() {
			use := repo.Use(f.Path)
			if f.Excluded || use != repository.Plain && use != repository.Resource || repository.IsKustomization(f.Path) || !r.validatesFile(f.Path) {
				continue
			}
			for _, d := range f.Documents {
				for _, o := range d.Objects {
					if !r.known[o] && !yield(o, use) {
						return
					}
				}
			}
		}
	}
}

// eachDefinition adds the CustomResourceDefinitions that Flux would apply, each once, and the definitions in files that
// no build reads, such as charts and parts of other repositories.
func eachDefinition(p *rule.Pass, add func(schemas.Definition)) {
	known := appliedDefinitions{at: map[definedAt][]*appliedDefinition{}}
	for _, c := range p.Fleet().Clusters {
		for _, o := range c.Objects() {
			known.add(c, o, o.Value)
		}
		for _, r := range c.Releases {
			for _, value := range r.Unrendered() {
				known.add(c, r.Object, value)
			}
		}
	}
	for _, d := range known.all {
		add(d.Definition)
	}
	r := reached(p.Fleet())
	mayChange := patched.Of(p).kinds[definitionKind]
	for d := range definitionsInFiles(p.Repo) {
		if known.at[definedAt{Place: finding.Place{File: d.File, Line: d.Line}}] == nil {
			add(unlessPatched(d, mayChange && r.all))
		}
	}
}

// definedAt identifies a definition: all definitions of a chart have the place of the HelmRelease.
type definedAt struct {
	finding.Place
	template, name string
}

// appliedDefinition is a definition with the spec that it was parsed from.
type appliedDefinition struct {
	schemas.Definition
	spec map[string]any
}

// appliedDefinitions are the definitions that clusters apply, in the order of the clusters.
type appliedDefinitions struct {
	all []*appliedDefinition
	at  map[definedAt][]*appliedDefinition
}

// add adds the definition in a value: an object, or an object of a HelmRelease's chart. Clusters may have different
// definitions from one place: with another version of a chart, patched or substituted.
func (a *appliedDefinitions) add(c *reconcile.Cluster, o *reconcile.Object, value map[string]any) {
	if value["kind"] != definitionKind {
		return
	}
	from, release := definedAt{Place: finding.Place{File: o.File, Line: o.Line}}, o.HelmRelease
	if o.Kind != definitionKind {
		release = o
	}
	if release != nil {
		metadata, _ := value["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		from.template, from.name = o.Template, name
	}
	spec, _ := value["spec"].(map[string]any)
	for _, d := range a.at[from] {
		if sameMap(d.spec, spec) {
			if last := len(d.Clusters) - 1; d.Clusters[last] != c.Name {
				d.Clusters = append(d.Clusters, c.Name)
			}
			return
		}
	}
	read, ok := schemas.DefinitionOf(value, o.File, o.Line)
	if !ok {
		return
	}
	d := &appliedDefinition{read, spec}
	d.Clusters = []string{c.Name}
	if release != nil {
		d.HelmRelease, d.Chart = release.Namespace+"/"+release.Name, chartOf(c, release)
	}
	a.all, a.at[from] = append(a.all, d), append(a.at[from], d)
}

// chartOf returns the name and version of the chart of a HelmRelease.
func chartOf(c *reconcile.Cluster, release *reconcile.Object) string {
	for _, r := range c.Releases {
		if r.Object == release {
			return r.Chart
		}
	}
	return ""
}

// sameMap reports whether two maps are identical or equal.
func sameMap(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() || reflect.DeepEqual(a, b)
}

// definitionsInFiles returns the CustomResourceDefinitions in the files of a repository.
func definitionsInFiles(repo *repository.Repository) iter.Seq[schemas.Definition] {
	return func(yield func(schemas.Definition) bool) {
		for _, f := range repo.Files() {
			if f.Excluded || !holdsDefinitions(repo.Use(f.Path)) {
				continue
			}
			for _, d := range f.Documents {
				for _, o := range d.Objects {
					if definition, ok := definitions.In(o); ok && !yield(definition) {
						return
					}
				}
			}
		}
	}
}

func holdsDefinitions(use repository.Use) bool {
	switch use {
	case repository.Chart, repository.Input, repository.Plain, repository.Resource:
		return true
	}
	return false
}
