package tenant

import (
	"reflect"
	"testing"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// What the specification grants beside the profile is in the boundary with its verbs where Flux cannot create with them, and
// not where it may only be read.
func TestBoundaryKinds(t *testing.T) {
	rule := func(resource string, verbs ...string) v1alpha1.PolicyRule {
		return v1alpha1.PolicyRule{APIGroups: []string{"example.com"}, Resources: []string{resource}, Verbs: verbs}
	}
	kinds := boundaryKinds(v1alpha1.Access{Rules: []v1alpha1.PolicyRule{
		rule("reports", "get", "list", "watch"), rule("forms", "get", "create", "patch"), rule("drafts", "get", "patch"), rule("letters", "create"), rule("cards", "*"),
	}})
	var got []v1alpha1.BoundaryKinds
	for _, k := range kinds {
		if k.APIGroups[0] == "example.com" {
			got = append(got, k)
		} else if k.Verbs != nil {
			t.Errorf("%v has verbs, although the profile grants what Flux needs", k)
		}
	}
	want := func(resource string, verbs ...string) v1alpha1.BoundaryKinds {
		return v1alpha1.BoundaryKinds{APIGroups: []string{"example.com"}, Resources: []string{resource}, Verbs: verbs}
	}
	if all := []v1alpha1.BoundaryKinds{want("forms"), want("drafts", "get", "patch"), want("letters", "create"), want("cards")}; !reflect.DeepEqual(got, all) {
		t.Errorf("got %v, want %v", got, all)
	}
}
