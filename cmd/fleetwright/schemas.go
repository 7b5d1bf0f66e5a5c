package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/mask"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators"
	"github.com/fleetwright/fleetwright/validators/limit"
	"github.com/fleetwright/fleetwright/validators/rule"
)

type schemasFlags struct {
	graph           graphFlags
	cluster, format string
	folders         []string
}

func newSchemas(s streams) *cobra.Command {
	var f schemasFlags
	c := &cobra.Command{
		Use:   "schemas [DIR]",
		Short: "List the kinds in a repository, and where each schema comes from",
		Long: `List the kinds of the objects that the clusters of the repository in DIR (by default the working directory) apply,
objects of charts included, and the source of the schema that "validate" uses for each: built in, a
CustomResourceDefinition of the repository or of a chart, or a folder of --schemas. Kinds without a schema are listed, too.
If the repository has no cluster, list the kinds in its files. docs/schemas.md says which of several schemas is used.

Exit status 1 when a Kustomization cannot be built or a chart cannot be rendered: the kinds of its objects are not
listed.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return f.run(c.Context(), s, s.repositoryFolder(args, f.graph.roots))
		},
	}
	c.Flags().StringVar(&f.cluster, "cluster", "", "list only the kinds of `CLUSTER`: its name or its path")
	c.Flags().StringArrayVar(&f.folders, "schemas", nil, "also use the schemas in `DIR`: CustomResourceDefinitions in YAML, JSON Schemas as GROUP/KIND_VERSION.json; repeatable")
	formatFlag(c, &f.format)
	f.graph.register(c, s)
	return c
}

func (f *schemasFlags) run(ctx context.Context, s streams, in folder) error {
	go builds.Warm()
	repo, err := in.load()
	if err != nil {
		return err
	}
	o := validators.Options{Cluster: f.cluster}
	if o.Schemas, err = schemaFolders(f.folders); err != nil {
		return err
	}
	if o.Reconcile, err = f.graph.options(in.dir); err != nil {
		return err
	}
	fleet, err := rule.Evaluate(ctx, repo, o)
	if err != nil {
		return badGraph(err)
	}
	o.Fleet = fleet
	all, err := validators.Kinds(ctx, repo, o)
	if err != nil {
		return err
	}
	limit.Note(repo, fleet)
	if err := badGraph(reconcile.CheckSources(fleet)); err != nil {
		return err
	}
	if len(all) == 0 {
		return &failure{status: statusUsage, err: fmt.Errorf("no object found in %s", shownDir(in.dir)), hint: "name the folder that contains the Flux repository"}
	}
	report := newSchemaReport(all)
	unknown := map[string][]reconcile.Unknown{}
	for _, c := range fleet.Clusters {
		if f.cluster == "" || c.Is(f.cluster) {
			unknown[c.Name] = c.Unknowns()
		}
	}
	report.addUnresolved(reconcile.MergeUnknowns(unknown), len(unknown))
	mask.Report(report, fleet.Hiding())
	if err := report.write(s, f.format); err != nil {
		return err
	}
	if report.failed() {
		s.printExceeded() // the exit status does not show it
		return findingsStatus()
	}
	return nil
}
