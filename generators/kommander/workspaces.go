package kommander

import (
	"path"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/generators/step"
	"github.com/fleetwright/fleetwright/internal/layout"
)

// cluster writes the KommanderCluster of the management cluster with its domain. The object belongs to
// Kommander: Git has only these fields, and never deletes it.
func (g *generator) cluster() {
	if g.k.Ingress == nil {
		return
	}
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepCluster, After: []string{v1alpha1.KommanderStepIngress, v1alpha1.KommanderStepCore, v1alpha1.KommanderStepApplications},
		Files: map[string][]any{"kommandercluster.yaml": {newObject(clusters, "KommanderCluster", kept(metadata{Name: v1alpha1.KommanderHost, Namespace: namespace}), spec{
			"ingress": spec{"hostname": g.k.Ingress.Hostname, "certificateSecretRef": name(ingressTLS)},
		})}},
		Comments: map[string]string{"kommandercluster.yaml": "Kommander's own object of the management cluster; Git sets its ingress."},
	})
}

// groups writes Kommander's groups of users.
func (g *generator) groups() {
	var list []any
	for _, group := range emit.ByName(g.k.Groups, func(x v1alpha1.KommanderGroup) string { return x.Name }) {
		var subjects []any
		for _, m := range group.Members {
			subjects = append(subjects, spec{"apiGroup": "rbac.authorization.k8s.io", "kind": m.Kind, "name": m.Name})
		}
		list = append(list, newObject(clusters, "VirtualGroup", metadata{Name: group.Name}, spec{"subjects": subjects}))
	}
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepGroups, Stays: true, After: []string{v1alpha1.KommanderStepCore, v1alpha1.KommanderStepApplications},
		Files: map[string][]any{"groups.yaml": list},
	})
}

// namespaceThere returns a health check that waits until Kommander has created the namespace of a Workspace or
// Project (status.namespaceRef of both).
func namespaceThere(kind string) []kustomize.CustomHealthCheck {
	return []kustomize.CustomHealthCheck{{
		APIVersion: workspaces, Kind: kind,
		HealthCheckExpressions: kustomize.HealthCheckExpressions{Current: "has(status.namespaceRef) && has(status.namespaceRef.name)"},
	}}
}

// folder writes files of objects to a folder of the repository, and returns the folder; "" without objects.
func (g *generator) folder(dir string, files map[string][]any) string {
	var names []string
	for file, objects := range files {
		if len(objects) > 0 {
			g.out.Objects(path.Join(dir, file), "", objects...)
			names = append(names, file)
		}
	}
	if names == nil {
		return ""
	}
	g.out.Kustomization(dir, emit.Kustomization{Resources: emit.Sorted(names)})
	return dir
}

// workspaces writes two steps: the Workspaces, and the objects in the namespaces that Kommander creates for
// them.
func (g *generator) workspaces() {
	var own, content []string
	for _, w := range emit.ByName(g.k.Workspaces, func(w v1alpha1.KommanderWorkspace) string { return w.Name }) {
		dir := path.Join("workspaces", w.Name)
		if !w.Existing {
			s := spec{"namespaceName": w.Namespace}
			if len(w.ClusterLabels) > 0 {
				s["clusterLabels"] = w.ClusterLabels
			}
			own = append(own, g.folder(dir, map[string][]any{"workspace.yaml": {newObject(workspaces, "Workspace", metadata{Name: w.Name}, s)}}))
		}
		content = append(content, g.folder(path.Join(dir, "content"), g.workspaceContent(w)))
	}
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepWorkspaces, Stays: true, After: []string{v1alpha1.KommanderStepCore, v1alpha1.KommanderStepApplications}, Lists: own,
		Unit: layout.Unit{Wait: true, HealthCheckExprs: namespaceThere("Workspace")},
	})
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepWorkspaceContent, Stays: true, Lists: content,
		After: []string{v1alpha1.KommanderStepCore, v1alpha1.KommanderStepApplications, v1alpha1.KommanderStepWorkspaces},
	})
}

// workspaceContent returns the clusters, catalogs and applications of a workspace. Each has its own file, so
// that a change of one changes one file.
func (g *generator) workspaceContent(w v1alpha1.KommanderWorkspace) map[string][]any {
	files := map[string][]any{
		"applications/" + v1alpha1.KommanderFluxApp + ".yaml": {g.fluxDeployment(w.Namespace, nil)},
	}
	for _, c := range w.Clusters {
		files["clusters/"+c.Name+".yaml"] = []any{newObject(
			clusters, "KommanderCluster", metadata{Name: c.Name, Namespace: w.Namespace, Labels: c.Labels},
			spec{"kubeconfigRef": name(c.Kubeconfig)},
		)}
	}
	for _, c := range g.k.Catalogs {
		if c.Workspace == w.Name {
			files["catalogs/"+c.Name+".yaml"] = []any{g.catalog(c, w.Namespace)}
		}
	}
	for _, a := range w.Applications {
		files["applications/"+a.Name+".yaml"] = g.deployment(w.Namespace, a)
	}
	return files
}

// projects writes two steps, as workspaces does.
func (g *generator) projects() {
	var own, content []string
	for _, p := range emit.ByName(g.k.Projects, func(p v1alpha1.KommanderProject) string { return p.Name }) {
		dir := path.Join("projects", p.Name)
		own = append(own, g.folder(dir, map[string][]any{"project.yaml": {g.project(p)}}))
		if folder := g.folder(path.Join(dir, "content"), g.projectContent(p)); folder != "" {
			content = append(content, folder)
		}
	}
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepProjects, Stays: true, After: []string{v1alpha1.KommanderStepWorkspaces, v1alpha1.KommanderStepWorkspaceContent}, Lists: own,
		Unit: layout.Unit{Wait: true, HealthCheckExprs: namespaceThere("Project")},
	})
	g.Add(step.Step{Name: v1alpha1.KommanderStepProjectContent, Stays: true, After: []string{v1alpha1.KommanderStepProjects, v1alpha1.KommanderStepGroups}, Lists: content})
}

// project returns a Project, in the namespace of its workspace.
func (g *generator) project(p v1alpha1.KommanderProject) any {
	placement := spec{}
	if p.ClusterSelector != nil {
		placement["clusterSelector"] = p.ClusterSelector
	} else {
		var names []any
		for _, n := range p.Clusters {
			names = append(names, name(n))
		}
		placement["clusters"] = names
	}
	return newObject(workspaces, "Project", metadata{Name: p.Name, Namespace: g.k.Workspace(p.Workspace).Namespace}, spec{
		"workspaceRef": name(p.Workspace), "namespaceName": p.Namespace, "placement": placement,
	})
}

// projectContent returns the roles, bindings, sources and applications of a project.
func (g *generator) projectContent(p v1alpha1.KommanderProject) map[string][]any {
	files := map[string][]any{}
	in := func(n string) metadata { return metadata{Name: n, Namespace: p.Namespace} }
	for _, r := range emit.ByName(p.Roles, func(r v1alpha1.KommanderRole) string { return r.Name }) {
		files["roles.yaml"] = append(files["roles.yaml"], newObject(workspaces, "ProjectRole", in(r.Name), spec{"rules": r.Rules}))
	}
	for _, b := range emit.ByName(p.Bindings, func(b v1alpha1.KommanderBinding) string { return b.Name }) {
		s := spec{"virtualGroupRef": name(b.Group)}
		if b.ProjectRole != "" {
			s["projectRoleRef"] = name(b.ProjectRole)
		} else {
			s["workspaceRoleRef"] = name(b.WorkspaceRole)
		}
		files["bindings.yaml"] = append(files["bindings.yaml"], newObject(workspaces, "VirtualGroupProjectRoleBinding", in(b.Name), s))
	}
	for _, source := range p.Sources {
		template := spec{"ref": spec{"branch": source.Branch}}
		if source.Path != "" {
			template["path"] = source.Path
		}
		s := spec{"cloneUrl": source.URL, "template": template}
		if source.SecretRef != nil {
			s["secret"] = source.SecretRef.Name
		}
		files["sources/"+source.Name+".yaml"] = []any{newObject(dispatch, "GitopsRepository", in(source.Name), s)}
	}
	for _, a := range p.Applications {
		files["applications/"+a.Name+".yaml"] = g.deployment(p.Namespace, a)
	}
	return files
}
