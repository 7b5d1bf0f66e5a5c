package ownership

import (
	"fmt"
	"reflect"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Duplicate is ownership-duplicate.
var Duplicate = rule.Rule{
	ID:       "ownership-duplicate",
	Title:    "an object that two Kustomizations apply",
	Severity: finding.Error,
	Why: `All Kustomizations apply as the same field manager, so that the API server sees no conflict: each silently
writes over what the other wrote, on every reconciliation, its owner's labels included. When one of them no longer has
the object, it is deleted if that one happened to apply it last, although the other still has it: a namespace with all
that is in it (fluxcd/kustomize-controller#1724).

Where both write the same, only the labels go to and fro, and the deletion is still to be feared: a warning, and none
where both say kustomize.toolkit.fluxcd.io/prune: disabled.

Objects with the annotation kustomize.toolkit.fluxcd.io/ssa (Merge, IfNotPresent, Ignore) may have several owners. A
Kustomization whose path is within another's is flux-path-overlap.`,
	Fix: `Leave the object to one of them, and have the other depend on that one. A namespace that several need: a
Kustomization of its own that brings it.`,
	Bad: []rule.Example{{Files: fluxSync + kustomization("infrastructure") + kustomization("apps") + `-- infrastructure/limits.yaml --
apiVersion: v1
kind: LimitRange # <-- here
metadata:
  name: defaults
  namespace: default
spec:
  limits:
    - type: Container
      defaultRequest:
        cpu: 100m
-- apps/limits.yaml --
apiVersion: v1
kind: LimitRange
metadata:
  name: defaults
  namespace: default
spec:
  limits:
    - type: Container
      defaultRequest:
        cpu: 200m
`}},
	Good: []rule.Example{{Files: fluxSync + kustomization("infrastructure") + kustomization("apps") + `-- infrastructure/limits.yaml --
apiVersion: v1
kind: LimitRange
metadata:
  name: defaults
  namespace: default
spec:
  limits:
    - type: Container
      defaultRequest:
        cpu: 100m
-- apps/limits.yaml --
apiVersion: v1
kind: LimitRange
metadata:
  name: apps
  namespace: default
spec:
  limits:
    - type: Container
      defaultRequest:
        cpu: 200m
`}},
	Run: func(p *rule.Pass) {
		owners := Owners.Of(p)
		for _, c := range p.Clusters() {
			for _, s := range owners[c] {
				if !s.Overlap {
					report(p, s)
				}
			}
		}
	},
}

// report reports what two Kustomizations share, what comes from one file together.
func report(p *rule.Pass, s *Shared) {
	byFile := map[[2]string][][2]*reconcile.Object{}
	var order [][2]string
	for _, pair := range s.Pairs {
		if same(pair) && keeps(pair[0]) && keeps(pair[1]) {
			continue
		}
		files := [2]string{pair[0].File, pair[1].File}
		if len(byFile[files]) == 0 {
			order = append(order, files)
		}
		byFile[files] = append(byFile[files], pair)
	}
	for _, files := range order {
		pairs := byFile[files]
		first, second := pairs[0][0], pairs[0][1]
		f := finding.Finding{Severity: finding.Warning,
			Message: fmt.Sprintf("%s is applied by Kustomization %s and by %s", second, s.First, s.Second),
			Hint:    "leave it to one of them"}
		if first.File != second.File || first.Line != second.Line {
			f.Message += fmt.Sprintf(" (%s:%d)", first.File, first.Line)
		}
		if more := len(pairs) - 1; more > 0 {
			f.Message += fmt.Sprintf(", and so is what else is in the file (%d more)", more)
		}
		for _, pair := range pairs {
			if !same(pair) {
				f.Severity = finding.Error
			}
		}
		p.ReportBuilt(second, f, "kind")
	}
}

// same says whether two Kustomizations write the same.
func same(pair [2]*reconcile.Object) bool { return reflect.DeepEqual(pair[0].Value, pair[1].Value) }

// keeps says whether an object is never deleted by Flux.
func keeps(o *reconcile.Object) bool {
	metadata, _ := o.Value["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	const key = "kustomize.toolkit.fluxcd.io/prune"
	return annotations[key] == "disabled" || labels[key] == "disabled"
}
