package tenant

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/encryption"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/internal/tree"
)

var update = flag.Bool("update", false, "rewrite the golden trees in testdata")

// load reads a specification as the command does.
func load(t testing.TB, content []byte) *v1alpha1.Spec {
	t.Helper()
	spec, err := specs.Load([]specs.File{{Path: "spec.yaml", Content: content}})
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// cases yields each specification of testdata.
func cases(t *testing.T, run func(t *testing.T, dir string, spec *v1alpha1.Spec)) {
	files, err := filepath.Glob("testdata/*/spec.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in testdata: %v", err)
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			run(t, dir, load(t, content))
		})
	}
}

// render generates the platform's part and the tenants' targets.
func render(t testing.TB, spec *v1alpha1.Spec) []tree.Target {
	t.Helper()
	lay := layout.For(spec.Fleet.Spec.Layout)
	out := emit.New()
	Platform(out, spec, lay, nil)
	config, err := encryption.Platform(spec)
	out.Fail(err)
	out.Text(encryption.File, tree.Managed, config)
	if err := out.Err(); err != nil {
		t.Fatal(err)
	}
	targets, err := Targets(spec)
	if err != nil {
		t.Fatal(err)
	}
	return append([]tree.Target{{Name: "platform", Tree: out.Tree}}, targets...)
}

func archive(targets []tree.Target) []byte {
	var a txtar.Archive
	for _, target := range targets {
		for f := range target.Tree.All() {
			name := target.Name + "/" + f.Path
			if f.Mode != tree.Managed {
				name += " (" + string(f.Mode) + ")"
			}
			a.Files = append(a.Files, txtar.File{Name: name, Data: f.Content})
		}
	}
	return txtar.Format(&a)
}

func TestGolden(t *testing.T) {
	cases(t, func(t *testing.T, dir string, spec *v1alpha1.Spec) {
		got := archive(render(t, spec))
		golden := filepath.Join(dir, "golden.txtar")
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs; see the change with: go test ./generators/tenant -update && git diff", golden)
		}
		if again := archive(render(t, spec)); !bytes.Equal(got, again) {
			t.Error("rendering twice gives different files")
		}
	})
}
