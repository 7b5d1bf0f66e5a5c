// Package helmfile reads the bootstraps of a repository: helmfiles, the helmCharts of kustomizations that Flux
// doesn't build, and the HelmCharts of K3s and RKE2. A repository goes in; releases come out ([ReadAll]), each with
// its chart, version and values, the places where they are written, and what of them is not known.
//
// Helmfiles are found by content, anywhere in a repository, and evaluated as helmfile 1.8 does, as far as that can change
// the verdict on a real bootstrap: parts, bases, environments, release templates, values as maps, files and templates. What
// is not evaluated is unknown, with the reason. Tests compare with what the real helmfile prints for the same files. A
// release of a file that helmfile refuses is read all the same, with the reasons of the refusal in our words.
package helmfile
