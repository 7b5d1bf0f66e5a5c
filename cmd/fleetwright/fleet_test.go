package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLargeFleet: what Fleetwright renders of a large fleet, with a patch of each tenant for each cluster, has
// no finding.
func TestLargeFleet(t *testing.T) {
	if raced {
		t.Skip("takes minutes with the race detector, for which the scripts are")
	}
	dir := t.TempDir()
	var b strings.Builder
	object := func(kind, name, spec string) {
		fmt.Fprintf(&b, "---\napiVersion: fleetwright.dev/v1alpha1\nkind: %s\nmetadata:\n  name: %s\nspec: %s\n", kind, name, spec)
	}
	object("Fleet", "large", `{repository: {url: "https://github.com/example/fleet"}}`)
	for i, environment := range []string{"staging", "production", "production"} {
		object("Cluster", fmt.Sprintf("c%d", i), "{environment: "+environment+"}")
	}
	for i := range 150 {
		object("Tenant", fmt.Sprintf("t%d", i), fmt.Sprintf("{source: {url: \"https://github.com/example/t%d\"}, environments: {staging: ./staging, production: ./production}}", i))
	}
	putFile(t, filepath.Join(dir, "fleet/fleet.yaml"), []byte(b.String()))
	out := filepath.Join(dir, "out")
	for _, arguments := range [][]string{{"render", "--out", out, dir}, {"validate", filepath.Join(out, "platform")}} {
		report, err := exec.CommandContext(t.Context(), "fleetwright", arguments...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%.4000s", arguments[0], err, report)
		}
		if arguments[0] == "validate" && !strings.Contains(string(report), "(6 builds apply 13065 objects): no findings") {
			t.Errorf("validate says\n%.4000s", report)
		}
	}
}
