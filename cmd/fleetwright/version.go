package main

import (
	"cmp"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/output"
)

// version is what the module proxy or the version control system calls the
// build.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	return cmp.Or(info.Main.Version, "(devel)")
}

func newVersion(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return output.Printf(s.out, "fleetwright %s\n", version())
		},
	}
}
