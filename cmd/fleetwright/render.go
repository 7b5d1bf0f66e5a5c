package main

import (
	"context"
	"io"
	"path"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/internal/version"
	"github.com/fleetwright/fleetwright/render"
)

func newRender(s streams) *cobra.Command {
	var from sourceFlags
	var o render.FolderOptions
	var format string
	c := &cobra.Command{
		Use:   "render [DIR]",
		Short: "Bring the tree to what the specification says",
		Long: `Render the specification in DIR/fleet (by default the working directory): the
platform target in place, or with --out every target, each in a folder of its own.

Files that fleetwright did not write are never touched. A file that was edited is
left as it is and shown with its diff (exit status 1), while the rest goes on.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.Overwrite = from.overwrite
			return runRender(c.Context(), s, folderArgument(args), from, o, format)
		},
	}
	from.register(c)
	c.Flags().StringVar(&o.Out, "out", "", "write every target to its folder in this `DIR`, which is made when missing")
	c.Flags().BoolVar(&o.Check, "check", false, "write nothing; print a unified diff and exit with 1 when the tree is not what would be rendered")
	formatFlag(c, &format)
	return c
}

func runRender(ctx context.Context, s streams, dir string, from sourceFlags, o render.FolderOptions, format string) error {
	report := newRenderReport("RenderReport", o.Check)
	err := func() error {
		source, err := from.source(s, dir)
		if err != nil {
			return err
		}
		planned, err := source.ToFolders(ctx, o)
		for _, p := range planned {
			report.add(p.Target.Name, p.Dir, p.Plan)
		}
		if err != nil {
			return err
		}
		absent := source.AbsentSecrets()
		report.addAbsent(absent)
		if format == formatText {
			return printRender(s, planned, absent, o, dir)
		}
		return nil
	}()
	if format == formatJSON {
		return report.print(s, err, report.stale())
	}
	if err == nil && report.stale() {
		err = found()
	}
	return err
}

// printRender says what a render did and what comes next.
func printRender(s streams, planned []render.Planned, absent []generators.SecretFile, o render.FolderOptions, dir string) error {
	var total tree.Summary
	for _, p := range planned {
		printRecovery(s, p.Dir, p.Recovery)
		printNewer(s.err, version.Current(), p.Dir, p.Plan)
		if o.Check {
			if err := p.Plan.Diff(s.out, s.colour()); err != nil {
				return err
			}
		}
		sum := p.Plan.Summary()
		total.Created += sum.Created
		total.Updated += sum.Updated
		total.Deleted += sum.Deleted
		total.Left += sum.Left
		total.Conflicts += sum.Conflicts
		if !o.Check {
			_ = output.Printf(s.out, "%s → %s: %s\n", p.Target.Name, shownDir(p.Dir), sum)
			printRetired(s.out, p.Plan, "deleted")
			if err := printConflicts(s.out, prefixOf(p.Target.Name, o.Out != ""), p.Plan.Conflicts); err != nil {
				return err
			}
		}
	}
	printAbsent(s, absent, dir)
	command := "fleetwright render" + withDir(dir)
	changed := total.Created+total.Updated+total.Deleted > 0
	switch {
	case o.Check && (changed || total.Conflicts > 0):
		_ = output.Printf(s.err, "the tree is stale: %s\n", total)
		if changed {
			_ = output.Printf(s.err, "  hint: run %q\n", command)
		}
		printWaysOut(s.err, planned, o.Out != "")
	case o.Check && len(absent) > 0:
		_ = output.Printf(s.out, "the tree is what the specification says, but for what is not made yet\n")
	case o.Check:
		_ = output.Printf(s.out, "the tree is what the specification says\n")
	case total.Conflicts > 0:
		_ = output.Printf(s.out, "next: mend the files above and run %q again\n", command)
	case o.Out != "":
		_ = output.Printf(s.out, "next: fleetwright validate %s\n", shownDir(planned[0].Dir))
	default:
		_ = output.Printf(s.out, "next: fleetwright validate%s\n", withDir(dir))
	}
	return nil
}

// printWaysOut names the files in conflict, which a render leaves as they are, each with the way out.
// several says that --overwrite wants the target's name in front of their paths.
func printWaysOut(w io.Writer, planned []render.Planned, several bool) {
	for _, p := range planned {
		for _, c := range p.Plan.Conflicts {
			c.Path = path.Join(prefixOf(p.Target.Name, several), c.Path)
			_ = output.Printf(w, "%s\n  hint: %s\n", c.Message(), c.Hint())
		}
	}
}
