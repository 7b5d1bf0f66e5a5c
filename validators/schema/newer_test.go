package schema

import (
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// TestNewer: what a newer release may have is a warning, and what none will have an error.
func TestNewer(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]finding.Severity{
		"apiVersion: source.toolkit.fluxcd.io/v2\nkind: GitRepository\n":        finding.Warning,
		"apiVersion: source.toolkit.fluxcd.io/v1beta9\nkind: GitRepository\n":   finding.Error,
		"apiVersion: source.toolkit.fluxcd.io/v1\nkind: SubversionRepository\n": finding.Warning,
		"apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepo\n":              finding.Error,
	} {
		found := ruletest.Find(t, Invalid, "-- apps/a.yaml --\n"+head+"metadata: {name: a, namespace: b}\n")
		if len(found) != 1 || found[0].Severity != want {
			t.Errorf("%sgives %+v, want one of severity %s", head, found, want)
		}
	}
}
