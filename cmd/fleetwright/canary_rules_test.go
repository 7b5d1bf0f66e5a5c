package main

import (
	"encoding/base64"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators"
)

// canaryCarriers are files with a password in a place that names it as nothing of the kind: what leads to
// it is in another file, or in another part of the file.
func canaryCarriers() map[string]string {
	const (
		flux   = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: NAME, namespace: flux-system}\nspec:\n  interval: 1h\n  prune: true\n  path: ./apps/NAME\n  sourceRef: {kind: GitRepository, name: flux-system}\n"
		set    = "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: NAME, namespace: apps}\nspec:\n"
		secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: NAME, namespace: apps}\n"
		wrong  = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: \"VALUE\", namespace: \"VALUE\"}\nspec: {replicas: \"VALUE\", strategy: {type: \"a-VALUE\"}, selectr: \"VALUE\"}\n"
		sync   = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {interval: 1h, url: https://example.com/a.git, ref: {branch: main}}\n---\n"
	)
	ks := func(name, more string) string { return "---\n" + strings.ReplaceAll(flux, "NAME", name) + more }
	wrongly := func(value string) string { return strings.ReplaceAll(wrong, "VALUE", value) }
	return map[string]string{
		"clusters/prod/flux-system/gotk-sync.yaml": sync + strings.Replace(strings.ReplaceAll(flux, "NAME", "flux-system"), "./apps/flux-system", "./clusters/prod", 1),
		"clusters/prod/carrier.yaml":               strings.Replace(strings.ReplaceAll(secret, "NAME", "carrier"), "apps", "flux-system", 1) + "stringData:\n  CARRIED: CANARY\n",
		"clusters/prod/apps.yaml": ks("sets", "") + ks("brokensets", "") + ks("maps", "") + ks("patched", "") + ks("broken", "") + ks("brokenjson", "") +
			ks("parts", "  postBuild: {substituteFrom: [{kind: Secret, name: carrier}]}\n") + ks("defaults", "  postBuild: {substitute: {ANY: x}}\n") +
			ks("misnamed", "  postBuild: {substitute: {DB_PASSWORD: \"${DB_PASSWORD:=CANARY}\"}}\n"),
		// The inputs of ResourceSets, in a Secret of theirs, whole or in a template; one is unreached.
		"apps/sets/resources.yaml":      set + "  inputs:\n    - tenant: team\n      seed: CANARY\n  inputz: 1\n  resources:\n    - apiVersion: v1\n      kind: Secret\n      metadata: {name: a, namespace: apps}\n      stringData: {replication: << inputs.seed >>}\n    - apiVersion: v1\n      kind: ConfigMap\n      metadata: {name: \"<< inputs.seed >>\", namespace: \"<< inputs.seed >>\"}\n      dat: {a: << inputs.seed >>}\n",
		"apps/brokensets/template.yaml": set + "  inputs: [{tenant: team, seed: CANARY}, {tenant: other, seed: CANARY, tenant: again}]\n  resourcesTemplate: |\n    apiVersion: v1\n    kind: Secret\n    metadata: {name: << inputs.tenant >>, namespace: apps}\n    stringData: {replication: << inputs.seed | quote >>}\n",
		"apps/brokensets/provided.yaml": set + "  inputsFrom: [{name: given, kind: ResourceSetInputProvider}]\n  resourcesTemplate: |\n    apiVersion: v1\n    kind: Secret\n    metadata: {name: c, namespace: apps}\n    stringData: {replication: << inputs.seed >>}\n---\napiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSetInputProvider\nmetadata: {name: given, namespace: apps}\nspec: {type: Statics, defaultValues: {seed: CANARY, seed: CANARY}}\n",
		"unreached/set.yaml":            set + "  inputs: [{seed: CANARY, seed: CANARY}]\n  resourcesTemplate: |\n    apiVersion: v1\n    kind: Secret\n    metadata: {name: d, namespace: apps}\n    stringData: {replication: << inputs.seed >>}\n",
		// Generators of ConfigMaps that read secrets.
		"apps/maps/kustomization.yaml": "resources: [named.yaml]\nconfigMapGenerator:\n  - name: a\n    files: [db-password.txt, settings.ini]\n  - name: b\n    envs: [plain.env]\n  - name: c\n    files: ['password=CANARY']\n  - name: d\n    envs: ['CANARY']\n  - name: e\n    literals: [CANARY]\n",
		"apps/maps/named.yaml":         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: f, namespace: apps}\ndata: {DB_PASSWORD: CANARY, DB_PASSWORD: CANARY, n: 1}\n",
		"apps/maps/db-password.txt":    "CANARY\n",
		"apps/maps/settings.ini":       "[db]\npassword = CANARY\n",
		"apps/maps/plain.env":          "DB_PASSWORD=CANARY\nDB PASSWORD CANARY\n",
		// Patches that cannot be applied.
		"apps/patched/kustomization.yaml":    "resources: [a.yaml]\npatches:\n  - path: patch.yaml\n  - patch: |-\n      apiVersion: v1\n      kind: Secret\n      metadata: {name: a}\n      stringData: [CANARY]\n  - patch: 'stringData: {password: CANARY'\n",
		"apps/patched/a.yaml":                strings.ReplaceAll(secret, "NAME", "a") + "stringData: {a: b}\n",
		"apps/patched/patch.yaml":            strings.ReplaceAll(secret, "NAME", "missing") + "stringData:\n  replication: CANARY\n",
		"apps/broken/kustomization.yaml":     "resources: [../patched/a.yaml]\npatchesStrategicMerge:\n  - |-\n    apiVersion: v1\n    kind: Secret\n    metadata: {name: a\n    stringData: {replication: CANARY}\n",
		"apps/brokenjson/kustomization.yaml": "resources: [../patched/a.yaml]\npatches:\n  - target: {kind: Secret}\n    patch: '[{\"op\": \"add\", \"path\": \"/stringData/x/y/z\", \"value\": \"CANARY\"}]'\n  - target: {kind: Secret}\n    patch: '[{\"op\": \"test\", \"path\": \"/stringData/a\", \"value\": \"CANARY\"}]'\n",
		// Sets that are parsed, with one mistake each.
		"apps/sets/wrong.yaml":   set + "  inputs:\n    - tenant: team\n      seed: CANARY\n  inputz: 1\n  resources: [{apiVersion: v1, kind: Secret, metadata: {name: e, namespace: apps}, stringData: {replication: \"<< inputs.seed >>\"}}]\n",
		"apps/sets/line.yaml":    set + "  inputs: [{tenant: 1, seed: CANARY, more: [CANARY]}]\n  resources: [{apiVersion: v1, kind: Secret, metadata: {name: f, namespace: apps}, stringData: {replication: \"<< inputs.seed >>\"}}]\n",
		"apps/sets/invalid.yaml": set + "  inputs:\n    - seed: CANARY\n  resources: [{apiVersion: v1, kind: Secret, metadata: {name: g, namespace: apps}, stringData: {replication: \"<< inputs.seed >>\"}}, {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: \"<< inputs.seed >>\", namespace: apps}, spec: {interval: \"<< inputs.seed >>\", chartRef: {kind: OCIRepository, name: \"<< inputs.seed >>\"}, values: {a: \"<< inputs.seed >>\"}}}]\n",
		"apps/sets/given.yaml":   "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSetInputProvider\nmetadata: {name: given, namespace: apps}\nspec: {type: Statics, defaultValues: {seed: CANARY}}\n",
		// Parts of a variable, and what stands for one that is not set.
		"apps/parts/first.yaml":       wrongly("${CARRIED:0:8}"),
		"apps/parts/last.yaml":        wrongly("${CARRIED:4}"),
		"apps/parts/cut.yaml":         wrongly("${CARRIED#kX9}"),
		"apps/parts/cutoff.yaml":      wrongly("${CARRIED%R8}"),
		"apps/parts/other.yaml":       wrongly("${CARRIED/kX9v/zz}"),
		"apps/parts/case.yaml":        wrongly("${CARRIED^}"),
		"apps/parts/nested.yaml":      wrongly("${NOWHERE:-${CARRIED:2:9}}"),
		"apps/defaults/default.yaml":  wrongly("${REPLICATION_PASSWORD:-CANARY}"),
		"apps/defaults/assigned.yaml": strings.Replace(wrongly("${DB_TOKEN:=CANARY}"), "name: \"", "name: \"b", 1),
		"apps/defaults/plain.yaml":    strings.Replace(wrongly("${db_password=CANARY}"), "name: \"", "name: \"c", 1),
		"apps/misnamed/a.yaml":        wrongly("${1DB_PASSWORD:-CANARY"),
	}
}

// TestCanaryOfEachRule: no rule shows a password that is in plaintext somewhere, whichever other rules
// run, and none of them shows a part of it: neither one that was drawn, nor one that a person thought of.
func TestCanaryOfEachRule(t *testing.T) {
	if raced {
		t.Skip("takes minutes with the race detector, for which the scripts are")
	}
	for kind, word := range map[string]string{"drawn": canaryWord, "thought of": "Sommer2024!berlin"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := newCanaries(t)
			c.words = []string{word, base64.StdEncoding.EncodeToString([]byte(word)), word[:8], word[4:], word[2:11]}
			for name, text := range canaryCarriers() {
				text = strings.NewReplacer("CANARY", word, "NAME", strings.TrimSuffix(filepath.Base(name), ".yaml")).Replace(text)
				putFile(t, filepath.Join(c.repo, filepath.FromSlash(name)), []byte(text))
			}
			for _, r := range validators.All() {
				c.mute("validate", c.repo, "--rules", r.ID)
			}
			for _, format := range reportFormats {
				c.mute("validate", c.repo, "--format", format, "--rules", "*")
			}
			for _, args := range [][]string{{"secrets", "check", c.repo}, {"images", c.repo}, {"schemas", c.repo}} { // it has no bootstrap
				c.mute(args...)
			}
		})
	}
}
