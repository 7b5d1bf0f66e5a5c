package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/fielddiff"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/mask"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

func newDiff(s streams) *cobra.Command {
	var graph graphFlags
	var from, to, format string
	c := &cobra.Command{
		Use:   "diff [DIR] --from REV",
		Short: "Show what a change does to each cluster",
		Long: `Compare the objects that Flux would apply at two revisions of the repository in DIR (by
default the working directory), object by object, for each cluster. Without --to the
second revision is the folder as it is. Values of Secrets, and values that look like
secrets, are hidden. If a Kustomization or HelmRelease fails at one of the revisions, the
failure is reported and its objects are omitted: Flux keeps on the cluster what it
applied before. Objects that are no longer applied, but that Flux does not delete, are
listed separately, with the reason: also where the folder of a whole cluster is gone,
because Flux then fails there and keeps everything.

Exit status 1 when something differs.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if from == "" {
				return usage(c, errors.New("--from is required: the revision to compare with, such as HEAD or main"))
			}
			return runDiff(c.Context(), s, s.repositoryFolder(args, graph.roots), from, to, format, graph)
		},
	}
	c.Flags().StringVar(&from, "from", "", "the `REV` to compare with: a commit, a branch, a tag, or an expression such as HEAD~1")
	c.Flags().StringVar(&to, "to", "", "the `REV` with the change (default: the folder as it is)")
	formatFlag(c, &format)
	graph.register(c, s)
	return c
}

func runDiff(ctx context.Context, s streams, in folder, from, to, format string, graph graphFlags) error {
	go builds.Warm()
	before, err := graph.at(ctx, in, from)
	if err != nil {
		return err
	}
	after, err := graph.at(ctx, in, to)
	if err != nil {
		return err
	}
	if err := badGraph(reconcile.CheckSources(before, after)); err != nil {
		return err
	}
	if len(before.Clusters)+len(after.Clusters) == 0 {
		_, err := oneCluster(after, "")
		return err
	}
	diffs := reconcile.Compare(before, after)
	earlier, later := before.Hiding(), after.Hiding()
	hide := func(text string) string { return later(earlier(text)) }
	if format == formatJSON {
		report := newDiffReport(diffs, from, to, hide)
		mask.Report(&report, hide)
		err = writeJSON(s.out, report)
	} else {
		err = writeDiff(s, diffs, hide)
	}
	if err != nil {
		return err
	}
	if changes(diffs) {
		s.printExceeded() // the exit status does not show it
		return findingsStatus()
	}
	return nil
}

// changes reports whether anything differs.
func changes(diffs []reconcile.ClusterDiff) bool {
	return slices.ContainsFunc(diffs, func(d reconcile.ClusterDiff) bool { return !d.Empty() })
}

// at evaluates the clusters at a revision. With the revision "", it evaluates the folder's current files.
func (g *graphFlags) at(ctx context.Context, in folder, revision string) (*reconcile.Fleet, error) {
	repo, err := in.at(ctx, revision)
	if err != nil {
		return nil, err
	}
	return g.reconcileAll(ctx, in.dir, repo)
}

// at returns the repository at a revision. With the revision "", it returns the folder's current files.
func (f folder) at(ctx context.Context, revision string) (*repository.Repository, error) {
	if revision == "" {
		return f.load()
	}
	files, err := gitrepo.ReadRevision(ctx, f.dir, revision)
	if err == nil {
		var repo *repository.Repository
		if repo, err = repository.FromReader(files.Sizes(), files.ReadFile, repository.Options{}); err == nil {
			return repo, nil
		}
	}
	if exceeded := (*bounds.Error)(nil); ctx.Err() != nil || errors.As(err, &exceeded) {
		return nil, err
	}
	return nil, advice.Input(err, cmp.Or(advice.HintOf(err), "name a revision of the repository that the folder is in"))
}

// diffReport is the JSON output of diff. Fields may be added and are never renamed; lists are never null.
type diffReport struct {
	APIVersion string        `json:"apiVersion"`
	Kind       string        `json:"kind"`
	From       string        `json:"from"`
	To         string        `json:"to"`
	Clusters   []clusterDiff `json:"clusters"`
	Summary    diffSummary   `json:"summary"`
}

type diffSummary struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Kept    int `json:"kept"`
	Changed int `json:"changed"`
	Unbuilt int `json:"unbuilt"`
}

type clusterDiff struct {
	Name       string        `json:"name"`
	Incomplete bool          `json:"incomplete"`
	Added      []objectDiff  `json:"added"`
	Removed    []objectDiff  `json:"removed"`
	Kept       []keptDiff    `json:"kept"`
	Changed    []objectDiff  `json:"changed"`
	Unbuilt    []unbuiltDiff `json:"unbuilt"`
}

// unbuiltDiff is a Kustomization or HelmRelease that cannot be built, so that its objects are missing in the diff. From
// and To are the reasons, null for a revision where it builds or does not exist.
type unbuiltDiff struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	From      *cause `json:"from"`
	To        *cause `json:"to"`
}

type cause struct {
	Failed  bool   `json:"failed"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
}

type objectDiff struct {
	Object finding.Object    `json:"object"`
	Origin origin            `json:"origin"`
	Fields []fielddiff.Field `json:"fields"`
}

// keptDiff is an object that Flux stops applying but leaves on the cluster, with the reason.
type keptDiff struct {
	objectDiff
	Reason string `json:"reason"`
}

func newDiffReport(diffs []reconcile.ClusterDiff, from, to string, hide func(text string) string) diffReport {
	report := diffReport{APIVersion: "fleetwright.dev/v1alpha1", Kind: "DiffReport", From: from, To: to, Clusters: []clusterDiff{}}
	for _, d := range diffs {
		c := clusterDiff{Name: d.Name, Incomplete: d.Incomplete, Added: []objectDiff{}, Removed: []objectDiff{}, Kept: []keptDiff{}, Changed: []objectDiff{}, Unbuilt: []unbuiltDiff{}}
		for _, o := range d.Added {
			c.Added = append(c.Added, newObjectDiff(o, nil, hide))
		}
		for _, o := range d.Removed {
			c.Removed = append(c.Removed, newObjectDiff(o, nil, hide))
		}
		for _, o := range d.Kept {
			c.Kept = append(c.Kept, keptDiff{newObjectDiff(o.Object, nil, hide), o.Why})
		}
		for _, changed := range d.Changed {
			c.Changed = append(c.Changed, newObjectDiff(changed.To, changed.Fields, hide))
		}
		for _, u := range d.Unbuilt {
			c.Unbuilt = append(c.Unbuilt, unbuiltDiff{u.Kind, u.Namespace, u.Name, newCause(u.From), newCause(u.To)})
		}
		report.Clusters = append(report.Clusters, c)
		report.Summary.Added += len(c.Added)
		report.Summary.Removed += len(c.Removed)
		report.Summary.Kept += len(c.Kept)
		report.Summary.Changed += len(c.Changed)
		report.Summary.Unbuilt += len(c.Unbuilt)
	}
	return report
}

func newCause(c *reconcile.Cause) *cause {
	if c == nil {
		return nil
	}
	return &cause{c.Failed, c.File, c.Line, c.Message}
}

func newObjectDiff(o *reconcile.Object, fields []reconcile.FieldDiff, hide func(text string) string) objectDiff {
	all := fielddiff.Of(fields)
	for i := range all {
		all[i] = all[i].Without(hide)
	}
	return objectDiff{
		Object: finding.Object{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name},
		Origin: originOf(o),
		Fields: all,
	}
}

// writeDiff prints the differences for people.
func writeDiff(s streams, diffs []reconcile.ClusterDiff, hide func(text string) string) error {
	var all strings.Builder
	w := output.NewText(&all, s.colour())
	for _, d := range diffs {
		_ = output.Printf(w, "%s: %d added, %d removed, %d changed", output.Paint(output.Bold, d.Name), len(d.Added), len(d.Removed), len(d.Changed))
		if len(d.Kept) > 0 {
			_ = output.Printf(w, ", %d kept", len(d.Kept))
		}
		_ = output.Printf(w, "\n")
		for _, u := range d.Unbuilt {
			writeUnbuilt(w, u)
		}
		if d.Incomplete {
			_ = output.Printf(w, "  some objects are unknown; run \"fleetwright validate\" for the reasons\n")
		}
		for _, o := range d.Added {
			_ = output.Printf(w, "  %s  %s\n", output.Paint(output.Green, "+ "+o.String()), position(o.Place))
		}
		for _, o := range d.Removed {
			_ = output.Printf(w, "  %s  %s\n", output.Paint(output.Red, "- "+o.String()), position(o.Place))
		}
		writeKept(w, d.Kept)
		for _, c := range d.Changed {
			_ = output.Printf(w, "  ~ %s  %s\n", c.To, position(c.To.Place))
			for _, f := range fielddiff.Of(c.Fields) {
				f.Without(hide).Write(w, "      ")
			}
		}
	}
	switch unknown := func(d reconcile.ClusterDiff) bool { return d.Incomplete || len(d.Unbuilt) > 0 }; {
	case changes(diffs):
	case slices.ContainsFunc(diffs, unknown):
		_ = output.Printf(w, "no known object changes on any cluster\n")
	default:
		_ = output.Printf(w, "nothing changes on any cluster\n")
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := output.Raw(s.out).Write([]byte(hide(all.String()))) // hide returns printable text
	return err
}

// writeKept prints the objects that Flux stops applying but leaves on the cluster. It groups them by reason, in the order
// of each reason's first object.
func writeKept(w io.Writer, kept []reconcile.KeptObject) {
	var reasons []string
	by := map[string][]reconcile.KeptObject{}
	for _, o := range kept {
		if by[o.Why] == nil {
			reasons = append(reasons, o.Why)
		}
		by[o.Why] = append(by[o.Why], o)
	}
	for _, why := range reasons {
		_ = output.Printf(w, "  no longer applied, but kept on the cluster: %s\n", why)
		for _, o := range by[why] {
			_ = output.Printf(w, "  = %s  %s\n", o, position(o.Place))
		}
	}
}

// writeUnbuilt prints a part that cannot be built, once if the reason is the same before and after.
func writeUnbuilt(w io.Writer, u reconcile.Unbuilt) {
	c, when := u.To, ""
	switch {
	case u.To == nil:
		c, when = u.From, " before"
	case u.From != nil:
		when = " before and after"
	}
	what := "is unresolved"
	if c.Failed {
		what = "fails"
	}
	_ = output.Printf(w, "  %s %s%s; its objects are omitted: %s  %s\n", output.Paint(output.Red, "! "+u.String()), what, when, c.Message, position(c.Place))
}
