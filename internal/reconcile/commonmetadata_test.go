package reconcile

import (
	"maps"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// TestCommonMetadataApart: Kustomizations of one folder share its build, and none the metadata of another.
func TestCommonMetadataApart(t *testing.T) {
	ks := strings.Replace(fluxKustomization, "  postBuild:\n    substitute: {A: b}\n    substituteFrom: [{kind: ConfigMap, name: a}]\n", "", 1)
	one := ks + "  commonMetadata: {labels: {one: x}}\n"
	two := strings.Replace(ks, "name: app", "name: two", 1) + "  commonMetadata: {labels: {two: x}}\n"
	repo, err := repository.FromFiles(maps.All(map[string][]byte{
		"cluster/ks.yaml": []byte(one + "---\n" + two), "app/a.yaml": []byte(object), "app/kustomization.yaml": []byte("resources: [a.yaml]\n"),
	}), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fleet, err := Reconcile(t.Context(), repo, Options{Roots: []string{"cluster"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range fleet.Clusters[0].Kustomizations[1:] {
		for _, o := range k.Objects {
			metadata, _ := o.Value["metadata"].(map[string]any)
			labels, _ := metadata["labels"].(map[string]any)
			if len(labels) != 1 {
				t.Errorf("%s: %v", k, labels)
			}
		}
	}
}
