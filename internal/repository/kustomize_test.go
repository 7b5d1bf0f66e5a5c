package repository

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

// TestIgnoreAgreesWithGit asks git what a .gitignore of the same content
// ignores.
func TestIgnoreAgreesWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not on PATH")
	}
	ignores := map[string]string{
		".": "# comment\n\n*.bak.yaml\n/top.yaml\nbuild/\n!build/keep.yaml\ndocs/**/x.yaml\n**/deep/y.yaml\nall/**\n!all/a.yaml\n" +
			"a/b\nq?.yaml\n[rs].yaml\n\\#hash.yaml\nspace.yaml   \nfoo/*\n!foo/keep.yaml\n*.tmp.yaml\n!good.tmp.yaml\n",
		"sub": "local.yaml\n!good.bak.yaml\n/anchored.yaml\n",
	}
	paths := strings.Fields(`x.bak.yaml top.yaml sub/top.yaml build/a.yaml sub/build/a.yaml build/keep.yaml build.yaml
		docs/x.yaml docs/a/b/x.yaml docs/a/y.yaml deep/y.yaml a/deep/y.yaml all/a.yaml all/b/c.yaml a/b/c.yaml z/a/b/c.yaml a/bc.yaml
		q1.yaml q12.yaml r.yaml t.yaml #hash.yaml space.yaml sub/local.yaml local.yaml sub/x/local.yaml sub/good.bak.yaml
		sub/anchored.yaml sub/x/anchored.yaml foo/a.yaml foo/keep.yaml foo/bar/keep.yaml z.tmp.yaml good.tmp.yaml sub/good.tmp.yaml`)
	dir := t.TempDir()
	if out, err := exec.Command(git, "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	i := &ignore{folders: map[string]bool{}}
	for _, d := range []string{".", "sub"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, d, ".gitignore"), []byte(ignores[d]), 0o644); err != nil {
			t.Fatal(err)
		}
		i.add(d, []byte(ignores[d]))
	}
	for _, p := range paths {
		cmd := exec.Command(git, "check-ignore", "-q", "--no-index", p)
		cmd.Dir = dir
		want := cmd.Run() == nil
		if got := i.matches(p); got != want {
			t.Errorf("%s: ignored is %v, git says %v", p, got, want)
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

func TestIgnorePatternsAreBounded(t *testing.T) {
	i := newIgnore()
	i.add(".", []byte(strings.Repeat("**/", 2000)+"x\n"+strings.Repeat("a*/**/", 40)+"x\n"+strings.Repeat(strings.Repeat("a*/**/", 15)+"x\n", 10000)))
	if len(i.patterns) > mostPatterns {
		t.Errorf("%d patterns are kept", len(i.patterns))
	}
	start := time.Now()
	for n := range 10_000 {
		i.matches(strings.Repeat("ab/", 30) + fmt.Sprint(n))
	}
	if took := time.Since(start); took > 30*time.Second || i.steps > 2*mostSteps {
		t.Errorf("10,000 files took %s, %d steps", took, i.steps)
	}
}
