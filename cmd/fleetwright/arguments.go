package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/output"
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

// formatFlag adds --format text|json.
func formatFlag(c *cobra.Command, to *string) {
	*to = formatText
	c.Flags().Var(oneOf(to, formatText, formatJSON), "format", "print `FORMAT`: text, or json for a stable report")
}

func shownDir(dir string) string { return cmp.Or(filepath.ToSlash(dir), ".") }

// withDir is the argument DIR of the next command.
func withDir(dir string) string {
	if filepath.Clean(dir) == "." {
		return ""
	}
	return " " + filepath.ToSlash(dir)
}
