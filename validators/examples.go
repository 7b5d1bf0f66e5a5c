package validators

import (
	"embed"

	"github.com/fleetwright/fleetwright/validators/rule"
)

//go:embed */examples/*.txtar
var examples embed.FS

// Examples returns the examples of a rule.
func Examples(r rule.Rule) (rule.Examples, error) { return rule.ReadExamples(examples, r.ID) }
