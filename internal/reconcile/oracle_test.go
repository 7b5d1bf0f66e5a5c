package reconcile_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/reconcile/oracle"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/render"
)

var update = flag.Bool("update", false, "rewrite what the cases in testdata want")

// TestEqualToFlux reconciles each case of testdata/builds and compares with Flux's own
// libraries, object for object. A case's comment says what it shows; lines in it of the form
// "root: DIR", "crlf: FILE", "link: FILE -> TARGET" and "fifo: FILE" prepare it. Its last
// file, want, says what each Kustomization comes to, so that no case passes by being empty.
func TestEqualToFlux(t *testing.T) {
	cases, err := filepath.Glob("../../testdata/builds/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			opts := unpack(t, archive, dir)
			got := compare(t, dir, opts)
			last := &archive.Files[len(archive.Files)-1]
			if last.Name != "want" {
				t.Fatal("the last file is not want")
			}
			if *update {
				last.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(last.Data); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// unpack writes the files of a case.
func unpack(t *testing.T, archive *txtar.Archive, dir string) reconcile.Options {
	t.Helper()
	var opts reconcile.Options
	crlf := map[string]bool{}
	links := map[string]string{}
	for line := range strings.Lines(string(archive.Comment)) {
		directive, argument, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch directive {
		case "root":
			opts.Roots = append(opts.Roots, argument)
		case "crlf":
			crlf[argument] = true
		case "link":
			name, target, _ := strings.Cut(argument, " -> ")
			links[name] = target
		}
	}
	for _, f := range archive.Files {
		if f.Name == "want" {
			continue
		}
		data := f.Data
		if crlf[f.Name] {
			data = []byte(strings.ReplaceAll(string(data), "\n", "\r\n"))
		}
		write(t, filepath.Join(dir, f.Name), data)
	}
	for name, target := range links {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return opts
}

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// compare reconciles a folder, compares with Flux, and returns what there is in words.
func compare(t *testing.T, dir string, opts reconcile.Options) string {
	t.Helper()
	repo, err := repository.Load(dir, repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fleet, err := reconcile.Reconcile(t.Context(), repo, opts)
	if err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	artifact := filepath.Join(scratch, "artifact")
	if err := oracle.Copy(dir, artifact); err != nil {
		t.Fatal(err)
	}
	comparer := oracle.Comparer{Repository: repo, Artifact: artifact, Scratch: scratch, Build: oracle.Library}
	var told strings.Builder
	for _, cluster := range fleet.Clusters {
		verdicts, err := comparer.Compare(context.Background(), cluster)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range verdicts {
			for _, d := range v.Differences {
				t.Errorf("%s %s: %s", cluster.Name, v.Kustomization, d)
			}
			tell(&told, cluster, v)
		}
	}
	return told.String()
}

// tell writes what a Kustomization comes to.
func tell(out *strings.Builder, cluster *reconcile.Cluster, v oracle.Verdict) {
	k := v.Kustomization
	fmt.Fprintf(out, "%s %s", cluster.Name, k)
	switch {
	case v.Unresolved:
		out.WriteString(" is unresolved")
	case k.Failure != nil:
		line, _, _ := strings.Cut(k.Failure.Message, "\n")
		fmt.Fprintf(out, " fails: %s:%d: %s: %s", k.Failure.File, k.Failure.Line, k.Failure.Reason, line)
	case v.Failed != nil:
		out.WriteString(" fails: undefined variables")
	}
	out.WriteString("\n")
	objects := make([]string, 0, len(k.Objects))
	for _, o := range k.Objects {
		objects = append(objects, o.String())
	}
	for _, o := range objects {
		fmt.Fprintf(out, "  %s\n", o)
	}
}

// TestExamplesEqualToFlux compares each target of the rendered examples.
func TestExamplesEqualToFlux(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long: one build after the other")
	}
	for _, name := range []string{"acme", "classic", "homelab"} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			for _, target := range rendered(t, name, out) {
				told := compare(t, filepath.Join(out, target), reconcile.Options{})
				if target == "platform" && strings.Count(told, "\n  ") < 20 {
					t.Errorf("the platform has too few objects to show anything:\n%s", told)
				}
			}
		})
	}
}

// rendered renders an example below a folder, and returns its targets.
func rendered(t *testing.T, name, out string) []string {
	t.Helper()
	read, err := render.ReadSpecification(filepath.Join("../../examples", name))
	if err != nil {
		t.Fatal(err)
	}
	components := []byte("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: flux-system\n")
	targets, err := generators.Render(read.Spec, generators.Options{FluxComponents: components})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, target := range targets {
		names = append(names, target.Name)
		for f := range target.Tree.All() {
			write(t, filepath.Join(out, target.Name, filepath.FromSlash(f.Path)), f.Content)
		}
	}
	return names
}
