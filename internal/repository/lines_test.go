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
	for _, f := range []string{"f.yaml", "kustomization.yaml", "broken.yaml", "key.txt"} {
		var text strings.Builder
		for n := 1; ; n++ {
			line, ok := lines.Line(f, n)
			if !ok {
				break
			}
			text.WriteString(line + "\n")
		}
		for _, word := range []string{"secret\n", "c2VjcmV0", "secret}", "=secret", "1SECRET", "secret comment"} {
			if strings.Contains(text.String(), word) {
				t.Errorf("%s shows %q:\n%s", f, word, text.String())
			}
		}
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
		yield("a.yaml", []byte("apiVersion: v1\nkind: Secret\nstringData:\n  a: ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]\n  b: canary-7f3\nsops:\n  mac: ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]\n  age: []\n"))
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := repo.Lines()
	if line, ok := lines.Line("a.yaml", 1); ok {
		t.Errorf("line 1: %q", line)
	}
	if got := lines.Scrub("the value canary-7f3 is wrong"); got != "the value <hidden> is wrong" {
		t.Error(got)
	}
}

// TestLinesOfPlaces: what can be a secret is in no source line, however it is spelled, and neither is
// it in a message.
func TestLinesOfPlaces(t *testing.T) {
	const word = "kX9vbQ2mZ7pL4tR8"
	for name, c := range map[string]struct{ file, text string }{
		"an alias":                  {"a.yaml", "a: shown\npassword: *CANARY\n"},
		"an alias, broken after":    {"a.yaml", "a: shown\ndb: *CANARY\n"},
		"an anchor":                 {"a.yaml", "apiVersion: v1\nkind: Secret\nstringData:\n  password: &CANARY\n"},
		"a tag":                     {"a.yaml", "apiVersion: v1\nkind: Secret\nstringData:\n  password: !CANARY\n"},
		"an open quote":             {"a.yaml", "a: shown\npassword: \"CANARY\nb: c\n"},
		"a colon too many":          {"a.yaml", "a: shown\npassword: CANARY: x\n"},
		"a character of YAML's":     {"a.yaml", "a: shown\npass: @CANARY\n"},
		"an empty map of values":    {"a.yaml", "apiVersion: v1\nkind: Secret\nstringData:\npassword: CANARY\nmetadata:\n  name: shown\n"},
		"a list for a map":          {"a.yaml", "apiVersion: v1\nkind: Secret\nstringData:\n  - CANARY\ntype: shown\n"},
		"a text for a map":          {"a.yaml", "apiVersion: v1\nkind: Secret\nstringData: CANARY\ntype: shown\n"},
		"a map in one line":         {"a.yaml", "apiVersion: v1\nkind: Secret\nstringData: {a: b, x: CANARY}\ntype: shown\n"},
		"a folded text":             {"a.yaml", "apiVersion: v1\nkind: Secret\nstringData:\n  x: >-\n    a\n    CANARY\ntype: shown\n"},
		"a text over lines":         {"a.yaml", "apiVersion: v1\nkind: Secret\nstringData:\n  x: a\n    CANARY\ntype: shown\n"},
		"no kind":                   {"a.yaml", "stringData:\n  x: CANARY\ntype: shown\n"},
		"a JSON patch":              {"a.yaml", "- op: add\n  path: /stringData/x\n  value: CANARY\n"},
		"a JSON patch, value first": {"a.yaml", "- value: CANARY\n  path: /data/x\n  op: add\n"},
		"a JSON patch of values":    {"a.yaml", "- op: add\n  path: /stringData\n  value:\n    x: CANARY\n"},
		"a JSON patch of a field":   {"a.yaml", "- op: add\n  path: /spec/password\n  value: CANARY\n"},
		"a variable":                {"a.yaml", "env:\n  - name: DB_PASSWORD\n    value: CANARY\n"},
		"a wrong variable":          {"a.yaml", "env:\n  - name: DB_PASSWORD\n    value: [CANARY]\n"},
		"a wrong type":              {"a.yaml", "apiVersion: v1\nkind: Secret\ntype: [CANARY]\nmetadata: {name: shown}\n"},
		"a literal":                 {"kustomization.yaml", "secretGenerator:\n  - literals: [x=CANARY]\nnamespace: shown\n"},
		"variables":                 {"db.env", "HOST=shown\nX=CANARY\n"},
		"settings":                  {"db.properties", "host=shown\nx: CANARY\n"},
		"a patch as a text":         {"kustomization.yaml", "patches:\n  - target: {kind: shown}\n    patch: |\n      - op: add\n        path: /data/x\n        value: CANARY\n"},
		"a comment":                 {"a.yaml", "a: shown\n# password: CANARY\n"},
		"a URL":                     {"a.yaml", "a: shown\nb: https://app:CANARY@db\n"},
		"what kubectl keeps":        {"a.yaml", "kind: x\nmetadata:\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      {\"x\": \"CANARY\"}\n  name: shown\n"},
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
		if strings.Contains(all.String(), word) {
			t.Errorf("%s:\n%s", name, all.String())
		}
		if f, known := repo.File(c.file); known && f.Err != nil && strings.Contains(f.Err.Message+f.Err.Hint, word) {
			t.Errorf("%s: %s", name, f.Err.Message)
		}
		if said := lines.Scrub("cannot decode `" + word + "` of " + c.file); strings.Contains(said, word) || !strings.Contains(said, "of "+c.file) {
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
	if got := repo.Lines().Scrub(message); got != message {
		t.Error(got)
	}
}

// A message shows names, although a secret has the same word, phrases of plain words, and fields without a value.
// Reproduces: messages about digicatapult/veritable-flux-infra, PingCAP-QE/ee-ops and elifesciences/elife-flux-cluster.
func TestScrubShowsNames(t *testing.T) {
	lines := inMemory(t, "-- clusters/prod/keycloak.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: keycloak-creds}\nstringData: {username: keycloak, password: keycloak, token: kQ8zW3vB9nR2}\n"+
		"-- kustomization.yaml --\nsecretGenerator:\n- {name: a, files: [values.txt]}\n-- values.txt --\nresources:\n  system:\n  kQ9:\n-- dashboard.json --\n\"title\": \"Not Ready\"\n", Limits{}).Lines()
	lines.Hide([]string{"keycloak", "KEYCLOAK"})
	const message = "Kustomization keycloak/keycloak-sync: resources of the system are not ready"
	if got := lines.Scrub(message); got != message {
		t.Error(got)
	}
	const secret, hidden = "a: kQ8zW3vB9nR2, KEYCLOAK, kQ9:", "a: <hidden>, <hidden>, <hidden>"
	if got := lines.Scrub(secret); got != hidden {
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

// TestLinesOfUnread: of a file that cannot be parsed and of settings, what is evidently public is shown, and nothing if one of
// the values looks like a secret.
func TestLinesOfUnread(t *testing.T) {
	for text, want := range map[string]string{
		"-- a.yaml --\nimage: ghcr.io/acme/app:1.2.3\nb: [\n":   "image: ghcr.io/acme/app:1.2.3",
		"-- a.yaml --\nkind: HelmRelease\nb: [\n":               "kind: HelmRelease",
		"-- a.yaml --\nnote: it is!\nb: [\n":                    "note: <hidden>",
		"-- a.yaml --\nnote: a b\npassword: Sommer2024\nb: [\n": "",
		"-- a.yaml --\nnote: a b\nb: [kX9vbQ2mZpLtR\n":          "",
		"-- a.json --\n\"name\": \"DS_PROMETHEUS\",\n":          `"name": "DS_PROMETHEUS",`,
	} {
		r := inMemory(t, text, Limits{})
		if got, shown := r.Lines().Line(r.Paths()[0], 1); got != want || shown != (want != "") {
			t.Errorf("of %q, %q is shown, want %q", text, got, want)
		}
	}
}

// TestLinesOfGenerators: no line is shown of a file that a secretGenerator reads, and no message holds a value of it.
func TestLinesOfGenerators(t *testing.T) {
	lines := inMemory(t, "-- a/kustomization.yaml --\nsecretGenerator:\n  - {name: a, files: [b=../b.yaml], envs: [c.txt]}\nnamespace: visible\n"+
		"-- b.yaml --\na: Sommer2024!berlin\n-- a/c.txt --\nx=hunter two\n", Limits{}).Lines()
	for file, shown := range map[string]bool{"a/kustomization.yaml": true, "b.yaml": false, "a/c.txt": false} {
		if line, ok := lines.Line(file, 1); ok != shown {
			t.Errorf("%s: %q", file, line)
		}
	}
	const want = `b.yaml: b <hidden>, x is "<hidden>"`
	if got := lines.Scrub(`b.yaml: b Sommer2024!berlin, x is "hunter two"`); got != want {
		t.Error(got)
	}
}
