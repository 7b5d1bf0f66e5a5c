package flux

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// NamespaceMissing is flux-namespace-missing.
var NamespaceMissing = rule.Rule{
	ID:       "flux-namespace-missing",
	Title:    "a namespace that no object creates",
	Severity: finding.Warning,
	Why: `Neither kustomize-controller nor helm-controller makes the namespace that something goes to: a Kustomization
whose spec.targetNamespace isn't there fails ("namespaces not found"), and so does a HelmRelease without
install.createNamespace. On the old cluster it goes well, since somebody made the namespace by hand; on a new one nothing
of it is applied.

Looked at are spec.targetNamespace of Kustomizations, and the namespaces that HelmReleases install to. Nothing is said
of Kubernetes' own namespaces and Flux's, of one that a HelmRelease with createNamespace makes, nor of one that a bootstrap,
a script, a template or Terraform in the repository makes or may make. Where not all is known that the cluster applies, it
is unresolved.`,
	Fix: `Add the Namespace to what the cluster applies, or correct the name. install.createNamespace: true makes the
namespace too, without labels, and leaves it behind when the release is removed.`,
	Run: func(p *rule.Pass) {
		var open questions
		missing := map[*reconcile.Cluster][]destination{}
		names := map[string]bool{}
		each(p, func(w *world) {
			missing[w.cluster] = w.missingNamespaces()
			for _, d := range missing[w.cluster] {
				names[d.namespace] = true
			}
		})
		made := madeBeside(p.Repo, names)
		each(p, func(w *world) {
			for _, d := range missing[w.cluster] {
				if !made[d.namespace] {
					w.namespaceMissing(p, &open, d)
				}
			}
		})
		open.report(p)
	},
}

// destination is a namespace that objects go to.
type destination struct {
	namespace string
	// of is the first object that says so, at a path; others count those that do besides.
	of     *reconcile.Object
	path   []any
	others int
}

// destinations are the namespaces that Kustomizations and HelmReleases put objects into, in the
// order of the objects. Those of a Kustomization come first: the releases in it have its own.
func (w *world) destinations() []destination {
	var all []destination
	index := map[string]int{}
	add := func(namespace string, of *reconcile.Object, path ...any) {
		if i, known := index[namespace]; known {
			all[i].others++
			return
		}
		index[namespace] = len(all)
		all = append(all, destination{namespace: namespace, of: of, path: path})
	}
	for _, k := range w.cluster.Kustomizations {
		target := k.Spec.TargetNamespace
		goes := func(o *reconcile.Object) bool { return o.Namespace == target }
		if target != "" && k.Object != nil && !k.Spec.Suspend && k.Spec.KubeConfig == nil && slices.ContainsFunc(k.Objects, goes) {
			add(target, k.Object, "spec", "targetNamespace")
		}
	}
	for _, o := range w.applied {
		if !isHelmRelease(o) || suspended(o) || createsNamespace(o) || field(o.Value, "spec", "kubeConfig") != nil {
			continue
		}
		if target := text(o.Value, "spec", "targetNamespace"); target != "" {
			add(target, o, "spec", "targetNamespace")
		} else {
			add(o.Namespace, o, "metadata", "namespace")
		}
	}
	return all
}

// createsNamespace says whether a HelmRelease makes its namespace.
func createsNamespace(o *reconcile.Object) bool {
	return field(o.Value, "spec", "install", "createNamespace") == true
}

// knownNamespaces are on every cluster; those with a reservedPrefix are Kubernetes' and of
// distributions of it.
var (
	knownNamespaces  = []string{"default", "kube-system", "kube-public", "kube-node-lease", "flux-system"}
	reservedPrefixes = []string{"kube-", "openshift-", "cattle-"}
)

// isReserved says whether a namespace is made by the cluster itself, or may be; a misspelt one
// isn't.
func (w *world) isReserved(name string) bool {
	if _, misspelt := w.budget.nearest(name, knownNamespaces); misspelt {
		return false
	}
	return slices.ContainsFunc(reservedPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// missingNamespaces are the destinations that nothing in Git makes.
func (w *world) missingNamespaces() []destination {
	made := map[string]bool{"": true, w.cluster.Kustomizations[0].Namespace: true}
	for _, name := range knownNamespaces {
		made[name] = true
	}
	for _, other := range append(slices.Clone(w.beside), w) {
		for _, o := range other.applied {
			switch {
			case strings.Contains(o.Kind, "Namespace"), o.Kind == "Project":
				made[o.Name] = true
			case isHelmRelease(o) && createsNamespace(o):
				made[cmp.Or(text(o.Value, "spec", "targetNamespace"), o.Namespace)] = true
			}
		}
	}
	mentioned := w.mentionedByCharts()
	return slices.DeleteFunc(w.destinations(), func(d destination) bool {
		return made[d.namespace] || mentioned[d.namespace] || unknown(d.namespace) || w.isReserved(d.namespace)
	})
}

// mentionedByCharts are the namespaces in the values of releases whose charts are not at hand:
// they may make one that they are told of.
func (w *world) mentionedByCharts() map[string]bool {
	texts := map[string]bool{}
	var walk func(value any, named bool)
	walk = func(value any, named bool) {
		switch value := value.(type) {
		case map[string]any:
			for name, item := range value {
				if named {
					texts[name] = true
				}
				walk(item, named || strings.Contains(strings.ToLower(name), "namespace"))
			}
		case []any:
			for _, item := range value {
				walk(item, named)
			}
		case string:
			if named {
				texts[value] = true
			}
		}
	}
	for _, o := range w.applied {
		if isHelmRelease(o) && w.cluster.Release(o) == nil {
			walk(field(o.Value, "spec", "values"), false)
		}
	}
	return texts
}

func (w *world) namespaceMissing(p *rule.Pass, open *questions, d destination) {
	id := reconcile.Identity{Kind: "Namespace", Name: d.namespace}
	at := w.locate(d.of, d.namespace, d.path...)
	why := w.doubt(id)
	if why == "" && w.guessed() && !w.near(id) {
		why = "the object that syncs the cluster's root is not in the repository, and may create it"
	}
	if why != "" {
		open.add(at, fmt.Sprintf("whether namespace %s, which %s deploys to, exists", d.namespace, d.of), why)
		return
	}
	goes := d.of.String() + " deploys"
	if d.others > 0 {
		goes = fmt.Sprintf("%s and %s deploy", d.of, plural(d.others, "other"))
	}
	hint := w.hint(id)
	if near, ok := w.budget.nearest(d.namespace, knownNamespaces); ok && hint == "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	} else if hint == "" {
		hint = "add a Namespace to what the cluster applies"
	}
	p.ReportBuilt(d.of, at.in(finding.Finding{
		Message: fmt.Sprintf("no object creates namespace %q, which %s to", d.namespace, goes),
		Hint:    hint,
	}))
}
