package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"filippo.io/age"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// What a stranger puts where a repository has names and values: each begins where a line begins,
// and holds what a terminal or a CI system takes for a command.
var strangers = []string{
	"::error::forged\nFORGED\r\n ::set-output name=a::b\n\u00a0::add-mask::c\r::stop-commands::d\u2028::warning::e\u2029" +
		"\x1b[2J\x1b]0;title\a\u009b3J\x08\x7f\u202ereversed\u2066\u200b##[error]f##vso[task.complete]g##teamcity[h]\nsection_start:1:i\r\x1b[0K",
	" \u3000::error file=x::forged ##[group]a ##vso[task.b]c",
	"$(x) ##teamcity[message]\n\n\n::group::FORGED\n##[warning]FORGED\nFORGED",
}

// The names that a file system takes.
func fileName(s string) string {
	name := strings.NewReplacer("/", "", "\x00", "").Replace(s)
	if len(name) > 200 {
		name = strings.ToValidUTF8(name[:200], "")
	}
	return name
}

// outputCases are the command lines of each command, on each repository of strangersFolders. A
// format that the name of a command line ends in is checked as that. "DIR" stands for the folder.
var outputCases = map[string][]string{
	"init":             {"init DIR", "init DIR/::error::new\nFORGED"},
	"render":           {"render DIR --check", "render DIR --check --format json", "render DIR", "render DIR --format json", "render DIR --out DIR/out", "render --from-stream DIR/list.yaml DIR"},
	"commit":           {"commit DIR --dry-run", "commit DIR --dry-run --format json", "commit DIR --author STRANGER", "commit DIR --target STRANGER=STRANGER#STRANGER --format json"},
	"validate":         {"validate DIR", "validate DIR --verbose --report-ignored", "validate DIR --format json", "validate DIR --format sarif", "validate DIR --format junit", "validate DIR --format github", "validate DIR --format gitlab", "validate DIR --fail-on-unresolved --config none --format github", "validate DIR --config none --format junit", "validate DIR --rules STRANGER", "validate DIR --profile STRANGER --format github", "validate DIR --cluster STRANGER", "validate DIR --root STRANGER", "validate DIR --source STRANGER", "validate DIR --charts STRANGER", "validate DIR --changed-since STRANGER", "validate DIR --baseline STRANGER", "validate DIR --config none --changed-since HEAD~1", "validate DIR --config none --write-baseline DIR/baseline.json", "validate DIR --config none --baseline DIR/baseline.json --report-ignored", "validate DIR --fix", "validate STRANGER"},
	"build":            {"build DIR", "build DIR --format json", "build DIR --cluster a", "build DIR --cluster STRANGER"},
	"diff":             {"diff DIR --from HEAD~1", "diff DIR --from HEAD~1 --format json", "diff DIR --from STRANGER", "diff DIR --from HEAD~1 --to STRANGER"},
	"images":           {"images DIR", "images DIR --format json", "images DIR --format list", "images DIR --from HEAD~1", "images DIR --cluster STRANGER", "images DIR --from STRANGER", "images DIR --format STRANGER"},
	"fetch":            {"fetch DIR --dry-run", "fetch DIR --dry-run --format json", "fetch DIR --check", "fetch DIR --dry-run --cluster STRANGER"},
	"bootstrap":        {"bootstrap", "bootstrap STRANGER"},
	"bootstrap verify": {"bootstrap verify DIR", "bootstrap verify DIR --format json", "bootstrap verify DIR --format github", "bootstrap verify DIR --format sarif", "bootstrap verify DIR --format junit", "bootstrap verify DIR --format gitlab"},
	"bootstrap plan":   {"bootstrap plan DIR", "bootstrap plan DIR --format json"},
	"bootstrap values": {"bootstrap values a/a DIR", "bootstrap values a/a DIR --format json", "bootstrap values STRANGER DIR", "bootstrap values a/a DIR --cluster STRANGER"},

	"secrets":            {"secrets", "secrets STRANGER"},
	"secrets keygen":     {"secrets keygen DIR --cluster STRANGER --out DIR/../key", "secrets keygen DIR --tenant a --out DIR/../key2", "secrets keygen DIR --platform --out STRANGER"},
	"secrets encrypt":    {"secrets encrypt DIR/plain.yaml --stdout", "secrets encrypt DIR/apps/plain.yaml --stdout", "secrets encrypt DIR/apps/other.yaml --format json", "secrets encrypt DIR/apps/plain.yaml", "secrets encrypt DIR/apps/plain.yaml", "secrets encrypt DIR/NAME.sops.yaml", "secrets encrypt STRANGER"},
	"secrets sync":       {"secrets sync DIR --check", "secrets sync DIR", "secrets sync DIR --format json"},
	"secrets updatekeys": {"secrets updatekeys DIR --check", "secrets updatekeys DIR --check --format json", "secrets updatekeys DIR --rotate", "secrets updatekeys STRANGER"},
	"secrets verify":     {"secrets verify DIR", "secrets verify DIR --format json", "secrets verify DIR --decrypt"},
	"secrets check":      {"secrets check DIR", "secrets check DIR --format json", "secrets check DIR --staged", "secrets check DIR --staged --format json"},

	"explain": {"explain", "explain sops-partial", "explain Fleet", "explain STRANGER", "explain Fleet.STRANGER"},
	"schema":  {"schema Fleet", "schema STRANGER"},
	"schemas": {"schemas DIR", "schemas DIR --format json", "schemas DIR --cluster STRANGER", "schemas DIR --schemas STRANGER"},
	"fn":      {"fn", "fn STRANGER"},
	"version": {"version", "version STRANGER"},
	"help":    {"help", "help STRANGER", "--STRANGER", "validate --STRANGER", "STRANGER", "validate --format STRANGER"},

	"":                      {"", "--version"},
	"completion":            {"completion", "completion STRANGER"},
	"completion bash":       {"completion bash"},
	"completion fish":       {"completion fish"},
	"completion powershell": {"completion powershell"},
	"completion zsh":        {"completion zsh"},
}

// TestOutputSteersNothing runs every command on repositories in which every name and value is a
// stranger's, to a pipe and to a terminal: nothing in the output steers a terminal or a build, or
// forges a line.
func TestOutputSteersNothing(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range below(newRoot(streams{env: func(string) string { return "" }})) {
		name := strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), "fleetwright"))
		seen[name] = true
		if len(outputCases[name]) == 0 {
			t.Errorf("no case runs %q on a stranger's repository", name)
		}
	}
	for name := range outputCases {
		if !seen[name] {
			t.Errorf("there is no command %q", name)
		}
	}
	reached := map[string]bool{}
	for i, stranger := range strangers {
		for _, folder := range strangersFolders(t) {
			t.Run(fmt.Sprintf("%s %d", folder.name, i), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "repository")
				folder.fill(t, dir, stranger)
				for name, lines := range outputCases {
					for _, line := range lines {
						if folder.commands != nil && !slices.Contains(folder.commands, name) || folder.commands == nil && !strings.Contains(line, "DIR") {
							continue
						}
						if runForStranger(t, dir, line, stranger) {
							reached[name] = true
						}
					}
				}
			})
		}
	}
	for name := range outputCases {
		if !reached[name] && !slices.Contains([]string{"", "completion", "completion bash", "completion fish", "completion powershell", "completion zsh"}, name) {
			t.Errorf("nothing of a stranger's is in the output of %q: the test tests nothing", name)
		}
	}
}

// runForStranger runs a command line to buffers and to a terminal, and says whether something of
// the stranger's was in its output.
func runForStranger(t *testing.T, dir, line, stranger string) bool {
	t.Helper()
	args := []string{}
	for arg := range strings.FieldsSeq(line) {
		if arg == "FORGED" { // the rest of a name with a line break
			args[len(args)-1] += "\nFORGED"
			continue
		}
		args = append(args, strings.NewReplacer("DIR", dir, "STRANGER", stranger, "NAME", fileName(stranger)).Replace(arg))
	}
	env := func(name string) string {
		return map[string]string{"HOME": filepath.Dir(dir), "SOPS_AGE_KEY_FILE": filepath.Join(filepath.Dir(dir), "keys.txt"), "TERM": "xterm"}[name]
	}
	stdin := func() *bytes.Reader {
		data, _ := os.ReadFile(filepath.Join(dir, "list.yaml"))
		return bytes.NewReader(data)
	}
	var out, told bytes.Buffer
	execute(t.Context(), args, streams{in: stdin(), out: &out, err: &told, env: env})
	steersNothing(t, line, out.String(), strings.Contains(line, "--format github"))
	steersNothing(t, line+" (standard error)", told.String(), false)
	if !strings.Contains(line, "STRANGER") && wrongUsage(told.String()) {
		t.Errorf("%q tests nothing:\n%s", line, &told)
	}
	if terminal, text := onTerminal(t); terminal != nil {
		execute(t.Context(), args, streams{in: stdin(), out: terminal, err: terminal, env: env})
		steersNothing(t, line+" (on a terminal)", strings.ReplaceAll(ownColours.ReplaceAllString(text(), ""), "\r\n", "\n"), strings.Contains(line, "--format github"))
	}
	all := out.String() + told.String()
	return strings.Contains(all, "forged") || strings.Contains(all, "FORGED")
}

var (
	// ownColours are what the command itself sends to a terminal. No stranger uses them.
	ownColours = regexp.MustCompile(`\x1b\[(0|1|3[1-6])m|\r\x1b\[K`)
	// aCommand is what CI systems take for a command.
	aCommand = regexp.MustCompile(`(?m)^[\s\x{85}\p{Z}\p{Mn}]*::|##[\pL\pN_-]*\p{Mn}*\[|section_(start|end):\d+:[a-zA-Z0-9_.-]+(\[.*\])?\r`)
	// ourCommands are those that --format github writes.
	ourCommands = regexp.MustCompile(`(?m)^::(error|warning|notice) (file=[^:,]*,(line=\d+,(col=\d+,)?)?)?title=[a-z0-9-]+::|^::(group::\d+ unresolved|endgroup::)\r?$`)
)

// steersNothing checks what a command printed.
func steersNothing(t *testing.T, what, text string, commands bool) {
	t.Helper()
	complain := func(format string, args ...any) {
		t.Helper()
		if len(text) > 4000 {
			text = text[:4000]
		}
		t.Errorf("%q: %s:\n%q", what, fmt.Sprintf(format, args...), text)
	}
	if commands {
		text = ourCommands.ReplaceAllString(text, "")
	}
	if strings.ToValidUTF8(text, "") != text {
		complain("invalid UTF-8")
	}
	if at := aCommand.FindString(text); at != "" {
		complain("the command %q", at)
	}
	for i, r := range text {
		lineEnd := r == '\n' || r == '\t' || r == '\r' && strings.HasPrefix(text[i:], "\r\n")
		if !lineEnd && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Cs) {
			complain("%U at %d", r, i)
			break
		}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "FORGED") {
			complain("a forged line")
			break
		}
	}
}

// strangersFolder is a kind of repository.
type strangersFolder struct {
	name string
	// commands are those to run, nil for all with a DIR.
	commands []string
	fill     func(t *testing.T, dir, stranger string)
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func strangersFolders(t *testing.T) []strangersFolder {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	put := func(t *testing.T, dir, name, text string) {
		t.Helper()
		putFile(t, filepath.Join(dir, name), []byte(text))
	}
	return []strangersFolder{
		{"arguments", []string{"", "init", "bootstrap", "secrets", "secrets keygen", "explain", "schema", "fn", "version", "help", "completion", "completion bash", "completion fish", "completion powershell", "completion zsh", "secrets encrypt"}, func(t *testing.T, dir, s string) {
			q := quoted(s)
			put(t, dir, "list.yaml", "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  # \u202e ##[error]x\n  metadata: {name: "+q+", namespace: "+q+", annotations: {config.kubernetes.io/path: "+q+"}}\n  data: {a: 1, "+q+": "+q+"}\n"+
				"functionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: x}\n  data: {function: ValidateFleet}\n")
			put(t, dir, ".sops.yaml", "creation_rules: [{path_regex: "+q+", age: "+q+"}]\n")
		}},
		{"objects", []string{"validate", "build", "diff", "images", "schemas", "fetch", "secrets check", "secrets verify", "render", "commit"}, func(t *testing.T, dir, s string) {
			fluxRepository(t, dir, "a", put)
			gitCommit(t, dir)
			strangeObjects(t, dir, s, put)
			git(t, dir, "add", "--all")
		}},
		{"whole tree in Git", []string{"validate", "build", "diff", "images", "bootstrap plan"}, func(t *testing.T, dir, s string) {
			fluxRepository(t, dir, "a", put)
			strangeObjects(t, dir, s, put)
			gitCommit(t, dir)
			put(t, dir, "clusters/a/apps.yaml", "")
			gitCommit(t, dir)
			git(t, dir, "branch", "x\u202e\u2028##a")
		}},
		{"configuration", []string{"validate", "secrets check", "bootstrap verify"}, func(t *testing.T, dir, s string) {
			fluxRepository(t, dir, "a", put)
			put(t, dir, "helmfile.yaml", "releases: [{name: a, namespace: a, chart: x/a}]\n")
			put(t, dir, ".fleetwright.yaml", "apiVersion: fleetwright.dev/v1alpha1\nkind: ValidateFleet\nmetadata: {name: x}\nspec: {baseline: "+quoted(s)+"}\n")
		}},
		{"rules", []string{"validate", "secrets check", "bootstrap verify"}, func(t *testing.T, dir, s string) {
			q := quoted(s)
			fluxRepository(t, dir, "a", put)
			put(t, dir, ".fleetwright.yaml", "apiVersion: fleetwright.dev/v1alpha1\nkind: ValidateFleet\nmetadata: {name: "+q+"}\nspec: {rules: ["+q+"], disable: ["+q+"], ignore: [{rule: "+q+", reason: "+q+"}], roots: ["+q+"], "+q+": 1}\n")
		}},
		{"roots", []string{"validate"}, func(t *testing.T, dir, s string) {
			fluxRepository(t, dir, "a", put)
			put(t, dir, ".fleetwright.yaml", "apiVersion: fleetwright.dev/v1alpha1\nkind: ValidateFleet\nmetadata: {name: x}\nspec: {roots: ["+quoted(s)+"]}\n")
		}},
		{"broken configuration", []string{"validate", "secrets check"}, func(t *testing.T, dir, s string) {
			fluxRepository(t, dir, "a", put)
			put(t, dir, ".fleetwright.yaml", "a: *"+strings.Map(plainRune, s)+"\n"+quoted(s)+": [\n")
		}},
		{"bootstrap", []string{"bootstrap verify", "bootstrap plan", "bootstrap values", "validate"}, func(t *testing.T, dir, s string) {
			q := quoted(s)
			fluxRepository(t, dir, "a", put)
			put(t, dir, "helmfile.yaml", "environments: {"+q+": {}}\nrepositories: [{name: "+q+", url: "+q+"}]\nreleases:\n"+
				"- {name: a, namespace: a, chart: "+q+", version: "+q+", needs: ["+q+"], values: [{"+q+": "+q+", list: ["+q+"], block: "+q+", a: \""+"{{ x \"}, "+q+"]}\n"+
				"- {name: "+q+", namespace: "+q+", chart: x/a, version: 1.0.0, needs: [a/a]}\n")
			put(t, dir, "boot/"+fileName(s)+"/helmfile.yaml", "releases: [{name: a, namespace: a, chart: a/a, values: [{a: "+q+", "+q+": 2}]}, {name: "+q+", chart: b}]\n")
			put(t, dir, "clusters/a/apps.yaml", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: a, annotations: {fleetwright.dev/intended: "+q+"}}\nspec: {interval: 1m, chart: {spec: {chart: "+q+", version: 2.0.0, sourceRef: {kind: HelmRepository, name: "+q+"}}}, values: {a: "+q+"}}\n")
		}},
		{"charts", []string{"validate", "build", "diff", "images", "schemas", "fetch"}, func(t *testing.T, dir, s string) {
			q := quoted(s)
			fluxRepository(t, dir, "a", put)
			gitCommit(t, dir)
			put(t, dir, "charts/a/Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\ndescription: "+q+"\n")
			put(t, dir, "charts/a/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {a: {{ .Values.a | toJson }}}}\ndata:\n  a: |\n    x\n    ::error::forged\n  {{ .Values.a | toJson }}: {{ .Values.a | toJson }}\n")
			put(t, dir, "charts/b/Chart.yaml", "apiVersion: v2\nname: b\nversion: 1.0.0\n")
			put(t, dir, "charts/b/templates/b.yaml", "{{ fail .Values.a }}")
			for _, chart := range []string{"a", "b"} {
				put(t, dir, "clusters/a/"+chart+".yaml", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: "+chart+", namespace: flux-system}\nspec: {interval: 1m, chart: {spec: {chart: ./charts/"+chart+", sourceRef: {kind: GitRepository, name: flux-system}}}, values: {a: "+q+"}}\n")
			}
		}},
		{"secrets", []string{"secrets encrypt", "secrets updatekeys", "secrets verify", "secrets check", "validate"}, func(t *testing.T, dir, s string) {
			q := quoted(s)
			fluxRepository(t, dir, "a", put)
			put(t, filepath.Dir(dir), "keys.txt", identity.String()+"\n")
			put(t, dir, ".sops.yaml", "creation_rules:\n- {path_regex: apps/, encrypted_regex: ^(data|stringData)$, age: "+identity.Recipient().String()+"}\n- {path_regex: "+q+", age: "+q+"}\n- {age: "+q+", pgp: "+q+"}\n")
			for _, name := range []string{"plain.yaml", "apps/plain.yaml", "apps/other.yaml", fileName(s) + ".sops.yaml", "apps/" + fileName(s) + ".sops.yaml"} {
				put(t, dir, name, "apiVersion: v1\nkind: Secret\n# \u202e ##[error]forged\nmetadata: {name: "+q+", annotations: {"+q+": "+q+"}}\nstringData: {password: hunter22, "+q+": hunter23}\n")
			}
			for _, name := range []string{"enc.yaml", "apps/enc.yaml", "apps/" + fileName(s) + "enc.yaml"} {
				put(t, dir, name, "apiVersion: v1\nkind: Secret\nmetadata: {name: "+q+"}\nstringData: {password: \"ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]\", clear: "+q+"}\nsops:\n  kms: [{arn: "+q+", enc: x}]\n  pgp: [{fp: "+q+", enc: x}]\n  age: [{recipient: "+q+", enc: x}]\n  lastmodified: \"2024-01-01T00:00:00Z\"\n  mac: ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]\n  version: 3.9.0\n")
			}
			git(t, dir, "init", "--quiet")
			git(t, dir, "add", "--all")
		}},
		{"specification", []string{"render", "commit", "secrets sync", "secrets keygen", "secrets verify", "init"}, func(t *testing.T, dir, s string) {
			q := quoted(s)
			started(t, dir)
			put(t, dir, "fleet/"+fileName(s)+".yaml", "apiVersion: fleetwright.dev/v1alpha1\nkind: Tenant\nmetadata: {name: "+q+"}\nspec: {"+q+": "+q+", clusters: ["+q+"]}\n---\nkind: "+q+"\n---\n"+"apiVersion: fleetwright.dev/v1alpha1\nkind: Cluster\nmetadata: {name: "+q+"}\n---\napiVersion: fleetwright.dev/v1alpha1\nkind: Encryption\nmetadata: {name: x}\nspec: {secrets: [{name: "+q+", namespace: "+q+", keys: [{name: "+q+", from: {file: "+q+"}}]}]}\n")
		}},
		{"conflicts", []string{"render", "commit"}, func(t *testing.T, dir, s string) {
			started(t, dir)
			succeeds(t, "render", dir)
			err := filepath.WalkDir(dir, func(file string, e os.DirEntry, err error) error {
				if err == nil && e.Type().IsRegular() && strings.HasSuffix(file, ".yaml") && !strings.Contains(file, "/fleet/") {
					text, _ := os.ReadFile(file)
					err = os.WriteFile(file, []byte(string(text)+"# forged\n"+s+"\n"), 0o644)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}},
	}
}

// plainRune leaves what YAML lets into a plain scalar.
func plainRune(r rune) rune {
	if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
		return '_'
	}
	return r
}

// started is a folder with a starter specification, in a Git repository.
func started(t *testing.T, dir string) {
	t.Helper()
	putFile(t, filepath.Join(dir, "README"), []byte("x\n"))
	git(t, dir, "init", "--quiet", "--initial-branch=main")
	git(t, dir, "remote", "add", "origin", "git@github.com:acme/platform.git")
	succeeds(t, "init", dir)
	gitCommit(t, dir)
}

// succeeds runs a command that has nothing to complain about.
func succeeds(t *testing.T, args ...string) {
	t.Helper()
	var out bytes.Buffer
	if status := execute(t.Context(), args, streams{out: &out, err: &out, env: func(string) string { return "" }}); status != statusFine {
		t.Fatalf("%q ends with %d:\n%s", args, status, &out)
	}
}

func fluxRepository(t *testing.T, dir, cluster string, put func(t *testing.T, dir, name, text string)) {
	t.Helper()
	put(t, dir, "clusters/"+cluster+"/flux-system/gotk-sync.yaml", "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {interval: 1m, url: ssh://git@example.com/a, ref: {branch: main}}\n---\n"+
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {interval: 1m, path: ./clusters/"+cluster+", prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n")
}

// strangeObjects are objects with a stranger's names and values, and files with such names.
func strangeObjects(t *testing.T, dir, s string, put func(t *testing.T, dir, name, text string)) {
	t.Helper()
	q, name := quoted(s), fileName(s)
	kustomization := func(name, path, more string) string {
		return "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\nspec: {interval: 1m, path: " + path + ", prune: true, sourceRef: {kind: GitRepository, name: flux-system}" + more + "}\n"
	}
	put(t, dir, "clusters/a/apps.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: a, annotations: {a: "+q+", "+q+": "+q+", fleetwright.dev/ignore: "+q+"}}\ndata: {a: "+q+", "+q+": b, c: 1}\n"+
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: block, namespace: a}\ndata:\n  a: |\n    x\n    ::error::forged\n    ##[error]forged\n  \"::error::forged\": x\n"+
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+q+", namespace: "+q+"}\n---\napiVersion: "+q+"\nkind: "+q+"\nmetadata: {name: a}\n"+
		"---\napiVersion: v1\nkind: Secret\nmetadata: {name: "+q+", namespace: a}\nstringData: {"+q+": "+q+", password: hunter2}\n"+
		kustomization("a", q, ", dependsOn: [{name: "+q+", namespace: "+q+"}]")+kustomization("b", "./apps", ", "+q+": 1, decryption: {provider: "+q+", secretRef: {name: "+q+"}}, postBuild: {substitute: {"+q+": "+q+"}, substituteFrom: [{kind: "+q+", name: "+q+"}]}")+kustomization(q, "./broken", ""))
	put(t, dir, "apps/kustomization.yaml", "resources: [a.yaml, "+quoted(name+".yaml")+"]\nnamePrefix: "+q+"\ncommonAnnotations: {a: "+q+"}\nconfigMapGenerator: [{name: "+q+", literals: ["+quoted("a="+s)+"]}]\npatches: [{target: {kind: "+q+"}, patch: "+q+"}]\n")
	put(t, dir, "apps/a.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: "+q+", template: {spec: {containers: [{name: "+q+", image: "+q+"}]}}}\n")
	put(t, dir, "apps/"+name+".yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+q+"}\ndata: {a: "+q+", b: ${forged}}\n")
	put(t, dir, "broken/kustomization.yaml", "resources: ["+q+"]\n"+q+": x\n")
	put(t, dir, "clusters/a/"+name+".yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\ndata: {a: 2}\n")
	put(t, dir, "clusters/a/"+name+"/bad.yaml", "a: [\n"+q+": *forged\n")
	put(t, dir, "clusters/a/alias.yaml", "a: *"+strings.Map(plainRune, s)+"\n")
	put(t, dir, "clusters/a/invalid\xff::x.yaml", "a: \xff\n")
	put(t, dir, "clusters/a/comment.yaml", "# fleetwright:ignore \u202e##[error]forged\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: y, namespace: a}\ndata: {a: 2}\n")
}

func gitCommit(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, ".git")); err != nil {
		git(t, dir, "init", "--quiet", "--initial-branch=main")
	}
	git(t, dir, "add", "--all")
	git(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=x")
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
}

// TestExceededSteersNothing: the names of a unit of work that takes too long steer nothing, in any format.
func TestExceededSteersNothing(t *testing.T) {
	for _, stranger := range strangers {
		e := &bounds.Error{Unit: bounds.Unit{Kind: "build", File: fileName(stranger), Line: 1, Name: stranger}, What: "takes more than 30s"}
		for _, format := range append([]string{formatText}, reportFormats...) {
			var out bytes.Buffer
			v := validation{streams: streams{out: &out, env: func(string) string { return "" }}, flags: &validateFlags{format: format},
				report: finding.NewReport([]finding.Finding{rule.OfUnit(e)}, nil, finding.Summary{})}
			if err := v.write(nil); err != nil {
				t.Fatal(err)
			}
			steersNothing(t, format, out.String(), format == formatGitHub)
			if !strings.Contains(strings.ToLower(out.String()), "forged") {
				t.Errorf("%s does not name the unit:\n%.3000s", format, out.String())
			}
		}
		var told bytes.Buffer
		streams{err: &told}.fail(e)
		steersNothing(t, "the error", told.String(), false)
	}
}
