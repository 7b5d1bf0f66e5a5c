// Package bootstrap reads what a bootstrap installs, and compares it with the
// HelmReleases that take it over: a cluster's bootstrap must install exactly
// what Git says. [Verify] gives the verdict on each release, [Plan] the
// releases in order, [Values] the effective values of one.
//
// # The bootstrap's side
//
// Helmfiles are found by content, anywhere in a repository, and evaluated as
// helmfile 1.8 does: parts, bases, environments, release templates, values as
// maps, files and templates. Tests run the real helmfile on the same files.
// Nothing is executed, fetched or read outside of the repository; what depends
// on a command, the environment, the network or a secret is unresolved with its
// reason, and so is what exceeds the bounds of the evaluation. Every release is
// judged alone, even in a file that helmfile refuses.
//
// # Git's side
//
// A HelmRelease counts as Flux applies it: internal/reconcile builds what leads to it, cluster
// by cluster, with patches, namespaces and variables. Of its Kustomizations only those are built
// that may matter to a bootstrapped release. One that no cluster applies counts as the outermost
// kustomization makes it, or as its file has it. Chart and version are those of the source that
// it refers to; the values are merged as Flux merges them, and the names made as helm-controller
// makes them.
//
// Values compare as Helm sees them: 1 and 1.0 are one number, "1" is a text, null is not absent,
// an empty map is. A difference has the rule that its cause falls under, and both places; where
// a patch sets a value, that is in the patch.
//
// # A bootstrap without drift
//
// A plain helmfile.yaml can read chart, version and values from Git at run time,
// since helmfile renders the fields of releases and release templates (not those
// of repositories, helmDefaults or hooks) with readFile relative to the
// helmfile's folder:
//
//	templates:
//	  oci:
//	    chart: '{{ readFile (printf "../%s" .Release.Labels.source) | fromYaml | get "spec.url" }}'
//	    version: '{{ readFile (printf "../%s" .Release.Labels.source) | fromYaml | get "spec.ref.tag" }}'
//	    values:
//	      - templates/values.yaml.gotmpl
//	releases:
//	  - name: cilium
//	    namespace: kube-system
//	    labels:
//	      helmrelease: kubernetes/apps/kube-system/cilium/app/helmrelease.yaml
//	      source: kubernetes/apps/kube-system/cilium/app/ocirepository.yaml
//	    inherit:
//	      - template: oci
//
// with a values template, which reads relative to its own folder:
//
//	{{ readFile (printf "../../%s" .Release.Labels.helmrelease) | fromYaml | get "spec.values" (dict) | toYaml }}
//
// A HelmRelease whose values hold ${VAR} for the chart, not for Flux, must switch
// the substitution off (kustomize.toolkit.fluxcd.io/substitute: disabled).
package bootstrap
