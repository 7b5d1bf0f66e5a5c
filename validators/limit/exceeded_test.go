package limit_test

import (
	"maps"
	"testing"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/limit"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// TestUnreadableSource: a file of a source that the operating system keeps back is an error: schema-invalid reports only
// those of the repository itself.
func TestUnreadableSource(t *testing.T) {
	load := func(files map[string]string) *repository.Repository {
		contents := map[string][]byte{}
		for name, text := range files {
			contents[name] = []byte(text)
		}
		repo, err := repository.FromFiles(maps.All(contents), repository.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return repo
	}
	repo := load(map[string]string{"clusters/one/sync.yaml": `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: apps, namespace: flux-system}
spec: {interval: 1m, url: https://git.example.com/apps, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 1h, path: ./base, prune: true, sourceRef: {kind: GitRepository, name: apps}}
`})
	source := load(map[string]string{"base/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n"})
	f, _ := source.File("base/a.yaml")
	f.Err = &repository.Error{Reason: repository.Unreadable, Path: f.Path, Message: "cannot be read: permission denied"}
	o := rule.Options{Rules: []rule.Rule{limit.Exceeded}, Known: []string{limit.Exceeded.ID},
		Reconcile: reconcile.Options{Sources: map[string]*repository.Repository{"flux-system/apps": source}}}
	out, err := rule.Run(t.Context(), repo, o)
	if err != nil || len(out.Findings) != 1 || out.Findings[0].Hint != repository.AccessHint ||
		out.Findings[0].Message != "Kustomization flux-system/apps was not checked: cannot be read: permission denied" {
		t.Errorf("findings are %v, %v", out.Findings, err)
	}
}
