package k0rdent_test

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/examples/platformtest"
)

// example is the specification of examples/k0rdent, changed by pairs of old and
// new text, each of which it must have.
func example(t testing.TB, changes ...string) *v1alpha1.Spec {
	t.Helper()
	return platformtest.Spec(t, "k0rdent", changes...)
}

// to112 renders the example as k0rdent 1.12.
var to112 = []string{"version: 1.11.4", "version: 1.12.0-rc2"}

// full are fields that the example leaves out: every field of the checklist is in the example with
// these.
var full = []string{
	"  capi:\n    version: 1.1.15\n", "  capi:\n    version: 1.1.15\n    config: {manager: {verbosity: 2}}\n",
	"      version: 1.0.25\n", "      version: 1.0.25\n      config: {replicas: 2}\n",
	"      secretRef:\n        name: cluster-baseline-git\n", "      secretRef:\n        name: cluster-baseline-git\n" +
		"    - {name: bundles, kind: OCIRepository, url: oci://registry.nimbus.example/bundles, tag: 2.1.0}\n",
	"      #providerContracts:\n      #  infrastructure-aws: v1beta2\n      #k8sVersion: v1.34.1+k0s.0\n",
	"      providers: [infrastructure-aws, bootstrap-k0sproject-k0smotron]\n" +
		"      providerContracts: {infrastructure-aws: v1beta2}\n      k8sVersion: v1.34.1+k0s.0\n",
	"    - name: azure-standalone-cp\n      version: 1.0.45\n    -", "    - name: azure-standalone-cp\n      version: 1.0.45\n" +
		"      helm: {chart: charts/azure, sourceRef: {name: cluster-baseline}}\n    -",
	"  serviceTemplates:\n", "  serviceTemplates:\n    - name: policies\n      version: 2.0.0\n      resources:\n        deploymentType: Local\n" +
		"        remote: {url: oci://registry.nimbus.example/policies, tag: 2.0.0, interval: 1h}\n" +
		"    - name: quotas\n      version: 2.1.0\n      kustomize: {path: ./quotas, sourceRef: {name: bundles}}\n",
	"      vsphere:\n", "      region: munich\n      vsphere:\n",
	"      credentials: [openstack, vsphere]\n", "      credentials: [openstack, vsphere]\n" +
		"    - namespaces: {stringSelector: 'nimbus.example/stage in (development)'}\n      serviceTemplateChains: [services]\n",
	"          #valuesFrom:\n          #  - kind: ConfigMap\n          #    name: ingress-values\n",
	"          valuesFrom:\n            - {kind: ConfigMap, name: ingress-values}\n            - {kind: Secret, name: ingress-tokens}\n" +
		"          dependsOn: [{name: cert-manager, namespace: cert-manager}, {name: issuers}]\n" +
		"        - {name: cert-manager, namespace: cert-manager, template: {name: cert-manager, version: 1.19.1}}\n" +
		"        - {name: issuers, template: {name: cert-manager, version: 1.19.1}}\n",
}

// rendered is a rendered platform repository.
type rendered struct{ *platformtest.Rendered }

type object = platformtest.Object

func render(t testing.TB, spec *v1alpha1.Spec, secrets ...string) *rendered {
	t.Helper()
	return &rendered{platformtest.Render(t, "k0rdent", spec, secrets...)}
}

// step is the folder of the step that applies an object.
func (r *rendered) step(kind, name string) string {
	if parts := strings.Split(r.File(kind, name), "/"); len(parts) > 1 {
		return parts[1]
	}
	return ""
}

// same holds an object against what it was.
func same(t *testing.T, before, after *rendered, kind, name string) {
	t.Helper()
	platformtest.Same(t, before.Rendered, after.Rendered, kind, name)
}

func changed(before, after *rendered) []string {
	return platformtest.Changed(before.Rendered, after.Rendered)
}

const prune = platformtest.Prune
