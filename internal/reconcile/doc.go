// Package reconcile computes what Flux would apply from a repository: it finds each
// cluster's root, follows its graph of Kustomizations as kustomize-controller does (build,
// patch, substitute) and returns the objects with their origins.
//
// Data flows one way: repository → [Reconcile] → [Fleet] → clusters → Kustomizations →
// objects. A Fleet is complete when it is returned, never changed after, and safe for
// concurrent use.
//
// The repository is hostile input. Nothing of it is executed or fetched, nothing outside of
// it is read, and what a build may cost is bounded. What a build leaves out for these
// reasons is a [Gap]: the objects that would have come from there are not known.
//
// The source of the facts is kustomize-controller 1.9 and github.com/fluxcd/pkg/kustomize;
// the tests hold the results against the latter.
package reconcile
