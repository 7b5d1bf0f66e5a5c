package bootstrap

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// listed is a release as `helmfile list --output json` prints it.
type listed struct {
	Name, Namespace, Chart, Version string
}

// realHelmfile runs the real helmfile, and skips the test where it, or the helm
// that it wants, isn't on PATH. It says false where helmfile refuses.
func realHelmfile(t *testing.T, dir string, args ...string) (string, bool) {
	t.Helper()
	for _, tool := range []string{"helmfile", "helm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not on PATH", tool)
		}
	}
	cmd := exec.CommandContext(t.Context(), "helmfile", args...)
	cmd.Dir = dir
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Logf("helmfile %s: %s", strings.Join(args, " "), exit.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	return string(out), err == nil
}

func extract(t *testing.T, a *txtar.Archive) string {
	t.Helper()
	dir := t.TempDir()
	if err := txtar.Write(a, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestAgainstHelmfile reads each helmfile of the archives that the real one
// accepts, and compares releases and values.
func TestAgainstHelmfile(t *testing.T) {
	archives, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			repo, dir := repositoryOf(t, a), extract(t, a)
			for _, file := range findHelmfiles(repo) {
				compared += compareWithHelmfile(t, repo, dir, file)
			}
		})
	}
	if _, err := exec.LookPath("helmfile"); err == nil && compared < 40 {
		t.Errorf("only %d releases were compared", compared)
	}
}

func compareWithHelmfile(t *testing.T, repo *repository.Repository, dir, file string) int {
	t.Helper()
	out, ok := realHelmfile(t, dir, "--file", file, "list", "--output", "json")
	if !ok {
		return 0
	}
	var real []listed
	if err := json.Unmarshal([]byte(out), &real); err != nil {
		t.Fatal(err)
	}
	r := &reader{engine: newEngine(t.Context(), repo), repo: repo}
	releases, err := r.releases(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(real) != len(releases) {
		t.Errorf("%s: helmfile lists %d releases, we read %d", file, len(real), len(releases))
	}
	n := 0
	for _, each := range releases {
		if each.name.unknown != nil || each.chart.unknown != nil || each.version.unknown != nil {
			continue
		}
		got := listed{each.name.value, each.namespace.value, each.chart.value, each.version.value}
		if !slices.Contains(real, got) {
			t.Errorf("%s: we read %+v, helmfile lists %+v", file, got, real)
		}
		n++
	}
	compareValues(t, dir, file, releases)
	return n
}

// compareValues compares the values of each release with those that helmfile
// writes.
func compareValues(t *testing.T, dir, file string, releases []*release) {
	t.Helper()
	out := t.TempDir()
	write := func(selector string) bool {
		_, ok := realHelmfile(t, dir, "--file", file, "--selector", selector, "write-values",
			"--skip-deps", "--output-file-template", out+"/{{ .Release.Name }}")
		return ok
	}
	// What would execute, fetch or decrypt is left out; of a file that helmfile
	// refuses, one release must not hide the others.
	together := !slices.ContainsFunc(releases, func(r *release) bool { return len(r.effective().Unresolved) > 0 }) &&
		write("name!=")
	for _, r := range releases {
		resolved := len(r.effective().Unresolved) == 0
		if !resolved && len(r.values.missing) == 0 {
			continue
		}
		switch ok := together || write("name="+r.name.value); {
		case !ok && resolved && r.refused == "":
			t.Errorf("%s: helmfile refuses the values of %q, we don't", file, r.name.value)
		case ok && !resolved:
			t.Errorf("%s: helmfile writes the values of %q, we miss a file", file, r.name.value)
		case ok:
			compareWritten(t, filepath.Join(out, r.name.value), file, r)
		}
	}
}

func compareWritten(t *testing.T, written, file string, r *release) {
	t.Helper()
	data, err := os.ReadFile(written)
	if err != nil {
		t.Fatal(err)
	}
	var n yaml.Node
	if err := yaml.Unmarshal(data, &n); err != nil {
		t.Fatal(err)
	}
	theirs, err := valueOf(file, n.Content[0], asHelm)
	if err != nil {
		t.Fatal(err)
	}
	c := &comparison{engine: newEngine(t.Context(), memory{})}
	c.diff("values", pair{value: r.valuesWithoutSet()}, pair{value: theirs})
	for _, d := range c.differences {
		if text, isText := d.Git.Value.(string); isText {
			// write-values reads by YAML 1.2; sync hands the file to Helm,
			// which reads by YAML 1.1.
			if b, is := yaml11Bool(text); is && b == d.Bootstrap.Value {
				continue
			}
		}
		t.Errorf("%s: %s: %s: we read %v, helmfile writes %v", file, r.name.value, d.Field, d.Bootstrap.Value, d.Git.Value)
	}
}

// valuesWithoutSet leaves out what helmfile passes by --set, which write-values
// doesn't write.
func (r *release) valuesWithoutSet() *value {
	return r.values.files
}
