package flux

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// DependsOnMissing is flux-dependson-missing.
var DependsOnMissing = rule.Rule{
	ID:       "flux-dependson-missing",
	Title:    "a dependency on an object that does not exist",
	Severity: finding.Error,
	Why: `A Kustomization or HelmRelease waits for all that its spec.dependsOn names. What doesn't exist never becomes
ready: the controller says "dependency not found" and tries again for ever. Nothing is applied or upgraded, and what
depends on it waits as well.

A namespace that isn't given is the object's own. What is suspended isn't looked at. Where not all is known that the
cluster applies, the dependency is unresolved: unless its name is a slip of the pen for one that is there, and stands in
no file.`,
	Fix: `Correct the name or the namespace, remove the entry, or add what it names to what the cluster applies: most
often a file was taken out of a kustomization.yaml, or an application was removed and others still wait for it.`,
	Run: func(p *rule.Pass) {
		var open questions
		each(p, func(w *world) {
			for _, o := range w.depending() {
				for _, d := range dependencies(o) {
					w.dependencyMissing(p, &open, d)
				}
			}
		})
		open.report(p)
	},
}

func (w *world) dependencyMissing(p *rule.Pass, open *questions, d dependency) {
	if w.isThere(d.on) {
		return
	}
	why := w.doubt(d.on)
	if _, other := w.otherKind(d); other && why == "" {
		return // flux-dependson-kind
	}
	at := w.locate(d.of, d.on.Name, d.path()...)
	if unknown(d.on.Name) || unknown(d.on.Namespace) {
		why = "its name contains a variable with an unknown value"
	}
	if why != "" {
		open.add(at, fmt.Sprintf("whether %s, which %s depends on, exists", idText(d.on), d.of), why)
		return
	}
	p.ReportBuilt(d.of, at.in(finding.Finding{
		Message: fmt.Sprintf("%s depends on %s, which does not exist", d.of, idText(d.on)),
		Hint:    w.hint(d.on),
	}))
}
