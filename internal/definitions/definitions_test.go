package definitions

import (
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/schemas"
)

const definition = `# text
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Foo, plural: foos}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v0, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: none}
`

func TestRead(t *testing.T) {
	found, err := Read(map[string][]byte{"crds/foo.yaml": []byte(definition)})
	if err != nil || len(found) != 1 {
		t.Fatalf("%d definitions, %v", len(found), err)
	}
	d := found[0]
	if d.Group != "example.com" || d.Kind != "Foo" || !d.Namespaced || d.File != "crds/foo.yaml" || d.Line != 3 || len(d.Versions) != 1 || d.Versions["v1"] == nil {
		t.Errorf("%+v", d)
	}
}

// A folder of schemas serves what its files define.
func TestFolder(t *testing.T) {
	set := schemas.NewSet(schemas.NewFolder("crds", fstest.MapFS{"foo.yaml": {Data: []byte(definition)}}, Read))
	if _, err := set.Lookup(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Foo"}); err != nil {
		t.Error(err)
	}
	if _, err := set.Lookup(schema.GroupVersionKind{Group: "example.com", Version: "v0", Kind: "Foo"}); err == nil {
		t.Error("a version that is not served has a schema")
	}
}
