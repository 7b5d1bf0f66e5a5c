// Package roots finds what the clusters of a repository start from: a repository goes in ([Find]); out come the
// folders that are synced, with the Flux Kustomization that syncs each and the source object that stands for the
// repository itself ([Root]).
package roots
