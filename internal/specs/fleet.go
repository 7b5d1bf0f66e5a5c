package specs

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/specs/check"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// exactVersion matches a Flux version that is a single release.
var exactVersion = regexp.MustCompile(`^v?[0-9]+\.[0-9]+\.[0-9]+$`)

func (c *specChecker) fleet() {
	f := c.Spec.Fleet
	if f == nil {
		if !c.Incomplete {
			c.lacks(v1alpha1.KindFleet, "add one, here or in another file: apiVersion: "+v1alpha1.APIVersion+", kind: Fleet, metadata: {name: fleet}, spec: {repository: {url: …}}; fleetwright init writes one")
		}
		return
	}
	c.URL(f, strict.At("spec", "repository", "url"), f.Spec.Repository.URL)
	c.Branch(f, strict.At("spec", "repository", "branch"), f.Spec.Repository.Branch)
	c.operatorOnly(f)
	flux := f.Spec.Flux
	if flux.Install == v1alpha1.InstallOperator && c.Spec.Products == nil { // flux bootstrap creates its own key, and products have their own sources
		c.GitKey(f, strict.At("spec", "repository"), f.Spec.Repository.URL, f.Spec.Repository.SecretRef)
	}
	if flux.Install == v1alpha1.InstallBootstrap && !exactVersion.MatchString(flux.Version) && c.Whole(f) {
		c.Fail(f, strict.At("spec", "flux", "version"), "write an exact version such as "+v1alpha1.DefaultBootstrapVersion+"; a range needs install: operator",
			"spec.flux.version is %s, but install: bootstrap needs an exact version", strict.Quote(flux.Version))
	}
	needed := []string{"source-controller", "kustomize-controller"}
	if slices.ContainsFunc(c.Spec.Addons, func(a *v1alpha1.Addon) bool { return a.Spec.Chart != nil }) {
		needed = append(needed, "helm-controller")
	}
	for _, name := range needed {
		if c.Whole(f) && !slices.Contains(flux.Components, name) {
			c.Fail(f, strict.At("spec", "flux", "components"), "add "+name, "spec.flux.components does not contain %s, which the generated objects need", name)
		}
	}
	if f.Spec.Layout == v1alpha1.LayoutApps && len(c.Spec.Clusters) > 1 {
		c.Fail(f, strict.At("spec", "layout"), "write layout: fleet, which supports several clusters", "layout apps supports exactly one cluster, but the specification has %d", len(c.Spec.Clusters))
	}
}

// lacks reports, at the first object, that a specification has no object of a kind.
func (c *specChecker) lacks(kind, hint string) {
	first := c.all[0]
	c.Report.Add(first.ErrorAt(first.Root, nil, hint, "the specification has no "+kind))
}

func (c *specChecker) clusters() {
	if len(c.Spec.Clusters) == 0 && !c.Incomplete && c.Spec.Products == nil { // a product names its own cluster
		c.lacks(v1alpha1.KindCluster, check.ClusterHint("staging"))
	}
	for _, cluster := range c.Spec.Clusters {
		if c.Spec.Fleet != nil && c.Spec.Fleet.Spec.Layout == v1alpha1.LayoutFleet && cluster.Metadata.Name == "base" {
			c.Fail(cluster, strict.At("metadata", "name"), "choose another name", "a cluster cannot be named %q: tenants/base contains what all clusters share", "base")
		}
		for _, name := range slices.Sorted(maps.Keys(cluster.Spec.Variables)) {
			if !check.VariableName.MatchString(name) {
				c.FailKey(cluster, strict.At("spec", "variables", name), check.VariableHint(name), "%s is not a variable's name", strict.Quote(name))
			}
		}
		c.clusterPath(cluster)
	}
	if c.Spec.Fleet == nil || c.Spec.Fleet.Spec.Layout == v1alpha1.LayoutFleet {
		c.clusterFolders()
	}
}

// clusterFolders checks that no cluster's folder is inside another's. In the order of their paths,
// a folder comes directly before those inside it.
func (c *specChecker) clusterFolders() {
	sorted := slices.SortedStableFunc(slices.Values(c.Spec.Clusters), func(a, b *v1alpha1.Cluster) int {
		return slices.Compare(strings.Split(a.Spec.Path, "/"), strings.Split(b.Spec.Path, "/"))
	})
	var outer *v1alpha1.Cluster
	for _, cluster := range sorted {
		if outer == nil || !nested(cluster.Spec.Path, outer.Spec.Path) {
			outer = cluster
			continue
		}
		if c.Whole(cluster, outer) {
			c.Fail(cluster, strict.At("spec", "path"), "use a separate folder for each cluster",
				"path %s of the cluster overlaps path %s of %s", strict.Quote(cluster.Spec.Path), strict.Quote(outer.Spec.Path), c.Called(outer))
		}
	}
}

// ownFolders are folders of the platform repository that contain other files than a cluster's own.
var ownFolders = []string{"fleet", "infrastructure", "tenants", "kubernetes/apps", "bootstrap", ".fleetwright"}

func (c *specChecker) clusterPath(cluster *v1alpha1.Cluster) {
	p := cluster.Spec.Path
	if problem := v1alpha1.PathProblem(p); problem != "" {
		c.Fail(cluster, strict.At("spec", "path"), "write a path relative to the repository's root, such as clusters/"+cluster.Metadata.Name, "path %s %s", strict.Quote(p), problem)
		return
	}
	if p == "." {
		c.Fail(cluster, strict.At("spec", "path"), "write a path such as clusters/"+cluster.Metadata.Name, "path %s is the whole repository", strict.Quote(p))
		return
	}
	folders := ownFolders
	for _, product := range c.Spec.Products {
		folders = slices.Concat(folders, product.Folders())
	}
	for _, folder := range folders {
		if nested(p, folder) {
			c.Fail(cluster, strict.At("spec", "path"), "write a path such as clusters/"+cluster.Metadata.Name, "path %s overlaps the folder %s", strict.Quote(p), strict.Quote(folder))
		}
	}
}

// nested reports whether two clean paths are equal or one is inside the other.
func nested(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// selector reports each part of a selector that matches no cluster.
func (c *specChecker) selector(of any, p *strict.Path, sel v1alpha1.ClusterSelector) {
	if c.Incomplete || len(c.Spec.Clusters) == 0 {
		return
	}
	values := c.Known.Labels
	dangling := c.eachIn(of, p.Child("names"), "cluster", "add an object of kind Cluster", sel.Names, c.Known.Clusters)
	dangling = c.eachIn(of, p.Child("environments"), "environment", "set it in spec.environment of a Cluster", sel.Environments, c.Known.Environments) || dangling
	for _, key := range slices.Sorted(maps.Keys(sel.MatchLabels)) {
		switch value := sel.MatchLabels[key]; {
		case values[key] == nil:
			dangling = true
			c.FailKey(of, p.Child("matchLabels").Child(key), c.Report.Suggest(key, "label", "add it to metadata.labels of a Cluster", slices.Collect(maps.Keys(values))), "no cluster has the label %s", strict.Quote(key))
		case !slices.Contains(values[key], value):
			dangling = true
			c.Fail(of, p.Child("matchLabels").Child(key), c.Report.Suggest(value, "value", "set it in metadata.labels of a Cluster", values[key]), "no cluster has the label %s: %s", key, strict.Quote(value))
		}
	}
	if !dangling && len(c.Spec.Selected(sel)) == 0 {
		c.Fail(of, p, "its conditions are combined with AND: each matches a cluster, but no cluster matches all of them", "%s selects no cluster", p)
	}
}

// eachIn reports the names of a list that are not among the valid ones, which are sorted; otherwise is the hint on how to
// create a valid one.
func (c *specChecker) eachIn(of any, p *strict.Path, what, otherwise string, names, valid []string) (dangling bool) {
	for i, name := range names {
		if _, found := slices.BinarySearch(valid, name); !found {
			dangling = true
			c.Fail(of, p.Item(i), c.Report.Suggest(name, what, otherwise, valid), "%s %s does not exist", what, strict.Quote(name))
		}
	}
	return dangling
}
