package reconcile

import (
	"fmt"
	"testing"
)

// TestCompareShowsNamesOfObjects compares objects with fields that are called as secrets are: what the
// kind wants a name in is shown, but nothing that can't be one or looks like a secret, and no other field.
func TestCompareShowsNamesOfObjects(t *testing.T) {
	const group = "k0rdent.mirantis.com"
	token := "ghp_" + "aB3dE5gH7jK9mN1pQ3sTuV5xY7zA9bC1dE3f"
	access := func(name string) map[string]any {
		return map[string]any{"spec": map[string]any{"accessRules": []any{map[string]any{"credentials": []any{name}}}}}
	}
	spec := func(field, value string) map[string]any {
		return map[string]any{"spec": map[string]any{field: value}}
	}
	for _, c := range []struct {
		group, kind string
		from, to    map[string]any
		want        string
	}{
		{group, "ClusterDeployment", spec("credential", "aws"), spec("credential", "aws-2"), "aws → aws-2"},
		{group, "AccessManagement", access("aws-cred"), access("azure.cred"), "aws-cred → azure.cred"},
		{group, "ClusterDataSource", spec("caSecret", "a"), spec("caSecret", "b"), "a → b"},
		{group, "ClusterDeployment", spec("credential", "aws"), spec("credential", "Hunter Two"), "aws → <hidden>"},
		{group, "ClusterDeployment", spec("credential", token), spec("credential", "aws"), "<hidden> → aws"},
		{group, "ClusterDeployment", spec("credential", "q8zr2lwx9bn4vtk1m"), spec("credential", "aws"), "<hidden> → aws"},
		{group, "ClusterDeployment", spec("token", "aws"), spec("token", "azure"), "<hidden> → <hidden>"},
		{group, "ClusterDeployment", map[string]any{"credential": "a"}, map[string]any{"credential": "b"}, "<hidden> → <hidden>"},
		{"example.com", "ClusterDeployment", spec("credential", "aws"), spec("credential", "azure"), "<hidden> → <hidden>"},
	} {
		id := Identity{Group: c.group, Kind: c.kind, Namespace: "kcm-system", Name: "x"}
		before, after := &Object{Identity: id, Value: c.from}, &Object{Identity: id, Value: c.to}
		fields := compareValues(before, after)
		if len(fields) != 1 {
			t.Fatalf("%s %v: %d fields differ", c.kind, c.from, len(fields))
		}
		if got := fmt.Sprintf("%v → %v", fields[0].From, fields[0].To); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.kind, c.to, got, c.want)
		}
	}
}
