package flux

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/apiserver"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// PodSecurity is flux-pod-security.
var PodSecurity = rule.Rule{
	ID:       "flux-pod-security",
	Title:    "pods that the PodSecurity level of their namespace refuses",
	Severity: finding.Error,
	Why: `A Namespace with the label pod-security.kubernetes.io/enforce admits only pods of that level. The API server
accepts a Deployment whose pods it then refuses, so that no pod is created, and Kustomizations that wait for it are never
ready. The API server refuses a Namespace whose label is not a level or version.

The rule runs the checks of the API server's admission plugin, at the version of the label enforce-version or of the cluster.
Pods of charts are checked where the charts are rendered. Pods are unresolved where a policy or webhook of the cluster may
change them before they are checked.`,
	Fix: `Set the fields that the message names in securityContext, or set a level that allows the pods on the namespace.`,
	Run: func(p *rule.Pass) {
		each(p, func(w *world) { w.podSecurity(p) })
	},
}

// podSecurity reports the objects that create pods which the pod security level of their namespace forbids.
func (w *world) podSecurity(p *rule.Pass) {
	mutator := rule.Mutator(w.applied)
	for _, o := range w.applied {
		if o.Group == "" && o.Kind == "Namespace" {
			podLevels(p, o)
		}
		path, isWorkload := podSpecs[kind{o.Group, o.Kind}]
		namespace := w.find(reconcile.Identity{Kind: "Namespace", Name: o.Namespace})
		if !isWorkload || namespace == nil || !w.isSame(namespace) {
			continue
		}
		level := text(namespace.Value, "metadata", "labels", podSecurityLabel)
		template, _ := o.Field(path[:len(path)-1]...).(map[string]any)
		refused := apiserver.PodRefused(level, w.policyVersion(p, namespace), template)
		if len(refused) == 0 {
			continue
		}
		if mutator != nil {
			p.UnresolvedFor(o.Place, fmt.Sprintf("whether namespace %s, which enforces the PodSecurity level %s, refuses the pods of %s", o.Namespace, level, o),
				fmt.Sprintf("%s may change them", mutator))
			continue
		}
		p.ReportBuilt(o, finding.Finding{
			Message: fmt.Sprintf("%s: namespace %s enforces the PodSecurity level %s, which refuses its pods: %s", o, o.Namespace, level, strings.Join(refused, ", ")),
			Hint:    "set it in securityContext, or label the namespace with another level",
		}, path...)
	}
}

// podLevels reports the pod security labels of a Namespace that the API server rejects.
func podLevels(p *rule.Pass, namespace *reconcile.Object) {
	all, _ := field(namespace.Value, "metadata", "labels").(map[string]any)
	labels := map[string]string{}
	for name, value := range all {
		if value, isText := value.(string); isText && !unknown(value) {
			labels[name] = value
		}
	}
	for _, e := range apiserver.PodLabelsRefused(labels) {
		name := strings.TrimSuffix(e.Field[strings.IndexByte(e.Field, '[')+1:], "]")
		f := finding.Finding{Message: fmt.Sprintf("%s: the label %s is %q: %s", namespace, name, labels[name], e.Detail)}
		if near, typo := nearest.To(labels[name], []string{"privileged", "baseline", "restricted"}); typo {
			f.Hint = fmt.Sprintf("did you mean %q?", near)
		}
		p.ReportBuilt(namespace, f, "metadata", "labels", name)
	}
}

// isSame reports whether all Namespaces with a name have the same pod security level.
func (w *world) isSame(namespace *reconcile.Object) bool {
	return !slices.ContainsFunc(w.objects[namespace.Identity], func(o *reconcile.Object) bool {
		return text(o.Value, "metadata", "labels", podSecurityLabel) != text(namespace.Value, "metadata", "labels", podSecurityLabel)
	})
}

// policyVersion returns the version of the pod security checks: the version of the namespace's label, or else of the
// cluster.
func (w *world) policyVersion(p *rule.Pass, namespace *reconcile.Object) string {
	version := cmp.Or(text(namespace.Value, "metadata", "labels", podSecurityLabel+"-version"), "latest")
	if minor, known := rule.KubernetesMinor(p.Kubernetes()); known && version == "latest" {
		return fmt.Sprintf("v1.%d", minor)
	}
	return version
}
