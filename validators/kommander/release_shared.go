package kommander

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ReleaseShared is kommander-release-shared.
var ReleaseShared = rule.Rule{
	ID:       "kommander-release-shared",
	Title:    "two AppDeployments that install the same application on the same clusters",
	Severity: finding.Error,
	Why: `The definition of an application names the HelmRelease that an AppDeployment installs. In nearly all definitions
the name is fixed, whatever the AppDeployment is called. Two AppDeployments of the same application in one
namespace therefore write the same HelmRelease on every cluster that both select: versions and values alternate,
and when one of them is removed, it removes the release of the other.

A definition that names its HelmRelease with the variable releaseName can be installed twice. If the definition
is not in Git, or if it cannot be decided whether the two select a common cluster, the finding is unresolved.`,
	Fix: `Keep one of them and use clusterConfigOverrides for the clusters that differ, or let each select different
clusters.`,
	Run: func(p *rule.Pass) {
		var fixed map[string]bool
		for _, w := range managementClusters(p) {
			groups := map[[3]string]*deployments{}
			for _, o := range w.Of(deployment) {
				name, kind := o.Text("spec", "appRef", "name"), o.Text("spec", "appRef", "kind")
				application, version := platform.SplitApp(name)
				if version == "" || platform.Unknown(name+kind+o.Namespace+o.Name) {
					continue
				}
				key := [3]string{o.Namespace, kind, application}
				if groups[key] == nil {
					groups[key] = &deployments{on: map[any]*reconcile.Object{}}
				}
				other, sure := groups[key].add(o)
				if other == nil {
					continue
				}
				if fixed == nil {
					fixed = fixedNames(p)
				}
				checkShared(p, o, other, application, sure, fixed)
			}
		}
	},
}

// deployments are the AppDeployments of one application in a namespace that were added so far: the first one,
// the first one for all clusters, the first one for each named cluster, and the first one with an unclear
// selector.
type deployments struct {
	first, all, unclear *reconcile.Object
	on                  map[any]*reconcile.Object
}

// add adds an AppDeployment. It returns an earlier one for the same clusters, nil if there is none. sure
// reports whether both certainly select a common cluster.
func (d *deployments) add(o *reconcile.Object) (other *reconcile.Object, sure bool) {
	selector := o.Field("spec", "clusterSelector")
	names, some := clusterNames(selector)
	switch {
	case platform.IsEmpty(selector):
		other, sure = d.first, d.first != nil
		d.all = cmp.Or(d.all, o)
	case some:
		other, sure = d.all, d.all != nil
		for _, name := range names {
			if d.on[name] != nil && other == nil {
				other, sure = d.on[name], true
			}
			d.on[name] = cmp.Or(d.on[name], o)
		}
		other = cmp.Or(other, d.unclear)
	default:
		other, sure = cmp.Or(d.all, d.first), d.all != nil
		d.unclear = cmp.Or(d.unclear, o)
	}
	d.first = cmp.Or(d.first, o)
	if other != nil && other.Name == o.Name {
		return nil, false // one object that is applied twice
	}
	return other, sure
}

// checkShared reports an AppDeployment of an application that another one installs already.
func checkShared(p *rule.Pass, o, other *reconcile.Object, application string, sure bool, fixed map[string]bool) {
	at := []any{"spec", "appRef", "name"}
	named, known := fixed[application]
	doubt := ""
	switch {
	case known && !named:
		return
	case !known:
		doubt = "the definition of " + application + " is not in Git, and may name its HelmRelease with a variable"
	case !sure:
		doubt = "their selectors may or may not select the same clusters"
	}
	if doubt != "" {
		p.UnresolvedFor(o.Position(at...), fmt.Sprintf("whether %s and %s write the same HelmRelease", o, other), doubt)
		return
	}
	p.ReportBuilt(o, finding.Finding{
		Message: fmt.Sprintf("%s installs %s on the same cluster as %s at %s:%d: both write the same HelmRelease", o, application, other, other.File, other.Line),
		Hint:    "select different clusters in each, or keep one and set clusterConfigOverrides",
	}, at...)
}

// fixedNames reports, for each application with a definition in Git, whether one of its HelmReleases has a name
// without variables.
func fixedNames(p *rule.Pass) map[string]bool {
	fixed := map[string]bool{}
	for _, folder := range platform.DefinitionFolders() {
		names, _ := p.Repo.ReadDir(folder)
		for _, name := range names {
			if _, isFolder := p.Repo.ReadDir(path.Join(folder, name)); isFolder {
				fixed[name] = false
			}
		}
	}
	for _, hr := range p.Repo.ByKind(fluxapi.HelmGroup, "HelmRelease") {
		parts := strings.Split(hr.Document.File.Path, "/")
		if len(parts) > 3 && slices.Contains(platform.DefinitionFolders(), parts[0]) && hr.Name != "" && !platform.Unknown(hr.Name) {
			fixed[parts[1]] = true
		}
	}
	return fixed
}
