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
	Why: `A variable in spec.postBuild.substitute that nothing of the Kustomization uses does no harm, but is often
what is left of a change, or misspelt: the text that was to use it has a default, which then counts.

Only variables in the Kustomization's own file count: what a patch or a ConfigMap gives to many Kustomizations is
seldom used by each. For the same reason a name that another Kustomization's own file defines and that one uses is left
alone: it is a custom of the repository. A file that several clusters share is reported when none uses the variable.
A Kustomization that applies nothing yet waits for what others write.`,
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
					if seen := k.Variables[name]; seen == nil || seen.Used > 0 || !k.Complete() || len(k.Objects) == 0 {
						used[v] = true // or not known, or not yet
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
					p.ReportBuilt(k.Object, place{k.Object.File, line, column}.in(f))
				}
			}
		}
	},
}

// ownVariables are those of a Kustomization's own file, sorted.
func ownVariables(k *reconcile.Kustomization) []string {
	if k.Object == nil || k.Object.Source == nil || k.Spec.PostBuild == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(k.Spec.PostBuild.Substitute)), func(name string) bool {
		return k.Object.Source.Lookup("spec", "postBuild", "substitute", name) == nil
	})
}
