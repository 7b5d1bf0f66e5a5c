package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// What the repository of the bootstrap's benchmark has.
const (
	benchReleases     = 300
	benchBootstrapped = 12
)

// bootstrap compares the verification of a bootstrap with what helmfile needs to write the
// values of the same releases.
func bootstrap(binary, helmfile, work string) {
	dir := filepath.Join(work, "bootstrap")
	writeBootstrap(dir)
	ours := measure(7, nil, dir, binary, "bootstrap", "verify", ".")
	fmt.Printf("\n| bootstrap, %d HelmReleases, %d of them bootstrapped | wall | against helmfile write-values | peak memory |\n|---|---|---|---|\n", benchReleases, benchBootstrapped)
	peer := "–"
	if _, err := os.Stat(helmfile); err == nil {
		home := filepath.Join(work, "home")
		check(os.MkdirAll(home, 0o755))
		for _, name := range []string{"HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"} {
			check(os.Setenv(name, home))
		}
		check(os.Setenv("HELMFILE_UPGRADE_NOTICE_DISABLED", "1"))
		check(os.Setenv("PATH", filepath.Dir(helmfile)+string(os.PathListSeparator)+os.Getenv("PATH")))
		theirs := make([]time.Duration, 3)
		for i := range theirs {
			theirs[i] = once(nil, dir, helmfile, "--file", "bootstrap/helmfile.yaml", "write-values", "--skip-deps",
				"--output-file-template", filepath.Join(work, "values", "{{ .Release.Name }}.yaml")).wall
		}
		slices.Sort(theirs)
		peer = fmt.Sprintf("%.1f× faster (%s)", ratio(theirs[1], ours.wall), ms(theirs[1]))
	}
	fmt.Printf("| bootstrap verify | %s | %s | %d MB |\n", ms(ours.wall), peer, ours.rss>>20)
}

// writeBootstrap writes a cluster whose every application is a HelmRelease in a Kustomization
// of its own, which patches of the Kustomizations above reach, and a helmfile that reads some.
func writeBootstrap(dir string) {
	write := func(name, format string, args ...any) {
		file := filepath.Join(dir, name)
		check(os.MkdirAll(filepath.Dir(file), 0o755))
		check(os.WriteFile(file, fmt.Appendf(nil, format, args...), 0o644))
	}
	write("kubernetes/flux/cluster/ks.yaml", benchCluster)
	write("bootstrap/values.yaml.gotmpl", "{{ (readFile (printf \"../%%s/helmrelease.yaml\" .Release.Labels.dir) | fromYaml).spec.values | toYaml }}\n")
	lists := map[string][]string{}
	helmfile := "releases:\n"
	for i := range benchReleases {
		namespace, name := fmt.Sprintf("namespace-%d", i%20), fmt.Sprintf("application-%03d", i)
		at := fmt.Sprintf("kubernetes/apps/%s/%s", namespace, name)
		lists[namespace] = append(lists[namespace], name+"/ks.yaml")
		write(at+"/ks.yaml", benchAppKustomization, name, at, namespace)
		write(at+"/app/kustomization.yaml", "resources: [helmrelease.yaml, ocirepository.yaml]\n")
		write(at+"/app/helmrelease.yaml", benchHelmRelease, name)
		write(at+"/app/ocirepository.yaml", benchOCIRepository, name, i)
		if i%(benchReleases/benchBootstrapped) == 0 {
			helmfile += fmt.Sprintf("  - name: %s\n    namespace: %s\n    chart: oci://example.com/charts/%[1]s\n    version: 1.0.%[3]d\n    labels: {dir: %s/app}\n    values: [values.yaml.gotmpl]\n", name, namespace, i, at)
		}
	}
	for namespace, list := range lists {
		write("kubernetes/apps/"+namespace+"/kustomization.yaml", "namespace: %s\nresources: [%s]\n", namespace, strings.Join(list, ", "))
	}
	write("bootstrap/helmfile.yaml", "%s", helmfile)
}

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
spec: {interval: 1h, url: oci://example.com/charts/%[1]s, ref: {tag: 1.0.%[2]d}}
`
