// Package testrenovate finds in a file what Renovate finds with its preset. Only tests use it.
package testrenovate

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Matches returns the named groups of each match of a preset's expressions in a file with a path and a content. The expressions
// have the syntax of RE2, which both Renovate and Go use.
func Matches(t *testing.T, preset, path, text string) []map[string]string {
	t.Helper()
	data, err := os.ReadFile(preset)
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		CustomManagers []struct{ ManagerFilePatterns, MatchStrings []string }
	}
	if err := json.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	var all []map[string]string
	for _, m := range config.CustomManagers {
		if !slices.ContainsFunc(m.ManagerFilePatterns, func(p string) bool { return regexp.MustCompile(strings.Trim(p, "/")).MatchString(path) }) {
			continue
		}
		for _, pattern := range m.MatchStrings {
			re := regexp.MustCompile(pattern)
			for _, match := range re.FindAllStringSubmatch(text, -1) {
				groups := map[string]string{}
				for i, name := range re.SubexpNames() {
					groups[name] = match[i]
				}
				all = append(all, groups)
			}
		}
	}
	return all
}
