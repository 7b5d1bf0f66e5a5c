package flux

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// DependsOnMissing is flux-dependson-missing.
var DependsOnMissing = rule.Rule{
	ID:       "flux-dependson-missing",
	Title:    "a dependency on an object that does not exist",
	Severity: finding.Error,
	Why: `A Kustomization or HelmRelease waits for every object in its spec.dependsOn. If one does not exist, the
controller reports "dependency not found" and retries forever. Nothing is applied or upgraded, and dependents
wait as well.

Without a namespace, an entry refers to the object's own namespace. Suspended objects are skipped. If the
objects of the cluster are only partly known, the dependency is unresolved, unless its name is a typo of an
existing name and is in no file.`,
	Fix: `Correct the name or namespace, remove the entry, or add the object to the cluster. Usually a file was removed
from a kustomization.yaml, or an application was removed and others still depend on it.`,
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
	why := w.doubtOf(d.on, d.of)
	if _, other := w.otherKind(d); other && why == "" {
		return // flux-dependson-kind
	}
	at := w.locate(d.of, d.on.Name, d.path()...)
	if unknown(d.on.Name) || unknown(d.on.Namespace) {
		why = "its name contains a variable with an unknown value"
	}
	hint, typo := w.resembles(d.on)
	if b := w.cluster.Root.Boundary; why == "" && b != nil && d.on.Namespace != d.of.Namespace && !slices.Contains(b.Spec.Namespaces, d.on.Namespace) {
		if b.Spec.Admission != nil && p.Runs("tenant-boundary") {
			return // it reports that the tenant may not name it
		}
		why, typo = fmt.Sprintf("the platform may have it in namespace %s", d.on.Namespace), false
	}
	if why != "" && !typo {
		open.add(at, fmt.Sprintf("whether %s, which %s depends on, exists", idText(d.on), d.of), why)
		return
	}
	f := finding.Finding{Message: fmt.Sprintf("%s depends on %s, which does not exist", d.of, idText(d.on)), Hint: w.hint(d.on)}
	if why != "" {
		f.Severity, f.Hint = finding.Warning, hint
	}
	p.ReportBuilt(d.of, f.At(at))
}
