package finding

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

var update = flag.Bool("update", false, "rewrite what the tests compare with")

type writer func(io.Writer, Report, MachineOptions) error

var writers = map[string]writer{"sarif": WriteSARIF, "junit": WriteJUnit, "github": WriteGitHub, "gitlab": WriteGitLab}

// hostileReport has what breaks writers: separators, line breaks, markup, control
// characters, no file, no line, no object, a rule that nobody described.
func hostileReport() Report {
	release := Object{APIVersion: "helm.toolkit.fluxcd.io/v2", Kind: "HelmRelease", Namespace: "media", Name: "plex"}
	return NewReport([]Finding{
		{Rule: "schema-invalid", Severity: Error, Place: Place{File: "apps/a, b:c %20/ks.yaml", Line: 7, Column: 3}, Object: release,
			Message: "spec.x is \"<1>\" & 100%\r\n::error::injected", Hint: "write ]]> or a, b: c"},
		{Rule: "schema-invalid", Severity: Error, Place: Place{File: "apps/a.yaml", Line: 2, Column: 1}, Object: release, Message: "twice (apps/b.yaml:3)"},
		{Rule: "schema-invalid", Severity: Error, Place: Place{File: "apps/a.yaml", Line: 9, Column: 1}, Object: release, Message: "twice (apps/b.yaml:5:1)"},
		{Rule: "source-insecure", Severity: Warning, Place: Place{File: "apps/ä.yaml", Line: 3}, Message: "odd \x1b[31m", Cluster: "prod"},
		{Rule: "graph-orphan-file", Severity: Info, Place: Place{File: "##[x].yaml"}, Message: "nothing references it"},
		{Rule: "flux-undescribed", Severity: Info, Message: "advice"},
	}, []Unresolved{
		{Rule: "schema-invalid", File: "::warning::x.yaml", Line: 4, Reason: "no schema ##[error]\n::error::b"},
		{Rule: "source-insecure", File: "c.yaml", Reason: "encrypted"},
	}, Summary{Files: 5, Documents: 6, RulesOff: 2}).WithIgnored([]Ignored{
		{Finding: Finding{Rule: "schema-invalid", Severity: Error, Place: Place{File: "old.yaml", Line: 1}, Message: "known"}, Reason: "later", By: "old.yaml:1"},
	})
}

func machineOptions() MachineOptions {
	rule := func(id string, s Severity) Rule {
		return Rule{ID: id, Title: "a title", Why: "Why it is.", Fix: "Mend it.", Severity: s, URI: "https://example.com/" + id + ".md"}
	}
	return MachineOptions{
		Rules:   []Rule{rule("graph-orphan-file", Info), rule("schema-invalid", Error), rule("source-insecure", Warning), rule("source-mutable-ref", Warning)},
		Version: "v1.2.3", Prefix: "fleet",
		Lines: func(file string, line int) (string, bool) { return "  spec:  ", file == "apps/a.yaml" && line > 0 },
	}
}

// failOn are the options of a run that a severity fails, and what is unresolved.
func failOn(s Severity) MachineOptions {
	o := machineOptions()
	o.FailOn, o.FailOnUnresolved = s, true
	return o
}

func TestMachineFormats(t *testing.T) {
	for name, write := range writers {
		for _, c := range []struct {
			golden string
			report Report
			opts   MachineOptions
		}{
			{name, hostileReport(), machineOptions()},
			{name + "-fail-on", hostileReport(), failOn(Warning)},
			{name + "-empty", NewReport(nil, nil, Summary{Files: 1}), MachineOptions{Rules: machineOptions().Rules[:1]}},
			{name + "-failed", NewReport(nil, nil, Summary{}), MachineOptions{Failure: "reading the repository: a: %b\n::c"}},
		} {
			var b bytes.Buffer
			if err := write(&b, c.report, c.opts); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", c.golden+".golden")
			if *update {
				if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := diff.Diff(file, want, "now", b.Bytes()); d != nil {
				t.Errorf("run the tests with -update:\n%s", d)
			}
			if err := write(brokenWriter{}, c.report, c.opts); err == nil {
				t.Errorf("%s: a failed write is not told", name)
			}
		}
	}
}

func golden(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".golden"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The schema is the part of the standard's own that is about what is written,
// without other fields.
func TestSARIFIsValid(t *testing.T) {
	text, err := os.ReadFile("testdata/sarif-2.1.0-part.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema spec.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	check := func(data []byte) error {
		var value any
		if err := json.Unmarshal(data, &value); err != nil {
			return err
		}
		return validate.NewSchemaValidator(&schema, nil, "", strfmt.Default).Validate(value).AsError()
	}
	for _, name := range []string{"sarif", "sarif-empty", "sarif-failed"} {
		data := golden(t, name)
		if err := check(data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, bad := range [][2]string{
			{`"version": "2.1.0"`, `"version": "2.0.0"`}, {`"executionSuccessful"`, `"success"`},
			{`"driver"`, `"drivers"`}, {`"unicodeCodePoints"`, `"bytes"`}, {`"runs"`, `"run"`},
		} {
			if broken := strings.Replace(string(data), bad[0], bad[1], 1); check([]byte(broken)) == nil {
				t.Errorf("%s with %s passes: the schema checks nothing", name, bad[1])
			}
		}
	}
	for _, bad := range [][2]string{
		{`"startLine": 2`, `"startLine": 0`}, {`"level": "error"`, `"level": "fatal"`}, {`"text"`, `"txt"`},
		{`"ruleIndex": 1`, `"ruleIndex": "1"`}, {`"partialFingerprints"`, `"fingerprint"`},
	} {
		if broken := strings.ReplaceAll(string(golden(t, "sarif")), bad[0], bad[1]); check([]byte(broken)) == nil {
			t.Errorf("%s passes", bad[1])
		}
	}
}

func TestSARIFPointsAtItsRules(t *testing.T) {
	var log sarifLog
	if err := json.Unmarshal(golden(t, "sarif"), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	seen := map[string]bool{}
	var files []string
	for _, r := range run.Results {
		if r.RuleIndex != nil && run.Tool.Driver.Rules[*r.RuleIndex].ID != r.RuleID {
			t.Errorf("%s has the index of %s", r.RuleID, run.Tool.Driver.Rules[*r.RuleIndex].ID)
		}
		if r.RuleIndex == nil && r.RuleID != "flux-undescribed" {
			t.Errorf("%s has no index", r.RuleID)
		}
		for kind, print := range r.PartialFingerprints {
			if seen[kind+print] {
				t.Errorf("the fingerprint %s is given twice", print)
			}
			seen[kind+print] = true
		}
		uri, err := url.Parse(r.Locations[0].Physical.Artifact.URI)
		if err != nil || uri.Scheme != "" || uri.Fragment != "" || !strings.HasPrefix(uri.Path, "fleet") {
			t.Errorf("%v is no relative URI below the prefix: %v", uri, err)
			continue
		}
		files = append(files, uri.Path)
	}
	if want := "fleet/apps/a, b:c %20/ks.yaml"; !slices.Contains(files, want) {
		t.Errorf("%q is not among the files %q", want, files)
	}
	if n := len(run.Invocations[0].Notifications); n != 2 {
		t.Errorf("%d notifications of what is unresolved, want 2", n)
	}
}

// Counts agree with what is there, and what isn't XML's is replaced.
func TestJUnitIsConsistent(t *testing.T) {
	for _, name := range []string{"junit", "junit-empty", "junit-failed"} {
		var got junitSuites
		if err := xml.Unmarshal(golden(t, name), &got); err != nil {
			t.Fatal(err)
		}
		recounted := junitSuites{}
		for _, s := range got.Suites {
			recounted.add(junitSuite{Name: s.Name, Cases: s.Cases})
		}
		for i, s := range recounted.Suites {
			if g := got.Suites[i]; g.Tests != s.Tests || g.Failures != s.Failures || g.Skipped != s.Skipped || g.Errors != s.Errors {
				t.Errorf("%s: the suite %s miscounts", name, s.Name)
			}
			for _, c := range s.Cases {
				if c.Failure != nil && c.Failure.Type != s.Name {
					t.Errorf("%s: the failure of %s has the type %s", name, s.Name, c.Failure.Type)
				}
			}
		}
		if got.Tests != recounted.Tests || got.Failures != recounted.Failures || got.Skipped != recounted.Skipped || got.Tests == 0 {
			t.Errorf("%s: the report miscounts", name)
		}
	}
}

// As actions/runner reads commands: a line that begins with ::, and ##[ anywhere.
func TestGitHubCommandsCannotBeInjected(t *testing.T) {
	command := regexp.MustCompile(`^::(error|warning|notice|group|endgroup)( ([a-z]+=[^,:\r\n]*)(,[a-z]+=[^,:\r\n]*)*)?::[^\r\n]*$`)
	n := 0
	for line := range strings.Lines(string(golden(t, "github"))) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			n++
			if !command.MatchString(line) {
				t.Errorf("%q is no command of ours", line)
			}
		} else if strings.Contains(line, "##[") {
			t.Errorf("%q holds a command", line)
		}
	}
	if n != 8 {
		t.Errorf("%d commands, want one for each of 6 findings and 2 of the group", n)
	}
}

func TestGitLabHasWhatItsSchemaWants(t *testing.T) {
	var issues []map[string]any
	if err := json.Unmarshal(golden(t, "gitlab"), &issues); err != nil {
		t.Fatal(err)
	}
	seen := map[any]bool{}
	for _, i := range issues {
		location, _ := i["location"].(map[string]any)
		lines, _ := location["lines"].(map[string]any)
		begin, _ := lines["begin"].(float64)
		if i["description"] == "" || i["check_name"] == "" || begin < 1 || strings.HasPrefix(location["path"].(string), "./") || seen[i["fingerprint"]] {
			t.Errorf("GitLab refuses %v", i)
		}
		if s := i["severity"]; s != "info" && s != "minor" && s != "major" {
			t.Errorf("the severity is %v", s)
		}
		seen[i["fingerprint"]] = true
	}
	if len(issues) != 6 || string(golden(t, "gitlab-empty")) != "[]\n" {
		t.Errorf("%d issues, want 6; and a list where there is none", len(issues))
	}
}
