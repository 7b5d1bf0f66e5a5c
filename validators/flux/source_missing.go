package flux

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// SourceMissing is flux-source-missing.
var SourceMissing = rule.Rule{
	ID:       "flux-source-missing",
	Title:    "a source that does not exist",
	Severity: finding.Error,
	Why: `A Kustomization, HelmRelease or HelmChart whose source doesn't exist is never reconciled: kustomize-controller
says "Source not found" and tries again for ever, helm-controller "could not get Source object". What was applied
before stays as it is.

Looked at are spec.sourceRef of Kustomizations, HelmCharts and ImageUpdateAutomations, spec.chartRef and
spec.chart.spec.sourceRef of HelmReleases, and spec.sources of ArtifactGenerators with the aliases that they copy from.
A namespace that isn't given is the object's own.

A source that may come from where Fleetwright can't look (another repository, a ResourceSet, a FluxInstance that is
not in Git) is unresolved.`,
	Fix: `Correct the kind, name or namespace of the reference, or add the source to what the cluster applies.

A source that is made outside of Git: say so with an ignore and its reason.`,
	Run: func(p *rule.Pass) {
		var open questions
		each(p, func(w *world) { w.checkSources(p, &open) })
		open.report(p)
	},
}

// sourceFields are where objects name a source.
var sourceFields = []struct {
	group, kind string
	path        []string
}{
	{fluxapi.KustomizeGroup, kustomizationKind, []string{"spec", "sourceRef"}},
	{fluxapi.HelmGroup, helmReleaseKind, []string{"spec", "chartRef"}},
	{fluxapi.HelmGroup, helmReleaseKind, []string{"spec", "chart", "spec", "sourceRef"}},
	{fluxapi.SourceGroup, "HelmChart", []string{"spec", "sourceRef"}},
	{fluxapi.ImageGroup, "ImageUpdateAutomation", []string{"spec", "sourceRef"}},
}

func (w *world) checkSources(p *rule.Pass, open *questions) {
	for _, o := range w.applied {
		for _, f := range sourceFields {
			if o.Group == f.group && o.Kind == f.kind {
				w.checkSource(p, open, o, field(o.Value, f.path...), steps(f.path)...)
			}
		}
		if o.Group == fluxapi.ArtifactGroup && o.Kind == "ArtifactGenerator" {
			for i, ref := range list(o.Value, "spec", "sources") {
				w.checkSource(p, open, o, ref, "spec", "sources", i)
			}
		}
	}
	for _, f := range w.cluster.CopyFailures {
		if f.Alias == "" {
			continue // flux-path-missing
		}
		one := placeOf(f.Generator, f.Path...).in(finding.Finding{Message: f.Message, Hint: "its aliases are " + some(f.Aliases)})
		if near, ok := w.budget.nearest(f.Alias, f.Aliases); ok {
			one.Hint = fmt.Sprintf("did you mean %q?", near)
		}
		p.ReportBuilt(f.Generator, one)
	}
}

// checkSource looks at a source that an object names at a path.
func (w *world) checkSource(p *rule.Pass, open *questions, o *reconcile.Object, ref any, path ...any) {
	id := reconcile.Identity{Group: fluxapi.SourceGroup, Kind: text(ref, "kind"), Name: text(ref, "name"), Namespace: cmp.Or(text(ref, "namespace"), o.Namespace)}
	if id.Name == "" || id.Kind == "" || suspended(o) || w.has(id) || w.isGiven(o, id) {
		return
	}
	if len(schemas.Versions(schema.GroupKind{Group: id.Group, Kind: id.Kind})) == 0 {
		return // schema-invalid tells
	}
	if id.Kind == "ExternalArtifact" && slices.Contains(w.generatedArtifacts(id.Namespace), id.Name) {
		return // what is wrong with its making is told there
	}
	at := w.locate(o, id.Name, slices.Concat(path, []any{"name"})...)
	why := w.sourceDoubt(o, id)
	if why != "" {
		open.add(at, fmt.Sprintf("whether %s, the source of %s, exists", idText(id), o), why)
		return
	}
	p.ReportBuilt(o, at.in(finding.Finding{
		Message: fmt.Sprintf("%s, the source of %s, does not exist", idText(id), o),
		Hint:    w.sourceHint(id),
	}))
}

// isGiven says whether a source is what the root itself is synced from, which bootstraps
// make, or one whose files are at hand.
func (w *world) isGiven(o *reconcile.Object, id reconcile.Identity) bool {
	if id == sourceOf(w.cluster.Kustomizations[0]) {
		return true
	}
	if isKustomization(o) {
		k, ok := w.cluster.Kustomization(o.Namespace, o.Name)
		return ok && k.Repo != nil
	}
	return false
}

// sourceDoubt is doubt with what is true of the sources of an object only.
func (w *world) sourceDoubt(o *reconcile.Object, id reconcile.Identity) string {
	if unknown(id.Name) || unknown(id.Namespace) {
		return "its name contains a variable with an unknown value"
	}
	if why := w.doubt(id); why != "" {
		return why
	}
	if _, misspelt := w.nearestArtifact(id); id.Kind == "ExternalArtifact" && !misspelt {
		return "the controller that creates it is unknown"
	}
	k, ok := w.cluster.Kustomization(o.Namespace, o.Name)
	astray := ok && isKustomization(o) && k.Astray()
	if w.guessed() && id.Kind == "GitRepository" && id.Namespace == sourceOf(w.cluster.Kustomizations[0]).Namespace && !astray && !w.near(id) {
		return "the object that syncs the cluster's root is not in the repository, and may create it"
	}
	return ""
}

// nearestArtifact is the generated artifact that a misspelt name means, and none for what is no
// artifact.
func (w *world) nearestArtifact(id reconcile.Identity) (string, bool) {
	if id.Kind != "ExternalArtifact" {
		return "", false
	}
	names := w.generatedArtifacts(id.Namespace)
	return w.budget.nearest(id.Name, names)
}

// generatedArtifacts are the names of the artifacts that the ArtifactGenerators of a namespace
// make.
func (w *world) generatedArtifacts(namespace string) []string {
	var names []string
	for _, o := range w.applied {
		if o.Kind == "ArtifactGenerator" && o.Namespace == namespace {
			for _, a := range list(o.Value, "spec", "artifacts") {
				names = append(names, text(a, "name"))
			}
		}
	}
	return names
}

// madeAt says where an artifact is made.
func (w *world) madeAt(namespace, name string) string {
	for _, o := range w.applied {
		if o.Kind != "ArtifactGenerator" || o.Namespace != namespace {
			continue
		}
		for i, a := range list(o.Value, "spec", "artifacts") {
			if text(a, "name") == name {
				at := placeOf(o, "spec", "artifacts", i, "name")
				return fmt.Sprintf(" %s creates it at %s:%d", o, at.file, at.line)
			}
		}
	}
	return ""
}

func (w *world) sourceHint(id reconcile.Identity) string {
	if near, ok := w.nearestArtifact(id); ok {
		return fmt.Sprintf("did you mean %q?%s", near, w.madeAt(id.Namespace, near))
	}
	if hint := w.hint(id); hint != "" {
		return hint
	}
	for _, other := range []string{"OCIRepository", "GitRepository", "HelmRepository", "HelmChart", "Bucket"} {
		if other != id.Kind && w.has(reconcile.Identity{Group: id.Group, Kind: other, Namespace: id.Namespace, Name: id.Name}) {
			return fmt.Sprintf("a source with this name has kind %s", other)
		}
	}
	// The root's own source is often not among the objects.
	root := w.cluster.Kustomizations[0]
	if near, ok := w.budget.nearest(id.Name, []string{root.Spec.SourceRef.Name}); ok && root.Spec.SourceRef.Kind == id.Kind {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// steps are field names as a path.
func steps(path []string) []any {
	out := make([]any, 0, len(path)+1)
	for _, name := range path {
		out = append(out, name)
	}
	return out
}
