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
	Why: `A Kustomization with spec.postBuild replaces ${NAME} in all that it applies, scripts and dashboards in
ConfigMaps among them. Since Flux 2.9 (kustomize-controller 1.9, where StrictPostBuildSubstitutions is on) a variable
without a value or default stops the Kustomization: "variable not set", and nothing of it is applied. Older versions
put an empty text in its place: then the finding is a warning.

Variables come from postBuild.substitute and from the ConfigMaps and Secrets of postBuild.substituteFrom; the keys of
encrypted ones are known. Where such an object isn't in Git, what it defines is unresolved. A Kustomization without
postBuild replaces nothing, nor one that has no variable at all: what it leaves as it is, and most others of the cluster
replace, is a warning.`,
	Fix: `Define the variable in postBuild.substitute or in what substituteFrom names, or give it a default: ${NAME:=default}.

A ${NAME} that isn't Flux's, in a script or a dashboard: write $${NAME}, or switch the substitution off for the object
with the annotation kustomize.toolkit.fluxcd.io/substitute: disabled. validate --fix writes $${NAME} in a script that sets
NAME itself, where all clusters replace variables in it.`,
	Run: func(p *rule.Pass) {
		var open questions
		var found gathered
		by := sync.OnceValue(func() builders { return buildersOf(p) })
		each(p, func(w *world) {
			for _, k := range w.cluster.Kustomizations {
				if k.Spec.PostBuild != nil && !k.Spec.Suspend {
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

// undefined gathers the variables of a Kustomization that nothing defines.
func (w *world) undefined(found *gathered, open *questions, k *reconcile.Kustomization, by func() builders) {
	var defined []string
	missing := ""
	for _, r := range k.References {
		if r.Found == nil {
			missing = fmt.Sprintf("%s %s/%s, which may define it, is not in Git", r.Kind, k.Namespace, r.Name)
		} else if !decided(r.Found) {
			missing = fmt.Sprintf("%s may have more keys in the cluster than in Git: its annotation tells Flux not to overwrite it", r.Found)
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
		if !v.Undefined || v.UsedBy == nil {
			continue
		}
		at := w.placeOfVariable(k, v)
		if missing != "" {
			open.add(at, fmt.Sprintf("whether ${%s} is defined", name), missing)
			continue
		}
		f := finding.Finding{Severity: finding.Error, Message: fmt.Sprintf("undefined variable ${%s}", name), Cause: name,
			Hint: fmt.Sprintf("define it in postBuild, add a default (${%s:=…}), or write $${%s} if it is not a Flux variable", name, name)}
		if near, ok := w.budget.nearest(name, defined); ok && !isSibling(name, near) {
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

// isSibling says whether one of two names is the other with a number behind it, or another one:
// SECRET_DOMAIN_2 is not meant to be SECRET_DOMAIN.
func isSibling(a, b string) bool {
	const number = "0123456789"
	return strings.TrimRight(strings.TrimRight(a, number), "_") == strings.TrimRight(strings.TrimRight(b, number), "_")
}

// decided says whether all keys of a ConfigMap or Secret are in Git: an object that is merged
// into another, or only made where there is none, may have more.
func decided(o *reconcile.Object) bool {
	annotations := field(o.Value, "metadata", "annotations")
	switch text(annotations, "kustomize.toolkit.fluxcd.io/ssa") {
	case "Merge", "IfNotPresent", "Ignore":
		return false
	}
	return text(annotations, "kustomize.toolkit.fluxcd.io/reconcile") != "disabled"
}

// placeOfVariable is where a variable stands: in the document of the object that uses it, or
// in a patch.
func (w *world) placeOfVariable(k *reconcile.Kustomization, v *reconcile.Variable) place {
	o := v.UsedBy
	ends := func(before, after string) bool {
		// $${NAME} is no variable, and ${NAMES} another one.
		escapes := len(before) - len(strings.TrimRight(before, "$"))
		return escapes%2 == 0 && (after == "" || !isNameByte(after[0]))
	}
	if o.Source != nil {
		line, _ := o.Source.Position()
		if at, ok := w.budget.inLines(w.repo, o.File, line, "${"+v.Name, ends); ok && at.line < endOf(o.Source) {
			return at
		}
	}
	path := holding(o.Value, "${"+v.Name)
	at := placeOf(o, path...)
	if in, ok := w.budget.inLines(w.repo, at.file, at.line, "${"+v.Name, ends); ok && in.line == at.line {
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

// holding is the path of the first text in a value that holds another one; nil where none does.
func holding(value any, what string) []any {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if s, ok := value[name].(string); ok && strings.Contains(s, what) {
				return []any{name}
			}
			if rest := holding(value[name], what); rest != nil {
				return append([]any{name}, rest...)
			}
		}
	case []any:
		for i, item := range value {
			if s, ok := item.(string); ok && strings.Contains(s, what) {
				return []any{i}
			}
			if rest := holding(item, what); rest != nil {
				return append([]any{i}, rest...)
			}
		}
	}
	return nil
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// endOf is the line after an object's document.
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

// applies is the verb for some Kustomizations.
func applies(names []string) string {
	if len(names) == 1 {
		return " applies"
	}
	return " apply"
}
