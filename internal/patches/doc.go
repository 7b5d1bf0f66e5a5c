// Package patches reads the patches of kustomizations. For kustomizations and the objects of a build it returns
// the places in files at which patches set values of an object ([Patch.Sets]), and the objects that the targets of
// patches select ([Build.Targeted]).
package patches
