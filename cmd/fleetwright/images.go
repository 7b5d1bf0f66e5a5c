package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/images"
	"github.com/fleetwright/fleetwright/internal/mask"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// formatList prints only names, one per line.
const formatList = "list"

type imagesFlags struct {
	graph                 graphFlags
	cluster, from, format string
}

func newImages(s streams) *cobra.Command {
	f := imagesFlags{format: formatText}
	c := &cobra.Command{
		Use:   "images [DIR]",
		Short: "List the images that the clusters run, and the objects that bring them",
		Long: `List the images of containers that Flux would run on each cluster from the repository in DIR (by default the
working directory), and the objects that bring them: of Git's objects, and of the charts that are available locally
("fleetwright fetch"), with their hooks. Custom resources count where it is certain which images their pods
have; docs/images.md lists them. References are printed as the objects have them.

With --from, list the images that the change since a revision adds and removes. --format list prints each image once, on
a line of its own, for scanners and mirrors; with --from, it prints the added images.

Objects that are not built or rendered, and unknown images, are reported as unresolved, on standard error or in the JSON
report.

Exit status 1 when a Kustomization cannot be built or a chart cannot be rendered, or with --from when an image is
added or removed.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("from") && f.from == "" {
				return usage(c, errors.New("--from is empty: name a revision, such as HEAD or main"))
			}
			return f.run(c.Context(), s, s.repositoryFolder(args, f.graph.roots))
		},
	}
	c.Flags().StringVar(&f.cluster, "cluster", "", "list only the images of `CLUSTER`: its name or its path")
	c.Flags().StringVar(&f.from, "from", "", "list only the images that were added or removed since `REV`: a commit, a branch, a tag, or an expression such as HEAD~1")
	c.Flags().Var(oneOf(&f.format, formatText, formatJSON, formatList), "format", "print `FORMAT`: text, json for a stable report, or list for one image a line")
	f.graph.register(c, s)
	return c
}

func (f *imagesFlags) run(ctx context.Context, s streams, in folder) error {
	go builds.Warm()
	before := &reconcile.Fleet{}
	hide := func(text string) string { return text }
	if f.from != "" {
		fleet, err := f.graph.at(ctx, in, f.from)
		if err != nil {
			return err
		}
		before, hide = fleet, fleet.Hiding()
	}
	after, err := f.graph.at(ctx, in, "")
	if err != nil {
		return err
	}
	if err := badGraph(reconcile.CheckSources(after, before)); err != nil {
		return err
	}
	later := after.Hiding()
	report, err := f.report(before, after)
	if err != nil {
		return err
	}
	mask.Report(report, func(text string) string { return later(hide(text)) })
	if err := report.write(s, f.format); err != nil {
		return err
	}
	if report.found() {
		s.printExceeded() // the exit status does not show it
		return findingsStatus()
	}
	return nil
}

// report lists the images of the selected clusters, or the changes of their images.
func (f *imagesFlags) report(before, after *reconcile.Fleet) (*imageReport, error) {
	chosen := func(string) bool { return true }
	if f.cluster != "" || len(before.Clusters)+len(after.Clusters) == 0 {
		one, err := oneCluster(after, f.cluster)
		if before, found := before.Named(f.cluster); err != nil && found {
			one, err = before, nil
		}
		if err != nil {
			return nil, err
		}
		chosen = func(name string) bool { return name == one.Name }
	}
	r := newImageReport(f.from)
	unresolved := map[string][]reconcile.Unknown{}
	if f.from != "" {
		for _, c := range images.Compare(before, after) {
			if chosen(c.Cluster) {
				r.addChange(c)
				unresolved[c.Cluster] = c.Unresolved
			}
		}
	} else {
		for _, c := range after.Clusters {
			if chosen(c.Name) {
				all, open := images.Of(c)
				r.addCluster(c.Name, all)
				unresolved[c.Name] = open
			}
		}
	}
	r.addUnresolved(reconcile.MergeUnknowns(unresolved), len(unresolved))
	r.Summary.Unresolved = len(r.Unresolved)
	return r, nil
}
