package kommander

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// PlacementEmpty is kommander-placement-empty.
var PlacementEmpty = rule.Rule{
	ID:       "kommander-placement-empty",
	Title:    "a placement that selects no cluster",
	Severity: finding.Warning,
	Why: `The placement of a project or binding selects clusters by clusters, or else by clusterSelector. An empty list, a
placement without both fields, and a missing placement select no cluster; an empty clusterSelector selects all.
An AppDeployment's clusterSelector, and those of its overrides for some clusters, select by labels;
kommander.d2iq.io/cluster-name is the name of the cluster. Nothing is installed, and no error is reported, if a
selector contradicts itself or requires labels that no cluster has, if an override is for clusters that the
application is not for, or if a named cluster is not attached.

Attached clusters are the KommanderClusters and Clusters in Git, and host-cluster, the management cluster. Their labels are
the labels in Git, of the cluster and of its workspace, and the labels that Kommander sets. If Git has no attached
clusters, or no cluster has the label, the selection is unresolved.`,
	Fix: `List attached clusters, or select them by labels that they have.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			w.placements(p)
			for _, o := range w.Of(deployment) {
				w.deployed(p, o)
			}
		}
	},
}

// clusterName is the label that has the name of a cluster.
const clusterName = "kommander.d2iq.io/cluster-name"

// placements checks the placements of projects and bindings.
func (w *managementCluster) placements(p *rule.Pass) {
	for _, kind := range []string{project, workspaceBinding, clusterBinding} {
		for _, o := range w.Of(kind) {
			at := []any{"spec", "placement"}
			placement, isMap := o.Field(at...).(map[string]any)
			if !isMap {
				if _, specified := o.Field("spec").(map[string]any); specified && o.Field(at...) == nil {
					nowhere(p, o, "it has no placement", at)
				}
				continue
			}
			names, listed := placement["clusters"].([]any)
			selector, selected := placement["clusterSelector"]
			switch {
			case listed && len(names) == 0:
				nowhere(p, o, "its list of clusters is empty", append(at, "clusters"))
			case listed:
				for i := range names {
					w.named(p, o, append(slices.Clone(at), "clusters", i, "name"))
				}
			case !selected && len(placement) == 0:
				nowhere(p, o, "its placement is empty", at)
			case selected:
				w.selecting(p, o, selector, append(at, "clusterSelector"))
			}
		}
	}
}

// nowhere reports a placement that selects no cluster.
func nowhere(p *rule.Pass, o *reconcile.Object, why string, at []any) {
	p.ReportBuilt(o, finding.Finding{
		Message: fmt.Sprintf("this placement of %s selects no cluster: %s", o, why),
		Hint:    "list clusters, or select them by labels",
	}, at...)
}

// selecting checks that a selector can match labels, and that the clusters that it names are attached.
func (w *managementCluster) selecting(p *rule.Pass, o *reconcile.Object, selector any, at []any) {
	if why := platform.Nothing(selector); why != "" {
		nowhere(p, o, why, at)
		return
	}
	list := o.List(append(slices.Clone(at), "matchExpressions")...)
	for i := range list {
		one := append(slices.Clone(at), "matchExpressions", i)
		if o.Text(append(slices.Clone(one), "key")...) != clusterName || o.Text(append(slices.Clone(one), "operator")...) != "In" {
			continue
		}
		for j := range o.List(append(slices.Clone(one), "values")...) {
			w.named(p, o, append(slices.Clone(one), "values", j))
		}
	}
	if name := append(slices.Clone(at), "matchLabels", clusterName); o.Field(name...) != nil {
		w.named(p, o, name)
	}
	w.labelled(p, o, selector, at)
}

// labelled checks a selector with labels that users set on clusters.
func (w *managementCluster) labelled(p *rule.Pass, o *reconcile.Object, selector any, at []any) {
	keys := platform.Keys(selector)
	if len(keys) == 0 || slices.ContainsFunc(keys, isOwn) {
		return // Kommander sets these labels
	}
	clusters := w.clusters()
	if w.steps += len(clusters); w.steps > limits.Comparisons {
		p.ReportBuilt(o, rule.Exceeded(finding.Finding{}, fmt.Sprintf("which clusters %s selects", o), fmt.Sprintf("the selectors and clusters need more than %d comparisons", limits.Comparisons)), at...)
		return
	}
	known := map[string]bool{}
	for _, labels := range clusters {
		if platform.Selects(selector, labels) {
			return
		}
		for key := range labels {
			known[key] = true
		}
	}
	doubt := w.Partial
	switch unknown := slices.IndexFunc(keys, func(key string) bool { return !known[key] }); {
	case platform.Unknown(fmt.Sprint(selector)):
		doubt = "its selector contains a variable whose value is unknown"
	case doubt != "":
	case len(clusters) == 0:
		doubt = "Git has no " + attachedCluster + " at all"
	case unknown >= 0:
		doubt = "no cluster in Git has the label " + keys[unknown] + ", but it may be set in Kommander"
	}
	if doubt != "" {
		p.UnresolvedFor(o.Position(at...), fmt.Sprintf("which clusters %s selects", o), doubt)
		return
	}
	nowhere(p, o, "no attached cluster has these labels", at)
}

// isOwn reports whether Kommander or another controller sets a label on clusters.
func isOwn(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return slices.ContainsFunc([]string{"d2iq.io", "mesosphere.io", "nutanix.com", "nutanix.io", "x-k8s.io", "kubernetes.io"}, func(own string) bool {
		return domain == own || strings.HasSuffix(domain, "."+own)
	})
}

// clusters returns the labels of each cluster in Git: its own labels, and the labels that its workspace adds.
func (w *managementCluster) clusters() []map[string]any {
	if w.labels != nil {
		return w.labels
	}
	ofWorkspace := map[string]map[string]any{}
	for _, o := range w.Of(workspace) {
		ofWorkspace[o.Text("spec", "namespaceName")], _ = o.Field("spec", "clusterLabels").(map[string]any)
	}
	w.labels = []map[string]any{}
	for _, o := range w.Objects {
		if isAttached(o) {
			own, _ := o.Field("metadata", "labels").(map[string]any)
			labels := maps.Clone(own)
			if labels == nil {
				labels = map[string]any{}
			}
			maps.Copy(labels, ofWorkspace[o.Namespace])
			w.labels = append(w.labels, labels)
		}
	}
	return w.labels
}

// isAttached reports whether an object is a cluster.
func isAttached(o *reconcile.Object) bool {
	return o.Group == coreGroup && o.Kind == attachedCluster || o.Group == "cluster.x-k8s.io" && o.Kind == "Cluster"
}

// named reports the name of a cluster that is not attached.
func (w *managementCluster) named(p *rule.Pass, o *reconcile.Object, at []any) {
	r := platform.Of(o, coreGroup, attachedCluster, "", at...)
	platform.Dangling{Consequence: "nothing is installed", There: func(r platform.Reference) (bool, string) {
		names := w.attachedNames()
		_, there := slices.BinarySearch(names, r.Name)
		switch doubt := w.Doubt(r); {
		case r.Name == hostCluster || there:
			return true, ""
		case doubt != "":
			return false, doubt
		case len(names) == 0:
			return false, "Git has no " + attachedCluster + " at all"
		}
		return false, ""
	}, Hint: func(r platform.Reference) string {
		if near := w.Hints.Nearest(r.Name, w.attachedNames()); near != "" {
			return fmt.Sprintf("did you mean %q?", near)
		}
		return ""
	}}.Report(p, w.ManagementCluster, []platform.Reference{r})
}

// attachedNames returns the sorted names of the clusters in Git.
func (w *managementCluster) attachedNames() []string {
	if w.attached == nil {
		w.attached = []string{}
		for _, o := range w.Objects {
			if isAttached(o) {
				w.attached = append(w.attached, o.Name)
			}
		}
		slices.Sort(w.attached)
	}
	return w.attached
}

// deployed checks the selectors of an AppDeployment.
func (w *managementCluster) deployed(p *rule.Pass, o *reconcile.Object) {
	at := []any{"spec", "clusterSelector"}
	w.selecting(p, o, o.Field(at...), at)
	names, isFor := clusterNames(o.Field(at...))
	of := map[any]bool{}
	for _, name := range names {
		of[name] = true
	}
	for i := range o.List("spec", "clusterConfigOverrides") {
		at := []any{"spec", "clusterConfigOverrides", i, "clusterSelector"}
		w.selecting(p, o, o.Field(at...), at)
		names, some := clusterNames(o.Field(at...))
		if isFor && some && !slices.ContainsFunc(names, func(name any) bool { return of[name] }) {
			nowhere(p, o, "the application is not placed on the clusters of this override", at)
		}
	}
}

// clusterNames returns the names of the clusters that a selector names. alone reports whether the selector has
// no other condition.
func clusterNames(selector any) (names []any, alone bool) {
	s, _ := selector.(map[string]any)
	match, _ := s["matchLabels"].(map[string]any)
	expressions, _ := s["matchExpressions"].([]any)
	if len(match) != 0 || len(expressions) != 1 {
		return nil, false
	}
	e, _ := expressions[0].(map[string]any)
	names, _ = e["values"].([]any)
	texts := slices.DeleteFunc(slices.Clone(names), func(name any) bool {
		text, isText := name.(string)
		return !isText || strings.Contains(text, "${")
	})
	return texts, e["key"] == clusterName && e["operator"] == "In" && len(names) > 0 && len(texts) == len(names)
}
