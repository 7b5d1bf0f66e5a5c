// Package kcm knows what k0rdent's own charts need of each other, as it is in releases 1.11 and
// 1.12: the providers of Cluster API that clusters need, the charts that bring them, and the kinds
// of identities that they take.
package kcm

import (
	"maps"
	"slices"
	"strings"
)

// Infrastructure is how the names of providers begin that make machines.
const Infrastructure = "infrastructure-"

// Sveltos is the chart of Sveltos, which installs services. It must be ready before kcm looks at any
// cluster or service.
const Sveltos = "projectsveltos"

// internal is the provider that comes with kcm itself, for clusters that are only adopted.
const internal = Infrastructure + "internal"

// smotron are the providers of k0smotron's chart, which all of kcm's own templates need whose
// control planes k0s makes.
var smotron = []string{"bootstrap-k0sproject-k0smotron", "control-plane-k0sproject-k0smotron", Infrastructure + "k0sproject-k0smotron"}

// needs is by chart (kcm v1.11.4 and v1.12.0-rc2, templates/cluster/*/Chart.yaml, the annotation
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

// brings is by chart (kcm v1.11.4 and v1.12.0-rc2, templates/provider/*/Chart.yaml, the annotation
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

// identities is by provider (kcm v1.11.4 and v1.12.0-rc2, templates/provider/*/templates/interface.yaml;
// of the internal one internal/util/validation/cd.go).
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

// Needs are the providers that clusters of one of kcm's own charts need; ok says that it is one.
func Needs(chart string) (providers []string, ok bool) {
	providers, ok = needs[chart]
	return slices.Clone(providers), ok
}

// Brings are the providers that one of kcm's own charts of providers brings; ok says that it is
// one.
func Brings(chart string) (providers []string, ok bool) {
	providers, ok = brings[chart]
	return slices.Clone(providers), ok
}

// Charts are kcm's own charts of providers, sorted.
func Charts() []string { return slices.Sorted(maps.Keys(brings)) }

// BuiltIn says whether a provider comes with kcm itself, whatever is enabled.
func BuiltIn(provider string) bool { return provider == internal }

// Bringing are the charts that bring any of some providers, sorted.
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

// Infrastructures are those of some providers that make machines, sorted.
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

// Identities are the kinds of identities that a provider takes; none of one that isn't kcm's own.
func Identities(provider string) []string { return slices.Clone(identities[provider]) }

// Cloud says whether a provider is of a cloud, whose name has been the same in every release; those
// of k0smotron have had others.
func Cloud(provider string) bool {
	return identities[provider] != nil && !slices.Contains(smotron, provider)
}
