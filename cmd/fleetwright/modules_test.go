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
	var allowed []string
	for line := range strings.Lines(budget) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			allowed = append(allowed, line)
		}
	}
	if !slices.IsSorted(allowed) {
		t.Error("modules.txt is not sorted")
	}
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	list.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0") // others link one or two more
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	linked := strings.Fields(string(out))
	slices.Sort(linked)
	for _, m := range slices.Compact(linked) {
		if m != "github.com/fleetwright/fleetwright" && !slices.Contains(allowed, m) {
			t.Errorf("module %s is linked, and is not in modules.txt", m)
		}
	}
	for _, m := range allowed {
		if !slices.Contains(linked, m) {
			t.Errorf("module %s of modules.txt is not linked any more", m)
		}
	}
}
