// Package charts renders HelmReleases as helm-controller would: it finds charts, composes
// values, checks them against the chart's schema, renders the templates and post-renders the
// result. It is the only importer of helm.
//
// Data flows one way: files → [Chart]; a HelmRelease, its values and a chart → [Render] →
// manifests. A Chart is never changed once it is loaded, and safe for concurrent use.
//
// Charts are hostile input. Nothing is executed or fetched, the environment and the network
// are not looked at, and nothing outside of the repository, or of the folders that the user
// names, is read. What random and clock functions give is made up, the same in each run, so
// that a rendering depends on the repository only.
//
// Helm's own library loads charts, works out dependencies, merges values and splits
// manifests. Two parts of it cannot be bounded and are written anew here, held equal to
// Helm's by tests: its engine runs templates without a limit on time, memory or depth, and a
// template can even end the process (a map that holds itself, printed, overflows the stack,
// which Go cannot recover from); its check of values against a schema reads files and
// addresses that the schema refers to. The engine here runs Go's own text/template on trees
// that count each step, with functions that weigh their arguments first: see [budget].
//
// The source of the facts is helm-controller 1.6, source-controller 1.9 and Helm 4.2.
package charts
