package v1alpha1

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// generatedFiles are files that stand beside an add-on's resources.
var generatedFiles = []string{"helmrelease", "helmrepository", "ocirepository", "kustomization", "namespace", "ks"}

// resources checks the plain objects of all add-ons: they are objects, no
// cluster gets one of them twice, and none is a Secret in clear.
func (c *checker) resources() {
	owners := map[string][]*Addon{}
	for _, a := range c.spec.Addons {
		files := map[string]bool{}
		for i, r := range a.Spec.Resources {
			p := at("spec", "resources").item(i)
			switch {
			case files[r.Name] && r.Name != "":
				c.fail(a, p.child("name"), "give each a name of its own, or put the manifests of both under one", "duplicate resource %s in the add-on", quote(r.Name))
			case slices.Contains(generatedFiles, r.Name):
				c.fail(a, p.child("name"), "choose another name", "a resource cannot be named %s: a generated file has that name", quote(r.Name))
			}
			files[r.Name] = true
			for j, object := range r.Manifests {
				c.manifest(a, p.child("manifests").item(j), object, owners)
			}
		}
	}
}

// manifest checks one object. owners maps the objects so far to their add-ons.
func (c *checker) manifest(a *Addon, p *fieldPath, object map[string]any, owners map[string][]*Addon) {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	namespace, _ := metadata["namespace"].(string)
	for _, field := range []struct{ path, value string }{{"apiVersion", apiVersion}, {"kind", kind}, {"metadata.name", name}} {
		if field.value == "" && c.whole(a) {
			c.fail(a, p, "write a whole Kubernetes object", "the object has no %s", field.path)
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
			c.fail(a, p, "take one of them out", "duplicate object %s %s in the add-on", kind, quote(name))
			return
		}
		if cluster := c.together(a, other); cluster != "" && c.whole(a, other) {
			c.fail(a, p, "leave it to one of the add-ons", "%s holds %s %s too, and the cluster %s gets both", c.called(other), kind, quote(name), quote(cluster))
			return
		}
	}
	owners[id] = append(owners[id], a)
}

// secret refuses a Secret with a value in clear. SOPS values begin with ENC[.
func (c *checker) secret(a *Addon, p *fieldPath, object map[string]any) {
	_, encrypted := object["sops"].(map[string]any)
	for _, field := range []string{"data", "stringData"} {
		values, _ := object[field].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if !encrypted || !strings.HasPrefix(fmt.Sprint(values[key]), "ENC[") {
				c.fail(a, p.child(field).child(key), "take it out of the specification and commit it encrypted with sops",
					"the Secret holds %s in clear", quote(key))
			}
		}
	}
}
