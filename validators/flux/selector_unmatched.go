package flux

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/otherfiles"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// SelectorUnmatched is flux-selector-unmatched.
var SelectorUnmatched = rule.Rule{
	ID:       "flux-selector-unmatched",
	Title:    "a selector that no object matches",
	Severity: finding.Warning,
	Why: `A Service whose selector matches no pod has no endpoints: every request to it fails. A PodDisruptionBudget,
PodMonitor or ServiceMonitor that matches nothing does nothing. The API server accepts each of them.

The rule compares the labels of the selector with those of the pods, or Services, that the cluster's objects in the
namespace create. A label that is a typo of one of theirs is always reported. Any other label is reported only if everything
that could create the pods is known: Git creates other pods in the namespace, the namespace has no chart that is not rendered
and no object of an operator, and it is not one of Kubernetes' own, such as kube-system. Selectors with matchExpressions are
not checked.`,
	Fix: `Correct the label in the selector or in the template of the pods.`,
	Run: func(p *rule.Pass) {
		var found []unmatched
		values := map[string]bool{}
		each(p, func(w *world) {
			for _, u := range w.unmatched(p) {
				found = append(found, u)
				values[u.value] = true
			}
		})
		spoken := otherfiles.Mentions(p.Repo, values, false)
		for _, u := range found {
			if u.near != "" || spoken[u.value] == "" {
				u.report(p)
			}
		}
	},
}

// selection holds the labels by which an object selects other objects, and the namespaces in which it does.
type selection struct {
	of         *reconcile.Object
	path       []any
	labels     map[string]any
	kind       string // Pod or Service
	namespaces []string
}

// selectionOf returns the selection of an object, and whether it has one.
func selectionOf(o *reconcile.Object) (selection, bool) {
	s := selection{of: o, kind: "Pod", path: []any{"spec", "selector", "matchLabels"}, namespaces: []string{o.Namespace}}
	switch (kind{o.Group, o.Kind}) {
	case kind{"", "Service"}:
		s.path = s.path[:2]
	case kind{"policy", "PodDisruptionBudget"}:
	case kind{"monitoring.coreos.com", "PodMonitor"}, kind{"monitoring.coreos.com", "ServiceMonitor"}:
		s.kind = strings.TrimSuffix(o.Kind, "Monitor")
		if field(o.Value, "spec", "namespaceSelector", "any") == true {
			return s, false
		}
		if names := list(o.Value, "spec", "namespaceSelector", "matchNames"); len(names) > 0 {
			s.namespaces = nil
			for _, name := range names {
				s.namespaces = append(s.namespaces, fmt.Sprint(name))
			}
		}
	default:
		return s, false
	}
	labels, _ := o.Field(s.path...).(map[string]any)
	s.labels = maps.Clone(labels)
	for name, value := range s.labels {
		if text, isText := value.(string); !isText || unknown(text) {
			return s, false
		}
		if domain, _, _ := strings.Cut(name, "/"); slices.Contains(addedLabels, domain) {
			delete(s.labels, name)
		}
	}
	return s, len(s.labels) > 0 && text(o.Value, "spec", "type") != "ExternalName" && len(list(o.Value, "spec", "selector", "matchExpressions")) == 0
}

// addedLabels are parts of the names of labels that controllers add to pods.
var addedLabels = []string{"statefulset.kubernetes.io", "apps.kubernetes.io", "batch.kubernetes.io", "pod-template-hash", "job-name", "controller-revision-hash"}

// labelsOf returns the labels of the pods that an object creates, or of a Service. of is "Pod" or "Service", ""
// for other objects.
func labelsOf(o *reconcile.Object) (of string, labels map[string]any) {
	path := []any{"metadata", "labels"}
	if spec, isWorkload := podSpecs[kind{o.Group, o.Kind}]; isWorkload {
		of, path = "Pod", slices.Concat(spec[:len(spec)-1], path)
	} else if o.Group == "" && o.Kind == "Service" {
		of = "Service"
	}
	labels, _ = o.Field(path...).(map[string]any)
	return of, labels
}

// unmatched is a selection that matches nothing, with the label that is probably wrong.
type unmatched struct {
	selection
	w *world
	// name and value belong to the label. near is its probable correct name or value.
	name, value, near string
}

// unmatched returns the selections of a cluster that match nothing.
func (w *world) unmatched(p *rule.Pass) []unmatched {
	there, pairs := map[account][]map[string]any{}, map[label][]map[string]any{} // by namespace and kind
	add := func(at account, labels map[string]any) {
		there[at] = append(there[at], labels)
		for name, value := range labels {
			if text, isText := value.(string); isText {
				pairs[label{at, name, text}] = append(pairs[label{at, name, text}], labels)
			}
		}
	}
	add(account{"default", "Service"}, map[string]any{"component": "apiserver", "provider": "kubernetes"}) // the API server creates it
	for _, one := range append(slices.Clone(w.beside), w) {
		for _, o := range one.applied {
			if of, labels := labelsOf(o); of != "" {
				add(account{o.Namespace, of}, labels)
			}
		}
	}
	places := slices.SortedFunc(maps.Keys(there), func(a, b account) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
	})
	all, left := w.operators(), limits.Comparisons
	var found []unmatched
	for _, o := range w.applied {
		s, ok := selectionOf(o)
		if !ok || o.HelmRelease != nil {
			continue
		}
		u := unmatched{selection: s, w: w}
		some := false
		for _, namespace := range s.namespaces {
			at := account{namespace, s.kind}
			labels := there[at]
			some = some || len(labels) > 0
			likely := unmatched{selection: s}
			if fewest := s.candidates(at, pairs); len(fewest) < len(labels) && left >= len(fewest) && likely.matched(fewest) {
				left -= len(fewest)
				ok = false
				continue
			}
			if left -= len(labels); left < 0 {
				w.exceeded(p, "the matching of its selectors", fmt.Sprintf("it needs more than %d comparisons with labels", limits.Comparisons))
				return found
			}
			ok = ok && !u.matched(labels) && (u.near != "" || !w.mayHold(s.kind, namespace, all))
		}
		if ok && (some || s.kind != "Pod" || inOther(there, places, s, &left)) { // else all pods of the namespace come from elsewhere
			found = append(found, u)
		}
	}
	return found
}

// label is a label of objects of a kind in a namespace.
type label struct {
	of          account
	name, value string
}

// candidates returns the objects at a place that have the rarest of the selected labels.
func (s selection) candidates(at account, pairs map[label][]map[string]any) []map[string]any {
	var fewest []map[string]any
	for name, value := range s.labels {
		with := pairs[label{at, name, value.(string)}]
		if len(with) == 0 {
			return nil
		}
		if fewest == nil || len(with) < len(fewest) {
			fewest = with
		}
	}
	return fewest
}

// inOther reports whether a selector matches objects of Git in another namespace: then it most likely has the wrong
// namespace. It subtracts each comparison from left.
func inOther(there map[account][]map[string]any, all []account, s selection, left *int) bool {
	u := unmatched{selection: s}
	for _, at := range all {
		labels := there[at]
		if at.name != s.kind || slices.Contains(s.namespaces, at.namespace) {
			continue
		}
		if *left -= len(labels); *left < 0 || u.matched(labels) {
			return *left >= 0
		}
	}
	return false
}

// matched reports whether one of the label sets has all selected labels. If none has, it records the label that
// does not match, and what it may be a typo of.
func (u *unmatched) matched(all []map[string]any) bool {
	for _, labels := range all {
		var wrong []string
		for name, value := range u.labels {
			if has, _ := labels[name].(string); has != value && !unknown(has) {
				wrong = append(wrong, name)
			}
		}
		if len(wrong) == 0 {
			return true
		}
		if len(wrong) > 1 || u.near != "" {
			continue
		}
		has, _ := labels[wrong[0]].(string)
		if near, typo := schemas.Misspelt(u.labels[wrong[0]].(string), []string{has}); typo {
			u.name, u.near = wrong[0], near
		} else if near, typo := schemas.Misspelt(wrong[0], slices.Sorted(maps.Keys(labels))); typo && labels[near] == u.labels[wrong[0]] {
			u.name, u.near = wrong[0], near
		}
	}
	if u.name == "" {
		u.name = slices.Sorted(maps.Keys(u.labels))[0]
	}
	u.value = u.labels[u.name].(string)
	return false
}

// kubernetesNamespaces have pods and Services of Kubernetes itself.
var kubernetesNamespaces = []string{"kube-system", "kube-public", "kube-node-lease"}

// mayHold reports whether unknown parts of a cluster may create Services or pods in a namespace.
func (w *world) mayHold(of, namespace string, all operators) bool {
	id := reconcile.Identity{Kind: of, Namespace: namespace}
	if w.outside(id) != "" || unknown(namespace) || slices.Contains(kubernetesNamespaces, namespace) || all.mayHold(namespace) || w.doubt(id) != "" {
		return true
	}
	for creator := range podSpecs {
		if of == "Pod" && w.makers[creator.kind] != nil {
			return true
		}
	}
	return slices.ContainsFunc(w.incomplete, func(k *reconcile.Kustomization) bool { return w.mayBring(k, id) && !w.cannotContain(k, id) })
}

func (u unmatched) report(p *rule.Pass) {
	f := finding.Finding{Message: fmt.Sprintf("%s selects by %s: %s, but no %s in namespace %s has its labels", u.of, u.name, u.value, u.kind, strings.Join(u.namespaces, ", "))}
	if u.near != "" {
		f.Hint = fmt.Sprintf("did you mean %q?", u.near)
	}
	p.ReportBuilt(u.of, f.At(u.w.locate(u.of, u.value, append(slices.Clone(u.path), u.name)...)))
}
