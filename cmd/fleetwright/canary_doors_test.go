package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// staged runs the pre-commit hook on files in plaintext: in a repository of their own, whose objects
// hold them, since git was told to.
func (c *canaries) staged(files []string) {
	c.t.Helper()
	other := c.t.TempDir()
	for _, name := range append([]string{".sops.yaml"}, files...) {
		data, err := os.ReadFile(filepath.Join(c.repo, filepath.FromSlash(name)))
		if err != nil {
			c.t.Fatal(err)
		}
		putFile(c.t, filepath.Join(other, filepath.FromSlash(name)), data)
	}
	for _, args := range [][]string{{"git", "init", "-q"}, {"git", "add", "-A"}} {
		if out, err := c.runIn(other, "", nil, args...); err != nil {
			c.t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	for _, format := range []string{"text", "json"} {
		out, err := c.runIn(other, "", nil, "fleetwright", "secrets", "check", "--staged", "--format", format)
		if statusOf(err) != 1 {
			c.t.Errorf("the hook ends with %d:\n%s", statusOf(err), out)
		}
		for _, file := range files {
			if !strings.Contains(out, file) {
				c.t.Errorf("the hook doesn't tell of %s", file)
			}
		}
	}
	// The index is damaged: the hook refuses.
	putFile(c.t, filepath.Join(other, ".git", "index"), []byte("DIRC"))
	if out, err := c.runIn(other, "", nil, "fleetwright", "secrets", "check", "--staged"); statusOf(err) < 2 {
		c.t.Errorf("with a damaged index the hook ends with %d:\n%s", statusOf(err), out)
	}
	c.look("staged", files...)
}

// sync makes declared Secrets of a variable and a file, and changes one, with failures at each
// step.
func (c *canaries) sync() {
	c.t.Helper()
	spec := filepath.Join(c.repo, "fleet", "encryption.yaml")
	before, err := os.ReadFile(spec)
	if err != nil {
		c.t.Fatal(err)
	}
	value := filepath.Join(c.t.TempDir(), "value")
	putFile(c.t, value, []byte(c.word("value-of-a-file")))
	env := []string{"CANARY=" + c.word("variable")}
	declared := func(more string) {
		putFile(c.t, spec, []byte(string(before)+"  secrets:\n    - name: made\n      namespace: flux-system\n      keys:\n        - {name: a, from: {env: CANARY}}\n        - {name: b, from: {file: '"+value+"'}}\n        - {name: c, from: {ageKey: {}}}\n"+more))
	}
	made := filepath.Join(c.repo, "infrastructure/secrets/base/flux-system/made.sops.yaml")
	absent := func(when string) {
		c.t.Helper()
		if _, err := os.Lstat(made); !errors.Is(err, fs.ErrNotExist) {
			c.t.Errorf("%s: the file is there (%v)", when, err)
		}
		c.look(when)
	}
	declared("")
	c.fails(2, nil, "fleetwright", "secrets", "sync") // the variable isn't set
	absent("without the variable")
	c.fails(3, env, "sh", "-c", "ulimit -f 0; exec fleetwright secrets sync")
	absent("the disk is full")
	declared("        - {name: d, from: {file: ./nowhere}}\n")
	c.fails(2, env, "fleetwright", "secrets", "sync")
	absent("a file isn't there")

	declared("")
	if out, err := c.runWith(env, "fleetwright", "secrets", "sync"); err != nil {
		c.t.Fatalf("sync: %v\n%s", err, out)
	}
	c.look("synced")
	there := c.contents([]string{"infrastructure/secrets/base/flux-system/made.sops.yaml"})
	declared("        - {name: e, from: {env: MORE}}\n")
	more := slices.Concat(env, []string{"MORE=" + c.word("another-variable")})
	for when, failing := range map[string][]string{
		"no key opens it": slices.Concat(more, []string{"HOME=" + c.t.TempDir()}),
		"a corrupt key":   slices.Concat(more, []string{"HOME=" + c.t.TempDir(), "SOPS_AGE_KEY=AGE-SECRET-KEY-1" + c.word("corrupt")}),
	} {
		c.fails(3, failing, "fleetwright", "secrets", "sync")
		c.unchanged(when, there)
		c.look(when)
	}
	c.fails(3, more, "sh", "-c", "ulimit -f 0; exec fleetwright secrets sync")
	c.unchanged("the disk is full", there)
	if out, err := c.runWith(more, "fleetwright", "secrets", "sync", "--format", "json"); err != nil {
		c.t.Fatalf("sync: %v\n%s", err, out)
	}
	c.look("synced anew")
	c.must("fleetwright", "render")
	c.must("fleetwright", "secrets", "verify", "--decrypt")
	c.must("git", "add", "-A")
	c.must("git", "commit", "-qm", "Declare a Secret")
}

// function puts a Secret through the KRM function, with a rule for it and without.
func (c *canaries) function() {
	c.t.Helper()
	list := func(rules, file string) string {
		return "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig:\n  apiVersion: fleetwright.dev/v1alpha1\n  kind: EncryptSecrets\n  metadata: {name: e}\n  spec:\n    creationRules:\n    - " + rules + "\nitems:\n" +
			"- apiVersion: v1\n  kind: Secret\n  metadata:\n    name: db\n    annotations: {config.kubernetes.io/path: '" + file + "', config.kubernetes.io/index: '0'}\n  stringData: {password: " + c.word("item") + "}\n"
	}
	rule := "{path_regex: '\\.sops\\.yaml$', encrypted_regex: '^stringData$', age: age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p}"
	out, err := c.runIn(c.repo, list(rule, "db.sops.yaml"), nil, "fleetwright", "fn")
	if err != nil || !strings.Contains(out, "ENC[AES256_GCM,") {
		c.t.Errorf("fn: %v\n%s", err, out)
	}
	c.look("through the function")
	for when, in := range map[string]string{
		"no rule is for it": list(rule, "db.yaml"), "a rule is wrong": list("{path_regex: '[', age: x}", "db.sops.yaml"),
		"a recipient is wrong": list("{path_regex: ., age: age1x}", "db.sops.yaml"), "it is encrypted in part": list(rule, "db.sops.yaml") + "  sops: {mac: x}\n",
		"the list is cut off": strings.TrimSuffix(list(rule, "db.sops.yaml"), "}\n"),
	} {
		// A function returns the items as they came, with what is wrong: of that, no word holds a value.
		before := c.said.Len()
		out, err := c.runIn(c.repo, in, nil, "fleetwright", "fn")
		c.said.Truncate(before)
		if err == nil {
			c.t.Errorf("%s: fn does not fail:\n%s", when, out)
		}
		if _, results, found := strings.Cut(out, "\nresults:"); c.in([]byte(results)) != "" || !found && c.in([]byte(out)) != "" {
			c.t.Errorf("%s: a value is told:\n%s", when, out)
		}
	}
}

// newcomer gives the files to somebody, who couldn't read them before and can afterwards; taken out
// again, what was rotated is closed.
func (c *canaries) newcomer(files []string) {
	c.t.Helper()
	bob := filepath.Join(c.dir, "home", "bob.txt")
	spec := filepath.Join(c.repo, "fleet", "encryption.yaml")
	without, err := os.ReadFile(spec)
	if err != nil {
		c.t.Fatal(err)
	}
	c.must("fleetwright", "secrets", "keygen", "--platform", "--out", bob)
	c.addToRule(spec, bob)
	asBob := []string{"HOME=" + c.t.TempDir(), "SOPS_AGE_KEY_FILE=" + bob}
	before := c.contents(files)
	c.fails(3, asBob, "fleetwright", "secrets", "updatekeys")
	c.unchanged("the newcomer gives it to themself", before)
	c.fails(3, nil, "sh", "-c", "ulimit -f 0; exec fleetwright secrets updatekeys")
	c.unchanged("the disk is full", before)
	c.ends(1, "secrets", "updatekeys", "--check")
	c.unchanged("a check", before)
	c.must("fleetwright", "secrets", "updatekeys")
	c.look("given to a newcomer")
	out, err := c.runWith(asBob, "fleetwright", "secrets", "verify", "--decrypt")
	if err != nil || strings.Contains(out, "no private key that is available") {
		c.t.Errorf("the newcomer can't read all: %v\n%s", err, out)
	}
	putFile(c.t, spec, without)
	c.must("fleetwright", "render")
	c.must("fleetwright", "secrets", "updatekeys", "--rotate")
	out, err = c.runWith(asBob, "fleetwright", "secrets", "verify", "--decrypt", "--format", "json")
	if err != nil || strings.Contains(out, `"checksum": "right"`) || !strings.Contains(out, `"checksum": "closed"`) {
		c.t.Errorf("who was taken out reads what was rotated: %v\n%s", err, out)
	}
	c.look("taken from a newcomer")
}
