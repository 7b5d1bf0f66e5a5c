//go:build tools

// Demo does Fleetwright's main job on the example fleets, using only the command and git:
// it renders, commits each target to a repository of its own, validates fresh
// clones of them, injects a drift and finds it. Its output consists of what the
// commands report.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	d := demo{out: os.Stdout}
	flag.StringVar(&d.command, "fleetwright", "bin/fleetwright", "the command")
	flag.StringVar(&d.manifests, "flux-manifests", "", "the folder with Flux's own manifests, for the example that bootstraps it")
	flag.StringVar(&d.dir, "out", "out/demo", "the folder for all files; it is emptied first")
	flag.Parse()
	if err := d.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type demo struct {
	out                     io.Writer
	command, manifests, dir string
}

var fleets = []struct{ name, shows string }{
	{"acme", "3 clusters with the Flux Operator, 3 tenants: a repository, a branch, an OCI artifact"},
	{"homelab", "1 cluster, layout apps, bootstrapped with helmfile"},
	{"classic", "2 clusters with flux bootstrap"},
	{"k0rdent", "a k0rdent management cluster: kcm, templates, credentials, access, clusters"},
	{"kommander", "a Kommander management cluster: its installation, workspaces, projects, applications"},
}

func (d *demo) run() error {
	for _, p := range []*string{&d.command, &d.dir} {
		abs, err := filepath.Abs(*p)
		if err != nil {
			return err
		}
		*p = abs
	}
	if err := os.RemoveAll(d.dir); err != nil {
		return err
	}
	d.title("Where the files are")
	clones := map[string]string{}
	for _, f := range fleets {
		if err := d.fleet(f.name, f.shows, clones); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if err := d.drift(clones["homelab/platform"]); err != nil {
		return err
	}
	d.next(clones)
	return nil
}

// rendered is the part of render's and commit's report that the page shows.
type rendered struct {
	Targets []struct {
		Name, Repository, Branch, Commit, State string
		Created                                 []string
	}
}

// validated is the part of validate's report that the page shows.
type validated struct {
	Findings []struct {
		Rule, File, Message, Hint string
		Line, Column              int
	}
	Unresolved []struct{ Reason string }
	Summary    struct{ Files, Documents, Kustomizations, HelmReleases, Errors, Warnings int }
}

// fleet renders an example, commits its targets and validates clones of them.
func (d *demo) fleet(name, shows string, clones map[string]string) error {
	spec := filepath.Join("examples", name)
	tree := filepath.Join(d.dir, name, "rendered")
	flux := []string{"--flux-manifests", d.manifests}
	if name != "classic" && name != "kommander" {
		flux = nil
	}
	var r rendered
	if _, err := d.report(&r, append([]string{"render", spec, "--out", tree}, flux...)...); err != nil {
		return err
	}
	args := append([]string{"commit", spec, "--author", "Demo <demo@example.com>"}, flux...)
	for _, t := range r.Targets {
		repo := filepath.Join(d.dir, name, t.Name+".git")
		if err := git(d.dir, "init", "--quiet", "--bare", "--initial-branch=main", repo); err != nil {
			return err
		}
		args = append(args, "--target", t.Name+"="+repo+"#main")
	}
	var c rendered
	if _, err := d.report(&c, args...); err != nil {
		return err
	}
	d.printf("\n%s: %s\n", name, shows)
	for i, t := range c.Targets {
		clone := filepath.Join(d.dir, name, "clones", t.Name)
		if err := git(d.dir, "clone", "--quiet", "--branch", t.Branch, t.Repository, clone); err != nil {
			return err
		}
		var v validated
		if _, err := d.report(&v, "validate", clone); err != nil {
			return err
		}
		d.printf("  %-14s %4d files  %s %.10s  %s\n", t.Name, len(r.Targets[i].Created), t.State, t.Commit, d.short(t.Repository))
		d.printf("  %14s %4d documents read, %d Kustomizations, %d HelmReleases: %d errors, %d warnings, %d unresolved\n", "",
			v.Summary.Documents, v.Summary.Kustomizations, v.Summary.HelmReleases, v.Summary.Errors, v.Summary.Warnings, len(v.Unresolved))
		clones[name+"/"+t.Name] = clone
	}
	return d.again(args, c)
}

// again commits once more: nothing has changed, so there is no commit.
func (d *demo) again(args []string, first rendered) error {
	var c rendered
	if _, err := d.report(&c, args...); err != nil {
		return err
	}
	for i, t := range c.Targets {
		if t.State != "unchanged" {
			return fmt.Errorf("committing %s again: %s, want unchanged after %s", t.Name, t.State, first.Targets[i].Commit)
		}
	}
	d.printf("  %14s committed again: nothing changed, no commit\n", "")
	return nil
}

// drift copies what Git says into a helmfile, and then updates only Git: the
// mistake that half of the repositories with a bootstrap have made.
func (d *demo) drift(clone string) error {
	d.title("A drift, injected and found")
	const helmfile, literal = "bootstrap/helmfile.yaml", "version: v1.0.0"
	file := filepath.Join(clone, helmfile)
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	release := []byte("- name: cert-manager\n")
	if !bytes.Contains(content, release) {
		return fmt.Errorf("%s has no release cert-manager", helmfile)
	}
	content = bytes.Replace(content, release, []byte(string(release)+"  "+literal+"\n"), 1)
	if err := os.WriteFile(file, content, 0o644); err != nil {
		return err
	}
	d.printf("\n%q written into the release cert-manager of %s:\n\n", literal, d.short(file))
	var v validated
	status, err := d.report(&v, "validate", clone)
	if err != nil {
		return err
	}
	if status != 1 || len(v.Findings) != 1 || v.Findings[0].Rule != "bootstrap-version-drift" {
		return fmt.Errorf("validate ended with status %d and %d findings, want the drift alone", status, len(v.Findings))
	}
	for _, args := range [][]string{{"validate", clone}, {"bootstrap", "verify", clone}} {
		d.printf("$ fleetwright %s %s\n", strings.Join(args[:len(args)-1], " "), d.short(clone))
		cmd := exec.Command(d.command, args...)
		cmd.Stdout, cmd.Stderr = d.out, d.out
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
			return err
		}
		d.printf("\n")
	}
	return git(clone, "checkout", "--quiet", "--", helmfile)
}

func (d *demo) next(clones map[string]string) {
	d.title("What to do next")
	d.printf(`
Look at what a tenant gets     %s
Look at a whole apps layout    %s
Check a repository of yours    bin/fleetwright validate DIR
Start one                      make install && mkdir ../platform && cd ../platform && git init && fleetwright init
Why a rule exists              bin/fleetwright explain bootstrap-version-drift
Every field                    docs/specification.md
`, d.short(filepath.Join(clones["acme/platform"], "tenants/base/team-a")), d.short(clones["homelab/platform"]))
}

// report runs the command with --format json and reads its report. It returns an error if
// the command could not do its work; findings are not an error.
func (d *demo) report(into any, args ...string) (int, error) {
	cmd := exec.Command(d.command, append(args, "--format", "json")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 1) {
		return 0, fmt.Errorf("fleetwright %s: %w\n%s%s", strings.Join(args, " "), err, stderr.Bytes(), output)
	}
	if err := json.Unmarshal(output, into); err != nil {
		return 0, fmt.Errorf("fleetwright %s: reading its report: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return cmd.ProcessState.ExitCode(), nil
}

func git(dir string, args ...string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return nil
}

func (d *demo) title(s string) { d.printf("\n%s\n%s\n", s, strings.Repeat("─", len(s))) }

func (d *demo) printf(format string, args ...any) { fmt.Fprintf(d.out, format, args...) }

// short returns a path relative to the working directory.
func (d *demo) short(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(wd, path); err == nil && !strings.HasPrefix(rel, "..") {
		return filepath.ToSlash(rel)
	}
	return path
}
