//go:build tools

// Bench measures whole processes and prints ratios, which remain valid when absolute times vary with the
// machine. Each row names its reference, which is measured in the same run.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	command := flag.String("fleetwright", "bin/fleetwright", "the command to measure")
	kustomize := flag.String("kustomize", "bin/tools/kustomize", "the kustomize command to compare with")
	kubeconform := flag.String("kubeconform", "bin/tools/kubeconform", "the kubeconform command to compare with")
	catalog := flag.String("catalog", "bin/tools/catalog", "the folder of its JSON Schemas")
	helmfile := flag.String("helmfile", "bin/tools/helmfile", "the helmfile command to compare with, helm beside it")
	sops := flag.String("sops", "bin/tools/sops", "the sops command to compare with")
	runs := flag.Int("runs", 15, "runs of each short command; the median counts")
	repos := flag.String("repos", "", "also measure each checkout in this `DIR`, first")
	only := flag.String("only", "", "measure only this `PART`: checkouts, start, render, graph, bootstrap, secrets or charts")
	chartsIn := flag.String("charts", "", "also measure the charts of the clones OWNER/NAME in this `DIR`")
	flag.Parse()
	binary, err := filepath.Abs(*command)
	check(err)
	var peers peers
	for _, p := range []struct{ to, from *string }{{&peers.kustomize, kustomize}, {&peers.kubeconform, kubeconform}, {&peers.catalog, catalog}} {
		*p.to, err = filepath.Abs(*p.from)
		check(err)
	}
	peers.flux, _ = exec.LookPath("flux")
	helmfilePath, err := filepath.Abs(*helmfile)
	check(err)
	work, err := os.MkdirTemp("", "fleetwright-bench-")
	check(err)
	defer os.RemoveAll(work)

	fmt.Printf("%s/%s, %d CPUs, %s; medians\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	sopsPath, err := filepath.Abs(*sops)
	check(err)
	for _, part := range []struct {
		name string
		run  func()
	}{
		{"checkouts", func() { checkouts(binary, peers.kustomize, *repos, work) }},
		{"start", func() { start(binary, work, *runs) }},
		{"render", func() { render(binary, work) }},
		{"graph", func() { graph(binary, peers, work) }},
		{"bootstrap", func() { bootstrap(binary, helmfilePath, work) }},
		{"secrets", func() { secrets(binary, sopsPath, work) }},
		{"charts", func() { publicCharts(binary, filepath.Join(filepath.Dir(helmfilePath), "helm"), *chartsIn, work) }},
	} {
		if *only == "" || *only == part.name {
			part.run()
		}
	}
}

// start compares the start of the process, and of a small function call, with an empty program that links the
// same modules.
func start(binary, work string, runs int) {
	empty := filepath.Join(work, "empty")
	check(exec.Command("go", "build", "-tags=tools,disable_grpc_modules", "-trimpath", "-ldflags=-s -w", "-o", empty, "./tools/bench/empty").Run())
	floor := measure(runs, nil, work, empty)
	fmt.Println("| process | wall | against the empty program |\n|---|---|---|")
	fmt.Printf("| empty program, same modules | %s | 1.0 |\n", ms(floor.wall))
	for _, c := range []struct {
		name  string
		input []byte
		args  []string
	}{
		{"fleetwright version", nil, []string{"version"}},
		{"fleetwright fn, small ResourceList", []byte(smallList), []string{"fn"}},
	} {
		got := measure(runs, c.input, work, binary, c.args...)
		fmt.Printf("| %s | %s | %.1f |\n", c.name, ms(got.wall), ratio(got.wall, floor.wall))
	}
	fmt.Println()
}

// smallList is a ResourceList as kpt sends it to a validator.
const smallList = `apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: a
    annotations: {config.kubernetes.io/path: a.yaml, internal.config.kubernetes.io/path: a.yaml, config.kubernetes.io/index: '0'}
  data: {k: v}
- apiVersion: v1
  kind: Service
  metadata:
    name: b
    annotations: {config.kubernetes.io/path: b.yaml, internal.config.kubernetes.io/path: b.yaml, config.kubernetes.io/index: '0'}
  spec: {selector: {app: b}, ports: [{port: 80}]}
functionConfig:
  apiVersion: v1
  kind: ConfigMap
  metadata: {name: function-input}
  data: {function: ValidateFleet}
`

// render measures how the time of a render grows with the number of tenants.
func render(binary, work string) {
	fmt.Println("| render, 10 clusters | files | wall | against ten times fewer tenants | peak memory | render again |\n|---|---|---|---|---|---|")
	var before time.Duration
	for _, tenants := range []int{10, 100, 1000} {
		dir := filepath.Join(work, fmt.Sprint(tenants))
		writeSpec(filepath.Join(dir, "fleet"), tenants, 10)
		const runs = 3
		fresh := make([]sample, runs)
		for i := range fresh {
			// Each run has its own folder, because a file system is slow to reuse what was just deleted.
			fresh[i] = once(nil, dir, binary, "render", dir, "--out", filepath.Join(dir, fmt.Sprint("out", i)))
		}
		out := filepath.Join(dir, "out0")
		cold, again := median(fresh), measure(runs, nil, dir, binary, "render", dir, "--out", out)
		growth := "–"
		if before > 0 {
			growth = fmt.Sprintf("%.1f", ratio(cold.wall, before))
		}
		fmt.Printf("| %d tenants | %d | %s | %s | %d MB | %s |\n", tenants, count(out), ms(cold.wall), growth, cold.rss>>20, ms(again.wall))
		before = cold.wall
	}
}

// writeSpec writes a specification with that many tenants and clusters.
func writeSpec(dir string, tenants, clusters int) {
	check(os.MkdirAll(dir, 0o755))
	var b bytes.Buffer
	b.WriteString(header("Fleet", "bench") + "spec:\n  repository: {url: https://github.com/example/platform, secretRef: {name: flux-system}}\n")
	for i := range clusters {
		fmt.Fprintf(&b, "---\n%sspec:\n  environment: %s\n  variables: {DOMAIN: c%d.example.com}\n",
			header("Cluster", fmt.Sprintf("cluster-%d", i)), []string{"staging", "production"}[min(i, 1)], i)
	}
	for i := range 12 {
		fmt.Fprintf(&b, "---\n%sspec:\n  namespace: addon-%d\n  chart: {url: oci://ghcr.io/example/charts/addon-%d, version: 1.2.3}\n"+
			"  values: {host: \"${DOMAIN}\", replicas: 2, image: {tag: v1}, resources: {requests: {cpu: 10m}}, list: [a, b]}\n", header("Addon", fmt.Sprintf("addon-%d", i)), i, i)
	}
	for i := range tenants {
		fmt.Fprintf(&b, "---\n%sspec:\n  source: {url: https://github.com/example/tenant-%d}\n", header("Tenant", fmt.Sprintf("tenant-%d", i)), i)
	}
	check(os.WriteFile(filepath.Join(dir, "fleet.yaml"), b.Bytes(), 0o644))
}

func header(kind, name string) string {
	return fmt.Sprintf("apiVersion: fleetwright.dev/v1alpha1\nkind: %s\nmetadata: {name: %s}\n", kind, name)
}

// sample is the time and memory of one run of a process.
type sample struct {
	wall time.Duration
	cpu  time.Duration // of the process and those that it waited for
	rss  int64         // bytes
}

// measure runs a command once unmeasured, then runs times, and returns the median.
func measure(runs int, input []byte, dir, name string, args ...string) sample {
	once(input, dir, name, args...)
	samples := make([]sample, runs)
	for i := range samples {
		samples[i] = once(input, dir, name, args...)
	}
	return median(samples)
}

func once(input []byte, dir, name string, args ...string) sample {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(input)
	begin := time.Now()
	output, err := cmd.CombinedOutput()
	wall := time.Since(begin)
	if err != nil {
		log.Fatalf("%s %v: %v\n%s", name, args, err, output)
	}
	s := sample{wall: wall, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.rss = usage.Maxrss << 10 // kilobytes on Linux
	}
	return s
}

func median(samples []sample) sample {
	slices.SortFunc(samples, func(a, b sample) int { return int(a.wall - b.wall) })
	return samples[len(samples)/2]
}

func count(dir string) int {
	n := 0
	check(filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	}))
	return n
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func ms(d time.Duration) string { return fmt.Sprintf("%.0f ms", float64(d)/1e6) }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
