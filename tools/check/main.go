//go:build tools

// Command check checks what changed since a base commit, within a time limit: format, lint (which vets), and the
// tests of the changed packages and of the packages that import them. The most affected packages come first. It
// lists the packages that it did not test; make test tests all.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	base := flag.String("base", "main", "the commit to compare with")
	lint := flag.String("lint", "bin/tools/golangci-lint", "the linter")
	limit := flag.Duration("time", 110*time.Second, "the time after which no test is started")
	flag.Parse()
	if err := run(*base, *lint, time.Now().Add(*limit)); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(base, lint string, end time.Time) error {
	files, err := changed(base)
	if err != nil {
		return err
	}
	all, err := load()
	if err != nil {
		return err
	}
	order := affected(all, files)
	if len(order) == 0 {
		fmt.Println("no package changed since " + base)
		return nil
	}
	var own []string
	for _, p := range order {
		if p.distance == 0 {
			own = append(own, "./"+p.dir)
		}
	}
	if err := formatted(files); err != nil {
		return err
	}
	if _, err := step(context.Background(), append([]string{lint, "run"}, own...)); err != nil {
		return err
	}
	return test(order, end)
}

// test tests packages in order until the time is over. A package that is not finished by then does not count as
// failed.
func test(order []*pkg, end time.Time) error {
	ctx, cancel := context.WithDeadline(context.Background(), end)
	defer cancel()
	for len(order) > 0 {
		// Packages with the same distance from the change run in parallel.
		n := 1
		for n < len(order) && order[n].distance == order[0].distance {
			n++
		}
		command := []string{"go", "test", "-tags=tools,disable_grpc_modules", "-short"}
		for _, p := range order[:n] {
			command = append(command, "./"+p.dir)
		}
		out, err := step(ctx, command)
		switch {
		case ctx.Err() != nil && !failed.MatchString(out):
			fmt.Println("no time was left to test all of these; make test does: " + names(order))
			return nil
		case err != nil:
			return err
		}
		order = order[n:]
	}
	return nil
}

// failed matches the output of go test for failures, but not for tests that it interrupts.
var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: |^panic: |^FAIL\t.*\[(build|setup) failed\]$`)

func names(packages []*pkg) string {
	var dirs []string
	for _, p := range packages {
		dirs = append(dirs, p.dir)
	}
	return strings.Join(dirs, " ")
}

// step runs a command, prints its output and time, and returns its output.
func step(ctx context.Context, command []string) (string, error) {
	fmt.Printf("$ %s\n", strings.Join(command, " "))
	began := time.Now()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	var out bytes.Buffer
	cmd.Stdout = io.MultiWriter(os.Stdout, &out)
	cmd.Stderr = cmd.Stdout
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	fmt.Printf("  %.1f s\n", time.Since(began).Seconds())
	return out.String(), err
}

// changed returns the files that differ from the common ancestor with the base, including untracked ones.
func changed(base string) ([]string, error) {
	if exec.Command("git", "rev-parse", "--quiet", "--verify", base+"^{commit}").Run() != nil {
		base = "origin/" + base // a clone of another branch
	}
	from, err := output("git", "merge-base", base, "HEAD")
	if err != nil {
		return nil, fmt.Errorf("pass BASE=REVISION: %w", err)
	}
	var files []string
	for _, command := range [][]string{
		{"git", "diff", "--name-only", strings.TrimSpace(from)},
		{"git", "ls-files", "--others", "--exclude-standard"},
	} {
		out, err := output(command...)
		if err != nil {
			return nil, err
		}
		files = append(files, strings.Split(strings.TrimSpace(out), "\n")...)
	}
	return slices.DeleteFunc(files, func(f string) bool { return f == "" }), nil
}

func output(command ...string) (string, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	return string(out), nil
}

// formatted returns an error that names the Go files that gofmt would change.
func formatted(files []string) error {
	command := []string{"gofmt", "-l"}
	for _, f := range files {
		if _, err := os.Stat(f); err == nil && strings.HasSuffix(f, ".go") {
			command = append(command, f)
		}
	}
	if len(command) == 2 {
		return nil
	}
	out, err := output(command...)
	if err == nil && out != "" {
		err = fmt.Errorf("not formatted:\n%s", out)
	}
	return err
}

// pkg is a package of the module.
type pkg struct {
	dir     string
	imports []string
	// distance is the number of imports from the package to a changed one; -1 if it imports none.
	distance int
}

// load lists the packages of the module by import path.
func load() (map[string]*pkg, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	out, err := output("go", "list", "-tags=tools,disable_grpc_modules", "-json=Dir,ImportPath,Imports,TestImports,XTestImports", "./...")
	if err != nil {
		return nil, err
	}
	all := map[string]*pkg{}
	for decoder := json.NewDecoder(bytes.NewReader([]byte(out))); ; {
		var p struct {
			Dir, ImportPath                    string
			Imports, TestImports, XTestImports []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		dir, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return nil, err
		}
		all[p.ImportPath] = &pkg{dir: filepath.ToSlash(dir), imports: slices.Concat(p.Imports, p.TestImports, p.XTestImports), distance: -1}
	}
}

// affected returns the packages with changed files and the packages that import them, nearest first. With the
// same distance, packages with fewer imports come first, because they are faster. A file belongs to the package
// in the nearest folder above it; go.mod belongs to all.
func affected(all map[string]*pkg, files []string) []*pkg {
	byDir := map[string]*pkg{}
	for _, p := range all {
		byDir[p.dir] = p
	}
	for _, f := range files {
		for dir := filepath.ToSlash(filepath.Dir(f)); dir != "."; dir = filepath.ToSlash(filepath.Dir(dir)) {
			if p := byDir[dir]; p != nil {
				p.distance = 0
				break
			}
		}
		if f == "go.mod" {
			for _, p := range all {
				p.distance = 0
			}
		}
	}
	for distance, more := 0, true; more; distance++ {
		more = false
		for _, p := range all {
			if p.distance < 0 && slices.ContainsFunc(p.imports, func(path string) bool {
				return all[path] != nil && all[path].distance == distance
			}) {
				p.distance, more = distance+1, true
			}
		}
	}
	return slices.SortedFunc(func(yield func(*pkg) bool) {
		for p := range maps.Values(all) {
			if p.distance >= 0 && !yield(p) {
				return
			}
		}
	}, func(a, b *pkg) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(len(a.imports), len(b.imports)), cmp.Compare(a.dir, b.dir))
	})
}
