package repository

import (
	"strings"
	"testing"
)

const secrets = `-- f.yaml --
apiVersion: v1
kind: Secret
metadata:
  name: visible
data:
  key-name: c2VjcmV0
  multi: |
    c2VjcmV0
    c2VjcmV0
type: visible
---
apiVersion: v1
kind: Secret
stringData: {a: secret}
metadata: {name: visible}
---
apiVersion: v1
kind: List
items:
  - kind: Secret
    apiVersion: v1
    stringData:
      a: secret
      # secret comment
  - kind: ConfigMap
    apiVersion: v1
    data:
      b: visible
---
x: &x
  a: secret
  b: |
    secret
y: visible
apiVersion: v1
kind: Secret
data: *x
-- kustomization.yaml --
secretgenerator:
  - name: x
    literals: [password=secret]
namespace: visible
-- broken.yaml --
kind: Secret
stringData:
  a: secret
  b: [
-- key.txt --
AGE-SECRET-KEY-1SECRET
`

func TestLinesHideSecrets(t *testing.T) {
	r := inMemory(t, secrets, Limits{})
	lines := r.Lines()
	all := map[string]string{}
	for _, f := range []string{"f.yaml", "kustomization.yaml", "broken.yaml", "key.txt"} {
		var text strings.Builder
		for n := 1; ; n++ {
			line, ok := lines.Line(f, n)
			if !ok {
				break
			}
			text.WriteString(line + "\n")
		}
		all[f] = text.String()
		for _, word := range []string{"secret\n", "c2VjcmV0", "secret}", "=secret", "1SECRET", "secret comment"} {
			if strings.Contains(text.String(), word) {
				t.Errorf("%s shows %q:\n%s", f, word, text.String())
			}
		}
	}
	// The line after an anchored block is hidden too, its end being unknown.
	if n := strings.Count(all["f.yaml"], "visible"); n != 4 {
		t.Errorf("%d lines are visible, want 4:\n%s", n, all["f.yaml"])
	}
	if !strings.Contains(all["f.yaml"], "  key-name: <hidden>\n") || !strings.Contains(all["kustomization.yaml"], "namespace: visible\n") {
		t.Errorf("too much is hidden:\n%s%s", all["f.yaml"], all["kustomization.yaml"])
	}
	if _, ok := lines.Line("nothing.yaml", 1); ok {
		t.Error("a file that isn't there has a line")
	}
	if _, ok := lines.Line("f.yaml", 0); ok {
		t.Error("there is a line 0")
	}
}

// A value that was put in plaintext into an encrypted Secret is not shown.
func TestLinesOfEncrypted(t *testing.T) {
	repo, err := FromFiles(func(yield func(string, []byte) bool) {
		yield("a.yaml", []byte("apiVersion: v1\nkind: Secret\nstringData:\n  a: ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]\n  b: canary\nsops:\n  mac: ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]\n  age: []\n"))
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := repo.Lines()
	for n := 1; n <= 8; n++ {
		if line, ok := lines.Line("a.yaml", n); !ok || strings.Contains(line, "canary") {
			t.Errorf("line %d: %q, %v", n, line, ok)
		}
	}
}

// TestLinesOfPlaces: what can be a secret is in no source line, however it is spelled, and neither is
// it in a message about the file; what cannot be one is shown.
func TestLinesOfPlaces(t *testing.T) {
	const word = "kX9vbQ2mZ7pL4tR8"
	for name, c := range map[string]struct{ file, text, shown string }{
		"an alias":                  {"a.yaml", "a: shown\npassword: *CANARY\n", "a: shown"},
		"an alias, broken after":    {"a.yaml", "a: shown\ndb: *CANARY\n", "db: "},
		"an anchor":                 {"a.yaml", "apiVersion: v1\nkind: Secret\nstringData:\n  password: &CANARY\n", "  password: "},
		"a tag":                     {"a.yaml", "apiVersion: v1\nkind: Secret\nstringData:\n  password: !CANARY\n", "  password: "},
		"an open quote":             {"a.yaml", "a: shown\npassword: \"CANARY\nb: c\n", "a: shown"},
		"a colon too many":          {"a.yaml", "a: shown\npassword: CANARY: x\n", "a: shown"},
		"a character of YAML's":     {"a.yaml", "a: shown\npass: @CANARY\n", "a: shown"},
		"an empty map of values":    {"a.yaml", "apiVersion: v1\nkind: Secret\nstringData:\npassword: CANARY\nmetadata:\n  name: shown\n", "  name: shown"},
		"a list for a map":          {"a.yaml", "apiVersion: v1\nkind: Secret\nstringData:\n  - CANARY\ntype: shown\n", "type: shown"},
		"a text for a map":          {"a.yaml", "apiVersion: v1\nkind: Secret\nstringData: CANARY\ntype: shown\n", "type: shown"},
		"a map in one line":         {"a.yaml", "apiVersion: v1\nkind: Secret\nstringData: {a: b, x: CANARY}\ntype: shown\n", "type: shown"},
		"a folded text":             {"a.yaml", "apiVersion: v1\nkind: Secret\nstringData:\n  x: >-\n    a\n    CANARY\ntype: shown\n", "type: shown"},
		"a text over lines":         {"a.yaml", "apiVersion: v1\nkind: Secret\nstringData:\n  x: a\n    CANARY\ntype: shown\n", "type: shown"},
		"no kind":                   {"a.yaml", "stringData:\n  x: CANARY\ntype: shown\n", "type: shown"},
		"a JSON patch":              {"a.yaml", "- op: add\n  path: /stringData/x\n  value: CANARY\n", "- op: add"},
		"a JSON patch, value first": {"a.yaml", "- value: CANARY\n  path: /data/x\n  op: add\n", "  op: add"},
		"a JSON patch of values":    {"a.yaml", "- op: add\n  path: /stringData\n  value:\n    x: CANARY\n", "- op: add"},
		"a JSON patch of a field":   {"a.yaml", "- op: add\n  path: /spec/password\n  value: CANARY\n", "- op: add"},
		"a variable":                {"a.yaml", "env:\n  - name: DB_PASSWORD\n    value: CANARY\n", "  - name: DB_PASSWORD"},
		"a wrong variable":          {"a.yaml", "env:\n  - name: DB_PASSWORD\n    value: [CANARY]\n", "  - name: DB_PASSWORD"},
		"a wrong type":              {"a.yaml", "apiVersion: v1\nkind: Secret\ntype: [CANARY]\nmetadata: {name: shown}\n", "metadata: {name: shown}"},
		"a literal":                 {"kustomization.yaml", "secretGenerator:\n  - literals: [x=CANARY]\nnamespace: shown\n", "namespace: shown"},
		"variables":                 {"db.env", "HOST=shown\nX=CANARY\n", "HOST=shown"},
		"settings":                  {"db.properties", "host=shown\nx: CANARY\n", "host=shown"},
		"a patch as a text":         {"kustomization.yaml", "patches:\n  - target: {kind: shown}\n    patch: |\n      - op: add\n        path: /data/x\n        value: CANARY\n", "  - target: {kind: shown}"},
		"a comment":                 {"a.yaml", "a: shown\n# password: CANARY\n", "a: shown"},
		"a URL":                     {"a.yaml", "a: shown\nb: https://app:CANARY@db\n", "a: shown"},
		"what kubectl keeps":        {"a.yaml", "kind: x\nmetadata:\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      {\"x\": \"CANARY\"}\n  name: shown\n", "  name: shown"},
	} {
		text := strings.ReplaceAll(c.text, "CANARY", word)
		repo, err := FromFiles(func(yield func(string, []byte) bool) { yield(c.file, []byte(text)) }, Options{})
		if err != nil {
			t.Fatal(err)
		}
		lines := repo.Lines()
		var all strings.Builder
		for n := 1; ; n++ {
			line, ok := lines.Line(c.file, n)
			if !ok {
				break
			}
			all.WriteString(line + "\n")
		}
		if strings.Contains(all.String(), word) || !strings.Contains(all.String(), c.shown) {
			t.Errorf("%s:\n%s", name, all.String())
		}
		if f, known := repo.File(c.file); known && f.Err != nil && strings.Contains(f.Err.Message+f.Err.Hint, word) {
			t.Errorf("%s: %s", name, f.Err.Message)
		}
		if said := lines.Scrub(c.file, "cannot decode `"+word+"` of "+c.file); strings.Contains(said, word) || !strings.Contains(said, "of "+c.file) {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// TestScrubNamesFiles: messages name the files that a secretGenerator reads.
func TestScrubNamesFiles(t *testing.T) {
	repo, err := FromFiles(func(yield func(string, []byte) bool) {
		yield("kustomization.yaml", []byte("secretGenerator:\n  - name: grafana-4f9K2x\n    envs: [db-4f9K2x.env]\n"))
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const message = "the generator of Secret grafana-4f9K2x reads db-4f9K2x.env"
	if got := repo.Lines().Scrub("kustomization.yaml", message); got != message {
		t.Error(got)
	}
}

// TestLinesShowSettings: what cannot be a secret is shown.
func TestLinesShowSettings(t *testing.T) {
	const text = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: grafana-4f9K2x
spec:
  interval: 12h
  secretRef:
    name: grafana-4f9K2x
  values:
    image: ghcr.io/grafana/grafana:10.4.2
    passwordKey: admin-password
    existingSecret: grafana-4f9K2x
    smtpPassword: ${SMTP_PASSWORD}
    tokenTTL: 720h
    url: https://grafana.example.com
    automountServiceAccountToken: false
`
	repo, err := FromFiles(func(yield func(string, []byte) bool) { yield("a.yaml", []byte(text)) }, Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := repo.Lines()
	for i, want := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if got, _ := lines.Line("a.yaml", i+1); got != want {
			t.Errorf("%q is shown as %q", want, got)
		}
	}
}

// A variable that a file of settings names is no secret: a message may name it.
func TestLinesShowVariables(t *testing.T) {
	repo, err := FromFiles(func(yield func(string, []byte) bool) {
		yield("dashboard.json", []byte("{\n  \"name\": \"DS_PROMETHEUS\",\n  \"token\": \"kX9vbQ2mZpLtR\"\n}\n"))
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[int]string{2: `  "name": "DS_PROMETHEUS",`, 3: `  "token": "<hidden>`} {
		if got, _ := repo.Lines().Line("dashboard.json", line); got != want {
			t.Errorf("line %d is shown as %q, want %q", line, got, want)
		}
	}
}

// TestLinesHideOnce: of a line with several values, all from the first one on is hidden, once.
func TestLinesHideOnce(t *testing.T) {
	const flow = "stringData: {a: tr0ub4dor-and-3, b: tr0ub4dor-and-4, c: x}"
	for name, c := range map[string]struct{ text, want string }{
		"a Secret":             {"apiVersion: v1\nkind: Secret\n" + flow + "\n", "stringData: <hidden>"},
		"a resource of a set":  {"apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nspec:\n  resources:\n    - {kind: Secret, apiVersion: v1, stringData: {a: << inputs.a >>, b: tr0ub4dor-and-3}, type: Opaque}\n", "{kind: Secret, apiVersion: v1, stringData: <hidden>"},
		"a resource's values":  {"apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nspec:\n  resources:\n    - {password: a1, token: b2, spec: {password: tr0ub4dor-and-3}}\n", "- {password: <hidden>"},
		"values in a sequence": {"apiVersion: v1\nkind: ConfigMap\nspec: [{password: tr0ub4dor-and-3}, {token: tr0ub4dor-and-4}]\n", "spec: [{password: <hidden>"},
		"a patch": {"apiVersion: v1\nkind: ConfigMap\nspec: [{op: add, path: /data/a, value: x}, {op: add, path: /data/b, value: tr0ub4dor-and-4}]\n",
			"spec: [{op: add, path: /data/a, value: <hidden>"},
	} {
		r := inMemory(t, "-- a.yaml --\n"+c.text, Limits{})
		found := false
		for n := 1; ; n++ {
			line, ok := r.Lines().Line("a.yaml", n)
			if !ok {
				break
			}
			found = found || strings.HasSuffix(line, c.want)
			if strings.Count(line, "<hidden>") > 1 || strings.Contains(line, "<h<") || strings.Contains(line, "tr0ub4dor") {
				t.Errorf("%s: line %d is %q", name, n, line)
			}
		}
		if !found {
			t.Errorf("%s: no line ends in %q", name, c.want)
		}
	}
}
