package mutation_test

import (
	"slices"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators"
)

// fewest is how many mutants there must be at least.
const fewest = 80

// mutants are those of all tables.
func mutants() []mutant {
	return slices.Concat(fluxMutants, buildMutants, objectMutants, tenantMutants, bootstrapMutants, auditMutants, helmMutants, sopsMutants, k0rdentMutants, kommanderMutants, addedMutants)
}

// Every mutant is found by the rule that should find it, where it is broken, and by no
// other.
func TestMutants(t *testing.T) {
	for _, m := range mutants() {
		t.Run(m.rule+"/"+m.name, func(t *testing.T) {
			t.Parallel()
			m.run(t)
		})
	}
}

// Every rule has a mutant, and every mutant a rule.
func TestEveryRuleHasAMutant(t *testing.T) {
	all := mutants()
	if len(all) < fewest {
		t.Errorf("%d mutants, want at least %d", len(all), fewest)
	}
	count, taken := map[string]int{}, map[string]bool{}
	for _, m := range all {
		if !registered(m.rule) {
			t.Errorf("mutant %s is of rule %q, which isn't registered", m.name, m.rule)
		}
		if name := m.rule + "/" + m.name; taken[name] {
			t.Errorf("there are two mutants %s", name)
		} else {
			taken[name] = true
		}
		count[m.rule]++
	}
	for _, r := range validators.All() {
		if count[r.ID] == 0 {
			t.Errorf("rule %s has no mutant", r.ID)
		}
	}
}

// The unbroken examples have no finding, but for the advice of a profile.
func TestTheUnbrokenHaveNoFindings(t *testing.T) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			e := load(t, name)
			for target, report := range e.unbroken {
				found, err := report()
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range found.Findings {
					r, _ := validators.Find(f.Rule)
					if r.Profile == "" || f.Severity != finding.Info {
						t.Errorf("%s: %s:%d:%d: %s: %s [%s]", target, f.File, f.Line, f.Column, f.Severity, f.Message, f.Rule)
					}
				}
			}
		})
	}
}
