package kcm

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
)

// ClusterAPI is the chart of Cluster API itself.
const ClusterAPI = "cluster-api"

// releases are the versions of kcm's own charts in each of its releases, "-" if a release does not contain a chart
// (k0rdent/kcm, templates/provider/kcm-templates/files/templates at the tags). The charts kcm and
// kcm-regional have the version of the release.
const releases = `
release                                   1.6.0  1.7.0  1.8.0  1.9.0  1.10.0 1.11.0 1.11.1 1.11.2 1.11.3 1.11.4 1.12.0-rc1 1.12.0-rc2
adopted-cluster                           1.0.1  1.0.1  1.0.1  1.0.2  1.0.2  1.0.2  1.0.2  1.0.2  1.0.2  1.0.2  1.0.2      1.0.2
aws-eks                                   1.0.4  1.0.4  1.0.6  1.0.9  1.0.10 1.0.13 1.0.13 1.0.13 1.0.13 1.0.13 1.0.13     1.0.13
aws-hosted-cp                             1.0.21 1.0.21 1.0.24 1.0.31 1.0.36 1.0.43 1.0.44 1.0.44 1.0.44 1.0.45 1.0.45     1.0.45
aws-standalone-cp                         1.0.20 1.0.20 1.0.23 1.0.28 1.0.34 1.0.41 1.0.42 1.0.42 1.0.42 1.0.43 1.0.43     1.0.43
azure-aks                                 1.0.2  1.0.2  1.0.4  1.0.6  1.0.8  1.0.10 1.0.10 1.0.10 1.0.10 1.0.10 1.0.10     1.0.10
azure-hosted-cp                           1.0.23 1.0.23 1.0.26 1.0.33 1.0.39 1.0.46 1.0.47 1.0.47 1.0.47 1.0.48 1.0.48     1.0.48
azure-standalone-cp                       1.0.20 1.0.20 1.0.23 1.0.28 1.0.36 1.0.43 1.0.44 1.0.44 1.0.44 1.0.45 1.0.45     1.0.45
cluster-api                               1.0.9  1.1.2  1.1.4  1.1.9  1.1.13 1.1.15 1.1.15 1.1.15 1.1.15 1.1.15 1.1.15     1.1.15
cluster-api-provider-aws                  1.0.10 1.0.12 1.0.14 1.0.20 1.0.22 1.0.25 1.0.25 1.0.25 1.0.25 1.0.25 1.0.26     1.0.26
cluster-api-provider-azure                1.0.12 1.0.14 1.0.17 1.0.23 1.0.27 1.0.31 1.0.31 1.0.31 1.0.31 1.0.31 1.0.31     1.0.31
cluster-api-provider-docker               1.0.7  1.0.9  1.0.11 1.0.16 1.0.20 1.0.24 1.0.24 1.0.24 1.0.24 1.0.24 1.0.24     1.0.24
cluster-api-provider-gcp                  1.0.7  1.0.9  1.0.12 1.0.17 1.0.20 1.0.23 1.0.23 1.0.23 1.0.23 1.0.23 1.0.25     1.0.25
cluster-api-provider-infoblox             1.0.3  1.0.5  1.0.6  1.0.10 1.0.11 1.0.12 1.0.12 1.0.12 1.0.12 1.0.12 1.0.12     1.0.12
cluster-api-provider-ipam                 1.0.4  1.0.6  1.0.7  1.0.11 1.0.12 1.0.13 1.0.13 1.0.13 1.0.13 1.0.13 1.0.13     1.0.13
cluster-api-provider-k0sproject-k0smotron 1.0.14 1.0.16 1.0.18 1.0.24 1.0.26 1.0.32 1.0.32 1.0.32 1.0.32 1.0.32 1.0.33     1.0.33
cluster-api-provider-kubevirt             -      1.0.0  1.0.2  1.0.6  1.0.8  1.0.10 1.0.10 1.0.10 1.0.10 1.0.10 1.0.10     1.0.10
cluster-api-provider-openstack            1.0.12 1.0.15 1.0.16 1.0.23 1.0.25 1.0.28 1.0.28 1.0.28 1.0.28 1.0.28 1.0.29     1.0.29
cluster-api-provider-vsphere              1.0.7  1.0.10 1.0.12 1.0.16 1.0.19 1.0.21 1.0.21 1.0.21 1.0.21 1.0.21 1.0.21     1.0.21
docker-hosted-cp                          1.0.4  1.0.4  1.0.5  1.0.7  1.0.11 1.0.15 1.0.15 1.0.15 1.0.15 1.0.15 1.0.15     1.0.15
gcp-gke                                   1.0.7  1.0.7  1.0.8  1.0.12 1.0.13 1.0.15 1.0.15 1.0.15 1.0.15 1.0.15 1.0.15     1.0.15
gcp-hosted-cp                             1.0.20 1.0.20 1.0.23 1.0.29 1.0.34 1.0.43 1.0.44 1.0.44 1.0.44 1.0.45 1.0.45     1.0.45
gcp-standalone-cp                         1.0.18 1.0.18 1.0.21 1.0.25 1.0.32 1.0.41 1.0.42 1.0.42 1.0.42 1.0.43 1.0.43     1.0.43
kubevirt-hosted-cp                        -      1.0.1  1.0.4  1.0.7  1.0.10 1.0.18 1.0.21 1.0.21 1.0.21 1.0.22 1.0.21     1.0.21
kubevirt-standalone-cp                    -      1.0.1  1.0.4  1.0.7  1.0.12 1.0.20 1.0.23 1.0.23 1.0.23 1.0.24 1.0.23     1.0.23
openstack-hosted-cp                       1.0.13 1.0.13 1.0.16 1.0.25 1.0.31 1.0.38 1.0.39 1.0.39 1.0.39 1.0.40 1.0.40     1.0.40
openstack-standalone-cp                   1.0.22 1.0.22 1.0.25 1.0.29 1.0.37 1.0.44 1.0.45 1.0.45 1.0.45 1.0.46 1.0.46     1.0.46
projectsveltos                            1.1.1  1.1.1  1.1.1  1.8.0  1.9.0  1.12.1 1.12.1 1.12.1 1.12.1 1.12.1 1.12.1     1.12.1
remote-cluster                            1.0.19 1.0.19 1.0.22 1.0.25 1.0.29 1.0.36 1.0.37 1.0.37 1.0.37 1.0.38 1.0.38     1.0.38
vsphere-hosted-cp                         1.0.19 1.0.19 1.0.22 1.0.28 1.0.34 1.0.41 1.0.44 1.0.44 1.0.44 1.0.45 1.0.44     1.0.44
vsphere-standalone-cp                     1.0.18 1.0.18 1.0.21 1.0.25 1.0.33 1.0.40 1.0.41 1.0.41 1.0.41 1.0.42 1.0.42     1.0.42
`

// Release contains the versions of kcm's own charts in a release of k0rdent. With controller.createTemplates kcm
// creates a template for each of them.
type Release struct {
	// Version of the release, without a leading v.
	Version string
	charts  map[string]string
}

// known are the releases by version.
var known = sync.OnceValue(func() map[string]*Release {
	all := map[string]*Release{}
	lines := strings.Split(strings.TrimSpace(releases), "\n")
	versions := strings.Fields(lines[0])[1:]
	for _, version := range versions {
		all[version] = &Release{Version: version, charts: map[string]string{"kcm": version, "kcm-regional": version}}
	}
	for _, line := range lines[1:] {
		fields := strings.Fields(line)
		for i, version := range fields[1:] {
			if version != "-" {
				all[versions[i]].charts[fields[0]] = version
			}
		}
	}
	return all
})

// ReleaseOf returns the release with a version, nil if its charts are unknown.
func ReleaseOf(version string) *Release { return known()[strings.TrimPrefix(version, "v")] }

// Releases returns the versions of the known releases, sorted.
func Releases() []string {
	return slices.SortedFunc(maps.Keys(known()), func(a, b string) int { return semver.MustParse(a).Compare(semver.MustParse(b)) })
}

// ChartVersion returns the version of a chart in the release, "" if the release does not contain it.
func (r *Release) ChartVersion(chart string) string {
	if r == nil {
		return ""
	}
	return r.charts[chart]
}

// Providers returns the charts of the providers that the Release lists, sorted.
func (r *Release) Providers() []string {
	return r.chartsWhere(func(chart string) bool { _, is := brings[chart]; return is })
}

// Clusters returns the charts of clusters, sorted.
func (r *Release) Clusters() []string {
	return r.chartsWhere(func(chart string) bool { _, is := needs[chart]; return is })
}

// chartsWhere returns the charts of the release for which is returns true, sorted.
func (r *Release) chartsWhere(is func(chart string) bool) []string {
	if r == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r.charts)), func(chart string) bool { return !is(chart) })
}
