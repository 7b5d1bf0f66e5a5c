package main

import (
	"encoding/base64"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule"
)

// canaryPlaces are files with a password in plaintext, by their names: where rules find it, where a
// parser or kustomize stumbles over it, and where only its line is pointed at.
func canaryPlaces() map[string]string {
	const (
		secret     = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: NAME\n  namespace: apps\n"
		flux       = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: NAME\n  namespace: flux-system\nspec:\n  interval: 1h\n  prune: true\n  path: ./apps\n  sourceRef: {kind: GitRepository, name: flux-system}\n"
		release    = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: NAME\n  namespace: apps\nspec:\n  interval: 1h\n  chart:\n    spec: {chart: a, sourceRef: {kind: HelmRepository, name: a}}\n"
		set        = "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata:\n  name: NAME\n  namespace: apps\nspec:\n"
		deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: NAME\n  namespace: apps\nspec:\n  template:\n    spec:\n      containers:\n        - name: a\n"
		operation  = "op: replace\n  path: /stringData/password\n  value: CANARY\n"
	)
	return map[string]string{
		"string.yaml":                  secret + "stringData:\n  password: CANARY\n",
		"data.yaml":                    secret + "data:\n  password: BASE64\n",
		"empty.yaml":                   secret + "stringData:\npassword: CANARY\n",
		"text.yaml":                    secret + "stringData: CANARY\n",
		"list.yaml":                    secret + "stringData:\n  - CANARY\n",
		"integer.yaml":                 secret + "stringData:\n  password: !!int CANARY\n",
		"undecoded.yaml":               secret + "data:\n  password: CANARY!\n",
		"type.yaml":                    secret + "type: [CANARY]\n",
		"alias.yaml":                   secret + "stringData:\n  password: *CANARY\n",
		"alias-values.yaml":            release + "  values:\n    password: *CANARY\n",
		"alias-unnamed.yaml":           release + "  values:\n    db: *CANARY\n",
		"tag.yaml":                     secret + "stringData:\n  password: !CANARY\n",
		"anchor.yaml":                  secret + "stringData:\n  password: &CANARY\n",
		"quote.yaml":                   secret + "stringData:\n  password: \"CANARY\n",
		"colon.yaml":                   release + "  values:\n    password: CANARY: x\n",
		"at.yaml":                      release + "  values:\n    password: @CANARY\n",
		"applied.yaml":                 strings.Replace(secret, "  name: NAME\n", "  name: NAME\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"stringData\":{\"password\":\"CANARY\"}}'\n", 1) + "stringData: {}\n",
		"patch.yaml":                   flux + "  patches:\n    - target: {kind: Secret}\n      patch: |\n        - op: add\n          path: /stringData/password\n          value: CANARY\n",
		"merge.yaml":                   flux + "  patches:\n    - patch: |\n        apiVersion: v1\n        kind: Secret\n        metadata:\n          name: a\n        stringData:\n          password: CANARY\n",
		"substitute.yaml":              flux + "  postBuild:\n    substitute:\n      DB_PASSWORD: CANARY\n",
		"set.yaml":                     set + "  resources:\n    - apiVersion: v1\n      kind: Secret\n      metadata: {name: a, namespace: apps}\n      stringData:\n        password: CANARY\n",
		"resources.yaml":               set + "  resourcesTemplate: |\n    apiVersion: v1\n    kind: Secret\n    metadata:\n      name: a-<< inputs.x >>\n    stringData:\n      password: CANARY\n",
		"values.yaml":                  release + "  values:\n    db:\n      password: CANARY\n",
		"unknown.yaml":                 release + "  valuez:\n    db:\n      password: CANARY\n",
		"helm-values.yaml":             "db:\n  password: CANARY\n",
		"environment.yaml":             deployment + "          env:\n            - name: DB_PASSWORD\n              value: CANARY\n",
		"wrong-environment.yaml":       deployment + "          env:\n            - name: DB_PASSWORD\n              value: [CANARY]\n",
		"arguments.yaml":               deployment + "          args: [--db-password, CANARY]\n",
		"other.yaml":                   "apiVersion: databases.example.org/v1\nkind: Database\nmetadata: {name: NAME, namespace: apps}\nspec:\n  rootPassword: CANARY\n",
		".env":                         "HOST=a\nDB_PASSWORD=CANARY\n",
		"broken.sops.yaml":             secret + "stringData:\n  password: CANARY\nsops:\n  lastmodified: \"2026-01-01T00:00:00Z\"\n",
		"generated/kustomization.yaml": "secretGenerator:\n  - name: a\n    literals: [password=CANARY]\nconfigMapGenerator:\n  - name: b\n    literals: [DB_PASSWORD=CANARY]\n",
		"literal/kustomization.yaml":   "secretGenerator:\n  - name: a\n    literals: [CANARY]\n",
		"envs/kustomization.yaml":      "secretGenerator:\n  - name: a\n    envs: [wrong.env]\n",
		"envs/wrong.env":               "DB PASSWORD=CANARY\n",
		"patched/kustomization.yaml":   "patches:\n  - target: {kind: Secret}\n    patch: |-\n      - " + strings.ReplaceAll(operation, "\n  ", "\n        ") + "  - path: json.yaml\n    target: {kind: Secret}\n",
		"patched/json.yaml":            "- " + operation,
		"wrong/kustomization.yaml":     "patches:\n  - target: {kind: Secret}\n    patch: |-\n      - op: replac\n        path: /stringData/password\n        value: CANARY\n",
	}
}

// TestCanaryInPlaces: no command shows a password that stands in plaintext somewhere, in no format,
// whether it is found there or another error leads to its line; the hook refuses each of the files.
func TestCanaryInPlaces(t *testing.T) {
	const word = "kX9vbQ2mZ7pL4tR8"
	c := newCanaries(t)
	c.words = append(c.words, word, base64.StdEncoding.EncodeToString([]byte(word)))
	sync := strings.TrimPrefix(rule.FluxSync, "-- clusters/prod/flux-system/gotk-sync.yaml --\n")
	putFile(t, filepath.Join(c.repo, "clusters/prod/flux-system/gotk-sync.yaml"), []byte(sync))
	var files []string
	resources := ""
	for _, name := range slices.Sorted(maps.Keys(canaryPlaces())) {
		file := "clusters/prod/" + name
		of := strings.NewReplacer("CANARY", word, "BASE64", base64.StdEncoding.EncodeToString([]byte(word)), "NAME", strings.TrimSuffix(filepath.Base(name), ".yaml"))
		putFile(t, filepath.Join(c.repo, filepath.FromSlash(file)), []byte(of.Replace(canaryPlaces()[name])))
		files = append(files, file)
		if folder, _, below := strings.Cut(name, "/"); below && strings.HasSuffix(name, "kustomization.yaml") {
			_, kustomization, _ := strings.Cut(sync, "---\n")
			resources += "---\n" + strings.Replace(kustomization, "name: flux-system\n", "name: "+folder+"\n", 1)
			resources = strings.Replace(resources, "./clusters/prod\n", "./clusters/prod/"+folder+"\n", 1)
		}
	}
	putFile(t, filepath.Join(c.repo, "clusters/prod/folders.yaml"), []byte(resources))
	silent := func(args ...string) string {
		t.Helper()
		before := c.said.Len()
		out, err := c.run(append([]string{"fleetwright"}, args...)...)
		if code := statusOf(err); code < 0 || code > 3 {
			t.Errorf("%q ends with %d:\n%s", args, code, out)
		}
		if found := c.in(c.said.Bytes()[before:]); found != "" {
			t.Errorf("%q shows the password:\n%s", args, around(out, word))
		}
		c.said.Truncate(before)
		return out
	}
	for _, format := range reportFormats {
		silent("validate", "--format", format)
		silent("validate", "--format", format, "--rules", "*")
	}
	silent("validate", "--verbose")
	silent("validate", "--write-baseline", "baseline.json")
	silent("validate", "--baseline", "baseline.json", "--format", "json")
	for _, args := range [][]string{{"secrets", "check"}, {"secrets", "check", "--format", "json"}, {"secrets", "verify"}, {"secrets", "verify", "--format", "json"}, {"graph"}, {"status"}} {
		silent(args...)
	}
	c.look("validated", files...)
	c.hooked(files, silent)
}

// unread are the files that the hook may pass: no API server, and no kustomize, takes what is in
// them for the value of a Secret, or the value is in another file. What they hold is not shown.
var unread = []string{
	"clusters/prod/type.yaml", "clusters/prod/alias-unnamed.yaml", "clusters/prod/wrong-environment.yaml", "clusters/prod/patched/kustomization.yaml",
	"clusters/prod/anchor.yaml", "clusters/prod/tag.yaml", "clusters/prod/empty.yaml", "clusters/prod/list.yaml", "clusters/prod/text.yaml",
	"clusters/prod/literal/kustomization.yaml", "clusters/prod/envs/kustomization.yaml", "clusters/prod/envs/wrong.env",
}

// hooked wants the hook to refuse each file by itself, and to show no value.
func (c *canaries) hooked(files []string, silent func(args ...string) string) {
	c.t.Helper()
	for _, file := range files {
		c.must("git", "add", file)
		for _, format := range []string{formatText, formatJSON} {
			out := silent("secrets", "check", "--staged", "--format", format)
			passes := slices.Contains(unread, file)
			if format == formatText && strings.Contains(out, "no findings") && !passes {
				c.t.Errorf("the hook passes %s:\n%s", file, out)
			}
		}
		c.must("git", "rm", "-q", "--cached", file)
	}
}

// around are the lines of a text with a word.
func around(text, word string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if at := strings.Index(line, word); at >= 0 {
			lines = append(lines, fmt.Sprintf("…%s…", line[max(at-200, 0):min(at+200, len(line))]))
		}
	}
	return strings.Join(lines, "\n")
}
