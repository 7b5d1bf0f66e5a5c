package k0rdent

import (
	"path"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/generators/step"
	"github.com/fleetwright/fleetwright/internal/layout"
)

// templates is the step of the templates of clusters and services, with their
// sources. kcm judges them only when there is a Management.
func (g *generator) templates() {
	files := map[string][]any{}
	for _, s := range emit.ByName(g.k.Sources, func(s v1alpha1.K0rdentSource) string { return s.Name }) {
		files["sources.yaml"] = append(files["sources.yaml"], fluxSource(s))
	}
	for _, t := range g.k.ClusterTemplates {
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
			spec.Version = "" // the chart's
		}
		files[path.Join("services", name+".yaml")] = []any{newObject("ServiceTemplate", kept(system(name)), spec)}
	}
	g.Add(step.Step{
		Name: "templates", After: []string{"management"}, Files: files,
		Unit: layout.Unit{Wait: true, HealthCheckExprs: healthy("ClusterTemplate", "ServiceTemplate")},
	})
}

// helm is a chart of a version in one of the sources.
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
	return sourcev1.HelmRepositoryKind // kcm-templates
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

// fluxSource is a source beside the templates that use it. It has the label that
// the controllers which kcm can bring along want; the platform's Flux takes it
// with or without.
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
