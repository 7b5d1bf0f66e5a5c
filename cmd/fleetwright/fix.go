package main

import (
	"context"
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/render"
	"github.com/fleetwright/fleetwright/internal/replace"
	"github.com/fleetwright/fleetwright/internal/splice"
	"github.com/fleetwright/fleetwright/validators"
)

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
		if err := replace.Files(ctx, v.dir, result.Files); err != nil {
			return &render.BadInput{Err: fmt.Errorf("--fix: %w", err), Hint: "the files before it in the order of their paths are mended; run it again once this one can be written"}
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
