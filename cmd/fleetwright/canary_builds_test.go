package main

import (
	"bytes"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule"
)

// TestCanaryInBuilds: no command that builds, compares or renders shows a password in plaintext in its
// messages, and none but build, whose result are the objects as they are in Git, in its output. Each
// place has a Kustomization of its own, so that one that cannot be built hides no other.
func TestCanaryInBuilds(t *testing.T) {
	if raced {
		t.Skip("commands are processes of their own here, each of which the scripts run with the race detector")
	}
	needTools(t, "git")
	c := newCanaries(t)
	c.placed()
	const before = "qT7drawn4xR8zK2m"
	c.words = append(c.words, before)
	folders := c.putPlaces(before)
	c.must("git", "add", "-A")
	c.must("git", "commit", "-qm", "Begin")
	c.putPlaces(canaryWord)

	for _, args := range [][]string{
		{"diff", "--from", "HEAD"}, {"diff", "--from", "HEAD", "--format", "json"}, {"images"}, {"images", "--format", "json"}, {"images", "--from", "HEAD"}, {"schemas"}, {"schemas", "--format", "json"}, {"bootstrap", "verify"}, {"bootstrap", "verify", "--format", "json"},
		{"bootstrap", "plan"}, {"bootstrap", "plan", "--format", "json"}, {"validate", "--rules", "*"}, {"validate", "--rules", "*", "--format", "json"},
	} {
		c.silent(args...)
	}
	for _, format := range []string{"yaml", "json"} {
		if out := c.quiet("", "build", c.repo, "--format", format); !strings.Contains(out, canaryWord) {
			t.Errorf("build prints no object with a password as it is in Git:\n%.2000s", out)
		}
	}
	c.functions()
	c.specified(folders)
}

// putPlaces writes each place, with a password, to a folder of its own that a Flux Kustomization builds.
func (c *canaries) putPlaces(word string) (folders []string) {
	c.t.Helper()
	sync := strings.TrimPrefix(rule.FluxSync, "-- clusters/prod/flux-system/gotk-sync.yaml --\n")
	putFile(c.t, filepath.Join(c.repo, "clusters/prod/flux-system/gotk-sync.yaml"), []byte(sync))
	_, kustomization, _ := strings.Cut(sync, "---\n")
	for _, name := range slices.Sorted(maps.Keys(canaryPlaces())) {
		folder := path.Dir(name)
		if folder == "." {
			folder = "of-" + strings.Trim(strings.ReplaceAll(name, ".", "-"), "-")
		}
		putFile(c.t, filepath.Join(c.repo, "apps", folder, path.Base(name)), placedWord(name, word))
		folders = append(folders, folder)
	}
	folders = slices.Compact(folders)
	resources := ""
	for _, folder := range folders {
		one := strings.Replace(kustomization, "name: flux-system\n", "name: "+folder+"\n", 1)
		if folder == "carried" {
			one = strings.TrimSuffix(one, "\n") + "\n  postBuild: {substituteFrom: [{kind: Secret, name: carrier}]}\n"
		}
		resources += "---\n" + strings.Replace(one, "./clusters/prod\n", "./apps/"+folder+"\n", 1)
	}
	putFile(c.t, filepath.Join(c.repo, "clusters/prod/folders.yaml"), []byte(resources))
	values := "    values:\n      - db:\n          password: " + word + "\n"
	putFile(c.t, filepath.Join(c.repo, "helmfile.yaml"), []byte("releases:\n  - name: values\n    namespace: apps\n    chart: a/a\n"+values+"    set:\n      - name: adminPassword\n        value: "+word+"\n"))
	return folders
}

// quiet runs a command whose messages show no password, and returns its output, which may.
func (c *canaries) quiet(input string, args ...string) string {
	c.t.Helper()
	var out, errs bytes.Buffer
	env := map[string]string{"HOME": filepath.Join(c.dir, "home")}
	if code := execute(c.t.Context(), args, streams{in: strings.NewReader(input), out: &out, err: &errs, env: func(name string) string { return env[name] }}); wrongUsage(errs.String()) || args[0] == "validate" && code > statusFindings {
		c.t.Errorf("%q ends with %d:\n%s", args, code, &errs)
	}
	if found := c.in(errs.Bytes()); found != "" {
		c.t.Errorf("%q shows the password in a message:\n%s", args, around(errs.String(), found))
	}
	return out.String()
}

// mute is quiet for a command whose output shows no password, either.
func (c *canaries) mute(args ...string) {
	c.t.Helper()
	if out := c.quiet("", args...); c.in([]byte(out)) != "" {
		c.t.Errorf("%q shows the password:\n%s", args, around(out, c.in([]byte(out))))
	}
}

// functions puts each place through the functions, which return it as it came: their results show no
// password.
func (c *canaries) functions() {
	c.t.Helper()
	for _, kind := range []string{"ValidateFleet", "VerifyBootstrap", "RenderFleet", "EncryptSecrets"} {
		for _, name := range slices.Sorted(maps.Keys(canaryPlaces())) {
			item := strings.ReplaceAll(strings.TrimSpace(string(placedWord(name, canaryWord))), "\n", "\n  ")
			out := c.quiet("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig: {apiVersion: fleetwright.dev/v1alpha1, kind: "+kind+", metadata: {name: f}}\nitems:\n- "+item+"\n", "fn")
			if _, results, found := strings.Cut(out, "\nresults:"); found && c.in([]byte(results)) != "" {
				c.t.Errorf("%s shows the password of %s in its results:\n%s", kind, name, around(results, c.in([]byte(results))))
			}
		}
	}
}

// specified puts each place, and specifications with a value in them, beside the specification.
func (c *canaries) specified(folders []string) {
	c.t.Helper()
	const encryption = "apiVersion: fleetwright.dev/v1alpha1\nkind: Encryption\nmetadata: {name: e}\nspec:\n  secrets:\n    - name: a\n      namespace: flux-system\n      keys:\n        - name: password\n"
	texts := map[string]string{
		"from": encryption + "          from: CANARY\n", "value": encryption + "          value: CANARY\n", "from-value": encryption + "          from: {value: CANARY}\n",
		"generate": encryption + "          from: {generate: {length: CANARY}}\n", "list": encryption + "          from: [CANARY]\n", "alias": encryption + "          from: {password: *CANARY}\n",
		"values": "apiVersion: fleetwright.dev/v1alpha1\nkind: Addon\nmetadata: {name: a}\nspec:\n  namespace: apps\n  chart: {url: \"https://a.example.net\", version: 1.0.0}\n  values:\n    password: CANARY: x\n",
	}
	for name := range canaryPlaces() {
		if path.Ext(name) == ".yaml" {
			texts["place-"+strings.ReplaceAll(name, "/", "-")] = string(placedWord(name, canaryWord))
		}
	}
	for name, text := range texts {
		file := filepath.Join(c.repo, "fleet", strings.TrimSuffix(name, ".yaml")+".yaml")
		putFile(c.t, file, []byte(strings.ReplaceAll(text, "CANARY", canaryWord)))
		for _, args := range [][]string{{"render", "--check", c.repo}, {"commit", "--dry-run", c.repo}, {"secrets", "sync", "--check", c.repo}} {
			c.mute(args...)
		}
		if err := os.Remove(file); err != nil {
			c.t.Fatal(err)
		}
	}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(c.repo, "apps", folder, "*"))
		if err != nil {
			c.t.Fatal(err)
		}
		c.mute(append([]string{"secrets", "encrypt"}, files...)...)
		c.mute(append([]string{"secrets", "updatekeys"}, files...)...)
	}
}
