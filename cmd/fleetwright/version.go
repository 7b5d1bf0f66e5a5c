package main

import (
	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/version"
)

func newVersion(s streams) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version, its revision and the Go version that built it",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return printVersion(s, version.Current(), format)
		},
	}
	formatFlag(c, &format)
	return c
}

// printVersion prints the version of a build. A build from the module proxy has no revision.
func printVersion(s streams, b version.Build, format string) error {
	if format == formatJSON {
		return writeJSON(s.out, map[string]any{
			"apiVersion": "fleetwright.dev/v1alpha1", "kind": "Version", "version": b.Version, "release": b.Release() != "",
			"revision": b.Revision, "time": b.Time, "modified": b.Modified, "go": b.Go, "platform": b.Platform,
		})
	}
	_ = output.Printf(s.out, "fleetwright %s\n", b.Version)
	if b.Revision != "" {
		changed := ""
		if b.Modified {
			changed = ", with uncommitted changes"
		}
		_ = output.Printf(s.out, "  revision %s of %s%s\n", b.Revision, b.Time, changed)
	}
	return output.Printf(s.out, "  built with %s for %s\n", b.Go, b.Platform)
}
