package render

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// checkSystem returns an error if an existing flux-system kustomization in the platform repository, which belongs to the
// user, does not include the component with the specification's settings for Flux. The kustomization that `flux
// bootstrap` writes lacks the lockdown and the decryption.
func checkSystem(spec *v1alpha1.Spec, platform []tree.Reader) error {
	var lacking []string
	for _, name := range generators.SystemPaths(spec) {
		content, err := readFirst(platform, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // this render writes it
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
	return advice.Input(
		fmt.Errorf("%s: without the component %q, Flux has neither the multi-tenancy lockdown nor the decryption of the specification",
			strings.Join(lacking, ", "), generators.SettingsComponent),
		fmt.Sprintf("Fleetwright does not change this file: add the lines \"components:\" and \"- %s\" to it, and render again", generators.SettingsComponent),
	)
}
