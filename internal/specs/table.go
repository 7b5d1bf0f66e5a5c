package specs

import (
	"maps"
	"slices"
	"sync"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// fieldTable returns the fields of all input kinds, which it reads from their struct tags once.
var fieldTable = sync.OnceValues(func() (strict.Table, error) {
	return strict.FieldsOf(slices.Collect(maps.Values(v1alpha1.KindTypes))...)
})
