// Package helmrelease reads the HelmReleases of a repository. From the objects that Flux would apply to its clusters it
// builds an [Index] of the HelmReleases, with the chart, version, values and names of each and the places where they
// are written. A HelmRelease is read as Flux applies it, cluster by cluster, with patches, namespaces and variables. If
// no cluster applies it, it is read as the outermost kustomization builds it, or as it is in its file. Chart and
// version come from the source that it refers to. The values are merged as Flux merges them, and the names are those
// that helm-controller uses.
package helmrelease
