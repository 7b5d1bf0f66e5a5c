// Package examples_test checks the examples with the real tools and the API's
// own types.
package examples_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"go.yaml.in/yaml/v3"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kustypes "sigs.k8s.io/kustomize/api/types"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/internal/testflux"
	"github.com/fleetwright/fleetwright/internal/testpeer"
	"github.com/fleetwright/fleetwright/internal/tree"
	fluxrender "github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/render/declared"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators"
)

var names = []string{"acme", "homelab", "classic", "k0rdent", "kommander"}

// typed maps the kinds that generators create to the Go types into which each must decode
// without an unknown field.
var typed = map[string]any{
	"v1/Namespace":                                    corev1.Namespace{},
	"v1/ServiceAccount":                               corev1.ServiceAccount{},
	"v1/ConfigMap":                                    corev1.ConfigMap{},
	"v1/ResourceQuota":                                corev1.ResourceQuota{},
	"v1/LimitRange":                                   corev1.LimitRange{},
	"rbac.authorization.k8s.io/v1/Role":               rbacv1.Role{},
	"rbac.authorization.k8s.io/v1/RoleBinding":        rbacv1.RoleBinding{},
	"rbac.authorization.k8s.io/v1/ClusterRoleBinding": rbacv1.ClusterRoleBinding{},
	"apps/v1/Deployment":                              appsv1.Deployment{},
	"v1/Service":                                      corev1.Service{},
	"networking.k8s.io/v1/NetworkPolicy":              networkingv1.NetworkPolicy{},
	"admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy":        admissionv1.ValidatingAdmissionPolicy{},
	"admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding": admissionv1.ValidatingAdmissionPolicyBinding{},
	"helm.toolkit.fluxcd.io/v2/HelmRelease":                            helmv2.HelmRelease{},
	"kustomize.toolkit.fluxcd.io/v1/Kustomization":                     kustomizev1.Kustomization{},
	"source.toolkit.fluxcd.io/v1/GitRepository":                        sourcev1.GitRepository{},
	"source.toolkit.fluxcd.io/v1/OCIRepository":                        sourcev1.OCIRepository{},
	"source.toolkit.fluxcd.io/v1/HelmRepository":                       sourcev1.HelmRepository{},
	"kustomize.config.k8s.io/v1beta1/Kustomization":                    kustypes.Kustomization{},
	"kustomize.config.k8s.io/v1alpha1/Component":                       kustypes.Kustomization{},
}

// local are kinds that are never applied to a cluster.
var local = []string{"kpt.dev/v1/Kptfile", "fleetwright.dev/v1alpha1/TenantBoundary"}

func TestObjectsDecodeStrictly(t *testing.T) {
	seen := map[string]int{}
	for _, name := range names {
		spec := load(t, name)
		custom := resourceKinds(spec)
		for _, target := range render(t, spec) {
			for f := range target.Tree.All() {
				if f.Mode == tree.Adopted || !isYAML(f.Path) {
					continue
				}
				for _, doc := range documents(t, f) {
					kind := checkObject(t, name+"/"+target.Name+"/"+f.Path, doc, custom)
					seen[kind]++
				}
			}
		}
	}
	for kind := range typed {
		if seen[kind] == 0 && kind != "v1/ConfigMap" {
			t.Errorf("no example renders a %s", kind)
		}
	}
}

// substituted matches Flux's variables in generated files: a variable is replaced by its default, or by a word if it
// has none.
var substituted = regexp.MustCompile(`\$\{\w+(?::=([^}]*))?\}`)

// checkObject decodes one document and returns its apiVersion/kind.
func checkObject(t *testing.T, at string, doc []byte, custom []string) string {
	t.Helper()
	doc = substituted.ReplaceAllFunc(doc, func(variable []byte) []byte {
		if m := substituted.FindSubmatch(variable); len(m[1]) > 0 {
			return m[1]
		}
		return []byte("value")
	})
	var meta struct{ APIVersion, Kind string }
	if err := sigsyaml.Unmarshal(doc, &meta); err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	kind := meta.APIVersion + "/" + meta.Kind
	prototype, known := typed[kind]
	switch {
	case meta.APIVersion == "" || slices.Contains(local, kind) || slices.Contains(custom, kind):
	case kind == "v1/Secret": // encrypted, so no schema fits
		if err := secrets.CheckEncrypted(doc); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	case known:
		if !strings.HasSuffix(at, "-patch.yaml") && !strings.HasPrefix(path.Base(at), "patch-") { // a patch is not a whole object
			validate(t, at, doc, meta.APIVersion, meta.Kind)
		}
		into := reflect.New(reflect.TypeOf(prototype)).Interface()
		if err := sigsyaml.UnmarshalStrict(doc, into); err != nil {
			t.Errorf("%s: %v", at, err)
		}
		for _, noise := range []string{"\nstatus:", "creationTimestamp"} {
			if bytes.Contains(doc, []byte(noise)) {
				t.Errorf("%s: contains %q", at, noise)
			}
		}
	default:
		validate(t, at, doc, meta.APIVersion, meta.Kind)
	}
	return kind
}

// validate checks an object against its schema; a kind without one is an error.
func validate(t *testing.T, at string, doc []byte, apiVersion, kind string) {
	t.Helper()
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	s, known := schemas.Lookup(gv.WithKind(kind))
	if !known {
		t.Errorf("%s: no schema for %s %s", at, apiVersion, kind)
		return
	}
	var object map[string]any
	if err := sigsyaml.Unmarshal(doc, &object); err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Validate(object) {
		t.Errorf("%s: %+v", at, p)
	}
}

// resourceKinds returns the kinds of the add-ons' own resources, whose definitions
// are in charts.
func resourceKinds(spec *v1alpha1.Spec) []string {
	var out []string
	for _, a := range spec.Addons {
		for _, r := range a.Spec.Resources {
			for _, m := range r.Manifests {
				out = append(out, m["apiVersion"].(string)+"/"+m["kind"].(string))
			}
		}
	}
	if v1alpha1.ProductOf[*v1alpha1.K0rdent](spec) != nil { // the identities, which Cluster API's providers define
		for kind, version := range map[string]string{"AWSClusterStaticIdentity": "v1beta2", "AzureClusterIdentity": "v1beta1", "VSphereClusterIdentity": "v1beta1"} {
			out = append(out, "infrastructure.cluster.x-k8s.io/"+version+"/"+kind)
		}
	}
	return out
}

func TestExamplesHaveNoFindings(t *testing.T) {
	for _, name := range names {
		for _, target := range render(t, load(t, name)) {
			report := validated(t, target)
			for _, f := range report.Findings {
				t.Errorf("%s/%s: %+v", name, target.Name, f)
			}
			if report.Summary.Documents == 0 {
				t.Errorf("%s/%s: nothing was checked", name, target.Name)
			}
		}
	}
}

// validated returns the report on a target with the rules that are always on.
func validated(t *testing.T, target tree.Target) finding.Report {
	t.Helper()
	repo, err := repository.FromFiles(func(yield func(string, []byte) bool) {
		for f := range target.Tree.All() {
			if !yield(f.Path, f.Content) {
				return
			}
		}
	}, repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	report, err := validators.Run(t.Context(), repo, validators.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Every kustomization of every target builds with the real kustomize.
func TestKustomizeBuilds(t *testing.T) {
	systems := 0
	for _, name := range names {
		dir := write(t, name)
		n := 0
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() != "kustomization.yaml" {
				return err
			}
			content, err := os.ReadFile(p)
			if err != nil || bytes.Contains(content, []byte("kind: Component")) {
				return err
			}
			n++
			build := testpeer.Command{Tool: "kustomize", Args: []string{"build", filepath.Dir(p)}, Reads: []string{dir}, Keep: testpeer.Digest}
			if name == "classic" && path.Base(filepath.Dir(p)) == "flux-system" {
				systems++
				build.Keep = deployments
				checkFlags(t, p, []byte(build.Output(t)))
				return nil
			}
			build.Output(t)
			return nil
		})
		if err != nil || n < 10 {
			t.Errorf("%s: built %d kustomizations (%v)", name, n, err)
		}
	}
	if want := len(load(t, "classic").Clusters); systems != want {
		t.Errorf("flux-system of %d clusters was built, want %d", systems, want)
	}
}

// deployments returns the Deployments in the output of kustomize.
func deployments(built string) string {
	var all []string
	for doc := range strings.SplitSeq(built, "---\n") {
		if strings.Contains(doc, "\nkind: Deployment\n") {
			all = append(all, doc)
		}
	}
	return strings.Join(all, "---\n")
}

// helmfile returns a run of the real helmfile on a file of a target that was written to a folder.
func helmfile(dir, file string, args ...string) testpeer.Command {
	return testpeer.Command{Tool: "helmfile", With: []string{"helm"}, Args: append([]string{"--file", file}, args...), Reads: []string{dir}}
}

// The real helmfile reads from Git exactly what the HelmRelease declares.
func TestHelmfileReadsTheHelmReleases(t *testing.T) {
	releases, crds := 0, 0
	for _, name := range names {
		dir := filepath.Join(write(t, name), "platform")
		for _, file := range helmfiles(t, dir) {
			n := checkHelmfile(t, dir, file)
			releases += n
			if path.Base(file) == "crds.yaml" {
				crds += n
			}
		}
	}
	if releases < 10 || crds == 0 {
		t.Errorf("only %d releases were compared, %d of them for their definitions", releases, crds)
	}
}

// localChart has a definition, a template and a hook, so that helmfile's output
// shows how it was called.
var localChart = map[string]string{
	"Chart.yaml":          "apiVersion: v2\nname: local\nversion: 1.0.0\n",
	"crds/crd.yaml":       "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: foos.example.com}\n",
	"templates/hook.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: hook\n  annotations: {helm.sh/hook: pre-install}\n",
	"templates/map.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map}\n",
}

// The real helmfile prints the definitions of a chart from crds.yaml. The charts
// of the example are on the network; a local one replaces each.
func TestHelmfilePrintsTheDefinitions(t *testing.T) {
	dir, chart := write(t, "homelab"), t.TempDir()
	for name, content := range localChart {
		writeFile(t, filepath.Join(chart, name), []byte(content))
	}
	file := filepath.Join(dir, "platform", "bootstrap", "crds.yaml")
	releases := list(t, dir, file)
	if len(releases) == 0 {
		t.Fatal("crds.yaml has no release")
	}
	for _, r := range releases {
		source := filepath.Join(dir, "platform", label(r.Labels, "source"))
		content, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, source, bytes.ReplaceAll(content, []byte(r.Chart), []byte(filepath.ToSlash(chart))))
	}
	template := helmfile(dir, file, "template", "--quiet")
	template.Reads = append(template.Reads, chart)
	out := template.Output(t)
	if n := strings.Count(out, "kind: CustomResourceDefinition"); n != len(releases) {
		t.Errorf("%d definitions of %d releases:\n%s", n, len(releases), out)
	}
	if strings.Contains(out, "kind: Secret") {
		t.Errorf("a hook is printed:\n%s", out)
	}
}

type listed struct {
	Name, Namespace, Chart, Version, Labels string
}

// list returns the releases of a file as helmfile lists them.
func list(t *testing.T, dir, file string) []listed {
	t.Helper()
	out := helmfile(dir, file, "list", "--output", "json").Output(t)
	var releases []listed
	if err := json.Unmarshal([]byte(out), &releases); err != nil {
		t.Fatalf("%s: %v\n%s", file, err, out)
	}
	return releases
}

func checkHelmfile(t *testing.T, dir, file string) int {
	t.Helper()
	releases := list(t, dir, file)
	values := t.TempDir()
	write := helmfile(dir, file, "write-values", "--skip-deps", "--output-file-template", filepath.Join(values, "{{ .Release.Name }}.yaml"))
	write.Writes = values
	write.Output(t)
	for _, r := range releases {
		hr, chart, version := inGit(t, file, label(r.Labels, "helmrelease"), label(r.Labels, "source"))
		if r.Version != version || r.Chart != chart {
			t.Errorf("%s: %s is %s %s, Git says %s %s", file, r.Name, r.Chart, r.Version, chart, version)
		}
		if want := cmp.Or(hr.Spec.ReleaseName, hr.Name); r.Name != want {
			t.Errorf("%s: release %q, Git says %q", file, r.Name, want)
		}
		if want := cmp.Or(hr.Spec.TargetNamespace, hr.Namespace); r.Namespace != want {
			t.Errorf("%s: %s in namespace %q, Git says %q", file, r.Name, r.Namespace, want)
		}
		compareValues(t, file+": "+r.Name, filepath.Join(values, r.Name+".yaml"), hr)
	}
	return len(releases)
}

// inGit reads the HelmRelease, and the chart and version in its source.
func inGit(t *testing.T, helmfile, release, source string) (*helmv2.HelmRelease, string, string) {
	t.Helper()
	root := helmfile[:strings.Index(helmfile, "/platform/")+len("/platform/")]
	var hr helmv2.HelmRelease
	decode(t, root+release, &hr)
	if source == "" {
		return &hr, hr.Spec.Chart.Spec.SourceRef.Name + "/" + hr.Spec.Chart.Spec.Chart, hr.Spec.Chart.Spec.Version
	}
	var oci sourcev1.OCIRepository
	decode(t, root+source, &oci)
	return &hr, oci.Spec.URL, oci.Spec.Reference.Tag
}

func compareValues(t *testing.T, what, file string, hr *helmv2.HelmRelease) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got, want map[string]any
	if err := yaml.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if hr.Spec.Values != nil {
		if err := yaml.Unmarshal(hr.Spec.Values.Raw, &want); err != nil {
			t.Fatal(err)
		}
	}
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("%s: values differ: helmfile %v, Git %v", what, got, want)
	}
}

// The examples are as the README describes them.
func TestExamplesShowWhatTheyClaim(t *testing.T) {
	acme := load(t, "acme")
	if len(acme.Clusters) != 3 || len(acme.Tenants) != 3 || acme.Fleet.Spec.Layout != v1alpha1.LayoutFleet {
		t.Errorf("acme: %d clusters, %d tenants, layout %s", len(acme.Clusters), len(acme.Tenants), acme.Fleet.Spec.Layout)
	}
	for _, name := range []string{"cilium", "coredns", "cert-manager", "flux-operator", "flux-instance", "ingress-nginx",
		"external-dns", "kyverno", "kube-prometheus-stack", "external-secrets", "velero", "metrics-server"} {
		a := acme.Addon(name)
		if a == nil || a.Spec.Chart == nil || leaves(a.Spec.Values) < 5 {
			t.Errorf("acme: add-on %s: %+v", name, a)
		}
	}
	homelab := load(t, "homelab")
	for _, name := range []string{"cilium", "coredns", "cert-manager", "flux-operator", "flux-instance"} {
		a := homelab.Addon(name)
		if a == nil || a.Spec.Bootstrap == nil || !strings.HasPrefix(a.Spec.Chart.URL, "oci://") {
			t.Errorf("homelab: add-on %s: %+v", name, a)
		}
	}
	if classic := load(t, "classic"); classic.Fleet.Spec.Flux.Install != v1alpha1.InstallBootstrap {
		t.Error("classic: not bootstrapped")
	}
}

func leaves(v any) int {
	m, ok := v.(map[string]any)
	if !ok {
		return 1
	}
	n := 0
	for child := range maps.Values(m) {
		n += leaves(child)
	}
	return n
}

func load(t *testing.T, name string) *v1alpha1.Spec {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(name, "fleet/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no specification (%v)", err)
	}
	var sources []specs.File
	for _, file := range files {
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
	return spec
}

// render renders with Flux's real manifests.
func render(t *testing.T, spec *v1alpha1.Spec) []tree.Target {
	t.Helper()
	var components []byte
	if spec.Fleet.Spec.Flux.Install == v1alpha1.InstallBootstrap {
		var err error
		if components, err = fluxrender.FluxComponents(spec, testflux.Manifests(t)); err != nil {
			t.Fatal(err)
		}
	}
	targets, err := generators.Render(spec, generators.Options{FluxComponents: components, Secrets: secretFiles(t, spec)})
	if err != nil {
		t.Fatal(err)
	}
	return targets
}

// secretFiles returns the files of the Secrets that an example declares. The example has the name
// of its Fleet. All of the files exist.
func secretFiles(t *testing.T, spec *v1alpha1.Spec) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, f := range generators.SecretFiles(spec) {
		content, err := os.ReadFile(filepath.Join(spec.Fleet.Metadata.Name, f.Path))
		if err != nil {
			t.Fatal(err)
		}
		if err := secrets.CheckEncrypted(content); err != nil {
			t.Errorf("%s: %v", f.Path, err)
		}
		files[f.Path] = content
	}
	return files
}

// The examples' Secrets are as declared, for all readers: a
// sync would do nothing.
func TestSecretsAreAsDeclared(t *testing.T) {
	count := 0
	for _, name := range names {
		out, err := declared.Sync(t.Context(), name, declared.Options{Check: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range out.Results {
			if r.Action != declared.Keep {
				t.Errorf("%s/%s: would %s", name, r.Path, r.Action)
			}
			count++
		}
	}
	if count < 8 {
		t.Errorf("only %d Secrets are declared", count)
	}
}

// write renders an example into a folder, DIR/TARGET/….
func write(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	for _, target := range render(t, load(t, name)) {
		for f := range target.Tree.All() {
			writeFile(t, filepath.Join(dir, target.Name, f.Path), f.Content)
		}
	}
	return dir
}

func writeFile(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func helmfiles(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(filepath.Join(dir, "bootstrap"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && (d.Name() == "helmfile.yaml" || d.Name() == "crds.yaml") {
			out = append(out, filepath.ToSlash(p))
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return out
}

func documents(t *testing.T, f tree.File) [][]byte {
	t.Helper()
	dec := yaml.NewDecoder(bytes.NewReader(f.Content))
	var out [][]byte
	for {
		var n yaml.Node
		if err := dec.Decode(&n); err != nil {
			return out
		}
		data, err := yaml.Marshal(&n)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, data)
	}
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := sigsyaml.UnmarshalStrict(data, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// label reads one of the labels that helmfile lists, name:value,….
func label(labels, name string) string {
	for pair := range strings.SplitSeq(labels, ",") {
		if value, found := strings.CutPrefix(pair, name+":"); found {
			return value
		}
	}
	return ""
}

func isYAML(p string) bool { return path.Ext(p) == ".yaml" || path.Ext(p) == ".yml" }
