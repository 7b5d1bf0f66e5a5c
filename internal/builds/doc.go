// Package builds builds folders as kustomize-controller does, up to the substitution of variables. Its input is the
// files of a source and the spec of a Flux Kustomization ([Files.Build]). Its output ([Built]) is the objects, the
// files that were read, the gaps that cannot be known offline, and the failure if kustomize refuses to build. The
// repository is hostile input. Nothing in it is executed or fetched, nothing outside of it is read, and the cost of a
// build is bounded. The objects that a build omits for these reasons are unknown: the build returns a [Gap]. Most
// builds only list objects, label them and patch some; they are built without kustomize, with the same result
// (list*.go). kustomize's errors name no line: diagnose*.go find the place. The source of the facts is kustomize v0.21
// and github.com/fluxcd/pkg/kustomize; the tests compare the results with both.
package builds
