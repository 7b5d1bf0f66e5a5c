// Package fluxinstall finds which version of Flux the clusters of a repository run, and what installs it. From the
// HelmReleases and objects of the clusters it returns definitions: FluxInstances, the chart that creates
// one, Flux's own manifests, the source that contains them, and the pair of objects that starts a cluster.
package fluxinstall
