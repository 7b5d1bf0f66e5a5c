package schema

import (
	"cmp"
	"errors"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/definitions"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// reach says which files what Flux would apply is built from. In a repository
// with clusters the built objects are validated, not the files; the files of a
// Kustomization that could not be built are validated as they stand, and what
// nothing reads is not validated.
type reach struct {
	// all is set where no cluster is known: every file counts, but for those that are spared.
	all bool
	// spared are the examples and what tests read.
	spared map[string]bool
	// built and failed are the files of Kustomizations that could be built, and
	// of those that couldn't; failedDirs are the folders of the latter.
	built, failed map[string]bool
	failedDirs    []string
	// known are the documents whose built objects are validated, and lacking says that of
	// some builds not all files are given: what they apply may differ from what stands there.
	known map[*repository.Object]bool
	// deployed are the definitions of applications, which no Kustomization in Git builds.
	deployed platform.Definitions
	lacking  bool
	// malformed are the files that make a build fail, since they are no YAML.
	malformed map[string]bool
}

func reached(fleet *reconcile.Fleet) reach {
	r := reach{all: len(fleet.Clusters) == 0, built: map[string]bool{}, failed: map[string]bool{}, known: map[*repository.Object]bool{}, malformed: map[string]bool{}}
	for _, c := range fleet.Clusters {
		for _, k := range c.Kustomizations {
			files := r.built
			lacks := len(k.Lacking()) > 0
			if k.Failure != nil || lacks {
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
				if lacks {
					r.known[o.Source] = true
				}
			}
		}
	}
	return r
}

// spare leaves out the files of examples and tests where no cluster tells what is applied.
func (r *reach) spare(repo *repository.Repository) {
	r.spared = map[string]bool{}
	for _, f := range repo.Files() {
		use := repo.Use(f.Path)
		kustomization := repository.IsKustomization(f.Path)
		if !r.all || f.Excluded || use != repository.Plain && use != repository.Resource && !kustomization || !repository.IsExample(f.Path) {
			continue
		}
		if kustomization || f.Err != nil || slices.ContainsFunc(f.Documents, func(d *repository.Document) bool { return len(d.Objects) > 0 }) {
			r.spared[f.Path] = true
		}
	}
}

// asItStands says whether the objects in a file are validated as they stand.
func (r reach) asItStands(file string) bool {
	return r.all && !r.spared[file] || !r.built[file] && r.mayFail(file)
}

// reads says whether a file is read by a build, or would be.
func (r reach) reads(file string) bool {
	return r.all && !r.spared[file] || r.built[file] || r.mayFail(file)
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

// built validates an object as Flux would apply it.
func (w work) built(o *reconcile.Object) checked {
	c := checked{file: o.File, line: o.Line, object: rule.Built(o), built: o}
	found, err := w.kinds.Lookup(apischema.FromAPIVersionAndKind(o.APIVersion, o.Kind))
	if err != nil {
		c.lacks(err)
		for i := range c.found {
			f := &c.found[i]
			f.file, f.line, f.column = o.Position(f.Path...)
		}
		return c
	}
	problems := w.judge(found, o.Value, c, len(o.Unknown) == 0)
	if len(problems) == 0 {
		return c
	}
	own := w.ownProblems(found, o, c)
	for _, p := range problems {
		l := located{Problem: p}
		if p.Kind == schemas.UnknownField {
			l.file, l.line, l.column = o.KeyPosition(p.Path...)
		} else {
			l.file, l.line, l.column = o.Position(p.Path...)
			if file, line, _ := placeInSource(o, p); file == l.file && line == l.line {
				l.Hint = asWritten(o.Source, p)
			}
			if file, line, column, ok := o.PatchPosition(p.Path...); ok && (p.Rule || p.Required) && !own(p) {
				l.file, l.line, l.column = file, line, column
			}
		}
		c.found = append(c.found, l)
	}
	c.found = withoutAliases(o.Source, c.found)
	return c
}

// lacks notes that there is no schema for the kind: it is wrong, or not known.
func (c *checked) lacks(err error) {
	var missing *schemas.MissingError
	if errors.As(err, &missing) && missing.Limit != nil {
		c.found = []located{{Problem: schemas.Problem{Kind: schemas.Exceeded, Message: missing.Reason}}}
		return
	}
	if missing == nil || missing.Mistake == nil {
		c.noSchema = schemas.Reason(err)
		return
	}
	m := missing.Mistake
	c.found = []located{{Problem: schemas.Problem{Kind: schemas.Invalid, Path: []any{m.Field}, Message: m.Message, Hint: m.Hint}, doubtful: m.Newer}}
}

// ownProblems says whether the document that an object was built from has a problem by itself:
// then no patch is to blame.
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
		return w.judge(found, fields, c, false)
	})
	return func(p schemas.Problem) bool {
		return slices.ContainsFunc(problems(), func(q schemas.Problem) bool {
			return q.Kind == p.Kind && q.Message == p.Message && slices.Equal(q.Path, p.Path)
		})
	}
}

// chosen are the results that a pass looks at: those of its clusters, and those
// of files.
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

// tell reports a problem.
func (c checked) tell(p *rule.Pass, l located) {
	f := finding.Finding{
		File: cmp.Or(l.file, c.file), Line: l.line, Column: l.column, Object: c.object, Message: l.Message, Hint: l.Hint,
	}
	if l.doubtful {
		f.Severity = finding.Warning
	}
	if l.Kind == schemas.Exceeded {
		f = rule.Exceeded(f, c.part(l.Path), l.Message)
	}
	if c.built != nil {
		if l.Kind == schemas.UnknownField && c.built.HelmRelease != nil {
			f.Severity = finding.Warning // a release that was once applied by the client stays so
		}
		if l.Required && c.built.Group == fluxapi.KustomizeGroup && schemas.Field(l.Path) == "spec.prune" {
			// Nobody means to leave it out: the API server refuses the object.
			f.Fix = p.AddField(c.built, "prune: true", "spec")
		}
		p.ReportBuilt(c.built, f, l.Path...)
		return
	}
	p.Report(f)
}

// part names what is at a path of what was checked, which is all of it for none.
func (c checked) part(at []any) string {
	if len(at) == 0 {
		return c.object.String()
	}
	return schemas.Field(at) + " of " + c.object.String()
}

// eachDefinition adds the CustomResourceDefinitions that Flux would apply, each once,
// and those in files that no build reads: charts hold them, and other
// repositories' parts.
func eachDefinition(p *rule.Pass, add func(schemas.Definition)) {
	fleet := p.Fleet()
	r := reached(fleet)
	// Those that a chart renders all stand at the HelmRelease.
	type origin struct {
		place
		template, name string
	}
	seen := map[origin]bool{}
	for _, c := range fleet.Clusters {
		for _, o := range c.Objects() {
			from := origin{place: place{o.File, o.Line}}
			if o.HelmRelease != nil {
				from.template, from.name = o.Template, o.Name
			}
			if o.Kind != definitionKind || seen[from] {
				continue
			}
			if d, ok := schemas.DefinitionOf(o.Value, o.File, o.Line); ok {
				seen[from] = true
				add(d)
			}
		}
	}
	mayChange := patched.Of(p).kinds[definitionKind]
	for _, f := range p.Repo.Files() {
		if f.Excluded || !holdsDefinitions(p.Repo.Use(f.Path)) {
			continue
		}
		for _, d := range f.Documents {
			for _, o := range d.Objects {
				line, _ := o.Position()
				if definition, ok := definitions.In(o); ok && !seen[origin{place: place{f.Path, line}}] {
					add(unlessPatched(definition, mayChange && r.all))
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
