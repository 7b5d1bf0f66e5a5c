package v1alpha1

import (
	"maps"
	"slices"
)

// catalogs checks where they are, and who gets them.
func (c *kommanderChecker) catalogs() {
	p := at("spec", "catalogs")
	catalogs := c.of.Spec.Catalogs
	c.unique(p, "catalog", gather(catalogs, func(x KommanderCatalog) string { return x.Workspace + "/" + x.Name }))
	for i, catalog := range catalogs {
		p := p.item(i)
		c.url(c.of, p.child("url"), catalog.URL)
		c.branch(c.of, p.child("branch"), catalog.Branch)
		if catalog.Branch != "" && catalog.Tag != "" {
			c.fail(c.of, p.child("tag"), "keep one of them", "the catalog has a branch and a tag")
		}
		if catalog.Workspace != "" {
			c.workspace(p.child("workspace"), catalog.Workspace)
			if catalog.DefaultFor != nil {
				c.fail(c.of, p.child("defaultFor"), "take out workspace, or defaultFor", "the catalog is for a workspace, and by defaultFor for everybody")
			}
		}
	}
}

// workspace checks a reference to a workspace, and returns it.
func (c *kommanderChecker) workspace(p *fieldPath, name string) *KommanderWorkspace {
	w := c.of.Spec.Workspace(name)
	if w == nil {
		names := gather(c.of.Spec.Workspaces, func(w KommanderWorkspace) string { return w.Name })
		c.named(p, declared{what: "workspace", list: "spec.workspaces", names: names}, name)
	}
	return w
}

// workspaces checks their namespaces, clusters and applications.
func (c *kommanderChecker) workspaces() {
	p := at("spec", "workspaces")
	list := c.of.Spec.Workspaces
	c.unique(p, "workspace", gather(list, func(w KommanderWorkspace) string { return w.Name }))
	c.uniqueBeside(p, "namespace", gather(list, func(w KommanderWorkspace) string { return w.Namespace }), gather(list, func(w KommanderWorkspace) string { return w.Name }))
	attached := map[string]*fieldPath{}
	for i, w := range list {
		p := p.item(i)
		c.ownNamespace(p, w.Name, w.Namespace)
		c.labels(c.of, p.child("clusterLabels"), w.ClusterLabels)
		var clusters []string // nil while none is declared: others attach them
		for j, cluster := range w.Clusters {
			p := p.child("clusters").item(j)
			if first := attached[cluster.Name]; first != nil {
				c.fail(c.of, p.child("name"), "the first stands at "+c.objects[c.product].placeOf(first)+"; attach it to one workspace", "cluster %s is attached twice", quote(cluster.Name))
			} else {
				attached[cluster.Name] = p.child("name")
			}
			clusters = append(clusters, cluster.Name)
			c.labels(c.of, p.child("labels"), cluster.Labels)
			if cluster.Name == KommanderHost {
				c.fail(c.of, p.child("name"), "take it out: its applications are spec.applications", "%s is the management cluster, which Kommander attaches itself", quote(cluster.Name))
			}
		}
		c.applications(p.child("applications"), w.Applications, kommanderPlace{w.Namespace, w.Name, clusters, false})
	}
}

// KommanderWorkspaces are the workspaces that Kommander makes itself, with their
// namespaces.
func KommanderWorkspaces() map[string]string {
	return map[string]string{kommanderOwnWorkspace: KommanderNamespace, "default-workspace": "kommander-default-workspace"}
}

// kommanderOwnWorkspace is the workspace of the management cluster.
const kommanderOwnWorkspace = "kommander-workspace"

// ownNamespace refuses the namespaces of the cluster and of Kommander itself to a
// workspace, or to a project, whose name is "" here.
func (c *kommanderChecker) ownNamespace(p *fieldPath, workspace, namespace string) {
	p = p.child("namespace")
	switch {
	case slices.Contains([]string{KommanderNamespace, KommanderFluxNamespace, FluxNamespace}, namespace):
		c.fail(c.of, p, "choose another namespace; the management cluster's applications are spec.applications", "namespace %s is the platform's own", quote(namespace))
	case slices.Contains(reservedNamespaces, namespace):
		c.fail(c.of, p, "choose another namespace", "namespace %s belongs to the cluster", quote(namespace))
	}
	for _, name := range slices.Sorted(maps.Keys(KommanderWorkspaces())) {
		if name != workspace && c.of.Spec.Workspace(name) == nil && KommanderWorkspaces()[name] == namespace && namespace != KommanderNamespace {
			c.fail(c.of, p, "choose another namespace", "namespace %s is that of %s, which Kommander makes", quote(namespace), name)
		}
	}
}

// projects checks where they are, and what their bindings bind.
func (c *kommanderChecker) projects() {
	p := at("spec", "projects")
	list := c.of.Spec.Projects
	c.unique(p, "project", gather(list, func(x KommanderProject) string { return x.Name }))
	c.uniqueBeside(p, "namespace", gather(list, func(x KommanderProject) string { return x.Namespace }), gather(list, func(x KommanderProject) string { return x.Name }))
	namespaces := gather(c.of.Spec.Workspaces, func(w KommanderWorkspace) string { return w.Namespace })
	for i, project := range list {
		p := p.item(i)
		c.ownNamespace(p, "", project.Namespace)
		if slices.Contains(namespaces, project.Namespace) {
			c.fail(c.of, p.child("namespace"), "choose another namespace", "namespace %s is a workspace's", quote(project.Namespace))
		}
		w := c.workspace(p.child("workspace"), project.Workspace)
		c.placement(p, project, w)
		c.bindings(p, project)
		c.unique(p.child("sources"), "source", gather(project.Sources, func(s KommanderSource) string { return s.Name }))
		for j, source := range project.Sources {
			c.url(c.of, p.child("sources").item(j).child("url"), source.URL)
			c.branch(c.of, p.child("sources").item(j).child("branch"), source.Branch)
		}
		c.applications(p.child("applications"), project.Applications, kommanderPlace{project.Namespace, project.Workspace, project.Clusters, project.Clusters == nil})
	}
}

// placement checks that a project is on clusters of its workspace, in one way.
func (c *kommanderChecker) placement(p *fieldPath, project KommanderProject, w *KommanderWorkspace) {
	if (project.Clusters == nil) == (project.ClusterSelector == nil) && c.whole(c.of) {
		c.fail(c.of, p, "write exactly one of clusters and clusterSelector", "project %s has to say which clusters it is on, in one way", quote(project.Name))
	}
	if w == nil || len(w.Clusters) == 0 {
		return // others attach them
	}
	c.names(p.child("clusters"), declared{what: "cluster", list: "spec.workspaces", otherwise: "attach it in clusters of the workspace", names: gather(w.Clusters, func(a KommanderAttached) string { return a.Name })}, project.Clusters)
	selected := func(a KommanderAttached) bool {
		labels := map[string]string{}
		for key, value := range w.ClusterLabels {
			labels[key] = value
		}
		for key, value := range a.Labels {
			labels[key] = value
		}
		return project.ClusterSelector.Matches(labels)
	}
	if project.ClusterSelector != nil && !slices.ContainsFunc(w.Clusters, selected) {
		c.fail(c.of, p.child("clusterSelector"), "change the selector, or clusterLabels and labels of the workspace's clusters", "no cluster of workspace %s has the labels", quote(w.Name))
	}
}

// groups are the names of the groups.
func (c *kommanderChecker) groups() []string {
	return gather(c.of.Spec.Groups, func(g KommanderGroup) string { return g.Name })
}

// bindings checks that each binds a group that is there to exactly one role that is.
func (c *kommanderChecker) bindings(p *fieldPath, project KommanderProject) {
	roles := gather(project.Roles, func(r KommanderRole) string { return r.Name })
	c.unique(p.child("roles"), "role", roles)
	c.unique(p.child("bindings"), "binding", gather(project.Bindings, func(b KommanderBinding) string { return b.Name }))
	for i, b := range project.Bindings {
		p := p.child("bindings").item(i)
		if (b.ProjectRole == "") == (b.WorkspaceRole == "") && c.whole(c.of) {
			c.fail(c.of, p, "write exactly one of projectRole and workspaceRole: Kommander's webhook refuses anything else", "binding %s has to name one role", quote(b.Name))
		}
		if groups := c.groups(); len(groups) > 0 {
			c.named(p.child("group"), declared{what: "group", list: "spec.groups", names: groups}, b.Group)
		}
		c.named(p.child("projectRole"), declared{what: "role", list: "spec.projects", otherwise: "add it to the roles of the project", names: roles}, b.ProjectRole)
	}
}
