package specs

import (
	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/specs/check"
	"github.com/fleetwright/fleetwright/internal/specs/k0rdent"
	"github.com/fleetwright/fleetwright/internal/specs/kommander"
)

// productChecks check the objects of platform products.
var productChecks = []func(*check.Checker){k0rdent.Check, kommander.Check}

// productDefaults set fields of platform products' objects that the defaults of their types don't set.
var productDefaults = []func(*v1alpha1.Spec){k0rdent.Complete}
