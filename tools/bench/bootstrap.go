//go:build tools

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The sizes of the repository for the bootstrap benchmark.
const (
	benchReleases     = 300
	benchBootstrapped = 12
)

// Where the charts of the bootstrap benchmark are. Real bootstraps have them in registries or chart
// repositories. Here both are on the loopback interface, so that the network does not count.
const (
	inFolders    = "charts in folders"
	inRegistry   = "charts in an OCI registry"
	inRepository = "charts in four chart repositories"
)

// bootstrap compares the verification of a bootstrap with the time that helmfile needs to write the values of
// the same releases: with an empty cache, as when a new cluster is set up, and with a full one.
func bootstrap(binary, helmfile, work string) {
	fmt.Printf("\n| bootstrap, %d HelmReleases, %d of them bootstrapped | wall | user CPU | wall against `helmfile write-values` | user CPU against it | peak memory |\n|---|---|---|---|---|---|\n", benchReleases, benchBootstrapped)
	for i, charts := range []string{inFolders, inRegistry, inRepository} {
		dir := filepath.Join(work, "bootstrap", fmt.Sprint(i))
		writeBootstrap(dir, charts, startRegistry())
		ours := measure(7, nil, dir, binary, "bootstrap", "verify", ".")
		user := userOf(7, dir, binary, "bootstrap", "verify", ".")
		peer := "– | –"
		if _, err := os.Stat(helmfile); err == nil {
			cold, warm, theirs := writeValues(helmfile, dir, work)
			peer = fmt.Sprintf("%.1f× faster (%s), cache full %.1f× (%s) | %.1f× less (%s)", ratio(cold, ours.wall), ms(cold),
				ratio(warm, ours.wall), ms(warm), ratio(theirs, user), ms(theirs))
		}
		fmt.Printf("| bootstrap verify, %s | %s | %s | %s | %d MB |\n", charts, ms(ours.wall), ms(user), peer, ours.rss>>20)
	}
}

// userOf returns the user CPU time of a command and its children: the minimum of some runs, which other work on
// the machine affects little.
func userOf(runs int, dir, command string, args ...string) time.Duration {
	least := time.Hour
	for range runs {
		c := exec.Command(command, args...)
		c.Dir = dir
		check(c.Run())
		least = min(least, c.ProcessState.UserTime())
	}
	return least
}

// writeValues returns how long helmfile takes: with an empty cache, with the charts in the cache, and its CPU
// time.
func writeValues(helmfile, dir, work string) (cold, warm, user time.Duration) {
	check(os.Setenv("HELMFILE_UPGRADE_NOTICE_DISABLED", "1"))
	check(os.Setenv("PATH", filepath.Dir(helmfile)+string(os.PathListSeparator)+os.Getenv("PATH")))
	var args []string
	fresh := func() {
		home, err := os.MkdirTemp(work, "home-")
		check(err)
		for _, name := range []string{"HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "HELMFILE_CACHE_HOME"} {
			check(os.Setenv(name, home))
		}
		args = []string{"--file", "bootstrap/helmfile/apps.yaml", "write-values", "--output-file-template",
			filepath.Join(home, "values", "{{ .Release.Name }}.yaml")}
	}
	var times [2][]time.Duration
	for range 3 {
		fresh()
		for i := range times {
			times[i] = append(times[i], once(nil, dir, helmfile, args...).wall)
		}
	}
	for _, t := range times {
		slices.Sort(t)
	}
	fresh()
	return times[0][1], times[1][1], userOf(1, dir, helmfile, args...)
}

// writeBootstrap writes a cluster and a helmfile. Each application is a HelmRelease in its own Kustomization,
// and patches of parent Kustomizations apply to it. The helmfile reads some of the HelmReleases as the
// bootstraps of public repositories do: chart and version through one template, values through another.
func writeBootstrap(dir, charts string, from *registry) {
	write := func(name, format string, args ...any) {
		file := filepath.Join(dir, name)
		check(os.MkdirAll(filepath.Dir(file), 0o755))
		check(os.WriteFile(file, fmt.Appendf(nil, format, args...), 0o644))
	}
	write("kubernetes/flux/cluster/ks.yaml", benchCluster)
	write("bootstrap/helmfile/templates/release.yaml.gotmpl", benchReleaseTemplate)
	write("bootstrap/helmfile/templates/values.yaml.gotmpl", "%s", "{{ (fromYaml (readFile (printf \"../../../kubernetes/apps/%s/%s/app/helmrelease.yaml\" .Release.Namespace .Release.Name))).spec.values | toYaml }}\n")
	chart := "'{{ (fromYaml (tpl (readFile \"./templates/release.yaml.gotmpl\") .)).chart }}'"
	repositories := ""
	switch charts {
	case inFolders:
		chart = "'../../charts/{{ .Release.Name }}'"
	case inRepository:
		chart = "'repository-{{ .Release.Labels.repository }}/{{ .Release.Name }}'"
		repositories = "repositories:\n"
		for i := range benchRepositories {
			repositories += fmt.Sprintf("  - {name: repository-%d, url: \"http://%s/repository-%[1]d\"}\n", i, from.address)
		}
	}
	write("bootstrap/helmfile/default.yaml", "%s", repositories+strings.ReplaceAll(benchDefault, "CHART", chart))
	lists := map[string][]string{}
	helmfile := "bases: [./default.yaml]\n---\nreleases:\n"
	needs := ""
	for i := range benchReleases {
		namespace, name, version := fmt.Sprintf("namespace-%d", i%20), fmt.Sprintf("application-%03d", i), fmt.Sprintf("1.0.%d", i)
		at := fmt.Sprintf("kubernetes/apps/%s/%s", namespace, name)
		lists[namespace] = append(lists[namespace], name+"/ks.yaml")
		write(at+"/ks.yaml", benchAppKustomization, name, at, namespace)
		write(at+"/app/kustomization.yaml", "resources: [helmrelease.yaml, ocirepository.yaml]\n")
		write(at+"/app/helmrelease.yaml", benchHelmRelease, name)
		write(at+"/app/ocirepository.yaml", benchOCIRepository, name, version, from.address)
		if i%(benchReleases/benchBootstrapped) != 0 {
			continue
		}
		helmfile += fmt.Sprintf("  - name: %s\n    namespace: %s\n    inherit: [{template: default}]\n    labels: {repository: \"%d\"}\n%s", name, namespace, repositoryOf(i), needs)
		needs = fmt.Sprintf("    needs: [%s/%s]\n", namespace, name)
		from.add(name, version)
		from.index(i, name, version)
		for file, content := range benchChart(name, version) {
			write("charts/"+name+"/"+file, "%s", content)
		}
	}
	for namespace, list := range lists {
		write("kubernetes/apps/"+namespace+"/kustomization.yaml", "namespace: %s\nresources: [%s]\n", namespace, strings.Join(list, ", "))
	}
	write("bootstrap/helmfile/apps.yaml", "%s", helmfile)
}

// benchDefault has the settings that the releases inherit. benchReleaseTemplate is the template that reads
// chart and version.
const (
	benchDefault = `templates:
  default:
    chart: CHART
    version: '{{ (fromYaml (tpl (readFile "./templates/release.yaml.gotmpl") .)).version }}'
    plainHttp: true
    values: [./templates/values.yaml.gotmpl]
`
	benchReleaseTemplate = `{{- $oci := fromYaml (readFile (printf "../../kubernetes/apps/%%s/%%s/app/ocirepository.yaml" .Release.Namespace .Release.Name)) -}}
chart: {{ $oci.spec.url }}
version: {{ $oci.spec.ref.tag }}
`
)

const benchCluster = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1h, url: https://example.com/home.git}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: cluster, namespace: flux-system}
spec: {interval: 1h, path: ./kubernetes/flux/cluster, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: cluster-apps, namespace: flux-system}
spec:
  interval: 1h
  path: ./kubernetes/apps
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
  patches:
    - target: {group: kustomize.toolkit.fluxcd.io, kind: Kustomization}
      patch: |
        apiVersion: kustomize.toolkit.fluxcd.io/v1
        kind: Kustomization
        metadata: {name: _}
        spec:
          patches:
            - target: {group: helm.toolkit.fluxcd.io, kind: HelmRelease}
              patch: |
                apiVersion: helm.toolkit.fluxcd.io/v2
                kind: HelmRelease
                metadata: {name: _}
                spec: {install: {crds: CreateReplace}}
`

const benchAppKustomization = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[1]s}
spec:
  interval: 1h
  path: ./%[2]s/app
  prune: true
  targetNamespace: %[3]s
  sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}
  postBuild: {substitute: {APP: %[1]s}}
`

const benchHelmRelease = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: %[1]s}
spec:
  interval: 1h
  chartRef: {kind: OCIRepository, name: %[1]s}
  values:
    image: {repository: example.com/%[1]s, tag: 1.2.3}
    replicas: 2
    env: [{name: TZ, value: Europe/Berlin}, {name: LOG_LEVEL, value: info}]
    resources: {requests: {cpu: 10m, memory: 64Mi}, limits: {memory: 256Mi}}
    service: {main: {ports: {http: {port: 8080}, metrics: {port: 9090}}}}
    ingress: {main: {enabled: true, hosts: [{host: %[1]s.example.com, paths: [{path: /, pathType: Prefix}]}]}}
    persistence: {config: {enabled: true, size: 5Gi, mountPath: /config}, cache: {type: emptyDir}}
    securityContext: {runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000, runAsNonRoot: true}
`

const benchOCIRepository = `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: %[1]s}
spec: {interval: 1h, url: "oci://%[3]s/charts/%[1]s", ref: {tag: %[2]s}}
`
