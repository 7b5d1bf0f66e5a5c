// Package templates evaluates the templates of helmfiles and of ResourceSets as helmfile 1.8 and the Flux Operator
// do. From a template, its data and the files of a repository it computes the rendered string.
// Nothing is executed or fetched, and nothing is read outside of the repository. A value that depends on a command, the
// environment, the network or a secret becomes a mark in the rendered string: a placeholder, for which [Engine.Marked]
// returns the reason. [Explore] evaluates under each assumption about environment variables in paths, so that a result which
// is the same under all of them is certain. The time and memory of a template are bounded.
package templates
