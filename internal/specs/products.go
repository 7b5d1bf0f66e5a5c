package specs

import (
	"github.com/fleetwright/fleetwright/internal/specs/check"
	"github.com/fleetwright/fleetwright/internal/specs/k0rdent"
	"github.com/fleetwright/fleetwright/internal/specs/kommander"
)

// productChecks check the objects of platform products.
var productChecks = []func(*check.Checker){k0rdent.Check, kommander.Check}
