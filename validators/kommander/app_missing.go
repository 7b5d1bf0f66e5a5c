package kommander

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// AppMissing is kommander-app-missing.
var AppMissing = rule.Rule{
	ID:       "kommander-app-missing",
	Title:    "an application, or a version of it, that does not exist",
	Severity: finding.Error,
	Why: `An AppDeployment references an App or a ClusterApp, <application>-<version>. Kommander creates those from the
definitions in its own repository and in catalogs. If the definitions of an application are in this repository,
in services/ or applications/, all of its versions are known: another version is never installed, and the
installed version does not change. The same applies if Git has App or ClusterApp objects of the application.

All other applications come from catalogs that are not in this repository: they are unresolved.`,
	Fix: `Reference an existing version, or add the definition of the missing one.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			w.addApps(p)
			for _, o := range w.Of(deployment) {
				w.kindOfApp(p, o)
			}
			platform.Dangling{There: w.hasApp, Consequence: "nothing is installed", Hint: w.versionsOf}.Report(p, w.ManagementCluster, appReferences(w))
		}
	},
}

// kindOfApp reports an AppDeployment that references another kind than App or ClusterApp.
func (w *managementCluster) kindOfApp(p *rule.Pass, o *reconcile.Object) {
	kind := o.Text("spec", "appRef", "kind")
	if kind == "" || kind == app || kind == clusterApp || platform.Unknown(kind) {
		return
	}
	p.ReportBuilt(o, finding.Finding{
		Message: fmt.Sprintf("%s references kind %q, which is not an application", o, kind),
		Hint:    "use ClusterApp, or App for an application from a catalog of the workspace or project",
	}, "spec", "appRef", "kind")
}

// appReferences returns the references of AppDeployments to applications, both those for all clusters and those
// for some.
func appReferences(w *managementCluster) []platform.Reference {
	var out []platform.Reference
	for _, o := range w.Of(deployment) {
		kind := o.Text("spec", "appRef", "kind")
		namespace := o.Namespace
		if kind == clusterApp {
			namespace = ""
		} else if kind != app {
			continue
		}
		r := platform.Of(o, appsGroup, kind, namespace, "spec", "appRef", "name")
		if out = append(out, r); r.Name == "" {
			continue // no other reference: the AppDeployment keeps the application that is on the cluster
		}
		name, _ := platform.SplitApp(r.Name)
		for i := range o.List("spec", "clusterConfigOverrides") {
			one := platform.Of(o, appsGroup, kind, namespace, "spec", "clusterConfigOverrides", i, "appVersion")
			if one.Name = name + "-" + one.Name; one.Name != r.Name && one.Name != name+"-" {
				out = append(out, one)
			}
		}
	}
	return out
}

// versions is the set of the versions of an application that are in Git.
type versions map[string]bool

// addApps collects the applications that are in Git, as definitions or as objects.
func (w *managementCluster) addApps(p *rule.Pass) {
	w.apps = map[string]versions{}
	add := func(name, version string) {
		if w.apps[name] == nil {
			w.apps[name] = versions{}
		}
		w.apps[name][version] = true
	}
	for _, folder := range platform.DefinitionFolders() {
		names, _ := p.Repo.ReadDir(folder)
		for _, name := range names {
			found, _ := p.Repo.ReadDir(path.Join(folder, name))
			for _, version := range found {
				if _, built := p.Repo.KustomizeAt(path.Join(folder, name, version)); built {
					add(name, version)
				}
			}
		}
	}
	for _, kind := range []string{app, clusterApp} {
		for _, o := range w.Of(kind) {
			add(platform.SplitApp(o.Name))
		}
	}
}

// hasApp reports whether the definition of an application exists. doubt is the reason if that cannot be
// decided.
func (w *managementCluster) hasApp(r platform.Reference) (is bool, doubt string) {
	name, version := platform.SplitApp(r.Name)
	known, doubt := w.apps[name], w.Doubt(r)
	switch {
	case known[version]:
		return true, ""
	case doubt != "":
		return false, doubt
	case known == nil || r.Kind == app && !w.Holds(appsGroup, app):
		return false, "it may come from a catalog, or from Kommander itself"
	}
	return false, ""
}

// versionsOf returns a hint with the existing versions of an application.
func (w *managementCluster) versionsOf(r platform.Reference) string {
	name, _ := platform.SplitApp(r.Name)
	known := slices.Sorted(maps.Keys(w.apps[name]))
	const most = 10
	if len(known) > most {
		return fmt.Sprintf("existing versions: %s and %d more", strings.Join(known[:most], ", "), len(known)-most)
	}
	return "existing versions: " + strings.Join(known, ", ")
}
