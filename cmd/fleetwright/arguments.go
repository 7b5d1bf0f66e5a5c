package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/render"
)

// sourceFlags are the flags for the source from which targets are rendered.
type sourceFlags struct {
	stream, fluxManifests string
	overwrite             []string
	allowRemoval          []string
}

func (f *sourceFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.stream, "from-stream", "", "read the rendered files from the File objects in `FILE` (- for stdin) instead of rendering the specification")
	c.Flags().StringVar(&f.fluxManifests, "flux-manifests", "", "generate gotk-components.yaml from the Flux manifests in `DIR` (the unpacked manifests.tar.gz of a Flux release), if the specification installs Flux by bootstrap")
	c.Flags().StringArrayVar(&f.overwrite, "overwrite", nil, "overwrite `FILE` even if it was edited: a path in the platform target, or TARGET/path; repeatable")
	c.Flags().StringArrayVar(&f.allowRemoval, "allow-removal", nil, "allow the removal of a cluster, of an add-on that stores data, of a platform product or a part of it, of a tenant from a cluster or of a namespace of it, or of a declared Secret: `cluster/NAME`, addon/NAME, product/NAME, product/NAME/KIND/NAME, tenant/NAME or secret/NAMESPACE/NAME; repeatable")
}

// load reads the specification, or a stream. It reports on stderr how many objects of a stream it ignored.
func (f *sourceFlags) load(s streams, dir string) (*render.Specification, error) {
	if f.stream == "" {
		return render.Load(dir, f.fluxManifests)
	}
	if f.fluxManifests != "" {
		return nil, advice.Input(errors.New("--from-stream and --flux-manifests cannot be used together: a stream already contains rendered files"), "")
	}
	in, name := s.in, "stdin"
	if f.stream != "-" {
		file, err := os.Open(f.stream)
		if err != nil {
			return nil, advice.Input(fmt.Errorf("--from-stream: %w", err), "")
		}
		defer file.Close()
		in, name = file, f.stream
	}
	loaded, others, err := render.FromStream(in, name, dir)
	if err == nil && others > 0 {
		_ = output.Printf(s.err, "%s: ignored %d objects that are not of kind File\n", name, others)
	}
	return loaded, err
}

// folderArgument returns the optional argument DIR, "." if it is missing.
func folderArgument(args []string) string {
	if len(args) == 0 {
		return "."
	}
	return args[0]
}

// formatFlag adds --format text|json.
func formatFlag(c *cobra.Command, to *string) {
	*to = formatText
	c.Flags().Var(oneOf(to, formatText, formatJSON), "format", "print `FORMAT`: text, or json for a stable report")
}

func shownDir(dir string) string { return cmp.Or(filepath.ToSlash(dir), ".") }

// withDir returns the argument DIR for a suggested command, with a space before it; "" for the working
// directory.
func withDir(dir string) string {
	if filepath.Clean(dir) == "." {
		return ""
	}
	return " " + filepath.ToSlash(dir)
}
