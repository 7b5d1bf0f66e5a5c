package examples_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/tree"
	fluxrender "github.com/fleetwright/fleetwright/render"
)

// TestRemovedProduct: when a platform product is removed from the specification, one render removes
// its files, also those of its Secrets; a Secret whose value somebody
// changed stays, and nothing is in conflict.
func TestRemovedProduct(t *testing.T) {
	for _, test := range []struct{ name, changed string }{
		{"k0rdent", "k0rdent/credentials/kcm-system/aws-secret.sops.yaml"},
		{"kommander", "kommander/gitea/kommander/gitea-admin-credentials.sops.yaml"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(test.name)); err != nil {
				t.Fatal(err)
			}
			edit(t, filepath.Join(dir, "clusters/management/flux-system/gotk-components.yaml"), func(string) string {
				return "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: flux-system\n"
			})
			inPlace(t, dir)
			before := secretsIn(t, dir)
			edit(t, filepath.Join(dir, test.changed), func(text string) string { return strings.Replace(text, "GCM,data:", "GCM,data:AAAA", 1) })
			if err := os.Remove(filepath.Join(dir, "fleet", test.name+".yaml")); err != nil {
				t.Fatal(err)
			}
			edit(t, filepath.Join(dir, "fleet/fleet.yaml"), func(text string) string {
				text, _, _ = strings.Cut(text, "  # Beside those of the ")
				return text
			})
			plan := inPlace(t, dir, "product/"+test.name)
			if len(plan.Conflicts) > 0 {
				t.Errorf("in conflict: %v", plan.Conflicts)
			}
			if len(plan.Left) != 1 || plan.Left[0].Path != test.changed {
				t.Errorf("left: %v", plan.Left)
			}
			if after := secretsIn(t, dir); len(before) < 4 || len(after) != 1 || len(plan.Retired()) != len(before)-1 {
				t.Errorf("of %v there are %v; retired: %v", before, after, plan.Retired())
			}
			if again := inPlace(t, dir); again.Stale() || len(again.Left) > 0 {
				t.Errorf("again: %v %v", again.Summary(), again.Left)
			}
		})
	}
}

// inPlace renders a folder in place, with the allowed removals.
func inPlace(t *testing.T, dir string, allowed ...string) *tree.Plan {
	t.Helper()
	loaded, err := fluxrender.Load(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	_, planned, err := fluxrender.ToFolders(t.Context(), loaded, fluxrender.FolderOptions{AllowRemoval: allowed})
	if err != nil {
		t.Fatal(err)
	}
	return planned[0].Plan
}

// edit changes a file's text, or creates the file.
func edit(t *testing.T, file string, change func(string) string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(change(string(content))), 0o644); err != nil {
		t.Fatal(err)
	}
}

// secretsIn returns the encrypted files of a folder.
func secretsIn(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	for _, part := range []string{"k0rdent", "kommander", "shared"} {
		err := filepath.WalkDir(filepath.Join(dir, part), func(file string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if os.IsNotExist(err) {
					return nil
				}
				return err
			}
			content, err := os.ReadFile(file)
			if strings.Contains(string(content), "ENC[AES256_GCM") {
				found = append(found, file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}
