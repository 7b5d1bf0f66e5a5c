package k0rdent

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/generators/step"
	"github.com/fleetwright/fleetwright/internal/layout"
)

// templates writes the step with the templates of clusters and services, and their sources. It comes after the
// Management, without which kcm does not validate templates. It also waits for the templates that kcm creates, as far as
// the specification uses them.
func (g *generator) templates() {
	files := map[string][]any{"sources.yaml": g.sources(func(name string) bool { return !g.ofProviders(name) })}
	for _, t := range g.k.ClusterTemplates {
		if g.created.Cluster(t) {
			continue
		}
		name := v1alpha1.K0rdentObjectName(t.Name, t.Version)
		files[path.Join("clusters", name+".yaml")] = []any{newObject("ClusterTemplate", kept(system(name)), templateSpec{
			Helm: g.helm(t.Helm, t.Version), Providers: t.Providers, ProviderContracts: t.ProviderContracts, K8sVersion: t.K8sVersion,
		})}
	}
	for _, t := range g.k.ServiceTemplates {
		name := v1alpha1.K0rdentObjectName(t.Name, t.Version)
		spec := templateSpec{
			Kustomize: g.content(t.Kustomize), Resources: g.content(t.Resources), K8sConstraint: t.K8sConstraint, Version: t.Version,
		}
		if t.Helm != nil {
			spec.Helm = g.helm(t.Helm, t.Version)
			spec.Version = "" // Helm templates take the version from the chart
		}
		files[path.Join("services", name+".yaml")] = []any{newObject("ServiceTemplate", kept(system(name)), spec)}
	}
	created := g.usedOfKCM()
	g.Add(g.awaiting(step.Step{
		Name: "templates", After: []string{"management"}, Files: files,
		Unit: layout.Unit{HealthCheckExprs: healthy("ClusterTemplate", "ServiceTemplate")},
	}, len(created) > 0, created...))
}

// usedOfKCM returns references to the ClusterTemplates that kcm creates and that clusters and chains use, sorted by name.
func (g *generator) usedOfKCM() []meta.NamespacedObjectKindReference {
	names := map[string]bool{}
	use := func(template, version string) {
		if g.created.Template(template, version, nil) {
			names[v1alpha1.K0rdentObjectName(template, version)] = true
		}
	}
	for _, d := range g.k.ClusterDeployments {
		use(d.Template.Name, d.Template.Version)
	}
	for _, c := range g.k.ClusterTemplateChains {
		for _, p := range c.Paths {
			for _, version := range p.Versions {
				use(p.Template, version)
			}
		}
	}
	var out []meta.NamespacedObjectKindReference
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, reference("ClusterTemplate", v1alpha1.K0rdentNamespaceName, name))
	}
	return out
}

// sources returns the sources whose names of selects.
func (g *generator) sources(of func(name string) bool) []any {
	var out []any
	for _, s := range emit.ByName(g.k.Sources, func(s v1alpha1.K0rdentSource) string { return s.Name }) {
		if of(s.Name) {
			out = append(out, fluxSource(s))
		}
	}
	return out
}

// helm returns the reference to a version of a chart in one of the sources.
func (g *generator) helm(h *v1alpha1.K0rdentHelm, version string) *helmSpec {
	return &helmSpec{ChartSpec: chartSpec{
		Chart: h.Chart, Version: version, Interval: chartInterval,
		SourceRef: sourceRef{Kind: g.sourceKind(h.SourceRef.Name), Name: h.SourceRef.Name},
	}}
}

func (g *generator) sourceKind(name string) string {
	for _, s := range g.k.Sources {
		if s.Name == name {
			return s.Kind
		}
	}
	return sourcev1.HelmRepositoryKind // the repository kcm-templates
}

func (g *generator) content(c *v1alpha1.K0rdentContent) *contentSpec {
	if c == nil {
		return nil
	}
	out := &contentSpec{DeploymentType: c.DeploymentType, Path: c.Path}
	if c.SourceRef != nil {
		out.LocalSourceRef = &sourceRef{Kind: g.sourceKind(c.SourceRef.Name), Name: c.SourceRef.Name}
	}
	if r := c.Remote; r != nil {
		remote := &remoteSource{Interval: string(r.Interval), URL: r.URL}
		if r.Branch != "" || r.Tag != "" {
			remote.Ref = &sourceTag{Branch: r.Branch, Tag: r.Tag}
		}
		if isOCI(r.URL) {
			out.RemoteSourceSpec = &remoteSpec{OCI: remote}
		} else {
			out.RemoteSourceSpec = &remoteSpec{Git: remote}
		}
	}
	return out
}

func isOCI(url string) bool { return strings.HasPrefix(url, "oci://") }

// fluxSource returns the object of a source. Its label is required by the controllers that kcm can install; the
// platform's Flux ignores the label.
func fluxSource(s v1alpha1.K0rdentSource) any {
	meta := metav1.ObjectMeta{Name: s.Name, Namespace: v1alpha1.K0rdentNamespaceName, Labels: managedLabel()}
	typeMeta := func(kind string) metav1.TypeMeta { return emit.TypeMeta(sourcev1.GroupVersion, kind) }
	interval := emit.Duration(s.Interval)
	switch s.Kind {
	case sourcev1.GitRepositoryKind:
		git := &sourcev1.GitRepository{
			TypeMeta: typeMeta(s.Kind), ObjectMeta: meta,
			Spec: sourcev1.GitRepositorySpec{Interval: interval, URL: s.URL, SecretRef: emit.SecretRef(s.SecretRef)},
		}
		if s.Branch != "" || s.Tag != "" {
			git.Spec.Reference = &sourcev1.GitRepositoryRef{Branch: s.Branch, Tag: s.Tag}
		}
		return git
	case sourcev1.OCIRepositoryKind:
		oci := &sourcev1.OCIRepository{
			TypeMeta: typeMeta(s.Kind), ObjectMeta: meta,
			Spec: sourcev1.OCIRepositorySpec{Interval: interval, URL: s.URL, SecretRef: emit.SecretRef(s.SecretRef)},
		}
		if s.Tag != "" {
			oci.Spec.Reference = &sourcev1.OCIRepositoryRef{Tag: s.Tag}
		}
		return oci
	}
	helm := &sourcev1.HelmRepository{
		TypeMeta: typeMeta(sourcev1.HelmRepositoryKind), ObjectMeta: meta,
		Spec: sourcev1.HelmRepositorySpec{Interval: interval, URL: s.URL, SecretRef: emit.SecretRef(s.SecretRef)},
	}
	if isOCI(s.URL) {
		helm.Spec.Type = sourcev1.HelmRepositoryTypeOCI
	}
	return helm
}
