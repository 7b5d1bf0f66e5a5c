//go:build tools

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// sample has a place for each kind of fault.
const sample = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: apps
  namespace: flux-system
spec:
  interval: 1h
  path: ./apps/web
  prune: true
  targetNamespace: default
  dependsOn:
  - name: infrastructure
  sourceRef:
    kind: GitRepository
    name: flux-system
  decryption:
    provider: sops
    secretRef:
      name: sops-age
  healthChecks:
  - kind: Deployment
    name: podinfo
  postBuild:
    substituteFrom:
    - kind: ConfigMap
      name: variables
  timeout: 5m
---
resources:
- deployment.yaml
components:
- ../components/common
namespace: default
patches:
- path: patch.yaml
  target:
    kind: Deployment
    name: podinfo
configMapGenerator:
- name: settings
  files:
  - settings.json
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: podinfo
spec:
  interval: 1h
  chart:
    spec:
      chart: podinfo
      version: 6.9.0
      sourceRef:
        kind: HelmRepository
        name: podinfo
        namespace: flux-system
  dependsOn:
  - name: redis
  install:
    remediation:
      retries: 3
  valuesFrom:
  - kind: ConfigMap
    name: podinfo-values
  values:
    replicas: 2
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata:
  name: podinfo
spec:
  interval: 1h
  url: oci://ghcr.io/stefanprodan/charts/podinfo
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: podinfo
spec:
  replicas: 2
  selector:
    matchLabels:
      app: podinfo
  template:
    metadata:
      labels:
        app: podinfo
    spec:
      serviceAccountName: podinfo
      containers:
      - name: web
        image: ghcr.io/stefanprodan/podinfo
        ports:
        - name: http
          containerPort: 9898
        resources:
          requests:
            memory: 128Mi
        volumeMounts:
        - name: data
          mountPath: /data
      volumes:
      - name: data
        persistentVolumeClaim:
          claimName: podinfo
---
apiVersion: batch/v1
kind: CronJob
metadata:
  name: backup
spec:
  schedule: "0 3 * * *"
---
apiVersion: v1
kind: Service
metadata:
  name: podinfo
spec:
  selector:
    app: podinfo
  ports:
  - name: http
    port: 80
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: podinfo
spec:
  rules:
  - host: podinfo.${DOMAIN}
    http:
      paths:
      - path: /
        pathType: Prefix
        backend:
          service:
            name: podinfo
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: podinfo
spec:
  rules:
  - backendRefs:
    - name: podinfo
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: podinfo
roleRef:
  kind: Role
  name: podinfo
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: podinfo
spec:
  accessModes:
  - ReadWriteOnce
---
apiVersion: v1
kind: Namespace
metadata:
  name: default
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata:
  name: podinfo
spec:
  providerRef:
    name: slack
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImagePolicy
metadata:
  name: podinfo
spec:
  imageRepositoryRef:
    name: podinfo
---
apiVersion: notification.toolkit.fluxcd.io/v1
kind: Receiver
metadata:
  name: podinfo
spec:
  secretRef:
    name: token
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: podinfo
data:
  color: blue
`

// samplePlaces are the places of the sample.
func samplePlaces(t *testing.T) []*place {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sample.yaml"), []byte(sample), 0o644); err != nil {
		t.Fatal(err)
	}
	a := &applier{dir: dir, places: map[[2]any]*place{}}
	for i, document := range strings.Split(sample, "\n---\n") {
		kind := "kustomization"
		if _, after, ok := strings.Cut("\n"+document, "\nkind: "); ok {
			kind, _, _ = strings.Cut(after, "\n")
		}
		a.add("sample.yaml", i, kind, ".", true)
	}
	return a.sorted()
}

// Each kind of fault has a place in the sample, and changes or adds at most three lines of it.
func TestKinds(t *testing.T) {
	places := samplePlaces(t)
	for _, k := range allKinds {
		edited := 0
		for _, p := range places {
			old, changed := k.inject(p)
			if !changed {
				continue
			}
			edited++
			if lines := strings.Split(difference(old, p.text), "\n"); len(lines) > 3 {
				t.Errorf("%s changes\n%s", k.name, strings.Join(lines, "\n"))
			}
			p.text = old
		}
		if edited == 0 {
			t.Errorf("%s has no place in the sample", k.name)
		}
	}
}

// Edits keep everything but their own lines.
func TestEdits(t *testing.T) {
	places := samplePlaces(t)
	for name, want := range map[string]string{
		"Kustomization: path misspelt":                      "-   path: ./apps/web\n+   path: ./app/web",
		"Kustomization: prune missing":                      "-   prune: true",
		"kustomization: resource removed":                   "- - deployment.yaml",
		"HelmRelease: retries that are not a number":        "-       retries: 3\n+       retries: three",
		"CronJob: schedule that is not valid":               "-   schedule: \"0 3 * * *\"\n+   schedule: \"every day\"",
		"Kustomization: variable that is not defined":       "-   - host: podinfo.${DOMAIN}\n+   - host: podinfo.${DMAIN}",
		"workload: ConfigMap or Secret that does not exist": "+         envFrom: [{configMapRef: {name: nowhere}}]",
	} {
		found := false
		for _, k := range allKinds {
			for _, p := range places {
				if k.name != name || found {
					continue
				}
				if old, changed := k.inject(p); changed {
					found = true
					if got := difference(old, p.text); got != want {
						t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
					}
					p.text = old
				}
			}
		}
		if !found {
			t.Errorf("no %s", name)
		}
	}
}

// A fault counts by the most severe finding that was not there before, however often that one was.
func TestAdded(t *testing.T) {
	read := func(findings ...string) *report {
		r := &report{}
		for _, f := range findings {
			severity, message, _ := strings.Cut(f, " ")
			if severity == "unresolved" {
				r.Unresolved = append(r.Unresolved, struct{ Rule, File, Reason string }{"r", "f", message})
				continue
			}
			r.Findings = append(r.Findings, struct {
				Rule, Severity, File, Cluster, Message string
				Line                                   int
			}{Rule: "r", Severity: severity, File: "f", Message: message})
		}
		return r
	}
	for _, c := range []struct {
		before, after *report
		want          string
	}{
		{read("error a"), read("error a"), "missed"},
		{read("error a"), read("error a", "error a"), "error"},
		{read(), read("info a", "warning b", "unresolved c"), "warning"},
		{read("unresolved a"), read("unresolved a", "unresolved b"), "unresolved"},
		{read("error a"), read(), "missed"},
	} {
		if got, _ := added(c.before, c.after); got != c.want {
			t.Errorf("%v, %v: %s, want %s", c.before, c.after, got, c.want)
		}
	}
}

// A typo of a generator's file is one of the file, and not of the key that the ConfigMap has it by.
func TestTypoOfGeneratorFile(t *testing.T) {
	var doc yaml.Node
	text := "files: [settings.js=./a.js]\n"
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	p := &place{text: text}
	if !p.typo(doc.Content[0].Content[1].Content[0]) || !strings.HasPrefix(p.text, "files: [settings.js=./") || p.text == text {
		t.Error(p.text)
	}
}
