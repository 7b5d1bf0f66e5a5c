package flux

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	kubeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// NamespaceMissing is flux-namespace-missing.
var NamespaceMissing = rule.Rule{
	ID:       "flux-namespace-missing",
	Title:    "a namespace that no object creates",
	Severity: finding.Warning,
	Why: `Neither kustomize-controller nor helm-controller creates the target namespace. A Kustomization whose
spec.targetNamespace does not exist fails ("namespaces not found"), and so does a HelmRelease without
install.createNamespace. It works on an existing cluster in which somebody created the namespace by hand; on a
new cluster, nothing is applied.

The rule checks spec.targetNamespace of Kustomizations, the namespaces that HelmReleases install to, and those of all
objects of kinds of Kubernetes and Flux. A typo is an error, and so is the only one that Git doesn't create. It skips
the namespaces of Kubernetes and Flux, those of Kommander and k0rdent where Git uses the platform and does not install it,
namespaces that a HelmRelease with createNamespace creates, and namespaces that a bootstrap, script, template or Terraform
file in the repository creates or may create. If the objects of the cluster are only partly known, or Git creates fewer than
three namespaces and uses more than three others, the namespace is unresolved.`,
	Fix: `Add the Namespace to the objects of the cluster, or correct the name. install.createNamespace: true also creates
the namespace, but without labels, and does not delete it with the release.`,
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
		made, listed := createdBeside(p.Repo, names)
		each(p, func(w *world) {
			created := w.createdNamespaces()
			fewer := len(missing[w.cluster]) > fewInGit && created < fewInGit
			alone := len(missing[w.cluster]) == 1 && created >= fewInGit
			for _, d := range missing[w.cluster] {
				byScript := made[d.namespace] || listed[d.namespace]
				if !byScript || alone && (created >= manyInGit || !made[d.namespace]) {
					w.namespaceMissing(p, &open, d, practised{alone: alone, fewer: fewer, byScript: byScript})
				}
			}
		})
		open.report(p)
	},
}

// destination is a namespace to which objects are applied.
type destination struct {
	namespace string
	// of is the first object that names the namespace, and path its field. others is the number of other objects that
	// name it.
	of     *reconcile.Object
	path   []any
	others int
}

// destinations returns the namespaces to which Kustomizations and HelmReleases apply objects, in the order of the
// objects. The namespace of a Kustomization comes before the namespaces of its HelmReleases.
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
	for _, o := range w.applied {
		if isInNamespace(o) && !isHelmRelease(o) {
			add(o.Namespace, o, "metadata", "namespace")
		}
	}
	return all
}

// isInNamespace reports whether an object is of a known namespaced kind, and a Kustomization that is not
// suspended applies it.
func isInNamespace(o *reconcile.Object) bool {
	if o.Namespace == "" || o.HelmRelease != nil || o.Kustomization == nil || o.Kustomization.Spec.Suspend {
		return false
	}
	own := !strings.Contains(o.Group, ".") || strings.HasSuffix(o.Group, ".k8s.io") || strings.HasSuffix(o.Group, ".fluxcd.io")
	if !own {
		return false // other products create namespaces for their kinds
	}
	s, known := schemas.Lookup(kubeschema.FromAPIVersionAndKind(o.APIVersion, o.Kind))
	return known && s.Namespaced
}

// createsNamespace reports whether a HelmRelease creates its namespace.
func createsNamespace(o *reconcile.Object) bool {
	return field(o.Value, "spec", "install", "createNamespace") == true
}

// knownNamespaces exist on every cluster. Namespaces with one of the reservedPrefixes belong to Kubernetes or
// its distributions.
var (
	knownNamespaces  = []string{"default", "kube-system", "kube-public", "kube-node-lease", "flux-system"}
	reservedPrefixes = []string{"kube-", "openshift-", "cattle-"}
)

// platformNamespaces are the namespaces that the installer of a platform creates, by a part of the groups of the platform's objects,
// which the cluster accepts only once the platform is installed.
var platformNamespaces = map[string][]string{"kommander": {"kommander", "kommander-flux"}, "k0rdent": {"kcm-system"}}

// platformCharts are the charts that install a platform.
var platformCharts = map[string][]string{"kommander": {"kommander", "kommander-appmanagement"}, "k0rdent": {"kcm"}}

// installedNamespaces returns the namespaces of platforms that Git uses and does not install: it has objects of the platform,
// and no HelmRelease of its charts.
func (w *world) installedNamespaces() []string {
	used, installs := map[string]bool{}, map[string]bool{}
	for _, o := range w.applied {
		for platform, charts := range platformCharts {
			used[platform] = used[platform] || strings.Contains(o.Group, platform+".")
			installs[platform] = installs[platform] || isHelmRelease(o) && slices.Contains(charts, o.ChartName(w.find))
		}
	}
	var all []string
	for platform, namespaces := range platformNamespaces {
		if used[platform] && !installs[platform] {
			all = append(all, namespaces...)
		}
	}
	return all
}

// isReserved reports whether the cluster itself creates a namespace, or may create it. A misspelled name is not
// reserved.
func (w *world) isReserved(name string) bool {
	if _, misspelt := w.budget.nearest(name, knownNamespaces); misspelt {
		return false
	}
	return slices.ContainsFunc(reservedPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// missingNamespaces returns the destinations whose namespace no object in Git creates.
func (w *world) missingNamespaces() []destination {
	made := map[string]bool{"": true, w.cluster.Kustomizations[0].Namespace: true}
	for _, name := range slices.Concat(knownNamespaces, w.installedNamespaces()) {
		made[name] = true
	}
	for _, other := range append(slices.Clone(w.beside), w) {
		if b := other.cluster.Root.Boundary; b != nil {
			for _, namespace := range b.Spec.Namespaces {
				made[namespace] = true
			}
		}
		for _, o := range other.applied {
			switch {
			case strings.Contains(o.Kind, "Namespace"), o.Kind == "Project":
				made[o.Name] = true
			case o.Kind == "Workspace":
				made[cmp.Or(text(o.Value, "spec", "namespaceName"), o.Name)] = true
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

// mentionedByCharts returns the strings in the values of the HelmReleases whose charts are not available locally: such a
// chart may create a namespace that its values name.
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
				lower := strings.ToLower(name)
				walk(item, named || strings.Contains(lower, "namespace") && !strings.Contains(lower, "secret"))
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

// createdNamespaces returns the number of destinations whose Namespaces are in Git.
func (w *world) createdNamespaces() int {
	n := 0
	for _, d := range w.destinations() {
		if w.has(reconcile.Identity{Kind: "Namespace", Name: d.namespace}) {
			n++
		}
	}
	return n
}

// practised describes how the namespaces of a repository are created. alone: Git creates all other namespaces. fewer: Git
// creates fewer of them than it uses without creating. byScript: a file that Flux does not read may create this
// namespace.
type practised struct{ alone, fewer, byScript bool }

// namespaceMissing reports a destination whose namespace no object in Git creates, or records it as unresolved.
func (w *world) namespaceMissing(p *rule.Pass, open *questions, d destination, how practised) {
	alone, byScript := how.alone, how.byScript
	id := reconcile.Identity{Kind: "Namespace", Name: d.namespace}
	at := w.locate(d.of, d.namespace, d.path...)
	why := w.doubt(id)
	if why == "" && !alone && !w.near(id) {
		why = w.outside(id)
	}
	if why == "" && how.fewer && !w.near(id) {
		why = "Git creates few or no namespaces and uses many: what creates the others may create it"
	}
	one, several := "deploys to", "deploy to"
	if !isHelmRelease(d.of) && !isKustomization(d.of) || d.path[0] == "metadata" && isKustomization(d.of) {
		one, several = "is in", "are in"
	}
	near, typo := w.resembles(id)
	if why != "" && !typo {
		open.add(at, fmt.Sprintf("whether namespace %s, which %s %s, exists", d.namespace, d.of, one), why)
		return
	}
	goes := d.of.String() + " " + one
	if d.others > 0 {
		goes = fmt.Sprintf("%s and %s %s", d.of, plural(d.others, "other"), several)
	}
	f := finding.Finding{}
	hint := w.hint(id)
	if _, typo := schemas.Misspelt(d.namespace, knownNamespaces); typo || w.misspelt(id) || alone && !byScript && w.inFiles(id) == nil {
		f.Severity = finding.Error
	}
	if why != "" {
		f.Severity, hint = finding.Warning, near
	}
	if near, ok := w.budget.nearest(d.namespace, knownNamespaces); ok && hint == "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	} else if byScript {
		hint = "a script may create it, but Git creates all other namespaces: add a Namespace to the objects of the cluster"
	} else if hint == "" {
		hint = "add a Namespace to the objects of the cluster"
	}
	f.Message, f.Hint = fmt.Sprintf("no object creates namespace %q, which %s", d.namespace, goes), hint
	p.ReportBuilt(d.of, f.At(at))
}
