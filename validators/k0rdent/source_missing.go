package k0rdent

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// SourceMissing is k0rdent-source-missing.
var SourceMissing = rule.Rule{
	ID:       "k0rdent-source-missing",
	Title:    "a template whose source does not exist",
	Severity: finding.Error,
	Why: `A template is valid when kcm has fetched its chart, or when its source is ready. If the source does not exist,
the template never becomes valid, and kcm's webhooks refuse the clusters and services that use it. A Release
with such a ProviderTemplate never becomes ready, and the Management is refused.

A chart's sourceRef is in the template's own namespace, for a ProviderTemplate in kcm-system. So are a chartRef
and a localSourceRef without a namespace. kcm creates the HelmRepository kcm-templates in every namespace with a
template. Sources of a kind that Git does not contain, HelmCharts, ConfigMaps and Secrets may be created
elsewhere: they are unresolved.`,
	Fix: `Correct the kind, name or namespace of the source, or add the source.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			platform.Dangling{There: w.source, Consequence: "the template never becomes valid", Hint: w.otherSource}.Report(p, w.ManagementCluster, w.sources())
		}
	},
}

// sources returns the references of templates to their sources.
func (w *managementCluster) sources() []platform.Reference {
	var out []platform.Reference
	for _, o := range w.Own {
		if o.Kind != clusterTemplate && o.Kind != serviceTemplate && o.Kind != providerTemplate {
			continue
		}
		namespace := o.Namespace
		if o.Kind == providerTemplate {
			namespace = system
		}
		for _, path := range [][]any{
			{"spec", "helm", "chartSpec", "sourceRef"},
			{"spec", "helm", "chartRef"},
			{"spec", "helm", "chartSource", "localSourceRef"},
			{"spec", "kustomize", "localSourceRef"},
			{"spec", "resources", "localSourceRef"},
		} {
			kind, of, from := o.Text(at(path, "kind")...), fluxapi.SourceGroup, namespace
			if path[len(path)-1] != "sourceRef" {
				from = cmp.Or(o.Text(at(path, "namespace")...), namespace)
			}
			if kind == "ConfigMap" || kind == "Secret" {
				of = ""
			}
			if kind != "" {
				out = append(out, platform.Of(o, of, kind, from, at(path, "name")...))
			}
		}
	}
	return out
}

// source reports whether a template's source exists although Git does not have it. doubt is the reason if that is
// unknown.
func (w *managementCluster) source(r platform.Reference) (is bool, doubt string) {
	switch {
	case r.Kind == "HelmRepository" && r.Name == ownRepository:
		return true, ""
	case r.Group == "":
		return false, r.Kind + "s may be created outside Git"
	case r.Kind == "HelmChart":
		return false, "controllers create HelmCharts"
	}
	if doubt := w.Doubt(r); doubt != "" {
		return false, doubt
	}
	if w.TypoOf(r.Name, w.Names(r.Group, r.Kind, r.Namespace)) != "" || w.otherSource(r) != "" {
		return false, ""
	}
	if !w.Holds(r.Group, r.Kind) {
		return false, "Git has no " + r.Kind + " at all"
	}
	if release := w.charts[r.Namespace]; release != nil {
		return false, "the chart of " + release.String() + " may install it"
	}
	return false, ""
}

// otherSource returns a hint if a source with the name exists in another namespace, or with another kind.
func (w *managementCluster) otherSource(r platform.Reference) string {
	if r.Group != fluxapi.SourceGroup {
		return ""
	}
	for _, kind := range []string{"HelmRepository", "GitRepository", "OCIRepository", "Bucket"} {
		other := r
		if other.Kind = kind; kind != r.Kind && w.Has(other) {
			return "a source of this name exists with kind " + kind
		}
	}
	if in := w.namespacesOf(r); len(in) > 0 {
		return "it is in namespace " + strings.Join(in[:min(len(in), mostListed)], ", ")
	}
	return ""
}

// namespacesOf returns the sorted namespaces that have an object with the kind and name of a reference.
func (w *managementCluster) namespacesOf(r platform.Reference) []string {
	if w.elsewhereOf == nil {
		w.elsewhereOf = map[reconcile.Identity][]string{}
		for _, o := range w.Objects {
			id := o.Identity
			id.Namespace = ""
			w.elsewhereOf[id] = append(w.elsewhereOf[id], o.Namespace)
		}
		for _, in := range w.elsewhereOf {
			slices.Sort(in)
		}
	}
	return w.elsewhereOf[reconcile.Identity{Group: r.Group, Kind: r.Kind, Name: r.Name}]
}
