package k0rdent_test

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/platformtest"
)

// example is the specification of examples/k0rdent, changed by pairs of old and
// new text, each of which it must have.
func example(t testing.TB, changes ...string) *v1alpha1.Spec {
	t.Helper()
	return platformtest.Spec(t, "k0rdent", changes...)
}

// to112 renders the example as k0rdent 1.12.
var to112 = []string{"version: 1.11.4", "version: 1.12.0-rc2"}

// rendered is a rendered platform repository.
type rendered struct{ *platformtest.Rendered }

type object = platformtest.Object

func render(t testing.TB, spec *v1alpha1.Spec, secrets ...string) *rendered {
	t.Helper()
	return &rendered{platformtest.Render(t, "k0rdent", spec, secrets...)}
}

// step is the folder of the step that applies an object.
func (r *rendered) step(kind, name string) string {
	if parts := strings.Split(r.File(kind, name), "/"); len(parts) > 1 {
		return parts[1]
	}
	return ""
}

// same holds an object against what it was.
func same(t *testing.T, before, after *rendered, kind, name string) {
	t.Helper()
	platformtest.Same(t, before.Rendered, after.Rendered, kind, name)
}

func changed(before, after *rendered) []string {
	return platformtest.Changed(before.Rendered, after.Rendered)
}

const prune = platformtest.Prune
