package schema

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

const (
	badMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata: {b: 1}\n"
	noSpec = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: b}\nspec: {suspend: true}\n"
	foo    = "apiVersion: example.com/v1\nkind: Foo\nspec: {size: big}\n"
	chart  = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: b}\nspec: {chartRef: {kind: OCIRepository, name: a}}\n"
)

const fooDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Foo, plural: foos}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`

// template is one of k0rdent's with the specification of a chart.
func template(chart string) string {
	return "apiVersion: k0rdent.mirantis.com/v1beta1\nkind: ClusterTemplate\nmetadata: {name: a, namespace: b}\nspec:\n  helm:\n    chartSpec: " + chart + "\n"
}

// TestWhatIsValidated lists the roles of a file: only what Flux applies as it
// stands is judged.
func TestWhatIsValidated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, files string
		invalid     string
		unresolved  int
	}{
		{"in a plain folder", "-- x/a.yaml --\n" + badMap, "x/a.yaml:4:11", 0},
		{"a resource", "-- kustomization.yaml --\nresources: [a.yaml]\n-- a.yaml --\n" + badMap, "a.yaml:4:11", 0},
		{"in a List", "-- a.yaml --\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  data: {b: 1}\n", "a.yaml:6:13", 0},
		{"not listed", "-- kustomization.yaml --\nresources: []\n-- a.yaml --\n" + badMap, "", 0},
		{"a value that a built-in field cannot have", "-- a.yaml --\napiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {type: Loadbalancer, sessionAffinity: \"\", ports: [{port: 80}]}\n", "a.yaml:4:14", 0},
		{"what webhooks fill in", "-- a.yaml --\n" + template("{chart: a, version: 1.0.0}"), "", 0},
		{"what webhooks don't fill in", "-- a.yaml --\n" + template("{interval: hourly, sourceRef: {name: b}}"), "a.yaml:6:5 a.yaml:6:27 a.yaml:6:35", 0},
		{"a patch", "-- kustomization.yaml --\npatches: [{path: a.yaml}]\n-- a.yaml --\n" + badMap, "", 0},
		{"a patch of another folder", "-- x/kustomization.yaml --\npatchesStrategicMerge: [../p/a.yaml]\n-- p/a.yaml --\n" + badMap, "", 0},
		{"a generator's file", "-- x/kustomization.yaml --\nconfigMapGenerator: [{name: a, files: [../p/a.yaml]}]\n-- p/a.yaml --\n" + badMap, "", 0},
		{"a transformer", "-- x/kustomization.yaml --\ntransformers: [../p/a.yaml]\n-- p/a.yaml --\n" + badMap, "", 0},
		{"a chart's template", "-- c/Chart.yaml --\nname: a\n-- c/templates/a.yaml --\n" + badMap, "", 0},
		{"what Flux leaves out", "-- .sourceignore --\n/ci\n-- ci/a.yaml --\n" + badMap, "", 0},
		{"a fragment", "-- a.yaml --\n" + noSpec, "", 0},
		{"a fragment that is listed", "-- kustomization.yaml --\nresources: [a.yaml]\n-- a.yaml --\n" + noSpec, "a.yaml:4:1", 0},
		{"required, and no patch", "-- a.yaml --\n" + chart, "a.yaml:4:1", 0},
		{"required, and a patch to the kind", "-- kustomization.yaml --\nresources: [a.yaml]\npatches: [{patch: '[]', target: {kind: HelmRelease}}]\n-- a.yaml --\n" + chart, "", 1},
		{"required, and a patch to any kind", "-- kustomization.yaml --\nresources: [a.yaml]\npatches: [{patch: '[]', target: {name: x}}]\n-- a.yaml --\n" + chart, "", 1},
		{"required, and a patch to another kind", "-- kustomization.yaml --\nresources: [a.yaml]\npatches: [{patch: '[]', target: {kind: ConfigMap}}]\n-- a.yaml --\n" + chart, "a.yaml:4:1", 0},
		{"required, and an inline patch", "-- kustomization.yaml --\nresources: [a.yaml]\npatches:\n- patch: |\n    kind: HelmRelease\n    spec: {interval: 1h}\n-- a.yaml --\n" + chart, "", 1},
		{"required, and a patch of Flux's that changes nothing", "-- a.yaml --\n" + chart + "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: b, namespace: b}\nspec:\n  interval: 1h\n  prune: true\n  sourceRef: {kind: GitRepository, name: a}\n  patches: [{patch: '[]', target: {kind: HelmRelease}}]\n", "a.yaml:4:1", 0},
		{"an anchor and its aliases", "-- a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {z: &one 1, b: *one, c: *one}\n", "a.yaml:4:11", 0},
		{"an alias of what is right", "-- a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, generation: &one 1}\ndata: {b: *one}\n", "a.yaml:4:11", 0},
		{"what is merged in twice", "-- a.yaml --\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - &one {name: a, image: b, ports: [{containerPort: x}]}\n  - {<<: *one, name: b}\n", "a.yaml:6:54", 0},
		{"a key twice", "-- a.yaml --\n" + strings.Replace(badMap, "{b: 1}", "{b: x, b: y}", 1), "a.yaml:4:14", 0},
		{"an unknown kind", "-- a.yaml --\n" + foo, "", 1},
		{"an unknown kind that is a patch", "-- kustomization.yaml --\npatches: [{path: a.yaml}]\n-- a.yaml --\n" + foo, "", 0},
		{"an unknown kind that isn't listed", "-- kustomization.yaml --\nresources: []\n-- a.yaml --\n" + foo, "", 0},
		{"an unknown kind that is not applied", "-- a.yaml --\n" + foo + "metadata: {annotations: {config.kubernetes.io/local-config: 'true'}}\n", "", 0},
		{"its definition", "-- a.yaml --\n" + foo + "-- z.yaml --\n" + fooDefinition, "a.yaml:3:14", 0},
		{"its definition in a chart", "-- a.yaml --\n" + foo + "-- c/Chart.yaml --\nname: c\n-- c/crds/z.yaml --\n" + fooDefinition, "a.yaml:3:14", 0},
		{"two definitions, one of which allows it", "-- a.yaml --\n" + foo + "-- y.yaml --\n" + fooDefinition + "-- z.yaml --\n" + strings.ReplaceAll(fooDefinition, "integer", "string"), "", 0},
		{"its definition without a schema", "-- a.yaml --\n" + foo + "-- z.yaml --\n" + strings.Split(fooDefinition, "    schema:")[0], "", 1},
		{"a definition that isn't applied", "-- a.yaml --\n" + foo + "-- b/kustomization.yaml --\nresources: []\n-- b/z.yaml --\n" + fooDefinition, "", 1},
		{"a definition that may be patched", "-- a.yaml --\n" + foo + "-- b/kustomization.yaml --\nresources: [z.yaml]\npatches: [{patch: '[]', target: {kind: CustomResourceDefinition}}]\n-- b/z.yaml --\n" + fooDefinition, "", 1},
		{"a definition that is broken", "-- a.yaml --\n" + foo + "-- z.yaml --\n" + strings.ReplaceAll(fooDefinition, "integer", "integer, pattern: '['"), "", 1},
		{"a version that isn't served", "-- a.yaml --\n" + foo + "-- z.yaml --\n" + strings.ReplaceAll(fooDefinition, "served: true", "served: false"), "", 1},
		{"a known kind in an unknown version", "-- a.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v2\nkind: Kustomization\nspec: {validation: client}\n", "a.yaml:1:13", 0},
		{"a template that nothing reads", "-- a.yaml --\na: {{ x }}\nb: [\n", "", 0},
		{"a broken file that nothing reads", "-- a.yaml --\nb: [\n", "", 1},
		{"a broken resource", "-- kustomization.yaml --\nresources: [a.yaml]\n-- a.yaml --\na: {{ x }}\nb: [\n", "a.yaml:2:1", 0},
		{"a broken kustomization", "-- kustomization.yaml --\nresources: [\n", "kustomization.yaml:1:1", 0},
		{"a broken file on Flux's path", "-- k.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {interval: 1h, prune: true, sourceRef: {kind: GitRepository, name: a}, path: ./apps}\n-- apps/x/a.yaml --\nb: *zz\n", "apps/x/a.yaml:1:4", 0},
		{"kustomize's own types", "-- kustomization.yaml --\nresources: a.yaml\n", "kustomization.yaml:1:12", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, unresolved := ruletest.Run(t, Invalid, c.files)
			_, missing := ruletest.Run(t, Missing, c.files)
			unresolved = append(unresolved, missing...)
			var at []string
			for _, f := range found {
				at = append(at, fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column))
			}
			if got := strings.Join(at, " "); got != c.invalid || len(unresolved) != c.unresolved {
				t.Errorf("invalid at %q, want %q; unresolved are %v, want %d\n%v", got, c.invalid, unresolved, c.unresolved, found)
			}
		})
	}
}

// TestExamplesAreNotJudged: without a cluster, what an example or a test holds is no mistake.
func TestExamplesAreNotJudged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, files, found string
		notJudged          int
	}{
		{"without a cluster", "-- docs/a.yaml --\n" + badMap + "-- pkg/testdata/in/a.yaml --\n" + badMap + "-- pkg/_testdata/a.yaml --\na: b: c\n-- e2e/kustomization.yaml --\nresource: []\n-- deploy/a.yaml --\n" + badMap, "deploy/a.yaml", 4},
		{"nothing else", "-- test/a.yaml --\n" + badMap, "", 1},
		{"a cluster applies it", rule.FluxSync + "-- clusters/prod/test/a.yaml --\n" + badMap, "clusters/prod/test/a.yaml", 0},
		{"a cluster doesn't apply it", rule.FluxSync + "-- test/a.yaml --\n" + badMap, "", 0},
	} {
		out, err := rule.Run(t.Context(), ruletest.Load(t, c.files), rule.Options{Rules: []rule.Rule{Invalid, UnknownField}})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, f := range out.Findings {
			found = append(found, f.File)
		}
		if got := strings.Join(found, " "); got != c.found || len(out.NotJudged) != c.notJudged {
			t.Errorf("%s: found in %q, want %q; not judged are %q", c.name, got, c.found, out.NotJudged)
		}
	}
}

func TestFieldsThatAPatchMaySetAreReportedOnce(t *testing.T) {
	t.Parallel()
	files := "-- kustomization.yaml --\nresources: [a.yaml]\npatches: [{patch: '[]', target: {kind: HelmRelease}}]\n-- a.yaml --\n" +
		chart + "---\n" + strings.Replace(chart, "name: a,", "name: b,", 1)
	_, unresolved := ruletest.Run(t, Invalid, files)
	const want = "this and 1 other HelmRelease objects have missing required fields (spec.interval), unless patches set them"
	if len(unresolved) != 1 || unresolved[0].Reason != want {
		t.Errorf("unresolved are %v, want %q", unresolved, want)
	}
}

// TestKindsWithoutASchemaAreReportedOnce says of each kind how many objects went
// unchecked and what to do about it.
func TestKindsWithoutASchemaAreReportedOnce(t *testing.T) {
	t.Parallel()
	files := "-- a.yaml --\napiVersion: v1\nkind: ConfigMap\n---\n" + foo + "---\n" + foo + "-- b.yaml --\n" + foo + "---\n" +
		strings.Replace(foo, "Foo", "Bar", 1) + "---\napiVersion: example.com/v2\nkind: Foo\n" +
		"-- flux.yaml --\napiVersion: batch/v2alpha1\nkind: CronJob\n" +
		"-- z.yaml --\n" + strings.Replace(fooDefinition, "name: v1\n", "name: v3\n", 1)
	found, unresolved := ruletest.Run(t, Missing, files)
	const known, anew = "%s of this kind is known; move to a known version, or add the CustomResourceDefinition that serves it to the repository or to --schemas",
		"add the CustomResourceDefinition that serves it to the repository or to --schemas so that it is checked"
	want := []string{
		"a.yaml:4: no schema for example.com/v1 Foo (3 objects): " + fmt.Sprintf(known, "v3"),
		"b.yaml:5: no schema for example.com/v1 Bar (1 object): " + anew,
		"b.yaml:9: no schema for example.com/v2 Foo (1 object): " + fmt.Sprintf(known, "v3"),
		"flux.yaml:1: no schema for batch/v2alpha1 CronJob (1 object): " + fmt.Sprintf(known, "v1"),
	}
	var got []string
	for _, u := range unresolved {
		got = append(got, fmt.Sprintf("%s:%d: %s", u.File, u.Line, u.Reason))
	}
	if !slices.Equal(got, want) || len(found) > 0 {
		t.Errorf("unresolved are\n%s\nwant\n%s\nfindings are %v", strings.Join(got, "\n"), strings.Join(want, "\n"), found)
	}
}

// TestUnreadableFilesAreSaidInSentences whatever the message's subject is.
func TestUnreadableFilesAreSaidInSentences(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"b: [\n":       "the file is not YAML: did not find expected node content",
		"a: &a [*a]\n": "the alias \"*a\" contains itself",
	} {
		_, unresolved := ruletest.Run(t, Invalid, "-- a.yaml --\n"+content)
		if len(unresolved) != 1 || !strings.HasPrefix(unresolved[0].Reason, want) {
			t.Errorf("unresolved are %v, want %q", unresolved, want)
		}
	}
	for content, want := range map[string]string{
		bomb(): "a.yaml was not checked: the document's aliases expand to more than ",
		"a: b\n" + strings.Repeat("---\na: b\n", 10_001): "a.yaml was not checked: it has more than 10000 documents",
	} {
		found, unresolved := ruletest.Run(t, Invalid, "-- a.yaml --\n"+content)
		if len(unresolved) > 0 || len(found) != 1 || found[0].Rule != rule.LimitExceeded || !strings.HasPrefix(found[0].Message, want) {
			t.Errorf("findings are %v, unresolved %v, want %q", found, unresolved, want)
		}
	}
}

// TestFilesKeptBack: a file that Flux reads and the operating system keeps back is an error, since it was not checked.
func TestFilesKeptBack(t *testing.T) {
	t.Parallel()
	repo := ruletest.Load(t, "-- a/kustomization.yaml --\nresources: [a.yaml]\n-- a/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	f, _ := repo.File("a/a.yaml")
	f.Err = &repository.Error{Reason: repository.Unreadable, Path: f.Path, Message: "cannot be read: permission denied", Hint: "give access"}
	out, err := rule.Run(t.Context(), repo, rule.Options{Rules: []rule.Rule{Invalid}, Known: []string{Invalid.ID}})
	if err != nil || len(out.Findings) != 1 || out.Findings[0].Message != "the file cannot be read: permission denied" || out.Findings[0].Hint != "give access" {
		t.Errorf("findings are %v, %v", out.Findings, err)
	}
}

// A file that is not YAML and no longer in use is reported only where something applies it.
func TestUnreadableFilesOutOfUse(t *testing.T) {
	t.Parallel()
	ks := func(at string) string {
		return "-- clusters/a/ks.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: flux-system}\nspec: {interval: 1h, prune: true, path: " + at + ", sourceRef: {kind: GitRepository, name: flux-system}}\n"
	}
	const broken = "-- .archive/app/kustomization.yaml --\nresources: [b.yaml]\n-- .archive/app/b.yaml --\nb: [\n-- app/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: a}\n"
	for at, want := range map[string]int{"./app": 0, "./.archive/app": 1} {
		found, unresolved := ruletest.Run(t, Invalid, ks(at)+broken)
		if len(found) != want || len(unresolved) > 0 {
			t.Errorf("%s: findings are %v, unresolved %v", at, found, unresolved)
		}
	}
}

// A kustomization of a folder for templates that is not YAML, as a template of Backstage or of a program, is no error where
// nothing builds it. Reproduces: a skeleton of Diixtra/diixtra-forge, and the boilerplate of ricsanfre/pi-cluster.
func TestUnreadableTemplatesOfKustomizations(t *testing.T) {
	t.Parallel()
	const ks = "-- clusters/a/ks.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: flux-system}\nspec: {interval: 1h, prune: true, path: ./PATH, sourceRef: {kind: GitRepository, name: flux-system}}\n" +
		"-- app/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: a}\n"
	for _, c := range []struct {
		at, file, text string
		want           int
	}{
		{"app", "backstage/skeleton/kustomization.yaml", "resources:\n  - a.yaml\n{%- if values.b %}\n  - b.yaml\n{%- endif %}\n", 0},
		{"app", "boilerplate/app/kustomization.yaml", "namePrefix: {{ .prefix }}-x\nresources:\n  - a.yaml\n", 0},
		{"app", ".templates/app/kustomization.yaml", "namePrefix: {{ .prefix }}-x\nresources:\n  - a.yaml\n", 0},
		{"some/other", "some/other/kustomization.yaml", "namePrefix: {{ .prefix }}-x\nresources:\n  - a.yaml\n", 1},
		{"backstage/skeleton", "backstage/skeleton/kustomization.yaml", "{%- if values.b %}\nresources: []\n", 1},
	} {
		listed := "-- " + path.Dir(path.Dir(c.file)) + "/overlay/kustomization.yaml --\nresources: [../" + path.Base(path.Dir(c.file)) + "]\n"
		found := ruletest.Find(t, Invalid, strings.Replace(ks, "PATH", c.at, 1)+"-- "+c.file+" --\n"+c.text+listed)
		if len(found) != c.want {
			t.Errorf("%s for %s: findings are %v", c.file, c.at, found)
		}
	}
}

// Names that a program fills in are not judged where no cluster applies the file. Reproduces: Trevato/open-platform.
func TestNamesThatAreFilledIn(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"APP_NAME": 0, "My_App": 1, "APP": 1} {
		if found := ruletest.Find(t, Invalid, "-- k8s/service.yaml --\napiVersion: v1\nkind: Service\nmetadata: {name: "+name+", namespace: a}\nspec: {ports: [{port: 80}]}\n"); len(found) != want {
			t.Errorf("%s: %v", name, found)
		}
	}
	flux := "-- clusters/a/ks.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: flux-system}\nspec: {interval: 1h, prune: true, path: ./k8s, sourceRef: {kind: GitRepository, name: flux-system}}\n"
	if found := ruletest.Find(t, Invalid, flux+"-- k8s/service.yaml --\napiVersion: v1\nkind: Service\nmetadata: {name: APP_NAME, namespace: a}\nspec: {ports: [{port: 80}]}\n"); len(found) != 1 {
		t.Errorf("one that a cluster applies: %v", found)
	}
}

// What a ResourceSet creates is validated as it is created, at the lines of its template.
func TestObjectsOfResourceSets(t *testing.T) {
	t.Parallel()
	set := rule.FluxSync + `-- clusters/prod/set.yaml --
apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSet
metadata: {name: apps, namespace: flux-system}
spec:
  inputs: [{app: a, port: 80}, {app: b, port: "x"}]
  resourcesTemplate: |
    apiVersion: v1
    kind: Service
    metadata: {name: << inputs.app >>, namespace: flux-system}
    spec:
      ports:
      - port: << inputs.port >>
    ---
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: << inputs.app >>, namespace: flux-system}
    data:
      port: << inputs.port >>
`
	found, _ := ruletest.Run(t, Invalid, set)
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%s:%d %s", f.File, f.Line, f.Object.Name))
	}
	if want := []string{"clusters/prod/set.yaml:12 b", "clusters/prod/set.yaml:18 a"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// bomb is a small file that expands to a billion values.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 x\n")
	for i := range 9 {
		fmt.Fprintf(&b, "a%d: &a%[1]d [%s]\n", i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	return b.String()
}

func TestMessagesHoldNoSecret(t *testing.T) {
	t.Parallel()
	const files = "-- a.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: 's3cr3t!'}\nstringData: {b: 31337, c: {d: s3cr3t}}\n"
	found, _ := ruletest.Run(t, Invalid, files)
	if len(found) != 3 {
		t.Errorf("%d findings, want 3: %v", len(found), found)
	}
	if text := fmt.Sprint(found); strings.Contains(text, "s3cr3t") || strings.Contains(text, "31337") {
		t.Errorf("a value is told: %s", text)
	}
}

// thousand is a repository of 1,000 files with two objects each.
func thousand() map[string][]byte {
	files := map[string][]byte{}
	for n := range 1000 {
		files[fmt.Sprintf("apps/a%d/app.yaml", n)] = fmt.Appendf(nil, `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: app-%d
  namespace: apps
spec:
  interval: 1h
  chartRef:
    kind: OCIRepository
    name: app
  install:
    remediation:
      retries: 3
  values:
    replicas: 2
    ingress: {enabled: true, hosts: [a.example.com, b.example.com]}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: app-%[1]d
  namespace: apps
spec:
  replicas: 2
  selector:
    matchLabels: {app: a}
  template:
    metadata:
      labels: {app: a}
    spec:
      containers:
        - name: app
          image: example.com/app:1.0.0
          ports: [{containerPort: 80}]
          resources:
            requests: {cpu: 100m, memory: 128Mi}
`, n)
	}
	return files
}

func BenchmarkLoad(b *testing.B) {
	files := thousand()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := repository.FromFiles(maps.All(files), repository.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	repo, err := repository.FromFiles(maps.All(thousand()), repository.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		p := rule.NewPass(context.Background(), &Invalid, repo, rule.NewShared(rule.Options{}))
		Invalid.Run(p)
		if found, unresolved, _ := p.Results(); len(found)+len(unresolved) > 0 {
			b.Fatal(found, unresolved)
		}
	}
}

// TestMisspeltRequiredField: a required field that is misspelt is told once, and still is where the
// rule about unknown fields is off.
func TestMisspeltRequiredField(t *testing.T) {
	t.Parallel()
	const files = "-- a.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: b}\nspec:\n  intervall: 1h\n  chartRef: {kind: OCIRepository, name: a}\n"
	for _, c := range []struct {
		rules []rule.Rule
		want  string
	}{
		{[]rule.Rule{Invalid, UnknownField}, "schema-unknown-field:5"},
		{[]rule.Rule{UnknownField}, "schema-unknown-field:5"},
		{[]rule.Rule{Invalid}, "schema-invalid:4"},
	} {
		out, err := rule.Run(t.Context(), ruletest.Load(t, files), rule.Options{Rules: c.rules})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range out.Findings {
			got = append(got, fmt.Sprintf("%s:%d", f.Rule, f.Line))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
