// Package templates evaluates the templates of helmfiles and of ResourceSets as helmfile 1.8 and the Flux Operator
// do. A template, the data that it sees and the files of a repository go in; the rendered string comes out.
//
// Nothing is executed or fetched, and nothing is read outside of the repository. What depends on a command, the
// environment, the network or a secret becomes a mark in the rendered string, which [Engine.Marked] finds again
// with its reason. [Explore] evaluates under each assumption about what is unknown, so that what is the same under
// all of them is certain. What a template may take is bounded.
package templates
