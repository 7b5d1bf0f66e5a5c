package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/internal/version"
	"github.com/fleetwright/fleetwright/render"
)

// sourceFlags are the flags that say what targets are rendered from.
type sourceFlags struct {
	stream, fluxManifests string
	overwrite             []string
}

func (f *sourceFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.stream, "from-stream", "", "take the rendered files from the File objects in this `FILE` (- for stdin), not from the specification")
	c.Flags().StringVar(&f.fluxManifests, "flux-manifests", "", "make gotk-components.yaml from Flux's manifests in this `DIR` (manifests.tar.gz of a release, unpacked), where the specification installs Flux by bootstrap")
	c.Flags().StringArrayVar(&f.overwrite, "overwrite", nil, "rewrite this `FILE` although it was edited, a path in the platform target or TARGET/path; may be repeated")
}

// source reads what targets are rendered from, and tells on stderr what of a
// stream was left out.
func (f *sourceFlags) source(s streams, dir string) (*render.Source, error) {
	if f.stream == "" {
		return render.FromFolder(dir, f.fluxManifests)
	}
	if f.fluxManifests != "" {
		return nil, &render.BadInput{Err: errors.New("--from-stream and --flux-manifests exclude each other: a stream holds rendered files")}
	}
	in, name := s.in, "stdin"
	if f.stream != "-" {
		file, err := os.Open(f.stream)
		if err != nil {
			return nil, &render.BadInput{Err: fmt.Errorf("--from-stream: %w", err)}
		}
		defer file.Close()
		in, name = file, f.stream
	}
	source, others, err := render.FromStream(in, name, dir)
	if err == nil && others > 0 {
		_ = output.Printf(s.err, "%s: %d objects are not of kind File and were left out\n", name, others)
	}
	return source, err
}

// folderArgument is the optional argument DIR.
func folderArgument(args []string) string {
	if len(args) == 0 {
		return "."
	}
	return args[0]
}

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

// formatFlag adds --format text|json.
func formatFlag(c *cobra.Command, to *string) {
	*to = formatText
	c.Flags().Var(oneOf(to, formatText, formatJSON), "format", "print `FORMAT`: text, or json for a stable report")
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

func printRecovery(s streams, dir string, r tree.Recovery) {
	switch {
	case r.Pending:
		_ = output.Printf(s.err, "note: %s: a write was interrupted, or is under way: the next render finishes it\n", shownDir(dir))
	case r.Finished > 0:
		_ = output.Printf(s.out, "%s: finished an interrupted write of %d files\n", shownDir(dir), r.Finished)
	case r.Cleaned:
		_ = output.Printf(s.out, "%s: took back an interrupted write\n", shownDir(dir))
	}
	for _, p := range r.Changed {
		_ = output.Printf(s.out, "%s: %q changed since the write was interrupted: left as it is\n", shownDir(dir), p)
	}
}

// printNewer says that a release which is newer than this build rendered a target.
func printNewer(w io.Writer, this version.Build, dir string, p *tree.Plan) {
	if p != nil && this.Before(p.RenderedBy) {
		_ = output.Printf(w, "warning: %s: fleetwright %s rendered it, which is newer than this %s\n", shownDir(dir), p.RenderedBy, this.Version)
		_ = output.Printf(w, "  hint: install %s or newer, or review what this version changes before you commit it\n", p.RenderedBy)
	}
}

// printRetired says what becomes of the files of Secrets that are no longer declared;
// deleted says it of those that go.
func printRetired(w io.Writer, p *tree.Plan, deleted string) {
	for _, file := range p.Retired() {
		_ = output.Printf(w, "%q is no longer declared, and is as fleetwright made it: %s\n", file, deleted)
	}
	for _, l := range p.Left {
		_ = output.Printf(w, "%s\n  hint: %s\n", l.Message(), l.Hint())
	}
}

// printConflicts shows files that were left as they are, each with its diff and
// the way out. prefix is what --overwrite wants in front of their paths.
func printConflicts(w io.Writer, prefix string, conflicts []tree.Conflict) error {
	for _, c := range conflicts {
		if _, err := output.Raw(w).Write(c.Diff()); err != nil { // printable by itself
			return err
		}
		c.Path = path.Join(prefix, c.Path)
		if err := output.Printf(w, "  hint: %s\n", c.Hint()); err != nil {
			return err
		}
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

// prefixOf is what stands before a path in --overwrite where there are several
// targets.
func prefixOf(target string, several bool) string {
	if several {
		return target
	}
	return ""
}

func shownDir(dir string) string { return cmp.Or(filepath.ToSlash(dir), ".") }

// withDir is the argument DIR of the next command.
func withDir(dir string) string {
	if filepath.Clean(dir) == "." {
		return ""
	}
	return " " + filepath.ToSlash(dir)
}
