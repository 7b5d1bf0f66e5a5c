package sops

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// templateHint is the hint for a credential in a template.
const templateHint = "read it from a secret value in the template, and rotate it: it is exposed"

// fixHint returns a hint about how to encrypt a file.
func fixHint(p *rule.Pass, file string) string {
	config := secrets.ConfigFor(configs.Of(p), file)
	switch {
	case p.Repo.Use(file) == repository.Chart:
		return templateHint
	case config == nil:
		return fmt.Sprintf("add a rule with its recipients to a .sops.yaml, run fleetwright secrets encrypt %s (or sops encrypt --in-place), and rotate the value: it is exposed", file)
	case config.For(file) == nil:
		return fmt.Sprintf("no rule of %s matches this file: add one, or rename the file so that one matches; then run fleetwright secrets encrypt %s (or sops encrypt --in-place)", config.File, file)
	}
	return fmt.Sprintf("encrypt it: fleetwright secrets encrypt %s (or sops encrypt --in-place); then rotate the value: it is exposed", file)
}
