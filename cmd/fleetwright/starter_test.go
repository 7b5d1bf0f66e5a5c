package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/specs"
)

// A starter tells its user to run only commands that there are.
func TestStarterNamesCommandsThatExist(t *testing.T) {
	files, err := specs.Starter(specs.StarterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	root := newRoot(streams{env: func(string) string { return "" }})
	told := regexp.MustCompile("`fleetwright ([a-z ]+)")
	commands := 0
	for _, f := range files {
		for _, m := range told.FindAllStringSubmatch(string(f.Content), -1) {
			commands++
			if c, _, err := root.Find(strings.Fields(m[1])); err != nil || c == root {
				t.Errorf("%s tells to run fleetwright %s, which there isn't", f.Path, m[1])
			}
		}
		if strings.Contains(string(f.Content), "kind: Encryption") && !strings.Contains(string(f.Content), "`age-keygen -o age.agekey`") {
			t.Errorf("%s doesn't say how a key is made", f.Path)
		}
	}
	if commands == 0 {
		t.Error("no file names a command")
	}
}
