package bootstrap

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/testarchive"
)

// TestHooksApply finds the files that hooks apply or run and that do not exist, in every form of a command that is certain, and
// says nothing of others.
func TestHooksApply(t *testing.T) {
	t.Parallel()
	const a, b = "-- bootstrap/a.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n", "-- bootstrap/b.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n"
	gone := func(does, name string) string {
		return `error: bootstrap-order: a hook of release "cilium" ` + does + " bootstrap/" + name + ", which does not exist"
	}
	for name, c := range map[string]struct{ hook, want string }{
		"a list":                  {`command: kubectl, args: [apply, -f, "a.yaml,b.yaml"]`, ""},
		"a list with one gone":    {`command: kubectl, args: [apply, -f, "a.yaml,gone.yaml"]`, gone("applies", "gone.yaml")},
		"joined":                  {`command: kubectl, args: [apply, -fgone.yaml]`, gone("applies", "gone.yaml")},
		"joined, and there":       {`command: kubectl, args: [apply, -fa.yaml]`, ""},
		"bash":                    {`command: bash, args: [-c, "kubectl apply -f gone.yaml"]`, gone("applies", "gone.yaml")},
		"sh":                      {`command: /bin/sh, args: [-c, "kubectl apply --server-side --filename=gone.yaml"]`, gone("applies", "gone.yaml")},
		"bash, and there":         {`command: bash, args: [-c, "kubectl apply -f a.yaml"]`, ""},
		"a variable":              {`command: bash, args: [-c, "kubectl apply -f $DIR/gone.yaml"]`, ""},
		"a folder":                {`command: bash, args: [-c, "cd /srv && kubectl apply -f gone.yaml"]`, ""},
		"a substitution":          {"command: bash, args: [-c, 'kubectl apply -f `cat name`']", ""},
		"a script":                {`command: ./gone.sh`, gone("runs", "gone.sh")},
		"a script of a shell":     {`command: bash, args: [scripts/gone.sh, a.yaml]`, gone("runs", "scripts/gone.sh")},
		"a script of a template":  {`command: bash, args: ["{{ requiredEnv \"DIR\" }}/gone.sh"]`, ""},
		"a file that is there":    {`command: ./a.yaml`, ""},
		"a script above":          {`command: ../scripts/gone.sh`, strings.Replace(gone("runs", "gone.sh"), "bootstrap/gone", "scripts/gone", 1)},
		"recursively":             {`command: kubectl, args: [--context, x, apply, -Rf, gone/]`, gone("applies", "gone")},
		"a kustomization":         {`command: kubectl, args: [apply, -k, gone]`, gone("applies", "gone")},
		"options of a shell":      {`command: bash, args: [-euo, pipefail, -c, "kubectl apply -f gone.yaml"]`, gone("applies", "gone.yaml")},
		"in another folder":       {`command: sh, args: [-ec, "cd .. && kubectl apply -f bootstrap/a.yaml"]`, ""},
		"gone in another folder":  {`command: sh, args: [-ec, "cd .. && kubectl apply -f bootstrap/gone.yaml"]`, gone("applies", "gone.yaml")},
		"after a script":          {`command: bash, args: [-c, "./a.yaml; kubectl apply -f gone.yaml"]`, ""},
		"after a build to a file": {`command: bash, args: [-c, "kustomize build -o gone.yaml . && kubectl apply -f gone.yaml"]`, ""},
		"after a copy":            {`command: bash, args: [-c, "kubectl cp a/b:/x . && kubectl apply -f gone.yaml"]`, ""},
		"of a script":             {`command: bash, args: [-c, "./gone.sh && kubectl apply -f a.yaml"]`, gone("runs", "gone.sh")},
		"written by a script":     {`command: bash, args: [-c, "./writes.sh; kubectl apply -f later.yaml"]`, ""},
		"written by a command":    {`command: bash, args: [-c, "make; kubectl apply -f gone.yaml"]`, ""},
		"several lines":           {`command: bash, args: [-c, "set -e\n# all\necho 'b; c'\nkubectl create \\\n  -f 'gone.yaml'\nif true; then ls; fi"]`, gone("applies", "gone.yaml")},
		"a name with an umlaut":   {`command: bash, args: [-c, "kubectl apply -f gönner.yaml"]`, gone("applies", "gönner.yaml")},
		"a text of two lines":     {`command: bash, args: [-c, "echo 'x\nkubectl apply -f gone.yaml' # it's"]`, ""},
		"names in braces":         {`command: bash, args: [-c, "kubectl apply -f {a,b,c}.yaml"]`, ""},
		"an open here-document":   {`command: bash, args: [-c, "kubectl apply -f gone.yaml; cat <<EOF; (x"]`, gone("applies", "gone.yaml")},
		"a condition":             {`command: bash, args: [-c, "if test -f gone.yaml; then kubectl apply -f gone.yaml; fi"]`, ""},
		"a test":                  {`command: bash, args: [-c, "[ -f other ] && kubectl apply -f gone.yaml"]`, ""},
		"or else":                 {`command: bash, args: [-c, "kubectl apply -f gone.yaml || true"]`, ""},
		"a subshell":              {`command: bash, args: [-c, "(kubectl apply -f gone.yaml)"]`, ""},
		"a pipe":                  {`command: bash, args: [-c, "kustomize build --enable-helm ../apps/gone | kubectl apply --server-side -f -"]`, strings.Replace(gone("applies", "gone"), "bootstrap/gone", "apps/gone", 1)},
		"a pipe, and there":       {`command: bash, args: [-c, "kustomize build . | kubectl apply -f -"]`, ""},
		"a pipe to nothing":       {`command: bash, args: [-c, "kustomize build gone | echo"]`, ""},
		"a remote kustomization":  {`command: kubectl, args: [apply, -k, github.com/org/repo//config]`, ""},
		"of GitHub":               {`command: kubectl, args: [apply, -k, github.com/org/repo]`, ""},
		"of Git":                  {`command: kubectl, args: [apply, "--kustomize=git@example.com:org/repo.git"]`, ""},
		"of GitHub, in a pipe":    {`command: bash, args: [-c, "cd ..; kubectl kustomize github.com/org/repo/config | kubectl apply -f -; kustomize build git@example.com:org/repo.git | kubectl apply -f -"]`, ""},
		"of GitHub, directly":     {`kubectlApply: {kustomize: github.com/org/repo}`, ""},
		"a file of such a name":   {`kubectlApply: {filename: github.com/org/repo}`, gone("applies", "github.com/org/repo")},
		"an option of bash":       {`command: bash, args: [-O, extglob, +eo, posix, -c, "kubectl apply -f gone.yaml"]`, gone("applies", "gone.yaml")},
		"an option taken away":    {`command: bash, args: [+x, gone.sh]`, gone("runs", "gone.sh")},
		"in a container":          {`command: kubectl, args: [exec, deploy/tools, --, ceph, osd, pool, create, -f, replicated]`, ""},
		"of a shell":              {`command: bash, args: [-c, "kubectl exec deploy/tools -- ceph osd pool create -f replicated"]`, ""},
		"a value of a flag":       {`command: kubectl, args: [--context, create, get, -f, gone.yaml]`, ""},
		"flags of kubectl":        {`command: kubectl, args: [-n, x, --match-server-version, --context=x, -v6, create, -f, gone.yaml]`, gone("applies", "gone.yaml")},
		"a command":               {`command: make, args: [gone]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := problems(t, helmfiles(with(cilium, "hooks: [{events: [postsync], "+c.hook+"}]"))+a+b+"-- bootstrap/writes.sh --\ntouch later.yaml\n"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	const shared = "hooks: [{events: [prepare], command: kubectl, args: [apply, -f, gone.yaml]}]\n"
	if got, want := problems(t, helmfiles(with(cilium, ""), with(coredns, "needs: [cilium]"))+shared+a), "error: bootstrap-order: a hook of the helmfile applies bootstrap/gone.yaml, which does not exist"; got != want {
		t.Errorf("of the helmfile: got %s, want %s", got, want)
	}
}

// TestLinesOfScripts reports a file that a command in a literal block applies at its own line. In other strings, and where a template
// changes the lines, the line is that of the start of the script.
func TestLinesOfScripts(t *testing.T) {
	t.Parallel()
	const before = `releases:
- name: cilium
  namespace: kube-system
  chart: oci://quay.io/cilium/charts/cilium
  version: 1.19.0
  hooks:
  - events: [postsync]
    command: bash
    args:
    - -c
    - `
	const script = `
      set -e

      echo one
      kubectl apply \
        -f gone.yaml
`
	for name, c := range map[string]struct {
		file, script string
		line         int
	}{
		"literal":             {"helmfile.yaml", "|" + script, 16},
		"stripped":            {"helmfile.yaml", "|-" + script, 16},
		"folded":              {"helmfile.yaml", ">\n      kubectl apply\n      -f gone.yaml\n", 11},
		"quoted":              {"helmfile.yaml", `"echo one\nkubectl apply -f gone.yaml"` + "\n", 11},
		"a second document":   {"helmfile.yaml", "|" + script + "---\ncommonLabels: {a: b}\n", 16},
		"in a template":       {"helmfile.yaml.gotmpl", "|" + strings.Replace(script, "one", `{{ "one" }}`, 1), 16},
		"lines of a template": {"helmfile.yaml.gotmpl", "|" + strings.Replace(script, "echo one", "{{- if true }}\n      echo one\n      {{- end }}", 1), 11},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive := "-- bootstrap/" + c.file + " --\n" + before + c.script
			report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(archive))), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Order) != 1 || report.Order[0].Line != c.line {
				t.Errorf("got %+v, want line %d", report.Order, c.line)
			}
		})
	}
}

// TestHooksApplyMany: of hooks that run many scripts and apply many files, each script counts for each file.
func TestHooksApplyMany(t *testing.T) {
	t.Parallel()
	var script, files, archive strings.Builder
	for i := range 150 {
		fmt.Fprintf(&script, "./s%d.sh; ", i)
		fmt.Fprintf(&archive, "-- bootstrap/s%d.sh --\n%ssops -d s > ${OUT}f%d.yaml\n", i, strings.Repeat("# nothing\n", 1000), i)
		fmt.Fprintf(&files, ",f%d.yaml", i)
	}
	hook := `hooks: [{events: [presync], command: bash, args: [-c, "` + script.String() + `"]}, {events: [postsync], command: kubectl, args: [apply, -f, "gone.yaml` + files.String() + `"]}]`
	const want = `error: bootstrap-order: a hook of release "cilium" applies bootstrap/gone.yaml, which does not exist`
	if got := problems(t, helmfiles(with(cilium, hook), with(coredns, "needs: [cilium]"))+archive.String()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestMayBeWritten: a file that another hook, a script of one, or a script that runs helmfile may write is not certainly absent, nor
// one that .gitignore excludes: neither as what a hook applies nor as values.
func TestMayBeWritten(t *testing.T) {
	t.Parallel()
	hook := func(command string) string { return "hooks: [{events: [prepare], " + command + "}]\n" }
	for name, beside := range map[string]string{
		"a command":                 hook(`command: bash, args: [-c, "sops -d --output out/x.yaml s"]`),
		"a script":                  hook("command: ./write.sh") + "-- bootstrap/write.sh --\nsops -d s > \"${OUT}x.yaml\"\n",
		"a script for its folder":   hook("command: ./write.sh") + "-- bootstrap/write.sh --\nfor f in *.sops; do sops -d $f > out/$f; done\n",
		"a large script":            hook("command: ./write.sh") + "-- bootstrap/write.sh --\n" + strings.Repeat("# nothing\n", 7000),
		"a script of unknown name":  hook("command: './{{ .Release.Name }}.sh'") + "-- bootstrap/cilium.sh --\n-- bootstrap/coredns.sh --\n",
		"a hook of another release": with(coredns, "hooks: [{events: [presync], command: sops, args: [-d, --output, out/x.yaml, s]}]"),
		"a script before helmfile":  "-- deploy.sh --\nsops -d s > bootstrap/out/x.yaml\nhelmfile -f bootstrap/helmfile.yaml apply\n",
		"not in Git, for helmfile":  "-- .gitignore --\n/bootstrap/out/\n",
		"the name of a folder":      hook("command: kubectl, args: [get, pods, --namespace=out]") + "-- bootstrap/out/y.yaml --\na: 1\n",
		"nothing":                   hook("command: ./write.sh") + "-- bootstrap/write.sh --\nsops -d s > y.yaml\n",
	} {
		for as, archive := range map[string]string{
			"applied":     helmfiles(with(cilium, "hooks: [{events: [postsync], kubectlApply: {filename: out/x.yaml}}]")) + beside,
			"values":      helmfiles(with(cilium, "values: [out/x.yaml]")) + beside,
			"environment": strings.Replace(helmfiles(with(cilium, ""))+beside, "releases:", "environments: {default: {values: [out/x.yaml]}}\n---\nreleases:", 1),
		} {
			report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(archive))), nil)
			if err != nil {
				t.Fatal(err)
			}
			absent := slices.ContainsFunc(report.Order, func(o OrderProblem) bool {
				return strings.HasSuffix(o.Message, " applies bootstrap/out/x.yaml, which does not exist")
			}) || slices.ContainsFunc(report.Refusals, func(r Refusal) bool { return strings.Contains(r.Reason, "file bootstrap/out/x.yaml ") })
			// helmfile reads the values of an environment before it runs a hook.
			if want := name == "nothing" || name == "the name of a folder" || as == "environment" && !strings.HasSuffix(name, " helmfile"); absent != want {
				t.Errorf("%s, %s: absent %t, want %t: %v %v", name, as, absent, want, report.Order, report.Refusals)
			}
		}
	}
}

// TestSymlinkedValues: a symlink within the repository is a file, also for an environment whose missing files are no error.
func TestSymlinkedValues(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "env.yaml"), []byte("version: 1.2.3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("env.yaml", filepath.Join(dir, "link.yaml")); err != nil {
		t.Skip(err)
	}
	for _, handler := range []string{"Error", "Warn"} {
		helmfile := "environments: {default: {missingFileHandler: " + handler + ", values: [link.yaml]}}\n---\nreleases:\n- {name: app, namespace: a, chart: oci://x/app, version: '{{ .Values.version }}'}\n"
		if err := os.WriteFile(filepath.Join(dir, "helmfile.yaml.gotmpl"), []byte(helmfile), 0o644); err != nil {
			t.Fatal(err)
		}
		repo, err := repository.Load(dir, repository.Options{})
		if err != nil {
			t.Fatal(err)
		}
		report, err := Verify(t.Context(), repo, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := report.Releases[0].Version; got != "1.2.3" || len(report.Refusals) > 0 {
			t.Errorf("%s: version %q, refusals %v", handler, got, report.Refusals)
		}
	}
}
