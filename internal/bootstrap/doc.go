// Package bootstrap compares what a bootstrap installs with the HelmReleases that take it over: a cluster's
// bootstrap must install exactly what Git says. A repository goes in; [Verify] gives the verdict on each release
// and on the Flux that is installed, and [Plan] the releases in order.
//
// The releases come from internal/helmfile, the HelmReleases from internal/helmrelease, what defines and installs
// Flux from internal/fluxinstall. Of a cluster's Kustomizations only those are built that may matter to a
// bootstrapped release. Every release is judged alone, even in a file that helmfile refuses.
//
// Values compare as Helm sees them: 1 and 1.0 are one number, "1" is a string, null is not absent,
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
