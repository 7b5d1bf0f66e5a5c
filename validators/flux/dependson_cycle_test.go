package flux

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// TestWaitForOwnObject: a Kustomization that applies an object itself does not wait for another one that applies it, too,
// whichever is read first.
// Reproduces: infra-controllers and shared-controllers of navaneeth-dev/fluxcd-homelab.
func TestWaitForOwnObject(t *testing.T) {
	t.Parallel()
	release := func(dir string) string { return strings.ReplaceAll(podinfoIn("podinfo", ""), "clusters/prod", dir) }
	for _, names := range [][2]string{{"a", "b"}, {"b", "a"}} {
		waiting, shared := names[0], names[1]
		files := fluxSync + podinfoSource + kustomization(waiting, "  wait: true\n  dependsOn:\n    - name: "+shared+"\n") + kustomization(shared, "  wait: true\n") + release(waiting)
		if found := ruletest.Find(t, DependsOnCycle, files+release(shared)); len(found) > 0 {
			t.Errorf("%s waits: %+v", waiting, found)
		}
		// Without its own, it waits for nothing of the other one.
		if found := ruletest.Find(t, DependsOnCycle, files+strings.ReplaceAll(release(shared), "name: podinfo\n  namespace", "name: other\n  namespace")); len(found) > 0 {
			t.Errorf("%s waits, and the objects differ: %+v", waiting, found)
		}
	}
}
