package bootstrap

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/fluxinstall"
	"github.com/fleetwright/fleetwright/internal/helmfile"
)

const (
	instanceChart = fluxinstall.InstanceChart
	operatorChart = "flux-operator"
)

// operator reports bootstraps that create a FluxInstance where nothing in the repository installs the Flux Operator before Flux
// runs: a HelmRelease of the operator does not help, as Flux, which the FluxInstance declares, has to apply it.
func (s *orders) operator() []OrderProblem {
	var found []OrderProblem
	for _, releases := range s.files {
		for _, r := range releases {
			if r.Unreadable != "" || r.Name.Unknown != nil || r.Chart.Unknown != nil {
				return nil // it may be that of the operator
			}
			if r.Skipped != nil {
				continue
			}
			if chartOf(r) == operatorChart || r.Name.Value == operatorChart {
				return nil
			}
			if r.CRDsOnly {
				continue
			}
			if at, ok := s.instanceIn(r); ok {
				found = append(found, OrderProblem{Rule: RuleOperatorMissing, File: at.File, Line: at.Line, Cluster: r.Cluster, Release: r.Name.Known(),
					Message: fmt.Sprintf("release %q creates a FluxInstance, and nothing in the repository installs the Flux Operator before Flux runs", r.Name.Known()),
					Hint:    "add a release of the chart " + operatorChart + " to the bootstrap, and name it in the needs of this one"})
			}
		}
	}
	if len(found) == 0 || s.operatorElsewhere() {
		return nil
	}
	return found
}

// instanceIn returns the position at which a release creates a FluxInstance: with its chart, or by a hook.
func (s *orders) instanceIn(r *helmfile.Release) (finding.Place, bool) {
	if chartOf(r) == instanceChart {
		return r.Place, true
	}
	for _, h := range r.Hooks {
		for _, t := range h.Applied {
			for _, o := range objectsAt(s.Repo, t.Value) {
				if o.Kind == "FluxInstance" && o.Group() == fluxapi.OperatorGroup {
					return t.Place, true
				}
			}
		}
	}
	return finding.Place{}, false
}

// operatorElsewhere reports whether the operator may come from elsewhere than a release: from manifests or a kustomization in
// the repository, or from a script that mentions it.
func (s *orders) operatorElsewhere() bool {
	for _, d := range s.Repo.ByKind("apiextensions.k8s.io", "CustomResourceDefinition") {
		if group, _ := d.Text("spec", "group"); group == fluxapi.OperatorGroup {
			return true
		}
	}
	for _, k := range s.Repo.Kustomizes() {
		if k.Spec == nil {
			return true
		}
		for _, ref := range k.Spec.Resources {
			if strings.Contains(ref, "://") && strings.Contains(ref, operatorChart) || strings.HasPrefix(ref, "github.com/") && strings.Contains(ref, operatorChart) {
				return true
			}
		}
	}
	return s.mentionedBeside(operatorChart, "fluxinstances."+fluxapi.OperatorGroup)
}
