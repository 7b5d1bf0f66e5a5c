package flux

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// DependsOnKind is flux-dependson-kind.
var DependsOnKind = rule.Rule{
	ID:       "flux-dependson-kind",
	Title:    "a dependency on an object of the other kind",
	Severity: finding.Error,
	Why: `An entry of spec.dependsOn has no kind: a Kustomization depends on Kustomizations, and a HelmRelease on
HelmReleases. If an entry names an object of the other kind, Flux looks for one of the same kind, never finds
it, and never applies the object.`,
	Fix: `If a HelmRelease must wait for a Kustomization, add the dependency to the Kustomization that applies the
HelmRelease. If a Kustomization must wait for a HelmRelease, depend on the Kustomization that applies the
HelmRelease, with wait: true or the HelmRelease in its healthChecks.`,
	Run: func(p *rule.Pass) {
		each(p, func(w *world) {
			for _, o := range w.depending() {
				for _, d := range dependencies(o) {
					w.dependencyKind(p, d)
				}
			}
		})
	},
}

func (w *world) dependencyKind(p *rule.Pass, d dependency) {
	if w.isThere(d.on) || w.doubtOf(d.on, d.of) != "" {
		return
	}
	other, ok := w.otherKind(d)
	if !ok {
		return
	}
	f := finding.Finding{
		Message: fmt.Sprintf("%s depends on %q, which is a %s: Flux looks for a %s with this name", d.of, d.on.Name, other.Kind, d.on.Kind),
		Hint:    "depend on the Kustomization that applies it, with wait: true",
	}
	if other.Kind == kustomizationKind {
		f.Hint = "put the dependency on the Kustomization that applies the HelmRelease"
	} else if o := w.find(other); o != nil && o.Kustomization != nil {
		f.Hint = fmt.Sprintf("depend on Kustomization %s, which applies it, with wait: true", o.Kustomization)
	}
	p.ReportBuilt(d.of, f.At(w.locate(d.of, d.on.Name, d.path()...)))
}
