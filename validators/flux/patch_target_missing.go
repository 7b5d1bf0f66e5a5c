package flux

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/patches"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// PatchTargetMissing is flux-patch-target-missing.
var PatchTargetMissing = rule.Rule{
	ID:       "flux-patch-target-missing",
	Title:    "a patch that selects nothing",
	Severity: finding.Warning,
	Why: `A patch whose target selects no object changes nothing, and kustomize does not report it: the build succeeds,
but the setting is missing in the cluster. Usually the name or kind is misspelt, or the object was renamed and
the patch was not. The target's namespace is compared with the namespace in the object's file, because the
"namespace" of the same kustomization is set after its patches.

The rule checks the patches of kustomizations, of their components and of Flux Kustomizations. It also checks
those of a FluxInstance, or in the values of its chart, against the objects that the Flux Operator installs for
its components; a namespace in their targets matches nothing, because the operator sets the namespace after the
patches. A patch that several Kustomizations share, also one that a parent's patch adds to them, must select
something in at least one of them. A patch for all objects of a kind in a component or in a Flux Kustomization
may select nothing, unless objects of the kind exist and only the target's group or version excludes them, or
the kind is misspelt. If the objects that it selects from are only partly known, the rule reports nothing.`,
	Fix: `Correct the target, whose fields are regular expressions for the whole value, or remove the patch.`,
	Run: func(p *rule.Pass) {
		found := idlePatches{by: map[patchPlace]*idlePatch{}}
		each(p, func(w *world) {
			for _, k := range w.cluster.Kustomizations {
				for _, one := range k.TargetedPatches() {
					found.add(one, "here", func(f finding.Finding) {
						if !k.Spec.Suspend {
							reportOn(p, k, f)
						}
					})
				}
			}
			for _, i := range w.fluxInstances() {
				for _, one := range i.patches() {
					known := found.add(one, "among the objects that the Flux Operator installs", func(f finding.Finding) { p.ReportBuilt(i.object, f) })
					if !one.Selects {
						known.wayOut = i.wayOut(one)
					}
				}
			}
			found.budget, found.kinds = w.budget, w.kinds()
		})
		found.report()
	},
}

// idlePatches collects the patches with targets, to report those that change nothing. A patch that several Kustomizations
// share has one entry, by its position in the file.
type idlePatches struct {
	order  []*idlePatch
	by     map[patchPlace]*idlePatch
	budget *budget
	// kinds are the kinds of the objects in the repository's files.
	kinds []string
}

type patchPlace struct {
	file                string
	line, column, index int
}

type idlePatch struct {
	patches.Targeted
	// where describes the objects that the patch selects from.
	where string
	// reporters holds one function for each object that has the patch, which reports a finding about that object.
	reporters []func(finding.Finding)
	// wayOut is the hint, if it is known in advance.
	wayOut string
}

func (f *idlePatches) add(patch patches.Targeted, where string, report func(finding.Finding)) *idlePatch {
	at := patchPlace{patch.File, patch.Line, patch.Column, patch.Index}
	known := f.by[at]
	if known == nil {
		known = &idlePatch{Targeted: patch, where: where}
		f.by[at] = known
		f.order = append(f.order, known)
	}
	known.Selects = known.Selects || patch.Selects
	for _, list := range []struct {
		into *[]string
		more []string
	}{{&known.Names, patch.Names}, {&known.Kinds, patch.Kinds}, {&known.Versions, patch.Versions}} {
		*list.into = slices.Compact(slices.Sorted(slices.Values(slices.Concat(*list.into, list.more))))
	}
	known.reporters = append(known.reporters, report)
	return known
}

func (f *idlePatches) report() {
	for _, one := range f.order {
		if one.Selects || one.Shared && one.Target.Name == "" && one.wayOut == "" && len(one.Versions) == 0 && f.intendedKind(one) == "" {
			continue
		}
		for _, report := range one.reporters {
			report(finding.Finding{
				Place:   one.Place,
				Message: fmt.Sprintf("the patch changes nothing: there is no %s %s", targetText(one.Target), one.where),
				Hint:    cmp.Or(one.wayOut, f.hint(one)),
			})
		}
	}
}

// intendedKind returns the kind that a target was probably meant to have, "" if its kind is not misspelled.
func (f *idlePatches) intendedKind(one *idlePatch) string {
	if slices.Contains(f.kinds, one.Target.Kind) || f.budget.names < len(f.kinds) {
		return ""
	}
	f.budget.names -= len(f.kinds)
	kind, _ := schemas.Misspelt(one.Target.Kind, f.kinds)
	return kind
}

// kinds returns the kinds of the objects in the files, and of Flux's Kustomization and HelmRelease, sorted.
func (w *world) kinds() []string {
	kinds := []string{kustomizationKind, helmReleaseKind}
	for of := range w.written {
		kinds = append(kinds, of.kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// targetText describes what a target selects.
func targetText(t types.Selector) string {
	text := cmp.Or(t.Kind, "object")
	if t.Name != "" {
		text += " " + strings.TrimPrefix(t.Namespace+"/"+t.Name, "/")
	} else if t.Namespace != "" {
		text += " in namespace " + t.Namespace
	}
	if group := strings.Trim(t.Group+"/"+t.Version, "/"); group != "" {
		text += " of " + group
	}
	for _, by := range []struct{ name, selector string }{{"labels", t.LabelSelector}, {"annotations", t.AnnotationSelector}} {
		if by.selector != "" {
			text += fmt.Sprintf(" with %s %q", by.name, by.selector)
		}
	}
	return text
}

// hint suggests what the target was meant to be, "" if no object has a similar name or kind.
func (f *idlePatches) hint(one *idlePatch) string {
	if kind := f.intendedKind(one); kind != "" {
		return fmt.Sprintf("did you mean kind %q?", kind)
	}
	if one.Target.Name == "" {
		if len(one.Versions) > 0 {
			return fmt.Sprintf("objects of this kind have API version %s", some(one.Versions))
		}
		return ""
	}
	if near, ok := f.budget.nearest(one.Target.Name, one.Names); ok && near != one.Target.Name {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(one.Kinds) == 0 {
		return ""
	}
	if near, ok := f.budget.nearest(one.Target.Kind, one.Kinds); ok && near != one.Target.Kind {
		return fmt.Sprintf("did you mean kind %q?", near)
	}
	for _, kind := range one.Kinds {
		if kind == one.Target.Kind {
			return "such an object exists with another namespace, API version or labels: the target is compared with the files, before this kustomization changes them"
		}
	}
	return fmt.Sprintf("an object with this name has kind %s", one.Kinds[0])
}
