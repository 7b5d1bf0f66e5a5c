// Package roots finds the folders from which the clusters of a repository start. [Find] returns each
// synced folder with the Flux Kustomization that syncs it and the source object of the
// repository itself ([Root]).
package roots
