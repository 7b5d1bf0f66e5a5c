package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/functions"
	"github.com/fleetwright/fleetwright/internal/cache"
)

func newFn(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "fn",
		Short: "Run as a KRM function for kustomize and kpt",
		Long: `Read a ResourceList on stdin and write one to stdout. The functionConfig chooses
the function: kind RenderFleet, ValidateFleet, VerifyBootstrap or EncryptSecrets of
fleetwright.dev/v1alpha1, or a ConfigMap with data.function.

The folders that a functionConfig names (spec.path, spec.root) must be inside the
working directory. ValidateFleet and VerifyBootstrap render the charts that .fleetwright/lock.yaml names, if
"fleetwright fetch" downloaded them. They read the lock from the items, or else from the working directory.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			kept, err := cache.Folder(s.env)
			if err != nil {
				kept = "" // the cache has no fetched content
			}
			return functions.Run(c.Context(), s.in, s.out, functions.Options{Root: ".", Now: time.Now(), Fetched: fetchedFor(s.env), Cache: kept})
		},
	}
}
