package reconcile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// An entry that fails does not hide its neighbours, whatever kustomize says of it: a patch of what a remote base holds, in
// either field, and a transformer of an inner folder.
// Reproduces: CloudHub-Social/CloudHub-Cluster and Bold-origins/gitops-infrastructure.
func TestFailuresLeaveTheRest(t *testing.T) {
	const root = "-- clusters/prod/flux-system/gotk-sync.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {url: https://example.com/fleet}\n---\n" +
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {path: ./clusters/prod, prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: flux-system}}\n" +
		"-- clusters/prod/kustomization.yaml --\nresources: [inner, good.yaml]\n-- clusters/prod/good.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: good, namespace: a}\n" +
		"-- clusters/prod/inner/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: inner, namespace: a}\ndata: {a: b}\n-- clusters/prod/inner/kustomization.yaml --\n"
	patch := "-- clusters/prod/inner/patch.yaml --\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: remote}\nspec: {replicas: 2}\n"
	for _, c := range []struct{ name, inner, want, failure string }{
		{"patches", "resources: [a.yaml, github.com/example/remote]\npatches: [{path: patch.yaml}]\n" + patch, "inner good", ""},
		{"patchesStrategicMerge", "resources: [a.yaml, github.com/example/remote]\npatchesStrategicMerge: [patch.yaml]\n" + patch, "inner good", ""},
		{"patchesStrategicMerge of nothing", "resources: [a.yaml]\npatchesStrategicMerge: [patch.yaml]\n" + patch, "inner good", "clusters/prod/inner/kustomization.yaml:2: patchesStrategicMerge: there is no Deployment remote among the resources to patch"},
		{"replacements", "resources: [a.yaml]\nreplacements: [{source: {kind: ConfigMap, name: inner, fieldPath: data.zz}, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.a]}]}]\n", "good", "clusters/prod/inner/kustomization.yaml:2: replacements: ConfigMap inner has no field data.zz"},
	} {
		repo := parsed(t, root+c.inner)
		fleet, err := Reconcile(t.Context(), repo, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range fleet.Clusters[0].Objects() {
			if o.Kind == "ConfigMap" {
				got = append(got, o.Name)
			}
		}
		failure := ""
		if f := fleet.Clusters[0].Kustomizations[0].Failure; f != nil {
			failure = fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
		}
		if strings.Join(got, " ") != c.want || !strings.HasPrefix(failure, c.failure) || (failure == "") != (c.failure == "") {
			t.Errorf("%s: got %q and %q", c.name, got, failure)
		}
	}
}

// The repository has a second name although no build applies the file that defines the first, as one of a flux-system folder
// that the kustomization of its cluster does not list. Reproduces: louis-vs/lvs-cloud.
func TestSecondNameBesideAnUnlistedSync(t *testing.T) {
	const source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: NAME, namespace: flux-system}\nspec: {url: 'https://example.com/me/fleet', ref: {branch: main}}\n"
	const ks = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: NAME, namespace: flux-system}\nspec: {path: PATH, prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: SOURCE}}\n"
	is := func(text, name, at, of string) string {
		return strings.NewReplacer("NAME", name, "PATH", at, "SOURCE", of).Replace(text)
	}
	files := "-- clusters/prod/kustomization.yaml --\nresources: [apps.yaml]\n" +
		"-- clusters/prod/flux-system/gotk-sync.yaml --\n" + is(source, "flux-system", "", "") + "---\n" + is(ks, "flux-system", "./clusters/prod", "flux-system") +
		"-- clusters/prod/apps.yaml --\n" + is(source, "home", "", "") + "---\n" + is(ks, "apps", "./apps", "home") +
		"-- apps/a.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"
	for url, built := range map[string]bool{"https://example.com/me/fleet": true, "https://example.com/me/other": false} {
		repo, err := repository.FromFiles(func(yield func(string, []byte) bool) {
			for _, f := range txtar.Parse([]byte(files)).Files {
				if f.Name == "clusters/prod/apps.yaml" {
					f.Data = []byte(strings.Replace(string(f.Data), "https://example.com/me/fleet", url, 1))
				}
				if !yield(f.Name, f.Data) {
					return
				}
			}
		}, repository.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fleet, err := Reconcile(t.Context(), repo, Options{})
		if err != nil {
			t.Fatal(err)
		}
		k, ok := fleet.Clusters[0].Kustomization("flux-system", "apps")
		if !ok || (k.Repo != nil) != built {
			t.Errorf("%s: found %t, built %t", url, ok, ok && k.Repo != nil)
		}
	}
}
