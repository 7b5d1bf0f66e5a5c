package builds

import (
	"fmt"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// nesting maps folders to how deep components are nested below their kustomizations.
type nesting map[string]int

// countNesting returns an error if a kustomization has components that are nested too deep. kustomize quotes the error of a
// component in that of the one around it (accumulateComponents in api/internal/target), so that each level doubles its length.
func countNesting(repo *repository.Repository, dir string, k *types.Kustomization) error {
	if deep := (nesting{}).of(repo, dir, k); deep > limits.ComponentNesting {
		return &LimitError{Err: fmt.Errorf("its components are nested more than %d deep", limits.ComponentNesting)}
	}
	return nil
}

func (n nesting) of(repo *repository.Repository, dir string, k *types.Kustomization) (deepest int) {
	follow := func(refs []string, level int) {
		for _, ref := range refs {
			at, inside := repository.Join(dir, ref)
			if !inside {
				continue
			}
			if _, known := n[at]; !known {
				n[at] = 0 // also if it leads to itself
				if other, ok := repo.KustomizeAt(at); ok && other.Spec != nil {
					n[at] = n.of(repo, at, other.Spec)
				}
			}
			deepest = max(deepest, level+n[at])
		}
	}
	follow(k.Resources, 0)
	follow(k.Components, 1)
	return deepest
}
