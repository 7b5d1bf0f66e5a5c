package rule

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/repository"
)

func load(t *testing.T, files map[string]string) *repository.Repository {
	t.Helper()
	content := map[string][]byte{}
	for name, text := range files {
		content[name] = []byte(text)
	}
	repo, err := repository.FromFiles(maps.All(content), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

// says is a rule that reports some findings and unresolved questions.
func says(findings []finding.Finding, unresolved ...finding.Unresolved) Rule {
	return Rule{ID: "rule-a", Severity: finding.Error, Run: func(p *Pass) {
		for _, f := range findings {
			p.Report(f)
		}
		for _, u := range unresolved {
			p.Unresolved(finding.Place{File: u.File, Line: u.Line}, u.Reason)
		}
	}}
}

// run returns what is left, as FILE:LINE, and what is ignored, as FILE:LINE by PLACE.
func run(t *testing.T, repo *repository.Repository, r Rule, o Options) (kept, ignored string) {
	t.Helper()
	o.Known = []string{"rule-a", "rule-b"}
	o.Rules = []Rule{r}
	out, err := Run(context.Background(), repo, o)
	if err != nil {
		t.Fatal(err)
	}
	report := finding.NewReport(out.Findings, out.Unresolved, finding.Summary{}).WithIgnored(out.Ignored)
	var left, gone []string
	for _, f := range report.Findings {
		left = append(left, fmt.Sprintf("%s:%d", f.File, f.Line))
	}
	for _, u := range report.Unresolved {
		left = append(left, fmt.Sprintf("%s:%d?", u.File, u.Line))
	}
	for _, i := range report.Ignored {
		gone = append(gone, fmt.Sprintf("%s:%d by %s", i.File, i.Line, i.By))
	}
	return strings.Join(left, " "), strings.Join(gone, " ")
}

const objects = `apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  namespace: x
  annotations:
    fleetwright.dev/ignore: "rule-a: why"
data: {a: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: x}
data: {a: b}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: c, annotations: {fleetwright.dev/ignore: "rule-a: why"}}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: d}
`

func TestAnnotationsCountForTheirObject(t *testing.T) {
	configMap := func(namespace, name string) finding.Object {
		return finding.Object{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: name}
	}
	repo := load(t, map[string]string{"a.yaml": objects, "b.yaml": strings.ReplaceAll(objects, "rule-a: why", "rule-b: why"), "values.yaml": "x: 1\n"})
	for _, c := range []struct {
		name    string
		finding finding.Finding
		by      string // "" for nobody
	}{
		{"in its lines", finding.Finding{Place: finding.Place{File: "a.yaml", Line: 8}}, "a.yaml:7"},
		{"in the next object's", finding.Finding{Place: finding.Place{File: "a.yaml", Line: 13}}, ""},
		{"in its lines, about what it makes", finding.Finding{Place: finding.Place{File: "a.yaml", Line: 8}, Object: finding.Object{Kind: "Deployment", Name: "z"}}, "a.yaml:7"},
		{"an item of a list", finding.Finding{Place: finding.Place{File: "a.yaml", Line: 19}}, "a.yaml:20"},
		{"another item", finding.Finding{Place: finding.Place{File: "a.yaml", Line: 23}}, ""},
		{"elsewhere, about it", finding.Finding{Place: finding.Place{File: "values.yaml", Line: 1}, Object: configMap("x", "a")}, "a.yaml:7"},
		{"elsewhere, about one in another namespace", finding.Finding{Place: finding.Place{File: "values.yaml", Line: 1}, Object: configMap("y", "a")}, ""},
		{"elsewhere, about one without a namespace in its file", finding.Finding{Place: finding.Place{File: "values.yaml", Line: 1}, Object: configMap("y", "c")}, "a.yaml:20"},
		{"elsewhere, about the one beside it", finding.Finding{Place: finding.Place{File: "values.yaml", Line: 1}, Object: configMap("x", "b")}, ""},
		{"its twin, where the object stands", finding.Finding{Place: finding.Place{File: "values.yaml", Line: 1}, Object: configMap("x", "a"), ObjectAt: finding.Place{File: "b.yaml", Line: 1}}, ""},
		{"its twin", finding.Finding{Place: finding.Place{File: "b.yaml", Line: 4}, Object: configMap("x", "a")}, ""},
		{"no line", finding.Finding{Place: finding.Place{File: "a.yaml"}, Object: configMap("x", "a")}, "a.yaml:7"},
		{"no line and no object", finding.Finding{Place: finding.Place{File: "a.yaml"}}, ""},
		{"no file", finding.Finding{}, ""},
	} {
		kept, ignored := run(t, repo, says([]finding.Finding{c.finding}), Options{})
		if (c.by == "") != (ignored == "") || (kept == "") == (ignored == "") || !strings.HasSuffix(ignored, c.by) {
			t.Errorf("%s: kept %q, ignored %q; want by %q", c.name, kept, ignored, c.by)
		}
	}
	kept, ignored := run(t, repo, says(nil, finding.Unresolved{File: "a.yaml", Line: 8}, finding.Unresolved{File: "a.yaml", Line: 13}), Options{})
	if kept != "a.yaml:13?" || ignored != "a.yaml:8 by a.yaml:7" {
		t.Errorf("of what is unresolved %q is kept and %q ignored", kept, ignored)
	}
}

func TestCommentsCountForTheirLines(t *testing.T) {
	repo := load(t, map[string]string{
		"values.yaml":            "a: 1\nb: 2 # fleetwright:ignore rule-a why\n",
		"bootstrap/h.gotmpl":     "releases:\n- name: x # fleetwright:ignore rule-a why\n  version: {{ .V }}\n",
		"head/kustomization.yml": "# fleetwright:ignore rule-a why\nresources: []\n",
	})
	all := []finding.Finding{
		{Place: finding.Place{File: "values.yaml", Line: 1}}, {Place: finding.Place{File: "values.yaml", Line: 2}},
		{Place: finding.Place{File: "bootstrap/h.gotmpl", Line: 3}},
		{Place: finding.Place{File: "values.yaml", Line: 1, Column: 2}, Declared: finding.Place{File: "bootstrap/h.gotmpl", Line: 2}},
		{Place: finding.Place{File: "head/kustomization.yml"}}, {Place: finding.Place{File: "nowhere.yaml", Line: 1}},
	}
	kept, ignored := run(t, repo, says(all), Options{})
	if kept != "nowhere.yaml:1 values.yaml:1" ||
		ignored != "bootstrap/h.gotmpl:3 by bootstrap/h.gotmpl:2 head/kustomization.yml:0 by head/kustomization.yml:1 values.yaml:1 by bootstrap/h.gotmpl:2 values.yaml:2 by values.yaml:2" {
		t.Errorf("kept %q, ignored %q", kept, ignored)
	}
	if kept, ignored := run(t, repo, says(all), Options{ReportIgnored: true}); ignored != "" || strings.Count(kept, ":") != len(all) {
		t.Errorf("with all reported %q is ignored and %q kept", ignored, kept)
	}
}

func TestSelectorsCount(t *testing.T) {
	repo := load(t, map[string]string{"apps/a.yaml": objects, "b.yaml": "a: 1\n"})
	all := []finding.Finding{{Place: finding.Place{File: "apps/a.yaml", Line: 12}}, {Place: finding.Place{File: "b.yaml", Line: 1}}}
	for _, c := range []struct {
		selector finding.Selector
		kept     string
	}{
		{finding.Selector{Paths: []string{"apps"}}, "b.yaml:1"},
		{finding.Selector{Kinds: []string{"ConfigMap"}}, "b.yaml:1"},
		{finding.Selector{Rules: []string{"rule-*"}}, ""},
		{finding.Selector{Rules: []string{"rule-b"}}, "apps/a.yaml:12 b.yaml:1"},
		{finding.Selector{Paths: []string{"apps"}, Kinds: []string{"Secret"}}, "apps/a.yaml:12 b.yaml:1"},
	} {
		if kept, _ := run(t, repo, says(all), Options{Ignore: []finding.Selector{c.selector}}); kept != c.kept {
			t.Errorf("%+v keeps %q, want %q", c.selector, kept, c.kept)
		}
	}
}

// Items have no lines: a comment counts for its object.
func TestCommentsOfItems(t *testing.T) {
	item := func(name, comment string) *kyaml.RNode {
		return kyaml.MustParse("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name +
			"\n  annotations: {config.kubernetes.io/path: a.yaml}\ndata:\n  a: b" + comment + "\n")
	}
	repo, err := repository.FromItems([]*kyaml.RNode{item("a", " # fleetwright:ignore rule-a why"), item("b", "")}, repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	about := func(name string) finding.Finding {
		return finding.Finding{Place: finding.Place{File: "a.yaml"}, Message: name, Object: finding.Object{APIVersion: "v1", Kind: "ConfigMap", Name: name}}
	}
	kept, ignored := run(t, repo, says([]finding.Finding{about("a"), about("b")}), Options{})
	if kept != "a.yaml:0" || ignored != "a.yaml:0 by a.yaml" {
		t.Errorf("kept %q, ignored %q", kept, ignored)
	}
}

func TestSeveritiesAreOverridden(t *testing.T) {
	repo := load(t, map[string]string{"a.yaml": "a: 1\n"})
	out, err := Run(context.Background(), repo, Options{Rules: []Rule{says([]finding.Finding{{Place: finding.Place{File: "a.yaml"}}})}, Severities: map[string]finding.Severity{"rule-a": finding.Info}})
	if err != nil || len(out.Findings) != 1 || out.Findings[0].Severity != finding.Info {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestProgressIsTold(t *testing.T) {
	var told [][2]int
	judge := Rule{ID: "ignore-a", Severity: finding.Warning, Ignoring: func(*Pass, *Ignoring) {}}
	_, err := Run(context.Background(), load(t, nil), Options{Rules: []Rule{says(nil), judge}, Progress: func(done, total int) { told = append(told, [2]int{done, total}) }})
	if want := [][2]int{{0, 1}, {1, 1}}; err != nil || !slices.Equal(told, want) {
		t.Errorf("told %v, want %v: %v", told, want, err)
	}
}

func TestARuleThatJudgesIgnoresMayFail(t *testing.T) {
	broken := Rule{ID: "rule-b", Ignoring: func(*Pass, *Ignoring) { panic("oh") }}
	if _, err := Run(context.Background(), load(t, nil), Options{Rules: []Rule{broken}}); err == nil || !strings.Contains(err.Error(), "rule-b") {
		t.Errorf("it gives %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, load(t, nil), Options{Rules: []Rule{says(nil)}}); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context gives %v", err)
	}
}

// Each comment is tried on each finding of its file, so that only so many count.
func TestManyIgnoresAreBounded(t *testing.T) {
	repo := load(t, map[string]string{"a.yaml": strings.Repeat("a: # fleetwright:ignore rule-b why\n", limits.Ignores+10)})
	ig := collect(repo, Options{})
	if n := len(ig.comments["a.yaml"]); n != limits.Ignores {
		t.Errorf("%d comments count, want %d", n, limits.Ignores)
	}
	last := ig.Decisions[len(ig.Decisions)-1]
	if len(ig.Decisions) != limits.Ignores+1 || !strings.Contains(last.Mistake, "more than 1000") {
		t.Errorf("of %d decisions the last is %+v; want it to tell that others don't count", len(ig.Decisions), last)
	}
}
