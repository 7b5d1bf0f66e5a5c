package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var (
	pinnedAction = regexp.MustCompile(`^ +- uses: [a-z-]+/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	usedAction   = regexp.MustCompile(`^ +-? ?uses:`)
)

// The project's own workflows have no more rights than their jobs name, use actions by commit, and no
// expression is text of a script.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d workflows, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSuffix(line, "\n"); usedAction.MatchString(line) && !pinnedAction.MatchString(line) {
				t.Errorf("%s: %q is not pinned to a commit", file, line)
			}
		}
		var workflow struct {
			Permissions map[string]string
			Jobs        map[string]struct {
				Permissions map[string]string
				Steps       []struct{ Run string }
			}
		}
		if err := yaml.Unmarshal(text, &workflow); err != nil {
			t.Fatal(err)
		}
		if workflow.Permissions == nil || len(workflow.Permissions) > 0 || len(workflow.Jobs) == 0 {
			t.Errorf("%s: the workflow has permissions, or no jobs", file)
		}
		for name, job := range workflow.Jobs {
			if len(job.Permissions) == 0 || len(job.Steps) == 0 {
				t.Errorf("%s: the job %s names no permissions, or has no steps", file, name)
			}
			for _, step := range job.Steps {
				if strings.Contains(step.Run, "${{") {
					t.Errorf("%s: an expression is text of the script\n%s", file, step.Run)
				}
			}
		}
	}
}
