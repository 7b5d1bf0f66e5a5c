// Package helmrelease reads the HelmReleases of a repository. What Flux would apply to its clusters goes in; an
// [Index] of the HelmReleases comes out, with the chart, version, values and names of each and the places where
// they are written.
//
// A HelmRelease counts as Flux applies it, cluster by cluster, with patches, namespaces and variables. One that no
// cluster applies counts as the outermost kustomization builds it, or as its file has it. Chart and version are
// those of the source that it refers to; the values are merged as Flux merges them, and the names are those that
// helm-controller gives.
package helmrelease
