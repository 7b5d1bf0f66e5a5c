package main

import (
	"encoding/base64"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule"
)

// canaryPlaces are files with a password in plaintext, by their names: where rules find it, where a
// parser or kustomize stumbles over it, and where only its line is pointed at.
func canaryPlaces() map[string]string {
	const (
		secret     = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: NAME\n  namespace: apps\n"
		flux       = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: NAME\n  namespace: flux-system\nspec:\n  interval: 1h\n  prune: true\n  path: ./apps\n  sourceRef: {kind: GitRepository, name: flux-system}\n"
		release    = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: NAME\n  namespace: apps\nspec:\n  interval: 1h\n  chart:\n    spec: {chart: a, sourceRef: {kind: HelmRepository, name: a}}\n"
		set        = "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata:\n  name: NAME\n  namespace: apps\nspec:\n"
		deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: NAME\n  namespace: apps\nspec:\n  template:\n    spec:\n      containers:\n        - name: a\n"
		operation  = "op: replace\n  path: /stringData/password\n  value: CANARY\n"
	)
	return map[string]string{
		"string.yaml":                  secret + "stringData:\n  password: CANARY\n",
		"data.yaml":                    secret + "data:\n  password: BASE64\n",
		"empty.yaml":                   secret + "stringData:\npassword: CANARY\n",
		"text.yaml":                    secret + "stringData: CANARY\n",
		"list.yaml":                    secret + "stringData:\n  - CANARY\n",
		"integer.yaml":                 secret + "stringData:\n  password: !!int CANARY\n",
		"undecoded.yaml":               secret + "data:\n  password: CANARY!\n",
		"type.yaml":                    secret + "type: [CANARY]\n",
		"alias.yaml":                   secret + "stringData:\n  password: *CANARY\n",
		"alias-values.yaml":            release + "  values:\n    password: *CANARY\n",
		"alias-unnamed.yaml":           release + "  values:\n    db: *CANARY\n",
		"tag.yaml":                     secret + "stringData:\n  password: !CANARY\n",
		"anchor.yaml":                  secret + "stringData:\n  password: &CANARY\n",
		"quote.yaml":                   secret + "stringData:\n  password: \"CANARY\n",
		"colon.yaml":                   release + "  values:\n    password: CANARY: x\n",
		"at.yaml":                      release + "  values:\n    password: @CANARY\n",
		"applied.yaml":                 strings.Replace(secret, "  name: NAME\n", "  name: NAME\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"stringData\":{\"password\":\"CANARY\"}}'\n", 1) + "stringData: {}\n",
		"patch.yaml":                   flux + "  patches:\n    - target: {kind: Secret}\n      patch: |\n        - op: add\n          path: /stringData/password\n          value: CANARY\n",
		"merge.yaml":                   flux + "  patches:\n    - patch: |\n        apiVersion: v1\n        kind: Secret\n        metadata:\n          name: a\n        stringData:\n          password: CANARY\n",
		"substitute.yaml":              flux + "  postBuild:\n    substitute:\n      DB_PASSWORD: CANARY\n",
		"set.yaml":                     set + "  resources:\n    - apiVersion: v1\n      kind: Secret\n      metadata: {name: a, namespace: apps}\n      stringData:\n        password: CANARY\n",
		"resources.yaml":               set + "  resourcesTemplate: |\n    apiVersion: v1\n    kind: Secret\n    metadata:\n      name: a-<< inputs.x >>\n    stringData:\n      password: CANARY\n",
		"values.yaml":                  release + "  values:\n    db:\n      password: CANARY\n",
		"unknown.yaml":                 release + "  valuez:\n    db:\n      password: CANARY\n",
		"helm-values.yaml":             "db:\n  password: CANARY\n",
		"environment.yaml":             deployment + "          env:\n            - name: DB_PASSWORD\n              value: CANARY\n",
		"wrong-environment.yaml":       deployment + "          env:\n            - name: DB_PASSWORD\n              value: [CANARY]\n",
		"arguments.yaml":               deployment + "          args: [--db-password, CANARY]\n",
		"other.yaml":                   "apiVersion: databases.example.org/v1\nkind: Database\nmetadata: {name: NAME, namespace: apps}\nspec:\n  rootPassword: CANARY\n",
		".env":                         "HOST=a\nDB_PASSWORD=CANARY\n",
		"broken.sops.yaml":             secret + "stringData:\n  password: CANARY\nsops:\n  lastmodified: \"2026-01-01T00:00:00Z\"\n",
		"generated/kustomization.yaml": "secretGenerator:\n  - name: a\n    literals: [password=CANARY]\nconfigMapGenerator:\n  - name: b\n    literals: [DB_PASSWORD=CANARY]\n",
		"literal/kustomization.yaml":   "secretGenerator:\n  - name: a\n    literals: [CANARY]\n",
		"envs/kustomization.yaml":      "secretGenerator:\n  - name: a\n    envs: [wrong.env]\n",
		"envs/wrong.env":               "DB PASSWORD=CANARY\n",
		"helmfile.yaml":                "releases:\n  - name: a\n    chart: acme/a\n    set:\n      - name: auth.password\n        value: CANARY\n    values:\n      - auth: {password: CANARY}\n",
		"talsecret.yaml":               "trustdinfo:\n  token: CANARY\n",
		"kubeconfig":                   "apiVersion: v1\nkind: Config\nusers:\n  - name: a\n    user:\n      token: CANARY\n",
		"a.tfvars":                     "db_password = \"CANARY\"\n",
		".netrc":                       "machine a.b\n  login c\n  password CANARY\n",
		".npmrc":                       "//a.b/:_authToken=CANARY\n",
		"config.xml":                   "<Config>\n  <ApiKey>CANARY</ApiKey>\n</Config>\n",
		"db-password.txt":              "CANARY\n",
		"generator.yaml":               "apiVersion: builtin\nkind: SecretGenerator\nmetadata: {name: NAME}\nliterals: [replication=CANARY]\n",
		"inline/kustomization.yaml":    "generators:\n  - |-\n    apiVersion: builtin\n    kind: SecretGenerator\n    metadata: {name: a}\n    literals: [replication=CANARY]\n",
		"replaced/kustomization.yaml":  "replacements:\n  - sourceValue: CANARY\n    targets:\n      - select: {kind: Secret, name: a}\n        fieldPaths: [stringData.replication]\n",
		"tab.yaml":                     secret + "stringData:\n\treplication: CANARY\n",
		"binary.yaml":                  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME, namespace: apps}\nbinaryData:\n  password: BASE64\n",
		"misplaced.yaml":               secret + "stringDate:\n  password: CANARY\n",
		"nested.yaml":                  secret + "stringData:\n  db:\n    password: [CANARY]\n",
		"case.yaml":                    strings.Replace(secret, "Secret", "secret", 1) + "data:\n  password: BASE64\n",
		"group.yaml":                   strings.Replace(secret, "v1", "core/v1", 1) + "data:\n  password: BASE64\n",
		"noted.yaml":                   strings.Replace(secret, "  name: NAME\n", "  name: NAME\n  annotations:\n    db-password: CANARY\n", 1) + "stringData: {}\n",
		"line.json":                    `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"NAME"},"stringData":{"replication":"CANARY"}}`,
		"cut.json":                     `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"NAME"},"stringData":{"password":"CANARY"`,
		"template.yaml":                secret + "stringData:\n  password: CANARY\n",
		"template-of.yaml":             strings.Replace(secret, "NAME", "a-{{ .name }}", 1) + "stringData:\n  replication: CANARY\n",
		"release-template.yaml":        release + "  values:\n    db:\n      password: CANARY\n",
		"action.yaml":                  strings.Replace(secret, "NAME", "{{ .name }}", 1) + "data:\n  replication: BASE64\n",
		"actions.yaml":                 "{{- if .on }}\n" + secret + "  labels:\n{{ include \"labels\"\n   . | indent 4 }}\nstringData:\n  user: {{ .user | quote }}\n  replication: CANARY\n{{- end }}\n",
		"action-values.yaml":           "db:\n  host: {{ .host }}\n  password: CANARY\n",
		"action-wrong.yaml":            secret + "stringData:\n  user: {{ .user }}\n  password: CANARY\n wrong: [\n",
		"secret.yaml.j2":               strings.Replace(secret, "NAME", "{{ name }}", 1) + "{% if x %}\nstringData:\n  replication: CANARY\n{% endif %}\n",
		"secret.yaml.tmpl":             "{{ if .x }}\n" + secret + "stringData:\n  password: CANARY\n  b: {{ .b }}: {{ .c }}: x\n{{ end }}\n",
		"secret.yaml.bak":              secret + "stringData:\n  password: CANARY\n wrong: [\n",
		"patched/kustomization.yaml":   "patches:\n  - target: {kind: Secret}\n    patch: |-\n      - " + strings.ReplaceAll(operation, "\n  ", "\n        ") + "  - path: json.yaml\n    target: {kind: Secret}\n",
		"patched/json.yaml":            "- " + operation,
		"several.yaml":                 "apiVersion: databases.example.org/v1\nkind: Database\nmetadata: {name: NAME, namespace: apps}\nspec:\n  passwords:\n    - CANARY\n    - CANARY\n",
		"several-flow.yaml":            release + "  values: {passwords: [CANARY, CANARY]}\n  valuez: 1\n",
		"several-named.yaml":           release + "  values:\n    apiKeys:\n      alice: CANARY\n",
		"client.yaml":                  deployment + "          command: [mysql, \"-pCANARY\", 1]\n          env: [{name: DB_PASSWORD, value: CANARY}]\n",
		"registry.yaml":                "apiVersion: v1\nkind: Pod\nmetadata: {name: NAME, namespace: apps}\nspec: {containers: [{name: a, image: \"reg:CANARY@a.b/c:CANARY\", command: 1, env: [{name: PASSWORD, value: CANARY}]}]}\n",
		"webhook.yaml":                 "apiVersion: notification.toolkit.fluxcd.io/v1beta3\nkind: Provider\nmetadata: {name: NAME, namespace: apps}\nspec: {type: slackk, address: \"https://hooks.slack.com/services/T00/B00/CANARY\", channel: [x]}\n",
		"older/kustomization.yaml":     "resources: [../string.yaml]\npatchesJson6902:\n  - target: {kind: Secret, name: string}\n    patch: 'password CANARY'\n",
		"named/kustomization.yaml":     "secretGenerator:\n  - name: a\n    files: ['password=CANARY']\n",
		"named-env/kustomization.yaml": "secretGenerator:\n  - name: a\n    envs: ['replication=CANARY']\n",
		"failing/helmfile.yaml.gotmpl": "environments: {default: {values: [{password: \"CANARY\"}]}}\n---\nreleases:\n  - name: a\n    chart: {{ fail .Values.password }}\n",
		"carrier.yaml":                 strings.Replace(secret, "apps", "flux-system", 1) + "stringData:\n  CARRIED: CANARY\n",
		"carried/kustomization.yaml":   "resources: [carried.yaml]\n",
		"carried/carried.yaml":         "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: \"${CARRIED}\", namespace: \"${CARRIED}\"}\nspec: {replicas: \"${CARRIED}\", strategy: {type: \"a-${CARRIED}\"}}\n",
		"wrong/kustomization.yaml":     "patches:\n  - target: {kind: Secret}\n    patch: |-\n      - op: replac\n        path: /stringData/password\n        value: CANARY\n",
	}
}

// TestCanaryInPlaces: no command shows a password that is in plaintext somewhere, in any format,
// whether it is found there or another error leads to its line; the hook refuses each of the files.
func TestCanaryInPlaces(t *testing.T) {
	if raced {
		t.Skip("takes minutes with the race detector, for which the scripts are")
	}
	c := newCanaries(t)
	c.ownTemporary()
	c.placed()
	sync := strings.TrimPrefix(rule.FluxSync, "-- clusters/prod/flux-system/gotk-sync.yaml --\n")
	putFile(t, filepath.Join(c.repo, "clusters/prod/flux-system/gotk-sync.yaml"), []byte(sync))
	var files []string
	resources := ""
	for _, name := range slices.Sorted(maps.Keys(canaryPlaces())) {
		file := "clusters/prod/" + name
		putFile(t, filepath.Join(c.repo, filepath.FromSlash(file)), placedWord(name, canaryWord))
		files = append(files, file)
		if folder, _, below := strings.Cut(name, "/"); below && strings.HasSuffix(name, "kustomization.yaml") {
			_, kustomization, _ := strings.Cut(sync, "---\n")
			resources += "---\n" + strings.Replace(kustomization, "name: flux-system\n", "name: "+folder+"\n", 1)
			resources = strings.Replace(resources, "./clusters/prod\n", "./clusters/prod/"+folder+"\n", 1)
		}
	}
	putFile(t, filepath.Join(c.repo, "clusters/prod/folders.yaml"), []byte(resources))
	silent := c.silent
	for _, format := range reportFormats {
		silent("validate", "--format", format)
		silent("validate", "--format", format, "--rules", "*")
	}
	silent("validate", "--verbose")
	silent("validate", "--coverage", "--min-coverage", "100")
	baseline := filepath.Join(c.repo, "baseline.json")
	silent("validate", "--write-baseline", baseline)
	silent("validate", "--baseline", baseline, "--format", "json")
	for _, format := range []string{formatText, formatJSON} {
		silent("secrets", "check", "--format", format)
		c.silentUnread("secrets", "verify", "--format", format) // of broken.sops.yaml
	}
	c.look("validated", files...)
	c.hooked(files)
}

// canaryWord is the password in the places.
const canaryWord = "kX9vbQ2mZ7pL4tR8"

// placed makes the password in the places known.
func (c *canaries) placed() {
	c.words = append(c.words, canaryWord, base64.StdEncoding.EncodeToString([]byte(canaryWord)))
}

// placedWord is the file of a place with a password.
func placedWord(name, word string) []byte {
	of := strings.NewReplacer("CANARY", word, "BASE64", base64.StdEncoding.EncodeToString([]byte(word)), "NAME", strings.TrimSuffix(filepath.Base(name), ".yaml"))
	return []byte(of.Replace(canaryPlaces()[name]))
}

// silent runs a command that shows no password, whether it has findings or not, and returns what it prints.
func (c *canaries) silent(args ...string) string {
	c.t.Helper()
	out, code := c.shown(args)
	if code != statusFine && code != statusFindings {
		c.t.Errorf("%q ends with %d:\n%s", args, code, out)
	}
	return out
}

// silentUnread runs a command that shows no password and ends because of input that it cannot read.
func (c *canaries) silentUnread(args ...string) {
	c.t.Helper()
	if out, code := c.shown(args); code != statusUsage || wrongUsage(out) {
		c.t.Errorf("%q ends with %d:\n%s", args, code, out)
	}
}

// shown runs a command that shows no password, and returns what it prints and its status.
func (c *canaries) shown(args []string) (out string, code int) {
	c.t.Helper()
	out, code = c.here(args)
	if found := c.in([]byte(out)); found != "" {
		c.t.Errorf("%q shows the password:\n%s", args, around(out, found))
	}
	return out, code
}

// wrongUsage says whether a command has printed that its command line is wrong.
func wrongUsage(out string) bool { return strings.Contains(out, " --help\"") }

// unread are the files that the hook may pass: the value that they stand for is in another one, or stands
// where no value belongs and kustomize refuses it.
var unread = []string{
	"clusters/prod/envs/kustomization.yaml", "clusters/prod/carried/kustomization.yaml", "clusters/prod/carried/carried.yaml",
	"clusters/prod/older/kustomization.yaml", "clusters/prod/named/kustomization.yaml", "clusters/prod/named-env/kustomization.yaml",
}

// hooked wants the hook to refuse each file by itself, and all of them together, and to show no value.
func (c *canaries) hooked(files []string) {
	c.t.Helper()
	for _, file := range files {
		c.must("git", "add", file)
		out := c.silent("secrets", "check", "--staged")
		refused := (strings.Contains(out, "\n"+file+":") || strings.HasPrefix(out, file+":")) && strings.Contains(out, "\n  hint: ")
		if refused == slices.Contains(unread, file) {
			c.t.Errorf("the hook refuses %s with its line and the way out: %v\n%s", file, refused, out)
		}
		c.must("git", "rm", "-q", "--cached", file)
	}
	c.must(append([]string{"git", "add"}, files...)...)
	out := c.silent("secrets", "check", "--staged", "--format", formatJSON)
	for _, file := range files {
		if !strings.Contains(out, file) && !slices.Contains(unread, file) {
			c.t.Errorf("the hook does not refuse %s among others:\n%s", file, out)
		}
	}
}

// around are the lines of a text with a word.
func around(text, word string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if at := strings.Index(line, word); at >= 0 {
			lines = append(lines, fmt.Sprintf("…%s…", line[max(at-200, 0):min(at+200, len(line))]))
		}
	}
	return strings.Join(lines, "\n")
}
