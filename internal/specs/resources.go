package specs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// generatedFiles are the names of generated files in the folder of an add-on's resources.
var generatedFiles = []string{"helmrelease", "helmrepository", "ocirepository", "kustomization", "namespace", "ks"}

// resources checks the plain objects of all add-ons: they must be objects, no cluster may get one
// of them twice, and none may be a Secret in plaintext.
func (c *specChecker) resources() {
	owners := map[string][]*v1alpha1.Addon{}
	for _, a := range c.Spec.Addons {
		files := map[string]bool{}
		for i, r := range a.Spec.Resources {
			p := strict.At("spec", "resources").Item(i)
			switch {
			case files[r.Name] && r.Name != "":
				c.Fail(a, p.Child("name"), "use different names, or merge the manifests of both under one name", "duplicate resource %s in the add-on", strict.Quote(r.Name))
			case slices.Contains(generatedFiles, r.Name):
				c.Fail(a, p.Child("name"), "choose another name", "a resource cannot be named %s: a generated file has that name", strict.Quote(r.Name))
			}
			files[r.Name] = true
			for j, object := range r.Manifests {
				c.manifest(a, p.Child("manifests").Item(j), object, owners)
			}
		}
	}
}

// manifest checks one object. owners maps the objects so far to their add-ons.
func (c *specChecker) manifest(a *v1alpha1.Addon, p *strict.Path, object map[string]any, owners map[string][]*v1alpha1.Addon) {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	namespace, _ := metadata["namespace"].(string)
	for _, field := range []struct{ path, value string }{{"apiVersion", apiVersion}, {"kind", kind}, {"metadata.name", name}} {
		if field.value == "" && c.Whole(a) {
			c.Fail(a, p, "write a whole Kubernetes object", "the object has no %s", field.path)
		}
	}
	if apiVersion == "v1" && kind == "Secret" {
		c.secret(a, p, object)
	}
	if apiVersion == "" || kind == "" || name == "" {
		return
	}
	group, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		group = ""
	}
	id := strings.Join([]string{group, kind, namespace, name}, "\x00")
	for _, other := range owners[id] {
		if other == a {
			c.Fail(a, p, "remove one of them", "duplicate object %s %s in the add-on", kind, strict.Quote(name))
			return
		}
		if cluster := c.together(a, other); cluster != "" && c.Whole(a, other) {
			c.Fail(a, p, "keep it in only one of the add-ons", "%s also contains %s %s, and cluster %s has both add-ons", c.Called(other), kind, strict.Quote(name), strict.Quote(cluster))
			return
		}
	}
	owners[id] = append(owners[id], a)
}

// secret reports a Secret with a value in plaintext. SOPS values begin with ENC[.
func (c *specChecker) secret(a *v1alpha1.Addon, p *strict.Path, object map[string]any) {
	_, encrypted := object["sops"].(map[string]any)
	for _, field := range []string{"data", "stringData"} {
		values, _ := object[field].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if !encrypted || !strings.HasPrefix(fmt.Sprint(values[key]), "ENC[") {
				c.Fail(a, p.Child(field).Child(key), "remove it from the specification and commit it encrypted with sops",
					"the Secret contains %s in plaintext", strict.Quote(key))
			}
		}
	}
}
