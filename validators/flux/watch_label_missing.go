package flux

import (
	"bytes"
	"fmt"
	"path"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

const watchLabel = "reconcile.fluxcd.io/watch"

// WatchLabelMissing is flux-watch-label-missing.
var WatchLabelMissing = rule.Rule{
	ID:       "flux-watch-label-missing",
	Title:    "values or variables whose change Flux doesn't notice",
	Severity: finding.Info,
	Why: `helm-controller and kustomize-controller watch the ConfigMaps and Secrets of valuesFrom and substituteFrom that
have the label reconcile.fluxcd.io/watch: Enabled (Flux 2.7 and later). Without it a change takes effect with the next
interval of the HelmRelease or Kustomization only, which may be an hour away.

A generated object with a hash in its name needs no label: its name changes. Nothing is told where Flux is set up to
watch by another selector (--watch-configs-label-selector).`,
	Fix: `Add the label reconcile.fluxcd.io/watch: Enabled to the ConfigMap or Secret. For a generated one it goes to
the generator's options.labels.`,
	Bad: []rule.Example{{Files: fluxSync + podinfoRelease("podinfo-values") + `-- clusters/prod/values.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: podinfo-values # <-- here
  namespace: flux-system
data:
  values.yaml: |
    replicaCount: 2
`}},
	Good: []rule.Example{{Files: fluxSync + podinfoRelease("podinfo-values") + `-- clusters/prod/values.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: podinfo-values
  namespace: flux-system
  labels:
    reconcile.fluxcd.io/watch: Enabled
data:
  values.yaml: |
    replicaCount: 2
`}},
	Run: func(p *rule.Pass) {
		var unwatched []unwatched
		each(p, func(w *world) { unwatched = append(unwatched, w.unwatched()...) })
		if len(unwatched) == 0 || selectsOtherwise(p.Repo) {
			return
		}
		for _, u := range unwatched {
			p.ReportBuilt(u.object, finding.Finding{
				Message: fmt.Sprintf("a change of %s waits for the next interval of %s, which reads it", u.object, u.by),
				Hint:    fmt.Sprintf("add the label %s: Enabled", watchLabel),
			}, "metadata", "name")
		}
	},
}

// unwatched is an object without the label, and what reads it.
type unwatched struct {
	object *reconcile.Object
	by     string
}

func (w *world) unwatched() []unwatched {
	if w.minor > 0 && w.minor < 7 {
		return nil
	}
	readers := map[*reconcile.Object][]string{}
	var order []*reconcile.Object
	for _, r := range w.references() {
		o := w.find(r.id)
		if o == nil || isHashed(o) || text(o.Value, "metadata", "labels", watchLabel) == "Enabled" {
			continue
		}
		if len(readers[o]) == 0 {
			order = append(order, o)
		}
		readers[o] = append(readers[o], r.by)
	}
	var all []unwatched
	for _, o := range order {
		slices.Sort(readers[o])
		all = append(all, unwatched{o, some(slices.Compact(readers[o]))})
	}
	return all
}

// selectsOtherwise says whether any file sets the selector of what Flux watches.
func selectsOtherwise(repo *repository.Repository) bool {
	for _, name := range repo.Paths() {
		if ext := path.Ext(name); ext != ".yaml" && ext != ".yml" && ext != ".tf" {
			continue
		}
		if data, err := repo.ReadFile(name); err == nil && bytes.Contains(data, []byte("watch-configs-label-selector")) {
			return true
		}
	}
	return false
}
