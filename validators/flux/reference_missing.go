package flux

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ReferenceMissing is flux-reference-missing.
var ReferenceMissing = rule.Rule{
	ID:       "flux-reference-missing",
	Title:    "a reference to an object of Flux that does not exist",
	Severity: finding.Error,
	Why: `An ImagePolicy without its ImageRepository never selects an image, and an Alert without its Provider never sends
anything: both stay not ready. A Receiver whose resource does not exist answers the webhook with an error, and an Alert
whose event source does not exist sends nothing about it: these are warnings, since the rest of the object works.

The rule checks spec.imageRepositoryRef of ImagePolicies, spec.providerRef and spec.eventSources of Alerts, and
spec.resources of Receivers. The name "*" and labels match any object; a namespace is compared literally. If the objects
of the cluster are only partly known, the reference is unresolved.`,
	Fix: `Correct the kind, name or namespace of the reference, or add the object to the cluster in Git.`,
	Run: func(p *rule.Pass) {
		var open questions
		each(p, func(w *world) {
			w.namespacePatterns(p)
			for _, n := range w.namesIn(fluxReferences) {
				if n.id.Group == "" || w.isThere(n.id) || isSource(n.id) && n.id == sourceOf(w.cluster.Kustomizations[0]) {
					continue
				}
				why := w.doubt(n.id)
				if hint, typo := w.resembles(n.id); typo && why != "" {
					n.report(p, w, finding.Warning, hint)
					continue
				}
				if why != "" {
					n.ask(w, &open, why)
					continue
				}
				if w.guessed() && !w.near(n.id) {
					n.ask(w, &open, fromOutside) // another repository may be synced, too
					continue
				}
				severity := finding.Error
				if len(n.path) > 3 {
					severity = finding.Warning // one entry of a list
				}
				n.report(p, w, severity, w.hint(n.id))
			}
		})
		open.report(p)
	},
}

var fluxReferences = []nameField{
	{group: fluxapi.ImageGroup, kinds: []string{"ImagePolicy"}, path: []any{"spec", "imageRepositoryRef"}, to: kind{fluxapi.ImageGroup, "ImageRepository"}, crosses: true},
	{group: fluxapi.NotificationGroup, kinds: []string{"Alert"}, path: []any{"spec", "providerRef"}, to: kind{fluxapi.NotificationGroup, "Provider"}},
	{group: fluxapi.NotificationGroup, kinds: []string{"Alert"}, path: []any{"spec", "eventSources", -1}, crosses: true},
	{group: fluxapi.NotificationGroup, kinds: []string{"Receiver"}, path: []any{"spec", "resources", -1}, crosses: true},
}

// namespacePatterns reports event sources of Alerts and resources of Receivers whose namespace is a pattern: it matches
// nothing. Source: github.com/fluxcd/notification-controller v1.9, internal/server/event_handlers.go.
func (w *world) namespacePatterns(p *rule.Pass) {
	for _, o := range w.applied {
		at := []any{"spec", "eventSources"}
		if o.Kind == "Receiver" {
			at = []any{"spec", "resources"}
		}
		if o.Group != fluxapi.NotificationGroup || o.HelmRelease != nil || suspended(o) {
			continue
		}
		for i := range o.List(at...) {
			path := append(slices.Clone(at), i, "namespace")
			if namespace := o.Text(path...); strings.Contains(namespace, "*") {
				p.ReportBuilt(o, finding.Finding{Place: o.Position(path...), Severity: finding.Warning,
					Message: fmt.Sprintf("%s selects objects in namespace %q, which matches nothing: only a name may be *", o, namespace),
					Hint:    "replace this entry with one for each namespace"})
			}
		}
	}
}
