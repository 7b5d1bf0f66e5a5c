package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/specs"
)

// pageFile is a file that a page shows behind its name.
var pageFile = regexp.MustCompile("(?s)`(fleet/[a-z0-9]+\\.yaml)`[^`]*```yaml\n(.*?)```\n")

// flux stands for the command that the page of Kommander asks for Flux's manifests.
const flux = "#!/bin/sh\nprintf 'apiVersion: v1\\nkind: Namespace\\nmetadata:\\n  name: flux-system\\n'\n"

// fromNothing is the section of a platform's page that makes a repository, with the file that it
// shows.
func fromNothing(t *testing.T, name string) (text, path, content string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/" + name + ".md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "## From nothing\n")
	text, _, more := strings.Cut(text, "\n## ")
	shown := pageFile.FindStringSubmatch(text)
	if !ok || !more || shown == nil {
		t.Fatalf("docs/%s.md has no section of this name with a file", name)
	}
	return text, shown[1], shown[2]
}

// What the pages of the platforms tell to do in an empty folder makes a repository without
// findings.
func TestPlatformPages(t *testing.T) {
	for _, name := range []string{"k0rdent", "kommander"} {
		t.Run(name, func(t *testing.T) {
			text, path, content := fromNothing(t, name)
			dir, bin := t.TempDir(), t.TempDir()
			putFile(t, filepath.Join(dir, path), []byte(content))
			if err := os.WriteFile(filepath.Join(bin, "flux"), []byte(flux), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			t.Chdir(dir)
			var last string
			for _, s := range stepsOf(text) {
				last = runStep(t, s.command)
			}
			if !strings.Contains(last, "no findings") {
				t.Errorf("the last command prints %q", last)
			}
			if steps, err := filepath.Glob("clusters/management/" + name + ".yaml"); err != nil || len(steps) != 1 {
				t.Error("the steps of the platform were not rendered", err)
			}
		})
	}
}

// runStep runs a command of a page, which must succeed, and returns what it prints.
func runStep(t *testing.T, command string) string {
	t.Helper()
	args, own := strings.CutPrefix(command, "fleetwright ")
	if !own {
		out, err := exec.Command("sh", "-c", command).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
		return string(out)
	}
	var out bytes.Buffer
	root := newRoot(streams{out: &out, err: &out, env: func(string) string { return "" }})
	root.SetArgs(strings.Fields(args))
	if err := root.ExecuteContext(context.Background()); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out.String())
	}
	return out.String()
}

// Beside the starter, the pages' platforms need what they say of the Fleet and the Cluster, and
// the errors tell the lines.
func TestPlatformPagesBesideTheStarter(t *testing.T) {
	for name, edits := range map[string][]string{
		"k0rdent":   {"lockdown: true", "lockdown: false"},
		"kommander": {"lockdown: true", "lockdown: false", "install: operator", "install: bootstrap", "version: 2.9.x", "version: 2.9.4"},
	} {
		_, path, content := fromNothing(t, name)
		parts := strings.Split(content, "---\n")
		platform := specs.File{Path: path, Content: []byte(parts[len(parts)-1])}
		files, err := specs.Starter(specs.StarterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = specs.Load(append(files, platform))
		if err == nil {
			t.Fatalf("%s: the starter is as it should be already", name)
		}
		for _, place := range []string{"fleet/fleet.yaml:56:15: ", path + ":9:12: cluster \"management\" does not exist"} {
			if !strings.Contains(err.Error(), place) {
				t.Errorf("%s: the errors name no %q:\n%v", name, place, err)
			}
		}
		files[0].Content = []byte(strings.NewReplacer(edits...).Replace(string(files[0].Content)))
		platform.Content = bytes.Replace(platform.Content, []byte("cluster: management"), []byte("cluster: staging"), 1)
		if _, err := specs.Load(append(files, platform)); err != nil {
			t.Errorf("%s: with what the page says:\n%v", name, err)
		}
	}
}
