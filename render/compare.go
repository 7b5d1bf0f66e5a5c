package render

import (
	"errors"
	"fmt"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/internal/strict"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/internal/version"
	"github.com/fleetwright/fleetwright/render/removal"
)

// Compare compares a target with the current files and their inventory. overwrite lists paths of the target. allowRemoval
// is as in FolderOptions.
func Compare(r *Rendered, t tree.Target, current tree.Reader, inv *tree.Inventory, overwrite, allowRemoval []string) (*tree.Plan, error) {
	o := tree.Options{
		Target: t.Name, Release: version.Current().Release(), Overwrite: overwrite, RewriteAdopted: r.Components != nil, Marked: generators.Marked, Created: secrets.HasGeneratedValues,
	}
	isPlatform := t.Name == generators.PlatformTarget
	if isPlatform {
		if err := checkTenants(r, inv); err != nil {
			return nil, err
		}
		if err := keepsSecrets(r, t, current); err != nil {
			return nil, err
		}
		o.Tenants, o.Guards = r.Tenants, r.Guards
	}
	plan, err := tree.Compare(t.Tree, current, inv, o)
	if err == nil && isPlatform {
		return plan, checkRemoval(r, inv, plan, allowRemoval)
	}
	if err == nil {
		return plan, nil
	}
	if other := (*tree.TargetError)(nil); errors.As(err, &other) {
		return nil, advice.Input(err, "use a separate folder, or a separate repository and branch, for target "+t.Name)
	}
	err = fmt.Errorf("target %s: %w", t.Name, err)
	if o.Overwrite = nil; len(overwrite) > 0 {
		if _, without := tree.Compare(t.Tree, current, inv, o); without == nil {
			return nil, advice.Input(err, "") // a path to overwrite is wrong
		}
	}
	return nil, err
}

// checkTenants returns an error if a tenant skips a step of its off-boarding, compared with the inventory of the last
// render. The error is strict.Errors.
func checkTenants(r *Rendered, inv *tree.Inventory) error {
	var at map[string]v1alpha1.Place
	if r.Spec != nil {
		at = r.Spec.States
	}
	states := func(all []tree.TenantState) map[string]v1alpha1.State {
		out := make(map[string]v1alpha1.State, len(all))
		for _, t := range all {
			out[t.Name] = v1alpha1.State(t.State)
		}
		return out
	}
	if errs := specs.CheckTransitions(states(r.Tenants), states(inv.Tenants), at); len(errs) > 0 {
		return strict.Errors(errs)
	}
	return nil
}

// checkRemoval returns an error if a plan removes something that allowed does not name.
func checkRemoval(r *Rendered, inv *tree.Inventory, plan *tree.Plan, allowed []string) error {
	return removal.Check(removal.Change{Spec: r.Spec, Guards: r.Guards, Tenants: r.Tenants, Allowed: allowed, Inventory: inv, Plan: plan})
}
