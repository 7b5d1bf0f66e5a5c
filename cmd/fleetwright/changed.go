package main

import (
	"bytes"
	"context"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// keepChanged removes the findings from the report that a change since a revision did not cause. It keeps
// findings in changed files, and findings anywhere that the revision does not have.
func (v *validation) keepChanged(ctx context.Context, o validators.Options) error {
	old := o.Before
	changed := changedFiles(old, v.repo)
	o.Fleet, o.Baseline, o.BaselineFile, o.Progress, o.Cluster, o.Before = nil, nil, "", nil, "", nil
	before := finding.Report{}
	if len(changed) > 0 {
		// A root that the change adds does not exist before.
		o.Reconcile.Roots = slices.DeleteFunc(slices.Clone(o.Reconcile.Roots), func(root string) bool {
			_, ok := old.ReadDir(root)
			return !ok
		})
		var err error
		if before, err = validators.Run(ctx, old, o); err != nil {
			return err
		}
	} else {
		before = v.report
	}
	fresh, known, _ := finding.NewBaseline(before, old.Lines().Line).Split(v.report.Findings, v.repo.Lines().Line)
	known = slices.DeleteFunc(known, func(f finding.Finding) bool { return !changed[f.File] })
	unresolved := slices.DeleteFunc(slices.Clone(v.report.Unresolved), func(u finding.Unresolved) bool {
		return !changed[u.File] && slices.ContainsFunc(before.Unresolved, func(was finding.Unresolved) bool {
			return was.Rule == u.Rule && was.File == u.File && was.Reason == u.Reason
		})
	})
	fresh = append(fresh, v.exceededBefore(before.Findings)...)
	v.report = finding.NewReport(append(fresh, known...), unresolved, v.report.Summary).WithIgnored(v.report.Ignored)
	return nil
}

// exceededBefore returns the findings about what exceeds a limit only at the revision. The effect of the change
// on it is unknown.
func (v *validation) exceededBefore(before []finding.Finding) []finding.Finding {
	var all []finding.Finding
	for _, was := range before {
		if was.Rule != rule.LimitExceeded || slices.ContainsFunc(v.report.Findings, func(is finding.Finding) bool {
			return is.Rule == was.Rule && is.File == was.File && is.Message == was.Message
		}) {
			continue
		}
		was.Message = "at " + v.flags.changedSince + ": " + was.Message
		was.Line, was.Column = 0, 0 // the file's content differs between the revisions
		all = append(all, was)
	}
	return all
}

// changedFiles returns the paths of the files that differ between the repositories, or that only one of them
// has.
func changedFiles(old, now *repository.Repository) map[string]bool {
	changed := map[string]bool{}
	for _, path := range old.Paths() {
		changed[path] = true
	}
	for _, path := range now.Paths() {
		was, errOld := old.ReadFile(path)
		is, errNow := now.ReadFile(path)
		changed[path] = errOld != nil || errNow != nil || !bytes.Equal(was, is)
	}
	for path, differs := range changed {
		if !differs {
			delete(changed, path)
		}
	}
	return changed
}
