// Package helmfile reads the bootstraps of a repository: helmfiles, the helmCharts of kustomizations that Flux
// doesn't build, and the HelmCharts of K3s and RKE2. [ReadAll] returns their releases, each with its chart, version and values,
// their positions, and the parts that are unknown.
//
// Helmfiles are found by content, anywhere in a repository, and evaluated as helmfile 1.8 does, as far as that can change
// the verdict on a real bootstrap: parts, bases, environments, release templates, values as maps, files and templates. Anything
// that is not evaluated is unknown, with the reason. Tests compare with the output of the real helmfile for the same files. A
// release of a file that helmfile refuses is read all the same, and the reasons of the refusal are in our own words.
package helmfile
