package finding

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// at makes a finding of one rule and object in a file.
func at(line int, message string) Finding {
	return Finding{Rule: "rule-a", Severity: Error, Place: Place{File: "a.yaml", Line: line}, Message: message,
		Object: Object{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "x", Name: "y"}}
}

// sources are the lines of a.yaml.
func sources(lines ...string) Lines {
	return func(file string, line int) (string, bool) {
		if file != "a.yaml" || line < 1 || line > len(lines) {
			return "", false
		}
		return lines[line-1], true
	}
}

func TestBaseline(t *testing.T) {
	before := NewReport([]Finding{at(1, "wrong (b.yaml:7)"), at(2, "odd"), at(2, "odd, too")}, nil, Summary{Files: 1})
	lines := sources("image: a", "port: 1")
	for _, c := range []struct {
		name  string
		now   []Finding
		lines Lines
		fresh string
		gone  int
	}{
		{"nothing changed", before.Findings, lines, "", 0},
		{"lines moved", []Finding{at(4, "wrong (b.yaml:9)"), at(5, "odd"), at(5, "odd, too")}, sources("", "", "", "image: a", "  port: 1"), "", 0},
		{"the line changed", []Finding{at(1, "wrong (b.yaml:7)")}, sources("image: other"), "", 2},
		{"said in other words", []Finding{at(1, "not right"), at(2, "odd"), at(2, "strange")}, lines, "", 0},
		{"without lines", []Finding{at(0, "wrong (b.yaml)"), at(0, "odd")}, nil, "", 1},
		{"another one", []Finding{at(1, "wrong (b.yaml:7)"), at(3, "new")}, sources("image: a", "", "x: 1"), "new", 2},
		{"one more on the same line", []Finding{at(1, "wrong (b.yaml:7)"), at(1, "new")}, lines, "new", 2},
		{"twice", []Finding{at(1, "wrong (b.yaml:7)"), at(9, "wrong (b.yaml:7)")}, lines, "wrong (b.yaml:7)", 2},
		{"another object", []Finding{{Rule: "rule-a", Place: Place{File: "a.yaml", Line: 1}, Message: "wrong (b.yaml:7)"}}, lines, "wrong (b.yaml:7)", 3},
		{"a newer version of the object", []Finding{func() Finding {
			f := at(1, "wrong (b.yaml:7)")
			f.Object.APIVersion = "apps/v2"
			return f
		}()}, lines, "", 2},
	} {
		var text bytes.Buffer
		if err := NewBaseline(before, lines).Write(&text); err != nil {
			t.Fatal(err)
		}
		b, err := ReadBaseline(text.Bytes())
		if err != nil {
			t.Fatalf("%v\n%s", err, text.String())
		}
		fresh, known, gone := b.Split(c.now, c.lines)
		var said []string
		for _, f := range fresh {
			said = append(said, f.Message)
		}
		if got := strings.Join(said, "|"); got != c.fresh || len(gone) != c.gone || len(known)+len(fresh) != len(c.now) {
			t.Errorf("%s: %q is fresh, %d known, %d gone; want %q and %d gone", c.name, got, len(known), len(gone), c.fresh, c.gone)
		}
	}
}

func TestBaselineIsReadable(t *testing.T) {
	var b bytes.Buffer
	r := NewReport([]Finding{at(1, "a <b>")}, nil, Summary{})
	if err := NewBaseline(r, nil).Write(&b); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{
  "version": 1,
  "findings": [
    {"rule":"rule-a","file":"a.yaml","object":"Deployment x/y","message":"a <b>","fingerprint":%q}
  ]
}
`, r.Findings[0].Fingerprint)
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if err := NewBaseline(Report{}, nil).Write(&b); err != nil || b.String() != "{\n  \"version\": 1,\n  \"findings\": []\n}\n" {
		t.Errorf("an empty one is %q, %v", b.String(), err)
	}
	if err := NewBaseline(r, nil).Write(brokenWriter{}); err == nil {
		t.Error("a failed write is not told")
	}
}

func TestReadBaselineRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "it ends too early",
		"[]":                                   "is not a baseline",
		`{"version": 2, "findings": []}`:       "version 2",
		`{"version": 1, "findngs": []}`:        "findngs",
		`{"version": 1, "findings": [{}]}`:     "findings[0]",
		`{"version": 1, "findings": []} {}`:    "follows",
		`{"version": 1, "findings": [{"rule":`: "too early",
	} {
		if _, err := ReadBaseline([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "json:") {
			t.Errorf("%q gives %v, want %q", text, err, want)
		}
	}
}

func TestFingerprints(t *testing.T) {
	r := NewReport([]Finding{at(9, `not "a", first on line 4`), at(3, `"a" is wrong, see line 2`), at(4, `"b" is wrong`)}, nil, Summary{})
	a, b, c := r.Findings[0].Fingerprint, r.Findings[2].Fingerprint, r.Findings[1].Fingerprint
	if b != a+":2" || c == a || len(a) != 32 {
		t.Errorf("the fingerprints are %q, %q and %q", a, b, c)
	}
}

// TestNames: what a message names stays the same when it is put into other words.
func TestNames(t *testing.T) {
	for _, c := range []struct{ was, is, want string }{
		{"nothing that Kustomization flux-system/apps applies uses ${DOMAIN}", "Kustomization flux-system/apps does not use ${DOMAIN}", "${DOMAIN}|flux-system/apps"},
		{`release "cilium": values.hubble is (not set) in the bootstrap and 1m in Git (a/b.yaml:24)`,
			`values.hubble differs for release "cilium": Git has 1m (a/b.yaml:30), the bootstrap nothing; pass --x`, "1m|a/b.yaml|cilium|values.hubble"},
		{"it is not known", "it cannot be told", ""},
		{`there is no "a b" (and 3 more)`, `"a b" and 3 more are missing`, `3|a b`},
	} {
		for _, message := range []string{c.was, c.is} {
			if got := strings.Join(names(message), "|"); got != c.want {
				t.Errorf("%s: %s, want %s", message, got, c.want)
			}
		}
	}
}

// TestBaselineOfOtherWords: a baseline of an earlier version, whose fingerprints are of messages, knows
// what a later one says in other words, and nothing that is new.
func TestBaselineOfOtherWords(t *testing.T) {
	old := `{"version": 1, "findings": [
		{"rule":"rule-a","file":"a.yaml","object":"Deployment x/y","message":"nothing defines ${A}, in what Kustomization b/c applies","fingerprint":"4cc8b844733d8311725e656e1e00538a"},
		{"rule":"rule-a","file":"a.yaml","object":"Deployment x/y","message":"it is odd","fingerprint":"db7d0e5a81c6744f0ec0773856c30434"}]}`
	b, err := ReadBaseline([]byte(old))
	if err != nil {
		t.Fatal(err)
	}
	fresh, known, gone := b.Split([]Finding{at(7, "Kustomization b/c uses ${A}, which is not defined"), at(8, "Kustomization b/c uses ${B}, which is not defined")}, nil)
	if len(known) != 1 || known[0].Line != 7 || len(fresh) != 1 || len(gone) != 1 || gone[0].Message != "it is odd" {
		t.Errorf("known %v, fresh %v, gone %v", known, fresh, gone)
	}
}

func TestSelector(t *testing.T) {
	for _, c := range []struct {
		glob, file string
		want       bool
	}{
		{"apps/legacy", "apps/legacy/a/b.yaml", true},
		{"apps/legacy/", "apps/legacy/a.yaml", true},
		{"./apps/legacy", "apps/legacy/a.yaml", true},
		{"apps/legacy", "apps/legacy2/a.yaml", false},
		{"legacy", "apps/legacy/a.yaml", false},
		{"**/legacy", "apps/legacy/a.yaml", true},
		{"**/legacy", "legacy/a.yaml", true},
		{"apps/*/ks.yaml", "apps/a/ks.yaml", true},
		{"apps/*/ks.yaml", "apps/a/b/ks.yaml", false},
		{"apps/**/ks.yaml", "apps/ks.yaml", true},
		{"apps/**/ks.yaml", "apps/a/b/ks.yaml", true},
		{"*.yaml", "a.yaml", true},
		{"*.yaml", "apps/a.yaml", false},
		{"**", "a.yaml", true},
		{"a.yaml", "", false},
	} {
		if got := (Selector{Paths: []string{"nothing", c.glob}}).MatchesPath(c.file); got != c.want {
			t.Errorf("%q matches %q: %v", c.glob, c.file, got)
		}
	}
	s := Selector{Rules: []string{"schema-*", "rule-a"}, Kinds: []string{"HelmRelease"}}
	if !s.MatchesRule("schema-invalid") || !s.MatchesRule("rule-a") || s.MatchesRule("rule-ab") || s.MatchesRule("flux-a") {
		t.Error("the rules are not those selected")
	}
	if !s.MatchesKind("HelmRelease") || s.MatchesKind("") || !(Selector{}).MatchesKind("") {
		t.Error("the kinds are not those selected")
	}
	if CheckPath("a/[") == nil || CheckPath("a/**/*.yaml") != nil {
		t.Error("CheckPath doesn't tell a malformed glob")
	}
}
