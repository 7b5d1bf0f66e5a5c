package functions

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/kio/kioutil"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/validators"
)

// listOf is the ResourceList that kpt sends of files: those that hold nothing but objects. It
// returns the files that are not in it, too.
func listOf(t *testing.T, files map[string][]byte) (list string, left []string) {
	t.Helper()
	var all []*kyaml.RNode
	for _, name := range slices.Sorted(maps.Keys(files)) {
		nodes, ok := objectsOf(name, files[name])
		if !ok {
			left = append(left, name)
			continue
		}
		all = append(all, nodes...)
	}
	var out bytes.Buffer
	w := kio.ByteWriter{Writer: &out, KeepReaderAnnotations: true, WrappingKind: kio.ResourceListKind, WrappingAPIVersion: kio.ResourceListAPIVersion}
	if err := w.Write(all); err != nil {
		t.Fatal(err)
	}
	return out.String(), left
}

func objectsOf(name string, content []byte) ([]*kyaml.RNode, bool) {
	if ext := filepath.Ext(name); ext != ".yaml" && ext != ".yml" {
		return nil, false
	}
	var nodes []*kyaml.RNode
	for decoder := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var doc yaml.Node
		if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
			return nodes, true
		} else if err != nil {
			return nil, false
		}
		n := kyaml.NewRNode(doc.Content[0])
		if n.IsNilOrEmpty() {
			continue
		}
		if n.YNode().Kind != yaml.MappingNode || n.GetKind() == "" || n.GetApiVersion() == "" {
			return nil, false
		}
		for key, value := range map[string]string{kioutil.PathAnnotation: name, kioutil.IndexAnnotation: strconv.Itoa(len(nodes))} {
			if err := n.PipeE(kyaml.SetAnnotation(key, value)); err != nil {
				return nil, false
			}
		}
		nodes = append(nodes, n)
	}
}

// doors are the findings of the command and of the function in the same files, and what the
// function leaves unresolved. Lines and the clusters in messages are left out.
func doors(t *testing.T, files map[string][]byte) (command, function, unresolved, left []string) {
	t.Helper()
	repo, err := repository.FromFiles(maps.All(files), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	report, err := validators.Run(t.Context(), repo, validators.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		command = append(command, fmt.Sprintf("%s: %s: %s: %s [%s]", f.File, f.Severity, objectText(f.Object), f.Message, f.Rule))
	}
	text, left := listOf(t, files)
	list, err := readList(strings.NewReader(withConfig(text, kindValidate+"spec:\n  failOn: info\n  failOnUnresolved: true\n")))
	if err != nil {
		t.Fatal(err)
	}
	err = list.call(t.Context(), Options{Root: t.TempDir()})
	if found := (*FindingsError)(nil); err != nil && !errors.As(err, &found) {
		t.Fatal(err)
	}
	for _, r := range list.results {
		line := r.Message
		if r.Tags["rule"] == "" {
			continue // coverage
		}
		if rest, open := strings.CutPrefix(line, "unresolved: "); open {
			unresolved = append(unresolved, r.File.Path+": "+rest)
			continue
		}
		line, _, _ = strings.Cut(line, "\n  hint: ")
		object := ""
		if r.ResourceRef != nil {
			object = strings.TrimSpace(r.ResourceRef.Kind + " " + strings.TrimPrefix(r.ResourceRef.Namespace+"/"+r.ResourceRef.Name, "/"))
		}
		function = append(function, fmt.Sprintf("%s: %s: %s: %s", r.File.Path, r.Severity, object, line))
	}
	slices.Sort(command)
	slices.Sort(function)
	return command, function, unresolved, left
}

const syncOf = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 1m
  url: https://github.com/acme/platform
  ref:
    branch: main
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 10m
  path: ./clusters/NAME
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
`

const appsOf = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: apps
  namespace: flux-system
spec:
  interval: 1h
  path: ./apps/NAME
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
  postBuild:
    substitute:
      region: eu
`

const kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"

const web = `apiVersion: v1
kind: Namespace
metadata:
  name: web
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: misspelt
  namespace: web
dat:
  region: ${region}
  zone: ${zone}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: web
spec:
  replicaz: 1
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: web
        image: nginx:1.29
        volumeMounts:
        - name: config
          mountPath: /etc/nginx
      volumes:
      - name: config
        configMap:
          name: web
`

// fleetWith is a repository of two clusters with one application, and some files more or others.
func fleetWith(more map[string]string) map[string][]byte {
	files := map[string][]byte{
		"apps/base/kustomization.yaml": []byte(kustomization + "resources:\n- web.yaml\n"),
		"apps/base/web.yaml":           []byte(web),
	}
	for _, cluster := range []string{"staging", "production"} {
		files["clusters/"+cluster+"/flux-system/gotk-sync.yaml"] = []byte(strings.ReplaceAll(syncOf, "NAME", cluster))
		files["clusters/"+cluster+"/apps.yaml"] = []byte(strings.ReplaceAll(appsOf, "NAME", cluster))
		files["apps/"+cluster+"/kustomization.yaml"] = []byte(kustomization + "resources:\n- ../base\n")
	}
	for name, text := range more {
		files[name] = []byte(text)
	}
	return files
}

// What the function cannot see of a repository is unresolved; all else it finds as the command
// does, and nothing besides.
func TestSameFindingsInPartialRepositories(t *testing.T) {
	const base = "apps/base/kustomization.yaml"
	const fields = `ConfigMap web/misspelt: unknown field "dat"`
	for _, c := range []struct {
		name  string
		files map[string]string
		// found are findings that both have; open are the files that are told of once each,
		// and missed says that the command may find more.
		found, open []string
		missed      bool
	}{
		{name: "all files are objects", found: []string{fields, `unknown field "replicaz"`, "${zone}"}},
		{name: "a failing build", found: []string{"[flux-build-failed]", fields}, files: map[string]string{
			base: kustomization + "resources:\n- web.yaml\n- again.yaml\n", "apps/base/again.yaml": web}},
		{name: "a generator's file", found: []string{fields, `unknown field "replicaz"`, "${zone}"}, open: []string{"nginx.conf"}, files: map[string]string{
			base: kustomization + "resources:\n- web.yaml\nconfigMapGenerator:\n- name: web\n  namespace: web\n  files: [nginx.conf]\n", "apps/base/nginx.conf": "http {}\n"}},
		{name: "a generator that is merged into", found: []string{fields, `unknown field "replicaz"`}, open: []string{"base.env", "staging.env"}, files: map[string]string{
			base: kustomization + "resources:\n- web.yaml\nconfigMapGenerator:\n- name: web\n  namespace: web\n  envs: [base.env]\n", "apps/base/base.env": "a=b\n",
			"apps/staging/kustomization.yaml": kustomization + "resources:\n- ../base\nconfigMapGenerator:\n- name: web\n  namespace: web\n  behavior: merge\n  envs: [staging.env]\n", "apps/staging/staging.env": "a=c\n"}},
		{name: "variables of a generator's file", found: []string{fields}, open: []string{"vars.env"}, missed: true, files: map[string]string{
			"clusters/staging/kustomization.yaml": kustomization + "resources:\n- flux-system/gotk-sync.yaml\n- apps.yaml\nconfigMapGenerator:\n- name: vars\n  namespace: flux-system\n  envs: [vars.env]\n  options:\n    disableNameSuffixHash: true\n",
			"clusters/staging/vars.env":           "zone=a\n",
			"clusters/staging/apps.yaml":          strings.ReplaceAll(appsOf, "NAME", "staging") + "    substituteFrom:\n    - kind: ConfigMap\n      name: vars\n",
			"clusters/production/apps.yaml":       strings.ReplaceAll(appsOf, "NAME", "staging") + "      zone: b\n"}},
		{name: "a patch that mends", found: []string{fields, "${zone}", `unknown field "replicaz"`}, open: []string{"selector.json"}, files: map[string]string{
			base:                      kustomization + "resources:\n- web.yaml\npatches:\n- path: selector.json\n  target:\n    kind: Deployment\n",
			"apps/base/web.yaml":      strings.Replace(web, "  selector:\n    matchLabels:\n      app: web\n", "", 1),
			"apps/base/selector.json": `[{"op": "add", "path": "/spec/selector", "value": {"matchLabels": {"app": "web"}}}]`}},
		{name: "a component", found: []string{fields}, open: []string{"../component"}, missed: true, files: map[string]string{
			base: kustomization + "resources:\n- web.yaml\ncomponents:\n- ../component\n", "apps/component/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n# no item\n---\njust text\n"}},
		{name: "replacements", found: []string{fields}, open: []string{"replacements.txt"}, missed: true, files: map[string]string{
			base: kustomization + "resources:\n- web.yaml\nreplacements:\n- path: replacements.txt\n", "apps/base/replacements.txt": "[]\n"}},
		{name: "a resource that isn't there", found: []string{fields}, open: []string{"gone.yaml"}, missed: true, files: map[string]string{
			base: kustomization + "resources:\n- web.yaml\n- gone.yaml\n", "apps/base/web.yaml": strings.Replace(web, "${zone}", "${region}", 1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			command, function, unresolved, _ := doors(t, fleetWith(c.files))
			for _, f := range function {
				if !slices.Contains(command, f) {
					t.Errorf("only the function finds %s", f)
				}
			}
			if !c.missed && !slices.Equal(command, function) {
				t.Errorf("the function finds\n%s\nand the command\n%s", strings.Join(function, "\n"), strings.Join(command, "\n"))
			}
			for _, want := range c.found {
				if !slices.ContainsFunc(function, func(f string) bool { return strings.Contains(f, want) }) {
					t.Errorf("the function doesn't find %s:\n%s", want, strings.Join(function, "\n"))
				}
			}
			var told []string
			for _, u := range unresolved {
				if strings.Contains(u, "of the ResourceList") && strings.HasSuffix(u, "[flux-build-failed]") {
					told = append(told, u)
				}
			}
			for _, file := range c.open {
				if n := strings.Count(strings.Join(told, "\n"), fmt.Sprintf("%q", file)); n != 1 {
					t.Errorf("%s is told of %d times, want once:\n%s", file, n, strings.Join(told, "\n"))
				}
			}
			if len(told) > len(c.open) {
				t.Errorf("too much is unresolved:\n%s", strings.Join(told, "\n"))
			}
		})
	}
}

func TestSameFindingsInExamples(t *testing.T) {
	for _, name := range []string{"acme", "classic", "homelab"} {
		var sources []specs.File
		paths, err := filepath.Glob("../examples/" + name + "/fleet/*.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range paths {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, specs.File{Path: file, Content: content})
		}
		spec, err := specs.Load(sources)
		if err != nil {
			t.Fatal(err)
		}
		targets, err := generators.Render(spec, generators.Options{FluxComponents: []byte("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: flux-system\n")})
		if err != nil || len(targets) == 0 {
			t.Fatalf("%s: %d targets, %v", name, len(targets), err)
		}
		for _, target := range targets {
			files := map[string][]byte{}
			broken := 0
			for f := range target.Tree.All() {
				changed := strings.NewReplacer("\n  interval: ", "\n  intervall: ", "\n  replicas: ", "\n  replica: ").Replace(string(f.Content))
				if files[f.Path] = []byte(changed); changed != string(f.Content) {
					broken++
				}
			}
			command, function, unresolved, left := doors(t, files)
			if len(function) == 0 || broken == 0 {
				t.Errorf("%s/%s: %d files are broken, and the function finds nothing", name, target.Name, broken)
			}
			for _, f := range function {
				if !slices.Contains(command, f) {
					t.Errorf("%s/%s: only the function finds %s", name, target.Name, f)
				}
			}
			for _, f := range command {
				if !slices.Contains(function, f) {
					t.Errorf("%s/%s without %v: only the command finds %s\nunresolved\n%s", name, target.Name, left, f, strings.Join(unresolved, "\n"))
				}
			}
		}
	}
}
