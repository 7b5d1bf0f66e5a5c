package tenant

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/testpeer"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// unpack writes a target into a new folder.
func unpack(t *testing.T, target tree.Target) string {
	t.Helper()
	root := t.TempDir()
	for f := range target.Tree.All() {
		name := filepath.Join(root, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// built runs the real kustomize on a folder and decodes what it gives.
func built(t *testing.T, root, dir string) []byte {
	t.Helper()
	kustomize := testpeer.Command{Tool: "kustomize", Args: []string{"build", filepath.Join(root, filepath.FromSlash(dir))}, Reads: []string{root}, Warns: true}
	result := kustomize.Run(t)
	if result.Exit != 0 {
		t.Fatalf("kustomize build %s: exit status %d\n%s", dir, result.Exit, result.Stderr)
	}
	if result.Stderr != "" {
		t.Errorf("kustomize build %s warns: %s", dir, result.Stderr)
	}
	return []byte(result.Stdout)
}

// Every kustomization builds, each cluster's sync gets its path, and that path is
// a folder of the tenant's target.
func TestKustomizeBuildsEverything(t *testing.T) {
	cases(t, func(t *testing.T, _ string, spec *v1alpha1.Spec) {
		targets := render(t, spec)
		for _, target := range targets {
			root := unpack(t, target)
			for f := range target.Tree.All() {
				if path.Base(f.Path) == "kustomization.yaml" {
					out := built(t, root, path.Dir(f.Path))
					objectsOf(t, tree.Target{Tree: single(t, "built.yaml", out)})
				}
			}
		}
		root := unpack(t, targets[0])
		lay := layout.For(spec.Fleet.Spec.Layout)
		for _, tenant := range spec.Tenants {
			for _, on := range spec.TenantClusters(tenant) {
				out := built(t, root, lay.TenantOverlay(on.Cluster))
				checkPath(t, tenant, on, targets, out)
			}
		}
	})
}

func checkPath(t *testing.T, tenant *v1alpha1.Tenant, on v1alpha1.TenantCluster, targets []tree.Target, overlay []byte) {
	t.Helper()
	syncs := all[*kustomizev1.Kustomization](objectsOf(t, tree.Target{Tree: single(t, "built.yaml", overlay)}))
	if tenant.Spec.State != v1alpha1.StateActive {
		if len(syncs) != 0 {
			t.Errorf("%s: a tenant that is %s is synced", on.Cluster, tenant.Spec.State)
		}
		return
	}
	if len(syncs) != 1 || syncs[0].Spec.Path != on.Path {
		t.Fatalf("%s: got %d Kustomizations, want one with path %s: %+v", on.Cluster, len(syncs), on.Path, syncs)
	}
	for _, target := range targets[1:] {
		if _, ok := target.Tree.Get(path.Join(on.Path, "kustomization.yaml")); !ok {
			t.Errorf("%s has no kustomization in %s", target.Name, on.Path)
		}
	}
}

func single(t *testing.T, name string, content []byte) *tree.Tree {
	t.Helper()
	files := &tree.Tree{}
	if err := files.Add(tree.File{Path: name, Mode: tree.Managed, Content: content}); err != nil {
		t.Fatal(err)
	}
	return files
}

// The starter's patch reaches its release.
func TestEnvironmentsDiffer(t *testing.T) {
	content, err := os.ReadFile("testdata/repository/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	root := unpack(t, render(t, load(t, content))[1])
	for _, dir := range []string{"staging", "production"} {
		out := string(built(t, root, dir))
		if want := "value: Hello from " + dir; !strings.Contains(out, want) {
			t.Errorf("%s: no %q in\n%s", dir, want, out)
		}
		if !strings.Contains(out, "readOnlyRootFilesystem: true") {
			t.Errorf("%s: the base's values are lost", dir)
		}
	}
}
