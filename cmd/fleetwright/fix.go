package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/replace"
	"github.com/fleetwright/fleetwright/internal/splice"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/validators"
)

// notFixed says what became of the files that could not all be fixed.
func notFixed(err error) error {
	hint := "the files are fixed all or none, and none of them is; run it again once this one can be written"
	if changed := (*tree.ChangedError)(nil); errors.As(err, &changed) {
		hint = "run it again for them"
	}
	return &render.BadInput{Err: fmt.Errorf("--fix: %w", err), Hint: hint}
}

// mostRounds bounds how often what a fix uncovers is fixed too.
const mostRounds = 5

// fix mends the findings whose fix is certain, until there is none left, and makes the report
// of what is left.
func (v *validation) fix(ctx context.Context, o validators.Options) error {
	fixed, changed := 0, map[string]bool{}
	for range mostRounds {
		var fixes []*finding.Fix
		for _, f := range v.report.Findings {
			if f.Fix != nil {
				fixes = append(fixes, f.Fix)
			}
		}
		result, err := splice.Apply(v.repo.ReadFile, fixes)
		if err != nil {
			return err
		}
		if result.Done == 0 {
			break
		}
		if err := replace.Files(ctx, v.dir, result.Before, result.Files); err != nil {
			return notFixed(err)
		}
		fixed += result.Done
		for file := range result.Files {
			changed[file] = true
		}
		if v.repo, err = loadRepository(v.dir); err != nil {
			return err
		}
		if err := v.check(ctx, o); err != nil {
			return err
		}
	}
	if fixed == 0 {
		return nil
	}
	out := v.err
	if v.flags.format == formatText {
		out = v.out
	}
	err := output.Printf(out, "%s fixed in %s\n", finding.Count(fixed, "finding"), finding.Count(len(changed), "file"))
	return err
}
