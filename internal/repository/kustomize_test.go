package repository

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/sourceignore"

	"github.com/fleetwright/fleetwright/internal/limits"
)

const kustomized = `-- app/kustomization.yaml --
resources: [a.yaml, ./sub/b.yaml, ../plain, https://example.com/x.yaml]
configMapgenerator:
  - name: x
    files: [values.yaml=helm.yaml]
patches:
  - path: patch.yaml
  - path: sub/b.yaml
  - patch: '[{op: remove}]'
    target: {kind: X}
transformers: [transform.yaml]
resources: [a.yaml, ./sub/b.yaml]
-- app/a.yaml --
-- app/sub/b.yaml --
-- app/patch.yaml --
-- app/helm.yaml --
-- app/transform.yaml --
-- app/unlisted.yaml --
-- plain/deep/x.yaml --
-- chart/Chart.yaml --
-- chart/templates/deployment.yaml --
-- component/kustomization.yml --
kind: Component
-- broken/Kustomization --
resources: {a: b}
`

func TestUse(t *testing.T) {
	r := inMemory(t, kustomized, Limits{})
	for file, want := range map[string]Use{
		"app/a.yaml": Resource, "app/sub/b.yaml": Resource, "app/patch.yaml": Patch, "app/helm.yaml": Input,
		"app/transform.yaml": Transformer, "app/unlisted.yaml": Unlisted, "plain/deep/x.yaml": Plain,
		"chart/templates/deployment.yaml": Chart,
	} {
		if got := r.Use(file); got != want {
			t.Errorf("Use(%q) = %d, want %d", file, got, want)
		}
	}
	if k, ok := r.KustomizeAt("component"); !ok || !k.Component || k.Err != nil {
		t.Errorf("the component is %+v", k)
	}
	if k, ok := r.KustomizeAt("broken"); !ok || k.Err == nil || k.Value == nil {
		t.Errorf("the broken kustomization is %+v", k)
	}
	if len(r.Kustomizes()) != 3 {
		t.Errorf("%d kustomizations, want 3", len(r.Kustomizes()))
	}
}

func TestJoin(t *testing.T) {
	for ref, want := range map[string]string{
		"a.yaml": "x/y/a.yaml", "../a": "x/a", "../../a": "a", "../../../a": "", "/a": "", "https://a/b": "", "": "", ".": "x/y",
	} {
		if got, ok := Join("x/y", ref); got != want || ok != (want != "") {
			t.Errorf("Join(%q) = %q, %v", ref, got, ok)
		}
	}
}

func TestClean(t *testing.T) {
	for at, want := range map[string]string{"": ".", "./": ".", "/": ".", "./apps/": "apps", "/apps": "apps", "../../apps": "apps", "apps/../../..": "."} {
		if got := Clean(at); got != want {
			t.Errorf("Clean(%q) = %q", at, got)
		}
	}
}

// TestIgnoreAgreesWithFlux compares with source-controller's own way: the patterns about
// version control, then those of the files, on each path; the defaults where there is no file.
func TestIgnoreAgreesWithFlux(t *testing.T) {
	ignores := map[string]string{
		".": "# comment\n\n*.bak.yaml\r\n/top.yaml\nbuild/\n!build/keep.yaml\ndocs/**/x.yaml\n**/deep/y.yaml\nall/**\n!all/a.yaml\n" +
			"a/b\nq?.yaml\n[rs].yaml\n\\#hash.yaml\nspace.yaml   \nfoo/*\n!foo/keep.yaml\n*.tmp.yaml\n!good.tmp.yaml\n!.github/\n[\n",
		"sub": "local.yaml\n!good.bak.yaml\n/anchored.yaml\n",
	}
	paths := strings.Fields(`x.bak.yaml top.yaml sub/top.yaml build/a.yaml sub/build/a.yaml build/keep.yaml build.yaml
		docs/x.yaml docs/a/b/x.yaml docs/a/y.yaml deep/y.yaml a/deep/y.yaml all/a.yaml all/b/c.yaml a/b/c.yaml z/a/b/c.yaml a/bc.yaml
		q1.yaml q12.yaml r.yaml t.yaml #hash.yaml space.yaml sub/local.yaml local.yaml sub/x/local.yaml sub/good.bak.yaml
		sub/anchored.yaml sub/x/anchored.yaml foo/a.yaml foo/keep.yaml foo/bar/keep.yaml z.tmp.yaml good.tmp.yaml sub/good.tmp.yaml
		.github/a.yaml x/.github/a.yaml .circleci/a.yaml .sops.yaml x/.sops.yaml a.png x/a.tar.gz .travis.yml x/cloudbuild.yaml .git/x`)
	patterns := sourceignore.VCSPatterns(nil)
	bare, all := newIgnore(), newIgnore()
	for _, dir := range []string{".", "sub"} {
		all.add(dir, []byte(ignores[dir]))
		domain := strings.Fields(strings.Trim(dir, "."))
		patterns = append(patterns, sourceignore.ReadPatterns(strings.NewReader(ignores[dir]), domain)...)
	}
	flux := sourceignore.NewMatcher(patterns)
	defaults := sourceignore.NewDefaultMatcher(nil, nil)
	for _, p := range paths {
		elements := strings.Split(p, "/")
		if got, want := all.matches(p), flux.Match(elements, false); got != want {
			t.Errorf("%s: ignored is %v, Flux says %v", p, got, want)
		}
		if got, want := all.matchesFolder(p), flux.Match(elements, true); got != want {
			t.Errorf("the folder %s: ignored is %v, Flux says %v", p, got, want)
		}
		if got, want := bare.matches(p), defaults.Match(elements, false); got != want {
			t.Errorf("%s: ignored by default is %v, Flux says %v", p, got, want)
		}
	}
}

func TestSourceIgnore(t *testing.T) {
	r := inMemory(t, "-- .sourceignore --\n/*\n!/kept\n-- kept/a.yaml --\napiVersion: v1\nkind: A\n-- b.yaml --\napiVersion: v1\nkind: B\n", Limits{})
	if len(r.ByKind("", "A")) != 1 || len(r.ByKind("", "B")) != 0 {
		t.Error("the .sourceignore is not honoured")
	}
	if f, ok := r.File("b.yaml"); !ok || !f.Excluded || len(f.Documents) != 1 {
		t.Errorf("the excluded file is %+v", f)
	}
}

// A later pattern takes files back from an ignored folder; a folder whose files are all
// left out is still there.
func TestSourceIgnoreTakesBack(t *testing.T) {
	r := inMemory(t, "-- .sourceignore --\nsecrets/\n!secrets/kept.yaml\n*.txt\n-- secrets/kept.yaml --\napiVersion: v1\nkind: A\n"+
		"-- secrets/other.yaml --\napiVersion: v1\nkind: B\n-- x/notes.txt --\n-- x/y/notes.txt --\n-- gone/secrets/a.yaml --\n", Limits{})
	if !r.Visible("secrets/kept.yaml") || r.Visible("secrets/other.yaml") {
		t.Error("the file is not taken back")
	}
	for dir, want := range map[string]string{".": ".sourceignore gone secrets x", "secrets": "kept.yaml", "x": "y", "x/y": "", "gone": ""} {
		if names, ok := r.ReadDir(dir); !ok || strings.Join(names, " ") != want {
			t.Errorf("%s holds %v, %v", dir, names, ok)
		}
	}
	if _, ok := r.ReadDir("gone/secrets"); ok {
		t.Error("the ignored folder is there")
	}
}

func TestIgnorePatternsAreBounded(t *testing.T) {
	i := newIgnore()
	i.add(".", []byte(strings.Repeat("**/", 2000)+"x\n"+strings.Repeat("a*/**/", 40)+"x\n"+strings.Repeat(strings.Repeat("a*/**/", 15)+"x\n", 10000)))
	if len(i.patterns) > limits.IgnorePatterns+i.control {
		t.Errorf("%d patterns are kept", len(i.patterns))
	}
	if i.exceeded() == nil || i.matches("ab/ab/x") {
		t.Errorf("beyond the limit the patterns count: %v", i.exceeded())
	}
	i = newIgnore()
	i.add(".", []byte(strings.Repeat("a*/**/x\n", limits.IgnorePatterns)))
	file, files := strings.Repeat("ab/", 30)+"x", 0
	for i.matches(file) && files < limits.IgnoreSteps {
		files++
	}
	if i.exceeded() == nil || files == 0 || files > limits.IgnoreSteps/limits.IgnorePatterns/30 {
		t.Errorf("%d files are compared with %d patterns: %v", files, limits.IgnorePatterns, i.exceeded())
	}
}
