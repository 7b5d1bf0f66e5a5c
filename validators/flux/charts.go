package flux

import (
	"slices"

	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// definitions are the API groups whose definitions a chart's release brings, by the name of
// the chart: well-known charts that define kinds by default, and nothing that is in doubt.
var definitions = map[string][]string{
	"cert-manager":                    {"cert-manager.io", "acme.cert-manager.io"},
	"cloudnative-pg":                  {"postgresql.cnpg.io"},
	"crossplane":                      {"pkg.crossplane.io", "apiextensions.crossplane.io"},
	"external-secrets":                {"external-secrets.io", "generators.external-secrets.io"},
	"gateway-helm":                    {"gateway.envoyproxy.io", "gateway.networking.k8s.io"},
	"gha-runner-scale-set-controller": {"actions.github.com"},
	"grafana-operator":                {"grafana.integreatly.org"},
	"keda":                            {"keda.sh", "eventing.keda.sh"},
	"kube-prometheus-stack":           {"monitoring.coreos.com"},
	"kyverno":                         {"kyverno.io", "policies.kyverno.io"},
	"longhorn":                        {"longhorn.io"},
	"metallb":                         {"metallb.io"},
	"node-feature-discovery":          {"nfd.k8s-sigs.io"},
	"opentelemetry-operator":          {"opentelemetry.io"},
	"prometheus-operator-crds":        {"monitoring.coreos.com"},
	"rook-ceph":                       {"ceph.rook.io"},
	"sealed-secrets":                  {"bitnami.com"},
	"strimzi-kafka-operator":          {"kafka.strimzi.io"},
	"tofu-controller":                 {"infra.contrib.fluxcd.io"},
	"traefik":                         {"traefik.io"},
	"trust-manager":                   {"trust.cert-manager.io"},
	"vault-secrets-operator":          {"secrets.hashicorp.com"},
	"velero":                          {"velero.io"},
	"volsync":                         {"volsync.backube"},
}

// defines are the API groups whose definitions a HelmRelease brings.
func (w *world) defines(o *reconcile.Object) []string {
	if release := w.cluster.Release(o); release != nil {
		var groups []string
		for _, object := range release.All() {
			if object.Kind == "CustomResourceDefinition" {
				groups = append(groups, text(object.Value, "spec", "group"))
			}
		}
		slices.Sort(groups)
		return slices.Compact(groups)
	}
	chart := o.ChartName(w.find)
	values := field(o.Value, "spec", "values")
	on := field(values, "crds", "enabled") == true || field(values, "installCRDs") == true
	off := slices.ContainsFunc([]any{field(values, "crds", "enabled"), field(values, "crds", "install"), field(values, "crds", "create"),
		field(values, "installCRDs")}, func(v any) bool { return v == false })
	if off || chart == "cert-manager" && !on || text(o.Value, "spec", "install", "crds") == "Skip" || field(o.Value, "spec", "kubeConfig") != nil {
		return nil
	}
	return definitions[chart]
}
