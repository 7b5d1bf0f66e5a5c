package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// canaries are plaintexts that must be nowhere but where the test puts them.
type canaries struct {
	t *testing.T
	// dir holds the work tree, home, the temporary folder and the command.
	dir, repo string
	// said is all that commands printed.
	said bytes.Buffer
	// words are the plaintexts, in the forms in which they may stand.
	words []string
}

const canarySpec = `apiVersion: fleetwright.dev/v1alpha1
kind: Fleet
metadata:
  name: fleet
spec:
  repository:
    url: https://github.com/acme/platform
    branch: main
---
apiVersion: fleetwright.dev/v1alpha1
kind: Cluster
metadata:
  name: production
spec:
  environment: production
`

func newCanaries(t *testing.T) *canaries {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the failures are injected by a shell")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &canaries{t: t, dir: dir, repo: filepath.Join(dir, "repo")}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"repo/fleet", "tmp", "home", "bin"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(self, filepath.Join(dir, "bin", "fleetwright")); err != nil {
		t.Fatal(err)
	}
	putFile(t, filepath.Join(c.repo, "fleet", "fleet.yaml"), []byte(canarySpec))
	c.must("git", "init", "-q", "-b", "main")
	return c
}

// word makes a plaintext that is known from then on.
func (c *canaries) word(name string) string {
	word := "canary-" + name + "-7f3d9b"
	c.words = append(c.words, word, base64.StdEncoding.EncodeToString([]byte(word)))
	return word
}

// run runs a command in the work tree and remembers what it printed.
func (c *canaries) run(args ...string) (string, error) { return c.runWith(nil, args...) }

func (c *canaries) runWith(env []string, args ...string) (string, error) {
	c.t.Helper()
	out, err := c.runIn(c.repo, "", env, args...)
	return out, err
}

// runIn runs a command in a folder, with an input.
func (c *canaries) runIn(dir, input string, env []string, args ...string) (string, error) {
	c.t.Helper()
	cmd := exec.Command(filepath.Join(c.dir, "bin", args[0]), args[1:]...)
	if args[0] != "fleetwright" {
		cmd = exec.Command(args[0], args[1:]...)
	}
	cmd.Dir, cmd.Env, cmd.Stdin = dir, c.env(env), strings.NewReader(input)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	fmt.Fprintf(&c.said, "$ %q\n%s%s", args, &out, &errs)
	return out.String() + errs.String(), err
}

func (c *canaries) env(more []string) []string {
	return append([]string{
		"HOME=" + filepath.Join(c.dir, "home"), "TMPDIR=" + filepath.Join(c.dir, "tmp"), "PATH=" + filepath.Join(c.dir, "bin") + ":" + os.Getenv("PATH"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com",
	}, more...)
}

func (c *canaries) must(args ...string) string {
	c.t.Helper()
	out, err := c.run(args...)
	if err != nil {
		c.t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return out
}

// fails wants a command to end with a status, and not because of how it is called.
func (c *canaries) fails(status int, env []string, args ...string) {
	c.t.Helper()
	out, err := c.runWith(env, args...)
	if code := statusOf(err); code != status || wrongUsage(out) {
		c.t.Errorf("%q %q ends with %d, want %d:\n%s", env, args, code, status, out)
	}
}

// ends wants a command on the work tree to end with a status. It runs in this process.
func (c *canaries) ends(status int, args ...string) {
	c.t.Helper()
	out, code := c.here(args)
	fmt.Fprintf(&c.said, "$ %q\n%s", args, out)
	if code != status || wrongUsage(out) {
		c.t.Errorf("%q ends with %d, want %d:\n%s", args, code, status, out)
	}
}

// here runs a command on the work tree in this process, and returns what it prints and its status. A process of its own
// would load the schemas again.
func (c *canaries) here(args []string) (out string, code int) {
	c.t.Helper()
	var all bytes.Buffer
	env := map[string]string{"HOME": filepath.Join(c.dir, "home")}
	args = append(slices.Clone(args), c.repo)
	code = execute(c.t.Context(), args, streams{in: strings.NewReader(""), out: &all, err: &all, env: func(name string) string { return env[name] }})
	return all.String(), code
}

// ownTemporary lets what runs in this process write temporary files where look finds them.
func (c *canaries) ownTemporary() { c.t.Setenv("TMPDIR", filepath.Join(c.dir, "tmp")) }

// statusOf is that of a command that ended, -1 of one that didn't run or was killed.
func statusOf(err error) int {
	if err == nil {
		return 0
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

// plain writes files in plaintext and gives their names.
func (c *canaries) plain(name string) []string {
	c.t.Helper()
	head := func(kind string) string {
		return "apiVersion: v1\nkind: Secret\nmetadata:\n  name: " + name + "-" + kind + "\n  namespace: flux-system\n"
	}
	files := map[string]string{
		name + "-string.sops.yaml": head("string") + "stringData:\n  password: " + c.word(name+"-string") + " # " + c.word(name+"-comment") + "\n",
		name + "-data.sops.yaml":   head("data") + "data:\n  password: " + base64.StdEncoding.EncodeToString([]byte(c.word(name+"-data"))) + "\n",
		name + ".sops.env":         "data=" + c.word(name+"-env") + "\n",
		name + ".sops.json":        `{"data": {"a": ["` + c.word(name+"-json") + `"]}}`,
		name + ".sops.txt":         c.word(name + "-whole"),
	}
	var names []string
	for file, text := range files {
		file = "clusters/production/" + file
		putFile(c.t, filepath.Join(c.repo, filepath.FromSlash(file)), []byte(text))
		names = append(names, file)
	}
	return names
}

// look wants that no plaintext stands anywhere but in some files of the work tree.
func (c *canaries) look(when string, except ...string) {
	c.t.Helper()
	if found := c.in(c.said.Bytes()); found != "" {
		c.t.Fatalf("%s: %q was printed:\n%s", when, found, &c.said)
	}
	allowed := map[string]bool{}
	for _, file := range except {
		allowed[filepath.Join(c.repo, filepath.FromSlash(file))] = true
	}
	err := filepath.WalkDir(c.dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || allowed[file] {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if found := c.in(data); found != "" {
			c.t.Errorf("%s: %q stands in %s", when, found, file)
		}
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
	objects := exec.Command("git", "cat-file", "--batch-all-objects", "--batch", "--buffer")
	objects.Dir, objects.Env = c.repo, c.env(nil)
	data, err := objects.Output()
	if err != nil {
		c.t.Fatal(err)
	}
	if found := c.in(data); found != "" {
		c.t.Errorf("%s: %q stands in an object of .git", when, found)
	}
}

func (c *canaries) in(data []byte) string {
	for _, word := range c.words {
		if bytes.Contains(data, []byte(word)) {
			return word
		}
	}
	return ""
}

// Plaintexts go through every command, with failures at each step; afterwards they stand nowhere:
// in no file of the work tree, in .git, in temporary folders, nor in what was printed.
func TestCanaries(t *testing.T) {
	if raced {
		t.Skip("commands are processes of their own here, each of which the scripts run with the race detector")
	}
	needTools(t, "git")
	c := newCanaries(t)
	c.ownTemporary()
	c.must("fleetwright", "secrets", "keygen", "--platform")
	c.must("fleetwright", "secrets", "keygen", "--cluster", "production")
	c.must("fleetwright", "render")
	c.oneWholeFiles()
	c.must("git", "add", "-A")
	c.must("git", "commit", "-qm", "Begin")

	files := c.plain("first")
	c.judge("in plaintext", judged{validate: 1, check: 1, verify: 2, decrypt: 2, updatekeys: 2}, files)
	c.staged(files)
	c.failToEncrypt(files)
	c.must(append([]string{"fleetwright", "secrets", "encrypt"}, files...)...)
	c.look("encrypted")
	c.must("fleetwright", "secrets", "encrypt", "--stdout", files[0])
	c.judge("encrypted", judged{}, nil)
	c.must("git", "add", "-A")
	c.must("fleetwright", "secrets", "check", "--staged")
	c.must("git", "commit", "-qm", "Add secrets")
	c.doors()
	c.sync()
	c.function()
	c.failToRotate(files)
	c.newcomer(files)
	c.must("fleetwright", "secrets", "updatekeys", "--rotate")
	c.must("fleetwright", "secrets", "verify", "--decrypt")
	c.judge("rotated", judged{}, nil)
	c.must("git", "commit", "-qam", "Rotate")
	c.must("git", "gc", "-q")
	c.look("packed")
}

func needTools(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			t.Fatal(err)
		}
	}
}

// oneWholeFiles lets the rules of the cluster be for files of all formats.
func (c *canaries) oneWholeFiles() {
	file := filepath.Join(c.repo, "fleet", "encryption.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		c.t.Fatal(err)
	}
	key := strings.Fields(string(data[bytes.Index(data, []byte("- age1"))+2:]))[0]
	data = append(data, []byte("  rules:\n    - pathRegex: ^clusters/production/.*\\.sops\\.(env|json|txt)$\n      recipients:\n        age: ["+key+"]\n")...)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.must("fleetwright", "render")
}

// addToRule adds the public key in a file of keys to the recipients of the rule for all formats.
func (c *canaries) addToRule(spec, keys string) {
	c.t.Helper()
	data, err := os.ReadFile(spec)
	if err != nil {
		c.t.Fatal(err)
	}
	private, err := os.ReadFile(keys)
	if err != nil {
		c.t.Fatal(err)
	}
	public := anyKey.Find(private)
	before, after, found := bytes.Cut(data, []byte("        age: ["))
	if !found || public == nil {
		c.t.Fatalf("no rule in\n%s", data)
	}
	putFile(c.t, spec, slices.Concat(before, []byte("        age: ["), public, []byte(", "), after))
	c.must("fleetwright", "render")
}

// judged are the statuses of the commands that judge a repository.
type judged struct{ validate, check, verify, decrypt, updatekeys int }

// judge runs the commands that judge a repository.
func (c *canaries) judge(when string, want judged, plain []string) {
	c.t.Helper()
	for _, one := range []struct {
		status int
		args   []string
	}{
		{want.validate, []string{"validate", "--rules", "sops-*,secret-hardcoded"}}, {want.validate, []string{"validate", "--rules", "sops-*", "--format", "json"}},
		{want.validate, []string{"validate", "--rules", "sops-*", "--format", "sarif"}}, {want.validate, []string{"validate", "--rules", "sops-*", "--format", "github"}},
		{want.check, []string{"secrets", "check"}}, {want.verify, []string{"secrets", "verify"}}, {want.verify, []string{"secrets", "verify", "--format", "json"}},
		{want.decrypt, []string{"secrets", "verify", "--decrypt"}}, {want.updatekeys, []string{"secrets", "updatekeys", "--check"}},
	} {
		c.ends(one.status, one.args...)
	}
	c.look(when, plain...)
}

// doors runs the commands that write what a repository holds.
func (c *canaries) doors() {
	c.t.Helper()
	c.ends(0, "build", "--cluster", "production")
	c.ends(1, "diff", "--from", "HEAD~1")
	c.must("fleetwright", "render", "--check")
	c.must("fleetwright", "commit")
	c.look("built, compared and committed")
}

// failToEncrypt lets the encryption of files fail in each way, and wants them as they were.
func (c *canaries) failToEncrypt(files []string) {
	c.t.Helper()
	before := c.contents(files)
	encrypt := append([]string{"fleetwright", "secrets", "encrypt"}, files...)
	quoted := "fleetwright secrets encrypt '" + strings.Join(files, "' '") + "'"
	putFile(c.t, filepath.Join(c.repo, "clusters/production/broken.sops.yaml"), []byte("stringData:\n  a: "+c.word("broken")+"\n  a: [\n"))
	putFile(c.t, filepath.Join(c.repo, "clusters/production/broken.sops.json"), []byte(`{"data": "`+c.word("cut")))
	putFile(c.t, filepath.Join(c.repo, "clusters/production/scalar.sops.yaml"), []byte(c.word("scalar")+"\n"))
	broken := []string{"clusters/production/broken.sops.yaml", "clusters/production/broken.sops.json", "clusters/production/scalar.sops.yaml"}
	c.fails(2, nil, append(encrypt, broken...)...)
	c.unchanged("one can't be encrypted", before)
	c.look("one can't be encrypted", append(files, broken...)...)
	for _, file := range broken {
		if err := os.Remove(filepath.Join(c.repo, file)); err != nil {
			c.t.Fatal(err)
		}
	}

	// The disk is full: nothing can be written.
	c.fails(3, nil, "sh", "-c", "ulimit -f 0; exec "+quoted)
	c.unchanged("the disk is full", before)
	c.look("the disk is full", files...)

	// Something stands in the place of the journal's folder.
	inTheWay := filepath.Join(c.repo, ".fleetwright", ".git")
	putFile(c.t, inTheWay, []byte("x"))
	c.fails(3, nil, "fleetwright", "secrets", "encrypt", files[0])
	c.unchanged("another run writes", before)
	if err := os.Remove(inTheWay); err != nil {
		c.t.Fatal(err)
	}
	c.look("after failures", files...)
}

// failToRotate lets the rotation of encrypted files fail in each way.
func (c *canaries) failToRotate(files []string) {
	c.t.Helper()
	before := c.contents(files)
	key := filepath.Join(c.dir, "home", ".config", "sops", "age", "keys.txt")
	if err := os.Rename(key, key+".away"); err != nil {
		c.t.Fatal(err)
	}
	secretKey := c.word("key")
	for _, env := range [][]string{
		nil, {"SOPS_AGE_KEY=" + secretKey}, {"SOPS_AGE_KEY=AGE-SECRET-KEY-1" + secretKey}, {"SOPS_AGE_KEY_FILE=" + filepath.Join(c.repo, files[0])}, {"SOPS_AGE_SSH_PRIVATE_KEY_FILE=" + filepath.Join(c.repo, files[0])},
	} {
		c.fails(3, env, "fleetwright", "secrets", "updatekeys", "--rotate")
		c.fails(3, env, "fleetwright", "secrets", "updatekeys", "--rotate", files[0])
	}
	if err := os.Rename(key+".away", key); err != nil {
		c.t.Fatal(err)
	}
	c.unchanged("no key opens them", before)
	c.fails(3, nil, "sh", "-c", "ulimit -f 0; exec fleetwright secrets updatekeys --rotate")
	c.unchanged("the disk is full", before)

	// A value in plaintext stands where ciphertext was, and a file is cut off.
	file := filepath.Join(c.repo, filepath.FromSlash("clusters/production/first-string.sops.yaml"))
	data := before["clusters/production/first-string.sops.yaml"]
	at := bytes.Index(data, []byte("password: ENC["))
	end := at + bytes.IndexByte(data[at:], '\n')
	byHand := bytes.Join([][]byte{data[:at], []byte("password: " + c.word("by-hand")), data[end:]}, nil)
	for _, broken := range [][]byte{byHand, data[:len(data)/2], data[:len(data)-200]} {
		putFile(c.t, file, broken)
		c.fails(2, nil, "fleetwright", "secrets", "updatekeys", "--rotate", "clusters/production/first-string.sops.yaml")
		c.fails(2, nil, "fleetwright", "secrets", "verify", "--decrypt")
		c.look("broken", "clusters/production/first-string.sops.yaml")
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, broken) {
			c.t.Errorf("the broken file was changed (%v)", err)
		}
	}
	putFile(c.t, file, data)
	c.look("after failures")
}

func (c *canaries) contents(files []string) map[string][]byte {
	c.t.Helper()
	all := map[string][]byte{}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(c.repo, filepath.FromSlash(file)))
		if err != nil {
			c.t.Fatal(err)
		}
		all[file] = data
	}
	return all
}

func (c *canaries) unchanged(when string, before map[string][]byte) {
	c.t.Helper()
	for file, data := range before {
		if got, err := os.ReadFile(filepath.Join(c.repo, filepath.FromSlash(file))); err != nil || !bytes.Equal(got, data) {
			c.t.Errorf("%s: %s was changed (%v)", when, file, err)
		}
	}
}
