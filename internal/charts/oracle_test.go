package charts

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/kustomize/kyaml/kio"

	"github.com/fleetwright/fleetwright/internal/testpeer"
)

// TestEqualToHelmTemplate: the objects are those that the helm command prints, in its order,
// but for the labels and annotations that only an installation adds.
func TestEqualToHelmTemplate(t *testing.T) {
	files, err := filepath.Glob("testdata/template/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			for _, f := range archive.Files {
				write(t, filepath.Join(dir, f.Name), f.Data)
			}
			compareWithHelm(t, dir, load(t, archive), valuesIn(t, archive))
		})
	}
}

// compareWithHelm compares the rendering of the chart in a folder with what helm prints of it
// for the values beside it.
func compareWithHelm(t *testing.T, dir string, c *Chart, values map[string]any) {
	t.Helper()
	r := request(c, values)
	helm := testpeer.Command{Tool: "helm", Reads: []string{dir}, Args: []string{"template", "rel", filepath.Join(dir, "chart"), "--namespace", "ns",
		"--values", filepath.Join(dir, "values.yaml"), "--include-crds", "--no-hooks", "--kube-version", r.Capabilities.Kubernetes}}
	for _, version := range slices.Concat(r.Capabilities.APIVersions, kindsIn(c)) {
		helm.Args = append(helm.Args, "--api-versions", version)
	}
	nodes, err := (&kio.ByteReader{Reader: strings.NewReader(helm.Output(t)), OmitReaderAnnotations: true}).Read()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, n := range nodes {
		value, err := n.Map()
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, uninstalled(t, value))
	}
	r.Capabilities.APIVersions = slices.Concat(r.Capabilities.APIVersions, kindsIn(c))
	result, err := Render(t.Context(), r)
	if err != nil || len(result.Problems) > 0 {
		t.Fatalf("%v, %+v", err, result.Problems)
	}
	var got []string
	for _, m := range slices.Concat(result.Definitions, result.Manifests) {
		got = append(got, uninstalled(t, m.Value))
	}
	if !slices.Equal(got, want) {
		t.Errorf("it renders\n%s\nhelm\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func kindsIn(c *Chart) []string {
	var kinds []string
	for _, definition := range c.Definitions() {
		kinds = append(kinds, KindsOf(definition)...)
	}
	return kinds
}

// uninstalled is an object without what an installation adds.
func uninstalled(t *testing.T, object map[string]any) string {
	t.Helper()
	metadata, _ := object["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations"} {
		all, _ := metadata[field].(map[string]any)
		for key := range all {
			if strings.HasPrefix(key, "meta.helm.sh/") || strings.HasPrefix(key, "helm.toolkit.fluxcd.io/") || key == "app.kubernetes.io/managed-by" {
				delete(all, key)
			}
		}
		if len(all) == 0 {
			delete(metadata, field)
		}
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
