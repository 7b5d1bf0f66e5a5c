// Package step writes, as steps, the objects that a platform product adds to the repository of its cluster. A step is a
// Flux Kustomization and the folder that it applies. The Kustomizations of all steps are in one file, and Flux applies
// them in order.
package step

import (
	"path"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/addon"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/layout/secret"
)

// Steps are the steps of a product, in the order in which they are added.
type Steps struct {
	out     *emit.Files
	spec    *v1alpha1.Spec
	product string
	timeout v1alpha1.Duration
	secrets []secret.Placed
	// base is the unit from which each step is copied.
	base layout.Unit
	// kustomizations are the Kustomizations of the steps so far. done are the names of the steps.
	kustomizations []any
	done           []string
}

// Step is a Kustomization and the objects that it applies.
type Step struct {
	// Name is the name of the step and of its folder. The name of the Kustomization is the product's name
	// followed by it.
	Name string
	// After names the steps that it waits for. Steps that were not written are ignored. Without any of them, it waits for
	// the cluster's add-ons.
	After []string
	// Unit has the health checks of the Kustomization.
	Unit layout.Unit
	// Files are objects by file name. Comments are the comments of the files.
	Files    map[string][]any
	Comments map[string]string
	// Lists are existing files and folders of the repository that the step applies, too.
	Lists []string
	// Annotations are set on all objects.
	Annotations map[string]string
	// PostBuild sets the variables that the objects use.
	PostBuild *kustomizev1.PostBuild
	// Stays reports whether the step is written even without objects, so that Flux deletes the last of its objects from the
	// cluster after that is removed from the specification.
	Stays bool
}

// New returns the steps of a product on its cluster, at first none. timeout is the time that each step has to become
// healthy. secrets are the declared Secrets with existing files; each step lists its own.
func New(out *emit.Files, spec *v1alpha1.Spec, lay layout.Layout, c *v1alpha1.Cluster, product string, timeout v1alpha1.Duration, secrets []secret.Placed) *Steps {
	return &Steps{
		out: out, spec: spec, product: product, timeout: timeout, secrets: secrets,
		base: lay.Platform(c, product, lay.Addons(c, addon.On(spec, c))),
	}
}

// Dir returns the folder of a step.
func (s *Steps) Dir(name string) string { return path.Join(s.base.Dir, name) }

// Add writes the folder of a step. It skips a step without objects, unless Stays is set.
func (s *Steps) Add(step Step) {
	var names []string
	dir := s.Dir(step.Name)
	for _, file := range slices.Concat(step.Lists, secret.Of(s.secrets, s.product, step.Name)) {
		names = append(names, emit.Relative(dir, file))
	}
	for name, objects := range step.Files {
		if len(objects) > 0 {
			s.out.Objects(path.Join(dir, name), step.Comments[name], objects...)
			names = append(names, name)
		}
	}
	if len(names) == 0 && !step.Stays {
		return
	}
	// kustomize refuses a kustomization without any field.
	resources := append([]string{}, emit.Sorted(names)...)
	s.out.Kustomization(dir, emit.Kustomization{Resources: resources, CommonAnnotations: step.Annotations})
	k := addon.Kustomization(s.spec, s.unit(step, dir))
	k.Spec.PostBuild = step.PostBuild
	s.kustomizations = append(s.kustomizations, k)
	s.done = append(s.done, step.Name)
}

// unit returns the unit of a step's Kustomization.
func (s *Steps) unit(step Step, dir string) layout.Unit {
	u := step.Unit
	u.Name, u.Dir, u.Timeout = s.product+"-"+step.Name, dir, s.timeout
	// If the product is removed from the specification, its objects stay on the cluster.
	u.DeletionPolicy = kustomizev1.DeletionPolicyOrphan
	u.DependsOn = nil
	for _, name := range step.After {
		if slices.Contains(s.done, name) {
			u.DependsOn = append(u.DependsOn, s.product+"-"+name)
		}
	}
	if len(step.After) == 0 {
		u.DependsOn = s.base.DependsOn
	}
	return u
}

// Write writes the file with the Kustomizations of all steps. The objects in before come first.
func (s *Steps) Write(comment string, before ...any) {
	s.out.Objects(s.base.Place.File, comment, slices.Concat(before, s.kustomizations)...)
}
