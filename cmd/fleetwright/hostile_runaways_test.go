//go:build hostile && unix

package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// strangersRunaways are repositories in which a unit of work with a stranger's names exceeds a bound, by the unit's
// kind, each with the command lines that name it.
func strangersRunaways(stranger string) map[string]struct {
	files map[string]string
	lines []string
} {
	// What kustomize can build has no control characters but line breaks in its values.
	plain := strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return plainRune(r)
	}, stranger)
	q, file, folder := strconv.QuoteToASCII(plain), fileName(stranger), fileName(plain)
	const forever = "{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}\n"
	cluster := "clusters/" + file + "/"
	chart := map[string]string{"Chart.yaml": "apiVersion: v2\nname: " + q + "\nversion: 1.0.0\n", "templates/" + file + ".yaml": forever}
	release := map[string]string{
		cluster + "ks.yaml": strings.Replace(fluxKs("app", ""), "name: app\n", "name: "+q+"\n", 1) +
			"---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: " + q + ", namespace: " + q + "}\nspec:\n  interval: 1h\n  releaseName: a\n" +
			"  chart: {spec: {chart: " + strconv.QuoteToASCII("./charts/"+folder) + ", sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}\n",
		"app/a.yaml": configMap("a", "  b: c\n"),
	}
	for name, text := range chart {
		release["charts/"+folder+"/"+name] = text
	}
	return map[string]struct {
		files map[string]string
		lines []string
	}{
		"a release": {release, []string{"validate", "validate --format github", "build", "diff --from HEAD"}},
		"a build": {map[string]string{
			cluster + "ks.yaml":                 strings.Replace(fluxKs("app", ""), "./app", strconv.QuoteToASCII("./"+folder), 1),
			folder + "/" + folder + ".yaml":     "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nlist: [" + strings.Repeat("1,", 200_000) + "]\n",
			folder + "/p.yaml":                  strings.Repeat("- {op: add, path: /list/0, value: 1}\n", 20_000),
			folder + "/kustomization.yaml":      "resources: [" + strconv.QuoteToASCII(folder+".yaml") + "]\npatches: [{path: p.yaml, target: {name: a}}]\n",
			"clusters/" + file + "2/apps.yaml":  strings.Replace(fluxKs("app", ""), "./app", strconv.QuoteToASCII("./"+folder), 1),
			"clusters/" + file + "2/other.yaml": configMap("a", "  b: c\n"),
		}, []string{"validate", "build"}},
		"a schema": {map[string]string{
			cluster + "ks.yaml": fluxKs("app", ""),
			"app/" + file + ".yaml": strings.ReplaceAll(defined("Foo", "{type: object, x-kubernetes-validations: [{rule: \"size([1]"+strings.Repeat(".map(x, {x: x})", 30)+") > 0\"}]}"),
				"metadata: {name: a, namespace: default}", "metadata: {name: "+q+", namespace: "+q+"}"),
		}, []string{"validate", "validate --format github"}},
		"a bootstrap": {map[string]string{
			"boot/" + file + "/helmfile.yaml.gotmpl": "releases:\n- {name: " + q + ", namespace: a, chart: a/a}\n" + forever,
			cluster + "ks.yaml":                      fluxKs("app", ""), "app/a.yaml": configMap("a", "  b: c\n"),
		}, []string{"validate", "bootstrap verify", "bootstrap plan"}},
	}
}

// TestRunawaysSteerNothing: where a unit of work exceeds a bound, and the process starts again and names it, nothing of
// the unit's names steers a terminal or a build.
func TestRunawaysSteerNothing(t *testing.T) {
	binary := builtCommand(t)
	turns := make(chan struct{}, strangerCores)
	for i, stranger := range strangers {
		for kind, c := range strangersRunaways(stranger) {
			t.Run(fmt.Sprintf("%s %d", kind, i), func(t *testing.T) {
				t.Parallel()
				turns <- struct{}{}
				defer func() { <-turns }()
				dir := filepath.Join(t.TempDir(), "repository")
				for name, text := range c.files {
					putFile(t, filepath.Join(dir, name), []byte(text))
				}
				gitCommit(t, dir)
				for _, line := range c.lines[:max(1, len(c.lines)*(1-i))] { // each line once, and the first for all
					cmd := exec.CommandContext(t.Context(), binary, strings.Fields(line)...)
					cmd.Dir, cmd.Env = dir, strangerEnv()
					var out, told bytes.Buffer
					cmd.Stdout, cmd.Stderr = &out, &told
					_ = cmd.Run() // what it prints is looked at
					steersNothing(t, line, out.String(), strings.Contains(line, "--format github"))
					steersNothing(t, line+" (standard error)", told.String(), false)
					all := out.String() + told.String()
					if !strings.Contains(all, "takes more than") || !strings.Contains(strings.ToLower(all), "forged") {
						t.Errorf("%q names no unit of a stranger's that exceeds a bound:\n%.3000s", line, all)
					}
				}
			})
		}
	}
}
