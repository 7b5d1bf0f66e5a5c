// Package reconcile computes what Flux would apply from a repository: it finds each
// cluster's root, follows its graph of Kustomizations as kustomize-controller does (build,
// patch, substitute) and returns the objects with their origins.
//
// Data flows one way: repository → [Reconcile] → [Fleet] → clusters → Kustomizations →
// objects. Reconcile goes through these layers, each with one entry:
//
//   - roots: package roots, [roots.Find]
//   - sources: walker.sourceOf, the files of a Kustomization's source or of an artifact
//   - builds: package builds, [builds.Files.Build]
//   - substitution: Variables.substitute, the variables of postBuild in one object
//   - releases: releases.render, the objects that charts of HelmReleases render
//   - patches: package patches, for the positions of patched values (positions.go)
//
// [Compare] and [Object.Kept] compare two states of a cluster. A Fleet is complete when it is returned, never
// changed after, and safe for concurrent use.
//
// The repository is hostile input. Nothing of it is executed or fetched, nothing outside of
// it is read, and the cost of a build is bounded. A build reports each part that it leaves
// out for these reasons as a [builds.Gap]: the objects of that part are unknown.
//
// The source of the facts is kustomize-controller 1.9 and github.com/fluxcd/pkg/kustomize;
// the tests compare the results with the latter.
package reconcile
