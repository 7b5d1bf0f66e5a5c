package rule

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
)

// RunOptions say how rules are run over a repository, and what is not reported.
type RunOptions struct {
	// Cluster that is validated, "" for all.
	Cluster string
	// Before is the repository at the revision that the run compares with; nil for
	// none.
	Before *repository.Repository
	// Reconcile says what the graph of clusters starts from.
	Reconcile reconcile.Options
	// Schemas are folders of schemas beside those that are known.
	Schemas []*schemas.Folder
	// Whole reads the repository that the one to validate is a part of; nil where
	// it is none.
	Whole func() (*repository.Repository, error)
	// Known are the ids of all rules that there are, whether they run or not.
	Known []string
	// Severities that findings of some rules, by id, have in place of their own.
	Severities map[string]finding.Severity
	// Selectors are the ignores of a configuration.
	Selectors []finding.Selector
	// Baseline holds findings that are not reported; it may be nil. BaselineFile
	// is its path.
	Baseline     *finding.Baseline
	BaselineFile string
	// ReportIgnored reports what is ignored too, whoever ignores it.
	ReportIgnored bool
	// Reconciled, if not nil, is given the clusters once the rules have run, unless none of
	// them has looked at them. Its error is that of the run.
	Reconciled func(*reconcile.Fleet) error
	// Progress, if not nil, is told how many rules will run, and each time that one has. It
	// may be called at the same time from several goroutines.
	Progress func(done, total int)
}

// Outcome is what rules said, in no order.
type Outcome struct {
	Findings   []finding.Finding
	Unresolved []finding.Unresolved
	Ignored    []finding.Ignored
	// Checked are the files told to Pass.Checked.
	Checked []string
	// NotJudged are the files told to Pass.NotJudged, sorted.
	NotJudged []string
	// Clusters counts those of the repository, 0 where no rule has looked at them.
	Clusters int
	// Builds counts the Kustomizations that were built for the clusters that are validated, and
	// Objects what they apply, without what charts render.
	Builds, Objects int
}

// Run runs rules over a repository, side by side, takes out what is ignored, and
// then runs the rules that judge the ignoring. An error means that the repository
// could not be validated, because the context ended or a rule failed.
func Run(ctx context.Context, repo *repository.Repository, rules []Rule, o RunOptions) (Outcome, error) {
	shared := Shared{Before: o.Before, Reconcile: o.Reconcile, Schemas: o.Schemas, Whole: o.Whole}
	shared.running = map[string]bool{}
	for _, r := range rules {
		shared.running[r.ID] = true
	}
	passes := make([]*Pass, len(rules))
	failed := make([]error, len(rules), len(rules)+2)
	var done atomic.Int64
	var wg sync.WaitGroup
	total := len(rules)
	for i := range rules {
		if rules[i].Ignoring != nil {
			total-- // it runs when the others have
		}
	}
	if o.Progress != nil {
		o.Progress(0, total)
	}
	for i := range rules {
		passes[i] = NewPass(ctx, &rules[i], repo, o.Cluster, &shared)
		if rules[i].Ignoring != nil {
			continue
		}
		wg.Go(func() {
			failed[i] = guarded(&rules[i], func() { rules[i].Run(passes[i]) })
			if n := int(done.Add(1)); o.Progress != nil {
				o.Progress(n, total)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(append(failed, shared.Err(), ctx.Err())...); err != nil {
		return Outcome{}, err
	}
	if fleet := shared.fleets.fleet; fleet != nil && o.Reconciled != nil {
		if err := o.Reconciled(fleet); err != nil {
			return Outcome{}, err
		}
	}
	var out Outcome
	out.Clusters, out.Builds, out.Objects = shared.applied(o.Cluster)
	for _, p := range passes {
		out.gather(p, o.Severities)
	}
	if len(passes) > 0 && len(out.Findings)+len(out.Unresolved) > 0 {
		passes[0].Fleet().Know(repo.Lines()) // whichever rules run, the same is hidden
	}
	out.Findings = onceExceeded(slices.Concat(out.Findings, Measured(), unread(repo)))
	out.scrub(repo.Lines())
	if err := out.ignore(repo, rules, passes, o); err != nil {
		return Outcome{}, err
	}
	out.shorten()
	return out, nil
}

// shorten leaves out what no report can hold, and reports that.
func (out *Outcome) shorten() {
	var left map[string]int
	out.Findings, left = finding.First(out.Findings)
	for _, id := range slices.Sorted(maps.Keys(left)) {
		out.Findings = append(out.Findings, finding.Finding{
			Rule: LimitExceeded, Severity: finding.Error,
			Message: fmt.Sprintf("%d more findings of %s are not shown: a report holds up to %d of a rule", left[id], id, finding.MostOfRule),
			Hint:    "fix the common cause of the shown findings, or ignore the rule for their files",
		})
	}
}

// gather adds what a pass reported.
func (out *Outcome) gather(p *Pass, severities map[string]finding.Severity) {
	findings, unresolved, checked := p.Results()
	for _, f := range findings {
		if s := severities[f.Rule]; s != "" {
			f.Severity = s
		}
		out.Findings = append(out.Findings, f)
	}
	out.Unresolved = append(out.Unresolved, unresolved...)
	out.Checked = append(out.Checked, checked...)
	p.mu.Lock()
	defer p.mu.Unlock()
	out.NotJudged = append(out.NotJudged, p.spared...)
	slices.Sort(out.NotJudged)
	out.NotJudged = slices.Compact(out.NotJudged)
}

// ignore takes out what is ignored and adds what the rules say about the
// ignoring itself, which only a configuration or a baseline can ignore.
func (out *Outcome) ignore(repo *repository.Repository, rules []Rule, passes []*Pass, o RunOptions) error {
	judging := map[string]bool{}
	for _, r := range rules {
		judging[r.ID] = r.Ignoring != nil
	}
	ig := collect(repo, o)
	if !o.ReportIgnored {
		out.Findings, out.Ignored = ig.apply(out.Findings)
		var ignored []finding.Ignored
		out.Unresolved, ignored = ig.applyUnresolved(out.Unresolved)
		out.Ignored = append(out.Ignored, ignored...)
		gone := out.known(repo, o, func(id string) bool { return !judging[id] })
		for _, k := range gone {
			if _, ran := judging[k.Rule]; ran && o.Cluster == "" {
				ig.Gone = append(ig.Gone, k)
			}
		}
	}
	ig.judge(rules, o)
	kept := out.Findings
	out.Findings = nil
	for i, r := range rules {
		if r.Ignoring == nil {
			continue
		}
		if err := guarded(&rules[i], func() { r.Ignoring(passes[i], ig) }); err != nil {
			return err
		}
		out.gather(passes[i], o.Severities)
	}
	if !o.ReportIgnored {
		var ignored []finding.Ignored
		out.Findings, ignored = ig.applySelectors(out.Findings)
		out.Ignored = append(out.Ignored, ignored...)
		out.known(repo, o, func(id string) bool { return judging[id] })
	}
	out.Findings = append(kept, out.Findings...)
	return nil
}

// known takes out the findings that the baseline knows, looking at its entries of
// some rules, and returns those of them that were not found any more.
func (out *Outcome) known(repo *repository.Repository, o RunOptions, of func(id string) bool) []finding.Known {
	if o.Baseline == nil {
		return nil
	}
	part := finding.Baseline{Findings: slices.DeleteFunc(slices.Clone(o.Baseline.Findings), func(k finding.Known) bool { return !of(k.Rule) })}
	sorted := finding.NewReport(out.Findings, nil, finding.Summary{}).Findings
	fresh, known, gone := part.Split(sorted, repo.Lines().Line)
	out.Findings = fresh
	for _, f := range known {
		out.Ignored = append(out.Ignored, finding.Ignored{Finding: f, Reason: "it is in the baseline", By: o.BaselineFile})
	}
	return gone
}

// guarded turns a rule's panic into an error: a repository that breaks a rule
// must not pass as one that the rule found nothing in.
func guarded(r *Rule, run func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("rule %s failed on this repository: %v\n%s", r.ID, v, debug.Stack())
		}
	}()
	var refused *bounds.Error
	err = bounds.Do(bounds.Unit{Kind: "rule", Name: r.ID}, func() error { run(); return nil })
	if errors.As(err, &refused) {
		return nil // which Measured reports
	}
	return err
}
