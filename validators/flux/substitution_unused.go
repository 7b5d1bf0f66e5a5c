package flux

import (
	"fmt"
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// SubstitutionUnused is flux-substitution-unused.
var SubstitutionUnused = rule.Rule{
	ID:       "flux-substitution-unused",
	Title:    "an unused variable",
	Severity: finding.Info,
	Why: `A variable in spec.postBuild.substitute that no object of the Kustomization uses has no effect. Often it is left
over from a change, or misspelt: then the place that should use it gets its default.

Only variables in the Kustomization's own file count, because variables that a patch or ConfigMap adds to many
Kustomizations are rarely used by all of them. For the same reason, the rule skips a name that another
Kustomization defines in its own file and uses. In a file that several clusters share, a variable is reported if
no cluster uses it. A Kustomization that applies no objects yet is skipped.`,
	Fix: `Remove the variable, or correct its name.`,
	Run: func(p *rule.Pass) {
		type variable struct {
			source *repository.Object
			name   string
		}
		used := map[variable]bool{}
		custom := map[string]bool{} // names that some Kustomization uses
		unused := map[variable][]*reconcile.Kustomization{}
		var order []variable
		for _, c := range p.Fleet().Clusters {
			for _, k := range c.Kustomizations {
				for _, name := range ownVariables(k) {
					v := variable{k.Object.Source, name}
					custom[name] = custom[name] || k.Variables[name] != nil && k.Variables[name].Used > 0
					if seen := k.Variables[name]; seen == nil || seen.Used > 0 || !k.Complete() || k.Loose || len(k.Objects) == 0 {
						used[v] = true // or the use is unknown, or the Kustomization applies no objects yet
						continue
					}
					if len(unused[v]) == 0 {
						order = append(order, v)
					}
					unused[v] = append(unused[v], k)
				}
			}
		}
		validated := map[*reconcile.Cluster]bool{}
		for _, c := range p.Clusters() {
			validated[c] = true
		}
		for _, v := range order {
			for _, k := range unused[v] {
				if !used[v] && !custom[v.name] && validated[k.Cluster] {
					f := finding.Finding{Message: fmt.Sprintf("no object that Kustomization %s applies uses ${%s}", k, v.name), Hint: "remove it, or correct its name"}
					line, column := v.source.KeyPosition("spec", "postBuild", "substitute", v.name)
					p.ReportBuilt(k.Object, f.At(finding.Place{File: k.Object.File, Line: line, Column: column}))
				}
			}
		}
	},
}

// ownVariables returns the sorted names of the variables that the file of a Kustomization defines itself.
func ownVariables(k *reconcile.Kustomization) []string {
	if k.Object == nil || k.Object.Source == nil || k.Spec.PostBuild == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(k.Spec.PostBuild.Substitute)), func(name string) bool {
		return k.Object.Source.Lookup("spec", "postBuild", "substitute", name) == nil
	})
}
