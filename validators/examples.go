package validators

import (
	_ "embed" // the examples
	"sync"

	"github.com/fleetwright/fleetwright/validators/rule"
)

// packed is the archive of all */examples/*.txtar files. `make docs` writes it.
//
//go:embed examples.tar.gz
var packed []byte

var library = sync.OnceValues(func() (rule.Library, error) { return rule.Unpack(packed) })

// Examples returns the bad, good and unresolved examples of a rule.
func Examples(r rule.Rule) (rule.Examples, error) {
	all, err := library()
	if err != nil {
		return rule.Examples{}, err
	}
	return rule.ReadExamples(all, r.ID)
}
