package flux

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// variable matches a ${NAME} that Flux would replace.
var variable = regexp.MustCompile(`\$\{([A-Z][A-Z0-9]*_[A-Z0-9_]*)\}`)

// fewest is the number of Kustomizations that must replace a variable for each Kustomization that does not,
// before that is reported as a mistake. If only a few replace it, an admission webhook may add postBuild to the
// others.
const fewest = 4

// raw collects the variables that a Kustomization does not replace, because it has no postBuild, although many
// others of the cluster replace them. It checks single-line strings only, and skips ConfigMaps and Secrets:
// scripts and dashboards have variables of their own.
func (w *world) raw(found *gathered) {
	replacing := map[string][]*reconcile.Kustomization{}
	for _, k := range w.cluster.Kustomizations {
		for name, v := range k.Variables {
			if !v.Undefined && v.UsedBy != nil {
				replacing[name] = append(replacing[name], k)
			}
		}
	}
	leaving := map[string][]*reconcile.Kustomization{}
	users := map[string][]*reconcile.Object{}
	for _, k := range w.cluster.Kustomizations {
		if k.Spec.PostBuild != nil || k.Spec.Suspend || k.Failure != nil || len(replacing) == 0 {
			continue
		}
		for _, o := range k.Objects {
			if isKustomization(o) || o.Source == nil || o.Kind == "ConfigMap" || o.Kind == "Secret" {
				continue
			}
			names := map[string]bool{}
			rawIn(o.Value, names)
			for name := range names {
				if !slices.Contains(leaving[name], k) {
					leaving[name] = append(leaving[name], k)
				}
				users[name] = append(users[name], o)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(leaving)) {
		if len(replacing[name]) < fewest*len(leaving[name]) {
			continue
		}
		for _, o := range users[name] {
			found.add(w.placeOfRaw(o, name), name, finding.Finding{Severity: finding.Warning,
				Message: fmt.Sprintf("variable ${%s} is not substituted", name),
				Hint:    fmt.Sprintf("copy spec.postBuild from Kustomization %s, which substitutes it", replacing[name][0])}, o, o.Kustomization.String())
		}
	}
}

// placeOfRaw returns the place of a variable that an object uses and that is not replaced.
func (w *world) placeOfRaw(o *reconcile.Object, name string) finding.Place {
	line, _ := o.Source.Position()
	at, ok := w.budget.inLines(w.repo, o.File, line, "${"+name+"}", func(before, _ string) bool { return !strings.HasSuffix(before, "$") })
	if !ok || at.Line >= endOf(o.Source) {
		return o.Position()
	}
	return at
}

// rawIn adds the names of the variables in the single-line strings of a value.
func rawIn(value any, names map[string]bool) {
	switch value := value.(type) {
	case string:
		if strings.Contains(value, "\n") {
			return
		}
		for _, m := range variable.FindAllStringSubmatchIndex(value, -1) {
			if m[0] == 0 || value[m[0]-1] != '$' {
				names[value[m[2]:m[3]]] = true
			}
		}
	case map[string]any:
		for _, item := range value {
			rawIn(item, names)
		}
	case []any:
		for _, item := range value {
			rawIn(item, names)
		}
	}
}
