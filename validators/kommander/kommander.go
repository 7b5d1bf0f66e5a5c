// Package kommander holds the rules about management repositories of Kommander (DKP, NKP): they find objects that its
// controllers would reject or silently ignore. The platform creates applications, roles and namespaces of its own, which
// are not in the repository. References that may be to one of these are unresolved.
package kommander

import (
	"cmp"
	"fmt"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/flux"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

const (
	appsGroup       = schemas.KommanderAppsGroup
	workspacesGroup = schemas.KommanderWorkspacesGroup
	coreGroup       = schemas.KommanderGroup

	deployment      = "AppDeployment"
	app             = "App"
	clusterApp      = "ClusterApp"
	workspace       = "Workspace"
	project         = "Project"
	group           = "VirtualGroup"
	attachedCluster = "KommanderCluster"
)

// The kinds of bindings of groups to roles.
const (
	projectBinding            = "VirtualGroupProjectRoleBinding"
	workspaceBinding          = "VirtualGroupWorkspaceRoleBinding"
	kommanderProjectBinding   = "VirtualGroupKommanderProjectRoleBinding"
	kommanderWorkspaceBinding = "VirtualGroupKommanderWorkspaceRoleBinding"
	kommanderClusterBinding   = "VirtualGroupKommanderClusterRoleBinding"
	clusterBinding            = "VirtualGroupClusterRoleBinding"
)

// builtIn are the workspaces that Kommander itself creates, with their namespaces.
var builtIn = v1alpha1.KommanderWorkspaces()

// hostCluster is the name under which the management cluster is attached.
const hostCluster = v1alpha1.KommanderHost

// managementCluster holds the objects that are applied to one management cluster.
type managementCluster struct {
	*platform.ManagementCluster
	// apps are the versions of the applications in Git, by application.
	apps map[string]versions
	// projects are the projects by namespace.
	projects map[string]*reconcile.Object
	// namespaceByName maps the kind and name of an object to a namespace that has such an object.
	namespaceByName map[[2]string]string
	// overrides are the namespaces that have an override ConfigMap in Git.
	overrides map[string]bool
	// attached are the names of the clusters in Git, computed at the first use.
	attached []string
	// labels are the labels of each cluster in Git, computed at the first use. steps counts the comparisons
	// with them, up to a limit.
	labels []map[string]any
	steps  int
}

// managementClusters returns the management clusters of a repository.
func managementClusters(p *rule.Pass) []*managementCluster {
	var out []*managementCluster
	for _, of := range platform.ManagementClusters(p, flux.Doubts, appsGroup, workspacesGroup, coreGroup, schemas.KommanderDispatchGroup) {
		w := &managementCluster{ManagementCluster: of, projects: map[string]*reconcile.Object{}, overrides: map[string]bool{}, namespaceByName: map[[2]string]string{}}
		for _, o := range of.Own {
			w.namespaceByName[[2]string{o.Kind, o.Name}] = o.Namespace
		}
		for _, o := range of.Of(project) {
			w.projects[cmp.Or(o.Text("spec", "namespaceName"), o.Name)] = o
		}
		for _, r := range overrideReferences(w) {
			w.overrides[r.Namespace] = w.overrides[r.Namespace] || w.Has(r)
		}
		out = append(out, w)
	}
	return out
}

// ofGit returns the doubt about an object of a kind that users create in Git or in Kommander's user interface: Git has no
// object of the kind, or not all objects in Git are known. is is always false.
func (w *managementCluster) ofGit(r platform.Reference) (is bool, doubt string) {
	if doubt = w.Doubt(r); doubt == "" && !w.Holds(r.Group, r.Kind) {
		doubt = "Git has no " + r.Kind + " at all"
	}
	return false, doubt
}

// ofPeople returns the doubt about an object of a kind that users create both in Git and in Kommander's user
// interface. An object may exist although it is not in Git, unless its name is a typo of one in Git.
func (w *managementCluster) ofPeople(r platform.Reference) (is bool, doubt string) {
	if is, doubt = w.ofGit(r); doubt == "" && w.TypoOf(r.Name, w.Names(r.Group, r.Kind, r.Namespace)) == "" {
		doubt = "Git has no object with this name, but a user may create it in Kommander's user interface"
	}
	return is, doubt
}

// ofPlatform returns the doubt about an object of a kind that Kommander creates, too. An object may exist
// although it is not in Git, unless its name is a typo of one in Git, or it exists in another namespace.
func (w *managementCluster) ofPlatform(r platform.Reference) (is bool, doubt string) {
	if doubt = w.Doubt(r); doubt != "" {
		return false, doubt
	}
	if w.TypoOf(r.Name, w.Names(r.Group, r.Kind, r.Namespace)) != "" || w.elsewhere(r) != "" {
		return false, ""
	}
	return false, "Kommander creates objects of this kind itself"
}

// elsewhere returns a hint with the namespace of an object that is in another namespace than expected, "" if
// there is none.
func (w *managementCluster) elsewhere(r platform.Reference) string {
	if at := w.namespaceByName[[2]string{r.Kind, r.Name}]; at != "" {
		return fmt.Sprintf("it is in namespace %s", at)
	}
	return ""
}

// namespaceOf returns the namespace of a workspace, "" if it is unknown.
func (w *managementCluster) namespaceOf(name string) string {
	if o := w.All[reconcile.Identity{Group: workspacesGroup, Kind: workspace, Name: name}]; o != nil {
		return o.Text("spec", "namespaceName")
	}
	return builtIn[name]
}

// bindings returns the objects of all kinds of bindings.
func (w *managementCluster) bindings() []*reconcile.Object {
	var out []*reconcile.Object
	for _, kind := range []string{projectBinding, workspaceBinding, kommanderProjectBinding, kommanderWorkspaceBinding, kommanderClusterBinding, clusterBinding} {
		out = append(out, w.Of(kind)...)
	}
	return out
}
