package rule

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/coverage"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/mask"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
)

// Options are the options of a validation.
type Options struct {
	// Rules to run. If empty, validators.Run runs all rules that belong to no profile.
	Rules []Rule
	// Fleet holds the clusters with the objects that Flux would apply, as Evaluate returns it. Run evaluates it if it is
	// nil.
	Fleet *reconcile.Fleet
	// Cluster is the name of the cluster to validate; "" validates all clusters.
	Cluster string
	// Before is the repository at the revision that rules about changes compare with; nil if there is none.
	Before *repository.Repository
	// Reconcile are the options for the evaluation of the clusters.
	Reconcile reconcile.Options
	// Kubernetes is the version of Kubernetes that the clusters run; "" if it is unknown.
	Kubernetes string
	// Schemas are folders with additional schemas.
	Schemas []*schemas.Folder
	// Whole reads the whole repository if only a part of it is validated; nil otherwise. It is called at most once, when
	// a rule needs to know how the clusters use that part, and the clusters are evaluated then.
	Whole func() (*repository.Repository, error)
	// Known are the IDs of all rules, whether or not they run.
	Known []string
	// Severities override the severity of rules, by rule ID.
	Severities map[string]finding.Severity
	// Ignore selects the findings that the configuration ignores.
	Ignore []finding.Selector
	// Baseline holds known findings, which are not reported; it may be nil. BaselineFile is its path.
	Baseline     *finding.Baseline
	BaselineFile string
	// ReportIgnored includes ignored findings in the report, whatever ignores them.
	ReportIgnored bool
	// Progress, if not nil, is called with the total number of rules at the start and after each rule. It may
	// be called concurrently.
	Progress func(done, total int)
}

// Evaluate returns the clusters of a repository with the objects that Flux would apply. It returns an error if no cluster
// has the name in the options, and a *bounds.Error if a guard ended the evaluation.
func Evaluate(ctx context.Context, repo *repository.Repository, o Options) (*reconcile.Fleet, error) {
	return bounds.Whole(bounds.Unit{Kind: "evaluation", Name: "the clusters"}, func() (*reconcile.Fleet, error) {
		fleet, err := reconcile.Reconcile(ctx, repo, o.Reconcile)
		if err == nil && o.Cluster != "" {
			_, err = fleet.Cluster(o.Cluster)
		}
		return fleet, err
	})
}

// Outcome holds the reports of the rules, in no particular order.
type Outcome struct {
	Findings   []finding.Finding
	Unresolved []finding.Unresolved
	Ignored    []finding.Ignored
	// Checked are the files that rules passed to Pass.Checked.
	Checked []string
	// NotJudged are the files that rules passed to Pass.NotJudged, sorted.
	NotJudged []string
	// Clusters is the number of clusters in the repository; 0 if no rule has evaluated them.
	Clusters int
	// Builds is the number of Kustomizations that were built for the validated clusters. Objects is the number
	// of objects that they apply, without those that charts render.
	Builds, Objects int
	// Coverage is the coverage of the repository; nil if no rule has evaluated the clusters.
	Coverage *finding.Coverage
}

// Run runs rules over a repository in parallel, removes the ignored findings, and then runs the rules that
// check the ignores. It returns an error if the context ended or a rule failed.
func Run(ctx context.Context, repo *repository.Repository, o Options) (Outcome, error) {
	rules := o.Rules
	if len(rules) == 0 {
		return unfinished(repo), ctx.Err()
	}
	if o.Fleet == nil && o.Whole == nil {
		var over *bounds.Error
		var err error
		if o.Fleet, err = Evaluate(ctx, repo, o); errors.As(err, &over) {
			return unfinished(repo), ctx.Err()
		} else if err != nil {
			return Outcome{}, err
		}
	}
	shared := NewShared(o)
	passes := make([]*Pass, len(rules))
	failed := make([]error, len(rules), len(rules)+2)
	first := NewPass(ctx, &rules[0], repo, shared)
	var done atomic.Int64
	var wg sync.WaitGroup
	total := len(rules)
	for i := range rules {
		if rules[i].Ignoring != nil {
			total-- // it runs after all other rules
		}
	}
	if o.Progress != nil {
		o.Progress(0, total)
	}
	for i := range rules {
		passes[i] = NewPass(ctx, &rules[i], repo, shared)
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
	var over *bounds.Error // then some rules have not ended, and only complete results are read
	if err := errors.Join(append(failed, shared.Err(), ctx.Err())...); err != nil && (ctx.Err() != nil || !errors.As(err, &over)) {
		return Outcome{}, err
	}
	if over != nil && o.Whole != nil {
		return unfinished(repo), nil
	}
	var out Outcome
	out.Clusters, out.Builds, out.Objects = shared.applied(o.Cluster)
	if shared.fleet != nil && over == nil {
		out.cover(first, shared)
	}
	for _, p := range passes {
		out.gather(p, o.Severities)
	}
	if len(out.Findings)+len(out.Unresolved) > 0 || out.Coverage != nil {
		first.Fleet().RegisterSecrets(repo.Lines()) // hides the same values, whichever rules run
	}
	out.Findings = onceExceeded(slices.Concat(out.Findings, OfUnits(), unread(repo)))
	if o.Baseline != nil {
		out.scrub(repo.Lines()) // a baseline identifies findings by their scrubbed messages
	}
	if err := out.ignore(repo, passes, o); err != nil {
		return Outcome{}, err
	}
	out.shorten(repo.Lines())
	return out, nil
}

// unfinished returns the outcome of a run in which no rule has ended: only the exceeded limits.
func unfinished(repo *repository.Repository) Outcome {
	out := Outcome{Findings: onceExceeded(slices.Concat(OfUnits(), unread(repo)))}
	out.shorten(repo.Lines())
	return out
}

// cover adds the coverage.
func (out *Outcome) cover(p *Pass, s *Shared) {
	out.Coverage = p.Coverage()
	judging := false
	for id := range s.running {
		judging = judging || strings.HasPrefix(id, "schema-")
	}
	coverage.CountChecked(out.Coverage, s.schemaChecked, judging)
}

// shorten removes the findings that exceed the size of a report, and adds a finding about that. It scrubs the
// other findings before their messages are cut, because half of a secret value would not be recognized.
func (out *Outcome) shorten(lines *repository.Lines) {
	var left map[string]int
	out.Findings, left = finding.First(out.Findings)
	out.scrub(lines)
	out.Findings = finding.Shown(out.Findings)
	for _, id := range slices.Sorted(maps.Keys(left)) {
		out.Findings = append(out.Findings, finding.Finding{
			Rule: LimitExceeded, Severity: finding.Error,
			Message: fmt.Sprintf("%d more findings of %s are not shown: a report holds up to %d of a rule", left[id], id, limits.Findings),
			Hint:    "fix the common cause of the shown findings, or ignore the rule for their files",
		})
	}
}

// scrub hides secrets in all reports of the rules: parsers and kustomize quote their input, and substitution copies
// values of Secrets into names.
func (out *Outcome) scrub(lines *repository.Lines) {
	for _, part := range []any{&out.Findings, &out.Ignored, &out.Unresolved, out.Coverage} {
		mask.Report(part, lines.Scrub)
	}
}

// gather adds the reports of a pass.
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

// ignore removes ignored findings and adds the findings about the ignores themselves. Only a configuration or a baseline
// can ignore the latter.
func (out *Outcome) ignore(repo *repository.Repository, passes []*Pass, o Options) error {
	rules := o.Rules
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
		var over *bounds.Error
		if err := guarded(&rules[i], func() { r.Ignoring(passes[i], ig) }); err != nil && !errors.As(err, &over) {
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

// known removes the findings that the baseline has, using only its entries for the selected rules. It returns the entries
// for these rules whose finding no longer exists.
func (out *Outcome) known(repo *repository.Repository, o Options, of func(id string) bool) []finding.Known {
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

// guarded turns a panic of a rule into an error, so that a failing rule does not look like a rule without findings. The
// error is a *bounds.Error if the run ends before the rule.
func guarded(r *Rule, run func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("rule %s failed on this repository: %v\n%s", r.ID, v, debug.Stack())
		}
	}()
	_, err = bounds.Whole(bounds.Unit{Kind: "rule", Name: r.ID}, func() (struct{}, error) { run(); return struct{}{}, nil })
	return err
}
