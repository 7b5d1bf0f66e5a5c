package mutation_test

import (
	"slices"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators"
)

// mutants are those of all tables.
func mutants() []mutant {
	return slices.Concat(fluxMutants)
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
