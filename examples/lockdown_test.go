package examples_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/testflux"
	"github.com/fleetwright/fleetwright/internal/tree"
	fluxrender "github.com/fleetwright/fleetwright/render"
)

// Under lockdown, an object without a service account runs as the powerless
// default one, and may not refer to other namespaces.
func TestEverythingWorksUnderLockdown(t *testing.T) {
	for _, name := range names {
		spec := load(t, name)
		if len(spec.Products) > 0 {
			continue // their own HelmReleases name no service account
		}
		if !*spec.Fleet.Spec.MultiTenancy.Lockdown {
			t.Errorf("%s: no lockdown by default", name)
		}
		for _, target := range render(t, spec) {
			for f := range target.Tree.All() {
				if !isYAML(f.Path) || strings.HasSuffix(f.Path, "-patch.yaml") || path.Base(f.Path) == "gotk-sync.yaml" {
					continue
				}
				for _, doc := range documents(t, f) {
					checkLockdown(t, name+"/"+target.Name+"/"+f.Path, doc)
				}
			}
		}
	}
}

func checkLockdown(t *testing.T, at string, doc []byte) {
	t.Helper()
	var meta struct{ APIVersion, Kind string }
	if err := sigsyaml.Unmarshal(doc, &meta); err != nil {
		t.Fatal(err)
	}
	switch meta.APIVersion + "/" + meta.Kind {
	case "kustomize.toolkit.fluxcd.io/v1/Kustomization":
		var k kustomizev1.Kustomization
		if err := sigsyaml.Unmarshal(doc, &k); err != nil {
			t.Fatal(err)
		}
		if k.Spec.ServiceAccountName == "" || k.Spec.SourceRef.Namespace != "" {
			t.Errorf("%s: Kustomization %s: service account %q, source in namespace %q", at, k.Name, k.Spec.ServiceAccountName, k.Spec.SourceRef.Namespace)
		}
	case "helm.toolkit.fluxcd.io/v2/HelmRelease":
		var r helmv2.HelmRelease
		if err := sigsyaml.Unmarshal(doc, &r); err != nil {
			t.Fatal(err)
		}
		if r.Spec.ServiceAccountName == "" {
			t.Errorf("%s: HelmRelease %s has no service account", at, r.Name)
		}
		if ref := r.Spec.ChartRef; ref != nil && ref.Namespace != "" || r.Spec.Chart != nil && r.Spec.Chart.Spec.SourceRef.Namespace != "" {
			t.Errorf("%s: HelmRelease %s refers to another namespace", at, r.Name)
		}
	}
}

// Flux's real manifests, with the changes of the specification.
func TestFluxBootstrapIsLockedDown(t *testing.T) {
	manifests := testflux.Manifests(t)
	spec := load(t, "classic")
	components, err := fluxrender.FluxComponents(spec, manifests)
	if err != nil {
		t.Fatal(err)
	}
	target, err := generators.Platform(spec, generators.Options{FluxComponents: components})
	if err != nil {
		t.Fatal(err)
	}
	memory := filesys.MakeFsInMemory()
	for f := range target.Tree.All() {
		if err := memory.WriteFile("/"+f.Path, f.Content); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range spec.Clusters {
		built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, "/"+c.Spec.Path+"/flux-system")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range built.Resources() {
			if r.GetKind() != "Kustomization" {
				continue
			}
			var k kustomizev1.Kustomization
			if err := sigsyaml.UnmarshalStrict([]byte(r.MustYaml()), &k); err != nil {
				t.Fatal(err)
			}
			if k.Spec.ServiceAccountName != "kustomize-controller" || k.Spec.Decryption == nil || k.Spec.Path != "./"+c.Spec.Path {
				t.Errorf("%s: root Kustomization: %+v", c.Metadata.Name, k.Spec)
			}
		}
		text, err := built.AsYaml()
		if err != nil {
			t.Fatal(err)
		}
		checkFlags(t, c.Metadata.Name, text)
	}
}

// checkFlags compares the flags of the controllers of a built flux-system with those of
// the lockdown.
func checkFlags(t *testing.T, at string, built []byte) {
	t.Helper()
	flags := map[string][]string{}
	for _, doc := range documents(t, tree.File{Content: built}) {
		var d appsv1.Deployment
		if err := sigsyaml.Unmarshal(doc, &d); err == nil && d.Kind == "Deployment" {
			flags[d.Name] = d.Spec.Template.Spec.Containers[0].Args
		}
	}
	for controller, want := range map[string][]string{
		"kustomize-controller":    {"--no-cross-namespace-refs=true", "--no-remote-bases=true", "--default-service-account=default"},
		"helm-controller":         {"--no-cross-namespace-refs=true", "--default-service-account=default"},
		"notification-controller": {"--no-cross-namespace-refs=true"},
	} {
		for _, flag := range want {
			if !slices.Contains(flags[controller], flag) {
				t.Errorf("%s: %s has %v, want %s", at, controller, flags[controller], flag)
			}
		}
	}
}
