package reconcile

import (
	"maps"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// TestOriginOfTargetNamespace: kustomize gives a Namespace the name of the target namespace, and it still comes from its file.
func TestOriginOfTargetNamespace(t *testing.T) {
	ks := strings.Replace(fluxKustomization, "  postBuild:\n    substitute: {A: b}\n    substituteFrom: [{kind: ConfigMap, name: a}]\n", "  targetNamespace: web\n", 1)
	repo, err := repository.FromFiles(maps.All(map[string][]byte{
		"cluster/ks.yaml": []byte(ks), "app/kustomization.yaml": []byte("resources: [a.yaml]\ncomponents: [../common]\n"), "app/a.yaml": []byte(object),
		"common/kustomization.yaml": []byte("apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [namespace.yaml]\n"),
		"common/namespace.yaml":     []byte("# for all\napiVersion: v1\nkind: Namespace\nmetadata: {name: not-used}\n"),
	}), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fleet, err := Reconcile(t.Context(), repo, Options{Roots: []string{"cluster"}})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, o := range fleet.Clusters[0].Kustomizations[1].Objects {
		if o.Kind == "Namespace" {
			found = true
			if o.Name != "web" || o.File != "common/namespace.yaml" || o.Line != 2 {
				t.Errorf("%s of %s:%d", o.Name, o.File, o.Line)
			}
		}
	}
	if !found {
		t.Error("no Namespace")
	}
}
