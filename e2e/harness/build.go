package harness

import (
	"bytes"
	"encoding/json"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Build returns what Flux would apply to a cluster from the platform repository, as printed by `fleetwright
// build`: namespaces and definitions of kinds first.
func (f *Fleet) Build(cluster string) []*unstructured.Unstructured {
	f.t.Helper()
	cmd := f.command(filepath.Join(Root(f.t), "bin", "fleetwright"), "build", f.Dir, "--cluster", cluster, "--format", "json")
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("%v: %s", err, problems.String())
	}
	var first, rest []*unstructured.Unstructured
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		object := &unstructured.Unstructured{}
		must(f.t, decoder.Decode(&object.Object))
		delete(object.Object, "_origin")
		if object.GetKind() == "Namespace" || object.GetKind() == "CustomResourceDefinition" {
			first = append(first, object)
			continue
		}
		rest = append(rest, object)
	}
	return append(first, rest...)
}
