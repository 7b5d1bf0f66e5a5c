package kommander_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/examples/platformtest"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// An application is upgraded in one workspace: its file there changes, and nothing else of the
// repository does.
func TestUpgradeInOneWorkspace(t *testing.T) {
	before := render(t, example(t))
	after := render(t, example(t,
		"      applications:\n        - name: reloader\n          version: 0.0.121\n        - name: kube-prometheus-stack",
		"      applications:\n        - name: reloader\n          version: 1.0.5\n        - name: kube-prometheus-stack"))
	if got, want := changed(before, after), []string{"workspaces/retail/content/applications/reloader.yaml"}; !slices.Equal(got, want) {
		t.Fatalf("changed: %v, want %v", got, want)
	}
	namespaces := map[string]string{"kommander": "reloader-0.0.121", "kommander-default-workspace": "reloader-0.0.121", "retail": "reloader-1.0.5"}
	for _, o := range after.Of("AppDeployment") {
		if o.Name() == "reloader" {
			if got := o.Text("spec", "appRef", "name"); got != namespaces[o.Text("metadata", "namespace")] {
				t.Errorf("namespace %s has %s", o.Text("metadata", "namespace"), got)
			}
			delete(namespaces, o.Text("metadata", "namespace"))
		}
	}
	if len(namespaces) > 0 {
		t.Errorf("no reloader in %v", namespaces)
	}
	// What it needs is there for both versions.
	for _, dir := range []string{"services/reloader/0.0.121", "services/reloader/1.0.5"} {
		if after.Files[dir+"/kustomization.yaml"] == nil {
			t.Errorf("there is no %s", dir)
		}
	}
}

// One cluster of a workspace is upgraded before the others.
func TestUpgradeOfOneCluster(t *testing.T) {
	before := render(t, example(t))
	after := render(t, example(t, "version: 0.0.121\n        - name: kube-prometheus-stack",
		"version: 0.0.121\n          overrides: [{name: early, clusters: [retail-staging], version: 1.0.5}]\n        - name: kube-prometheus-stack"))
	if got, want := changed(before, after), []string{"workspaces/retail/content/applications/reloader.yaml"}; !slices.Equal(got, want) {
		t.Fatalf("changed: %v, want %v", got, want)
	}
	o := after.Files["workspaces/retail/content/applications/reloader.yaml"][0]
	if o.Text("spec", "appRef", "name") != "reloader-0.0.121" || o.Text("spec", "clusterConfigOverrides", 0, "appVersion") != "1.0.5" ||
		!slices.Equal(o.List("spec", "clusterConfigOverrides", 0, "clusterSelector", "matchExpressions", 0, "values"), []string{"retail-staging"}) {
		t.Errorf("reloader: %v", o)
	}
}

// A new version of an application is a new folder, and nothing else changes before somebody
// uses it. One that is used can't be taken out.
func TestDefinitionsComeAndGo(t *testing.T) {
	before := render(t, example(t))
	added := render(t, example(t, "    - name: kube-prometheus-stack\n      version: 40.0.0\n      chart:",
		"    - name: traefik\n      version: 20.8.0\n      chart: {url: https://helm.traefik.io/traefik, version: 20.8.0}\n    - name: kube-prometheus-stack\n      version: 40.0.0\n      chart:"))
	for _, path := range changed(before, added) {
		if !strings.HasPrefix(path, "services/traefik/20.8.0/") && path != "services/traefik/metadata.yaml" {
			t.Errorf("%s changed", path)
		}
	}
	if added.text("services/traefik/20.8.0/traefik.yaml") == "" {
		t.Error("the new version is not there")
	}
	_, err := specs.Load(platformtest.Files(t, "kommander", "    - name: reloader\n      version: 1.0.5", "    - name: reloader\n      version: 1.0.6"))
	var all strict.Errors
	if !errors.As(err, &all) || len(all) != 1 || all[0].Message != `spec.definitions has no version "1.0.5" of "reloader"` || all[0].Line == 0 {
		t.Errorf("a version that is used was taken out: %v", err)
	}
}

// A project is removed: its folder goes, and the lists that named it. Flux then prunes what
// the two steps have applied of it, and nothing keeps it from doing so.
func TestProjectRemoved(t *testing.T) {
	const search = "    - name: search\n      workspace: retail\n      clusters: [retail-production, retail-staging]\n      sources:\n        - name: search\n          url: https://git.nimbus.example/retail/search.git\n"
	before, after := render(t, example(t)), render(t, example(t, search, ""))
	for _, path := range changed(before, after) {
		_, there := after.Tree.Get(path)
		switch {
		case strings.HasPrefix(path, "projects/search/") && !there:
		case (path == "kommander/projects/kustomization.yaml" || path == "kommander/project-content/kustomization.yaml") && there:
		default:
			t.Errorf("%s changed, there: %v", path, there)
		}
	}
	pruned := map[string][]string{}
	for _, step := range []string{"projects", "project-content"} {
		for _, o := range before.steps["flux-system/kommander-"+step] {
			if after.applied(step, o.Text("kind"), o.Name()) == nil {
				pruned[step] = append(pruned[step], o.Text("kind")+" "+o.Name())
				if o.Annotated(platformtest.Prune, "disabled") {
					t.Errorf("%s %s stays for ever", o.Text("kind"), o.Name())
				}
			}
		}
		if k := after.Must("Kustomization", "kommander-"+step); k.Get("spec", "prune") != true {
			t.Errorf("%s prunes nothing", step)
		}
	}
	if !slices.Equal(pruned["projects"], []string{"Project search"}) || !slices.Equal(pruned["project-content"], []string{"GitopsRepository search"}) {
		t.Errorf("pruned: %v", pruned)
	}
}

// A workspace can't be taken out while a project is in it.
func TestWorkspaceStaysWhileItIsUsed(t *testing.T) {
	_, err := specs.Load(platformtest.Files(t, "kommander", "    - name: retail\n      clusterLabels", "    - name: wholesale\n      clusterLabels"))
	if err == nil || strings.Count(err.Error(), `workspace "retail" does not exist`) != 3 {
		t.Errorf("two projects and a catalog are in it: %v", err)
	}
}

// The whole of it can be taken out without a loss, since its steps are left as they are.
func TestStepsAreOrphaned(t *testing.T) {
	r := render(t, example(t))
	for _, k := range r.Of("Kustomization") {
		if strings.HasPrefix(k.Name(), "kommander-") && k.Text("spec", "deletionPolicy") != "Orphan" {
			t.Errorf("taking %s out deletes what it applied", k.Name())
		}
	}
}
