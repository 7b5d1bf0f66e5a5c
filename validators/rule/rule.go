// Package rule defines validation rules. A rule is a value with its ID, its explanation, and the function that
// checks a repository. Its examples are in the folder examples next to it. The rules are in the packages next
// to this one, and package validators lists them all.
package rule

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/fleetwright/fleetwright/internal/coverage"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
)

// Rule is one check of a repository.
type Rule struct {
	// ID is in kebab case, begins with a domain and never changes. Reports, ignores and the documentation
	// identify the rule by it.
	ID string
	// Title describes the problem in one line, without a full stop.
	Title    string
	Severity finding.Severity
	// Profile is the profile that the rule belongs to. A rule with a profile runs only if the profile or the
	// rule itself is selected.
	Profile string
	// Why explains the consequence: what Flux does. Fix explains how to fix it. Both are plain text in
	// paragraphs.
	Why string
	Fix string
	// Run checks the repository and reports to the pass. It may run in parallel with other rules.
	Run func(*Pass)
	// Ignoring, which replaces Run, checks the ignores after all other rules have run.
	Ignoring func(*Pass, *Ignoring)
}

// Pass is one run of one rule over one repository.
type Pass struct {
	Context context.Context
	Repo    *repository.Repository
	// Cluster is the validated cluster, "" for all.
	Cluster string

	rule   *Rule
	shared *Shared
	mu     sync.Mutex
	report finding.Report
	read   []string
	spared []string
	built  map[builtKey]builtFinding
}

// NewPass returns a pass of a rule over a repository. Passes with the same Shared share the results of each
// Analysis.
func NewPass(ctx context.Context, r *Rule, repo *repository.Repository, shared *Shared) *Pass {
	return &Pass{Context: ctx, Repo: repo, Cluster: shared.Cluster, rule: r, shared: shared}
}

// Report adds a finding. The finding gets the ID of the rule, unless it was created by Exceeded, and the rule's severity
// if it has none.
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
func (p *Pass) Unresolved(at finding.Place, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.Unresolved = append(p.report.Unresolved,
		finding.Unresolved{Rule: p.rule.ID, File: at.File, Line: at.Line, Reason: reason})
}

// UnresolvedFor is like Unresolved for a question whose cause other questions share. The reason consists of
// both.
func (p *Pass) UnresolvedFor(at finding.Place, question, cause string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.Unresolved = append(p.report.Unresolved, finding.Unresolved{
		Rule: p.rule.ID, File: at.File, Line: at.Line, Reason: question + ": " + cause, Question: question, Cause: cause,
	})
}

// Checked records that the rule checked a file with neither objects nor a kustomization, such as a helmfile. If
// no file at all was checked, validation fails.
func (p *Pass) Checked(file string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read = append(p.read, file)
}

// NotJudged records files that the rule skipped because no cluster applies them. The summary counts them.
func (p *Pass) NotJudged(files ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spared = append(p.spared, files...)
}

// Results returns the findings and questions that were reported so far, and the files passed to Checked, in no particular
// order.
func (p *Pass) Results() (findings []finding.Finding, unresolved []finding.Unresolved, checked []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Concat(p.onceOfClusters(p.report.Findings), p.ofClusters()), p.report.Unresolved, p.read
}

// onceOfClusters merges findings that several clusters have at the same place. The caller holds p.mu.
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

// amongClusters returns the sorted clusters that have a finding, in parentheses; "" if all validated clusters
// have it.
func (p *Pass) amongClusters(names []string) string {
	if len(names) >= len(p.Clusters()) {
		return ""
	}
	return " (clusters " + strings.Join(names, ", ") + ")"
}

// Built returns the identity of an object that Flux would apply, for a finding.
func Built(o *reconcile.Object) finding.Object {
	return finding.Object{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// Runs reports whether a rule is part of this run.
func (p *Pass) Runs(id string) bool { return p.shared.running[id] }

// SchemaFolders returns the folders of schemas that the user passed.
func (p *Pass) SchemaFolders() []*schemas.Folder { return p.shared.Schemas }

// ObjectOf returns the identity of an object, for a finding.
func ObjectOf(o *repository.Object) finding.Object {
	return finding.Object{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// Analysis is a computation over a repository whose result several rules use. It runs once for each repository,
// when the first rule asks for it.
//
// Declare it as a package variable and call Of. The result must not be modified.
type Analysis[T any] struct {
	Name string
	Run  func(context.Context, *repository.Repository) T
	// RunPass replaces Run if the computation needs the result of another analysis, or the options of the run.
	// It must not use the pass's cluster.
	RunPass func(*Pass) T
}

// Of returns the result of the analysis for the pass's repository.
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

// Whole returns the whole repository if the pass's repository is only a part of it, otherwise the pass's repository. It
// reads the whole repository at the first call, because most runs over a part do not need it.
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

// Fleet returns the clusters of the repository with the objects that Flux would apply. If only a part of the repository
// is validated, it evaluates the whole repository at the first call; if that fails, the fleet is empty, and the run
// returns the error.
func (p *Pass) Fleet() *reconcile.Fleet {
	s := p.shared
	s.evaluate.Do(func() {
		if s.fleet != nil {
			return
		}
		if s.fleet, s.err = Evaluate(p.Context, p.Whole(), s.Options); s.err != nil {
			s.fleet = &reconcile.Fleet{}
		}
	})
	return s.fleet
}

// applied counts the clusters of the repository, and for the validated ones the Kustomizations that were built and the
// objects that they apply. It is called after all rules have run.
func (s *Shared) applied(cluster string) (clusters, builds, objects int) {
	if s.fleet == nil {
		return 0, 0, 0
	}
	for _, c := range chosen(s.fleet, cluster) {
		for _, k := range c.Kustomizations {
			if k.Repo != nil && k.Failure == nil && !k.Unbuilt {
				builds++
				objects += len(k.Objects)
			}
		}
	}
	return len(s.fleet.Clusters), builds, objects
}

// Coverage returns the share of the repository that the validated clusters reach. It does not include the
// objects that were checked against schemas, which are counted after all rules have run. The result must not be
// modified.
func (p *Pass) Coverage() *finding.Coverage {
	c := &p.shared.coverage
	c.once.Do(func() { c.is = coverage.Of(p.Whole(), p.Fleet(), p.Cluster) })
	return c.is
}

// SchemaChecked records that an object was checked against a schema.
func (p *Pass) SchemaChecked(o *reconcile.Object) {
	s := p.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.schemaChecked == nil {
		s.schemaChecked = map[string]int{}
	}
	s.schemaChecked[o.Kustomization.Cluster.Name]++
}

// Clusters returns the validated clusters: all, or the one of the pass.
func (p *Pass) Clusters() []*reconcile.Cluster { return chosen(p.Fleet(), p.Cluster) }

// chosen returns the cluster with a name, or all clusters if the name is "".
func chosen(fleet *reconcile.Fleet, name string) []*reconcile.Cluster {
	if name == "" {
		return fleet.Clusters
	}
	if c, ok := fleet.Named(name); ok {
		return []*reconcile.Cluster{c}
	}
	return nil
}

// InCluster reports whether the cluster with a name is validated. It returns true for a name that no cluster of
// the repository has.
func (p *Pass) InCluster(name string) bool {
	c, known := p.Fleet().Named(name)
	return !known || slices.Contains(p.Clusters(), c)
}

// clusterName returns the name of a cluster that the report and --cluster use, for any name of the cluster. It returns ""
// for an unknown cluster, unless the repository has no clusters.
func (p *Pass) clusterName(name string) string {
	if name == "" || len(p.Fleet().Clusters) == 0 {
		return name
	}
	if c, known := p.Fleet().Named(name); known {
		return c.Name
	}
	return ""
}

// Err returns the error of reading the whole repository or of computing the Fleet; nil if there was none or no
// rule needed them.
func (s *Shared) Err() error { return errors.Join(s.whole.err, s.err) }

// Shared holds the options of a run, and the results of the analyses of one repository.
type Shared struct {
	Options
	before appliedBefore

	evaluate sync.Once
	fleet    *reconcile.Fleet
	err      error // the error of the evaluation

	whole struct {
		once sync.Once
		repo *repository.Repository
		err  error
	}
	running map[string]bool
	mu      sync.Mutex
	results map[any]*result
	// schemaChecked is the number of objects that were checked against schemas, by cluster.
	schemaChecked map[string]int
	coverage      struct {
		once sync.Once
		is   *finding.Coverage
	}
	plain struct {
		once    sync.Once
		objects []*reconcile.Object
	}
}

// NewShared returns the data that the passes of one run share.
func NewShared(o Options) *Shared {
	s := &Shared{Options: o, fleet: o.Fleet, running: map[string]bool{}}
	for _, r := range o.Rules {
		s.running[r.ID] = true
	}
	return s
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
