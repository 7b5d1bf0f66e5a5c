package helmfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
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
type oracle struct {
	dir        string
	unrecorded bool
}

func newOracle(t *testing.T, a *txtar.Archive) *oracle {
	t.Helper()
	o := &oracle{dir: t.TempDir()}
	if err := txtar.Write(a, o.dir); err != nil {
		t.Fatal(err)
	}
	return o
}

// run returns what helmfile prints; the error holds what it says when it refuses. What it writes into a folder may be left out.
func (o *oracle) run(t *testing.T, writes string, args ...string) (string, error) {
	t.Helper()
	result := testpeer.Command{Tool: "helmfile", With: []string{"helm"}, Args: args, Dir: o.dir, Reads: []string{o.dir}, Writes: writes, Unrecorded: o.unrecorded}.Run(t)
	if result.Exit != 0 {
		return "", errors.New(result.Stderr)
	}
	return result.Stdout, nil
}

// TestAgainstHelmfile reads each helmfile of the archives, and of those of the
// bootstrap, and compares releases, values and reasons of refusal with the real one's.
func TestAgainstHelmfile(t *testing.T) {
	compared := 0
	for _, name := range archives(t, "testdata/*/*.txtar", "../bootstrap/testdata/*/*.txtar") {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			repo, o := testarchive.Repository(t, a), newOracle(t, a)
			r := newReader(t.Context(), repo)
			files := findHelmfiles(repo)
			used, parts := r.usedBy(files)
			for _, file := range files {
				if !used[file] && !parts[file] {
					compared += o.compare(t, repo, file)
				}
			}
		})
	}
	if compared < 40 {
		t.Errorf("only %d releases were compared", compared)
	}
}

// archives are the files of all patterns, each of which holds some.
func archives(t *testing.T, patterns ...string) []string {
	t.Helper()
	var all []string
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no archive is %s: %v", pattern, err)
		}
		all = append(all, files...)
	}
	return all
}

// compare compares all releases of one helmfile, and counts them.
func (o *oracle) compare(t *testing.T, repo *repository.Repository, file string) int {
	t.Helper()
	r := newReader(t.Context(), repo)
	releases, err := r.releases(file, nil, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	refused := refusalOf(releases, writing)
	out, err := o.run(t, "", "--file", file, "list", "--output", "json")
	if err != nil {
		if strings.Contains(err.Error(), "required env var") || strings.Contains(err.Error(), "error calling exec") {
			return 0 // which may be there elsewhere
		}
		if refused == "" {
			t.Errorf("%s: helmfile refuses the file, we don't: %s", file, err)
		} else if !sameReason(refused, err.Error()) {
			t.Errorf("%s: helmfile refuses the file for another reason:\nours:   %s\ntheirs: %s", file, refused, err)
		}
		return 0
	}
	var real []listed
	if err := json.Unmarshal([]byte(out), &real); err != nil {
		t.Fatal(err)
	}
	var got []listed
	for _, each := range releases {
		if each.Name.Unknown == nil && each.Chart.Unknown == nil && each.Version.Unknown == nil && each.Unreadable == "" &&
			(each.Skipped == nil || !strings.HasPrefix(each.Skipped.Value, "the selectors")) {
			got = append(got, each.listed())
		}
	}
	for _, each := range got {
		if !slices.Contains(real, each) {
			t.Errorf("%s: we read %+v, helmfile lists %+v", file, each, real)
		}
	}
	if len(got) < len(real) {
		t.Errorf("%s: helmfile lists %+v, we read %+v", file, real, got)
	}
	o.compareValues(t, file, releases, refusalOf(releases, writing+1))
	return len(got)
}

func (r *Release) listed() listed {
	return listed{r.Name.Value, r.Namespace.Value, r.Chart.Value, r.Version.Value, r.enabled, r.installed}
}

// refusalOf is why helmfile refuses releases before it comes to a phase, by our
// own reading.
func refusalOf(releases []*Release, before phase) string {
	for _, r := range releases {
		for _, each := range r.Refusals {
			if each.phase < before {
				return each.Value
			}
		}
		if r.Unreadable != "" {
			return strings.TrimPrefix(r.Unreadable, "helmfile refuses the file: ")
		}
	}
	return ""
}

// sameReason says whether helmfile's message holds our reason, spaces aside.
func sameReason(ours, theirs string) bool {
	plain := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	return strings.Contains(plain(theirs), strings.TrimSuffix(plain(ours), "…"))
}

// compareValues compares the values of each release with those that helmfile
// writes.
func (o *oracle) compareValues(t *testing.T, file string, releases []*Release, refused string) {
	t.Helper()
	var out string
	write := func(selector ...string) error {
		out = t.TempDir()
		_, err := o.run(t, out, append([]string{"--file", file, "write-values", "--skip-deps",
			"--output-file-template", out + "/{{ .Release.Namespace }}--{{ .Release.Name }}"}, selector...)...)
		return err
	}
	complete := func(r *Release) bool { return len(r.effective().Unresolved) == 0 }
	if !slices.ContainsFunc(releases, func(r *Release) bool { return !complete(r) }) {
		err := write()
		switch {
		case err != nil && refused == "":
			t.Errorf("%s: helmfile refuses the values, we don't: %s", file, err)
		case err == nil && refused != "":
			t.Errorf("%s: we refuse what helmfile accepts: %s", file, refused)
		case err != nil && !sameReason(refused, err.Error()):
			t.Errorf("%s: helmfile refuses the values for another reason:\nours:   %s\ntheirs: %s", file, refused, err)
		}
		if err != nil {
			return
		}
		for _, r := range releases {
			if r.installed && r.Skipped == nil {
				compareWritten(t, out, file, r)
			}
		}
		return
	}
	// What would execute, fetch or decrypt is left out; of a file that helmfile
	// refuses, one release must not hide the others.
	for _, r := range releases {
		if !complete(r) && len(r.Values.Missing) == 0 || r.Skipped != nil {
			continue
		}
		err := write("--selector", "name="+r.Name.Value)
		switch {
		case err != nil && complete(r) && r.Refused == "" && refused == "":
			t.Errorf("%s: helmfile refuses the values of %q, we don't: %s", file, r.Name.Value, err)
		case err == nil && !complete(r):
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
	compareTrees(t, fmt.Sprintf("%s: %s", file, r.Name.Value), r.Values.Files, theirs)
}

// as11 names the keys as YAML 1.1 does, in which Helm reads what write-values
// reads by YAML 1.2.
func as11(v *located.Value) *located.Value {
	if v == nil || !v.IsMap {
		return v
	}
	out := located.EmptyMap(v.Place)
	for k, f := range v.Fields {
		if b, is := located.Yaml11Bool(k); is {
			k = fmt.Sprint(b)
		}
		out.Fields[k] = as11(f)
	}
	return out
}

func compareTrees(t *testing.T, what string, ours, theirs *located.Value) {
	t.Helper()
	eachDifference("values", as11(ours), as11(theirs), func(path string, a, b any) {
		if text, isText := b.(string); isText {
			// write-values reads by YAML 1.2; sync hands the file to Helm,
			// which reads by YAML 1.1.
			if b, is := located.Yaml11Bool(text); is && b == a {
				return
			}
			// write-values writes a date as a time, sync hands it on as it is.
			if theirs, err := time.Parse(time.RFC3339Nano, text); err == nil {
				ours := yaml.Node{Kind: yaml.ScalarNode, Tag: "!!timestamp", Value: fmt.Sprint(a)}
				var at time.Time
				if ours.Decode(&at) == nil && at.Equal(theirs) {
					return
				}
			}
		}
		t.Errorf("%s: %s: we read %v, helmfile writes %v", what, path, a, b)
	})
}

// eachDifference calls f with the leaves in which two values differ.
func eachDifference(path string, a, b *located.Value, f func(path string, a, b any)) {
	switch {
	case located.IsMap(a) && located.IsMap(b):
		keys := maps.Clone(a.Fields)
		maps.Copy(keys, b.Fields)
		for key := range keys {
			eachDifference(path+"."+key, a.At(key), b.At(key), f)
		}
	case located.IsList(a) && located.IsList(b) && len(a.Items) == len(b.Items):
		for i := range a.Items {
			eachDifference(fmt.Sprintf("%s[%d]", path, i), a.Items[i], b.Items[i], f)
		}
	case a != nil && templates.HoldsMark(a.Plain()): // what is unknown is not compared
	case a == nil || b == nil || !located.Equal(a, b):
		f(path, a.Plain(), b.Plain())
	}
}

// rendered are the values of each release as Helm gets them: of a chart whose
// only template prints them.
func (o *oracle) rendered(t *testing.T, file string) (map[string]any, error) {
	t.Helper()
	out, err := o.run(t, "", "--file", file, "template", "--skip-deps", "--quiet")
	if err != nil {
		return nil, err
	}
	all := map[string]any{}
	decoder := yaml.NewDecoder(strings.NewReader(out))
	for {
		var doc struct {
			Metadata struct{ Name, Namespace string }
			Data     struct{ Values string }
		}
		if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			t.Fatal(err)
		}
		var values any
		if err := json.Unmarshal([]byte(doc.Data.Values), &values); err != nil {
			t.Fatal(err)
		}
		all[doc.Metadata.Namespace+"/"+doc.Metadata.Name] = values
	}
}
