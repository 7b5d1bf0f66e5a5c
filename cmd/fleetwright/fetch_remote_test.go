package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/testpeer"
)

// The remote entries of kustomizations are fetched once, locked, and built offline as kustomize builds them.
func TestFetchRemoteBases(t *testing.T) {
	f := newFetchCase(t)
	file := func(name, text string) string {
		f.Answer("/files/"+name, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) })
		return f.URL + "/files/" + name
	}
	inner, innerAt := f.Git(t, "inner")
	inner.Commit(map[string]string{"deploy/kustomization.yaml": "resources: [a.yaml]\nnamePrefix: inner-\n", "deploy/a.yaml": textMap("inner", "inner text")})
	base, baseAt := f.Git(t, "base")
	base.Commit(map[string]string{
		"deploy/kustomization.yaml": fmt.Sprintf("resources: [../shared, %q]\n", innerAt+"//deploy"),
		"shared/kustomization.yaml": "resources: [a.yaml]\n", "shared/a.yaml": textMap("base", "base text"),
		"parts/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {part: added}\n",
	})
	base.Run("tag", "v1.0.0")
	f.put("clusters/prod/app/kustomization.yaml", fmt.Sprintf(`apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: apps
resources:
- %q
- %q
components: [%q]
configMapGenerator:
- name: generated
  files: [key.txt=%s]
  options: {disableNameSuffixHash: true}
patches:
- path: %s
`, baseAt+"//deploy?ref=v1.0.0", file("one.yaml", textMap("one", "file text")), baseAt+"//parts?ref=v1.0.0",
		file("text", "generated text"), file("patch.yaml", textMap("base", "patched text"))))

	f.want(0, []string{`is not fetched; run fleetwright fetch`}, "build", f.dir)
	f.want(0, []string{"0 charts and 4 sources: 4 not locked", "ref v1.0.0", "the file"}, "fetch", "--dry-run", f.dir)
	f.want(0, []string{"0 charts and 5 sources: 5 fetched"}, "fetch", f.dir)
	lock := f.lock()
	f.want(0, []string{"0 charts and 5 sources: 5 cached"}, "fetch", f.dir)
	f.want(0, nil, "fetch", "--check", f.dir)
	requests := f.Requests("")
	built := f.want(0, []string{"text: inner text", "text: patched text", "text: file text", "key.txt: generated text", "part: added"}, "build", f.dir)
	if strings.Contains(built, "unresolved") || f.Requests("") > requests || f.lock() != lock {
		t.Errorf("%d requests; built:\n%s\nthe lock is\n%s", f.Requests("")-requests, built, f.lock())
	}
	place := strings.TrimPrefix(baseAt, "http://") + "@v1.0.0/shared/a.yaml"
	f.want(0, []string{`"file":"` + place + `"`}, "build", "--format", "json", f.dir)
	out := f.want(0, []string{"1 of 1 Kustomization built", "clusters/prod/app/kustomization.yaml:5:3: warning: a kustomization reads from the network"}, "validate", "--coverage", f.dir)
	if strings.Contains(out, "is not fetched") {
		t.Errorf("validate says:\n%s", out)
	}

	kustomize := testpeer.Command{Tool: "kustomize", Args: []string{"build", filepath.Join(f.dir, "clusters/prod/app")},
		Reads: []string{filepath.Join(f.dir, "clusters/prod/app")}, Places: map[string]string{f.URL: "server"}}
	for document := range strings.SplitSeq(kustomize.Output(t), "---\n") {
		if !strings.Contains(built, strings.TrimSpace(document)) {
			t.Errorf("kustomize builds\n%s\nand not\n%s", document, built)
		}
	}

	// What is locked and not in the cache is said so; a file that changed is refused.
	kept := f.cache
	f.cache = t.TempDir()
	f.want(0, []string{"is locked, but not in the cache; run fleetwright fetch"}, "build", f.dir)
	file("one.yaml", textMap("one", "other text"))
	f.want(1, []string{"the lock has sha256:", "hint: somebody moved the tag or replaced the content", "--update=one.yaml"}, "fetch", f.dir)
	f.cache = kept
	f.want(0, []string{"→"}, "fetch", "--update=one.yaml", f.dir)
	f.want(0, []string{"text: other text"}, "build", f.dir)
}

// What is fetched may list itself or lead out, and an entry may be one that nothing is fetched for.
func TestFetchRemoteBasesThatFail(t *testing.T) {
	f := newFetchCase(t)
	f.put("secret/kustomization.yaml", "resources: [a.yaml]\n")
	f.put("secret/a.yaml", textMap("secret", "own text"))
	base, baseAt := f.Git(t, "base")
	base.Commit(map[string]string{
		"itself/kustomization.yaml": fmt.Sprintf("resources: [%q]\n", baseAt+"//itself"),
		"out/kustomization.yaml":    "resources: [../../../../secret]\n",
	})
	list := func(refs ...string) {
		text := "resources:\n"
		for _, ref := range refs {
			text += fmt.Sprintf("- %q\n", ref)
		}
		f.put("clusters/prod/app/kustomization.yaml", text)
	}
	name := strings.TrimPrefix(baseAt, "http://") + "@HEAD"
	for path, want := range map[string]string{
		"itself": "cycle detected",
		"out":    `"../../../../secret" is outside the repository`,
		"absent": fmt.Sprintf("resources: %q doesn't exist", name+"/absent"),
	} {
		list(baseAt + "//" + path)
		f.want(0, []string{"0 charts and 1 source: 1 "}, "fetch", f.dir)
		f.want(1, []string{want}, "validate", f.dir)
		out := f.want(1, nil, "build", f.dir)
		if strings.Contains(out, "own text") || strings.Contains(out, ".fleetwright/fetched") {
			t.Errorf("%s: built\n%s", path, out)
		}
	}
	list("https://user:password@example.org/org/repo", "https://user:password@example.org/org/repo//x?ref=${REF:=password}")
	out := f.want(1, []string{"clusters/prod/app/kustomization.yaml:2:1: an entry under resources of Kustomization flux-system/flux-system is not fetched: the address contains credentials"}, "fetch", f.dir)
	if strings.Contains(out, "password@") || strings.Contains(out, "=password") {
		t.Errorf("fetch says\n%s", out)
	}
}
