package reconcile

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	fluxkustomize "github.com/fluxcd/pkg/kustomize"
	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resource"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// FuzzKustomization reconciles a repository with a hostile kustomization: no panic, no
// fetching, an end in time, and twice the same.
func FuzzKustomization(f *testing.F) {
	forbidFetching(f)
	f.Add([]byte("resources: [a.yaml, ../base]\nnamePrefix: x-\n"))
	f.Add([]byte("resources: [https://example.com/x, git@github.com:o/r, ../../out, .]\n"))
	addCases(f, repository.IsKustomization)
	f.Fuzz(func(t *testing.T, data []byte) {
		twice(t, map[string]string{
			"cluster/ks.yaml":         fluxKustomization,
			"app/kustomization.yaml":  string(data),
			"app/a.yaml":              object,
			"app/merge.yaml":          object,
			"app/one.env":             "A=b\n",
			"app/file.txt":            "text\n",
			"base/kustomization.yaml": "resources: [b.yaml]\n",
			"base/b.yaml":             strings.ReplaceAll(object, "name: a", "name: b"),
			"part/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nnamePrefix: part-\n",
		})
	})
}

// FuzzObjects does the same with hostile objects, among them Kustomizations of Flux's.
func FuzzObjects(f *testing.F) {
	forbidFetching(f)
	f.Add([]byte(fluxKustomization))
	addCases(f, func(name string) bool { return !repository.IsKustomization(name) && strings.HasSuffix(name, ".yaml") })
	f.Fuzz(func(t *testing.T, data []byte) {
		twice(t, map[string]string{
			"cluster/ks.yaml":      fluxKustomization,
			"cluster/hostile.yaml": string(data),
			"app/a.yaml":           string(data),
			"styles/a.yaml":        object,
			"part/one/k.yaml":      object,
		})
	})
}

// FuzzSubstitute compares the substitution of variables with Flux's own.
func FuzzSubstitute(f *testing.F) {
	for _, text := range []string{
		"${A}", "$A", "$${A}", "${A:-x}", "${ABSENT}", "${ABSENT:=y}", "${A^^}", "${A/o/0}", "${#A}", "${A:1:2}", "${A", "${A%%e}",
		"a: ${A}", "${B:-${A}}", "$", "${}", "${A//n/$B}", "\u0085", "9007199254740993", "[${A}]", ">\n  a\n    b\n",
		"x${A}", "https://${A}.${B}:80/", "a: b ${A}", "${A} ${B}", "- ${A}", "${A}:", "|\n  x ${A}\n  ${B}\n", "'${A}'", "a ${A} # b", "{a: [{b: '{${A}}'}]}",
		"$$A $$", "${A=n} ${A-n} ${A,,} ${A#*/} ${A/#o/x} ${A/%e/x}", "$(A)", "cost $5", "^(a|b)$",
	} {
		f.Add(text, "one", true)
		f.Add(text, "x: [", false)
	}
	f.Fuzz(func(t *testing.T, text, value string, quoted bool) {
		if len(text) > 1000 || len(value) > 1000 {
			return // what is too large is no matter of equality
		}
		if quoted {
			quotedText, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			text = string(quotedText)
		}
		resources, err := parseObjects("apiVersion: v1\nkind: Sample\nmetadata:\n  name: x\nspec: " + text + "\n")
		if err != nil || len(resources) != 1 {
			return
		}
		compareSubstitution(t, resources[0], map[string]string{"A": value, "B": "two"})
	})
}

func compareSubstitution(t *testing.T, r *resource.Resource, substitute map[string]string) {
	t.Helper()
	data, err := r.AsYAML()
	if err != nil {
		return
	}
	repo, err := repository.FromFiles(maps.All(map[string][]byte{"a/x.yaml": data}), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	files := &builds.Files{Repo: repo, Base: ".", Budget: builds.NewBudget(repo)}
	k := &Kustomization{Repo: repo, Spec: kustomizev1.KustomizationSpec{PostBuild: &kustomizev1.PostBuild{Substitute: substitute}}}
	built := files.Build(t.Context(), "a", &k.Spec)
	if len(built.Results) != 1 {
		return
	}
	o := newObject(k, built.Results[0])
	vars := variablesOf(k)
	_, err = vars.substitute(built.Results[0], o, false, limits.Growth, vars.misnamed())
	var limit *builds.LimitError
	if errors.As(err, &limit) {
		return
	}
	for _, v := range vars {
		if v.Undefined && err == nil {
			err = fmt.Errorf("%s is undefined", v.Name)
		}
	}
	values := map[string]any{}
	for name, value := range substitute {
		values[name] = value
	}
	ks := unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"postBuild": map[string]any{"substitute": values}}}}
	theirs, failed := fluxkustomize.SubstituteVariables(t.Context(), nil, ks, r,
		fluxkustomize.SubstituteWithDryRun(true), fluxkustomize.SubstituteWithStrict(true))
	if (err != nil) != (failed != nil) {
		t.Fatalf("%v, and Flux says %v", err, failed)
	}
	if err != nil || theirs == nil {
		return
	}
	want, failed := builds.ValueOf(&theirs.RNode)
	if failed != nil || !reflect.DeepEqual(o.Value, want) {
		t.Errorf("%#v\nFlux has (%v)\n%#v", o.Value, failed, want)
	}
}

// parseObjects parses objects as kustomize does, which panics on some texts.
func parseObjects(text string) (resources []*resource.Resource, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return provider.NewDefaultDepProvider().GetResourceFactory().SliceFromBytes([]byte(text))
}

const (
	object            = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  key: ${A}\n"
	fluxKustomization = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: app\n  namespace: flux-system\n" +
		"spec:\n  path: ./app\n  interval: 1h\n  prune: true\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n" +
		"  postBuild:\n    substitute: {A: b}\n    substituteFrom: [{kind: ConfigMap, name: a}]\n"
)

// addCases adds files of the cases in testdata/builds.
func addCases(f *testing.F, use func(name string) bool) {
	f.Helper()
	cases, err := filepath.Glob("../../testdata/builds/*.txtar")
	if err != nil || len(cases) == 0 {
		f.Fatal("no cases", err)
	}
	for _, file := range cases {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if use(file.Name) {
				f.Add(file.Data)
			}
		}
	}
}

// fetched is the first address that was asked for.
var fetched atomic.Pointer[string]

// forbidFetching leaves no network, and a git on PATH that leaves a mark when it is started.
func forbidFetching(f *testing.F) {
	f.Helper()
	bin := f.TempDir()
	script := "#!/bin/sh\n: > " + filepath.Join(bin, "started") + "\nexit 1\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Setenv("PATH", bin)
	before := http.DefaultTransport
	http.DefaultTransport = refusing{}
	f.Cleanup(func() { http.DefaultTransport = before })
}

// checkFetched fails the test when anything was fetched.
func checkFetched(t *testing.T) {
	t.Helper()
	if address := fetched.Load(); address != nil {
		t.Errorf("%s was fetched", *address)
	}
	if _, err := os.Stat(filepath.Join(os.Getenv("PATH"), "started")); err == nil {
		t.Error("git was started")
	}
}

type refusing struct{}

func (refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	address := r.URL.String()
	fetched.Store(&address)
	return nil, errors.New("there is no network")
}

// twice reconciles files two times.
func twice(t *testing.T, files map[string]string) {
	t.Helper()
	first := told(t, files)
	checkFetched(t)
	if second := told(t, files); first != second {
		t.Fatalf("first\n%s\nthen\n%s", first, second)
	}
}

// told is all that a reconciliation gives, in words.
func told(t *testing.T, files map[string]string) string {
	t.Helper()
	content := map[string][]byte{}
	for name, text := range files {
		content[name] = []byte(text)
	}
	repo, err := repository.FromFiles(maps.All(content), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fleet, err := Reconcile(t.Context(), repo, Options{Roots: []string{"cluster"}})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, c := range fleet.Clusters {
		for _, k := range c.Kustomizations {
			for _, f := range append(slices.Clone(k.More), deref(k.Failure)) {
				fmt.Fprintln(&out, c.Name, k, deref(f.Added))
				f.Added = nil
				fmt.Fprintln(&out, f)
			}
			fmt.Fprintln(&out, c.Name, k, k.Gaps, k.Files)
			for _, o := range k.Objects {
				value, err := json.Marshal(o.Value)
				if err != nil {
					t.Fatalf("%s: %v", o, err)
				}
				fmt.Fprintf(&out, "  %s %s:%d %s\n", o, o.File, o.Line, value)
			}
		}
	}
	return out.String()
}

// deref is what a pointer points to, the zero value for nil.
func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
