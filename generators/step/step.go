// Package step writes what a platform product adds to the repository of its
// cluster as steps: a Flux Kustomization each, in one file, with the folder that it
// applies. Flux keeps their order.
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

// Steps are those of a product, in the order in which they are added.
type Steps struct {
	out     *emit.Files
	spec    *v1alpha1.Spec
	product string
	timeout v1alpha1.Duration
	secrets []secret.Placed
	// base is the unit that the steps are made of.
	base layout.Unit
	// kustomizations of the steps so far, done their names.
	kustomizations []any
	done           []string
}

// Step is a Kustomization and what it applies.
type Step struct {
	// Name of the step: of its folder, and behind the product's in the
	// Kustomization's.
	Name string
	// After names the steps that it waits for; those that have nothing to apply
	// are left out. Without any it waits for the cluster's add-ons.
	After []string
	// Unit has the health checks.
	Unit layout.Unit
	// Files of objects by name, with Comments on them.
	Files    map[string][]any
	Comments map[string]string
	// Lists are files and folders of the repository that there are already.
	Lists []string
	// Annotations are set on all objects.
	Annotations map[string]string
	// PostBuild are the variables that the objects use.
	PostBuild *kustomizev1.PostBuild
	// Stays says that the step is written also where it applies nothing: the last of its objects that
	// is taken out of the specification is then deleted on the cluster, as those before it were.
	Stays bool
}

// New are the steps of a product on its cluster, none yet. Each is given the time to
// become healthy. secrets are the declared ones whose files there are: a step lists its
// own.
func New(out *emit.Files, spec *v1alpha1.Spec, lay layout.Layout, c *v1alpha1.Cluster, product string, timeout v1alpha1.Duration, secrets []secret.Placed) *Steps {
	return &Steps{
		out: out, spec: spec, product: product, timeout: timeout, secrets: secrets,
		base: lay.Platform(c, product, lay.Addons(c, addon.On(spec, c))),
	}
}

// Dir is the folder of a step.
func (s *Steps) Dir(name string) string { return path.Join(s.base.Dir, name) }

// Add writes the folder of a step; one that applies nothing is none, unless it stays.
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
	s.out.Kustomization(dir, emit.Kustomization{Resources: emit.Sorted(names), CommonAnnotations: step.Annotations})
	k := addon.Kustomization(s.spec, s.unit(step, dir))
	k.Spec.PostBuild = step.PostBuild
	s.kustomizations = append(s.kustomizations, k)
	s.done = append(s.done, step.Name)
}

// unit is a step's Kustomization.
func (s *Steps) unit(step Step, dir string) layout.Unit {
	u := step.Unit
	u.Name, u.Dir, u.Timeout = s.product+"-"+step.Name, dir, s.timeout
	// Taking the product out of the specification deletes nothing that it made.
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

// Write writes the file with the Kustomizations of all steps, behind other objects
// that they need.
func (s *Steps) Write(comment string, before ...any) {
	s.out.Objects(s.base.Place.File, comment, slices.Concat(before, s.kustomizations)...)
}
