package main

import (
	_ "embed"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

//go:embed modules.txt
var budget string

// A module that is linked is one more to trust, to update and to start up.
func TestLinkedModules(t *testing.T) {
	tagged, untagged := readBudget(t)
	for tags, allowed := range map[string][]string{"disable_grpc_modules": tagged, "": slices.Concat(tagged, untagged)} {
		list := exec.Command("go", "list", "-tags="+tags, "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
		list.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0") // others link one or two more
		out, err := list.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		linked := strings.Fields(string(out))
		slices.Sort(linked)
		for _, m := range slices.Compact(linked) {
			if m != "github.com/fleetwright/fleetwright" && !slices.Contains(allowed, m) {
				t.Errorf("with tags %q, module %s is linked, and is not in modules.txt", tags, m)
			}
		}
		for _, m := range allowed {
			if !slices.Contains(linked, m) {
				t.Errorf("with tags %q, module %s of modules.txt is not linked any more", tags, m)
			}
		}
	}
}

// readBudget returns the modules of modules.txt: those that are linked with the tag of releases, and those that are linked
// without it only.
func readBudget(t *testing.T) (tagged, untagged []string) {
	var all []string
	for line := range strings.Lines(budget) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		module, only := strings.CutSuffix(line, " untagged")
		all = append(all, module)
		if only {
			untagged = append(untagged, module)
		} else {
			tagged = append(tagged, module)
		}
	}
	if !slices.IsSorted(all) {
		t.Error("modules.txt is not sorted")
	}
	return tagged, untagged
}
