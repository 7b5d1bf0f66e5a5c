//go:build tools

// Command field compares the objects that Fleetwright builds from real repositories with those that kustomize
// and Flux's own libraries build, for each Kustomization of each cluster. If a source has the URL of another
// checkout in the folder, it uses the files of that checkout. It prints a report, and exits with 1 if there is
// a difference.
//
// With -same it validates each repository several times instead: alone, on one processor, with a low priority, and on
// a busy machine. It exits with 1 if two reports of a repository differ.
//
// The repositories must be trusted: kustomize runs on a copy of each. It has no git on its PATH and only a
// proxy that does not answer, so remote bases that Fleetwright does not fetch are not built.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/reconcile/oracle"
	"github.com/fleetwright/fleetwright/internal/repository"
)

func main() {
	repos := flag.String("repos", "", "compare each folder in this `DIR`")
	kustomize := flag.String("kustomize", "kustomize", "the kustomize `COMMAND`")
	library := flag.Bool("library", false, "build with Flux's library in place of the command")
	command := flag.String("same", "", "validate each folder several times with this fleetwright `COMMAND`, and compare the reports")
	runs := flag.Int("runs", 10, "how often in each condition, for -same")
	group := flag.String("cgroup", "", "with -same, also in this control `FOLDER` of Linux")
	flag.Parse()
	if *command != "" {
		if *group != "" {
			conditions = append(conditions, inGroup(*group))
		}
		different, err := sameReports(context.Background(), os.Stdout, *repos, *command, *runs, conditions)
		if err != nil {
			fail(err)
		}
		if different {
			os.Exit(1)
		}
		return
	}
	build := oracle.Library
	if !*library {
		binary, err := exec.LookPath(*kustomize)
		if err != nil {
			fail(fmt.Errorf("%w\n  hint: make peers builds it", err))
		}
		build = oracle.Command(binary)
	}
	different, err := run(context.Background(), os.Stdout, *repos, build)
	if err != nil {
		fail(err)
	}
	if different {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "field:", err)
	os.Exit(3)
}

// run reports on each folder in a folder, and returns whether anything differs.
func run(ctx context.Context, out io.Writer, repos string, build oracle.Build) (different bool, err error) {
	dirs, err := folders(repos)
	if err != nil {
		return false, err
	}
	others, err := findSiblings(ctx, dirs)
	if err != nil {
		return false, err
	}
	reported := 0
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		r, err := compare(ctx, dirs[name], others, build)
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		if r == nil {
			continue // nothing to build
		}
		reported++
		r.write(out, strings.ReplaceAll(name, "+", "/"))
		different = different || r.differences > 0
	}
	if reported == 0 {
		return false, fmt.Errorf("%q holds no folder with a Kustomization or kustomization", repos)
	}
	return different, nil
}

// folders returns the folders in a folder by name. It includes links to folders.
func folders(in string) (map[string]string, error) {
	entries, err := os.ReadDir(in)
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{}
	for _, entry := range entries {
		dir, err := filepath.EvalSymlinks(filepath.Join(in, entry.Name()))
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(dir); err == nil && info.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			dirs[entry.Name()] = dir
		}
	}
	return dirs, nil
}

// result is the result for one repository.
type result struct {
	commit      string
	took        time.Duration
	clusters    []clusterResult
	differences int
}

type clusterResult struct {
	cluster  *reconcile.Cluster
	verdicts []oracle.Verdict
}

func compare(ctx context.Context, dir string, others *siblings, build oracle.Build) (*result, error) {
	start := time.Now()
	repo, err := repository.Load(dir, repository.Options{})
	if err != nil {
		return nil, err
	}
	var opts reconcile.Options
	if len(repo.ByKind("kustomize.toolkit.fluxcd.io", "Kustomization")) == 0 {
		if opts.Roots = outermost(repo); len(opts.Roots) == 0 {
			return nil, nil
		}
	}
	clusters, err := others.reconcileWith(ctx, repo, opts)
	if err != nil {
		return nil, err
	}
	r := &result{commit: commit(ctx, dir), took: time.Since(start)}
	scratch, err := os.MkdirTemp("", "field")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	artifact := filepath.Join(scratch, "artifact")
	if err := oracle.Copy(dir, artifact); err != nil {
		return nil, err
	}
	comparer := oracle.Comparer{Repository: repo, Artifact: artifact, Scratch: scratch, Build: build}
	for _, cluster := range clusters {
		verdicts, err := comparer.Compare(ctx, cluster)
		if err != nil {
			return nil, err
		}
		r.clusters = append(r.clusters, clusterResult{cluster, verdicts})
		for _, v := range verdicts {
			r.differences += len(v.Differences)
		}
	}
	return r, nil
}

// outermost returns the folders with a kustomization that is not a component and that are not below another
// such folder.
func outermost(repo *repository.Repository) []string {
	has := map[string]bool{}
	for _, k := range repo.Kustomizes() {
		has[k.Dir] = true
	}
	var roots []string
	for _, k := range repo.Kustomizes() {
		inside := false
		for dir := k.Dir; dir != "."; {
			dir = path.Dir(dir)
			inside = inside || has[dir]
		}
		if !inside && !k.Component {
			roots = append(roots, k.Dir)
		}
	}
	slices.Sort(roots)
	return roots
}

func commit(ctx context.Context, dir string) string {
	out, err := exec.CommandContext(ctx, "git", "-C", dir, "rev-parse", "HEAD").Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) || err != nil {
		return "no commit"
	}
	return strings.TrimSpace(string(out))
}

// write prints the part of the report about one repository.
func (r *result) write(out io.Writer, name string) {
	var kustomizations, objects, unresolved, failures int
	var notes []string
	for _, c := range r.clusters {
		for _, v := range c.verdicts {
			kustomizations++
			objects += v.Objects
			who := c.cluster.Name + " " + v.Kustomization.String()
			if v.Unresolved {
				unresolved++
				for _, g := range v.Kustomization.Gaps {
					notes = append(notes, fmt.Sprintf("unresolved  %s: %s:%d: %s", who, g.File, g.Line, g.Message))
				}
			}
			if v.Failed != nil && len(v.Differences) == 0 {
				failures++
				notes = append(notes, fmt.Sprintf("both fail   %s: %s", who, firstLine(reason(v))))
			}
			for _, d := range v.Differences {
				notes = append(notes, fmt.Sprintf("difference  %s: %s", who, d))
			}
		}
	}
	share := 0.0
	if kustomizations > 0 {
		share = 100 * float64(unresolved) / float64(kustomizations)
	}
	fmt.Fprintf(out, "%s\n  commit %s, built in %d ms\n", name, r.commit, r.took.Milliseconds())
	fmt.Fprintf(out, "  clusters %d, Kustomizations %d, objects %d, differences %d, unresolved %d (%.1f %%), failures on both sides %d\n",
		len(r.clusters), kustomizations, objects, r.differences, unresolved, share, failures)
	for _, note := range notes {
		fmt.Fprintf(out, "  %s\n", note)
	}
	fmt.Fprintln(out)
}

// reason returns Fleetwright's reason for a failure of both sides.
func reason(v oracle.Verdict) string {
	if f := v.Kustomization.Failure; f != nil {
		return fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, f.Reason, f.Message)
	}
	return v.Failed.Error()
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
