//go:build hostile && unix

package main

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var everyCommand = flag.Bool("every-command", false, "TestHostileCommands runs each command on the repository of each hostile case")

// commandCase is a command line besides validate's, and the hostile cases that reach code of its own. The words
// after "fn" are a functionConfig's kind.
type commandCase struct {
	line   string
	cases  []string
	writes bool // files in the repository
}

// commandCases are in the order in which they run on a repository: those that change it are the last.
func commandCases() []commandCase {
	bootstraps := []string{"a helmfile with lists that double, as JSON", "a helmfile with nested loops", "ResourceSets with an endless loop", "indexes in set", "aliases in Helm values"}
	texts := []string{"private keys everywhere", "many secret settings", "repetitions in path_regex", "aliases in an object", "long names"}
	rules := []string{"repetitions in encrypted_regex", "many rules of SOPS", "pipes, sockets and devices", "bytes that are no text"}
	items := []string{"quantities in rules", "aliases that contain themselves", "merged keys", "many documents", "objects of one kind", "rules whose types double", "a release of a forged name"}
	builds := []string{"bases that double", "copies that double", "aliases in Flux's patches", "long variables used often", "a release of a forged name", "bytes that are no text", "deep nesting"}
	return []commandCase{
		{line: "build", cases: builds},
		{line: "build --format json", cases: builds[4:]},
		{line: "fetch --dry-run", cases: builds},
		{line: "diff --from HEAD", cases: builds},
		{line: "diff --from HEAD --format json", cases: builds[4:]},
		{line: "images", cases: builds},
		{line: "images --from HEAD --format json", cases: builds[4:]},
		{line: "schemas", cases: append(builds, "a pattern that repeats", "objects of one kind")},
		{line: "validate --changed-since HEAD", cases: append(builds, "many findings", "a pattern that repeats")},
		{line: "validate --format json", cases: []string{"a release of a forged name", "many findings"}},
		{line: "validate --format sarif", cases: []string{"a release of a forged name", "bytes that are no text"}},
		{line: "validate --format junit", cases: []string{"a release of a forged name", "bytes that are no text"}},
		{line: "validate --format github", cases: []string{"a release of a forged name", "bytes that are no text"}},
		{line: "validate --format gitlab", cases: []string{"a release of a forged name", "bytes that are no text"}},
		{line: "render --check", cases: []string{"pipes, sockets and devices", "deep folders"}},
		{line: dryRun, cases: []string{"pipes, sockets and devices", "deep folders"}},
		{line: "bootstrap plan", cases: bootstraps},
		{line: "bootstrap verify", cases: bootstraps},
		{line: "bootstrap values flux-system/a", cases: bootstraps},
		{line: "secrets check", cases: texts},
		{line: "secrets check --staged", cases: texts},
		{line: "secrets verify", cases: rules},
		{line: "secrets updatekeys --check", cases: rules},
		{line: "secrets sync --check", cases: rules[2:]},
		{line: "fn ValidateFleet", cases: items},
		{line: "fn VerifyBootstrap", cases: append(items[:4:4], bootstraps...)},
		{line: "fn RenderFleet", cases: items[:4]},
		{line: "fn EncryptSecrets", cases: append(items[:4:4], rules...)},
		{line: "render", cases: []string{"pipes, sockets and devices", "deep folders"}, writes: true},
		{line: "validate --fix", cases: []string{"misspelt fields", "many findings", "bytes that are no text"}, writes: true},
		{line: "secrets encrypt", cases: append(rules, "many secret settings"), writes: true},
	}
}

// TestHostileCommands holds of the other commands what TestHostile holds of validate.
func TestHostileCommands(t *testing.T) {
	binary := builtCommand(t)
	h := hostileTest{binary: binary}
	if canConfine(t) {
		h.confine, h.allowed = true, outsideFiles(t, binary)
	}
	reached, all := map[string]bool{}, commandCases()
	for _, c := range append(hostileCases(), hostileArchives(t)...) {
		var lines []commandCase
		for _, of := range all {
			if named := slices.Contains(of.cases, c.name); named || *everyCommand {
				lines, reached[of.line+c.name] = append(lines, of), true
			}
		}
		if len(lines) == 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			repo, outside := filepath.Join(dir, "repository"), filepath.Join(dir, "outside")
			writeCanaries(t, outside)
			if err := os.MkdirAll(repo, 0o755); err != nil {
				t.Fatal(err)
			}
			c.make(t, repo, outside)
			addSpecification(t, repo)
			for _, of := range lines {
				h.run(t, hostileCase{name: c.name, status: statusUsage, stops: true, writes: of.writes}, repo, strings.Fields(of.line))
			}
		})
	}
	for _, of := range all {
		for _, name := range of.cases {
			if !reached[of.line+name] {
				t.Errorf("%s: there is no case %q", of.line, name)
			}
		}
	}
}

// TestHostileCommandsOfAll: each command that reads a repository runs on hostile ones.
func TestHostileCommandsOfAll(t *testing.T) {
	lines := []string{"validate"}
	for _, c := range commandCases() {
		lines = append(lines, c.line)
	}
	// Those without a folder read nothing of a repository; keygen and init only write.
	without := []string{"completion", "explain", "help", "init", "schema", "secrets keygen", "version"}
	for _, c := range below(newRoot(streams{env: func(string) string { return "" }})) {
		name := strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), "fleetwright"))
		if c.HasSubCommands() || name == "" || slices.ContainsFunc(without, func(w string) bool { return name == w || strings.HasPrefix(name, w+" ") }) {
			continue
		}
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line+" ", name+" ") }) {
			t.Errorf("no case runs %q", name)
		}
	}
}

// addSpecification adds a specification of a small fleet and a revision of Git's, where the repository has none.
func addSpecification(t *testing.T, repo string) {
	t.Helper()
	if _, err := os.Lstat(filepath.Join(repo, "fleet")); err != nil {
		putFile(t, filepath.Join(repo, "fleet/fleet.yaml"), []byte(aFleet()))
	}
	if _, err := os.Lstat(filepath.Join(repo, ".git")); err != nil {
		commitAll(t, repo)
	}
}

// commitAll makes a repository of Git's, with a revision of what Git takes.
func commitAll(t *testing.T, repo string) {
	t.Helper()
	for _, args := range [][]string{{"init", "--quiet", "--initial-branch=main"}, {"add", "--all", "--ignore-errors"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "gc.auto=0", "commit", "--quiet", "--message=x"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Env = repo, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Logf("git %s: %v %.200s", args, err, out) // a pipe is no file that Git takes
		}
	}
}

// resourceList is what a function reads of a repository: its YAML files as items, with a functionConfig of a kind.
func resourceList(t *testing.T, repo, kind string) []byte {
	t.Helper()
	var b bytes.Buffer
	spec := map[string]string{"ValidateFleet": "{}", "VerifyBootstrap": "{root: .}", "RenderFleet": "{output: files}",
		"EncryptSecrets": "{creationRules: [{path_regex: .*, age: age1qyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqs3290gq}]}"}[kind]
	fmt.Fprintf(&b, "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig:\n  apiVersion: fleetwright.dev/v1alpha1\n  kind: %s\n  metadata: {name: x}\n  spec: %s\nitems:\n", kind, spec)
	err := filepath.WalkDir(repo, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.Name() == ".git" && e.IsDir() {
			return filepath.SkipDir
		}
		if err != nil || !e.Type().IsRegular() || filepath.Ext(path) != ".yaml" || e.Name() == "kustomization.yaml" {
			return nil //nolint:nilerr // a case's odd files are left alone
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil //nolint:nilerr // not readable is one of the cases
		}
		name, err := filepath.Rel(repo, path)
		if err != nil {
			return err
		}
		at := fmt.Sprintf("annotations: {config.kubernetes.io/path: %q, config.kubernetes.io/index: '0'}", name)
		for _, document := range strings.Split(strings.TrimPrefix(string(data), "---\n"), "\n---\n") {
			if !strings.HasPrefix(document, "apiVersion: ") {
				continue
			}
			document = strings.Replace(document, "metadata:\n", "metadata:\n  "+at+"\n", 1)
			document = strings.Replace(document, "metadata: {", "metadata: {"+at+", ", 1)
			b.WriteString("- " + strings.ReplaceAll(strings.TrimSuffix(document, "\n"), "\n", "\n  ") + "\n")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
