package kommander

import (
	"fmt"
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// WorkspaceMissing is kommander-workspace-missing.
var WorkspaceMissing = rule.Rule{
	ID:       "kommander-workspace-missing",
	Title:    "a workspace, or a workspace namespace, that does not exist",
	Severity: finding.Error,
	Why: `A Project belongs to the Workspace that it names, and stands in that one's namespace. Where the workspace isn't
there, or the project stands elsewhere, Kommander makes neither the project's namespace nor its roles on any cluster.

Applications, roles and bindings stand in the namespace of a workspace or project. One that is a slip of the pen for such a
namespace is nobody's.

Known are the Workspaces in Git, and the two that Kommander makes: kommander-workspace with the namespace kommander, and
default-workspace with kommander-default-workspace. Where Git holds no Workspace, they are made by hand, and the question is
unresolved.`,
	Fix: `Reference an existing workspace, or move the project to its namespace.`,
	Run: func(p *rule.Pass) {
		for _, w := range worlds(p) {
			var references []platform.Reference
			for _, o := range w.Of(project) {
				r := platform.Of(o, workspacesGroup, workspace, "", "spec", "workspaceRef", "name")
				if references = append(references, r); r.Name != "" {
					w.standsIn(p, o, r.Name)
				}
			}
			there := func(r platform.Reference) (bool, string) {
				if builtIn[r.Name] != "" {
					return true, ""
				}
				return w.ofGit(r)
			}
			platform.Dangling{There: there, Consequence: "Kommander creates nothing for the project"}.Report(p, w.World, references)
			w.namespaces(p)
		}
	},
}

// namespaces reports what stands in a namespace whose name is a slip of the pen for that
// of a workspace or project.
func (w *world) namespaces(p *rule.Pass) {
	known := map[string]bool{}
	for _, o := range w.Of(workspace) {
		known[o.Text("spec", "namespaceName")] = true
	}
	for namespace := range w.projects {
		known[namespace] = true
	}
	for _, namespace := range builtIn {
		known[namespace] = true
	}
	names := slices.Sorted(maps.Keys(known))
	meant := map[string]string{}
	for _, o := range w.Own {
		if o.Namespace == "" || known[o.Namespace] || platform.Unknown(o.Namespace) || w.All[reconcile.Identity{Kind: "Namespace", Name: o.Namespace}] != nil {
			continue
		}
		if _, sought := meant[o.Namespace]; !sought {
			meant[o.Namespace] = w.Slip(o.Namespace, names)
		}
		if near := meant[o.Namespace]; near != "" {
			p.ReportBuilt(o, finding.Finding{
				Message: fmt.Sprintf("%s is in namespace %q, which belongs to no workspace or project", o, o.Namespace),
				Hint:    fmt.Sprintf("did you mean %q?", near),
			}, "metadata", "namespace")
		}
	}
}

// standsIn reports a project that doesn't stand in its workspace's namespace.
func (w *world) standsIn(p *rule.Pass, o *reconcile.Object, name string) {
	want := w.namespaceOf(name)
	if want == "" || o.Namespace == "" || want == o.Namespace || platform.Unknown(want+o.Namespace) {
		return
	}
	p.ReportBuilt(o, finding.Finding{
		Message: fmt.Sprintf("%s belongs to workspace %s, whose namespace is %q", o, name, want),
		Hint:    fmt.Sprintf("move it to namespace %s", want),
	}, "metadata", "namespace")
}

// GroupMissing is kommander-group-missing.
var GroupMissing = rule.Rule{
	ID:       "kommander-group-missing",
	Title:    "a role binding to a group that does not exist",
	Severity: finding.Error,
	Why: `A binding gives a role to a VirtualGroup, which says who of the identity provider's people are in it. Of a group that
isn't there nobody has the role.

Groups are also made in Kommander's interface. So a name is reported where it is a slip of the pen for a group in Git, and is
otherwise unresolved.`,
	Fix: `Correct the name, or add the VirtualGroup.`,
	Run: func(p *rule.Pass) {
		for _, w := range worlds(p) {
			var references []platform.Reference
			for _, o := range w.bindings() {
				references = append(references, platform.Of(o, coreGroup, group, "", "spec", "virtualGroupRef", "name"))
			}
			platform.Dangling{There: w.ofPeople, Consequence: "no user gets the role"}.Report(p, w.World, references)
		}
	},
}

// RoleMissing is kommander-role-missing.
var RoleMissing = rule.Rule{
	ID:       "kommander-role-missing",
	Title:    "a binding to a role that does not exist",
	Severity: finding.Error,
	Why: `A binding names a role: of its project or workspace, or a ClusterRole. Bound to one that isn't there the group may do
nothing. A WorkspaceRole that a project's binding names stands in the workspace's namespace.

Kommander makes roles itself in every workspace and project, which Git doesn't hold. So a name is reported where it is a
slip of the pen for a role in Git, or that of a role which stands in another namespace, and otherwise unresolved.`,
	Fix: `Correct the name, or add the role.`,
	Run: func(p *rule.Pass) {
		for _, w := range worlds(p) {
			platform.Dangling{There: w.ofPlatform, Consequence: "the group gets no permissions", Hint: w.elsewhere}.Report(p, w.World, roleReferences(w))
		}
	},
}

// roleReferences are the roles that bindings name.
func roleReferences(w *world) []platform.Reference {
	var out []platform.Reference
	add := func(o *reconcile.Object, kind, namespace, field string) {
		out = append(out, platform.Of(o, workspacesGroup, kind, namespace, "spec", field, "name"))
	}
	for _, o := range w.bindings() {
		switch o.Kind {
		case projectBinding:
			add(o, "ProjectRole", o.Namespace, "projectRoleRef")
			if of := w.projects[o.Namespace]; of != nil { // otherwise the namespace isn't known
				add(o, "WorkspaceRole", of.Namespace, "workspaceRoleRef")
			}
		case workspaceBinding:
			add(o, "WorkspaceRole", o.Namespace, "workspaceRoleRef")
		case kommanderProjectBinding:
			add(o, "KommanderProjectRole", o.Namespace, "kommanderProjectRoleRef")
		case kommanderWorkspaceBinding:
			add(o, "KommanderWorkspaceRole", o.Namespace, "kommanderWorkspaceRoleRef")
		}
	}
	return out
}

// BindingRole is kommander-binding-role.
var BindingRole = rule.Rule{
	ID:       "kommander-binding-role",
	Title:    "a project role binding with both kinds of roles, or with none",
	Severity: finding.Error,
	Why: `A VirtualGroupProjectRoleBinding gives one role: that of the project (projectRoleRef) or that of the workspace
(workspaceRoleRef). With both it isn't said which one the group has, and with none it has nothing.`,
	Fix: `Keep one of them, and create a second binding for the other.`,
	Run: func(p *rule.Pass) {
		for _, w := range worlds(p) {
			for _, o := range w.Of(projectBinding) {
				ofProject, ofWorkspace := o.Field("spec", "projectRoleRef") != nil, o.Field("spec", "workspaceRoleRef") != nil
				if ofProject != ofWorkspace || o.Field("spec") == nil {
					continue
				}
				message := fmt.Sprintf("%s grants no role", o)
				if ofProject {
					message = fmt.Sprintf("%s grants two roles", o)
				}
				p.ReportBuilt(o, finding.Finding{Message: message, Hint: "set either projectRoleRef or workspaceRoleRef"}, "spec")
			}
		}
	},
}
