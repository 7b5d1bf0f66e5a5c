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
	Why: `All Kustomizations apply with the same field manager, so the API server reports no conflict: each silently
overwrites the other at every reconciliation, including the owner labels. When one of them no longer has the
object, it deletes the object if it was the last to apply it, although the other one still has it. If the object
is a namespace, everything in it is deleted (fluxcd/kustomize-controller#1724).

If both apply the same content, only labels and annotations alternate, but the object may still be deleted: that
is a warning. Nothing is reported if both set kustomize.toolkit.fluxcd.io/prune: disabled.

Helm releases count as owners if their charts are available locally: helm-controller takes over an existing
object, and then each reverts the other's changes. CustomResourceDefinitions in a chart's crds folder belong to
no release.

Objects with the annotation kustomize.toolkit.fluxcd.io/ssa (Merge, IfNotPresent, Ignore) may have several
owners. A Kustomization whose path is within another's is reported by flux-path-overlap.`,
	Fix: `Apply the object with only one of them, and let the other depend on that one. If several need the same
namespace, create it in a separate Kustomization.`,
	Run: func(p *rule.Pass) {
		owners := OfClusters.Of(p)
		for _, c := range p.Clusters() {
			report(p, owners[c].Duplicates)
		}
	},
}

// report reports the objects with several owners. Objects that have the same owners and come from the same
// files, or from shared bases, are one finding.
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
				file = "" // the file belongs to a base that they share
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
	by, hint := strings.Join(names[:len(names)-1], ", ")+" and "+names[len(names)-1], "apply it with only one of them"
	if len(all) == 2 && first.HelmRelease == nil && second.HelmRelease == nil && first.Kustomization == second.Kustomization {
		by, hint = "Kustomization "+first.Kustomization.String()+" twice", "remove one of the two"
	}
	if more := len(names) - most; more > 0 {
		by = fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	f := finding.Finding{Severity: finding.Warning, Hint: hint,
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
	if i := slices.IndexFunc(all, isRenamed); i >= 0 {
		second = all[i]
		f.Message = fmt.Sprintf("targetNamespace of Kustomization %s renames Namespace %s to %s, which is applied by %s", second.Kustomization, second.Source.Name, second.Name, by)
		if second.Kustomization.Spec.Prune && !keeps(second) {
			f.Severity = finding.Error
			f.Message += fmt.Sprintf(": if the file is removed, Flux deletes namespace %s and everything in it", second.Name)
		}
		f.Hint = "move the Namespace to a Kustomization without targetNamespace"
	}
	p.ReportBuilt(second, f, "kind")
}

// isRenamed reports whether the targetNamespace of a Kustomization changes the name of a Namespace.
func isRenamed(o *reconcile.Object) bool {
	return o.Kind == "Namespace" && o.Group == "" && o.HelmRelease == nil && o.Source != nil && o.Source.Name != o.Name && o.Kustomization.Spec.TargetNamespace == o.Name
}

// owner describes the Kustomization or HelmRelease that applies an object.
func owner(o *reconcile.Object) string {
	if o.HelmRelease != nil {
		return o.HelmRelease.String()
	}
	return "Kustomization " + o.Kustomization.String()
}

// ownersOf describes the owners of the objects. If all have the same kind, it names the kind once.
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

// allSame reports whether all owners write the same object, apart from labels, annotations and the version of the API.
func allSame(all []*reconcile.Object) bool {
	first := withoutMetadata(all[0])
	return !slices.ContainsFunc(all[1:], func(o *reconcile.Object) bool { return !reflect.DeepEqual(first, withoutMetadata(o)) })
}

func withoutMetadata(o *reconcile.Object) map[string]any {
	value := maps.Clone(o.Value)
	delete(value, "metadata")
	delete(value, "apiVersion") // the group is that of the other one, and the API server converts the version
	return value
}

// keeps reports whether Flux never deletes an object.
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
