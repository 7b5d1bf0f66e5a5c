package k0rdent_test

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// kcmChart is the helm of a template whose chart is among kcm's own.
func kcmChart(chart, version string) string {
	return "helm: {chartSpec: {chart: " + chart + ", version: " + version + ", interval: 10m0s, sourceRef: {kind: HelmRepository, name: kcm-templates}}}"
}

func checkClusterTemplates(t *testing.T, r *rendered) {
	special := map[string]string{
		"aws-standalone-cp-1-0-43": kcmChart("aws-standalone-cp", "1.0.43") + `
providers: [infrastructure-aws, bootstrap-k0sproject-k0smotron]
providerContracts: {infrastructure-aws: v1beta2}
k8sVersion: v1.34.1+k0s.0`,
		"azure-standalone-cp-1-0-45": "helm: {chartSpec: {chart: charts/azure, version: 1.0.45, interval: 10m0s, sourceRef: {kind: GitRepository, name: cluster-baseline}}}",
	}
	for name := range special {
		r.Must("ClusterTemplate", name)
	}
	for _, o := range r.Of("ClusterTemplate") {
		want := special[o.Name()]
		if want == "" {
			version := o.Text("spec", "helm", "chartSpec", "version")
			want = kcmChart(strings.TrimSuffix(o.Name(), "-"+dashed(version)), version)
		}
		o.Holds(t, want, "spec")
	}
}

func checkServiceTemplates(t *testing.T, r *rendered) {
	for _, o := range r.Of("ServiceTemplate") {
		n := 0
		for _, kind := range []string{"helm", "kustomize", "resources"} {
			if o.Get("spec", kind) != nil {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s has %d of helm, kustomize and resources", o.Name(), n)
		}
	}
	for name, spec := range map[string]string{
		"ingress-nginx-4-13-2": "helm: {chartSpec: {chart: ingress-nginx, version: 4.13.2, interval: 10m0s, sourceRef: {kind: HelmRepository, name: ingress-nginx}}}",
		"cert-manager-1-19-1":  "helm: {chartSpec: {chart: cert-manager, version: 1.19.1, interval: 10m0s, sourceRef: {kind: HelmRepository, name: jetstack}}}",
		"baseline-1-4-0": `
kustomize: {deploymentType: Remote, path: ./base, localSourceRef: {kind: GitRepository, name: cluster-baseline}}
k8sConstraint: ">=1.32.0"
version: 1.4.0`,
		"quotas-2-1-0": `
kustomize: {deploymentType: Remote, path: ./quotas, localSourceRef: {kind: OCIRepository, name: bundles}}
version: 2.1.0`,
		"storage-classes-1-0-0": `
resources:
  deploymentType: Remote
  path: ./storage
  remoteSourceSpec: {git: {url: https://git.nimbus.example/platform/storage-classes.git, interval: 10m, ref: {tag: v1.0.0}}}
version: 1.0.0`,
		"policies-2-0-0": `
resources: {deploymentType: Local, remoteSourceSpec: {oci: {url: oci://registry.nimbus.example/policies, interval: 1h, ref: {tag: 2.0.0}}}}
version: 2.0.0`,
	} {
		r.Must("ServiceTemplate", name).Holds(t, spec, "spec")
	}
}

func checkFlux(t *testing.T, r *rendered) {
	for _, source := range []struct{ kind, name, spec string }{
		// kcm would set another one back.
		{"HelmRepository", "kcm-templates", "{type: oci, url: '" + v1alpha1.K0rdentCharts + "', interval: 10m0s}"},
		{"HelmRepository", "ingress-nginx", "{url: https://kubernetes.github.io/ingress-nginx, interval: 10m0s}"},
		{"HelmRepository", "jetstack", "{type: oci, url: oci://quay.io/jetstack/charts, interval: 10m0s}"},
		{"GitRepository", "cluster-baseline", "{url: https://git.nimbus.example/platform/cluster-baseline.git, ref: {tag: v1.4.0}, secretRef: {name: cluster-baseline-git}, interval: 10m0s}"},
		{"OCIRepository", "bundles", "{url: oci://registry.nimbus.example/bundles, ref: {tag: 2.1.0}, interval: 10m0s}"},
	} {
		o := r.Must(source.kind, source.name)
		o.Holds(t, "{name: "+source.name+", namespace: kcm-system, labels: {k0rdent.mirantis.com/managed: 'true'}}", "metadata")
		o.Holds(t, source.spec, "spec")
	}
	if r.Must("HelmRelease", "kcm").Get("spec", "values", "flux2", "enabled") != false {
		t.Error("kcm brings a second Flux")
	}
}
