// Package k0rdent generates the repository of a k0rdent management cluster: kcm, its Release, templates and chains,
// credentials, access, clusters and services, as steps that Flux applies in order.
//
// The order of the steps follows the code of kcm v1.11.4 and v1.12.0-rc2 (https://github.com/k0rdent/kcm): the webhooks
// in internal/webhook, which refuse objects that are not ready yet, and the controllers in internal/controller.
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

// Generate writes the management repository of the specification's K0rdent, if it has one. secrets are the declared
// Secrets with existing files.
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
	// created reports the objects that kcm creates itself, which are not generated.
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

// system returns the metadata of an object in the system namespace.
func system(name string) metadata {
	return metadata{Name: name, Namespace: v1alpha1.K0rdentNamespaceName}
}

// kept adds the annotations with which an object stays on the cluster after it is removed from Git. kcm's own chart keeps
// the Release and templates in the same way (helm.sh/resource-policy), and kcm's webhooks refuse to delete objects that
// are in use, which would stop the step.
func kept(m metadata) metadata {
	m.Annotations = map[string]string{"helm.sh/resource-policy": "keep", emit.AnnotationPrune: emit.Disabled}
	return m
}

// singleton returns the metadata of an object that exists once in kcm and must not be deleted.
func singleton() metadata {
	return metadata{Name: "kcm", Labels: componentLabel(), Annotations: map[string]string{emit.AnnotationPrune: emit.Disabled}}
}

// managedLabel returns the label of sources that the controllers which kcm can install require.
func managedLabel() map[string]string {
	return map[string]string{"k0rdent.mirantis.com/managed": "true"}
}
