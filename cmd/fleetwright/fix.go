package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/replace"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/splice"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/validators"
)

// notFixed returns the error for fixes that could not be written.
func notFixed(err error) error {
	hint := "no file was changed, since --fix changes all files or none: allow writes to this file and run the command again"
	if changed := (*tree.ChangedError)(nil); errors.As(err, &changed) {
		hint = "run the command again for these files"
	}
	return advice.Input(fmt.Errorf("--fix: %w", err), hint)
}

const (
	// mostRounds is the maximum number of rounds that fix findings which earlier fixes revealed.
	mostRounds = 5
	// mostTrials is the maximum number of validations that determine which fixes add no finding.
	mostTrials = 64
)

// fix applies the fixes of findings until no finding with a fix is left, and updates the report. It first validates each
// change in memory, and does not write a fix that would add a finding.
func (v *validation) fix(ctx context.Context, o validators.Options) error {
	o.Progress = nil
	t := &trials{validation: *v, options: o, left: mostTrials}
	for range mostRounds {
		before := t.fixed
		t.refused = 0
		if err := t.add(ctx, fixesOf(t.report.Findings)); err != nil {
			return err
		}
		if t.fixed == before {
			break
		}
		t.accept()
	}
	out := v.err
	if v.flags.format == formatText {
		out = v.out
	}
	if err := endedEarly(); err != nil { // the last trials are not complete
		return err
	}
	if t.fixed > 0 {
		if err := replace.Files(ctx, v.dir, t.was, t.files); err != nil {
			return notFixed(err)
		}
		v.repo, v.fleet, v.report = t.repo, t.fleet, t.report
		if err := output.Printf(out, "%s fixed in %s\n", finding.Count(t.fixed, "finding"), finding.Count(len(t.files), "file")); err != nil {
			return err
		}
	}
	if t.refused == 0 {
		return nil
	}
	return output.Printf(out, "%s not fixed: the change would cause other findings\n", finding.Count(t.refused, "finding"))
}

// fixesOf returns the fixes of findings, each once.
func fixesOf(findings []finding.Finding) []*finding.Fix {
	var fixes []*finding.Fix
	seen := map[*finding.Fix]bool{nil: true}
	for _, f := range findings {
		if !seen[f.Fix] {
			seen[f.Fix] = true
			fixes = append(fixes, f.Fix)
		}
	}
	return fixes
}

// trials finds the fixes that add no finding. validation validates the repository with the fixes of earlier rounds.
type trials struct {
	validation
	options validators.Options
	// files holds the contents that earlier rounds changed, and was the original contents. A file that somebody saves in the
	// meantime is not overwritten.
	files, was map[string][]byte
	// chosen are the fixes chosen in this round, and next is the result of applying them.
	chosen []*finding.Fix
	next   *trial
	// fixed is the number of findings with a chosen fix. refused is the number of findings in this round whose
	// fix was not chosen. left is the number of trials that may still be run.
	fixed, refused, left int
}

// trial is the repository with some fixes applied.
type trial struct {
	validation
	files, was map[string][]byte
	fixed      int
}

// add chooses the fixes that add no finding. If not all of them can be applied together, it tries each half.
func (t *trials) add(ctx context.Context, fixes []*finding.Fix) error {
	if len(fixes) == 0 {
		return nil
	}
	if t.left--; t.left < 0 {
		t.refuse(fixes)
		return nil
	}
	next, err := t.try(ctx, slices.Concat(t.chosen, fixes))
	if err != nil {
		return err
	}
	if next != nil {
		previous := 0
		if t.next != nil {
			previous = t.next.fixed
		}
		t.fixed += next.fixed - previous
		t.chosen, t.next = append(t.chosen, fixes...), next
		return nil
	}
	if len(fixes) == 1 {
		t.refuse(fixes)
		return nil
	}
	half := len(fixes) / 2
	if err := t.add(ctx, fixes[:half]); err != nil {
		return err
	}
	return t.add(ctx, fixes[half:])
}

func (t *trials) refuse(fixes []*finding.Fix) {
	refused := map[*finding.Fix]bool{}
	for _, fix := range fixes {
		refused[fix] = true
	}
	for _, f := range t.report.Findings {
		if refused[f.Fix] {
			t.refused++
		}
	}
}

// accept starts the next round from the result of the chosen fixes.
func (t *trials) accept() {
	t.validation, t.files, t.was = t.next.validation, t.next.files, t.next.was
	t.chosen, t.next = nil, nil
}

// try validates the repository with some fixes, and with the fixes of the findings that these reveal. It returns nil if
// the result has a new finding.
func (t *trials) try(ctx context.Context, fixes []*finding.Fix) (*trial, error) {
	next := &trial{validation: t.validation, files: map[string][]byte{}, was: maps.Clone(t.was)}
	maps.Copy(next.files, t.files)
	if next.was == nil {
		next.was = map[string][]byte{}
	}
	before := finding.NewBaseline(t.report, t.repo.Lines().Line)
	for range mostRounds {
		result, err := splice.Apply(next.repo.ReadFile, fixes)
		if err != nil {
			return nil, err
		}
		for _, f := range next.report.Findings {
			if f.Fix != nil && result.Applied[f.Fix] {
				next.fixed++
			}
		}
		for file, before := range result.Before {
			if _, changed := next.files[file]; !changed {
				next.was[file] = before
			}
		}
		maps.Copy(next.files, result.Files)
		if next.repo, err = repository.Load(t.dir, repository.Options{Replace: next.files}); err != nil {
			return nil, err
		}
		if err := next.check(ctx, t.options); err != nil {
			return nil, err
		}
		added, _, _ := before.Split(next.report.Findings, next.repo.Lines().Line)
		if len(added) == 0 {
			return next, nil
		}
		if slices.ContainsFunc(added, func(f finding.Finding) bool { return f.Fix == nil }) || result.Done == 0 {
			return nil, nil
		}
		fixes = fixesOf(added)
	}
	return nil, nil
}
