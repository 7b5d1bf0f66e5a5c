// Package bootstrap compares the releases that a cluster's bootstrap installs with the HelmReleases that take them over: they
// must be the same. [Verify] returns the verdict on each release and on the Flux that is installed, and [Plan] the releases in
// order.
//
// The releases come from internal/helmfile, the HelmReleases from internal/helmrelease, and the definitions and installations
// of Flux from internal/fluxinstall. Only the Kustomizations of a cluster that may matter to a bootstrapped release are built.
// Every release is judged alone, even in a file that helmfile refuses.
//
// Values are compared as Helm reads them: 1 and 1.0 are the same number, "1" is a string, null is not the same as an absent
// key, but an empty map is. A difference has the rule for its cause, and both positions; if a patch sets a value, its
// position is in the patch.
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
