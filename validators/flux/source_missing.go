package flux

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/tenant"
)

// SourceMissing is flux-source-missing.
var SourceMissing = rule.Rule{
	ID:       "flux-source-missing",
	Title:    "a source that does not exist",
	Severity: finding.Error,
	Why: `A Kustomization, HelmRelease or HelmChart whose source does not exist is never reconciled: kustomize-controller
reports "Source not found", helm-controller "could not get Source object", and both retry forever. Objects that
were applied before do not change.

The rule checks spec.sourceRef of Kustomizations, HelmCharts and ImageUpdateAutomations, spec.chartRef and
spec.chart.spec.sourceRef of HelmReleases, and spec.sources of ArtifactGenerators with the aliases that they
copy from. Without a namespace, a reference is to the object's own namespace.

A source is unresolved if it may be defined where Fleetwright cannot look: in another repository, a ResourceSet, or a
FluxInstance that is not in Git. In that case, a name that is nearly that of an existing source is a warning.`,
	Fix: `Correct the kind, name or namespace of the reference, or add the source to the objects of the cluster.

If the source is created outside of Git, ignore the finding with that reason.`,
	Run: func(p *rule.Pass) {
		var open questions
		each(p, func(w *world) { w.checkSources(p, &open) })
		open.report(p)
	},
}

// sourceFields are the fields in which objects name a source.
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
			continue // flux-path-missing reports it
		}
		one := finding.Finding{Place: f.Generator.Position(f.Path...), Message: f.Message, Hint: "its aliases are " + some(f.Aliases)}
		if near, ok := w.budget.nearest(f.Alias, f.Aliases); ok {
			one.Hint = fmt.Sprintf("did you mean %q?", near)
		}
		p.ReportBuilt(f.Generator, one)
	}
}

// checkSource checks that the source that an object names at a path exists.
func (w *world) checkSource(p *rule.Pass, open *questions, o *reconcile.Object, ref any, path ...any) {
	id := reconcile.Identity{Group: fluxapi.SourceGroup, Kind: text(ref, "kind"), Name: text(ref, "name"), Namespace: cmp.Or(text(ref, "namespace"), o.Namespace)}
	if id.Name == "" || id.Kind == "" || suspended(o) || w.has(id) {
		return
	}
	if k, ok := w.cluster.Kustomization(o.Namespace, o.Name); ok && isKustomization(o) && k.Assumed != nil {
		line, _ := k.Assumed.Position()
		open.add(w.locate(o, id.Name, slices.Concat(path, []any{"name"})...), fmt.Sprintf("whether %s, the source of %s, exists", idText(id), o),
			fmt.Sprintf("%s:%d defines it as the repository itself, and no Kustomization applies that file", k.Assumed.File(), line))
		return
	}
	if w.needsNoDefinition(o, id) {
		return
	}
	if len(schemas.Versions(schema.GroupKind{Group: id.Group, Kind: id.Kind})) == 0 {
		return // schema-invalid reports it
	}
	if id.Kind == "ExternalArtifact" && slices.Contains(w.generatedArtifacts(id.Namespace), id.Name) {
		return // the rules about its creator report the problem
	}
	at := w.locate(o, id.Name, slices.Concat(path, []any{"name"})...)
	if text(ref, "namespace") != "" && w.isInOtherNamespace(id) {
		at = w.locate(o, id.Namespace, slices.Concat(path, []any{"namespace"})...) // a patch may set it
	}
	why := w.sourceDoubt(o, id)
	f := finding.Finding{Message: fmt.Sprintf("%s, the source of %s, does not exist", idText(id), o)}
	if hint, typo := w.resembles(id); why == "" {
		f.Hint = w.sourceHint(p, o, id)
	} else if typo {
		f.Severity, f.Hint = finding.Warning, hint
	} else {
		open.add(at, fmt.Sprintf("whether %s, the source of %s, exists", idText(id), o), why)
		return
	}
	p.ReportBuilt(o, f.At(at))
}

// isInOtherNamespace reports whether there is an object of the kind and name in another namespace.
func (w *world) isInOtherNamespace(id reconcile.Identity) bool {
	for namespace, names := range w.names[kind{id.Group, id.Kind}] {
		if namespace != id.Namespace && slices.Contains(names, id.Name) {
			return true
		}
	}
	return false
}

// needsNoDefinition reports whether a source needs no definition in Git: it is the source of the cluster's root, which a
// bootstrap creates, or its files are available locally.
func (w *world) needsNoDefinition(o *reconcile.Object, id reconcile.Identity) bool {
	if id == sourceOf(w.cluster.Kustomizations[0]) {
		return !w.misspelt(id)
	}
	if slices.Contains(w.cluster.Root.Synced, roots.Source{Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}) {
		return true
	}
	if isKustomization(o) {
		k, ok := w.cluster.Kustomization(o.Namespace, o.Name)
		return ok && k.Repo != nil
	}
	return false
}

// sourceDoubt is doubt for sources: it returns the reason why a missing source may exist nevertheless, "" if
// there is none.
func (w *world) sourceDoubt(o *reconcile.Object, id reconcile.Identity) string {
	if unknown(id.Name) || unknown(id.Namespace) {
		return "its name contains a variable with an unknown value"
	}
	if why := w.doubtOf(id, o); why != "" {
		return why
	}
	if _, misspelt := w.nearestArtifact(id); id.Kind == "ExternalArtifact" && !misspelt {
		return "the controller that creates it is unknown"
	}
	k, ok := w.cluster.Kustomization(o.Namespace, o.Name)
	astray := ok && isKustomization(o) && k.LikelyOwnSource()
	if id.Kind == "GitRepository" && id.Namespace == sourceOf(w.cluster.Kustomizations[0]).Namespace && !astray && !w.near(id) && !w.nearRoot(id) {
		return w.outside(id)
	}
	return ""
}

// nearRoot reports whether a source has a name similar to that of the root's source.
func (w *world) nearRoot(id reconcile.Identity) bool {
	root := sourceOf(w.cluster.Kustomizations[0])
	_, near := w.budget.nearest(id.Name, []string{root.Name})
	return near && id.Kind == root.Kind && id.Namespace == root.Namespace
}

// nearestArtifact returns the generated artifact that a misspelled name probably means, and whether there is
// one. It finds none for other sources.
func (w *world) nearestArtifact(id reconcile.Identity) (string, bool) {
	if id.Kind != "ExternalArtifact" {
		return "", false
	}
	names := w.generatedArtifacts(id.Namespace)
	return w.budget.nearest(id.Name, names)
}

// generatedArtifacts returns the names of the artifacts that the ArtifactGenerators of a namespace create.
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

// creatorOf returns the ArtifactGenerator that creates an artifact, and the place where it does, as a sentence.
func (w *world) creatorOf(namespace, name string) string {
	for _, o := range w.applied {
		if o.Kind != "ArtifactGenerator" || o.Namespace != namespace {
			continue
		}
		for i, a := range list(o.Value, "spec", "artifacts") {
			if text(a, "name") == name {
				at := o.Position("spec", "artifacts", i, "name")
				return fmt.Sprintf(" %s creates it at %s", o, at.Short())
			}
		}
	}
	return ""
}

func (w *world) sourceHint(p *rule.Pass, o *reconcile.Object, id reconcile.Identity) string {
	if near, ok := w.nearestArtifact(id); ok {
		return fmt.Sprintf("did you mean %q?%s", near, w.creatorOf(id.Namespace, near))
	}
	if hint := w.forbiddenHint(p, o, id); hint != "" {
		return hint
	}
	if hint := w.hint(id); hint != "" {
		return hint
	}
	for _, other := range []string{"OCIRepository", "GitRepository", "HelmRepository", "HelmChart", "Bucket"} {
		if other != id.Kind && w.has(reconcile.Identity{Group: id.Group, Kind: other, Namespace: id.Namespace, Name: id.Name}) {
			return fmt.Sprintf("a source with this name has kind %s", other)
		}
	}
	// The source of the root is often not among the applied objects.
	root := w.cluster.Kustomizations[0]
	if own := sourceOf(root); own.Kind == id.Kind && own.Name == id.Name && own.Namespace != "" {
		return fmt.Sprintf("the source of the repository itself is in namespace %q: set namespace: %s", own.Namespace, own.Namespace)
	}
	if near, ok := w.budget.nearest(id.Name, []string{root.Spec.SourceRef.Name}); ok && root.Spec.SourceRef.Kind == id.Kind {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// forbiddenHint is the hint for a source that exists only in namespaces that the object must not refer to; "" for others.
func (w *world) forbiddenHint(p *rule.Pass, o *reconcile.Object, id reconcile.Identity) string {
	found := w.inNamespaces(kind{id.Group, id.Kind}, id.Name)
	if root := sourceOf(w.cluster.Kustomizations[0]); root.Kind == id.Kind && root.Name == id.Name && root.Namespace != "" {
		found = append(found, root.Namespace) // the cluster's own source is often not among its objects
	}
	if len(found) == 0 || w.near(id) || slices.ContainsFunc(found, func(to string) bool { return !tenant.ForbidsReference(p, w.cluster, o.Namespace, to) }) {
		return ""
	}
	return fmt.Sprintf("it exists in namespace %q, but a reference to another namespace is refused: declare a source in namespace %s", found[0], o.Namespace)
}
