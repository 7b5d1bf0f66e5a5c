// Package k0rdent generates the repository of a k0rdent management cluster: kcm,
// its Release, templates and chains, credentials, access, clusters and services,
// in steps whose order Flux keeps.
//
// What the steps rely on was read off kcm v1.11.4 and v1.12.0-rc2
// (https://github.com/k0rdent/kcm): the webhooks in internal/webhook, which
// refuse what is not ready yet, and the controllers in internal/controller.
package k0rdent

import (
	"cmp"
	"path"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/addon"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/generators/layout"
	"github.com/fleetwright/fleetwright/generators/secret"
)

const product = v1alpha1.ProductK0rdent

// Generate writes the management repository of the specification's K0rdent, if
// it has one. secrets are the declared ones whose files there are.
func Generate(out *emit.Files, spec *v1alpha1.Spec, lay layout.Layout, secrets []secret.Placed) {
	g := newGenerator(spec, lay)
	if g == nil {
		return
	}
	g.out, g.secrets = out, secrets
	g.kcm()
	g.release()
	g.management()
	g.templates()
	g.credentials()
	g.access()
	g.clusters()
	g.services()
	g.out.Objects(g.base.Place.File, "The steps of k0rdent's management cluster. Each waits until the one before is healthy,\n"+
		"since kcm's webhooks refuse what refers to anything that isn't ready.", g.kustomizations...)
}

type generator struct {
	out     *emit.Files
	spec    *v1alpha1.Spec
	k       *v1alpha1.K0rdentSpec
	cluster *v1alpha1.Cluster
	secrets []secret.Placed
	// base is the unit that the steps are made of.
	base layout.Unit
	// kustomizations of the steps so far, done their names.
	kustomizations []any
	done           []string
}

func newGenerator(spec *v1alpha1.Spec, lay layout.Layout) *generator {
	if spec.K0rdent == nil {
		return nil
	}
	k := &spec.K0rdent.Spec
	c := spec.Cluster(k.Cluster)
	return &generator{spec: spec, k: k, cluster: c, base: lay.Platform(c, product, lay.Addons(c, addon.On(spec, c)))}
}

// dir is the folder of a step.
func (g *generator) dir(name string) string { return path.Join(g.base.Dir, name) }

// step is a Kustomization and the files that it applies.
type step struct {
	name string
	// after names the steps that it waits for; those that have nothing to apply
	// are left out.
	after []string
	// unit has the health checks.
	unit layout.Unit
	// files of objects by name, with comments on them, and others that are there
	// already.
	files    map[string][]any
	comments map[string]string
	lists    []string
}

// add writes a step; one without files is none.
func (g *generator) add(s step) {
	names := slices.Clone(s.lists)
	for name, objects := range s.files {
		if len(objects) > 0 {
			g.out.Objects(path.Join(g.dir(s.name), name), s.comments[name], objects...)
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	g.out.Kustomization(g.dir(s.name), emit.Kustomization{Resources: emit.Sorted(names)})
	u := s.unit
	u.Name, u.Dir, u.Timeout = product+"-"+s.name, g.dir(s.name), g.k.Timeout
	// Taking the K0rdent out of the specification deletes no cluster.
	u.DeletionPolicy = kustomizev1.DeletionPolicyOrphan
	u.DependsOn = nil
	for _, name := range s.after {
		if slices.Contains(g.done, name) {
			u.DependsOn = append(u.DependsOn, product+"-"+name)
		}
	}
	if len(s.after) == 0 {
		u.DependsOn = g.base.DependsOn
	}
	g.kustomizations = append(g.kustomizations, addon.Kustomization(g.spec, u))
	g.done = append(g.done, s.name)
}

// system is the metadata of an object in the system namespace.
func system(name string) metadata {
	return metadata{Name: name, Namespace: v1alpha1.K0rdentNamespaceName}
}

// kept is the metadata of an object that stays when it is taken out: kcm's own
// chart keeps Release and templates so (helm.sh/resource-policy), and its
// webhooks refuse to delete what is in use, which would stop the step.
func kept(m metadata) metadata {
	m.Annotations = map[string]string{"helm.sh/resource-policy": "keep", emit.AnnotationPrune: emit.Disabled}
	return m
}

// singleton is the metadata of an object that kcm has once and that must not be
// deleted.
func singleton() metadata {
	return metadata{Name: "kcm", Labels: componentLabel(), Annotations: map[string]string{emit.AnnotationPrune: emit.Disabled}}
}

// componentLabel marks what kcm backs up (kcm api/v1beta1, GenericComponentNameLabel).
func componentLabel() map[string]string {
	return map[string]string{v1alpha1.LabelK0rdentComponent: "kcm"}
}

// managedLabel marks sources for the controllers that kcm can bring along.
func managedLabel() map[string]string {
	return map[string]string{"k0rdent.mirantis.com/managed": "true"}
}

// byName sorts objects by their names.
func byName[T any](list []T, name func(T) string) []T {
	return slices.SortedStableFunc(slices.Values(list), func(a, b T) int { return cmp.Compare(name(a), name(b)) })
}
