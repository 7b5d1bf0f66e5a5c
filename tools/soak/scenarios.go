//go:build tools

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// journal is the file that an interrupted write leaves in a folder. commitJournal is the file that an
// interrupted commit leaves.
const (
	journal       = ".fleetwright/.git"
	commitJournal = ".git/fleetwright-commit"
)

func scenarios() []*scenario {
	return []*scenario{rendering(), committing(false), committing(true), encrypting(), rekeying(), syncing(), fixing()}
}

// spec returns a specification in one of two versions. The second one updates, creates and deletes something.
func spec(second bool) string {
	region, more := "eu", ""
	if second {
		region = "us"
		for _, name := range []string{"blue", "green"} {
			more += "---\napiVersion: fleetwright.dev/v1alpha1\nkind: Cluster\nmetadata:\n  name: " + name + "\nspec:\n  variables:\n    REGION: " + name + "\n"
		}
	}
	return `apiVersion: fleetwright.dev/v1alpha1
kind: Fleet
metadata:
  name: acme
spec:
  repository:
    url: https://git.example.com/acme/platform
---
apiVersion: fleetwright.dev/v1alpha1
kind: Cluster
metadata:
  name: staging
spec:
  variables:
    REGION: ` + region + `
---
apiVersion: fleetwright.dev/v1alpha1
kind: Addon
metadata:
  name: podinfo
spec:
  namespace: podinfo
  chart:
    url: oci://ghcr.io/stefanprodan/charts/podinfo
    version: 6.9.0
` + more
}

// removing allows the removals of the first version. Its clusters do not really exist, so nothing runs on them.
var removing = []string{"--allow-removal", "cluster/blue", "--allow-removal", "cluster/green"}

// versions alternates between the two specifications.
type versions struct{ second bool }

func (v *versions) change(s *scenario) error {
	v.second = !v.second
	return s.write("fleet/fleet.yaml", spec(v.second))
}

// rendered is the file that is edited while a render updates it.
const rendered = "clusters/staging/cluster-vars.yaml"

func rendering() *scenario {
	v := &versions{}
	edited := ""
	want := map[bool]map[string]string{}
	render := slices.Concat([]string{"render"}, removing)
	s := &scenario{name: "render", args: render, marks: []string{journal}, change: v.change}
	s.prepare = func(s *scenario) error {
		for _, second := range []bool{true, false} {
			v.second = !second
			err := errors.Join(v.change(s), s.write("clusters/staging/mine.yaml", "# mine\n"), s.must(render...))
			if err != nil {
				return err
			}
			if want[second], err = files(s.dir); err != nil {
				return err
			}
		}
		return nil
	}
	s.edit = func(s *scenario, file int, inPlace bool) error {
		edited = fmt.Sprintf("# edit %d\n", file)
		return s.save(rendered, edited, inPlace)
	}
	s.finish = func(s *scenario) error {
		if edited == "" {
			return s.must(render...)
		}
		out, err := s.command(render...).CombinedOutput()
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
			return fmt.Errorf("after an edit: %w\n%s", err, out)
		}
		if now, err := s.read(rendered); err != nil || now != edited {
			return fmt.Errorf("the edit %q is lost: %q, %w", edited, now, err)
		}
		edited = ""
		return s.must(slices.Concat(render, []string{"--overwrite", rendered})...)
	}
	s.check = func(s *scenario) error {
		got, err := files(s.dir)
		if err != nil {
			return err
		}
		return differ(got, want[v.second])
	}
	return s
}

func committing(push bool) *scenario {
	v := &versions{}
	trees := map[bool]string{}
	s := &scenario{name: "commit", args: slices.Concat([]string{"commit"}, removing), marks: []string{commitJournal, journal}, change: v.change}
	if push {
		s.name, s.args = "push", slices.Concat(s.args, []string{"--push"})
	}
	s.prepare = func(s *scenario) error {
		if _, err := s.git("init", "--quiet", "--initial-branch=main"); err != nil {
			return err
		}
		if _, err := s.git("config", "core.fsync", "none"); err != nil {
			return err
		}
		if push {
			if _, err := s.git("init", "--quiet", "--bare", "--initial-branch=main", ".git/remote.git"); err != nil {
				return err
			}
			if _, err := s.git("remote", "add", "origin", "file://"+filepath.Join(s.dir, ".git/remote.git")); err != nil {
				return err
			}
		}
		for _, second := range []bool{true, false} {
			v.second = !second
			err := errors.Join(v.change(s), s.write("untracked", "mine\n"), s.must(s.args...))
			if err != nil {
				return err
			}
			if trees[second], err = s.git("rev-parse", "HEAD^{tree}"); err != nil {
				return err
			}
		}
		return nil
	}
	s.check = func(s *scenario) error { return s.sound(trees[v.second], push) }
	return s
}

// sound returns an error unless the repository is intact, its head has the tree, and the work tree is clean.
func (s *scenario) sound(tree string, push bool) error {
	at, err := s.git("rev-parse", "HEAD^{tree}")
	if err != nil {
		return err
	}
	if at != tree {
		return fmt.Errorf("the head's tree is %s and not %s", at, tree)
	}
	status, err := s.git("status", "--porcelain")
	if err != nil {
		return err
	}
	if status != "?? untracked" {
		return fmt.Errorf("git status says:\n%s", status)
	}
	if push {
		heads, err := s.git("rev-parse", "HEAD", "refs/remotes/origin/main")
		if err != nil {
			return err
		}
		remote, err := s.git("--git-dir=.git/remote.git", "rev-parse", "main")
		if err != nil {
			return err
		}
		if heads != remote+"\n"+remote {
			return fmt.Errorf("the head and origin/main are\n%s\nand the remote's is %s", heads, remote)
		}
	}
	if s.series%20 > 0 {
		return nil
	}
	if _, err = s.git("fsck", "--strict"); err == nil {
		_, err = s.git("gc", "--quiet", "--prune=now")
	}
	return err
}

// sealedFiles are the encrypted files, with the value that was saved last.
type sealedFiles struct {
	values map[string]string
	names  []string
	next   int
}

func newSealedFiles(n int) *sealedFiles {
	f := &sealedFiles{values: map[string]string{}}
	for i := range n {
		f.names = append(f.names, fmt.Sprintf("apps/%02d/secret.sops.yaml", i))
	}
	return f
}

// canary is a part of all values, so a file that contains it has a plaintext value.
const canary = "canary-of-the-soak"

func (f *sealedFiles) value() string {
	f.next++
	return fmt.Sprintf("%s-%d", canary, f.next)
}

func secret(value string) string {
	return "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\nstringData:\n  password: " + value + "\n"
}

// noPlaintext returns an error if a file in the folder has a plaintext value.
func (s *scenario) noPlaintext() error {
	all, err := files(s.dir)
	if err != nil {
		return err
	}
	for name, content := range all {
		if strings.Contains(content, canary) {
			return fmt.Errorf("%s is in plaintext", name)
		}
	}
	return nil
}

func encrypting() *scenario {
	f := newSealedFiles(12)
	s := &scenario{name: "encrypt", args: []string{"secrets", "encrypt"}, marks: []string{journal}}
	keys := &pair{}
	s.prepare = func(s *scenario) error {
		if err := errors.Join(keys.make(), s.write(".sops.yaml", keys.rules(1))); err != nil {
			return err
		}
		return os.Mkdir(filepath.Join(s.dir, ".git"), 0o755)
	}
	s.change = func(s *scenario) error {
		for _, name := range f.names {
			if s.random.IntN(2) > 0 && f.values[name] != "" {
				continue
			}
			f.values[name] = f.value()
			if err := s.write(name, secret(f.values[name])); err != nil {
				return err
			}
		}
		return nil
	}
	s.edit = func(s *scenario, file int, inPlace bool) error {
		name := f.names[file%len(f.names)]
		f.values[name] = f.value()
		return s.save(name, secret(f.values[name]), inPlace)
	}
	s.check = func(s *scenario) error { return errors.Join(s.noPlaintext(), keys.opens(s, f, 1)) }
	return s
}

func rekeying() *scenario {
	f := newSealedFiles(8)
	keys := &pair{}
	readers := 1
	s := &scenario{name: "updatekeys", args: []string{"secrets", "updatekeys", "--rotate"}, marks: []string{journal}}
	s.prepare = func(s *scenario) error {
		if err := errors.Join(keys.make(), s.write(".sops.yaml", keys.rules(1)), os.Mkdir(filepath.Join(s.dir, ".git"), 0o755)); err != nil {
			return err
		}
		s.env = []string{"SOPS_AGE_KEY=" + keys.private[0]}
		for _, name := range f.names {
			f.values[name] = f.value()
			if err := s.write(name, secret(f.values[name])); err != nil {
				return err
			}
		}
		return s.must("secrets", "encrypt")
	}
	s.change = func(s *scenario) error {
		readers = 3 - readers
		return s.write(".sops.yaml", keys.rules(readers))
	}
	s.edit = func(s *scenario, file int, inPlace bool) error {
		name := f.names[file%len(f.names)]
		value := f.value()
		sealed, err := keys.seal(name, secret(value), readers)
		if err != nil {
			return err
		}
		f.values[name] = value
		return s.save(name, sealed, inPlace)
	}
	s.check = func(s *scenario) error { return errors.Join(s.noPlaintext(), keys.opens(s, f, readers)) }
	return s
}

func syncing() *scenario {
	keys := &pair{}
	second := false
	made := ""
	s := &scenario{name: "sync", args: []string{"secrets", "sync"}, marks: []string{journal}}
	s.prepare = func(s *scenario) error {
		if err := errors.Join(keys.make(), os.Mkdir(filepath.Join(s.dir, ".git"), 0o755)); err != nil {
			return err
		}
		s.env = []string{"SOPS_AGE_KEY=" + keys.private[0], "DNS_TOKEN=" + canary, "OTHER_TOKEN=" + canary}
		return errors.Join(s.change(s), s.must("secrets", "sync"))
	}
	s.change = func(s *scenario) error {
		second = !second
		return s.write("fleet/fleet.yaml", declaring(keys.public[0], second))
	}
	s.check = func(s *scenario) error {
		if err := errors.Join(s.noPlaintext(), s.must("secrets", "sync", "--check")); err != nil {
			return err
		}
		value, err := keys.declared(s, second)
		if err != nil {
			return err
		}
		if made == "" {
			made = value
		}
		if value != made {
			return errors.New("a generated value is lost: another one was generated in its place")
		}
		return nil
	}
	return s
}

// declaring returns a specification that declares Secrets, in one of two versions.
func declaring(public string, second bool) string {
	more := "OTHER_TOKEN}}]\n"
	if second {
		more = "OTHER_TOKEN}}, {name: user, from: {env: DNS_TOKEN}}]\n"
	}
	declared := "    - {name: made, namespace: podinfo, keys: [{name: password, from: {generate: {length: 24}}}, {name: more, from: {env: " +
		strings.Replace(more, "]\n", "]}\n", 1)
	for i := range 6 {
		declared += fmt.Sprintf("    - {name: token-%d, namespace: podinfo, keys: [{name: token, from: {env: DNS_TOKEN}}, {name: more, from: {env: %s", i,
			strings.Replace(more, "]\n", "]}\n", 1))
	}
	return spec(false) + `---
apiVersion: fleetwright.dev/v1alpha1
kind: Encryption
metadata:
  name: e
spec:
  recipients:
    platform: {age: [` + public + `]}
    clusters: {staging: {age: [` + public + `]}}
  secrets:
` + declared
}

// declaredKeys returns the keys of a declared Secret.
func declaredKeys(name string, second bool) []string {
	keys := []string{"more", "token"}
	if strings.HasPrefix(name, "made") {
		keys = []string{"more", "password"}
	}
	if second {
		keys = append(keys, "user")
	}
	slices.Sort(keys)
	return keys
}
