package bootstrap

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
)

// inSet returns the reason why a ResourceSet that is not fully known may create the HelmRelease of a release, "" if none may.
func (j *judge) inSet(r *helmfile.Release) string {
	for _, names := range []func(*helmfile.Release, any) bool{namedIn, mayBeIn} {
		for _, set := range j.Sets {
			spec := helmrelease.FieldOf(set.Of.Value, "spec")
			steps, _ := helmrelease.FieldOf(spec, "steps").([]any)
			if set.Because != "" && slices.ContainsFunc(append([]any{spec}, steps...), func(step any) bool { return names(r, step) }) {
				return fmt.Sprintf("its HelmRelease may be created by the %s (%s:%d): %s", set.Of, set.Of.File, set.Of.Line, set.Because)
			}
		}
	}
	return ""
}

// namedIn reports whether a resource of a ResourceSet, or of one of its steps, has the release's name.
func namedIn(r *helmfile.Release, step any) bool {
	resources, _ := helmrelease.FieldOf(step, "resources").([]any)
	return slices.ContainsFunc(resources, func(each any) bool {
		return helmrelease.TextOf(each, "kind") == "HelmRelease" && helmrelease.TextOf(each, "metadata", "name") == r.Name.Value
	})
}

// mayBeIn reports whether a template of a ResourceSet, or of one of its steps, may create a HelmRelease with the release's name.
func mayBeIn(r *helmfile.Release, step any) bool {
	resources, _ := helmrelease.FieldOf(step, "resources").([]any)
	text := helmrelease.TextOf(step, "resourcesTemplate")
	return slices.ContainsFunc(resources, func(each any) bool {
		return helmrelease.TextOf(each, "kind") == "HelmRelease" && strings.Contains(helmrelease.TextOf(each, "metadata", "name"), "<<")
	}) || strings.Contains(text, "kind: HelmRelease") && r.Name.Value != "" && (strings.Contains(text, r.Name.Value) || strings.Contains(text, "name: <<"))
}
