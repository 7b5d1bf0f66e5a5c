package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/render"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators"
)

func newValidate(s streams) *cobra.Command {
	var format string
	var rules, folders []string
	failOn := string(finding.Error)
	c := &cobra.Command{
		Use:   "validate [DIR]",
		Short: "Check a Flux repository",
		Long: `Check every rule on the Flux repository in DIR (by default the working directory),
whoever made it. No configuration is needed; nothing is executed or fetched.

Exit status 1 when there are findings at or above --fail-on, and 2 when there is
nothing to check.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return runValidate(c.Context(), s, folderArgument(args), rules, folders, finding.Severity(failOn), format)
		},
	}
	c.Flags().StringSliceVar(&rules, "rules", nil, "check only these `RULES` (comma-separated ids; a * at the end stands for any end)")
	c.Flags().Var(oneOf(&failOn, string(finding.Error), string(finding.Warning), string(finding.Info)), "fail-on", "exit with 1 on findings of this `SEVERITY` or above: error, warning or info")
	c.Flags().StringArrayVar(&folders, "schemas", nil, "take schemas from this `DIR` too: CustomResourceDefinitions in YAML, JSON Schemas as GROUP/KIND_VERSION.json; repeatable")
	formatFlag(c, &format)
	return c
}

func runValidate(ctx context.Context, s streams, dir string, ids, folders []string, failOn finding.Severity, format string) error {
	start := time.Now()
	report := finding.NewReport(nil, nil, finding.Summary{})
	repo, err := loadRepository(dir)
	if err == nil {
		var made finding.Report
		if made, err = check(ctx, repo, ids, folders); err == nil {
			report = made
			if report.Empty() {
				err = &render.BadInput{Err: fmt.Errorf("nothing found to check in %q: there is no Kubernetes object in a YAML file", dir), Hint: "name the folder of a Flux repository"}
			}
		}
	}
	if format == formatJSON {
		if werr := finding.WriteJSON(s.out, report); werr != nil {
			return errors.Join(err, werr)
		}
	}
	if err != nil {
		return err
	}
	if format == formatText {
		o := finding.TextOptions{Color: s.colour(), Source: repo.Lines().Line, Duration: time.Since(start)}
		if err := finding.WriteText(s.out, report, o); err != nil {
			return err
		}
	}
	if report.Reaches(failOn) {
		return found()
	}
	return nil
}

// check runs the rules of some ids.
func check(ctx context.Context, repo *repository.Repository, ids, folders []string) (finding.Report, error) {
	rules, err := validators.Select(ids)
	if err != nil {
		return finding.Report{}, &render.BadInput{Err: fmt.Errorf("--rules: %w", err), Hint: hintOf(err)}
	}
	opened, err := schemaFolders(folders)
	if err != nil {
		return finding.Report{}, err
	}
	return validators.Run(ctx, repo, validators.Options{Rules: rules, Schemas: opened})
}

// schemaFolders opens the folders of --schemas.
func schemaFolders(dirs []string) ([]*schemas.Folder, error) {
	var opened []*schemas.Folder
	for _, dir := range dirs {
		f, err := schemas.OpenFolder(dir)
		if err != nil {
			return nil, &render.BadInput{Err: fmt.Errorf("--schemas: %w", err), Hint: "name a folder of CustomResourceDefinitions or JSON Schemas"}
		}
		opened = append(opened, f)
	}
	return opened, nil
}
