package ownership

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Duplicate is ownership-duplicate.
var Duplicate = rule.Rule{
	ID:       "ownership-duplicate",
	Title:    "an object that two Kustomizations, or a Kustomization and a Helm release, apply",
	Severity: finding.Error,
	Why: `All Kustomizations apply as the same field manager, so that the API server sees no conflict: each silently
writes over what the other wrote, on every reconciliation, its owner's labels included. When one of them no longer has
the object, it is deleted if that one happened to apply it last, although the other still has it: a namespace with all
that is in it (fluxcd/kustomize-controller#1724).

Where both write the same, only labels and annotations go to and fro, and the deletion is still to be feared: a
warning, and none where both say kustomize.toolkit.fluxcd.io/prune: disabled.

Helm releases are owners, too, where their charts are at hand: helm-controller takes over an object that is there
already, and each then undoes the other's work. CustomResourceDefinitions in a chart's crds folder are no release's.

Objects with the annotation kustomize.toolkit.fluxcd.io/ssa (Merge, IfNotPresent, Ignore) may have several owners. A
Kustomization whose path is within another's is flux-path-overlap.`,
	Fix: `Leave the object to one of them, and have the other depend on that one. A namespace that several need: a
Kustomization of its own that brings it.`,
	Run: func(p *rule.Pass) {
		owners := OfClusters.Of(p)
		for _, c := range p.Clusters() {
			report(p, owners[c].Duplicates)
		}
	},
}

// report reports the objects with several owners: once those of the same owners that come from
// the same files, or from bases that they share.
func report(p *rule.Pass, duplicates [][]*reconcile.Object) {
	groups := map[string][][]*reconcile.Object{}
	var order []string
	for _, all := range duplicates {
		if allSame(all) && !slices.ContainsFunc(all, func(o *reconcile.Object) bool { return !keeps(o) }) {
			continue
		}
		var key strings.Builder
		for _, o := range all {
			file := o.File
			if o.Source != nil && o.Source == all[0].Source {
				file = "" // of a base that they share
			}
			fmt.Fprintf(&key, "%s %s\n", file, owner(o))
		}
		if len(groups[key.String()]) == 0 {
			order = append(order, key.String())
		}
		groups[key.String()] = append(groups[key.String()], all)
	}
	for _, key := range order {
		reportGroup(p, groups[key])
	}
}

func reportGroup(p *rule.Pass, group [][]*reconcile.Object) {
	const most = 3
	all := group[0]
	first, second := all[0], all[1]
	names := ownersOf(all)
	by := strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	if more := len(names) - most; more > 0 {
		by = fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	f := finding.Finding{Severity: finding.Warning, Hint: "apply it with only one of them",
		Message: fmt.Sprintf("%s is applied by %s", second, by)}
	if first.File != second.File || first.Line != second.Line {
		f.Message += ", first at " + first.File
		if first.Line > 0 { // the items of a ResourceList have no lines
			f.Message += fmt.Sprintf(":%d", first.Line)
		}
	}
	if more := len(group) - 1; more > 0 {
		objects := "1 more object"
		if more > 1 {
			objects = fmt.Sprintf("%d more objects", more)
		}
		f.Message += fmt.Sprintf(" (and %s with it)", objects)
	}
	for _, all := range group {
		if !allSame(all) {
			f.Severity = finding.Error
		}
	}
	p.ReportBuilt(second, f, "kind")
}

// owner names what applies an object.
func owner(o *reconcile.Object) string {
	if o.HelmRelease != nil {
		return o.HelmRelease.String()
	}
	return "Kustomization " + o.Kustomization.String()
}

// ownersOf names what applies the objects, the kind once if it is the same.
func ownersOf(all []*reconcile.Object) []string {
	names := make([]string, 0, len(all))
	for _, o := range all {
		names = append(names, owner(o))
	}
	if all[len(all)-1].HelmRelease != nil {
		return names
	}
	for i, o := range all {
		names[i] = o.Kustomization.String()
	}
	names[0] = "Kustomizations " + names[0]
	return names
}

// allSame says whether all owners write the same, labels and annotations left out.
func allSame(all []*reconcile.Object) bool {
	first := withoutMetadata(all[0])
	return !slices.ContainsFunc(all[1:], func(o *reconcile.Object) bool { return !reflect.DeepEqual(first, withoutMetadata(o)) })
}

func withoutMetadata(o *reconcile.Object) map[string]any {
	value := maps.Clone(o.Value)
	delete(value, "metadata")
	return value
}

// keeps says whether an object is never deleted by Flux.
func keeps(o *reconcile.Object) bool {
	metadata, _ := o.Value["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	const key = "kustomize.toolkit.fluxcd.io/prune"
	if o.HelmRelease != nil {
		return annotations["helm.sh/resource-policy"] == "keep"
	}
	return annotations[key] == "disabled" || labels[key] == "disabled"
}
