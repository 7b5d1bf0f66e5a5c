package v1alpha1

import (
	"fmt"
	"maps"
	"slices"
)

// why a tenant leaves step by step: fluxcd/flux2#997, #2595,
// fluxcd/helm-controller#554.
const leaveHint = "a tenant leaves as Active → Draining → Removed: Draining takes its sync away, so that Flux prunes its workloads while its accounts still exist; " +
	"Removed then removes the rest. Without the accounts Flux skips pruning and leaves the objects behind, without their roles deletion hangs"

// CheckTransitions compares the tenants of a specification with their states at
// the last render (from the inventory), by name. It returns an error for each
// tenant that leaves out a step of the off-boarding, sorted by name; nil when
// all is well.
func CheckTransitions(spec *Spec, previous map[string]State) []*Error {
	now := make(map[string]State, len(spec.Tenants))
	for _, t := range spec.Tenants {
		now[t.Metadata.Name] = t.Spec.State
	}
	var errs []*Error
	for _, name := range slices.Sorted(maps.Keys(previous)) {
		before, after := previous[name], now[name]
		switch {
		case after == "" && before != StateRemoved:
			next := StateDraining
			if before == StateDraining {
				next = StateRemoved
			}
			errs = append(errs, &Error{
				Object:  KindTenant + " " + name,
				Message: fmt.Sprintf("tenant %s is %s and was taken out of the specification", quote(name), before),
				Hint:    fmt.Sprintf("put it back with state: %s; %s", next, leaveHint),
			})
		case before == StateActive && after == StateRemoved:
			e := spec.states[name]
			e.Message = fmt.Sprintf("tenant %s was Active and cannot be Removed at once", quote(name))
			e.Hint = "write state: Draining first; " + leaveHint
			errs = append(errs, &e)
		}
	}
	return errs
}
