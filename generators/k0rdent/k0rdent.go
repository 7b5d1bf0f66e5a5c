// Package k0rdent generates the repository of a k0rdent management cluster: kcm,
// its Release, templates and chains, credentials, access, clusters and services,
// in steps whose order Flux keeps.
//
// What the steps rely on was read off kcm v1.11.4 and v1.12.0-rc2
// (https://github.com/k0rdent/kcm): the webhooks in internal/webhook, which
// refuse what is not ready yet, and the controllers in internal/controller.
package k0rdent

import (
	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/generators/step"
	"github.com/fleetwright/fleetwright/internal/kcm"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/layout/secret"
)

const product = v1alpha1.ProductK0rdent

// Generate writes the management repository of the specification's K0rdent, if
// it has one. secrets are the declared ones whose files there are.
func Generate(out *emit.Files, spec *v1alpha1.Spec, lay layout.Layout, secrets []secret.Placed) {
	g := newGenerator(out, spec, lay, secrets)
	if g == nil {
		return
	}
	g.kcm()
	g.release()
	g.management()
	g.templates()
	g.credentials()
	g.access()
	g.clusters()
	g.services()
	g.Write("The steps of k0rdent's management cluster. Each waits until the one before is healthy,\n" +
		"because kcm's webhooks refuse objects that reference objects that are not ready.")
}

type generator struct {
	out     *emit.Files
	spec    *v1alpha1.Spec
	k       *v1alpha1.K0rdentSpec
	cluster *v1alpha1.Cluster
	// created is what kcm creates itself, which is left out.
	created kcm.Created
	*step.Steps
}

func newGenerator(out *emit.Files, spec *v1alpha1.Spec, lay layout.Layout, secrets []secret.Placed) *generator {
	of := v1alpha1.ProductOf[*v1alpha1.K0rdent](spec)
	if of == nil {
		return nil
	}
	k := &of.Spec
	c := spec.Cluster(k.Cluster)
	return &generator{out: out, spec: spec, k: k, cluster: c, created: kcm.CreatedOf(k), Steps: step.New(out, spec, lay, c, product, k.Timeout, secrets)}
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

// managedLabel marks sources for the controllers that kcm can bring along.
func managedLabel() map[string]string {
	return map[string]string{"k0rdent.mirantis.com/managed": "true"}
}
