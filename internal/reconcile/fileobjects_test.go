package reconcile

import (
	"maps"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

func TestPlain(t *testing.T) {
	content := map[string][]byte{}
	for _, f := range txtar.Parse([]byte(`-- app/kustomization.yaml --
resources: [a.yaml]
patches: [{path: patch.yaml}]
-- app/a.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: a, namespace: b}
spec: {url: "https://example.com"}
-- app/patch.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: a}
-- chart/Chart.yaml --
name: x
-- chart/templates/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: x}
`)).Files {
		content[f.Name] = f.Data
	}
	repo, err := repository.FromFiles(maps.All(content), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	objects := Plain(repo)
	if len(objects) != 1 {
		t.Fatalf("got %v", objects)
	}
	o := objects[0]
	at := o.Position("spec", "url")
	if o.Identity != (Identity{"source.toolkit.fluxcd.io", "GitRepository", "b", "a"}) || o.Kustomization != nil ||
		at != (finding.Place{File: "app/a.yaml", Line: 4, Column: 13}) || o.Line != 1 {
		t.Errorf("got %+v at %v", o, at)
	}
}
