package emit_test

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/generators/emit"
)

// The file for CI is that of the provider which the repository's host names.
func TestCIFitsTheProvider(t *testing.T) {
	for url, want := range map[string]string{
		"https://github.com/acme/fleet":                       ".github/workflows/validate.yaml",
		"ssh://git@github.acme.example/fleet":                 ".github/workflows/validate.yaml",
		"https://gitlab.com/github/fleet":                     ".gitlab-ci.yml",
		"ssh://git@gitlab.acme.example:2222/fleet":            ".gitlab-ci.yml",
		"https://codeberg.org/acme/fleet":                     ".forgejo/workflows/validate.yaml",
		"https://gitea.acme.example/acme/fleet":               ".gitea/workflows/validate.yaml",
		"https://dev.azure.com/acme/fleet/_git/fleet":         "azure-pipelines.yml",
		"https://acme.visualstudio.com/fleet/_git/fleet":      "azure-pipelines.yml",
		"https://git.example.com/github/fleet":                "",
		"https://github.com@git.example.com/gitlab/fleet.git": "",
		"file:///srv/git/fleet.git":                           "",
	} {
		out := emit.New()
		out.CI(url, "main", []string{"fleetwright-validate"}, []string{"render --check", "validate"})
		paths := slices.DeleteFunc(out.Tree.Paths(), func(p string) bool { return p == ".pre-commit-config.yaml" })
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
			continue
		}
		if want == "" {
			continue
		}
		f, _ := out.Tree.Get(want)
		var content map[string]any
		if err := yaml.Unmarshal(f.Content, &content); err != nil {
			t.Errorf("%s: %v", want, err)
		}
		for _, step := range []string{" render --check\n", " validate\n"} {
			if !strings.Contains(string(f.Content), step) {
				t.Errorf("%s lacks the step %q:\n%s", want, step, f.Content)
			}
		}
	}
}
