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

// A value that was put in clear into an encrypted Secret is not shown.
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
