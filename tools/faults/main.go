//go:build tools

// Command faults injects faults into checkouts of Flux repositories, one at a time and only in files that a
// cluster applies. It counts how "fleetwright validate" reports them, and compares that with kustomize and
// kubeconform on the affected Kustomizations. The same seed and checkouts lead to the same faults.
//
// The repositories must be trusted: kustomize runs on a copy of each.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// options are the values of the flags.
type options struct {
	repos, fleetwright, kustomize, kubeconform, schemas string
	seed                                                uint64
	each                                                int
	verbose                                             bool
}

func main() {
	var o options
	flag.StringVar(&o.repos, "repos", "", "inject faults into each checkout in this `DIR`")
	flag.StringVar(&o.fleetwright, "fleetwright", "fleetwright", "the `COMMAND` that is judged")
	flag.StringVar(&o.kustomize, "kustomize", "kustomize", "the kustomize `COMMAND`")
	flag.StringVar(&o.kubeconform, "kubeconform", "", "the kubeconform `COMMAND`; without it, kustomize is the only peer")
	flag.StringVar(&o.schemas, "schemas", "", "JSON Schemas for kubeconform: a `DIR` that TestKubeconform of tools/oracle wrote")
	flag.Uint64Var(&o.seed, "seed", 1, "the seed for the choice of faults and places")
	flag.IntVar(&o.each, "each", 20, "how many faults for each checkout")
	flag.BoolVar(&o.verbose, "v", false, "print each fault with its edit and what was found")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

// run injects faults into every checkout and prints the tables.
func run(ctx context.Context, out io.Writer, o options) error {
	entries, err := os.ReadDir(o.repos)
	if err != nil {
		return err
	}
	var results []result
	checkouts := 0
	for _, entry := range entries {
		dir, err := filepath.EvalSymlinks(filepath.Join(o.repos, entry.Name()))
		if info, failed := os.Stat(dir); err != nil || failed != nil || !info.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		found, err := checkout(ctx, dir, entry.Name(), o)
		if err != nil {
			return fmt.Errorf("%s: %w", entry.Name(), err)
		}
		if len(found) == 0 {
			fmt.Fprintf(os.Stderr, "%s: no cluster applies a file in which a fault has a place\n", entry.Name())
			continue
		}
		checkouts++
		for _, r := range found {
			if o.verbose {
				fmt.Fprintln(out, r)
			}
		}
		results = append(results, found...)
		fmt.Fprintf(os.Stderr, "%s: %d faults\n", entry.Name(), len(found))
	}
	if len(results) == 0 {
		return errors.New("no fault was injected: name a folder with checkouts by -repos")
	}
	fmt.Fprintf(out, "\n%d faults of %d kinds in %d checkouts, seed %d\n", len(results), kindsOf(results), checkouts, o.seed)
	table(out, results)
	return nil
}

func kindsOf(results []result) int {
	names := map[string]bool{}
	for _, r := range results {
		names[r.kind.name] = true
	}
	return len(names)
}

// table prints how the faults of each kind were reported. Faults that stop Flux come first.
func table(out io.Writer, results []result) {
	fmt.Fprintln(out, "\n| Fault | Stops Flux | Injected | Error | Warning | Info | Unresolved | Missed | kustomize, kubeconform |\n|---|---|---|---|---|---|---|---|---|")
	byName := map[string][]result{}
	for _, r := range results {
		byName[r.kind.name] = append(byName[r.kind.name], r)
	}
	kinds := slices.Clone(allKinds)
	slices.SortStableFunc(kinds, func(a, b kind) int { return cmp.Compare(rank(a), rank(b)) })
	for _, k := range kinds {
		if of := byName[k.name]; len(of) > 0 {
			row(out, k.name, map[bool]string{true: "yes", false: "no"}[k.stops], of)
		}
	}
	for _, stops := range []bool{true, false} {
		var of []result
		for _, r := range results {
			if r.kind.stops == stops {
				of = append(of, r)
			}
		}
		if len(of) > 0 {
			row(out, "**all**", map[bool]string{true: "yes", false: "no"}[stops], of)
		}
	}
	row(out, "**all**", "", results)
}

func rank(k kind) int {
	if k.stops {
		return 0
	}
	return 1
}

// row prints one line of the table.
func row(out io.Writer, name, stops string, of []result) {
	count := func(is func(result) bool) int {
		n := 0
		for _, r := range of {
			if is(r) {
				n++
			}
		}
		return n
	}
	fmt.Fprintf(out, "| %s | %s | %d |", name, stops, len(of))
	for _, v := range verdicts {
		fmt.Fprintf(out, " %d |", count(func(r result) bool { return r.verdict == v }))
	}
	fmt.Fprintf(out, " %d |\n", count(func(r result) bool { return r.peers }))
}
