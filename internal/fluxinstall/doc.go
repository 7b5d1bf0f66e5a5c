// Package fluxinstall finds which version of Flux the clusters of a repository run, and what installs it. The
// HelmReleases and objects of the clusters go in; the definitions come out: FluxInstances, the chart that creates
// one, Flux's own manifests, the source that they come from, and the pair of objects that starts a cluster.
package fluxinstall
