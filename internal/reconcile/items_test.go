package reconcile

import (
	"bytes"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/kio"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// A ResourceList has no files without objects: what builds without them is known, and what
// doesn't is no failure of Flux's.
func TestResourceList(t *testing.T) {
	const list = `apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: kustomize.toolkit.fluxcd.io/v1
  kind: Kustomization
  metadata: {name: whole, namespace: flux-system, annotations: {config.kubernetes.io/path: clusters/one/whole.yaml}}
  spec: {interval: 1h, prune: true, path: ./whole, sourceRef: {kind: GitRepository, name: flux-system}}
- apiVersion: kustomize.toolkit.fluxcd.io/v1
  kind: Kustomization
  metadata: {name: part, namespace: flux-system, annotations: {config.kubernetes.io/path: clusters/one/part.yaml}}
  spec: {interval: 1h, prune: true, path: ./part, sourceRef: {kind: GitRepository, name: flux-system}}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: a, namespace: default, annotations: {config.kubernetes.io/path: whole/a.yaml}}
- apiVersion: kustomize.config.k8s.io/v1beta1
  kind: Kustomization
  metadata: {name: part, annotations: {config.kubernetes.io/path: part/kustomization.yaml}}
  configMapGenerator: [{name: b, files: [b.txt]}]
`
	items, err := (&kio.ByteReader{Reader: bytes.NewBufferString(list), OmitReaderAnnotations: true}).Read()
	if err != nil {
		t.Fatal(err)
	}
	repo, err := repository.FromItems(items, repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fleet, err := Reconcile(t.Context(), repo, Options{})
	if err != nil || len(fleet.Clusters) != 1 {
		t.Fatalf("%d clusters, %v", len(fleet.Clusters), err)
	}
	c := fleet.Clusters[0]
	if whole, ok := c.Kustomization("flux-system", "whole"); !ok || !whole.Complete() || len(whole.Objects) != 1 {
		t.Errorf("what is whole is not built: %+v", whole)
	}
	part, ok := c.Kustomization("flux-system", "part")
	if !ok || part.Failure != nil || len(part.Gaps) != 1 || part.Gaps[0].Kind != builds.FilesMissing {
		t.Errorf("what is not given is no gap: %+v, %+v", part.Failure, part.Gaps)
	}
}
