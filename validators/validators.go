// Package validators holds the list of all rules and runs them over a
// repository.
package validators

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/bootstrap"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/schema"
)

// All returns every rule, sorted by id.
func All() []rule.Rule {
	all := []rule.Rule{
		bootstrap.ChartDrift,
		bootstrap.HelmReleaseMissing,
		bootstrap.IdentityDrift,
		bootstrap.ValuesDrift,
		bootstrap.VersionDrift,
		schema.Invalid,
		schema.Missing,
		schema.UnknownField,
		schema.Violation,
	}
	slices.SortFunc(all, func(a, b rule.Rule) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Select returns the rules of some ids, sorted; a "*" at an id's end stands for
// any end. No ids select all rules. An id that selects nothing is an
// *UnknownRule.
func Select(ids []string) ([]rule.Rule, error) {
	all := All()
	if len(ids) == 0 {
		return all, nil
	}
	chosen := map[string]bool{}
	for _, id := range ids {
		prefix, isPrefix := strings.CutSuffix(id, "*")
		before := len(chosen)
		known := false
		for _, r := range all {
			if r.ID == id || isPrefix && strings.HasPrefix(r.ID, prefix) {
				chosen[r.ID], known = true, true
			}
		}
		if len(chosen) == before && !known {
			return nil, &UnknownRule{ID: id}
		}
	}
	return slices.DeleteFunc(all, func(r rule.Rule) bool { return !chosen[r.ID] }), nil
}

// UnknownRule is the error of an id that no rule has.
type UnknownRule struct{ ID string }

func (e *UnknownRule) Error() string { return fmt.Sprintf("%q is no rule", e.ID) }

// Hint names the rule that was meant, or the rules that there are.
func (e *UnknownRule) Hint() string {
	ids := idsOf(All())
	if near, ok := schemas.Nearest(e.ID, ids); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "the rules are " + strings.Join(ids, ", ")
}

func idsOf(all []rule.Rule) []string {
	ids := make([]string, 0, len(all))
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	return ids
}

// Options of a run.
type Options struct {
	// Rules to run; none is all of them.
	Rules []rule.Rule
	// Cluster to validate, "" for all.
	Cluster string
	// Reconcile says what the graph of clusters starts from.
	Reconcile reconcile.Options
}

// Run runs rules over a repository, side by side, and returns what they found,
// sorted: the same repository gives the same report. An error means that it
// could not be validated, because the context ended or a rule failed.
func Run(ctx context.Context, repo *repository.Repository, opts Options) (finding.Report, error) {
	rules := opts.Rules
	if len(rules) == 0 {
		rules = All()
	}
	shared := rule.Shared{Reconcile: opts.Reconcile}
	passes := make([]*rule.Pass, len(rules))
	failed := make([]error, len(rules), len(rules)+2)
	var wg sync.WaitGroup
	for i := range rules {
		passes[i] = rule.NewPass(ctx, &rules[i], repo, opts.Cluster, &shared)
		wg.Go(func() { failed[i] = runOne(&rules[i], passes[i]) })
	}
	wg.Wait()
	if err := errors.Join(append(failed, shared.Err(), ctx.Err())...); err != nil {
		return finding.Report{}, err
	}
	var findings []finding.Finding
	var unresolved []finding.Unresolved
	var files []string
	for _, p := range passes {
		f, u, read := p.Results()
		findings = append(findings, f...)
		unresolved = append(unresolved, u...)
		files = append(files, read...)
	}
	return finding.NewReport(findings, unresolved, count(repo, files)), nil
}

// runOne turns a rule's panic into an error: a repository that breaks a rule
// must not pass as one that the rule found nothing in.
func runOne(r *rule.Rule, p *rule.Pass) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("rule %s failed on this repository: %v\n%s", r.ID, v, debug.Stack())
		}
	}()
	r.Run(p)
	return nil
}

// count counts what there is to check: files with objects or a kustomization,
// and those that the rules read besides.
func count(repo *repository.Repository, read []string) finding.Summary {
	s := finding.Summary{
		Kustomizations: len(repo.ByKind("kustomize.toolkit.fluxcd.io", "Kustomization")),
		HelmReleases:   len(repo.ByKind("helm.toolkit.fluxcd.io", "HelmRelease")),
	}
	documents := map[string]int{}
	for _, f := range repo.Files() {
		if f.Excluded || repo.Use(f.Path) == repository.Chart {
			continue
		}
		n := 0
		for _, d := range f.Documents {
			if len(d.Objects) > 0 || repository.IsKustomization(f.Path) {
				n++
			}
		}
		if n > 0 {
			documents[f.Path] = n
		}
	}
	for _, f := range read {
		documents[f] = max(documents[f], 1)
	}
	s.Files = len(documents)
	for _, n := range documents {
		s.Documents += n
	}
	return s
}
