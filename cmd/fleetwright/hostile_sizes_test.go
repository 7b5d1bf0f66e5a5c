//go:build hostile && unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// sizeBombs are many files, large ones, and much that is to be ignored.
func sizeBombs() []hostileCase {
	return []hostileCase{
		{name: "many small files", want: []string{"YAML and JSON files; up to 50000 are read: run the command on a part of the repository"}, make: func(t *testing.T, repo, _ string) {
			putFile(t, filepath.Join(repo, "clusters/one/ks.yaml"), []byte(fluxKs("app", "")))
			for i := range 60_000 {
				if i%1000 == 0 {
					putFile(t, filepath.Join(repo, fmt.Sprint("app/", i/1000), "kustomization.yaml"), []byte("resources: []\n"))
				}
				if err := os.WriteFile(filepath.Join(repo, fmt.Sprint("app/", i/1000), fmt.Sprint(i, ".yaml")), []byte(configMap(fmt.Sprint("a", i), "  b: c\n")), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}, status: 2},
		{name: "many large files", want: []string{"the YAML files before it reach the limit of 64.0 MB"}, make: func(t *testing.T, repo, _ string) {
			putFile(t, filepath.Join(repo, "clusters/one/ks.yaml"), []byte(fluxKs("app", "")))
			for i := range 25 {
				big(t, filepath.Join(repo, fmt.Sprintf("app/a%d.yaml", i)), configMap(fmt.Sprint("a", i), "  b: |\n"), "    "+strings.Repeat("x", 995)+"\n", 10_000)
			}
		}},
		{name: "many secret settings", want: []string{"the lines with settings that mention secrets exceed 1 MB"}, make: func(t *testing.T, repo, _ string) {
			putFile(t, filepath.Join(repo, "clusters/one/ks.yaml"), []byte(fluxKs("app", "")))
			line := "a_password = changeme-replace; auth=eyJ.eyJhbGci Bearer ${X} machine a token: abc \"auth\": \"x\"\n"
			for i := range 25 {
				big(t, filepath.Join(repo, fmt.Sprintf("app/a%d.conf", i)), "", line, 1<<20/len(line))
			}
		}},
		app("many ignores", map[string]string{
			"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: b\n  annotations:\n    fleetwright.dev/ignore: \"" + repeat(200_000, func(i int) string { return fmt.Sprintf("rule-%d: why; ", i) }) + "\"\n",
		}, "and 998 more here, which --verbose lists"),
	}
}

// gitPipes are repositories of git's with pipes among their files.
func gitPipes() []hostileCase {
	pipe := func(name string) hostileCase {
		return hostileCase{name: "a pipe as " + name, runs: []string{"diff --from HEAD", "validate", "validate --changed-since HEAD"}, status: 2, make: func(t *testing.T, repo, _ string) {
			files(map[string]string{
				"clusters/one/ks.yaml": fluxKs("app", ""), "app/a.yaml": configMap("a", "  b: c\n"),
				".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n", ".git/refs/heads/none": "", ".git/objects/info/none": "",
				".git/packed-refs": "# pack-refs with: peeled fully-peeled sorted\n",
			})(t, repo, "")
			at := filepath.Join(repo, name)
			if err := errors.Join(os.RemoveAll(at), os.MkdirAll(filepath.Dir(at), 0o755), unix.Mkfifo(at, 0o644)); err != nil {
				t.Fatal(err)
			}
		}}
	}
	var all []hostileCase
	for _, name := range []string{".git", ".git/config", ".git/HEAD", ".git/index", ".git/packed-refs", ".git/commondir", ".git/refs/heads/main", ".git/objects/info/alternates", ".git/shallow",
		".gitattributes", ".gitignore", ".sops.yaml", ".fleetwright.yaml"} {
		all = append(all, pipe(name))
	}
	return all
}
