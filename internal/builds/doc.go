// Package builds builds folders as kustomize-controller does, up to the substitution of variables: the files of
// a source and the spec of a Flux Kustomization go in ([Files.Build]); the objects come out, with the files that
// were read, the gaps that cannot be known offline, and the failure where kustomize refuses ([Built]).
//
// The repository is hostile input. Nothing of it is executed or fetched, nothing outside of it is read, and what a
// build may cost is bounded. The objects that a build leaves out for these reasons are not known: it returns a
// [Gap].
//
// Most builds only list objects, label them and patch some; they are built without kustomize, with the same
// result (list*.go). Where kustomize refuses, its error names no line: diagnose*.go find the place.
//
// The source of the facts is kustomize v0.21 and github.com/fluxcd/pkg/kustomize; the tests hold the results
// against both.
package builds
