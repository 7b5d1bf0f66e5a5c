// Package charts renders HelmReleases as helm-controller would: it finds charts, composes values, checks them against the
// chart's schema, renders the templates and post-renders the result. It is the only importer of helm.
//
// Data flows one way: files → [Chart]; a HelmRelease, its values and a chart → [Render] → manifests. A Chart is never
// changed once it is loaded, and safe for concurrent use.
//
// Charts are hostile input. Nothing is executed or fetched, the environment and the network are not used, and nothing
// outside of the repository, or of the folders that the user names, is read. Random functions and clocks return fixed
// values, the same in each run, so that a rendering depends on the repository only.
//
// Helm's own library loads charts, works out dependencies, merges values, runs the templates and splits manifests.
// Functions that would read the environment, or return another value in each run, are replaced by [execution.functions].
// Only the check of values against a schema is reimplemented here, since Helm's reads files and addresses that the schema
// refers to.
//
// Neither Helm's engine nor the check of a schema can be stopped. Each is a unit of package bounds, which measures its
// cost and ends it. This package counts before the work begins what would end the process before a guard can act: how
// deep a template nests, and how much memory a function allocates at once.
//
// The source of the facts is helm-controller 1.6, source-controller 1.9 and Helm 4.2.
package charts
