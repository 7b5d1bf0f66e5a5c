// Package rule defines a validation rule: a value with its id, its explanation, and the function
// that checks a repository. Its examples are in the folder examples beside it. The rules are in the
// packages next to this one, and package validators lists all of them.
package rule

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
)

// Rule is one thing that can be wrong with a repository.
type Rule struct {
	// ID is kebab-case with a domain first, and stable for ever: it is what a
	// report, an ignore and the documentation call the rule.
	ID string
	// Title says in one line what is wrong, without a full stop.
	Title    string
	Severity finding.Severity
	// Profile that the rule belongs to. A rule that has one is off unless the
	// profile, or the rule itself, is asked for.
	Profile string
	// Why it matters: what Flux does when it is so. Fix: how to mend it. Both
	// are plain text in paragraphs.
	Why string
	Fix string
	// Run looks at the repository and reports to the pass. It may run at the
	// same time as other rules.
	Run func(*Pass)
	// Ignoring, in place of Run, judges the ignores once all other rules have run.
	Ignoring func(*Pass, *Ignoring)
}

// Pass is one rule's look at one repository.
type Pass struct {
	Context context.Context
	Repo    *repository.Repository
	// Cluster that is validated, "" for all.
	Cluster string

	rule   *Rule
	shared *Shared
	mu     sync.Mutex
	report finding.Report
	read   []string
	spared []string
	built  map[builtKey]builtFinding
}

// NewPass prepares a rule's look at a repository. Passes of the same repository
// share what Analysis computes through one Shared.
func NewPass(ctx context.Context, r *Rule, repo *repository.Repository, cluster string, shared *Shared) *Pass {
	return &Pass{Context: ctx, Repo: repo, Cluster: cluster, rule: r, shared: shared}
}

// Report adds a finding. Its rule, and its severity where it has none, are the
// rule's, but for one of Exceeded.
func (p *Pass) Report(f finding.Finding) {
	f.Rule = p.ruleOf(f)
	if f.Severity == "" {
		f.Severity = p.rule.Severity
	}
	f.Cluster = cmp.Or(p.clusterName(f.Cluster), p.clusterName(p.Cluster))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.Findings = append(p.report.Findings, f)
}

// Unresolved adds a question that cannot be decided offline.
func (p *Pass) Unresolved(file string, line int, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.Unresolved = append(p.report.Unresolved,
		finding.Unresolved{Rule: p.rule.ID, File: file, Line: line, Reason: reason})
}

// UnresolvedFor is Unresolved of a question whose cause others share. The reason is both.
func (p *Pass) UnresolvedFor(file string, line int, question, cause string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.Unresolved = append(p.report.Unresolved, finding.Unresolved{
		Rule: p.rule.ID, File: file, Line: line, Reason: question + ": " + cause, Question: question, Cause: cause,
	})
}

// Checked tells that the rule judged a file that holds neither objects nor a
// kustomization, such as a helmfile: a repository in which nothing was judged is
// an error to the user.
func (p *Pass) Checked(file string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read = append(p.read, file)
}

// NotJudged tells that the rule leaves files alone which no cluster applies: the summary counts
// them.
func (p *Pass) NotJudged(files ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spared = append(p.spared, files...)
}

// Results are what was reported so far, and the files told to Checked, in no
// order.
func (p *Pass) Results() (findings []finding.Finding, unresolved []finding.Unresolved, checked []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Concat(p.onceOfClusters(p.report.Findings), p.ofClusters()), p.report.Unresolved, p.read
}

// onceOfClusters tells once what several clusters have from one place; p.mu is held.
func (p *Pass) onceOfClusters(all []finding.Finding) []finding.Finding {
	var few []finding.Finding
	clusters := map[builtKey][]string{}
	at := map[builtKey]int{}
	for _, f := range all {
		key := builtKey{file: f.File, line: f.Line, column: f.Column, message: f.Message, severity: f.Severity}
		if _, there := at[key]; f.Line == 0 || f.Cluster == "" || !there {
			at[key] = len(few)
			few = append(few, f)
		}
		clusters[key] = append(clusters[key], f.Cluster)
	}
	for key, i := range at {
		if names := slices.Compact(slices.Sorted(slices.Values(clusters[key]))); len(names) > 1 && few[i].Line > 0 && names[0] != "" {
			few[i].Cluster, few[i].Declared = "", finding.Place{}
			few[i].Message += p.amongClusters(names)
		}
	}
	return few
}

// amongClusters names the clusters that have a finding, sorted; "" where all that are validated do.
func (p *Pass) amongClusters(names []string) string {
	if len(names) >= len(p.Clusters()) {
		return ""
	}
	return " (clusters " + strings.Join(names, ", ") + ")"
}

// Built names an object that Flux would apply in a finding.
func Built(o *reconcile.Object) finding.Object {
	return finding.Object{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// Runs says whether a rule runs in the same run.
func (p *Pass) Runs(id string) bool { return p.shared.running[id] }

// SchemaFolders are the folders of schemas that the run was given.
func (p *Pass) SchemaFolders() []*schemas.Folder { return p.shared.Schemas }

// ObjectOf names an object in a finding.
func ObjectOf(o *repository.Object) finding.Object {
	return finding.Object{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// Analysis is a computation over a repository that several rules draw findings
// from. It runs once for each repository, whichever rule asks first.
//
// Declare it as a package variable and ask with Of; its result must not be
// changed.
type Analysis[T any] struct {
	Name string
	Run  func(context.Context, *repository.Repository) T
	// RunPass is in place of Run where the computation needs what another
	// analysis gave, or the options of the run. It must not ask for the cluster.
	RunPass func(*Pass) T
}

// Of returns the analysis of the pass's repository.
func (a *Analysis[T]) Of(p *Pass) T {
	once := p.shared.once(a)
	once.do.Do(func() {
		if a.RunPass != nil {
			once.value = a.RunPass(p)
			return
		}
		once.value = a.Run(p.Context, p.Repo)
	})
	value, _ := once.value.(T)
	return value
}

// Whole is the repository that the pass's is a part of: itself, unless the run was
// given only what has to be judged. It is asked for late, since a part is given in
// order not to read the whole.
func (p *Pass) Whole() *repository.Repository {
	s := p.shared
	if s.Whole == nil {
		return p.Repo
	}
	s.whole.once.Do(func() {
		if s.whole.repo, s.whole.err = s.Whole(); s.whole.err != nil {
			s.whole.repo = p.Repo
		}
	})
	return s.whole.repo
}

// fleets is the graph that Clusters draws from.
type fleets struct {
	once  sync.Once
	fleet *reconcile.Fleet
	err   error
}

// Fleet is what Flux would apply from the repository, computed once for all
// rules. It is empty where it cannot be computed; the run then tells why.
func (p *Pass) Fleet() *reconcile.Fleet {
	f := &p.shared.fleets
	f.once.Do(func() {
		if f.fleet, f.err = reconcile.Reconcile(p.Context, p.Whole(), p.shared.Reconcile); f.err == nil && p.Cluster != "" {
			_, f.err = f.fleet.Cluster(p.Cluster)
		}
		if f.err != nil {
			f.fleet = &reconcile.Fleet{}
		}
	})
	return f.fleet
}

// applied counts the clusters of the repository, and for those that are validated the
// Kustomizations that were built and the objects that they apply, once all rules have run.
func (s *Shared) applied(cluster string) (clusters, builds, objects int) {
	if s.fleets.fleet == nil {
		return 0, 0, 0
	}
	for _, c := range chosen(s.fleets.fleet, cluster) {
		for _, k := range c.Kustomizations {
			if k.Repo != nil && k.Failure == nil && !k.Unbuilt && !k.Skipped {
				builds++
				objects += len(k.Objects)
			}
		}
	}
	return len(s.fleets.fleet.Clusters), builds, objects
}

// Clusters are those of the Fleet that are validated: all, or the one of the
// pass.
func (p *Pass) Clusters() []*reconcile.Cluster { return chosen(p.Fleet(), p.Cluster) }

// chosen is the cluster of a name, all where it is "".
func chosen(fleet *reconcile.Fleet, name string) []*reconcile.Cluster {
	if name == "" {
		return fleet.Clusters
	}
	if c, ok := fleet.Named(name); ok {
		return []*reconcile.Cluster{c}
	}
	return nil
}

// InCluster says whether what a cluster of some name has is validated; what names none of the
// repository's clusters counts for every one.
func (p *Pass) InCluster(name string) bool {
	c, known := p.Fleet().Named(name)
	return !known || slices.Contains(p.Clusters(), c)
}

// clusterName is what the report calls a cluster, however the finding does: a name that --cluster
// takes. It is "" for none of the repository's, unless the repository has no cluster.
func (p *Pass) clusterName(name string) string {
	if name == "" || len(p.Fleet().Clusters) == 0 {
		return name
	}
	if c, known := p.Fleet().Named(name); known {
		return c.Name
	}
	return ""
}

// Err is why the Fleet could not be computed or the whole repository not be read,
// nil where they could, or no rule asked for them.
func (s *Shared) Err() error { return errors.Join(s.whole.err, s.fleets.err) }

// Shared keeps the analyses of one repository. The zero value is ready to use.
type Shared struct {
	// Reconcile says what the graph of clusters starts from.
	Reconcile reconcile.Options
	// Before is the repository at the revision that the run compares with; nil for
	// none.
	Before *repository.Repository
	before appliedBefore
	// Schemas are folders of schemas beside those that are known and those of
	// the repository.
	Schemas []*schemas.Folder
	// Whole reads the repository that the one to validate is a part of; nil where
	// it is none. It is called once, if at all.
	Whole func() (*repository.Repository, error)

	whole struct {
		once sync.Once
		repo *repository.Repository
		err  error
	}
	running map[string]bool
	mu      sync.Mutex
	results map[any]*result
	fleets  fleets
	plain   struct {
		once    sync.Once
		objects []*reconcile.Object
	}
}

type result struct {
	do    sync.Once
	value any
}

func (s *Shared) once(key any) *result {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.results == nil {
		s.results = map[any]*result{}
	}
	if s.results[key] == nil {
		s.results[key] = &result{}
	}
	return s.results[key]
}
