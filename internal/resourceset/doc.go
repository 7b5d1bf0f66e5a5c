// Package resourceset evaluates ResourceSets of the Flux Operator. A ResourceSet goes in, with the places of its
// parts; the objects that it creates come out, with the places of the templates that they come from, and the
// reason where not all of them are known.
package resourceset
