package sops_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
	"github.com/fleetwright/fleetwright/validators/sops"
)

// canary is a password that is nowhere else.
const canary = "kX9vbQ2mZ7pL4tR8"

const (
	secretHead     = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n"
	fluxHead       = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: apps\n  namespace: flux-system\nspec:\n"
	releaseHead    = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: db\n  namespace: apps\nspec:\n"
	setHead        = "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata:\n  name: apps\n  namespace: apps\nspec:\n"
	deploymentHead = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: db\n  namespace: apps\nspec:\n  template:\n    spec:\n      containers:\n        - name: db\n"
)

// places are where a password can stand in plaintext, file by file; "-- FILE --" begins one.
var places = map[string]string{
	"a Secret":                          "-- a.yaml --\n" + secretHead + "stringData:\n  password: CANARY\n",
	"a Secret in base64":                "-- a.yaml --\n" + secretHead + "data:\n  password: BASE64\n",
	"a strategic patch, inline":         "-- kustomization.yaml --\npatches:\n  - patch: |\n      apiVersion: v1\n      kind: Secret\n      metadata:\n        name: db\n      stringData:\n        password: CANARY\n",
	"a strategic patch of old":          "-- kustomization.yaml --\npatchesStrategicMerge:\n  - |-\n    apiVersion: v1\n    kind: Secret\n    metadata: {name: db}\n    data:\n      password: BASE64\n",
	"a strategic patch, a file":         "-- kustomization.yaml --\npatches:\n  - path: patch.yaml\n-- patch.yaml --\n" + secretHead + "stringData:\n  password: CANARY\n",
	"a JSON patch, inline":              "-- kustomization.yaml --\npatches:\n  - target: {kind: Secret}\n    patch: |\n      - op: replace\n        path: /stringData/password\n        value: CANARY\n",
	"a JSON patch in base64":            "-- kustomization.yaml --\npatches:\n  - target: {kind: Secret}\n    patch: |\n      - op: replace\n        path: /data/password\n        value: BASE64\n",
	"a JSON patch in JSON":              "-- kustomization.yaml --\npatches:\n  - target: {kind: Secret}\n    patch: '[{\"op\": \"add\", \"path\": \"/stringData/password\", \"value\": \"CANARY\"}]'\n",
	"a JSON patch, a file":              "-- kustomization.yaml --\npatches:\n  - path: patch.yaml\n    target: {kind: Secret}\n-- patch.yaml --\n- op: add\n  path: /stringData/password\n  value: CANARY\n",
	"a JSON patch of all values":        "-- kustomization.yaml --\npatches:\n  - path: patch.yaml\n    target: {kind: Secret}\n-- patch.yaml --\n- op: add\n  path: /stringData\n  value:\n    password: CANARY\n",
	"a JSON patch of the environment":   "-- kustomization.yaml --\npatches:\n  - path: patch.yaml\n    target: {kind: Deployment}\n-- patch.yaml --\n- op: add\n  path: /spec/template/spec/containers/0/env/-\n  value:\n    name: DB_PASSWORD\n    value: CANARY\n",
	"a JSON patch of old":               "-- kustomization.yaml --\npatchesJson6902:\n  - target: {version: v1, kind: Secret, name: db}\n    patch: |-\n      - op: add\n        path: /stringData/password\n        value: CANARY\n",
	"a patch of a Flux Kustomization":   "-- a.yaml --\n" + fluxHead + "  patches:\n    - patch: |\n        apiVersion: v1\n        kind: Secret\n        metadata:\n          name: db\n        stringData:\n          password: CANARY\n",
	"a JSON patch of a Flux one":        "-- a.yaml --\n" + fluxHead + "  patches:\n    - target: {kind: Secret}\n      patch: |\n        - op: add\n          path: /stringData/password\n          value: CANARY\n",
	"a substitution of a Flux one":      "-- a.yaml --\n" + fluxHead + "  postBuild:\n    substitute:\n      DB_PASSWORD: CANARY\n",
	"a patch of a patch":                "-- kustomization.yaml --\npatches:\n  - target: {kind: Kustomization}\n    patch: |\n      - op: add\n        path: /spec/patches/-\n        value:\n          patch: |\n            kind: Secret\n            metadata: {name: db}\n            stringData:\n              password: CANARY\n",
	"a ResourceSet":                     "-- a.yaml --\n" + setHead + "  resources:\n    - apiVersion: v1\n      kind: Secret\n      metadata: {name: db}\n      stringData:\n        password: CANARY\n",
	"a ResourceSet's template":          "-- a.yaml --\n" + setHead + "  resourcesTemplate: |\n    <<- range $i := .x >>\n    ---\n    apiVersion: v1\n    kind: Secret\n    metadata:\n      name: db-<< $i >>\n    stringData:\n      password: CANARY\n    <<- end >>\n",
	"a ResourceSet's inputs":            "-- a.yaml --\n" + setHead + "  inputs:\n    - name: db\n      password: CANARY\n",
	"values":                            "-- a.yaml --\n" + releaseHead + "  values:\n    auth:\n      password: CANARY\n",
	"a Secret among values":             "-- a.yaml --\n" + releaseHead + "  values:\n    extraDeploy:\n      - apiVersion: v1\n        kind: Secret\n        metadata: {name: db}\n        stringData:\n          replication: CANARY\n",
	"a text among values":               "-- a.yaml --\n" + releaseHead + "  values:\n    config: |\n      [db]\n      password = CANARY\n",
	"a post-renderer of a release":      "-- a.yaml --\n" + releaseHead + "  postRenderers:\n    - kustomize:\n        patches:\n          - target: {kind: Secret}\n            patch: |\n              - op: add\n                path: /stringData/password\n                value: CANARY\n",
	"a file of values":                  "-- apps/helm-values.yaml --\nauth:\n  password: CANARY\n",
	"values in a ConfigMap":             "-- a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\ndata:\n  values.yaml: |\n    auth:\n      password: CANARY\n",
	"a file in a ConfigMap":             "-- a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\ndata:\n  app.properties: |\n    host=db\n    password=CANARY\n",
	"a literal of a configMapGenerator": "-- kustomization.yaml --\nconfigMapGenerator:\n  - name: db\n    literals:\n      - DB_PASSWORD=CANARY\n",
	"a literal of a secretGenerator":    "-- kustomization.yaml --\nsecretGenerator:\n  - name: db\n    literals:\n      - DB_PASSWORD=CANARY\n",
	"the environment":                   "-- a.yaml --\n" + deploymentHead + "          env:\n            - name: DB_PASSWORD\n              value: CANARY\n",
	"an argument":                       "-- a.yaml --\n" + deploymentHead + "          args:\n            - --db-password=CANARY\n",
	"two arguments":                     "-- a.yaml --\n" + deploymentHead + "          args:\n            - --db-password\n            - CANARY\n",
	"a file of variables":               "-- apps/.env --\nHOST=db\nDB_PASSWORD=CANARY\n",
	"another file of variables":         "-- apps/db.env --\nDATABASE_URL=postgres://app:CANARY@db/app\n",
	"what kubectl keeps": "-- a.yaml --\n" + strings.Replace(secretHead, "  name: db\n", "  name: db\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      {\"apiVersion\":\"v1\",\"data\":{\"password\":\"BASE64\"},\"kind\":\"Secret\",\"metadata\":{\"name\":\"db\"}}\n", 1) +
		"data:\n  password: ENC[AES256_GCM,data:9fQkzA==,iv:c29tZQ==,tag:dGFn,type:str]\n" + sopsMetadata,
	"a field of another kind":   "-- a.yaml --\napiVersion: databases.example.org/v1\nkind: Database\nmetadata: {name: db}\nspec:\n  rootPassword: CANARY\n",
	"a template of a chart":     "-- chart/Chart.yaml --\napiVersion: v2\nname: db\nversion: 1.0.0\n-- chart/templates/a.yaml --\n" + secretHead + "stringData:\n  replication: CANARY\n",
	"a file called template":    "-- template.yaml --\n" + secretHead + "stringData:\n  replication: CANARY\n",
	"a template in Jinja":       "-- a.yaml.j2 --\n{% if x %}\n" + secretHead + "stringData:\n  user: {{ user }}\n  replication: CANARY\n{% endif %}\n",
	"a string for a Secret":     "-- a.yaml --\n" + secretHead + "stringData: CANARY\n",
	"a list for a Secret":       "-- a.yaml --\n" + secretHead + "data: [BASE64]\n",
	"a misspelt field":          "-- a.yaml --\n" + secretHead + "stringdata:\n  replication: CANARY\n",
	"a misspelt kind":           "-- a.yaml --\n" + strings.Replace(secretHead, "Secret", "secret", 1) + "data:\n  replication: BASE64\n",
	"a tag for a value":         "-- a.yaml --\n" + secretHead + "stringData:\n  replication: !CANARY\n",
	"an anchor for a value":     "-- a.yaml --\n" + secretHead + "stringData:\n  replication: &CANARY\n",
	"an annotation of a Secret": "-- a.yaml --\n" + secretHead + "  annotations:\n    db-password: CANARY\n",
	"a literal without a key":   "-- kustomization.yaml --\nsecretGenerator:\n  - name: db\n    literals: [CANARY]\n",
	"a manifest as a text":      "-- a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\ndata:\n  secret.yaml: |\n    kind: Secret\n    apiVersion: v1\n    metadata: {name: db}\n    stringData:\n      replication: CANARY\n",
}

const sopsMetadata = "sops:\n  age:\n    - recipient: age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p\n      enc: x\n  lastmodified: \"2026-01-01T00:00:00Z\"\n" +
	"  mac: ENC[AES256_GCM,data:bWFj,iv:c29tZQ==,tag:dGFn,type:str]\n  encrypted_regex: ^(data|stringData)$\n  version: 3.13.3\n"

var clearRules = []string{"sops-plaintext-secret", "sops-generator-plaintext", "secret-hardcoded"}

// TestPlaintextInPlaces: a password in plaintext is an error wherever it stands, at its line or that
// of the text that it stands in, and neither messages nor source lines show it.
func TestPlaintextInPlaces(t *testing.T) {
	t.Parallel()
	for name, files := range places {
		files = strings.NewReplacer("CANARY", canary, "BASE64", base64.StdEncoding.EncodeToString([]byte(canary))).Replace(files)
		lines := ruletest.Load(t, files).Lines()
		var found []finding.Finding
		for _, r := range all {
			if slices.Contains(clearRules, r.ID) {
				found = append(found, ruletest.Find(t, r, files)...)
			}
		}
		if !slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Severity == finding.Error && f.Line > 0 }) {
			t.Errorf("%s is not an error: %v\n%s", name, found, files)
		}
		for _, f := range found {
			if text := fmt.Sprint(f); strings.Contains(text, canary) {
				t.Errorf("%s is told: %s", name, text)
			}
		}
		for _, file := range []string{"a.yaml", "patch.yaml", "kustomization.yaml", "apps/.env", "apps/db.env", "apps/helm-values.yaml"} {
			for n := 1; ; n++ {
				line, ok := lines.Line(file, n)
				if !ok {
					break
				}
				if strings.Contains(line, canary) || strings.Contains(line, base64.StdEncoding.EncodeToString([]byte(canary))) {
					t.Errorf("%s is shown: %s:%d: %s", name, file, n, line)
				}
			}
		}
	}
}

// TestOrdinaryTemplates: templates in which no credential stands, and references to Secrets, are silent,
// also for the hook.
func TestOrdinaryTemplates(t *testing.T) {
	t.Parallel()
	release := releaseHead + "  valuesFrom:\n    - kind: Secret\n      name: db\n      valuesKey: rootPassword4fK2x\n      targetPath: auth.rootPassword\n"
	for name, files := range map[string]string{
		"a chart":             "-- chart/Chart.yaml --\napiVersion: v2\nname: db\nversion: 1.0.0\n-- chart/templates/secret.yaml --\n{{- if .Values.on }}\napiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ include \"name\" . }}\n  labels:\n    {{- include \"labels\" . | nindent 4 }}\ndata:\n  password: {{ .Values.password | b64enc | quote }}\n  token: \"{{ randAlphaNum 32\n    | b64enc }}\"\n{{- end }}\n",
		"values of a chart":   "-- chart/Chart.yaml --\napiVersion: v2\nname: db\nversion: 1.0.0\n-- chart/values.yaml --\npassword: changeme\n",
		"Jinja":               "-- a.yaml.j2 --\n" + secretHead + "{% for a in b %}\nstringData:\n  password: \"{{ a.password }}\"\n  token: {{ a.token }}\n{% endfor %}\n",
		"Go":                  "-- a.yaml.tmpl --\n{{ range . }}\n" + secretHead + "stringData:\n  password: {{ .Password }}\n{{ end }}\n",
		"a template":          "-- secret-template.yaml --\n" + secretHead + "stringData:\n  password: <your-password>\n  user: app\n",
		"unreadable template": "-- a.yaml --\n{{ if .x }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .name }}}\ndata:\n  key: {{ .password }}: {{ .b }}\n{{ end }}\n",
		"references":          "-- a.yaml --\n" + release,
		"a sealed value":      "-- kustomization.yaml --\npatches:\n  - target: {kind: SealedSecret}\n    patch: |\n      - op: replace\n        path: /spec/encryptedData/password\n        value: AgBy" + strings.Repeat("3i4OJSWK9PiTySYZZA8rO43cGDEq1kX2mQ7vB0nLz5tRwPfHs6JdUeYbCgAi", 12) + "\n",
		"unreadable":          "-- a.yaml --\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  image: ghcr.io/a/b@sha256:9f86d081884c7d659a2feaa0c55ad0159f86d081884c7d659a2feaa0c55ad015\n wrong: [\n",
	} {
		for _, r := range all {
			if slices.Contains(clearRules, r.ID) {
				for _, f := range ruletest.Find(t, r, files) {
					t.Errorf("%s is told: %v", name, f)
				}
			}
		}
		for _, f := range sops.Unread(ruletest.Load(t, files)) {
			t.Errorf("the hook refuses %s: %v", name, f)
		}
	}
}

// TestNoCredential: what is no credential is no error: a Secret of such values is a warning that says
// so, without the advice to make new ones, and other places are silent.
func TestNoCredential(t *testing.T) {
	t.Parallel()
	values := []string{"12h", "':8443'", "10.244.0.0/16", "vault-0.vault.infra.svc.cluster.local", "ghcr.io/fluxcd/source-controller:v1.6.2",
		"localhost", "changeme", "${DB_PASSWORD}", "<your-token>", "https://grafana.acme.net/d/x", "en_US.UTF-8", "'10Gi'", "'true'", "72f988bf-86f1-41af-91ab-2d7cd011db47"}
	for _, value := range values {
		for name, files := range map[string]string{
			"a Secret":               "-- a.yaml --\n" + secretHead + "stringData:\n  setting: " + value + "\n",
			"a Secret of references": "-- a.yaml --\n" + secretHead + "stringData:\n  password: ${DB_PASSWORD}\n  setting: " + value + "\n",
			"a patch":                "-- kustomization.yaml --\npatches:\n  - target: {kind: Secret}\n    patch: |\n      - op: replace\n        path: /stringData/setting\n        value: " + value + "\n",
			"values":                 "-- a.yaml --\n" + releaseHead + "  values:\n    setting: " + value + "\n    tokenTTL: " + value + "\n    existingSecret: db-4f9K2x\n",
			"a generator":            "-- kustomization.yaml --\nsecretGenerator:\n  - name: db\n    literals:\n      - setting=" + strings.Trim(value, "'") + "\n",
			"a ResourceSet":          "-- a.yaml --\n" + setHead + "  resources:\n    - apiVersion: v1\n      kind: Secret\n      metadata: {name: db}\n      stringData:\n        setting: " + value + "\n",
			"variables":              "-- apps/.env --\nSETTING=" + strings.Trim(value, "'") + "\n",
		} {
			warned := false
			for _, r := range all {
				if !slices.Contains(clearRules, r.ID) {
					continue
				}
				for _, f := range ruletest.Find(t, r, files) {
					warned = true
					said := strings.Contains(f.Message, "looks like a credential") || strings.Contains(f.Message, "does not look like a credential")
					if f.Severity != finding.Warning || !said || strings.Contains(f.Hint, "new value") || name != "a Secret" && name != "a generator" {
						t.Errorf("%s with %s: %v", name, value, f)
					}
				}
			}
			// A reference is resolved elsewhere, and a truth can't be a secret.
			if wants := name == "a Secret" && value != "${DB_PASSWORD}" && value != "'true'"; wants && !warned {
				t.Errorf("%s with %s is no warning", name, value)
			}
		}
	}
}

// TestTokensInProse: the token of a vendor is found in prose and programs, an example of other forms is not.
func TestTokensInProse(t *testing.T) {
	t.Parallel()
	token := "ghp_" + "h4Jk29sLqPz81XvTnB6wYdRc0MfEaU3oGi57"
	for file, want := range map[string]int{"README.md": 3, "tools/release.py": 3, "notes.rst": 3, "charts/a/README.md": 3} {
		found := ruletest.Find(t, sops.Hardcoded, "-- "+file+" --\nLog in:\n\n    login('"+token+"')\n")
		if len(found) != 1 || found[0].Line != want || !strings.Contains(found[0].Message, "a GitHub token") || strings.Contains(found[0].Message, token) {
			t.Errorf("%s: %v", file, found)
		}
	}
	for name, text := range map[string]string{
		"a JSON Web Token": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4ifQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
		"the ID of a key":  "AKIAIOSFODNN7EXAMPLE", "a placeholder": "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"a setting": "password: h4Jk29sLqPz81XvT",
	} {
		if found := ruletest.Find(t, sops.Hardcoded, "-- README.md --\n# How to\n\nuse "+text+"\n"); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// TestRegistryPassword: a ConfigMap with the configuration of a client of registries holds a password in base64.
func TestRegistryPassword(t *testing.T) {
	t.Parallel()
	for auth, want := range map[string]int{"dXNlcjpoNEprMjlzTHFQejgxWHZUbkI2dw==": 1, "dXNlcjpwYXNzd29yZA==": 0, "${REGISTRY_AUTH}": 0} {
		found := ruletest.Find(t, sops.Hardcoded, "-- apps/map.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata:\n  config.json: '{\"auths\":{\"ghcr.io\":{\"auth\":\""+auth+"\"}}}'\n")
		if len(found) != want || want > 0 && (found[0].Line != 5 || !strings.Contains(found[0].Message, "a user's password in base64")) {
			t.Errorf("%s: %v", auth, found)
		}
	}
}

// TestPuTTYKey: a private key of PuTTY's is found unless a password protects it.
func TestPuTTYKey(t *testing.T) {
	t.Parallel()
	for encryption, want := range map[string]int{"none": 1, "aes256-cbc": 0} {
		found := ruletest.Find(t, sops.PrivateKey, "-- keys/deploy.ppk --\nPuTTY-User-Key-File-3: ssh-ed25519\r\nEncryption: "+encryption+"\r\nComment: deploy\r\nPublic-Lines: 1\r\nAAAAC3NzaC1lZDI1NTE5AAAAIG\r\nPrivate-Lines: 1\r\nAAAAIPq81XvTnB6wYdRc0MfEaU3oGi57\r\n")
		if len(found) != want {
			t.Errorf("%s: %v", encryption, found)
		}
	}
}
