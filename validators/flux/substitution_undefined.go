package flux

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// SubstitutionUndefined is flux-substitution-undefined.
var SubstitutionUndefined = rule.Rule{
	ID:       "flux-substitution-undefined",
	Title:    "an undefined variable",
	Severity: finding.Error,
	Why: `A Kustomization with spec.postBuild replaces ${NAME} in all of its objects, including scripts and dashboards in
ConfigMaps. Since Flux 2.9 (kustomize-controller 1.9, where StrictPostBuildSubstitutions is on), a variable
without a value or default fails the Kustomization with "variable not set", and nothing is applied. Older
versions substitute an empty string: then the finding is a warning.

Variables come from postBuild.substitute and from the ConfigMaps and Secrets of postBuild.substituteFrom; the
keys of encrypted Secrets are known. If such an object is not in Git, its variables are unresolved. A
Kustomization without postBuild, or without any variable, replaces nothing. If it leaves a variable that most
other Kustomizations of the cluster replace, the finding is a warning.`,
	Fix: `Define the variable in postBuild.substitute or in an object of substituteFrom, or set a default:
${NAME:=default}.

If ${NAME} is not a Flux variable but part of a script or dashboard, write $${NAME}, or disable the substitution
for the object with the annotation kustomize.toolkit.fluxcd.io/substitute: disabled. validate --fix writes
$${NAME} in a script that sets NAME itself, if all clusters replace variables in it.`,
	Run: func(p *rule.Pass) {
		var open questions
		var found gathered
		by := sync.OnceValue(func() builders { return buildersOf(p) })
		each(p, func(w *world) {
			for _, k := range w.cluster.Kustomizations {
				if k.Spec.PostBuild != nil && !k.Spec.Suspend && !k.Loose {
					w.undefined(&found, &open, k, by)
				}
			}
			w.raw(&found)
		})
		found.report(p, func(f finding.Finding, names []string) string {
			return f.Message + " in the objects that " + named(kustomizationKind, names) + applies(names)
		})
		open.report(p)
	},
}

// undefined collects the undefined variables of a Kustomization.
func (w *world) undefined(found *gathered, open *questions, k *reconcile.Kustomization, by func() builders) {
	var defined []string
	missing := ""
	for _, r := range k.References {
		if r.Found == nil {
			missing = fmt.Sprintf("%s %s/%s, which may define it, is not in Git", r.Kind, k.Namespace, r.Name)
		} else if !decided(r.Found) {
			missing = fmt.Sprintf("%s may have more keys in the cluster than in Git: its annotation forbids Flux to overwrite it", r.Found)
		}
	}
	names := slices.Sorted(maps.Keys(k.Variables))
	for _, name := range names {
		if !k.Variables[name].Undefined {
			defined = append(defined, name)
		}
	}
	for _, name := range names {
		v := k.Variables[name]
		if !v.Undefined || v.UsedBy == nil || !w.strict && isFluxDefinition(v.UsedBy) {
			continue
		}
		at := w.placeOfVariable(k, v)
		if missing != "" {
			open.add(at, fmt.Sprintf("whether ${%s} is defined", name), missing)
			continue
		}
		f := finding.Finding{Severity: finding.Error, Message: fmt.Sprintf("undefined variable ${%s}", name), Cause: name,
			Hint: fmt.Sprintf("define it in postBuild, add a default (${%s:=…}), or write $${%s} if it is not a Flux variable", name, name)}
		if child := w.definesLater(v.UsedBy, name); child != nil {
			f.Hint = fmt.Sprintf("write $${%s}: it is a variable of %s, but Kustomization %s replaces it first", name, child, k)
		} else if near, ok := w.budget.nearest(name, defined); ok && !isSibling(name, near) {
			f.Hint = fmt.Sprintf("did you mean ${%s}?", near)
		} else if f.Fix = w.escape(v.UsedBy, name, by()); f.Fix != nil {
			f.Hint = fmt.Sprintf("write $${%s}: the script sets it itself", name)
		}
		if !w.strict {
			f.Severity = finding.Warning
		}
		found.add(at, name, f, v.UsedBy, k.String())
	}
}

// isFluxDefinition reports whether an object is a definition of Flux's own, whose descriptions contain examples of variables.
func isFluxDefinition(o *reconcile.Object) bool {
	return o.Kind == "CustomResourceDefinition" && strings.HasSuffix(o.Name, ".fluxcd.io")
}

// definesLater returns an object if it is a Kustomization that defines a variable of this name itself, otherwise nil.
func (w *world) definesLater(o *reconcile.Object, name string) *reconcile.Object {
	if !isKustomization(o) {
		return nil
	}
	for _, k := range w.cluster.Kustomizations {
		if v := k.Variables[name]; k.Object == o && v != nil && !v.Undefined {
			return o
		}
	}
	return nil
}

// isSibling reports whether two names differ only in a number at the end: SECRET_DOMAIN_2 is not a typo of SECRET_DOMAIN.
func isSibling(a, b string) bool {
	const number = "0123456789"
	return strings.TrimRight(strings.TrimRight(a, number), "_") == strings.TrimRight(strings.TrimRight(b, number), "_")
}

// decided reports whether all keys of a ConfigMap or Secret are in Git. An object that Flux merges into an
// existing one, or creates only if it does not exist, may have other keys in the cluster.
func decided(o *reconcile.Object) bool {
	annotations := field(o.Value, "metadata", "annotations")
	switch text(annotations, "kustomize.toolkit.fluxcd.io/ssa") {
	case "Merge", "IfNotPresent", "Ignore":
		return false
	}
	return text(annotations, "kustomize.toolkit.fluxcd.io/reconcile") != "disabled"
}

// placeOfVariable returns the place of a variable: in the document of the object that uses it, or in a patch.
func (w *world) placeOfVariable(k *reconcile.Kustomization, v *reconcile.Variable) finding.Place {
	o := v.UsedBy
	ends := func(before, after string) bool {
		// $${NAME} is not a variable, and ${NAMES} is another variable.
		escapes := len(before) - len(strings.TrimRight(before, "$"))
		return escapes%2 == 0 && (after == "" || !isNameByte(after[0]))
	}
	if o.Source != nil {
		line, _ := o.Source.Position()
		if at, ok := w.budget.inLines(w.repo, o.File, line, "${"+v.Name, ends); ok && at.Line < endOf(o.Source) {
			return at
		}
	}
	path := reconcile.Holding(o.Value, "${"+v.Name)
	at := o.Position(path...)
	if in, ok := w.budget.inLines(w.repo, at.File, at.Line, "${"+v.Name, ends); ok && in.Line == at.Line {
		return in
	}
	for _, file := range k.Files {
		if w.repo.Use(file) == repository.Patch || repository.IsKustomization(file) || w.repo.Use(file) == repository.Input {
			if at, ok := w.budget.inLines(w.repo, file, 1, "${"+v.Name, ends); ok {
				return at
			}
		}
	}
	return at
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// endOf returns the line after an object's document.
func endOf(o *repository.Object) int {
	const far = 1 << 30
	documents := o.Document.File.Documents
	for i, d := range documents {
		if d == o.Document && i+1 < len(documents) {
			return documents[i+1].Line
		}
	}
	return far
}

// applies returns the verb with the right number for a list of Kustomizations.
func applies(names []string) string {
	if len(names) == 1 {
		return " applies"
	}
	return " apply"
}
