// Package schema validates objects against the schemas of their kinds, as the API server would.
package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/parallel"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// problems are the problems that the schemas find in a repository, for all rules of this package.
var problems = &rule.Analysis[[]checked]{Name: "schema", RunPass: check}

// patched holds the kinds that some patch changes.
var patched = &rule.Analysis[patches]{Name: "patches", Run: func(_ context.Context, repo *repository.Repository) patches { return findPatches(repo) }}

// checked is an object with problems, or a file that cannot be read.
type checked struct {
	finding.Place
	object finding.Object
	found  []located
	// noSchema is the reason why the object's kind has no schema, "" if it has one.
	noSchema string
	// built is the object as Flux would apply it, nil if it was validated as it is in its file. judged reports whether a
	// schema validated it.
	built  *reconcile.Object
	judged bool
}

// located is a problem with its position.
type located struct {
	schemas.Problem
	// The file is empty if it is that of the checked object.
	finding.Place
	// doubtful reports whether another release may allow the value.
	doubtful bool
}

// report reports the problems of one kind, and exceeded limits, for whichever rule runs. schema-unknown-field reports a
// misspelt required field, unless that rule is off.
func report(p *rule.Pass, kind schemas.ProblemKind) {
	hasOtherRule := p.Runs(unknownFieldID)
	for c := range chosen(p) {
		for _, f := range c.found {
			if f.Kind == schemas.Exceeded || f.Kind == kind && (!f.Misspelt || !hasOtherRule) {
				c.report(p, f)
			}
		}
	}
}

// unresolved reports the problems that cannot be decided: substituted values once for each object, and fields that a
// patch may set once for each kind.
func unresolved(p *rule.Pass) {
	var lacking []*lack
	reported := map[question]bool{}
	elsewhere := p.Runs(unknownFieldID)
	for c := range chosen(p) {
		var first *located
		more := 0
		for i := range c.found {
			f := &c.found[i]
			switch {
			case f.Kind != schemas.Unresolved || f.Rule || f.Misspelt && elsewhere:
			case f.Required:
				lacking = addLack(lacking, c, *f)
			case first == nil:
				first = f
			default:
				more++
			}
		}
		if first == nil {
			continue
		}
		reason := first.Message
		if more > 0 {
			reason += fmt.Sprintf(" (and %d more)", more)
		}
		if q := (question{finding.Place{File: cmp.Or(first.File, c.File), Line: first.Line}, reason}); !reported[q] {
			reported[q] = true // clusters share bases
			p.Unresolved(q.Place, reason)
		}
	}
	for _, l := range lacking {
		p.Unresolved(l.Place, l.String())
	}
}

// question is a problem that cannot be decided, at a place.
type question struct {
	finding.Place
	reason string
}

// lack collects the objects of one kind that lack required fields which a patch may set.
type lack struct {
	kind string
	finding.Place
	fields  []string
	objects map[finding.Object]bool
}

func addLack(all []*lack, c checked, f located) []*lack {
	at := slices.IndexFunc(all, func(l *lack) bool { return l.kind == c.object.Kind })
	if at < 0 {
		at = len(all)
		all = append(all, &lack{kind: c.object.Kind, Place: finding.Place{File: c.File, Line: f.Line}, objects: map[finding.Object]bool{}})
	}
	l := all[at]
	l.objects[c.object] = true
	if field := schemas.Field(f.Path); !slices.Contains(l.fields, field) {
		l.fields = append(l.fields, field)
	}
	return all
}

func (l *lack) String() string {
	const most = 5
	fields := strings.Join(l.fields[:min(len(l.fields), most)], ", ")
	if more := len(l.fields) - most; more > 0 {
		fields += fmt.Sprintf(" and %d more", more)
	}
	if len(l.objects) == 1 {
		return fmt.Sprintf("the %s has missing required fields (%s), unless a patch sets them", l.kind, fields)
	}
	return fmt.Sprintf("this and %d other %s objects have missing required fields (%s), unless patches set them",
		len(l.objects)-1, l.kind, fields)
}

// check validates all objects that Flux would apply, and the files that are validated as they are.
func check(p *rule.Pass) []checked {
	repo := p.Repo
	r := reached(p.Fleet())
	r.skipExamples(repo)
	r.deployed = platform.Deployed.Of(p)
	p.NotJudged(slices.Collect(maps.Keys(r.skipped))...)
	all := slices.DeleteFunc(unreadable(repo, r.malformed, r.reads), func(c checked) bool { return r.skipped[c.File] })
	w := work{kinds: Kinds.Of(p), patches: patched.Of(p), hints: &schemas.Hints{}, admitted: &admitted{}}
	if r.all {
		w.unapplied = newUnapplied(p)
	}
	w.patches.any = w.patches.any || r.lacking
	var jobs []job
	for _, c := range p.Fleet().Clusters {
		for _, o := range c.Objects() {
			jobs = append(jobs, job{o.APIVersion + " " + o.Kind, func() checked { return w.built(c.Name, o) }})
		}
	}
	for o, use := range r.objectsInFiles(repo) {
		jobs = append(jobs, job{o.APIVersion + " " + o.Kind, func() checked {
			c := w.object(o, use)
			if !r.all {
				c.keepCertain()
			}
			return c
		}})
	}
	for _, k := range repo.Kustomizes() {
		if k.Document != nil && r.reads(k.File.Path) {
			jobs = append(jobs, job{run: func() checked { return checkKustomization(k) }})
		}
	}
	// Objects of a kind are checked one after another, because the compiled rules of only a few kinds are kept.
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	sorting.StableFunc(order, func(a, b int) int { return strings.Compare(jobs[a].kind, jobs[b].kind) })
	results := make([]checked, len(jobs))
	parallel.Each(len(jobs), func(i int) {
		if p.Context.Err() == nil {
			results[order[i]] = jobs[order[i]].run()
		}
	})
	for _, c := range results {
		if c.judged {
			p.SchemaChecked(c.built)
		}
		if len(c.found) > 0 || c.noSchema != "" {
			all = append(all, c)
		}
	}
	return all
}

// job checks an object of a kind.
type job struct {
	kind string
	run  func() checked
}

// keepCertain removes the problems that the failed build might have fixed: missing names, namespaces and fields.
func (c *checked) keepCertain() {
	c.found = slices.DeleteFunc(c.found, func(l located) bool {
		return l.Required || l.Rule || len(l.Path) > 1 && l.Path[0] == "metadata" && (l.Path[1] == "name" || l.Path[1] == "namespace")
	})
}

// work holds the data for checking an object.
type work struct {
	kinds   *schemas.Set
	patches patches
	hints   *schemas.Hints
	// admitted holds the values that the API server's code admits, because clusters share equal objects.
	admitted *admitted
	// unapplied knows the overlays and scripts that may change an object before it is applied; nil in a repository with
	// clusters.
	unapplied *unapplied
}

// judge validates an object against the schemas of its kind. If a definition comes from the repository, or if the object
// is large, the validation runs as a bounded unit of work. If that exceeds its limits, judged is false.
func (w work) judge(found []*schemas.Schema, object map[string]any, of checked, literal bool) (problems []schemas.Problem, judged bool) {
	judge := func() ([]schemas.Problem, error) {
		return validate(found, object, schemas.Options{Hints: w.hints, Literal: literal}, w.created(of, object)), nil
	}
	if !slices.ContainsFunc(found, (*schemas.Schema).Foreign) && !isLarge(object) {
		problems, _ = judge() // it returns no error
		return problems, true
	}
	for _, s := range found {
		s.Prepare()
	}
	unit := bounds.Unit{Kind: "document", File: of.File, Line: of.Line, Name: of.object.String()}
	problems, err := bounds.Do(unit, judge)
	return problems, err == nil // limit-exceeded reports the unit
}

func (w work) object(o *repository.Object, use repository.Use) checked {
	c := checked{Place: finding.Place{File: o.File()}, object: rule.ObjectOf(o)}
	c.Line, _ = o.Position()
	if use == repository.Plain && (isFragment(o) || w.unapplied != nil && path.Base(path.Dir(o.File())) == "patches") {
		return c
	}
	value, err := o.Value()
	object, isMap := value.(map[string]any)
	if err != nil || !isMap {
		if use != repository.Plain || w.unapplied == nil || !isTemplate(o.Node) {
			c.found = append(c.found, malformed(err))
		}
		return c
	}
	found, err := w.kinds.Lookup(apischema.FromAPIVersionAndKind(o.APIVersion, o.Kind))
	if err != nil {
		if !isLocal(o) {
			c.lacks(err)
			for i := range c.found {
				f := &c.found[i]
				f.Line, f.Column = o.Position(f.Path...)
			}
		}
		return c
	}
	problems, _ := w.judge(found, object, c, false)
	for _, p := range problems {
		l := locate(o, p)
		if (p.Required || p.Rule) && w.patches.mayChange(o) {
			l.Kind = schemas.Unresolved
			if p.Rule {
				l.Message += ", unless a patch fixes it"
			}
		}
		if w.unapplied != nil && p.Kind == schemas.Invalid && !w.unapplied.judge(w, o, object, &l) {
			continue
		}
		c.found = append(c.found, l)
	}
	c.found = withoutAliases(o, c.found)
	return c
}

// isFragment reports whether an object is a HelmRelease without a chart: a part that is merged into other HelmReleases
// from elsewhere. In a folder without a kustomization, nothing else distinguishes it from a resource.
func isFragment(o *repository.Object) bool {
	return o.Group() == fluxapi.HelmGroup && o.Kind == "HelmRelease" &&
		o.Lookup("spec", "chart") == nil && o.Lookup("spec", "chartRef") == nil
}

// malformed returns the problem of an object that kustomize refuses to read, such as one with a duplicate key.
func malformed(err error) located {
	l := located{Problem: schemas.Problem{Kind: schemas.Invalid, Message: "the object is not a mapping"}}
	var failed *repository.Error
	if errors.As(err, &failed) {
		l.Message, l.Line, l.Column = failed.Message, failed.Line, failed.Column
	}
	return l
}

func locate(o *repository.Object, p schemas.Problem) located {
	l := located{Problem: p}
	if p.Kind == schemas.UnknownField {
		l.Line, l.Column = o.KeyPosition(p.Path...)
	} else {
		l.Line, l.Column = o.Position(p.Path...)
		l.Hint = asWritten(o, p)
	}
	return l
}

// checkKustomization validates a kustomization.yaml, whose kind may be omitted.
func checkKustomization(k *repository.Kustomize) checked {
	c := checked{Place: finding.Place{File: k.File.Path}}
	gvk := apischema.GroupVersionKind{Group: "kustomize.config.k8s.io", Version: "v1beta1", Kind: "Kustomization"}
	if k.Component {
		gvk.Version, gvk.Kind = "v1alpha1", "Component"
	}
	c.object.APIVersion, c.object.Kind = gvk.GroupVersion().String(), gvk.Kind
	s, ok := schemas.Lookup(gvk)
	object, isMap := k.Value.(map[string]any)
	if !ok || !isMap {
		c.found = append(c.found, malformed(k.Err))
		return c
	}
	for _, p := range s.Validate(object) {
		l := located{Problem: p}
		if p.Kind == schemas.UnknownField {
			l.Line, l.Column = k.Document.KeyPosition(p.Path...)
		} else {
			l.Line, l.Column = k.Document.Position(p.Path...)
		}
		c.found = append(c.found, l)
	}
	return c
}

// unreadable returns the files that Flux would read and that cannot be read. A file that is not YAML, or that the
// operating system cannot read, is invalid if another file refers to it or a build fails because of it. Otherwise it is
// unresolved, and a template is not reported. limit-exceeded reports the files above a limit.
func unreadable(repo *repository.Repository, failing map[string]bool, reads func(file string) bool) []checked {
	var all []checked
	for _, f := range repo.Files() {
		if f.Err == nil || f.Excluded {
			continue
		}
		use := repo.Use(f.Path)
		if use == repository.Unlisted || use == repository.Chart || use == repository.Input {
			continue
		}
		isApplied := failing[f.Path] || underFluxPath(repo, f.Path)
		read := isApplied || use != repository.Plain && (!f.Err.Template || reads(f.Path) && !repository.IsSetAside(f.Path))
		if repository.Attic(f.Path) != "" && !isApplied {
			continue // it is listed by another file that is no longer in use
		}
		p := schemas.Problem{Kind: schemas.Unresolved, Message: f.Err.Message, Hint: f.Err.Hint}
		switch {
		case f.Err.Reason == repository.Exceeded, f.Err.Reason.IsLimit():
			continue // limit-exceeded reports it
		case f.Err.Reason == repository.NotYAML && !read && f.Err.Template && (use == repository.Plain || repository.IsSetAside(f.Path)):
			continue
		case read: // a file that was not checked must not pass
			p.Kind = schemas.Invalid
		}
		if !strings.HasPrefix(p.Message, "the ") { // such a message has a subject
			p.Message = "the file " + p.Message
		}
		all = append(all, checked{Place: finding.Place{File: f.Path},
			found: []located{{Problem: p, Place: finding.Place{Line: f.Err.Line, Column: f.Err.Column}}}})
	}
	return all
}

// ofArtifact reports whether a Flux Kustomization applies the root of an artifact that a file defines, and not of the
// repository.
func ofArtifact(repo *repository.Repository, o *repository.Object) bool {
	text := func(field string) string {
		value, _ := o.Text("spec", "sourceRef", field)
		return value
	}
	at, _ := o.Text("spec", "path")
	return repository.Clean(at) == "." && text("kind") != "GitRepository" &&
		len(repo.Find(fluxapi.SourceGroup, text("kind"), cmp.Or(text("namespace"), o.Namespace), text("name"))) > 0
}

// underFluxPath reports whether a Flux Kustomization applies a file of a folder without a kustomization: its path is that
// folder, or a parent with no kustomization in between.
func underFluxPath(repo *repository.Repository, file string) bool {
	roots := map[string]bool{}
	for _, o := range repo.ByKind(fluxapi.KustomizeGroup, "Kustomization") {
		if p, ok := o.Text("spec", "path"); ok && !ofArtifact(repo, o) {
			roots[path.Clean(strings.TrimLeft(p, "/"))] = true
		}
	}
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if _, own := repo.KustomizeAt(dir); own {
			return false
		}
		if roots[dir] {
			return true
		}
		if dir == "." {
			return false
		}
	}
}
