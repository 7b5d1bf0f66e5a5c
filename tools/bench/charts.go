//go:build tools

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sigs.k8s.io/yaml"
)

// chartSources are the public charts that are measured: the commit of each repository, the folder of its charts, and their
// names. Charts that these depend on are taken from the same commits.
var chartSources = []struct{ repository, commit, folder, names string }{
	{"prometheus-community/helm-charts", "cf408a290aec489277a94450bb3511432477a53a", "charts", "alertmanager kube-state-metrics prometheus " +
		"prometheus-adapter prometheus-blackbox-exporter prometheus-elasticsearch-exporter prometheus-node-exporter prometheus-operator-crds " +
		"prometheus-json-exporter prometheus-pushgateway prometheus-redis-exporter prometheus-smartctl-exporter prometheus-snmp-exporter"},
	{"grafana/helm-charts", "7a0ab968961a165318ab95ff678908c3b9bc3240", "charts", "fluent-bit loki-distributed promtail rollout-operator"},
	{"argoproj/argo-helm", "af0a9310bacbaa4636018dfe22c801a6d33a5c43", "charts", "argo-events argo-rollouts argo-workflows argocd-image-updater"},
	{"kubernetes/ingress-nginx", "dbb11b92ddb77bee9c35e462479129354c84f939", "charts", "ingress-nginx"},
	{"bitnami/charts", "5165628ae06697f8f68a670bef7739d93c4b7f44", "bitnami", "contour etcd external-dns kafka mariadb memcached metallb minio " +
		"mongodb mysql nginx postgresql rabbitmq redis sealed-secrets"},
}

// publicChart is a chart that is packed.
type publicChart struct{ name, version, archive string }

// publicCharts measures a cluster with public charts: rendering them against helm template, with one release changed and
// with none, and fetching them from servers on the loopback interface against helm pull.
func publicCharts(binary, helm, clones, work string) {
	if clones == "" {
		return
	}
	home := filepath.Join(work, "charts")
	for _, name := range []string{"HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME", "FLEETWRIGHT_CACHE", "XDG_CONFIG_HOME"} {
		check(os.Setenv(name, filepath.Join(home, "home", name)))
	}
	charts := packCharts(helm, clones, home)
	from := startRegistry()
	for i, c := range charts {
		data, err := os.ReadFile(c.archive)
		check(err)
		from.addArchive(i, c.name, c.version, data)
	}
	dir := filepath.Join(home, "repository")
	writeChartCluster(dir, from.address, charts, "")
	once(nil, dir, binary, "fetch", ".")
	fmt.Printf("\n| %d public charts | wall | CPU time | of the peer: wall | CPU time | wall | CPU time |\n|---|---|---|---|---|---|---|\n", len(charts))
	renderCharts(binary, helm, dir, from.address, charts)
	fetchCharts(binary, helm, dir, home, from.address, charts)
}

// renderCharts measures build: when nothing is kept, when all is, and when one release changed.
func renderCharts(binary, helm, dir, address string, charts []publicChart) {
	cache := os.Getenv("FLEETWRIGHT_CACHE")
	build := func() sample { return once(nil, dir, binary, "build", ".") }
	var cold, peer, warm, changed, without []sample
	for i := range chartRuns {
		writeChartCluster(dir, address, charts, "")
		check(os.RemoveAll(filepath.Join(cache, "results")))
		cold = append(cold, build())
		peer = append(peer, templateAll(helm, charts))
		warm = append(warm, build())
		writeChartCluster(dir, address, charts, fmt.Sprint("change-", i))
		changed = append(changed, build())
		check(os.Setenv("FLEETWRIGHT_CACHE", cache+"-empty"))
		without = append(without, build())
		check(os.Setenv("FLEETWRIGHT_CACHE", cache))
	}
	writeChartCluster(dir, address, charts, "")
	times("`build` with nothing kept, against `helm template` once for each, two at a time", cold, peer)
	more("`build` again, against `build` without charts", warm, without)
	more("`build` with one release changed, against `build` without charts", changed, without)
}

// fetchCharts measures fetch: into an empty cache, and when nothing is missing.
func fetchCharts(binary, helm, dir, home, address string, charts []publicChart) {
	var fetched, pulled, idle, builds []sample
	for i := range chartRuns {
		check(os.Setenv("FLEETWRIGHT_CACHE", filepath.Join(home, fmt.Sprint("fetch-", i))))
		check(os.Remove(filepath.Join(dir, ".fleetwright/lock.yaml")))
		fetched = append(fetched, once(nil, dir, binary, "fetch", "."))
		pulled = append(pulled, pullAll(helm, address, filepath.Join(home, fmt.Sprint("pull-", i)), charts))
		idle = append(idle, once(nil, dir, binary, "fetch", "."))
		builds = append(builds, once(nil, dir, binary, "build", "."))
	}
	times("`fetch`, against `helm pull` once for each, two at a time", fetched, pulled)
	more("`fetch` with nothing to do, against `build`", idle, builds)
}

// chartRuns is how often each is measured, in turns.
const chartRuns = 3

// middles returns the medians of wall and CPU time.
func middles(all []sample) (wall, cpu time.Duration) {
	var walls, cpus []time.Duration
	for _, s := range all {
		walls, cpus = append(walls, s.wall), append(cpus, s.cpu)
	}
	return middle(walls), middle(cpus)
}

// times prints by which factor we are faster than a peer.
func times(what string, ours, theirs []sample) {
	wall, cpu := middles(ours)
	peerWall, peerCPU := middles(theirs)
	fmt.Printf("| %s | %s | %s | %s | %s | %.1f× faster | %.1f× less |\n", what, ms(wall), ms(cpu), ms(peerWall), ms(peerCPU), ratio(peerWall, wall), ratio(peerCPU, cpu))
}

// more prints how much more time something takes than a base.
func more(what string, ours, base []sample) {
	wall, cpu := middles(ours)
	baseWall, baseCPU := middles(base)
	fmt.Printf("| %s | %s | %s | %s | %s | %+.0f ms | %+.0f ms |\n", what, ms(wall), ms(cpu), ms(baseWall), ms(baseCPU), float64(wall-baseWall)/1e6, float64(cpu-baseCPU)/1e6)
}

// packCharts packs the charts with their dependencies.
func packCharts(helm, clones, home string) []publicChart {
	var all []publicChart
	for _, s := range chartSources {
		for _, name := range strings.Fields(s.names) {
			folder := extract(clones, home, s.repository, s.commit, s.folder, name)
			for _, dependency := range dependencies(folder) {
				if _, err := os.Stat(filepath.Join(folder, "charts", dependency)); err != nil {
					check(os.MkdirAll(filepath.Join(folder, "charts"), 0o755))
					check(os.CopyFS(filepath.Join(folder, "charts", dependency), os.DirFS(extract(clones, home, s.repository, s.commit, s.folder, dependency))))
				}
			}
			out, err := exec.Command(helm, "package", folder, "--destination", filepath.Join(home, "packed")).CombinedOutput()
			if err != nil {
				check(fmt.Errorf("%s: %w\n%s", name, err, out))
			}
			_, archive, _ := strings.Cut(strings.TrimSpace(string(out)), "saved it to: ")
			version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(archive), name+"-"), ".tgz")
			all = append(all, publicChart{name, version, archive})
		}
	}
	return all
}

// extract returns the folder with the files of a chart at a commit.
func extract(clones, home, repository, commit, folder, name string) string {
	to := filepath.Join(home, "source", repository)
	check(os.MkdirAll(to, 0o755))
	at := path.Join(folder, name)
	files, err := exec.Command("git", "-C", filepath.Join(clones, repository), "archive", "--format=tar", commit, at).Output()
	if err != nil {
		check(fmt.Errorf("%s at %s: %w", repository, commit, err))
	}
	unpack := exec.Command("tar", "-x", "-C", to)
	unpack.Stdin = bytes.NewReader(files)
	check(unpack.Run())
	return filepath.Join(to, at)
}

// dependencies returns the names of the charts that a chart depends on.
func dependencies(folder string) []string {
	data, err := os.ReadFile(filepath.Join(folder, "Chart.yaml"))
	check(err)
	var chart struct {
		Dependencies []struct{ Name, Repository string }
	}
	check(yaml.Unmarshal(data, &chart))
	var names []string
	for _, d := range chart.Dependencies {
		names = append(names, d.Name)
	}
	return names
}

// writeChartCluster writes a cluster with a HelmRelease for each chart, every other one from the registry.
func writeChartCluster(dir, address string, charts []publicChart, changed string) {
	var b bytes.Buffer
	b.WriteString(benchChartSync)
	for i := range benchRepositories {
		fmt.Fprintf(&b, "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: repository-%d, namespace: flux-system}\nspec: {interval: 1h, url: \"http://%s/repository-%[1]d\"}\n", i, address)
	}
	fmt.Fprintf(&b, "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: registry, namespace: flux-system}\nspec: {type: oci, insecure: true, url: \"oci://%s/charts\"}\n", address)
	for i, c := range charts {
		source := "registry"
		if fromIndex(i) {
			source = fmt.Sprintf("repository-%d", repositoryOf(i))
		}
		fmt.Fprintf(&b, benchChartRelease, c.name, c.version, source)
		if i == 0 && changed != "" {
			fmt.Fprintf(&b, "  values: {fullnameOverride: %s}\n", changed)
		}
	}
	at := filepath.Join(dir, "clusters/bench")
	check(os.MkdirAll(at, 0o755))
	check(os.WriteFile(filepath.Join(at, "all.yaml"), b.Bytes(), 0o644))
}

// fromIndex reports whether a chart comes from a repository with an index, and not from the registry.
func fromIndex(i int) bool { return i%8 < 4 }

// templateAll times helm template once for each chart, two at a time.
func templateAll(helm string, charts []publicChart) sample {
	return twoAtATime(len(charts), func(i int) *exec.Cmd {
		return exec.Command(helm, "template", charts[i].name, charts[i].archive, "--namespace", charts[i].name, "--include-crds", "--kube-version", "1.36.0")
	})
}

// pullAll times helm pull once for each chart, two at a time, once helm knows the repositories.
func pullAll(helm, address, to string, charts []publicChart) sample {
	check(os.MkdirAll(to, 0o755))
	for i := range benchRepositories {
		out, err := exec.Command(helm, "repo", "add", "--force-update", fmt.Sprintf("repository-%d", i), fmt.Sprintf("http://%s/repository-%d", address, i)).CombinedOutput()
		if err != nil {
			check(fmt.Errorf("%w: %s", err, out))
		}
	}
	return twoAtATime(len(charts), func(i int) *exec.Cmd {
		c := charts[i]
		if fromIndex(i) {
			return exec.Command(helm, "pull", fmt.Sprintf("repository-%d/%s", repositoryOf(i), c.name), "--version", c.version, "--destination", to)
		}
		return exec.Command(helm, "pull", fmt.Sprintf("oci://%s/charts/%s", address, c.name), "--plain-http", "--version", c.version, "--destination", to)
	})
}

// twoAtATime runs commands in parallel, two of them at any time.
func twoAtATime(n int, command func(i int) *exec.Cmd) sample {
	begin := time.Now()
	slots := make(chan struct{}, 2)
	var cpu atomic.Int64
	var wg sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			c := command(i)
			var failure bytes.Buffer
			c.Stdout, c.Stderr = io.Discard, &failure
			if err := c.Run(); err != nil {
				check(fmt.Errorf("%v: %w\n%s", c.Args, err, failure.String()))
			}
			cpu.Add(int64(c.ProcessState.UserTime() + c.ProcessState.SystemTime()))
		})
	}
	wg.Wait()
	return sample{wall: time.Since(begin), cpu: time.Duration(cpu.Load())}
}

const benchChartSync = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1h, url: https://example.com/fleet.git}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1h, path: ./clusters/bench, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
`

const benchChartRelease = `---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: %[1]s, namespace: %[1]s}
spec:
  interval: 1h
  chart: {spec: {chart: %[1]s, version: %[2]s, sourceRef: {kind: HelmRepository, name: %[3]s, namespace: flux-system}}}
`
