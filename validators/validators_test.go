package validators

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

var update = flag.Bool("update", false, "write docs/rules and examples.tar.gz")

// domains are the first words that a rule's id may have.
var domains = []string{"bootstrap", "flux", "helm", "schema", "ownership", "graph", "sops", "secret", "tenant", "source", "audit", "ignore", "k0rdent", "kommander", "limit"}

func TestRulesAreDocumented(t *testing.T) {
	kebab := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`)
	seen := map[string]bool{}
	for _, r := range All() {
		domain, _, _ := strings.Cut(r.ID, "-")
		switch {
		case !kebab.MatchString(r.ID):
			t.Errorf("the id %q is not kebab-case", r.ID)
		case !slices.Contains(domains, domain):
			t.Errorf("the id %q starts with none of %v", r.ID, domains)
		case seen[r.ID]:
			t.Errorf("the id %q is taken twice", r.ID)
		case r.Title == "" || strings.HasSuffix(r.Title, ".") || r.Why == "" || r.Fix == "" || (r.Run == nil) == (r.Ignoring == nil):
			t.Errorf("%s lacks a title (without a full stop), why, fix or run", r.ID)
		}
		if _, err := finding.ParseSeverity(string(r.Severity)); err != nil {
			t.Errorf("%s: %v", r.ID, err)
		}
		seen[r.ID] = true
	}
}

func TestExamples(t *testing.T) {
	always, err := Select(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range All() {
		rules := slices.Clone(always)
		if r.Profile != "" {
			rules = append(rules, r)
		}
		examples, err := rule.ReadExamples(written(t), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			ruletest.Examples(t, r, examples, rules)
		})
	}
}

// written are the files with examples, as they are in the folders of the rules.
func written(t *testing.T) rule.Library {
	t.Helper()
	all, err := rule.ReadLibrary(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// pack returns the files as a compressed archive; the same files give the same bytes.
func pack(l rule.Library) ([]byte, error) {
	var packed bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	files := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(l)) {
		if err := files.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(l[name]))}); err != nil {
			return nil, err
		}
		if _, err := files.Write(l[name]); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(files.Close(), zipped.Close()); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// The executable has the examples of the folders.
func TestExamplesArePacked(t *testing.T) {
	same := func(a, b rule.Library) bool {
		return maps.EqualFunc(a, b, bytes.Equal)
	}
	want := written(t)
	if len(want) < len(All()) {
		t.Fatalf("there are %d files for %d rules", len(want), len(All()))
	}
	if got, err := library(); err == nil && same(got, want) {
		return
	}
	if !*update {
		t.Fatal("examples.tar.gz differs from the examples; run make docs")
	}
	data, err := pack(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := rule.Unpack(data); err != nil || !same(got, want) {
		t.Fatalf("the archive has other files: %v", err)
	}
	if err := os.WriteFile("examples.tar.gz", data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Every file of examples is of a rule, or other files extend it.
func TestExamplesAreUsed(t *testing.T) {
	var comments strings.Builder
	files := written(t)
	for _, data := range files {
		comments.Write(txtar.Parse(data).Comment)
	}
	extended := strings.Fields(comments.String())
	for f := range files {
		name := strings.TrimSuffix(path.Base(f), ".txtar")
		if _, ok := Find(name); !ok && !slices.Contains(extended, name) {
			t.Errorf("%s is of no rule, and no example extends it", f)
		}
	}
}

func TestExplain(t *testing.T) {
	r, ok := Find("schema-invalid")
	if !ok {
		t.Fatal("schema-invalid is not found")
	}
	var b strings.Builder
	if err := Explain(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"schema-invalid (error): a value", r.Why, r.Fix, "Bad:", "Good:", "    -- apps/podinfo.yaml --"} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("the explanation lacks %q", part)
		}
	}
	if _, ok := Find("schema-nothing"); ok {
		t.Error("a rule that doesn't exist is found")
	}
}

func TestSelect(t *testing.T) {
	for _, c := range []struct {
		ids  []string
		want string
	}{
		{[]string{"schema-*"}, "schema-api-removed schema-cel-violation schema-invalid schema-missing schema-unknown-field"},
		{[]string{"schema-unknown-field", "schema-invalid", "schema-*"}, "schema-api-removed schema-cel-violation schema-invalid schema-missing schema-unknown-field"},
		{[]string{"schema-invalid"}, "schema-invalid"},
	} {
		rules, err := Select(c.ids)
		if got := strings.Join(idsOf(rules), " "); err != nil || got != c.want {
			t.Errorf("Select(%v) = %s, %v; want %s", c.ids, got, err, c.want)
		}
	}
	always, err := Select(nil)
	if err != nil || len(always) == 0 || slices.ContainsFunc(always, func(r rule.Rule) bool { return r.Profile != "" }) {
		t.Errorf("no ids select %v, %v", idsOf(always), err)
	}
	if rules, err := Select(nil, Profiles()...); err != nil || len(rules) != len(All()) || len(rules) == len(always) {
		t.Errorf("all profiles select %d rules, %v", len(rules), err)
	}
	if rules, err := Select([]string{"schema-invalid", "source-unverified"}); err != nil || len(rules) != 2 {
		t.Errorf("a rule of a profile is not selected by its id: %v, %v", idsOf(rules), err)
	}
	if _, err := Select(nil, "nothing"); err == nil || !strings.Contains(err.Error(), `"nothing"`) {
		t.Errorf("a profile that isn't there gives %v", err)
	}
	if _, err := Select([]string{"schema-invalid", "nothing"}); err == nil || !strings.Contains(err.Error(), `"nothing"`) {
		t.Errorf("an id that selects nothing gives %v", err)
	}
}

const mixed = `-- a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {b: 1}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: a, namespace: b}
spec: {interval: '${I}', prune: true, path: ./x, sourceRef: {kind: GitRepository, name: a}, waits: true}
-- notes.yaml --
just: text
-- chart/Chart.yaml --
name: x
-- chart/templates/x.yaml --
apiVersion: v1
kind: Nothing
`

func TestRun(t *testing.T) {
	repo := ruletest.Load(t, mixed)
	first, err := Run(context.Background(), repo, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c := first.Summary.Coverage; c == nil || c.Kustomizations.Found != 1 || c.Kustomizations.Built != 0 || len(c.Unreached) != 1 {
		t.Errorf("the coverage is %+v, want 0 of 1 Kustomization", c)
	}
	want := finding.Summary{Files: 1, Documents: 2, Clusters: 1, Kustomizations: 1, Errors: 5, Warnings: 1, Coverage: first.Summary.Coverage}
	if first.Summary != want {
		t.Errorf("the summary is %+v, want %+v", first.Summary, want)
	}
	if len(first.Unresolved) != 3 || first.Unresolved[0].File != "a.yaml" {
		t.Errorf("unresolved are %v, want three", first.Unresolved)
	}
	var text bytes.Buffer
	if err := finding.WriteJSON(&text, first); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := Run(context.Background(), repo, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var other bytes.Buffer
		if err := finding.WriteJSON(&other, again); err != nil || other.String() != text.String() {
			t.Errorf("the same repository gives another report:\n%s\n%s", text.String(), other.String())
		}
	}
}

func TestRunTellsOfABrokenRuleAndAnEndedContext(t *testing.T) {
	repo := ruletest.Load(t, mixed)
	broken := rule.Rule{ID: "schema-broken", Run: func(*rule.Pass) { panic("oh") }}
	if _, err := Run(context.Background(), repo, Options{Rules: []rule.Rule{broken}}); err == nil ||
		!strings.Contains(err.Error(), "schema-broken") {
		t.Errorf("a rule that panics gives %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, repo, Options{}); err == nil {
		t.Error("an ended context gives no error")
	}
}

func TestRunOnNothing(t *testing.T) {
	report, err := Run(context.Background(), ruletest.Load(t, "-- notes.yaml --\njust: text\n"), Options{})
	if err != nil || !report.Empty() {
		t.Errorf("a repository without objects is not empty: %+v, %v", report, err)
	}
}
