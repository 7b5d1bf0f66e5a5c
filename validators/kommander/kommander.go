// Package kommander holds the rules about management repositories of Kommander (DKP,
// NKP): what its controllers would refuse, or pass over in silence. The platform makes
// applications, roles and namespaces of its own, which no repository holds: what may be
// one of those is unresolved.
package kommander

import (
	"cmp"
	"fmt"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
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

// The bindings of groups to roles.
const (
	projectBinding            = "VirtualGroupProjectRoleBinding"
	workspaceBinding          = "VirtualGroupWorkspaceRoleBinding"
	kommanderProjectBinding   = "VirtualGroupKommanderProjectRoleBinding"
	kommanderWorkspaceBinding = "VirtualGroupKommanderWorkspaceRoleBinding"
	kommanderClusterBinding   = "VirtualGroupKommanderClusterRoleBinding"
	clusterBinding            = "VirtualGroupClusterRoleBinding"
)

// builtIn are the workspaces that Kommander makes itself, with their namespaces.
var builtIn = v1alpha1.KommanderWorkspaces()

// hostCluster is the name of the management cluster among the attached ones.
const hostCluster = v1alpha1.KommanderHost

// world is what is applied to one management cluster.
type world struct {
	*platform.World
	// apps are the versions of applications that Git holds.
	apps map[string]versions
	// projects by their namespaces.
	projects map[string]*reconcile.Object
	// stands is a namespace in which an object of a kind and name stands.
	stands map[[2]string]string
	// overrides are the namespaces in which Git holds an override ConfigMap.
	overrides map[string]bool
	// attached are the names of the clusters in Git, nil until they are asked for.
	attached []string
	// labels are those of the clusters in Git, nil until they are asked for; steps
	// bound the work with them.
	labels []map[string]any
	steps  int
}

// worlds are the management clusters of a repository.
func worlds(p *rule.Pass) []*world {
	var out []*world
	for _, of := range platform.Worlds(p, appsGroup, workspacesGroup, coreGroup, schemas.KommanderDispatchGroup) {
		w := &world{World: of, projects: map[string]*reconcile.Object{}, overrides: map[string]bool{}, stands: map[[2]string]string{}}
		for _, o := range of.Own {
			w.stands[[2]string{o.Kind, o.Name}] = o.Namespace
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

// ofGit says of a kind whose objects people make, in Git or in Kommander's interface,
// that Git holds none, or that not all that it holds is known.
func (w *world) ofGit(r platform.Reference) (is bool, doubt string) {
	if doubt = w.Doubt(r); doubt == "" && !w.Holds(r.Group, r.Kind) {
		doubt = "Git has no " + r.Kind + " at all"
	}
	return false, doubt
}

// ofPeople says of a kind whose objects people make in Git and in Kommander's interface alike that
// a name may be one of the latter's unless it is a slip of the pen for one in Git.
func (w *world) ofPeople(r platform.Reference) (is bool, doubt string) {
	if is, doubt = w.ofGit(r); doubt == "" && w.Slip(r.Name, w.Names(r.Group, r.Kind, r.Namespace)) == "" {
		doubt = "Git has none with this name, but one may be created in Kommander's user interface"
	}
	return is, doubt
}

// ofPlatform says of a kind of which Kommander makes objects, too, that a name is one of
// those unless it is a slip of the pen for one in Git, or one's in another namespace.
func (w *world) ofPlatform(r platform.Reference) (is bool, doubt string) {
	if doubt = w.Doubt(r); doubt != "" {
		return false, doubt
	}
	if w.Slip(r.Name, w.Names(r.Group, r.Kind, r.Namespace)) != "" || w.elsewhere(r) != "" {
		return false, ""
	}
	return false, "Kommander creates objects of this kind itself"
}

// elsewhere says in which namespace an object stands that isn't where it is looked for.
func (w *world) elsewhere(r platform.Reference) string {
	if at := w.stands[[2]string{r.Kind, r.Name}]; at != "" {
		return fmt.Sprintf("it is in namespace %s", at)
	}
	return ""
}

// namespaceOf is a workspace's, "" where it isn't known.
func (w *world) namespaceOf(name string) string {
	if o := w.All[reconcile.Identity{Group: workspacesGroup, Kind: workspace, Name: name}]; o != nil {
		return o.Text("spec", "namespaceName")
	}
	return builtIn[name]
}

// bindings are the objects of all kinds of bindings.
func (w *world) bindings() []*reconcile.Object {
	var out []*reconcile.Object
	for _, kind := range []string{projectBinding, workspaceBinding, kommanderProjectBinding, kommanderWorkspaceBinding, kommanderClusterBinding, clusterBinding} {
		out = append(out, w.Of(kind)...)
	}
	return out
}
