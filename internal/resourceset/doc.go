// Package resourceset evaluates ResourceSets of the Flux Operator. From a ResourceSet with the places of its
// parts it computes the objects that the ResourceSet creates, with the places of their templates, and the
// reason if some objects are unknown.
package resourceset
