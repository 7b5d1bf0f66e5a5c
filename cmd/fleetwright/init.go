package main

import (
	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/render"
)

func newInit(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a commented starter specification",
		Long: `Write a commented starter specification to DIR/fleet (by default the working
directory), with .sops.yaml and .pre-commit-config.yaml. The repository's URL and
branch are read from git; if the folder is not in a git repository, one is initialized.
The command asks no questions and overwrites no file.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := folderArgument(args)
			files, err := render.Start(dir)
			for _, f := range files {
				what := "written"
				if f.Kept {
					what = "kept as it is"
				}
				_ = output.Printf(s.out, "%s: %s\n", f.Path, what)
			}
			if err != nil {
				return err
			}
			_ = output.Printf(s.out, "next: edit fleet/*.yaml, then fleetwright render%s\n", withDir(dir))
			return nil
		},
	}
}
