package k0rdent_test

import (
	"flag"
	"testing"

	"github.com/fleetwright/fleetwright/examples/platformtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The whole of what the example renders to, and what of it is another for 1.12.
func TestGolden(t *testing.T) {
	older, newer := render(t, example(t)), render(t, example(t, to112...))
	platformtest.Golden(t, *update, older.Rendered, "testdata/1.11.4.txtar", newer.Rendered, "testdata/1.12.0-rc2.txtar")
}
