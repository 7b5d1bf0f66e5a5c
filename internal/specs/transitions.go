package specs

import (
	"fmt"
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// Tenants leave step by step because of fluxcd/flux2#997, #2595 and
// fluxcd/helm-controller#554.
const leaveHint = "remove a tenant in two steps, Active → Draining → Removed: Draining removes its sync, so that Flux prunes its workloads while its accounts still exist; " +
	"Removed then removes the rest. Without the accounts, Flux skips pruning and leaves the objects behind; without their roles, deletion hangs"

// CheckTransitions compares the states of tenants with their states at the last render (from the inventory), by name. It
// returns an error for each tenant that skips a step of the off-boarding, sorted by name. at are the positions of the
// states.
func CheckTransitions(now, previous map[string]v1alpha1.State, at map[string]v1alpha1.Place) []*strict.Error {
	var errs []*strict.Error
	for _, name := range slices.Sorted(maps.Keys(previous)) {
		before, after := previous[name], now[name]
		switch {
		case after == "" && before != v1alpha1.StateRemoved:
			next := v1alpha1.StateDraining
			if before == v1alpha1.StateDraining {
				next = v1alpha1.StateRemoved
			}
			errs = append(errs, &strict.Error{
				Object:  v1alpha1.KindTenant + " " + name,
				Message: fmt.Sprintf("tenant %s is %s and was removed from the specification", strict.Quote(name), before),
				Hint:    fmt.Sprintf("restore it with state: %s; %s", next, leaveHint),
			})
		case before == v1alpha1.StateActive && after == v1alpha1.StateRemoved:
			at := at[name]
			errs = append(errs, &strict.Error{
				File: at.File, Line: at.Line, Column: at.Column, Object: at.Object, Field: at.Field,
				Message: fmt.Sprintf("tenant %s was Active and cannot become Removed in one step", strict.Quote(name)),
				Hint:    "write state: Draining first; " + leaveHint,
			})
		}
	}
	return errs
}
