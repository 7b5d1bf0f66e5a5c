package finding

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func sample() Report {
	return NewReport([]Finding{
		{Rule: "b-rule", Severity: Warning, Place: Place{File: "b.yaml", Line: 3, Column: 5}, Message: "odd", Cluster: "prod"},
		{Rule: "a-rule", Severity: Error, Place: Place{File: "a.yaml", Line: 10, Column: 2}, Message: "later"},
		{Rule: "a-rule", Severity: Error, Place: Place{File: "a.yaml", Line: 2, Column: 3}, Message: "wrong \x1b[31mvalue", Hint: "mend it"},
		{Rule: "a-rule", Severity: Error, Place: Place{File: "a.yaml", Line: 2, Column: 3}, Message: "wrong \x1b[31mvalue", Hint: "mend it"},
		{Rule: "c-rule", Severity: Info, Message: "advice"},
	}, []Unresolved{
		{Rule: "a-rule", File: "z.yaml", Line: 1, Reason: "not known"},
		{Rule: "a-rule", File: "z.yaml", Line: 1, Reason: "not known"},
		{Rule: "a-rule", File: "y.yaml", Reason: "encrypted"},
	}, Summary{Files: 3, Documents: 1, Kustomizations: 0, HelmReleases: 2, Errors: 99})
}

func TestReportIsSortedAndCounted(t *testing.T) {
	r := sample()
	if s := r.Summary; s.Errors != 2 || s.Warnings != 1 || s.Infos != 1 || len(r.Unresolved) != 2 {
		t.Errorf("the summary is %+v with %d unresolved", s, len(r.Unresolved))
	}
	shuffled := slices.Clone(r.Findings)
	slices.Reverse(shuffled)
	if again := NewReport(shuffled, r.Unresolved, r.Summary); !slices.Equal(again.Findings, r.Findings) {
		t.Errorf("the order depends on the input: %v", again.Findings)
	}
}

func TestWriteText(t *testing.T) {
	lines := map[string][]string{
		"a.yaml": {"", "\tx: \x1b[31m1", "", "", "", "", "", "", "", strings.Repeat("y", 400)},
		"b.yaml": {"", "", "", ""},
	}
	var b bytes.Buffer
	err := WriteText(&b, sample(), TextOptions{Duration: 1234 * time.Millisecond, Source: func(file string, n int) (string, bool) {
		l := lines[file]
		if n > len(l) {
			return "", false
		}
		return l[n-1], true
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := `y.yaml: unresolved: encrypted [a-rule]
z.yaml:1: unresolved: not known [a-rule]
.: info: advice [c-rule]
b.yaml:3:5: warning: odd (cluster prod) [b-rule]
a.yaml:2:3: error: wrong �[31mvalue [a-rule]
  2 | 	x: �[31m1
    | 	 ^
  hint: mend it
a.yaml:10:2: error: later [a-rule]
  10 | ` + strings.Repeat("y", 160) + `
     |  ^
3 files, 1 document, 0 Kustomizations and 2 HelmReleases read: 2 errors, 1 warning, 1 info, 2 unresolved (1.23 s)
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestWriteTextShowsTheColumnOfALongLine(t *testing.T) {
	var b bytes.Buffer
	line := strings.Repeat("a", 299) + "X" + strings.Repeat("b", 300)
	r := NewReport([]Finding{{Rule: "r", Severity: Error, Place: Place{File: "f", Line: 1, Column: 300}, Message: "m"}}, nil, Summary{Files: 1})
	err := WriteText(&b, r, TextOptions{Source: func(string, int) (string, bool) { return line, true }})
	if err != nil {
		t.Fatal(err)
	}
	out := strings.Split(b.String(), "\n")
	if at := strings.Index(out[2], "^"); at < 0 || out[1][at] != 'X' {
		t.Errorf("the caret is not under the column:\n%s", b.String())
	}
}

// TestWriteTextHidesSecrets: of a secret, no source line is shown.
func TestWriteTextHidesSecrets(t *testing.T) {
	for secret, want := range map[bool]string{true: "f:1:13: error: m [a]\n0 files", false: "f:1:13: error: m [a]\n  1 |   password: hunter2\n"} {
		var b bytes.Buffer
		r := NewReport([]Finding{{Rule: "a", Severity: Error, Place: Place{File: "f", Line: 1, Column: 13}, Message: "m", Secret: secret}}, nil, Summary{})
		if err := WriteText(&b, r, TextOptions{Source: func(string, int) (string, bool) { return "  password: hunter2", true }}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(b.String(), want) {
			t.Errorf("secret %v: got\n%s", secret, b.String())
		}
	}
}

func TestWriteTextInColor(t *testing.T) {
	var b bytes.Buffer
	if err := WriteText(&b, NewReport(nil, nil, Summary{Files: 1}), TextOptions{Color: true}); err != nil {
		t.Fatal(err)
	}
	if want := "1 file, 0 documents, 0 Kustomizations and 0 HelmReleases read: no findings\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	b.Reset()
	if err := WriteText(&b, sample(), TextOptions{Color: true}); err != nil || !strings.Contains(b.String(), "\x1b[31merror:\x1b[0m") {
		t.Errorf("no colour: %v %s", err, b.String())
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestWriteTextTellsOfABrokenPipe(t *testing.T) {
	if err := WriteText(brokenWriter{}, sample(), TextOptions{}); err == nil {
		t.Error("a failed write is not told")
	}
}

func TestWriteJSON(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, Report{}); err != nil || strings.Contains(b.String(), "null") {
		t.Errorf("lists are null: %v\n%s", err, b.String())
	}
	b.Reset()
	if err := WriteJSON(&b, sample()); err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b.Bytes(), &m); err != nil {
		t.Fatal(err)
	}
	if m["apiVersion"] != "fleetwright.dev/v1alpha1" || m["kind"] != "ValidationReport" {
		t.Errorf("the report is a %v %v", m["apiVersion"], m["kind"])
	}
	first := m["findings"].([]any)[0].(map[string]any)
	for _, key := range []string{"rule", "severity", "file", "line", "column", "object", "cluster", "message", "hint", "fixable"} {
		if _, ok := first[key]; !ok {
			t.Errorf("a finding lacks %q", key)
		}
	}
}

func TestThresholds(t *testing.T) {
	warned := NewReport([]Finding{{Severity: Warning}}, nil, Summary{})
	if warned.Reaches(Error) || !warned.Reaches(Warning) || !warned.Reaches(Info) || (Report{}).Reaches(Info) {
		t.Error("a warning reaches warning and info, nothing else")
	}
	if !(Report{}).Empty() || warned.Empty() || NewReport(nil, nil, Summary{Files: 1}).Empty() {
		t.Error("a report is empty when there was nothing to check")
	}
	if s, err := ParseSeverity("warning"); err != nil || s != Warning {
		t.Errorf("ParseSeverity gives %q, %v", s, err)
	}
	if _, err := ParseSeverity("fatal"); err == nil || !strings.Contains(err.Error(), "error, warning, info") {
		t.Errorf("an unknown severity gives %v", err)
	}
}
