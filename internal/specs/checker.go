package specs

import (
	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/specs/check"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// specChecker checks the objects of a specification that do not belong to a platform product.
type specChecker struct {
	*check.Checker
	all []*strict.Object
	on  map[*v1alpha1.Addon]map[string]bool // the clusters of each add-on
}
