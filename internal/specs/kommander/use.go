package kommander

import (
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/specs/check"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// catalogs checks the URLs, branches and workspaces of catalogs.
func (c *checker) catalogs() {
	p := strict.At("spec", "catalogs")
	catalogs := c.of.Spec.Catalogs
	c.Unique(p, "catalog", check.Gather(catalogs, func(x v1alpha1.KommanderCatalog) string { return x.Workspace + "/" + x.Name }))
	for i, catalog := range catalogs {
		p := p.Item(i)
		c.URL(c.of, p.Child("url"), catalog.URL)
		c.GitKey(c.of, p, catalog.URL, catalog.SecretRef)
		c.Branch(c.of, p.Child("branch"), catalog.Branch)
		if catalog.Branch != "" && catalog.Tag != "" {
			c.Fail(c.of, p.Child("tag"), "keep one of them", "the catalog has both a branch and a tag")
		}
		if catalog.Workspace != "" {
			c.workspace(p.Child("workspace"), catalog.Workspace)
			if catalog.DefaultFor != nil {
				c.Fail(c.of, p.Child("defaultFor"), "remove either workspace or defaultFor", "the catalog has both workspace and defaultFor")
			}
		}
	}
}

// workspace checks a reference to a workspace, and returns it.
func (c *checker) workspace(p *strict.Path, name string) *v1alpha1.KommanderWorkspace {
	w := c.of.Spec.Workspace(name)
	if w == nil {
		names := check.Gather(c.of.Spec.Workspaces, func(w v1alpha1.KommanderWorkspace) string { return w.Name })
		c.Named(p, check.Declared{What: "workspace", List: "spec.workspaces", Names: names}, name)
	}
	return w
}

// workspaces checks the namespaces, clusters and applications of workspaces.
func (c *checker) workspaces() {
	p := strict.At("spec", "workspaces")
	list := c.of.Spec.Workspaces
	c.Unique(p, "workspace", check.Gather(list, func(w v1alpha1.KommanderWorkspace) string { return w.Name }))
	c.UniqueBeside(p, "namespace", check.Gather(list, func(w v1alpha1.KommanderWorkspace) string { return w.Namespace }), check.Gather(list, func(w v1alpha1.KommanderWorkspace) string { return w.Name }))
	attached := map[string]*strict.Path{}
	for i, w := range list {
		p := p.Item(i)
		c.ownNamespace(p, w.Name, w.Namespace)
		c.Labels(c.of, p.Child("clusterLabels"), w.ClusterLabels)
		var clusters []string // nil if none is declared: clusters are attached elsewhere
		for j, cluster := range w.Clusters {
			p := p.Child("clusters").Item(j)
			if first := attached[cluster.Name]; first != nil {
				c.Fail(c.of, p.Child("name"), "the first one is at "+c.Objects[c.of].PlaceOf(first)+"; attach it to one workspace", "cluster %s is attached twice", strict.Quote(cluster.Name))
			} else {
				attached[cluster.Name] = p.Child("name")
			}
			clusters = append(clusters, cluster.Name)
			c.Labels(c.of, p.Child("labels"), cluster.Labels)
			if cluster.Name == v1alpha1.KommanderHost {
				c.Fail(c.of, p.Child("name"), "remove it: its applications are in spec.applications", "%s is the management cluster, which Kommander attaches automatically", strict.Quote(cluster.Name))
			}
		}
		c.applications(p.Child("applications"), w.Applications, place{w.Namespace, w.Name, clusters, false})
	}
}

// ownNamespace reports a workspace, or a project (then workspace is ""), in a namespace of the cluster or of
// Kommander itself.
func (c *checker) ownNamespace(p *strict.Path, workspace, namespace string) {
	p = p.Child("namespace")
	switch {
	case slices.Contains([]string{v1alpha1.KommanderNamespace, v1alpha1.KommanderFluxNamespace, v1alpha1.FluxNamespace}, namespace):
		c.Fail(c.of, p, "choose another namespace; the management cluster's applications are in spec.applications", "namespace %s is the platform's own", strict.Quote(namespace))
	case slices.Contains(check.ReservedNamespaces, namespace):
		c.Fail(c.of, p, "choose another namespace", "namespace %s is reserved for Kubernetes or Flux", strict.Quote(namespace))
	}
	for _, name := range slices.Sorted(maps.Keys(v1alpha1.KommanderWorkspaces())) {
		if name != workspace && c.of.Spec.Workspace(name) == nil && v1alpha1.KommanderWorkspaces()[name] == namespace && namespace != v1alpha1.KommanderNamespace {
			c.Fail(c.of, p, "choose another namespace", "namespace %s belongs to %s, which Kommander creates", strict.Quote(namespace), name)
		}
	}
}

// projects checks the workspaces and namespaces of projects, and their bindings.
func (c *checker) projects() {
	p := strict.At("spec", "projects")
	list := c.of.Spec.Projects
	c.Unique(p, "project", check.Gather(list, func(x v1alpha1.KommanderProject) string { return x.Name }))
	c.UniqueBeside(p, "namespace", check.Gather(list, func(x v1alpha1.KommanderProject) string { return x.Namespace }), check.Gather(list, func(x v1alpha1.KommanderProject) string { return x.Name }))
	namespaces := check.Gather(c.of.Spec.Workspaces, func(w v1alpha1.KommanderWorkspace) string { return w.Namespace })
	for i, project := range list {
		p := p.Item(i)
		c.ownNamespace(p, "", project.Namespace)
		if slices.Contains(namespaces, project.Namespace) {
			c.Fail(c.of, p.Child("namespace"), "choose another namespace", "namespace %s belongs to a workspace", strict.Quote(project.Namespace))
		}
		w := c.workspace(p.Child("workspace"), project.Workspace)
		c.placement(p, project, w)
		c.bindings(p, project)
		c.Unique(p.Child("sources"), "source", check.Gather(project.Sources, func(s v1alpha1.KommanderSource) string { return s.Name }))
		for j, source := range project.Sources {
			c.URL(c.of, p.Child("sources").Item(j).Child("url"), source.URL)
			c.GitKey(c.of, p.Child("sources").Item(j), source.URL, source.SecretRef)
			c.Branch(c.of, p.Child("sources").Item(j).Child("branch"), source.Branch)
		}
		c.applications(p.Child("applications"), project.Applications, place{project.Namespace, project.Workspace, project.Clusters, project.Clusters == nil})
	}
}

// placement checks that a project selects clusters of its workspace in exactly one way.
func (c *checker) placement(p *strict.Path, project v1alpha1.KommanderProject, w *v1alpha1.KommanderWorkspace) {
	if (project.Clusters == nil) == (project.ClusterSelector == nil) && c.Whole(c.of) {
		c.Fail(c.of, p, "write exactly one of clusters and clusterSelector", "project %s needs exactly one of clusters and clusterSelector", strict.Quote(project.Name))
	}
	if w == nil || len(w.Clusters) == 0 {
		return // clusters are attached elsewhere
	}
	c.Names(p.Child("clusters"), check.Declared{What: "cluster", List: "spec.workspaces", Otherwise: "attach it in the workspace's clusters", Names: check.Gather(w.Clusters, func(a v1alpha1.KommanderAttached) string { return a.Name })}, project.Clusters)
	selected := func(a v1alpha1.KommanderAttached) bool {
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
		c.Fail(c.of, p.Child("clusterSelector"), "change the selector, or clusterLabels and labels of the workspace's clusters", "no cluster of workspace %s has these labels", strict.Quote(w.Name))
	}
}

// groups returns the names of the groups.
func (c *checker) groups() []string {
	return check.Gather(c.of.Spec.Groups, func(g v1alpha1.KommanderGroup) string { return g.Name })
}

// bindings checks that each binding binds an existing group to exactly one existing role.
func (c *checker) bindings(p *strict.Path, project v1alpha1.KommanderProject) {
	roles := check.Gather(project.Roles, func(r v1alpha1.KommanderRole) string { return r.Name })
	c.Unique(p.Child("roles"), "role", roles)
	c.Unique(p.Child("bindings"), "binding", check.Gather(project.Bindings, func(b v1alpha1.KommanderBinding) string { return b.Name }))
	for i, b := range project.Bindings {
		p := p.Child("bindings").Item(i)
		if (b.ProjectRole == "") == (b.WorkspaceRole == "") && c.Whole(c.of) {
			c.Fail(c.of, p, "write exactly one of projectRole and workspaceRole: Kommander's webhook refuses anything else", "binding %s needs exactly one role", strict.Quote(b.Name))
		}
		if groups := c.groups(); len(groups) > 0 {
			c.Named(p.Child("group"), check.Declared{What: "group", List: "spec.groups", Names: groups}, b.Group)
		}
		c.Named(p.Child("projectRole"), check.Declared{What: "role", List: "spec.projects", Otherwise: "add it to the roles of the project", Names: roles}, b.ProjectRole)
	}
}
