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
	Why: `A Project belongs to the Workspace that it references, and must be in that workspace's namespace. If the
workspace does not exist, or the project is in another namespace, Kommander creates neither the project's
namespace nor its roles on any cluster.

Applications, roles and bindings are in the namespace of a workspace or project. If their namespace is a typo of
such a namespace, they belong to no workspace or project.

The rule knows the Workspaces in Git, and the two that Kommander creates: kommander-workspace with the namespace
kommander, and default-workspace with kommander-default-workspace. If Git has no Workspace, they are created by
hand, and the reference is unresolved.`,
	Fix: `Reference an existing workspace, or move the project to its namespace.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			var references []platform.Reference
			for _, o := range w.Of(project) {
				r := platform.Of(o, workspacesGroup, workspace, "", "spec", "workspaceRef", "name")
				if references = append(references, r); r.Name != "" {
					w.checkNamespace(p, o, r.Name)
				}
			}
			there := func(r platform.Reference) (bool, string) {
				if builtIn[r.Name] != "" {
					return true, ""
				}
				return w.ofGit(r)
			}
			platform.Dangling{There: there, Consequence: "Kommander creates nothing for the project"}.Report(p, w.ManagementCluster, references)
			w.namespaces(p)
		}
	},
}

// namespaces reports objects in a namespace whose name is a typo of the namespace of a workspace or project.
func (w *managementCluster) namespaces(p *rule.Pass) {
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
	typos := map[string]string{}
	for _, o := range w.Own {
		if o.Namespace == "" || known[o.Namespace] || platform.Unknown(o.Namespace) || w.All[reconcile.Identity{Kind: "Namespace", Name: o.Namespace}] != nil {
			continue
		}
		if _, sought := typos[o.Namespace]; !sought {
			typos[o.Namespace] = w.TypoOf(o.Namespace, names)
		}
		if near := typos[o.Namespace]; near != "" {
			p.ReportBuilt(o, finding.Finding{
				Message: fmt.Sprintf("%s is in namespace %q, which belongs to no workspace or project", o, o.Namespace),
				Hint:    fmt.Sprintf("did you mean %q?", near),
			}, "metadata", "namespace")
		}
	}
}

// checkNamespace reports a project that is not in the namespace of its workspace.
func (w *managementCluster) checkNamespace(p *rule.Pass, o *reconcile.Object, name string) {
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
	Why: `A binding grants a role to a VirtualGroup, which selects users of the identity provider. If the group does not
exist, no user gets the role.

Groups can also be created in Kommander's user interface. Therefore a name is reported only if it is a typo of a
group in Git, and is unresolved otherwise.`,
	Fix: `Correct the name, or add the VirtualGroup.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			var references []platform.Reference
			for _, o := range w.bindings() {
				references = append(references, platform.Of(o, coreGroup, group, "", "spec", "virtualGroupRef", "name"))
			}
			platform.Dangling{There: w.ofPeople, Consequence: "no user gets the role"}.Report(p, w.ManagementCluster, references)
		}
	},
}

// RoleMissing is kommander-role-missing.
var RoleMissing = rule.Rule{
	ID:       "kommander-role-missing",
	Title:    "a binding to a role that does not exist",
	Severity: finding.Error,
	Why: `A binding references a role of its project or workspace, or a ClusterRole. If the role does not exist, the group
gets no permissions. A WorkspaceRole that a project's binding references must be in the workspace's namespace.

Kommander itself creates roles in every workspace and project, which are not in Git. Therefore a name is
reported only if it is a typo of a role in Git, or the name of a role in another namespace, and is unresolved
otherwise.`,
	Fix: `Correct the name, or add the role.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			platform.Dangling{There: w.ofPlatform, Consequence: "the group gets no permissions", Hint: w.elsewhere}.Report(p, w.ManagementCluster, roleReferences(w))
		}
	},
}

// roleReferences returns the references of bindings to roles.
func roleReferences(w *managementCluster) []platform.Reference {
	var out []platform.Reference
	add := func(o *reconcile.Object, kind, namespace, field string) {
		out = append(out, platform.Of(o, workspacesGroup, kind, namespace, "spec", field, "name"))
	}
	for _, o := range w.bindings() {
		switch o.Kind {
		case projectBinding:
			add(o, "ProjectRole", o.Namespace, "projectRoleRef")
			if of := w.projects[o.Namespace]; of != nil { // otherwise the namespace is unknown
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
	Why: `A VirtualGroupProjectRoleBinding grants one role: of the project (projectRoleRef) or of the workspace
(workspaceRoleRef). With both, it is undefined which role the group gets; with none, it gets no role.`,
	Fix: `Keep one of them, and create a second binding for the other.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
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
