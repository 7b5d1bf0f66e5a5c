package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

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
		Long: `Print the objects that Flux would apply to a cluster from the repository in DIR (by
default the working directory). Each Kustomization is built, patched and substituted as
kustomize-controller does it, starting at the cluster's root. Nothing is executed or
fetched. SOPS-encrypted values stay encrypted; values that are in plaintext in Git are
printed in plaintext.

Without --cluster all clusters are built, one after the other. Where there are several,
a comment "# cluster: NAME" heads each object.

The objects that Helm would install follow, for each HelmRelease whose chart is
available locally: in the repository, in a --source, in a folder of --charts, or fetched
("fleetwright fetch"). Random
values and the current time in a chart's templates are the same in each run.

With --format json each object is one line, with its cluster and its origin in the field _origin.

Exit status 1 when a Kustomization cannot be built or a chart cannot be rendered; the
other objects are printed.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return runBuild(c.Context(), s, s.repositoryFolder(args, graph.roots), cluster, format, graph)
		},
	}
	format = formatYAML
	c.Flags().StringVar(&cluster, "cluster", "", "build only the `CLUSTER`: its name or its path")
	c.Flags().Var(oneOf(&format, formatYAML, formatJSON), "format", "print `FORMAT`: yaml or json")
	graph.register(c, s)
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
	clusters := fleet.Clusters
	if name != "" || len(clusters) == 0 {
		one, err := oneCluster(fleet, name)
		if err != nil {
			return err
		}
		clusters = []*reconcile.Cluster{one}
	}
	if err := writeObjects(s, clusters, format); err != nil {
		return err
	}
	failed := false
	var said strings.Builder
	for _, cluster := range clusters {
		failed = printProblems(&said, cluster, len(clusters) > 1) || failed
	}
	if _, err := output.Raw(s.err).Write([]byte(fleet.Hiding()(said.String()))); err != nil { // the result is printable
		return err
	}
	if failed {
		return findingsStatus()
	}
	return nil
}

// writeObjects prints the objects of clusters. With several clusters, it also prints the cluster of each
// object.
func writeObjects(s streams, clusters []*reconcile.Cluster, format string) error {
	out := bufio.NewWriter(output.Raw(s.out))
	write, to := writeObjectYAML, io.Writer(out)
	if format == formatJSON {
		write, to = writeObjectJSON, output.JSON(out)
	}
	for _, cluster := range clusters {
		of := ""
		if len(clusters) > 1 {
			of = cluster.Name
		}
		for some := range slices.Chunk(cluster.Objects(), encodedAtOnce) {
			if err := writeSome(to, some, of, write); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// encodedAtOnce is how many objects are encoded before they are written.
const encodedAtOnce = 128

// writeSome encodes objects concurrently, and writes them in their order.
func writeSome(to io.Writer, some []*reconcile.Object, cluster string, write func(io.Writer, *reconcile.Object, string) error) error {
	texts, failures := make([]bytes.Buffer, len(some)), make([]error, len(some))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(some)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(some)); i = next.Add(1) - 1 {
				failures[i] = write(&texts[i], some[i], cluster)
			}
		})
	}
	wg.Wait()
	for i := range texts {
		if failures[i] != nil {
			return failures[i]
		}
		if _, err := to.Write(texts[i].Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// writeObjectYAML prints an object with a comment that names its cluster, without one if the cluster is "".
func writeObjectYAML(w io.Writer, o *reconcile.Object, cluster string) error {
	text, err := manifest.Object(o.Value)
	if err != nil {
		return err
	}
	if text, err = output.YAML(text); err != nil {
		return err
	}
	head := "---\n"
	if cluster != "" {
		head += "# cluster: " + output.Inert(output.Line(cluster)) + "\n"
	}
	_, err = w.Write(append([]byte(head), text...))
	return err
}

func writeObjectJSON(w io.Writer, o *reconcile.Object, _ string) error {
	line := maps.Clone(o.Value)
	line["_origin"] = originOf(o)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(line)
}

// printProblems prints what could not be built or rendered and what is unresolved, with the name of the cluster if there
// are several. It returns whether anything failed.
func printProblems(w io.Writer, cluster *reconcile.Cluster, several bool) (failed bool) {
	in := ""
	if several {
		in = " (cluster " + cluster.Name + ")"
	}
	for _, k := range cluster.Kustomizations {
		if f := k.Failure; f != nil {
			failed = true
			_ = output.Printf(w, "%s: Kustomization %s: %s%s\n", position(f.Place), k, f.Message, in)
		}
		for _, g := range k.Gaps {
			if g.Kind == builds.Limit || g.Kind == builds.Exceeded || g.Kind == builds.Unreadable {
				continue // already printed with the error at the end
			}
			_ = output.Printf(w, "%s: unresolved: Kustomization %s: %s%s\n", position(g.Place), k, g.Message, in)
		}
	}
	for _, r := range cluster.Releases {
		if f := r.Failure; f != nil {
			failed = true
			_ = output.Printf(w, "%s: %s: %s%s\n", position(r.Object.Place), r.Object, f, in)
		}
		for _, problem := range r.Problems {
			failed = true
			_ = output.Printf(w, "%s: %s: value %s: %s%s\n", position(r.ValuePosition(problem.Path...)), r.Object, schemas.Field(problem.Path), problem.Message, in)
		}
		if r.Unknown != "" && r.Limit == nil {
			_ = output.Printf(w, "%s: unresolved: %s: %s%s\n", position(r.Object.Place), r.Object, r.Unknown, in)
		}
	}
	return failed
}
