//go:build hostile && unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// references are the fields of a kustomization that name files or folders; REF stands for the
// reference, in quotes.
var references = map[string]string{
	"resources":  "resources: [../a.yaml, REF]\n",
	"only":       "resources: [REF]\n",
	"bases":      "bases: [REF]\n",
	"components": "resources: [../a.yaml]\ncomponents: [REF]\n",
	"patches":    "resources: [../a.yaml]\npatches: [{path: REF}]\n",
	"targeted":   "resources: [../a.yaml]\npatches: [{path: REF, target: {kind: ConfigMap}}]\n",
	"strategic":  "resources: [../a.yaml]\npatchesStrategicMerge: [REF]\n",
	"json6902":   "resources: [../a.yaml]\npatchesJson6902: [{path: REF, target: {version: v1, kind: ConfigMap, name: a}}]\n",
	"replace":    "resources: [../a.yaml]\nreplacements: [{path: REF}]\n",
	"generators": "generators: [REF]\n",
	"transform":  "resources: [../a.yaml]\ntransformers: [REF]\n",
	"validate":   "resources: [../a.yaml]\nvalidators: [REF]\n",
	"files":      "configMapGenerator: [{name: g, files: [REF]}]\n",
	"envs":       "configMapGenerator: [{name: g, envs: [REF]}]\n",
	"env":        "configMapGenerator: [{name: g, env: REF}]\n",
	"secret":     "secretGenerator: [{name: g, files: [REF], envs: [REF]}]\n",
	"openapi":    "resources: [../a.yaml]\nopenapi: {path: REF}\n",
	"crds":       "resources: [../a.yaml]\ncrds: [REF]\n",
	"configure":  "resources: [../a.yaml]\nconfigurations: [REF]\n",
	"charts":     "helmCharts: [{name: c, repo: REF, valuesFile: REF, additionalValuesFiles: [REF]}]\nhelmGlobals: {chartHome: REF, configHome: REF}\n",
	"inflate":    "helmChartInflationGenerator: [{chartName: c, chartRepoUrl: REF, values: REF, chartHome: REF}]\n",
	"inline": "resources: [../a.yaml]\ngenerators:\n  - |\n    apiVersion: builtin\n    kind: ConfigMapGenerator\n    metadata: {name: i}\n    name: i\n    files: [REF]\n    envs: [REF]\n" +
		"transformers:\n  - |\n    apiVersion: builtin\n    kind: PatchTransformer\n    metadata: {name: p}\n    path: REF\n" +
		"  - |\n    apiVersion: builtin\n    kind: PatchStrategicMergeTransformer\n    metadata: {name: s}\n    paths: [REF]\n" +
		"  - |\n    apiVersion: builtin\n    kind: ReplacementTransformer\n    metadata: {name: r}\n    replacements: [{path: REF}]\n",
}

// refer writes, for each address, a Kustomization of each field that names it; a prefix such
// as a generator's key may stand before it.
func refer(t *testing.T, repo string, addresses []string) {
	t.Helper()
	var all strings.Builder
	put := func(name, content string) { putFile(t, filepath.Join(repo, name), []byte(content)) }
	for n, address := range addresses {
		dir := fmt.Sprint("r", n)
		put(dir+"/a.yaml", configMap("a", "  b: c\n"))
		for field, text := range references {
			all.WriteString(strings.Replace(fluxKs(dir+"/"+field, ""), "name: "+dir+"/"+field, "name: "+dir+"-"+field, 1))
			put(dir+"/"+field+"/kustomization.yaml", strings.ReplaceAll(text, "REF", fmt.Sprintf("%q", address)))
		}
		quoted := fmt.Sprintf("%q", address)
		put(dir+"/keyed/kustomization.yaml", fmt.Sprintf("configMapGenerator: [{name: g, files: [%q]}]\n", "key="+address))
		put(dir+"/file/kustomization.yaml", "generators: [g.yaml]\ntransformers: [folder]\n")
		put(dir+"/file/g.yaml", "apiVersion: builtin\nkind: SecretGenerator\nmetadata: {name: i}\nname: i\nfiles: ["+quoted+", \"k="+address+"\"]\n")
		put(dir+"/file/folder/kustomization.yaml", "resources: [t.yaml]\n")
		put(dir+"/file/folder/t.yaml", "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: p}\npath: "+quoted+"\n")
		put(dir+"/nested/kustomization.yaml", "resources: [../resources, ../file]\ncomponents: [../components]\n")
		for _, name := range []string{"keyed", "file", "nested"} {
			all.WriteString(strings.Replace(fluxKs(dir+"/"+name, ""), "name: "+dir+"/"+name, "name: "+dir+"-"+name, 1))
		}
		// Flux's own fields.
		all.WriteString(strings.Replace(fluxKs(dir, "  components: ["+quoted+"]\n  patches: [{patch: "+quoted+", target: {kind: ConfigMap}}]\n"), "name: "+dir, "name: "+dir+"-component", 1))
		all.WriteString(strings.NewReplacer("name: "+dir, "name: "+dir+"-path", "path: ./"+dir, "path: "+quoted).Replace(fluxKs(dir, "")))
	}
	put("clusters/one/ks.yaml", all.String())
}

// remote are addresses in all the spellings that kustomize fetches, and some that it may.
var remote = []string{
	"https://127.0.0.1:9/x//y?ref=v1", "http://127.0.0.1:9/cm.yaml", "HTTPS://127.0.0.1:9/cm.yaml", "hTTp://127.0.0.1:9/cm.yaml",
	"git::https://127.0.0.1:9/o/r.git", "git::ssh://git@127.0.0.1/o/r", "git::git@127.0.0.1:o/r", "GIT::https://127.0.0.1:9/o/r",
	"git::http://127.0.0.1:9/o/r//x?ref=main&submodules=0", "ssh://git@127.0.0.1:9/o/r.git//x", "ssh://127.0.0.1/o/r",
	"git@127.0.0.1:o/r", "git@127.0.0.1:o/r.git//x?ref=v1", "git@127.0.0.1/o/r", "org-1234@127.0.0.1:o/r", "user@127.0.0.1:~/r",
	"github.com/o/r", "github.com/o/r//x?ref=v1", "github.com:o/r", "GitHub.com/o/r.git", "git::github.com/o/r", "gh:o/r",
	"file:///srv/r", "file:///srv/r.git//x", "FILE:///srv/r", "git::file:///srv/r", "https://127.0.0.1:9/o/r/_git/x",
	"https://git-codecommit.us-east-1.amazonaws.com/v1/repos/r", "127.0.0.1/o/r.git//x", "https://user:pass@127.0.0.1:9/o/r",
	"https://127.0.0.1:9/x\t.yaml", " https://127.0.0.1:9/x", "./https://127.0.0.1:9/x", "s3::https://127.0.0.1:9/b/x.zip",
	"hg::http://127.0.0.1:9/x", "oci://127.0.0.1:9/x", "//127.0.0.1/x", `\\127.0.0.1\x`,
}

// hostileReferences lead out of the repository.
func hostileReferences() []hostileCase {
	all := []hostileCase{
		{
			name: "addresses in every field",
			make: func(t *testing.T, repo, _ string) { refer(t, repo, remote[:len(remote)/2]) },
			want: []string{"flux-remote-base", "reads from the network"},
		},
		{
			name: "more addresses in every field",
			make: func(t *testing.T, repo, _ string) { refer(t, repo, remote[len(remote)/2:]) },
			want: []string{"flux-remote-base", "reads from the network"},
		},
		{
			name: "paths out of the repository in every field",
			make: func(t *testing.T, repo, outside string) {
				refer(t, repo, []string{
					"../../../outside", "../../../outside/secret.yaml", "../../../../../../../../../../../../etc/passwd", outside, outside + "/secret.yaml",
					"/etc/passwd", "x/../../../../outside/secret.yaml", "../../../repository/../outside/secret.yaml", "../../../outside/sub/secret.yaml",
					`..\..\..\outside\secret.yaml`, "%2e%2e/%2e%2e/%2e%2e/outside/secret.yaml", "~/.ssh/id_rsa", "/proc/self/environ", "/dev/stdin", "../../../outside/secret.env",
				})
			},
		},
		{
			name: "links out of the repository in every field",
			make: func(t *testing.T, repo, outside string) {
				refer(t, repo, []string{"../../link", "../../link/secret.yaml", "../../chain/secret.yaml", "../../file.yaml", "../../env", "../../loop", "../../loop/x", "../../root/etc/passwd", "../../up/outside/secret.yaml"})
				for name, target := range map[string]string{
					"link": outside, "chain": "link", "file.yaml": "../outside/secret.yaml", "env": outside + "/secret.env", "loop": "loop", "root": "/", "up": "..",
					"clusters/two": outside, "clusters/one/linked.yaml": "../../../outside/secret.yaml", "r0/passwd.yaml": "/etc/passwd",
					".sourceignore": outside + "/secret.env", "schemas": outside, "charts": outside,
				} {
					if err := os.MkdirAll(filepath.Dir(filepath.Join(repo, name)), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.Symlink(target, filepath.Join(repo, name)); err != nil {
						t.Fatal(err)
					}
				}
			},
		},
		{
			name: "a configuration that is a link out",
			make: func(t *testing.T, repo, outside string) {
				files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", "")})(t, repo, outside)
				if err := os.Symlink(outside+"/secret.yaml", filepath.Join(repo, ".fleetwright.yaml")); err != nil {
					t.Fatal(err)
				}
			},
			status: 2,
		},
	}
	for _, setting := range []string{"baseline: ../outside/secret.yaml", "baseline: OUTSIDE/secret.yaml", "baseline: link", "roots: [../outside]", "roots: [OUTSIDE]", "schemas: [../outside]", "sources: {flux-system/other: ../outside}"} {
		all = append(all, hostileCase{
			name: "a configuration with " + setting,
			make: func(t *testing.T, repo, outside string) {
				files(map[string]string{
					"clusters/one/ks.yaml": fluxKs("app", "") + strings.Replace(fluxKs("other", ""), "name: flux-system\n", "name: other\n", 1),
					".fleetwright.yaml":    "apiVersion: fleetwright.dev/v1alpha1\nkind: ValidateFleet\nmetadata: {name: x}\nspec: {" + strings.ReplaceAll(setting, "OUTSIDE", outside) + "}\n",
				})(t, repo, outside)
				if err := os.Symlink(outside+"/secret.yaml", filepath.Join(repo, "link")); err != nil {
					t.Fatal(err)
				}
			},
			status: 2,
		})
	}
	return all
}
