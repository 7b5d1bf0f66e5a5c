package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/internal/version"
	"github.com/fleetwright/fleetwright/render"
)

func newCommit(s streams) *cobra.Command {
	var from sourceFlags
	var o render.CommitOptions
	var targets []string
	var format string
	c := &cobra.Command{
		Use:   "commit [DIR]",
		Short: "Render and commit each target to its repository and branch",
		Long: `Render the specification in DIR/fleet and create one commit for each target, on top of
the branch's head. Files that fleetwright did not write are kept. A target that did not
change gets no commit.

Without --target, the platform is committed to the repository whose root is DIR, on the
branch that is checked out. Tenants on a branch of the platform repository are committed
there too. Other tenants are committed to their own URL with --push, and only listed
without it. With --target, only the named targets are committed (and, with the platform,
the tenants on a branch of its repository). REPO is a path or a URL (file://, https://,
ssh://); without #BRANCH, the target's own branch is used. A commit to a URL is always
pushed.

The platform's commit includes the specification. If the repository contains a
different specification, the commit is refused.

In a work tree, git on PATH does what it does for its own commits: it signs them if its
configuration asks for it, runs filters (Git LFS), and refuses repositories of other users.
Hooks do not run. A branch that is not checked out has no files for a filter: the commit is
refused if its attributes set a filter or another encoding for a path.

The author comes from --author, from GIT_AUTHOR_NAME and GIT_AUTHOR_EMAIL, or from
git's configuration.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if o.Destinations, err = destinations(targets); err != nil {
				err = usage(c, err)
				if format == formatJSON {
					return newRenderReport("CommitReport", false).print(s, err, false)
				}
				return err
			}
			o.Overwrite, o.AllowRemoval, o.Env, o.Now = from.overwrite, from.allowRemoval, s.env, time.Now()
			return runCommit(c.Context(), s, folderArgument(args), from, o, format)
		},
	}
	from.register(c)
	c.Flags().StringArrayVar(&targets, "target", nil, "commit the target NAME to this repository and branch, as `NAME=REPO#BRANCH`; repeatable")
	c.Flags().BoolVar(&o.Push, "push", false, "push to the repositories' remotes, and tenants to their own URLs; a rejected push is retried once")
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "check everything and print what would be committed; write nothing")
	c.Flags().StringVar(&o.Author, "author", "", "the author, as `\"Name <name@example.com>\"`")
	c.Flags().BoolVar(&o.Unsigned, "no-gpg-sign", false, "commit and push without a signature even if git's configuration asks for one")
	c.Flags().StringVar(&o.Message, "message", "", "the first line of each commit's message")
	formatFlag(c, &format)
	return c
}

// destinations parses the values of --target.
func destinations(values []string) (map[string]render.Destination, error) {
	out := map[string]render.Destination{}
	for _, v := range values {
		name, place, ok := strings.Cut(v, "=")
		if !ok || name == "" || place == "" {
			return nil, fmt.Errorf("--target %q: want NAME=REPO#BRANCH", v)
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("--target %q is set twice", name)
		}
		var d render.Destination
		d.Repository = place
		if at := strings.LastIndexByte(place, '#'); at >= 0 {
			d.Repository, d.Branch = place[:at], strings.TrimPrefix(place[at+1:], "refs/heads/")
			if d.Repository == "" || d.Branch == "" || strings.HasPrefix(d.Branch, "refs/") {
				return nil, fmt.Errorf("--target %q: want NAME=REPO#BRANCH", v)
			}
		}
		out[name] = d
	}
	return out, nil
}

func runCommit(ctx context.Context, s streams, dir string, from sourceFlags, o render.CommitOptions, format string) error {
	report := newRenderReport("CommitReport", false)
	var rendered *render.Rendered
	var done []render.Committed
	loaded, err := from.load(s, dir)
	if err == nil {
		rendered, done, err = render.Commit(ctx, loaded, o)
	}
	for _, d := range done {
		addCommitted(report, d, o.DryRun && err == nil)
	}
	if err == nil {
		report.addAbsent(rendered.Absent)
	}
	if format == formatJSON {
		return report.print(s, err, report.stale())
	}
	if err == nil {
		printAbsent(s, rendered.Absent, dir)
	}
	if perr := printCommit(s, done, o, err != nil); perr != nil {
		return perr
	}
	for _, d := range done {
		if err == nil && d.Done && !o.DryRun {
			printNewClusters(s, render.NewClusters(rendered.Spec, d.Target, d.Plan, s.clusterKeyFile))
		}
	}
	if err == nil && report.stale() {
		return findingsStatus()
	}
	return err
}

func addCommitted(r *renderReport, d render.Committed, dry bool) {
	t := r.add(d.Target.Name, "", d.Plan)
	t.Missing = d.Missing
	t.Repository, t.Branch, t.State, t.Reason = d.Location, d.Branch, stateOf(d, dry), d.Skipped
	if t.State == "committed" || t.State == "would commit" {
		t.Commit, t.Parent, t.Message = d.Result.Commit, d.Result.Parent, d.Message
	}
	for _, step := range d.Specification {
		switch step.Action {
		case tree.Create:
			t.Created = append(t.Created, step.Path)
		case tree.Update:
			t.Updated = append(t.Updated, step.Path)
		case tree.Delete:
			t.Deleted = append(t.Deleted, step.Path)
		}
	}
}

// stateOf returns the state of a target, such as "committed". dry is true for a dry run that refuses no target: a refused
// target prevents the commit of all targets.
func stateOf(d render.Committed, dry bool) string {
	switch {
	case d.Skipped != "":
		return "skipped"
	case d.Done && d.Result.Changed:
		return "committed"
	case d.Done, dry && d.Plan != nil && !d.Result.Changed:
		return "unchanged"
	case dry && d.Plan != nil:
		return "would commit"
	}
	return "not committed"
}

// printCommit prints what was committed where, what was not, and the next steps.
func printCommit(s streams, done []render.Committed, o render.CommitOptions, failed bool) error {
	conflicts, committed := 0, false
	for _, d := range done {
		printRecovery(s, d.Location, d.Recovery)
		printNewer(s.err, version.Current(), d.Location, d.Plan)
		state := stateOf(d, o.DryRun && !failed)
		place := fmt.Sprintf("%s → %s#%s", d.Target.Name, d.Location, d.Branch)
		switch state {
		case "skipped":
			_ = output.Printf(s.out, "%s: not committed: %s\n  hint: %s\n", d.Target.Name, d.Skipped, d.SkipHint)
			continue
		case "not committed":
			_ = output.Printf(s.err, "%s: not committed\n", cmp.Or(strings.TrimSuffix(place, " → #"), d.Target.Name))
			continue
		case "unchanged", "committed", "would commit":
			if d.TakenOver {
				printTakenOver(s, d.Target.Name)
			}
			printMissing(s, d.Target.Name, d.Missing)
		}
		switch state {
		case "unchanged":
			_ = output.Printf(s.out, "%s: nothing changed\n", place)
		default:
			committed = true
			subject, _, _ := strings.Cut(d.Message, "\n")
			_ = output.Printf(s.out, "%s: %s %s%s %s\n", place, state, short(d.Result.Commit), pushedTo(d), subject)
			if o.DryRun {
				printStat(s.out, d)
			}
		}
		conflicts += len(d.Plan.Conflicts)
		deleted := "deleted"
		if o.DryRun {
			deleted = "would be deleted"
		}
		printRetired(s.out, d.Plan, deleted)
		if err := printConflicts(s.out, prefixOf(d.Target.Name, true), d.Plan.Conflicts); err != nil {
			return err
		}
	}
	switch {
	case failed && committed:
		_ = output.Printf(s.err, "fix the error below and run the command again: finished commits are kept, and the other targets follow\n")
	case failed:
		_ = output.Printf(s.err, "fix the error below and run the command again\n")
	case o.DryRun:
		_ = output.Printf(s.out, "next: run without --dry-run\n")
	case conflicts > 0:
		_ = output.Printf(s.out, "next: fix the files above, commit them, and run \"fleetwright commit\" again\n")
	case committed && !o.Push && len(o.Destinations) == 0:
		_ = output.Printf(s.out, "next: git push%s, or fleetwright commit --push\n", branchesOf(done))
	default:
		_ = output.Printf(s.out, "next: Flux applies what is pushed; \"fleetwright validate\" in a clone checks it\n")
	}
	return nil
}

// branchesOf returns the arguments for a push of all branches that have new commits, if there are several.
// Without arguments, git push only pushes the current branch.
func branchesOf(done []render.Committed) string {
	var branches []string
	for _, d := range done {
		if d.Done && d.Result.Changed {
			branches = append(branches, d.Branch)
		}
	}
	if len(branches) < 2 {
		return ""
	}
	return " origin " + strings.Join(branches, " ")
}

func short(commit string) string { return commit[:min(len(commit), 10)] }

func pushedTo(d render.Committed) string {
	if d.Result.Pushed {
		return ", pushed,"
	}
	return ""
}

// printStat lists the files that a commit would change, with the number of added and removed lines.
func printStat(w io.Writer, d render.Committed) {
	steps := append([]tree.Step{}, d.Specification...)
	for step := range d.Plan.Changes() {
		steps = append(steps, step)
	}
	for _, step := range steps {
		added, removed := render.CountLines(step.Old, step.New)
		_ = output.Printf(w, "  %-7s %s  +%d -%d\n", step.Action, step.Path, added, removed)
	}
}

// printMissing reports the folders of a tenant's repository that Flux applies and that do not exist.
func printMissing(s streams, target string, folders []string) {
	for _, dir := range folders {
		_ = output.Printf(s.out, "%s: Flux applies the folder %s, which the repository does not have: add the tenant's objects there\n", target, dir)
	}
}

// printTakenOver reports that a tenant's repository gets no starter.
func printTakenOver(s streams, target string) {
	_ = output.Printf(s.out, "%s: the repository has content of its own, and gets no starter\n", target)
}
