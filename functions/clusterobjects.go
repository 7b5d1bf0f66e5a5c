package functions

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/manifest"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// clusterObjects returns the objects that Flux applies to a cluster from a generated platform tree. Each object is
// returned once, in the order in which Flux finds it.
func clusterObjects(ctx context.Context, t *tree.Tree, cluster *v1alpha1.Cluster) ([]*kyaml.RNode, error) {
	repo, err := repository.FromFiles(func(yield func(string, []byte) bool) {
		for f := range t.All() {
			if !yield(f.Path, f.Content) {
				return
			}
		}
	}, repository.Options{})
	if err != nil {
		return nil, err
	}
	fleet, err := reconcile.Reconcile(ctx, repo, reconcile.Options{Roots: []string{path.Clean(cluster.Spec.Path)}, WithoutCharts: true})
	if err != nil {
		return nil, err
	}
	of := fleet.Clusters[0]
	for _, k := range of.Kustomizations {
		fail := func(message string) error {
			return fmt.Errorf("cluster %q: Kustomization %s: building %s: %s", cluster.Metadata.Name, k, k.Dir, message)
		}
		if k.Failure != nil {
			return nil, fail(k.Failure.Message)
		}
		for _, gap := range k.Gaps {
			if gap.Kind != builds.OtherSource {
				return nil, fail(gap.Message)
			}
		}
	}
	var out []*kyaml.RNode
	before := map[reconcile.Identity][]byte{}
	for _, o := range of.Objects() {
		value := o.Value
		if o.Encrypted { // decryption later needs the annotations
			value = maps.Clone(value)
			value["sops"] = o.SOPS
		}
		text, err := manifest.Object(value)
		if err != nil {
			return nil, err
		}
		if first, twice := before[o.Identity]; twice {
			if !bytes.Equal(first, text) {
				return nil, fmt.Errorf("cluster %q: %s is applied twice, with different contents", cluster.Metadata.Name, o)
			}
			continue
		}
		before[o.Identity] = text
		n, err := kyaml.Parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o, err)
		}
		out = append(out, n)
	}
	return out, nil
}
