// Package wellknown lists the objects that well-known charts create in a cluster and the objects that they need, for charts that
// are not available. It contains only certain facts about the default values.
package wellknown

// definitions are the API groups of the CustomResourceDefinitions that a chart's release installs by default, by the name of
// the chart.
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

// created are the API groups of further CustomResourceDefinitions that exist before Flux runs because of a chart's release:
// its pods create them, or Flux itself is installed with them.
var created = map[string][]string{
	"cilium":        {"cilium.io"},
	"flux-instance": {"source.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io", "notification.toolkit.fluxcd.io"},
	"flux-operator": {"fluxcd.controlplane.io"},
}

// Defines returns the API groups of the CustomResourceDefinitions that a chart's release installs. value returns the
// value at a path of the release's values, nil if there is none.
func Defines(chart string, value func(path ...string) any) []string {
	off := func(path ...string) bool { return value(path...) == false }
	if off("crds", "enabled") || off("crds", "install") || off("crds", "create") || off("installCRDs") {
		return nil
	}
	if chart == "cert-manager" && value("crds", "enabled") != true && value("installCRDs") != true {
		return nil
	}
	return definitions[chart]
}

// Creates returns the API groups of further CustomResourceDefinitions that exist once a chart's release is ready.
func Creates(chart string) []string { return created[chart] }

// Requirement is an object that a chart creates.
type Requirement struct{ Group, Kind string }

// requirements are objects that a chart creates by default, of kinds that other charts define. Without the definition, its
// release cannot be installed.
var requirements = map[string]Requirement{
	"cert-manager-webhook-ovh": {"cert-manager.io", "Certificate"},
	"cluster-api-operator":     {"cert-manager.io", "Certificate"},
	"flux-instance":            {"fluxcd.controlplane.io", "FluxInstance"},
	"opentelemetry-operator":   {"cert-manager.io", "Certificate"},
	"trust-manager":            {"cert-manager.io", "Certificate"},
}

// withoutCertificate are values of charts, each of which is enough for the release to create no Certificate.
var withoutCertificate = map[string][]struct {
	path  []string
	value bool
}{
	"opentelemetry-operator": {
		{[]string{"admissionWebhooks", "create"}, false},
		{[]string{"admissionWebhooks", "certManager", "enabled"}, false},
	},
	"trust-manager": {{[]string{"app", "webhook", "tls", "helmCert", "enabled"}, true}},
}

// Requires returns an object that a chart's release creates, of a kind that another chart defines. value returns the value
// at a path of the release's values, nil if there is none.
func Requires(chart string, value func(path ...string) any) (Requirement, bool) {
	required, ok := requirements[chart]
	for _, without := range withoutCertificate[chart] {
		if value(without.path...) == without.value {
			return Requirement{}, false
		}
	}
	return required, ok
}

// networks are the charts that install a cluster's network. Without it, only pods in the node's network start.
var networks = map[string]bool{"antrea": true, "cilium": true, "flannel": true, "kube-ovn": true, "tigera-operator": true}

// IsNetwork reports whether a chart installs the cluster's network.
func IsNetwork(chart string) bool { return networks[chart] }

// IsDNS reports whether a release of a chart in a namespace installs the cluster's DNS.
func IsDNS(chart, namespace string) bool {
	return (chart == "coredns" || chart == "rke2-coredns") && namespace == "kube-system"
}

// podCharts are charts whose pods are in the cluster's network by default.
var podCharts = map[string]bool{"cert-manager": true, "cert-manager-webhook-ovh": true, "connect": true, "coredns": true, "external-dns": true,
	"external-secrets": true, "flux-instance": true, "flux-operator": true, "gateway-helm": true, "kube-prometheus-stack": true, "rke2-coredns": true, "trust-manager": true}

// HasPods reports whether a chart is known to have pods in the cluster's network.
func HasPods(chart string) bool { return podCharts[chart] }

// resolvers are the charts whose pods do not work without the cluster's DNS, because they immediately call servers by
// name.
var resolvers = map[string]string{
	"connect":       "1Password's servers",
	"external-dns":  "the DNS provider's servers",
	"flux-instance": "the Git server",
}

// Resolves returns the servers that a chart's pods call by name, "" if none are known.
func Resolves(chart string) string { return resolvers[chart] }
