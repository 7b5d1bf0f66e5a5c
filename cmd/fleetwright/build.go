package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"maps"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/manifest"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
)

func newBuild(s streams) *cobra.Command {
	var graph graphFlags
	var cluster, format string
	c := &cobra.Command{
		Use:   "build [DIR]",
		Short: "Print the objects that Flux would apply",
		Long: `Print what Flux would apply to a cluster from the repository in DIR (by default the
working directory): each Kustomization is built, patched and substituted as
kustomize-controller does, following the graph from the cluster's root. Nothing is
executed or fetched; what SOPS encrypts stays encrypted, and what is in plaintext in Git
is printed so.

What Helm would install comes after them, for each HelmRelease whose chart is at hand: in
the repository, in a --source, or in a folder of --charts. What a chart makes by chance or
by the clock is the same in each run.

With --format json each object is a line, with its origin in the field _origin.

Exit status 1 when a Kustomization cannot be built, or a chart not rendered; the others
are printed.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return runBuild(c.Context(), s, s.repositoryFolder(args, graph.roots), cluster, format, graph)
		},
	}
	format = formatYAML
	c.Flags().StringVar(&cluster, "cluster", "", "the `CLUSTER` to build: its name or its path (may be left out when there is one)")
	c.Flags().Var(oneOf(&format, formatYAML, formatJSON), "format", "print `FORMAT`: yaml or json")
	graph.register(c)
	return c
}

func runBuild(ctx context.Context, s streams, at folder, name, format string, graph graphFlags) error {
	go builds.Warm()
	repo, err := at.load()
	if err != nil {
		return err
	}
	fleet, err := graph.reconcileAll(ctx, at.dir, repo)
	if err != nil {
		return err
	}
	if err := badGraph(reconcile.CheckSources(fleet)); err != nil {
		return err
	}
	cluster, err := oneCluster(fleet, name)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(output.Raw(s.out))
	write, to := writeObjectYAML, io.Writer(out)
	if format == formatJSON {
		write, to = writeObjectJSON, output.JSON(out)
	}
	for _, o := range cluster.Objects() {
		if err := write(to, o); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if tellProblems(veiled{s.err, fleet.Hiding()}, cluster) {
		return found()
	}
	return nil
}

func writeObjectYAML(w io.Writer, o *reconcile.Object) error {
	text, err := manifest.Object(o.Value)
	if err != nil {
		return err
	}
	if text, err = output.YAML(text); err != nil {
		return err
	}
	_, err = w.Write(append([]byte("---\n"), text...))
	return err
}

func writeObjectJSON(w io.Writer, o *reconcile.Object) error {
	line := maps.Clone(o.Value)
	line["_origin"] = originOf(o)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(line)
}

// veiled is a writer of lines, without texts that hide leaves out.
type veiled struct {
	w    io.Writer
	hide func(text string) string
}

func (v veiled) Write(line []byte) (int, error) {
	if _, err := v.w.Write([]byte(v.hide(string(line)))); err != nil {
		return 0, err
	}
	return len(line), nil
}

// tellProblems prints what could not be built or rendered and what is not known, and says
// whether anything failed.
func tellProblems(w io.Writer, cluster *reconcile.Cluster) (failed bool) {
	for _, k := range cluster.Kustomizations {
		if f := k.Failure; f != nil {
			failed = true
			_ = output.Printf(w, "%s: Kustomization %s: %s\n", position(f.File, f.Line, f.Column), k, f.Message)
		}
		for _, g := range k.Gaps {
			if g.Kind == builds.Limit || g.Kind == builds.Exceeded {
				continue // an error at the end
			}
			_ = output.Printf(w, "%s: unresolved: Kustomization %s: %s\n", position(g.File, g.Line, g.Column), k, g.Message)
		}
	}
	for _, r := range cluster.Releases {
		if f := r.Failure; f != nil {
			failed = true
			_ = output.Printf(w, "%s: %s: %s\n", position(r.Object.File, r.Object.Line, r.Object.Column), r.Object, f)
		}
		for _, problem := range r.Problems {
			failed = true
			_ = output.Printf(w, "%s: %s: value %s: %s\n", position(r.ValuePosition(problem.Path...)), r.Object, schemas.Field(problem.Path), problem.Message)
		}
		if r.Unknown != "" && r.Limit == nil {
			_ = output.Printf(w, "%s: unresolved: %s: %s\n", position(r.Object.File, r.Object.Line, r.Object.Column), r.Object, r.Unknown)
		}
	}
	return failed
}
