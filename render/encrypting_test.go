package render_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fleetwright/fleetwright/render"
)

// TestReadEncrypting: a folder fleet/ of another program says nothing about recipients, whatever is in it, and one with an
// Encryption that cannot be read is an error: without it the files would get other recipients.
func TestReadEncrypting(t *testing.T) {
	const encryption = "apiVersion: fleetwright.dev/v1alpha1\nkind: Encryption\nmetadata: {name: encryption}\n"
	for name, c := range map[string]struct {
		file    string
		link    bool
		refused bool
	}{
		"nothing of ours":            {file: "defaultNamespace: web\n"},
		"a link out of the folder":   {file: "defaultNamespace: web\n", link: true},
		"a comment":                  {file: "# see kind: Encryption of fleetwright.dev/v1alpha1\ndefaultNamespace: web\n"},
		"ours, and a link out of it": {file: encryption, link: true, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "fleet"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "fleet", "fleet.yaml"), []byte(c.file), 0o644); err != nil {
				t.Fatal(err)
			}
			if c.link {
				if err := os.Symlink(t.TempDir(), filepath.Join(dir, "fleet", "shared")); err != nil {
					t.Fatal(err)
				}
			}
			spec, err := render.ReadEncrypting(dir)
			if spec != nil || (err != nil) != c.refused {
				t.Errorf("got %v, %v", spec, err)
			}
		})
	}
}
