//go:build tools

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/kyaml/kio"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/reconcile/oracle"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// checkoutRuns is the number of runs for each checkout; the median counts.
const checkoutRuns = 5

// checkouts compares the CPU time of `fleetwright build` with that of `kustomize build`, run once for each
// Kustomization, for each checkout in a folder. It does nothing if there is no folder.
func checkouts(binary, kustomize, repos, work string) {
	if repos == "" {
		return
	}
	start := cpuOf(3*checkoutRuns, func() time.Duration { return run(work, kustomize, "version").cpu })
	fmt.Println("| checkout | Kustomizations | `build`, CPU | `kustomize build` for each, CPU | of it process start | times faster | against one parse | peak memory |\n|---|---|---|---|---|---|---|---|")
	entries, err := os.ReadDir(repos)
	check(err)
	for _, entry := range entries {
		dir, err := filepath.EvalSymlinks(filepath.Join(repos, entry.Name()))
		check(err)
		if folders, args := kustomizations(dir); len(folders) > 0 {
			root := filepath.Join(work, entry.Name())
			check(oracle.Copy(dir, root))
			addKustomizations(kustomize, root, folders)
			fmt.Printf("| %s | %s\n", strings.ReplaceAll(entry.Name(), "+", "/"), checkout(binary, kustomize, root, args, folders, start))
		}
	}
	fmt.Println()
}

// checkout measures one checkout and returns its row of the table.
func checkout(binary, kustomize, root string, args, folders []string, start time.Duration) string {
	var build, each []time.Duration
	var ratios []float64
	var rss int64
	for range checkoutRuns {
		ours := run(root, binary, args...)
		var peer time.Duration
		for _, folder := range folders {
			peer += run(root, kustomize, "build", "--load-restrictor", "LoadRestrictionsNone", folder).cpu
		}
		build, each, ratios = append(build, ours.cpu), append(each, peer), append(ratios, ratio(peer, ours.cpu))
		rss = max(rss, ours.rss)
	}
	parse := cpuOf(checkoutRuns, func() time.Duration { return parseAll(root) })
	ours, peer := middle(build), middle(each)
	return fmt.Sprintf("%d | %s | %s | %.0f %% | %.1f× | %.1f× | %d MB |", len(folders), ms(ours), ms(peer),
		100*ratio(start, peer)*float64(len(folders)), middle(ratios), ratio(ours, parse), rss>>20)
}

// kustomizations returns the folders of all Kustomizations of a checkout, and the arguments of the command that
// builds it. If it has several clusters, it uses only one.
func kustomizations(dir string) (folders, args []string) {
	repo, err := repository.Load(dir, repository.Options{})
	check(err)
	if len(repo.ByKind("kustomize.toolkit.fluxcd.io", "Kustomization")) == 0 {
		return nil, nil
	}
	fleet, err := reconcile.Reconcile(context.Background(), repo, reconcile.Options{})
	check(err)
	args = []string{"build", dir}
	if len(fleet.Clusters) > 1 {
		args = append(args, "--cluster", fleet.Clusters[0].Name)
	}
	for _, c := range fleet.Clusters {
		for _, k := range c.Kustomizations {
			if k.Repo == repo && !k.Unbuilt {
				folders = append(folders, k.Dir)
			}
		}
	}
	return folders, args
}

// addKustomizations adds a kustomization to each folder that has none, as Flux does. It changes only the copy.
func addKustomizations(kustomize, root string, folders []string) {
	for _, folder := range folders {
		at := filepath.Join(root, folder)
		has := slices.ContainsFunc(konfig.RecognizedKustomizationFileNames(), func(name string) bool {
			_, err := os.Stat(filepath.Join(at, name))
			return err == nil
		})
		if !has {
			run(at, kustomize, "create", "--autodetect", "--recursive")
		}
	}
}

// parseAll parses each YAML file of a folder once with kyaml, and returns the CPU time.
func parseAll(root string) time.Duration {
	begin := ownCPU()
	check(filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if ext := filepath.Ext(file); err != nil || entry.IsDir() || ext != ".yaml" && ext != ".yml" {
			return err
		}
		text, err := os.ReadFile(file)
		if err == nil {
			_, _ = kio.FromBytes(text) // invalid YAML also takes time to parse
		}
		return err
	}))
	return ownCPU() - begin
}

func ownCPU() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// spent is the CPU time and memory of one process.
type spent struct {
	cpu time.Duration // user and system
	rss int64         // bytes
}

// run runs a command. A failing command counts, too, because what Flux cannot build also takes time.
func run(dir, name string, args ...string) spent {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HTTP_PROXY=127.0.0.1:9", "HTTPS_PROXY=127.0.0.1:9") // nothing is fetched
	if err := cmd.Run(); err != nil {
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
			log.Fatal(err)
		}
	}
	s := spent{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.rss = usage.Maxrss << 10
	}
	return s
}

// cpuOf returns the median of several runs.
func cpuOf(runs int, once func() time.Duration) time.Duration {
	all := make([]time.Duration, runs)
	for i := range all {
		all[i] = once()
	}
	return middle(all)
}

func middle[T cmp.Ordered](all []T) T {
	slices.Sort(all)
	return all[len(all)/2]
}
