package kommander_test

import (
	"flag"
	"testing"

	"github.com/fleetwright/fleetwright/examples/platformtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The whole of what the example renders to, and what of it is another for 2.17.
func TestGolden(t *testing.T) {
	older, newer := render(t, example(t)), render(t, example(t, version("2.17.0")...))
	platformtest.Golden(t, *update, older.Rendered, "testdata/2.4.0.txtar", newer.Rendered, "testdata/2.17.0.txtar")
}
