//go:build tools

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// peers are the commands that graph compares with. A command that is not available is "".
type peers struct {
	kustomize, flux string
	// kubeconform reads the JSON Schemas in the folder catalog.
	kubeconform, catalog string
}

// few is the maximum number of Kustomizations for which a command is measured that has to run once for each.
const few = 100

// graph measures the evaluation of a cluster, compared with the kustomize command once for each Kustomization,
// and how it grows with their number.
func graph(binary string, peers peers, work string) {
	fmt.Println("\n| one cluster | objects | build | against `kustomize build` for each | against ten times fewer | peak memory | validate | again | peak memory |\n|---|---|---|---|---|---|---|---|---|")
	var before time.Duration
	for _, n := range []int{10, 100, 1000, 5000} {
		dir := filepath.Join(work, fmt.Sprint("repository-", n))
		objects := writeRepository(dir, n)
		runs := 5
		if n > 1000 {
			runs = 3
		}
		cold := once(nil, dir, binary, "validate", ".")
		build := measure(runs, nil, dir, binary, "build", ".", "--format", "json")
		validate := measure(runs, nil, dir, binary, "validate", ".")
		peer := forEach(n, dir, peers.kustomize, func(i int) []string { return []string{"build", app(i)} })
		growth := "–"
		if before > 0 {
			growth = fmt.Sprintf("%.1f", ratio(build.wall, before))
		}
		fmt.Printf("| %d Kustomizations | %d | %s | %.1f× faster | %s | %d MB | %s | %s | %d MB |\n",
			n, objects, ms(build.wall), ratio(peer, build.wall), growth, build.rss>>20, ms(cold.wall), ms(validate.wall), validate.rss>>20)
		before = build.wall
		if n == few {
			defer fluxBuild(peers.flux, dir, build)
		}
		if n == 1000 {
			defer schemas(binary, peers, dir, validate)
		}
	}
}

// forEach returns the time that a command takes for n Kustomizations, one after the other. For a large n, it
// extrapolates from a few.
func forEach(n int, dir, command string, args func(i int) []string) time.Duration {
	begin := time.Now()
	for i := range min(n, few) {
		once(nil, dir, command, args(i)...)
	}
	return time.Since(begin) * time.Duration(n) / time.Duration(min(n, few))
}

// fluxBuild compares with the flux command, if that is available.
func fluxBuild(flux, dir string, build sample) {
	if flux == "" {
		return
	}
	peer := forEach(few, dir, flux, func(i int) []string {
		return []string{"build", "kustomization", fmt.Sprint("app-", i), "--dry-run", "--path", app(i), "--kustomization-file", fmt.Sprintf("clusters/one/app-%d.yaml", i)}
	})
	fmt.Printf("\n`flux build kustomization` for each of %d: %s, %.1f× our build.\n", few, ms(peer), ratio(peer, build.wall))
}

// schemas compares with kubeconform, which gets the built objects and only checks their schemas.
func schemas(binary string, peers peers, dir string, validate sample) {
	built, err := exec.Command(binary, "build", dir).Output()
	check(err)
	file := filepath.Join(dir, "built.yaml")
	check(os.WriteFile(file, built, 0o644))
	location := filepath.ToSlash(peers.catalog) + "/{{ .Group }}/{{ .ResourceKind }}_{{ .ResourceAPIVersion }}.json"
	peer := measure(5, nil, dir, peers.kubeconform, "-strict", "-schema-location", location, file)
	fmt.Println("\n| 1,000 Kustomizations | wall | against it | peak memory |\n|---|---|---|---|")
	fmt.Printf("| `fleetwright validate`: builds them, every rule | %s | 1.0 | %d MB |\n", ms(validate.wall), validate.rss>>20)
	fmt.Printf("| `kubeconform -strict`: gets the built objects, checks schemas only | %s | %.1f | %d MB |\n", ms(peer.wall), ratio(peer.wall, validate.wall), peer.rss>>20)
}

func app(i int) string { return fmt.Sprintf("apps/app-%d", i) }

// writeRepository writes a cluster with n Kustomizations, each with five objects with variables, and returns
// the number of objects. Their kustomizations use features as often as the 2,955 kustomizations of 40 public
// repositories: of 100, 21 set the namespace, 11 have generators, 7 have components, 6 set labels, 3 have
// patches, and the others only list files.
func writeRepository(dir string, n int) int {
	write := func(name, format string, args ...any) {
		file := filepath.Join(dir, name)
		check(os.MkdirAll(filepath.Dir(file), 0o755))
		check(os.WriteFile(file, fmt.Appendf(nil, format, args...), 0o644))
	}
	write("clusters/one/vars.yaml", benchVariables)
	write("base/kustomization.yaml", "resources: [app.yaml]\n")
	write("base/app.yaml", benchApp, "base")
	write("component/kustomization.yaml", benchComponent)
	objects := 1 + n
	for i := range n {
		name := fmt.Sprintf("app-%d", i)
		write("clusters/one/"+name+".yaml", benchKustomization, name)
		kustomization := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [app.yaml]\n"
		objects += 5
		switch kind := i * 37 % 100; { // every 100 have each number once
		case kind < 3:
			write(app(i)+"/kustomization.yaml", benchOverlay, name)
			continue
		case kind < 9:
			kustomization += "labels: [{pairs: {team: web}}]\n"
		case kind < 16:
			kustomization += "components: [../../component]\n"
		case kind < 27:
			kustomization += "configMapGenerator: [{name: settings-" + name + ", namespace: default, literals: [A=B]}]\n"
			objects++
		case kind < 48:
			kustomization += "namespace: " + name + "\n"
		}
		write(app(i)+"/kustomization.yaml", "%s", kustomization)
		write(app(i)+"/app.yaml", benchApp, name)
	}
	return objects
}

const benchVariables = `apiVersion: v1
kind: ConfigMap
metadata: {name: vars, namespace: flux-system}
data: {DOMAIN: example.com, REPLICAS: "2"}
`

const benchKustomization = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[1]s, namespace: flux-system}
spec:
  interval: 1h
  prune: true
  wait: true
  path: ./apps/%[1]s
  sourceRef: {kind: GitRepository, name: flux-system}
  postBuild:
    substituteFrom: [{kind: ConfigMap, name: vars}]
`

const benchComponent = `apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- patch: |
    - {op: add, path: /spec/revisionHistoryLimit, value: 2}
  target: {kind: Deployment}
`

const benchOverlay = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: %[1]s
namePrefix: %[1]s-
resources: [../../base]
patches:
- patch: |
    - {op: replace, path: /spec/template/spec/containers/0/resources/requests/cpu, value: 20m}
  target: {kind: Deployment}
`

const benchApp = `apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: default}
spec:
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      containers:
      - name: web
        image: example.com/web
        env: [{name: DOMAIN, value: "${DOMAIN}"}]
        ports: [{name: http, containerPort: 8080}]
        resources: {requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 64Mi}}
        volumeMounts: [{name: config, mountPath: /config}]
      volumes: [{name: config, configMap: {name: %[1]s}}]
---
apiVersion: v1
kind: Service
metadata: {name: %[1]s, namespace: default}
spec: {selector: {app: %[1]s}, ports: [{name: http, port: 80, targetPort: http}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: %[1]s, namespace: default}
data: {url: "https://%[1]s.${DOMAIN}"}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: %[1]s, namespace: default}
spec:
  rules: [{host: "%[1]s.${DOMAIN}", http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: %[1]s, port: {name: http}}}}]}}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: %[1]s, namespace: default}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: %[1]s}}}
`
