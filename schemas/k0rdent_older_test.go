package schemas

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// olderKinds are the kinds of kcm 0.3 that people write (its definitions at v0.3.0).
var olderKinds = []string{
	"AccessManagement", "ClusterDeployment", "ClusterTemplate", "ClusterTemplateChain", "Credential", "Management", "ManagementBackup",
	"MultiClusterService", "ProviderTemplate", "Release", "ServiceTemplate", "ServiceTemplateChain",
}

// gone are the fields of v1alpha1 that v1beta1 has no longer since kcm 1.3.
var gone = []string{".spec.serviceSpec.services[].valuesFrom[].namespace", ".spec.serviceSpec.services[].valuesFrom[].optional"}

// Each kind of v1alpha1 has a schema, whose fields v1beta1 has with the same types, but for those that kcm 1.3 took away: only
// apiVersion changes on the way.
func TestV1alpha1OfK0rdent(t *testing.T) {
	for _, kind := range olderKinds {
		older, ok := Lookup(schema.GroupVersionKind{Group: K0rdentGroup, Version: "v1alpha1", Kind: kind})
		if !ok {
			t.Errorf("no schema for %s in v1alpha1", kind)
			continue
		}
		newer := ours(t, schema.GroupVersionKind{Group: K0rdentGroup, Version: "v1beta1", Kind: kind}, "1.11")
		was, is := fieldTypes(plainStructure(t, older), ""), fieldTypes(plainStructure(t, newer), "")
		if len(was) < 5 {
			t.Errorf("%s in v1alpha1 has the fields %v", kind, was)
		}
		for field, what := range was {
			switch now, there := is[field]; {
			case there && slices.Contains(gone, field):
				t.Errorf("%s in v1beta1 has %s", kind, field)
			case !there && !slices.Contains(gone, field), there && now != what:
				t.Errorf("%s%s is %s in v1alpha1 and %q in v1beta1", kind, field, what, now)
			}
		}
		if older.Namespaced != newer.Namespaced {
			t.Errorf("%s: namespaced is %v", kind, older.Namespaced)
		}
	}
	services, _ := Lookup(schema.GroupVersionKind{Group: K0rdentGroup, Version: "v1beta1", Kind: "ClusterDeployment"})
	found := services.Validate(map[string]any{
		"apiVersion": K0rdentGroup + "/v1beta1", "kind": "ClusterDeployment", "metadata": map[string]any{"name": "a", "namespace": "a"},
		"spec": map[string]any{"template": "a", "credential": "a", "serviceSpec": map[string]any{"services": []any{map[string]any{
			"name": "a", "template": "a", "valuesFrom": []any{map[string]any{"kind": "ConfigMap", "name": "a", "namespace": "b"}},
		}}}},
	})
	if len(found) != 1 || found[0].Kind != UnknownField || !strings.Contains(found[0].Message, `"namespace"`) {
		t.Errorf("a namespace in valuesFrom, which kcm drops since 1.3: %v", found)
	}
}

// fieldTypes are the types of all fields of a schema, by path.
func fieldTypes(v any, at string) map[string]string {
	all := map[string]string{}
	add := func(of any, at string) {
		for field, what := range fieldTypes(of, at) {
			all[field] = what
		}
	}
	of, _ := v.(map[string]any)
	properties, _ := of["properties"].(map[string]any)
	for name, property := range properties {
		field, _ := property.(map[string]any)
		what, _ := field["type"].(string)
		all[at+"."+name] = what
		add(property, at+"."+name)
	}
	for _, inner := range [][2]string{{"items", "[]"}, {"additionalProperties", "{}"}} {
		if of[inner[0]] != nil {
			add(of[inner[0]], at+inner[1])
		}
	}
	return all
}
