package tenant

import (
	"fmt"
	"testing"
)

// A rule whose resources are too many to look at is not silently allowed.
func TestBeyond(t *testing.T) {
	allowed := func(group, resource string) bool { return group == "apps" && resource != "*" }
	many := policyRule{groups: []string{"apps"}, verbs: []string{"patch"}}
	for i := range mostPairs {
		many.resources = append(many.resources, fmt.Sprint("kind", i))
	}
	if got := many.beyond(allowed); got != "" {
		t.Errorf("got %q", got)
	}
	many.resources = append(many.resources, "*")
	if got := many.beyond(allowed); got != "more than 1000 resources" {
		t.Errorf("got %q", got)
	}
}
