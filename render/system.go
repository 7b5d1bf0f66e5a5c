package render

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// checkSystem holds the flux-system kustomizations that the platform repository has
// already, and that are the user's, against what the specification asks of Flux: the
// one that `flux bootstrap` writes leaves the lockdown and the decryption out.
func (s *Source) checkSystem(platform []tree.Reader) error {
	var lacking []string
	for _, name := range generators.SystemPaths(s.Spec) {
		content, err := readFirst(platform, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is about to be written
		}
		if err != nil {
			return err
		}
		if !generators.NamesSettings(content) {
			lacking = append(lacking, name)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	return &BadInput{
		Err: fmt.Errorf("%s: without the component %q, Flux has neither the multi-tenancy lockdown nor the decryption of the specification",
			strings.Join(lacking, ", "), generators.SettingsComponent),
		Hint: fmt.Sprintf("the file is yours: add the lines \"components:\" and \"- %s\" to it, and render again", generators.SettingsComponent),
	}
}
