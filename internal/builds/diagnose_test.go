package builds

import "testing"

// TestFailuresHoldNoValues of the objects that they are about, which kustomize's own message does.
func TestFailuresHoldNoValues(t *testing.T) {
	const message = `namespace transformation produces ID conflict: [{"apiVersion":"v1","data":{"a":"c2VjcmV0"},"kind":"Secret"} {}]`
	if got := brief(message); got != "namespace transformation produces ID conflict" {
		t.Errorf("got %s", got)
	}
}
