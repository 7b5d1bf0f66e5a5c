// Package kcm contains the dependencies between k0rdent's own charts in releases 1.11 and
// 1.12: the providers of Cluster API that clusters need, the charts that contain them, and the kinds
// of identities that they accept.
package kcm

import (
	"maps"
	"slices"
	"strings"
)

// Infrastructure is the prefix of the names of providers that create machines.
const Infrastructure = "infrastructure-"

// Sveltos is the chart of Sveltos, which installs services. kcm reconciles clusters and services only when it is
// ready.
const Sveltos = "projectsveltos"

// internal is the provider in kcm itself, for clusters that are only adopted.
const internal = Infrastructure + "internal"

// smotron are the providers in k0smotron's chart. All of kcm's own templates whose
// control planes k0s creates need them.
var smotron = []string{"bootstrap-k0sproject-k0smotron", "control-plane-k0sproject-k0smotron", Infrastructure + "k0sproject-k0smotron"}

// needs are the providers that a chart of clusters needs (kcm v1.11.4 and v1.12.0-rc2, templates/cluster/*/Chart.yaml, the annotation
// cluster.x-k8s.io/provider).
var needs = func() map[string][]string {
	of := map[string][]string{
		"adopted-cluster": {internal},
		"aws-eks":         {Infrastructure + "aws"},
		"azure-aks":       {Infrastructure + "azure"},
		"gcp-gke":         {Infrastructure + "gcp"},
		"remote-cluster":  smotron,
	}
	for _, chart := range []string{
		"aws-hosted-cp", "aws-standalone-cp", "azure-hosted-cp", "azure-standalone-cp", "docker-hosted-cp", "gcp-hosted-cp", "gcp-standalone-cp",
		"kubevirt-hosted-cp", "kubevirt-standalone-cp", "openstack-hosted-cp", "openstack-standalone-cp", "vsphere-hosted-cp", "vsphere-standalone-cp",
	} {
		cloud, _, _ := strings.Cut(chart, "-")
		of[chart] = []string{Infrastructure + cloud, smotron[0], smotron[1]}
	}
	return of
}()

// brings are the providers that a chart of providers contains (kcm v1.11.4 and v1.12.0-rc2, templates/provider/*/Chart.yaml, the annotation
// cluster.x-k8s.io/provider).
var brings = map[string][]string{
	"cluster-api-provider-aws":                  {Infrastructure + "aws"},
	"cluster-api-provider-azure":                {Infrastructure + "azure"},
	"cluster-api-provider-docker":               {Infrastructure + "docker"},
	"cluster-api-provider-gcp":                  {Infrastructure + "gcp"},
	"cluster-api-provider-infoblox":             {"ipam-infoblox"},
	"cluster-api-provider-ipam":                 {"ipam-in-cluster"},
	"cluster-api-provider-k0sproject-k0smotron": smotron,
	"cluster-api-provider-kubevirt":             {Infrastructure + "kubevirt"},
	"cluster-api-provider-openstack":            {Infrastructure + "openstack"},
	"cluster-api-provider-vsphere":              {Infrastructure + "vsphere"},
	Sveltos:                                     nil,
}

// identities are the kinds of identities by provider (kcm v1.11.4 and v1.12.0-rc2, templates/provider/*/templates/interface.yaml;
// for the internal one internal/util/validation/cd.go).
var identities = map[string][]string{
	internal:                                {"Secret"},
	Infrastructure + "aws":                  {"AWSClusterStaticIdentity", "AWSClusterRoleIdentity", "AWSClusterControllerIdentity"},
	Infrastructure + "azure":                {"AzureClusterIdentity", "Secret"},
	Infrastructure + "docker":               {"Secret"},
	Infrastructure + "gcp":                  {"Secret"},
	Infrastructure + "k0sproject-k0smotron": {"Secret"},
	Infrastructure + "kubevirt":             {"Secret"},
	Infrastructure + "openstack":            {"Secret", "OpenStackClusterIdentity"},
	Infrastructure + "vsphere":              {"VSphereClusterIdentity", "Secret"},
}

// Needs returns the providers that the clusters of one of kcm's own charts need; ok is false for other charts.
func Needs(chart string) (providers []string, ok bool) {
	providers, ok = needs[chart]
	return slices.Clone(providers), ok
}

// Brings returns the providers that one of kcm's own charts of providers contains; ok is false for
// other charts.
func Brings(chart string) (providers []string, ok bool) {
	providers, ok = brings[chart]
	return slices.Clone(providers), ok
}

// Charts returns kcm's own charts of providers, sorted.
func Charts() []string { return slices.Sorted(maps.Keys(brings)) }

// BuiltIn reports whether a provider is part of kcm itself, whatever is enabled.
func BuiltIn(provider string) bool { return provider == internal }

// Bringing returns the charts that contain any of the providers, sorted.
func Bringing(providers []string) []string {
	var charts []string
	for chart, of := range brings {
		if slices.ContainsFunc(of, func(provider string) bool { return slices.Contains(providers, provider) }) {
			charts = append(charts, chart)
		}
	}
	slices.Sort(charts)
	return charts
}

// Infrastructures returns those of the providers that create machines, sorted.
func Infrastructures(providers []string) []string {
	var out []string
	for _, p := range providers {
		if strings.HasPrefix(p, Infrastructure) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Identities returns the kinds of identities that a provider accepts; none for a provider that isn't kcm's own.
func Identities(provider string) []string { return slices.Clone(identities[provider]) }

// Cloud reports whether a provider is for a cloud. Its name has been the same in every release; those
// of k0smotron have had other names.
func Cloud(provider string) bool {
	return identities[provider] != nil && !slices.Contains(smotron, provider)
}
