package bootstrap

import (
	"fmt"
	"strings"
	"testing"
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
		"a list":                 {`command: kubectl, args: [apply, -f, "a.yaml,b.yaml"]`, ""},
		"a list with one gone":   {`command: kubectl, args: [apply, -f, "a.yaml,gone.yaml"]`, gone("applies", "gone.yaml")},
		"joined":                 {`command: kubectl, args: [apply, -fgone.yaml]`, gone("applies", "gone.yaml")},
		"joined, and there":      {`command: kubectl, args: [apply, -fa.yaml]`, ""},
		"bash":                   {`command: bash, args: [-c, "kubectl apply -f gone.yaml"]`, gone("applies", "gone.yaml")},
		"sh":                     {`command: /bin/sh, args: [-c, "kubectl apply --server-side --filename=gone.yaml"]`, gone("applies", "gone.yaml")},
		"bash, and there":        {`command: bash, args: [-c, "kubectl apply -f a.yaml"]`, ""},
		"a variable":             {`command: bash, args: [-c, "kubectl apply -f $DIR/gone.yaml"]`, ""},
		"a folder":               {`command: bash, args: [-c, "cd /srv && kubectl apply -f gone.yaml"]`, ""},
		"a substitution":         {"command: bash, args: [-c, 'kubectl apply -f `cat name`']", ""},
		"a script":               {`command: ./gone.sh`, gone("runs", "gone.sh")},
		"a script of a shell":    {`command: bash, args: [scripts/gone.sh, a.yaml]`, gone("runs", "scripts/gone.sh")},
		"a script of a template": {`command: bash, args: ["{{ requiredEnv \"DIR\" }}/gone.sh"]`, ""},
		"a file that is there":   {`command: ./a.yaml`, ""},
		"a script above":         {`command: ../scripts/gone.sh`, strings.Replace(gone("runs", "gone.sh"), "bootstrap/gone", "scripts/gone", 1)},
		"recursively":            {`command: kubectl, args: [--context, x, apply, -Rf, gone/]`, gone("applies", "gone")},
		"a kustomization":        {`command: kubectl, args: [apply, -k, gone]`, gone("applies", "gone")},
		"options of a shell":     {`command: bash, args: [-euo, pipefail, -c, "kubectl apply -f gone.yaml"]`, gone("applies", "gone.yaml")},
		"in another folder":      {`command: sh, args: [-ec, "cd .. && kubectl apply -f bootstrap/a.yaml"]`, ""},
		"gone in another folder": {`command: sh, args: [-ec, "cd .. && kubectl apply -f bootstrap/gone.yaml"]`, gone("applies", "gone.yaml")},
		"after a script":         {`command: bash, args: [-c, "./a.yaml; kubectl apply -f gone.yaml"]`, gone("applies", "gone.yaml")},
		"of a script":            {`command: bash, args: [-c, "./gone.sh && kubectl apply -f a.yaml"]`, gone("runs", "gone.sh")},
		"written by a script":    {`command: bash, args: [-c, "./writes.sh; kubectl apply -f later.yaml"]`, ""},
		"written by a command":   {`command: bash, args: [-c, "make; kubectl apply -f gone.yaml"]`, ""},
		"several lines":          {`command: bash, args: [-c, "set -e\n# all\necho 'b; c'\nkubectl create \\\n  -f 'gone.yaml'\nif true; then ls; fi"]`, gone("applies", "gone.yaml")},
		"a name with an umlaut":  {`command: bash, args: [-c, "kubectl apply -f gönner.yaml"]`, gone("applies", "gönner.yaml")},
		"a text of two lines":    {`command: bash, args: [-c, "echo 'x\nkubectl apply -f gone.yaml' # it's"]`, ""},
		"names in braces":        {`command: bash, args: [-c, "kubectl apply -f {a,b,c}.yaml"]`, ""},
		"an open here-document":  {`command: bash, args: [-c, "kubectl apply -f gone.yaml; cat <<EOF; (x"]`, gone("applies", "gone.yaml")},
		"a condition":            {`command: bash, args: [-c, "if test -f gone.yaml; then kubectl apply -f gone.yaml; fi"]`, ""},
		"a test":                 {`command: bash, args: [-c, "[ -f other ] && kubectl apply -f gone.yaml"]`, ""},
		"or else":                {`command: bash, args: [-c, "kubectl apply -f gone.yaml || true"]`, ""},
		"a subshell":             {`command: bash, args: [-c, "(kubectl apply -f gone.yaml)"]`, ""},
		"a pipe":                 {`command: bash, args: [-c, "kustomize build --enable-helm ../apps/gone | kubectl apply --server-side -f -"]`, strings.Replace(gone("applies", "gone"), "bootstrap/gone", "apps/gone", 1)},
		"a pipe, and there":      {`command: bash, args: [-c, "kustomize build . | kubectl apply -f -"]`, ""},
		"a pipe to nothing":      {`command: bash, args: [-c, "kustomize build gone | echo"]`, ""},
		"a remote kustomization": {`command: kubectl, args: [apply, -k, github.com/org/repo//config]`, ""},
		"a command":              {`command: make, args: [gone]`, ""},
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

// TestHooksApplyMany: in a hook that runs many scripts and applies many files, each script counts for each file.
func TestHooksApplyMany(t *testing.T) {
	t.Parallel()
	var script, files, archive strings.Builder
	for i := range 150 {
		fmt.Fprintf(&script, "./s%d.sh; ", i)
		fmt.Fprintf(&archive, "-- bootstrap/s%d.sh --\n%ssops -d s > ${OUT}f%d.yaml\n", i, strings.Repeat("# nothing\n", 1000), i)
		fmt.Fprintf(&files, ",f%d.yaml", i)
	}
	hook := `hooks: [{events: [postsync], command: bash, args: [-c, "` + script.String() + "kubectl apply -f gone.yaml" + files.String() + `"]}]`
	const want = `error: bootstrap-order: a hook of release "cilium" applies bootstrap/gone.yaml, which does not exist`
	if got := problems(t, helmfiles(with(cilium, hook), with(coredns, "needs: [cilium]"))+archive.String()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
