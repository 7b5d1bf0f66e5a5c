//go:build tools

// Empty links what fleetwright links and does nothing: the floor under the time
// that a process takes to start.
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
