package finding

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func textOf(t *testing.T, r Report, o TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextCondensesWhatIsUnresolved(t *testing.T) {
	var all []Unresolved
	ask := func(rule, file string, n int, cause string) {
		for i := range n {
			question := fmt.Sprintf("whether %d", i)
			u := Unresolved{Rule: rule, File: fmt.Sprintf("%s%02d.yaml", file, i), Line: 3, Reason: question + ": " + cause}
			if cause != "" {
				u.Question, u.Cause = question, cause
			}
			all = append(all, u)
		}
	}
	ask("few", "a", mostOfCause, "a source")
	ask("many", "b", 38, "a schema")
	ask("other", "c", 2, "a schema")
	ask("each", "d", mostOfRule+4, "")
	report := NewReport(nil, all, Summary{Files: 1})

	got := textOf(t, report, TextOptions{})
	for text, want := range map[string]int{
		"[few]\n": mostOfCause, "[many]\n": 1, "[other]\n": 2, "[each]\n": mostOfRule + 1,
		"b00.yaml:3: unresolved: whether 0, and 37 more like it: a schema [many]\n": 1,
		"unresolved: 4 more [each]\n  hint: --verbose lists all 57 unresolved\n":    1,
		": no findings, 57 unresolved\n":                                            1,
	} {
		if n := strings.Count(got, text); n != want {
			t.Errorf("%q stands there %d times, want %d:\n%s", text, n, want, got)
		}
	}

	got = textOf(t, report, TextOptions{Verbose: true})
	if n := strings.Count(got, ": unresolved: whether "); n != len(all) || strings.Contains(got, "--verbose") {
		t.Errorf("%d of %d are listed:\n%s", n, len(all), got)
	}
	var b bytes.Buffer
	if err := WriteJSON(&b, report); err != nil || strings.Count(b.String(), `"reason"`) != len(all) {
		t.Errorf("not all are in the JSON report: %v\n%s", err, b.String())
	}
}

func TestTextEndsWithErrors(t *testing.T) {
	at := func(file string, line int, s Severity) Finding {
		return Finding{Rule: "r", Severity: s, Place: Place{File: file, Line: line}, Message: "m"}
	}
	got := textOf(t, NewReport([]Finding{
		at("a", 1, Info), at("a", 2, Error), at("b", 1, Warning), at("b", 2, Info), at("c", 1, Error), at("d", 1, Info),
	}, []Unresolved{{Rule: "r", File: "z", Line: 1, Reason: "why"}}, Summary{}), TextOptions{})
	var order []string
	for line := range strings.Lines(got) {
		if place, _, ok := strings.Cut(line, ": "); ok && strings.HasSuffix(line, "[r]\n") {
			order = append(order, place)
		}
	}
	if want := []string{"z:1", "d:1:1", "b:1:1", "b:2:1", "a:1:1", "a:2:1", "c:1:1"}; !slices.Equal(order, want) {
		t.Errorf("the order is %q, want %q", order, want)
	}
}

// TestTextFoldsWhatIsAtOnePlace: machines are told of each finding.
func TestTextFoldsWhatIsAtOnePlace(t *testing.T) {
	var all []Finding
	for i := range 6 {
		all = append(all, Finding{Rule: "r", Severity: Error, Place: Place{File: "a", Line: 1, Column: 2}, Message: fmt.Sprintf("key %d", i), Hint: "so"})
	}
	for i := range 3 {
		all = append(all, Finding{Rule: "s", Severity: Error, Place: Place{File: "a", Line: 2, Column: 2}, Message: fmt.Sprintf("few %d", i)})
	}
	report := NewReport(all, nil, Summary{})
	want := "a:1:2: error: key 0 [r]\n  and key 1\n  and key 2\n  and 3 more here, which --verbose lists\n  hint: so\n" +
		"a:2:2: error: few 0 [s]\na:2:2: error: few 1 [s]\na:2:2: error: few 2 [s]\n"
	if got := textOf(t, report, TextOptions{}); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := textOf(t, report, TextOptions{Verbose: true}); strings.Count(got, "[r]") != 6 {
		t.Errorf("not all are listed:\n%s", got)
	}
	var b strings.Builder
	if err := WriteJSON(&b, report); err != nil || strings.Count(b.String(), `"key `) != 6 {
		t.Errorf("not all are in the JSON report: %v\n%s", err, b.String())
	}
}

// TestTextTellsACauseOnce, with the first places; machines are told of each.
func TestTextTellsACauseOnce(t *testing.T) {
	var all []Finding
	for i := range 5 {
		all = append(all, Finding{Rule: "r", Severity: Error, Place: Place{File: "a", Line: i + 1, Column: 2}, Message: "no X", Cause: "X"})
	}
	for i := range 3 {
		all = append(all, Finding{Rule: "r", Severity: Error, Place: Place{File: "b", Line: i + 1, Column: 2}, Message: "no Y", Cause: "Y"})
	}
	for i := range 4 {
		all = append(all, Finding{Rule: "s", Severity: Error, Place: Place{File: "c", Line: i + 1, Column: 2}, Message: "the same", Cluster: []string{"", "prod"}[i/3]})
		all = append(all, Finding{Rule: "s", Severity: Error, Place: Place{File: "d", Line: i + 1, Column: 2}, Message: "said again"})
	}
	report := NewReport(all, nil, Summary{})
	want := "a:1:2: error: no X; also at a:2, a:3 and 2 other places, which --verbose lists [r]\nb:1:2: error: no Y [r]\nb:2:2: error: no Y [r]\nb:3:2: error: no Y [r]\n" +
		"c:1:2: error: the same [s]\nc:2:2: error: the same [s]\nc:3:2: error: the same [s]\nc:4:2: error: the same (cluster prod) [s]\n" +
		"d:1:2: error: said again; also at d:2, d:3 and 1 other place, which --verbose lists [s]\n"
	if got := textOf(t, report, TextOptions{}); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := textOf(t, report, TextOptions{Verbose: true}); strings.Count(got, "no X [r]") != 5 {
		t.Errorf("not all are listed:\n%s", got)
	}
	var b strings.Builder
	if err := WriteJSON(&b, report); err != nil || strings.Count(b.String(), `"no X"`) != 5 {
		t.Errorf("not all are in the JSON report: %v\n%s", err, b.String())
	}
}
