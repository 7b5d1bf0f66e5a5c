package flux

import (
	"bytes"
	"fmt"
	"path"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

const watchLabel = "reconcile.fluxcd.io/watch"

// WatchLabelMissing is flux-watch-label-missing.
var WatchLabelMissing = rule.Rule{
	ID:       "flux-watch-label-missing",
	Title:    "values or variables that Flux does not watch",
	Severity: finding.Info,
	Why: `helm-controller and kustomize-controller watch the ConfigMaps and Secrets of valuesFrom and substituteFrom that
have the label reconcile.fluxcd.io/watch: Enabled (Flux 2.7 and later). Without the label, a change takes effect
only at the next interval of the HelmRelease or Kustomization, which may be an hour later.

A generated object with a hash in its name does not need the label, because its name changes. Nothing is
reported if Flux is configured to watch another selector (--watch-configs-label-selector).`,
	Fix: `Add the label reconcile.fluxcd.io/watch: Enabled to the ConfigMap or Secret. For a generated object, add it to
the generator's options.labels.`,
	Run: func(p *rule.Pass) {
		var found gathered
		each(p, func(w *world) { w.unwatched(&found) })
		if len(found.order) == 0 || selectsOtherwise(p.Repo) {
			return
		}
		found.report(p, func(f finding.Finding, names []string) string {
			verb := "reads"
			if len(names) > 1 {
				verb = "read"
			}
			return fmt.Sprintf("%s takes effect only at the next interval of %s, which %s it", f.Message, some(names), verb)
		})
	},
}

func (w *world) unwatched(found *gathered) {
	if w.minor > 0 && w.minor < 7 {
		return
	}
	for _, r := range w.references() {
		o := w.find(r.id)
		if o == nil || isHashed(o) || text(o.Value, "metadata", "labels", watchLabel) == "Enabled" {
			continue
		}
		found.add(o.Position("metadata", "name"), o.String(), finding.Finding{Message: "a change to " + o.String(),
			Hint: fmt.Sprintf("add the label %s: Enabled", watchLabel)}, o, r.by)
	}
}

// selectsOtherwise reports whether a file sets the label selector of the ConfigMaps and Secrets that Flux
// watches.
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
