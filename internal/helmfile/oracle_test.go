package helmfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/templates"
	"github.com/fleetwright/fleetwright/internal/testarchive"
	"github.com/fleetwright/fleetwright/internal/testpeer"
)

// listed is a release as `helmfile list --output json` prints it.
type listed struct {
	Name, Namespace, Chart, Version string
	Enabled, Installed              bool
}

// oracle runs the real helmfile on a folder.
type oracle struct{ dir string }

// run returns what helmfile prints; the error holds what it says when it refuses. What it writes into a folder may be left out.
func (o *oracle) run(t *testing.T, writes string, args ...string) (string, error) {
	t.Helper()
	result := testpeer.Command{Tool: "helmfile", With: []string{"helm"}, Args: args, Dir: o.dir, Reads: []string{o.dir}, Writes: writes}.Run(t)
	if result.Exit != 0 {
		return "", errors.New(result.Stderr)
	}
	return result.Stdout, nil
}

// TestAgainstHelmfile reads each helmfile of the archives, and of those of the
// bootstrap, and compares releases and values with the real one's, and whether it refuses the file.
func TestAgainstHelmfile(t *testing.T) {
	compared := 0
	for _, pattern := range []string{"testdata/*/*.txtar", "../../testdata/bootstraps/*/*.txtar"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("no archive is %s: %v", pattern, err)
		}
		for _, name := range names {
			t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
				compared += compareArchive(t, name)
			})
		}
	}
	if compared < 40 {
		t.Errorf("only %d releases were compared", compared)
	}
}

func compareArchive(t *testing.T, name string) (compared int) {
	t.Helper()
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	o := &oracle{dir: t.TempDir()}
	if err := txtar.Write(a, o.dir); err != nil {
		t.Fatal(err)
	}
	repo := testarchive.Repository(t, a)
	files := findHelmfiles(repo)
	used, parts := newReader(t.Context(), repo).usedBy(files)
	for _, file := range files {
		if !used[file] && !parts[file] {
			compared += o.compare(t, repo, file)
		}
	}
	return compared
}

// compare compares all releases of one helmfile, and counts them.
func (o *oracle) compare(t *testing.T, repo *repository.Repository, file string) int {
	t.Helper()
	releases, err := newReader(t.Context(), repo).releases(file, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := o.run(t, "", "--file", file, "list", "--output", "json")
	if err != nil {
		if !refuses(releases) && !strings.Contains(err.Error(), "required env var") && !strings.Contains(err.Error(), "error calling exec") {
			t.Errorf("%s: helmfile refuses the file, we don't: %s", file, err)
		}
		return 0
	}
	var real, got []listed
	if err := json.Unmarshal([]byte(out), &real); err != nil {
		t.Fatal(err)
	}
	open := 0
	for _, r := range releases {
		switch one := (listed{r.Name.Value, r.Namespace.Value, r.Chart.Value, r.Version.Value, r.enabled, r.installed}); {
		case r.Name.Unknown != nil, r.Chart.Unknown != nil, r.Version.Unknown != nil, r.Unreadable != "", r.Refused != "":
			open++
		case r.Skipped != nil && strings.HasPrefix(r.Skipped.Value, "the selectors"):
		case slices.Contains(real, one):
			got = append(got, one)
		default:
			t.Errorf("%s: we read %+v, helmfile lists %+v", file, one, real)
		}
	}
	if len(got)+open < len(real) {
		t.Errorf("%s: helmfile lists %+v, we read %+v", file, real, got)
	}
	o.compareValues(t, file, releases)
	return len(got)
}

// refuses says whether we read that helmfile refuses some release.
func refuses(releases []*Release) bool {
	return slices.ContainsFunc(releases, func(r *Release) bool { return len(r.Refusals) > 0 || r.Unreadable != "" })
}

// compareValues compares the values of each release that are known with those that helmfile
// writes. What would execute, fetch or decrypt is left out; of a file that helmfile
// refuses, one release must not hide the others.
func (o *oracle) compareValues(t *testing.T, file string, releases []*Release) {
	t.Helper()
	out := t.TempDir()
	write := func(selector ...string) error {
		_, err := o.run(t, out, append([]string{"--file", file, "write-values", "--skip-deps", "--output-file-template",
			out + "/{{ .Release.Namespace }}--{{ .Release.Name }}"}, selector...)...)
		return err
	}
	known := func(r *Release) bool {
		return r.Unreadable == "" && r.Refused == "" && len(r.effective().Unresolved) == 0
	}
	all := !refuses(releases) && !slices.ContainsFunc(releases, func(r *Release) bool { return !known(r) })
	if all {
		if err := write(); err != nil {
			t.Errorf("%s: helmfile refuses the values, we don't: %s", file, err)
			return
		}
	}
	for _, r := range releases {
		complete := known(r)
		if !complete && len(r.Values.Missing) == 0 || r.Refused != "" || r.Skipped != nil || !r.installed {
			continue
		}
		var err error
		if !all {
			out = t.TempDir()
			err = write("--selector", "name="+r.Name.Value)
		}
		switch {
		case err != nil && !refuses(releases):
			t.Errorf("%s: helmfile refuses the values of %q, we don't: %s", file, r.Name.Value, err)
		case err == nil && !complete:
			t.Errorf("%s: helmfile writes the values of %q, we miss a file", file, r.Name.Value)
		case err == nil:
			compareWritten(t, out, file, r)
		}
	}
}

func compareWritten(t *testing.T, out, file string, r *Release) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(out, r.Namespace.Value+"--"+r.Name.Value))
	if err != nil {
		t.Errorf("%s: %v", file, err)
		return
	}
	var n yaml.Node
	if err := yaml.Unmarshal(data, &n); err != nil {
		t.Fatal(err)
	}
	theirs, err := located.ValueOf(file, n.Content[0], located.AsHelm)
	if err != nil {
		t.Fatal(err)
	}
	// helmfile passes what set gives by --set, which write-values doesn't write.
	compareTrees(t, fmt.Sprintf("%s: %s: values", file, r.Name.Value), r.Values.Files, theirs)
}

// compareTrees compares two values; what is unknown is not compared.
func compareTrees(t *testing.T, at string, ours, theirs *located.Value) {
	t.Helper()
	switch {
	case located.IsMap(ours) && located.IsMap(theirs):
		for _, key := range slices.Concat(ours.Keys(), theirs.Keys()) {
			compareTrees(t, at+"."+key, ours.At(key), theirs.At(key))
		}
	case located.IsList(ours) && located.IsList(theirs) && len(ours.Items) == len(theirs.Items):
		for i := range ours.Items {
			compareTrees(t, fmt.Sprintf("%s[%d]", at, i), ours.Items[i], theirs.Items[i])
		}
	case ours != nil && templates.HoldsMark(ours.Plain()):
	case ours == nil || theirs == nil || !located.Equal(ours, theirs) && !sameScalar(ours, theirs):
		t.Errorf("%s: we read %v, helmfile writes %v", at, ours.Plain(), theirs.Plain())
	}
}

// sameScalar says whether helmfile writes a boolean of YAML 1.1 as a string, or a date as a time: sync hands both on as they
// are.
func sameScalar(ours, theirs *located.Value) bool {
	if b, is := located.Yaml11Bool(fmt.Sprint(theirs.Plain())); is {
		return ours.Scalar == b
	}
	written, err := time.Parse(time.RFC3339Nano, fmt.Sprint(theirs.Plain()))
	n := yaml.Node{Kind: yaml.ScalarNode, Tag: "!!timestamp", Value: fmt.Sprint(ours.Plain())}
	var at time.Time
	return err == nil && n.Decode(&at) == nil && at.Equal(written)
}
