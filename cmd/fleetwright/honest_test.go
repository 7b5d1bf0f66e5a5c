package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
)

// repeat returns the texts for 0…n-1, one after another.
func repeat(n int, text func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(text(i))
	}
	return b.String()
}

// honestSync is the sync of a cluster's folder, so that the folder is a root.
const honestSync = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\n" +
	"spec: {interval: 1h, url: https://example.com/a.git, ref: {branch: main}}\n---\n" +
	"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\n" +
	"spec: {interval: 1h, path: ./clusters/%[1]s, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n"

// honestTrees are large repositories that no limit may refuse, by name.
func honestTrees() map[string]map[string]string {
	one := func(files map[string]string) map[string]string {
		files["clusters/one/sync.yaml"] = fmt.Sprintf(honestSync, "one")
		files["clusters/one/ks.yaml"] = fluxKs("app", "")
		return files
	}
	deployment := func(i int) string {
		return fmt.Sprintf("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a%[1]d, namespace: default}\nspec:\n  selector: {matchLabels: {app: a%[1]d}}\n"+
			"  template:\n    metadata: {labels: {app: a%[1]d}}\n    spec: {containers: [{name: c, image: example.com/a:1, env: [{name: HOST, value: x}], resources: {limits: {memory: 64Mi}}}]}\n"+
			"---\napiVersion: v1\nkind: Service\nmetadata: {name: a%[1]d, namespace: default}\nspec: {selector: {app: a%[1]d}, ports: [{port: 80}]}\n", i) +
			strings.Replace(configMap(fmt.Sprint("a", i), "  key: value\n"), "flux-system", "default", 1)
	}
	deployments := map[string]string{"app/all.yaml": repeat(300, deployment), "app/host.yaml": strings.Replace(configMap("host", "  name: example.com\n"), "flux-system", "default", 1),
		"app/kustomization.yaml": "resources: [all.yaml, host.yaml]\npatches:\n" + repeat(20, func(i int) string {
			return fmt.Sprintf(`- {target: {kind: Deployment, name: a%d}, patch: '[{"op": "add", "path": "/spec/replicas", "value": 2}]'}`+"\n", i)
		}) + `- {target: {kind: Deployment}, patch: '[{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]'}` + "\n" +
			"replacements:\n- source: {kind: ConfigMap, name: host, fieldPath: data.name}\n  targets: [{select: {kind: Deployment}, fieldPaths: ['spec.template.spec.containers.[name=c].env.[name=HOST].value']}]\n"}
	dashboards := map[string]string{"app/kustomization.yaml": "namespace: default\nconfigMapGenerator:\n" + repeat(60, func(i int) string { return fmt.Sprintf("- {name: d%[1]d, files: [d%[1]d.json]}\n", i) })}
	for i := range 60 {
		dashboards[fmt.Sprintf("app/d%d.json", i)] = "{\"title\": \"a\", \"panels\": [" + strings.TrimSuffix(repeat(1500, func(i int) string {
			return fmt.Sprintf("{\"id\": %d, \"type\": \"graph\", \"targets\": [{\"expr\": \"sum(rate(http_requests_total[5m]))\"}]},\n", i)
		}), ",\n") + "]}\n"
	}
	overlays := map[string]string{"base/all.yaml": repeat(60, deployment), "base/kustomization.yaml": "resources: [all.yaml]\n"}
	for i := range 15 {
		name := fmt.Sprintf("c%d", i)
		overlays["clusters/"+name+"/sync.yaml"] = fmt.Sprintf(honestSync, name)
		overlays["clusters/"+name+"/ks.yaml"] = strings.Replace(fluxKs("app", ""), "path: ./app", "path: ./overlays/"+name, 1)
		overlays["overlays/"+name+"/kustomization.yaml"] = fmt.Sprintf("resources: [../../base]\npatches:\n"+`- {target: {kind: Deployment}, patch: '[{"op": "add", "path": "/spec/replicas", "value": %d}]'}`+"\n", i)
	}
	secrets := map[string]string{}
	for i := range 300 {
		secrets[fmt.Sprintf("app/s%d.yaml", i)] = fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: s%d, namespace: default}\nstringData:\n", i) + repeat(10, func(i int) string {
			return fmt.Sprintf("  key%d: ENC[AES256_GCM,data:%s,iv:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,tag:AAAAAAAAAAAAAAAAAAAAAA==,type:str]\n", i, strings.Repeat("QUFB", 40))
		}) + "sops:\n  age:\n  - recipient: age1qyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqs3290gq\n    enc: |\n      -----BEGIN AGE ENCRYPTED FILE-----\n      QUFB\n      -----END AGE ENCRYPTED FILE-----\n" +
			"  lastmodified: \"2026-01-01T00:00:00Z\"\n  mac: ENC[AES256_GCM,data:QUFB,iv:QUFB,tag:QUFB,type:str]\n  encrypted_regex: ^(data|stringData)$\n  version: 3.10.2\n"
	}
	chart := map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: chart\nversion: 1.0.0\n",
		"app/release.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: default}\nspec:\n  interval: 1h\n" +
			"  chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}\n"}
	for i := range 10 {
		chart[fmt.Sprintf("chart/crds/c%d.yaml", i)] = fmt.Sprintf("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.g%[1]d.example.com}\n"+
			"spec:\n  group: g%[1]d.example.com\n  scope: Namespaced\n  names: {kind: Thing, listKind: ThingList, plural: things, singular: thing}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n", i) +
			repeat(50, func(i int) string {
				return fmt.Sprintf("          field%d:\n            type: object\n            properties:\n", i) + repeat(100, func(i int) string {
					return fmt.Sprintf("              field%d:\n                type: string\n                description: %s\n", i, strings.Repeat("what this field is for ", 6))
				})
			})
	}
	encrypted := one(secrets)
	encrypted["clusters/one/ks.yaml"] = fluxKs("app", "  decryption: {provider: sops, secretRef: {name: sops-age}}\n")
	return map[string]map[string]string{"300 Deployments": one(deployments), "60 dashboards": one(dashboards), "15 overlays": overlays,
		"300 encrypted Secrets": encrypted, "a chart with 10 MB of definitions": one(chart)}
}

// writeHonest writes a tree to a folder, which it returns.
func writeHonest(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		putFile(t, filepath.Join(dir, name), []byte(content))
	}
	return dir
}

// TestHonest: large repositories that a person may have written are checked whole.
func TestHonest(t *testing.T) {
	for name, files := range honestTrees() {
		t.Run(name, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), "fleetwright", "validate", writeHonest(t, files), "--format", "json").Output()
			var exit *exec.ExitError
			if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != statusFindings) {
				t.Fatal(err)
			}
			var report finding.Report
			if err := json.Unmarshal(out, &report); err != nil {
				t.Fatal(err)
			}
			for _, f := range report.Findings {
				if f.Severity == finding.Error {
					t.Errorf("%s:%d: %s", f.File, f.Line, f.Message)
				}
			}
			c := report.Summary.Coverage
			if c.Kustomizations.Built != c.Kustomizations.Found || c.HelmReleases.Rendered != c.HelmReleases.Found || c.Kustomizations.Found == 0 {
				t.Errorf("not all is built: %+v", c)
			}
		})
	}
}
