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
		Short: "Render the specification to files",
		Long: `Render the specification in DIR/fleet (by default the working directory): the
platform target in place, or with --out every target, each in a folder of its own.

Files that fleetwright did not write are never touched. A rendered file that was edited
is not changed, and its diff is printed; the other files are still written, and the exit
status is 1.

The removal of a cluster, a change of its path, and the removal of an add-on that stores
data, of a platform product, of a workspace or project, of a tenant from a cluster, of a
tenant's namespace, or of a declared Secret are refused with what is lost, unless --allow-removal names them.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.Overwrite, o.AllowRemoval = from.overwrite, from.allowRemoval
			return runRender(c.Context(), s, folderArgument(args), from, o, format)
		},
	}
	from.register(c)
	c.Flags().StringVar(&o.Out, "out", "", "write every target to its own folder in `DIR`, which is created if it does not exist")
	c.Flags().BoolVar(&o.Check, "check", false, "write nothing; print a unified diff and exit with 1 if the files are not up to date")
	formatFlag(c, &format)
	return c
}

func runRender(ctx context.Context, s streams, dir string, from sourceFlags, o render.FolderOptions, format string) error {
	report := newRenderReport("RenderReport", o.Check)
	err := func() error {
		loaded, err := from.load(s, dir)
		if err != nil {
			return err
		}
		rendered, planned, err := render.ToFolders(ctx, loaded, o)
		for _, p := range planned {
			report.add(p.Target.Name, p.Dir, p.Plan).Missing = p.Missing
		}
		if err != nil {
			return err
		}
		report.addAbsent(rendered.Absent)
		if format != formatText {
			return nil
		}
		if err := printRender(s, planned, rendered.Absent, o, dir); err != nil || o.Check {
			return err
		}
		for _, p := range planned {
			printNewClusters(s, render.NewClusters(rendered.Spec, p.Target, p.Plan, s.clusterKeyFile))
		}
		return nil
	}()
	if format == formatJSON {
		return report.print(s, err, report.stale())
	}
	if err == nil && report.stale() {
		err = findingsStatus()
	}
	return err
}

// printRender prints the result of a render, and the next steps.
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
		if p.TakenOver {
			printTakenOver(s, p.Target.Name)
		}
		printMissing(s, p.Target.Name, p.Missing)
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
		_ = output.Printf(s.err, "the rendered files are stale: %s\n", total)
		if changed {
			_ = output.Printf(s.err, "  hint: run %q\n", command)
		}
		printWaysOut(s.err, planned, o.Out != "")
	case o.Check && len(absent) > 0:
		_ = output.Printf(s.out, "up to date, except for the Secrets that do not exist yet\n")
	case o.Check:
		_ = output.Printf(s.out, "up to date\n")
	case total.Conflicts > 0:
		_ = output.Printf(s.out, "next: fix the files above and run %q again\n", command)
	case o.Out != "":
		_ = output.Printf(s.out, "next: fleetwright validate %s\n", shownDir(planned[0].Dir))
	default:
		_ = output.Printf(s.out, "next: fleetwright validate%s\n", withDir(dir))
	}
	return nil
}

// printWaysOut prints the files that a render does not write because of conflicts, each with a hint. several reports
// whether --overwrite needs the name of the target before their paths.
func printWaysOut(w io.Writer, planned []render.Planned, several bool) {
	for _, p := range planned {
		for _, c := range p.Plan.Conflicts {
			c.Path = path.Join(prefixOf(p.Target.Name, several), c.Path)
			_ = output.Printf(w, "%s\n  hint: %s\n", c.Message(), c.Hint())
		}
	}
}
