package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// gitlabJob is what is read of templates/gitlab-ci.yml.
type gitlabJob struct {
	Variables    map[string]string
	BeforeScript []string `json:"before_script"`
	Script       []string
	Artifacts    struct {
		When    string
		Reports map[string]string
	}
}

// run runs the scripts of the job as a runner does, one after another in one shell. Downloads come from loopback or a folder.
func (j *gitlabJob) run(t *testing.T, dir string, variables map[string]string) (int, string) {
	t.Helper()
	cmd := exec.Command("sh", "-e", "-c", strings.Join(slices.Concat(j.BeforeScript, j.Script), "\n"))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "no_proxy=127.0.0.1")
	for _, set := range []map[string]string{j.Variables, variables} {
		for name, value := range set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// The template for GitLab runs nothing but the pinned archive, with commands that there are, writes the report
// and ends as validate does.
func TestGitLabTemplate(t *testing.T) {
	downloadWithoutTools(t)
	checkGitLabTemplate(t, func(folder string) string { return "file://" + folder })
}

// checkGitLabTemplate runs the job. serve returns the address of a folder.
func checkGitLabTemplate(t *testing.T, serve func(folder string) string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the job runs on Linux")
	}
	arch, known := map[string]string{"amd64": "AMD64", "arm64": "ARM64"}[runtime.GOARCH]
	if !known {
		t.Skip("there is no release for this architecture")
	}
	text, err := os.ReadFile("../../templates/gitlab-ci.yml")
	if err != nil {
		t.Fatal(err)
	}
	var jobs map[string]*gitlabJob
	if err := yaml.Unmarshal(text, &jobs); err != nil {
		t.Fatal(err)
	}
	job := jobs["fleetwright"]
	if len(jobs) != 1 || job == nil || job.Artifacts.When != "always" || job.Artifacts.Reports["codequality"] != "gl-code-quality-report.json" {
		t.Fatalf("jobs are %+v", jobs)
	}
	docs, err := os.ReadFile("../../docs/validate.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range job.Variables {
		if strings.HasPrefix(name, "FLEETWRIGHT_") && !strings.Contains(string(docs), "`"+name+"`") {
			t.Errorf("docs/validate.md does not describe %s", name)
		}
	}

	// A release whose fleetwright writes down how it is called.
	dir, calls := t.TempDir(), filepath.Join(t.TempDir(), "calls")
	writeFiles(t, dir, "fleetwright", "#!/bin/sh\nfor a; do printf '%s\\037' \"$a\"; done >> \"$CALLS\"\necho >> \"$CALLS\"\necho '[]'\nexit \"$STATUS\"\n")
	if err := os.Chmod(filepath.Join(dir, "fleetwright"), 0o755); err != nil {
		t.Fatal(err)
	}
	archive := "fleetwright_1.2.3_linux_" + runtime.GOARCH + ".tar.gz"
	writeFiles(t, filepath.Join(dir, "v1.2.3"), "x", "")
	if out, err := exec.Command("tar", "-czf", filepath.Join(dir, "v1.2.3", archive), "-C", dir, "fleetwright").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	content, err := os.ReadFile(filepath.Join(dir, "v1.2.3", archive))
	if err != nil {
		t.Fatal(err)
	}
	releases, pinned := serve(dir), "FLEETWRIGHT_SHA256_"+arch
	sum := fmt.Sprintf("%x", sha256.Sum256(content))

	for _, c := range []struct {
		name   string
		status int
		set    map[string]string
		calls  string
	}{
		{"nothing pinned", 2, map[string]string{"FLEETWRIGHT_VERSION": ""}, ""},
		{"another archive", 3, map[string]string{pinned: strings.Repeat("0", 64)}, ""},
		{"no checksum", 3, map[string]string{pinned: ""}, ""},
		{"no findings", 0, nil, "validate --format gitlab -- .\nvalidate --format text -- .\n"},
		{"findings", 1, map[string]string{"STATUS": "1", "FLEETWRIGHT_FLAGS": "--fail-on warning", "FLEETWRIGHT_PATH": "a b; exit 0"},
			"validate --fail-on warning --format gitlab -- a b; exit 0\nvalidate --fail-on warning --format text -- a b; exit 0\n"},
		{"a file with the name of a rule", 0, map[string]string{"FLEETWRIGHT_FLAGS": "--rules bootstrap-*"},
			"validate --rules bootstrap-* --format gitlab -- .\nvalidate --rules bootstrap-* --format text -- .\n"},
		{"unreadable input", 2, map[string]string{"STATUS": "2"}, "validate --format gitlab -- .\n"},
		{"changes", 0, map[string]string{"FLEETWRIGHT_ONLY_CHANGES": "true", "CI_MERGE_REQUEST_DIFF_BASE_SHA": "abc"},
			"validate --changed-since abc --format gitlab -- .\nvalidate --changed-since abc --format text -- .\n"},
		{"no merge request", 0, map[string]string{"FLEETWRIGHT_ONLY_CHANGES": "true"}, "validate --format gitlab -- .\nvalidate --format text -- .\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			variables := map[string]string{
				"FLEETWRIGHT_VERSION": "v1.2.3", pinned: sum, "FLEETWRIGHT_RELEASES": releases, "CALLS": calls, "STATUS": "0",
			}
			for name, value := range c.set {
				variables[name] = value
			}
			_ = os.Remove(calls)
			work := t.TempDir()
			writeFiles(t, work, "bootstrap-version-drift", "")
			status, out := job.run(t, work, variables)
			called, _ := os.ReadFile(calls)
			lines := strings.ReplaceAll(string(bytes.ReplaceAll(called, []byte("\037\n"), []byte("\n"))), "\037", " ")
			if status != c.status || lines != c.calls {
				t.Errorf("the job ends with %d and calls\n%swant %d and\n%s%s", status, lines, c.status, c.calls, out)
			}
			for line := range strings.Lines(string(called)) {
				words := strings.Split(strings.TrimSuffix(line, "\037\n"), "\037")
				command, args, err := newRoot(streams{env: func(string) string { return "" }}).Find(words)
				if err != nil || command.Name() != "validate" || command.ParseFlags(args) != nil {
					t.Errorf("%q is no command: %v", words, err)
				}
			}
			if report, err := os.ReadFile(filepath.Join(work, "gl-code-quality-report.json")); c.calls != "" && (err != nil || string(report) != "[]\n") {
				t.Errorf("the report is %q, %v", report, err)
			}
		})
	}
}
