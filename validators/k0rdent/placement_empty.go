package k0rdent

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// PlacementEmpty is k0rdent-placement-empty.
var PlacementEmpty = rule.Rule{
	ID:       "k0rdent-placement-empty",
	Title:    "a placement that selects nothing, or everything because of an empty list",
	Severity: finding.Warning,
	Why: `A MultiClusterService with an empty clusterSelector selects no cluster, unless its provider has selfManagement:
unlike other controllers, kcm does not treat an empty selector as all clusters. A selector that matches no
ClusterDeployment's labels, or that contradicts itself, installs nothing either, and no error is reported. If
Git has no ClusterDeployment at all, the selection is unresolved.

In the AccessManagement it is the other way round: a rule with an empty list of target namespaces distributes to
every namespace.`,
	Fix: `Select clusters by labels that they have. Remove an access rule that selects no namespace.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			for _, o := range w.Of(serviceKind) {
				w.selectsNoCluster(p, o)
			}
			for _, o := range w.Of(accessKind) {
				for i := range o.List("spec", "accessRules") {
					selectsNoNamespace(p, o, i)
				}
			}
		}
	},
}

// selectsNoCluster reports a MultiClusterService that selects no cluster.
func (w *managementCluster) selectsNoCluster(p *rule.Pass, o *reconcile.Object) {
	at := []any{"spec", "clusterSelector"}
	selector := o.Field(at...)
	if self := o.Field("spec", "serviceSpec", "provider", "selfManagement"); self != nil && self != false {
		return // it selects the management cluster
	}
	report := func(why, hint string) {
		p.ReportBuilt(o, finding.Finding{Message: fmt.Sprintf("%s selects no cluster: %s", o, why), Hint: hint}, at...)
	}
	if platform.IsEmpty(selector) {
		if selector == nil {
			at = at[:1]
		}
		w.lacks(p, o, finding.Finding{
			Message: fmt.Sprintf("%s selects no cluster: its clusterSelector is empty, and kcm then selects none", o), Hint: "select clusters by a label",
		}, "a clusterSelector", at...)
		return
	}
	if why := platform.Nothing(selector); why != "" {
		report(why, "")
		return
	}
	clusters := w.Of(clusterKind)
	w.steps += len(clusters)
	if w.exceedsLimit(o, "selects any cluster", at...) {
		return
	}
	for _, c := range clusters {
		labels, _ := c.Field("metadata", "labels").(map[string]any)
		if platform.Selects(selector, labels) {
			return
		}
	}
	if doubt := w.elsewhere(selector); doubt != "" {
		p.UnresolvedFor(o.Position(at...), fmt.Sprintf("which clusters %s selects", o), doubt)
		return
	}
	report("no ClusterDeployment has labels that match its clusterSelector", "add the labels to the clusters")
}

// elsewhere returns the reason why a selector may select a cluster although no cluster in Git has the labels.
func (w *managementCluster) elsewhere(selector any) string {
	text := fmt.Sprint(selector)
	switch {
	case platform.Unknown(text):
		return "its clusterSelector contains a variable whose value is unknown"
	case w.Partial != "":
		return w.Partial
	case !w.Holds(group, clusterKind):
		return "Git has no " + clusterKind + " at all"
	case strings.Contains(text, group+"/"):
		return "it matches labels that kcm sets"
	}
	for _, c := range w.Of(clusterKind) {
		if platform.Unknown(fmt.Sprint(c.Field("metadata", "labels"))) {
			return "the labels of " + c.String() + " contain a variable whose value is unknown"
		}
	}
	return ""
}

// selectsNoNamespace reports an access rule that selects no namespace, or that selects all by an empty list.
func selectsNoNamespace(p *rule.Pass, o *reconcile.Object, i int) {
	list := []any{"spec", "accessRules", i, "targetNamespaces", "list"}
	selector := []any{"spec", "accessRules", i, "targetNamespaces", "selector"}
	if names, isList := o.Field(list...).([]any); isList && len(names) == 0 && platform.IsEmpty(o.Field(selector...)) && o.Text("spec", "accessRules", i, "targetNamespaces", "stringSelector") == "" {
		p.ReportBuilt(o, finding.Finding{
			Message: fmt.Sprintf("this rule of %s distributes to every namespace: kcm treats an empty list as all namespaces", o),
			Hint:    "list the namespaces, or remove the rule; if all namespaces are intended, remove targetNamespaces",
		}, list...)
	}
	if why := platform.Nothing(o.Field(selector...)); why != "" {
		p.ReportBuilt(o, finding.Finding{Message: fmt.Sprintf("this rule of %s selects no namespace: %s", o, why)}, selector...)
	}
}
