//go:build tools

// Empty links the modules of fleetwright and does nothing. Its time is the minimum that a process takes to
// start.
package main

import (
	_ "github.com/fleetwright/fleetwright/functions"
	_ "github.com/fleetwright/fleetwright/generators"
	_ "github.com/fleetwright/fleetwright/internal/gitrepo"
	_ "github.com/fleetwright/fleetwright/internal/secrets/envelope"
	_ "github.com/fleetwright/fleetwright/validators"

	_ "github.com/fluxcd/flux2/v2/pkg/manifestgen/install"
	_ "github.com/spf13/cobra"
)

func main() {}
