package kcm

import (
	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// Created says which objects of a K0rdent kcm itself creates, by the toggles of its chart: when
// it is first installed, and templates also for each further Release.
type Created struct {
	Management, Release, Templates bool
	// Of is the release with the charts of the templates. It is nil if these are unknown, because the version is unknown
	// or the charts come from another registry. Then Git contains all templates, and kcm's chart leaves out
	// those that exist (templates/provider/kcm-templates/templates/templates.yaml).
	Of *Release
}

// CreatedOf returns which objects of a K0rdent kcm creates.
func CreatedOf(s *v1alpha1.K0rdentSpec) Created {
	c := Created{
		Management: s.Creates(v1alpha1.K0rdentCreateManagement),
		Release:    s.Creates(v1alpha1.K0rdentCreateRelease),
		Templates:  s.Creates(v1alpha1.K0rdentCreateTemplates),
	}
	if s.ChartsURL == v1alpha1.K0rdentCharts {
		c.Of = ReleaseOf(s.Version)
	}
	return c
}

// Template reports whether kcm creates the template of a chart's version, from a source of charts.
func (c Created) Template(chart, version string, source *v1alpha1.K0rdentHelm) bool {
	own := source == nil || source.Chart == chart && source.SourceRef != nil && source.SourceRef.Name == v1alpha1.K0rdentTemplates
	return c.Templates && own && version != "" && c.Of.ChartVersion(chart) == version
}

// Cluster reports whether kcm creates the template of a cluster. kcm does not create a template that sets more than its
// chart.
func (c Created) Cluster(t v1alpha1.K0rdentTemplate) bool {
	return c.Template(t.Name, t.Version, t.Helm) && len(t.Providers)+len(t.ProviderContracts) == 0 && t.K8sVersion == ""
}

// Enabled returns the providers that the Management enables, and whether they are known. A Management that kcm
// creates enables all providers of its Release.
func (c Created) Enabled(s *v1alpha1.K0rdentSpec) (enabled []v1alpha1.K0rdentProvider, known bool) {
	if c.Management && c.Release {
		for _, chart := range c.Of.Providers() {
			enabled = append(enabled, v1alpha1.K0rdentProvider{Name: chart, Version: c.Of.ChartVersion(chart)})
		}
		return enabled, c.Of != nil
	}
	for _, p := range s.Providers {
		if !p.Disabled {
			enabled = append(enabled, p)
		}
	}
	return enabled, true
}

// Complete sets the versions of kcm's own charts that a K0rdent leaves out, if its release is known.
func Complete(s *v1alpha1.K0rdentSpec) {
	of := CreatedOf(s).Of
	if s.CAPI.Version == "" {
		s.CAPI.Version = of.ChartVersion(ClusterAPI)
	}
	for i := range s.Providers {
		p := &s.Providers[i]
		if p.Version == "" && (p.Helm == nil || p.Helm.SourceRef != nil && p.Helm.SourceRef.Name == v1alpha1.K0rdentTemplates) {
			chart := p.Name
			if p.Helm != nil {
				chart = p.Helm.Chart
			}
			p.Version = of.ChartVersion(chart)
		}
	}
}
