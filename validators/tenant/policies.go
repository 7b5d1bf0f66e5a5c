package tenant

import (
	"encoding/json"
	"strings"

	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// policies describes what the admission policies of a cluster check, as far as their text shows.
type policies struct {
	// accounts reports whether a policy requires service accounts in Flux's objects. crossRefs reports whether
	// one checks the namespaces of their sources.
	accounts, crossRefs bool
	// pods reports whether a policy checks the security of pods.
	pods bool
	// networks reports whether network policies are generated or valid for all namespaces. quotas reports
	// whether quotas are generated.
	networks, quotas bool
}

// clusterWideNetworks are the kinds of network policies for whole clusters.
var clusterWideNetworks = map[string]bool{
	"cilium.io/CiliumClusterwideNetworkPolicy":            true,
	"crd.projectcalico.org/GlobalNetworkPolicy":           true,
	"projectcalico.org/GlobalNetworkPolicy":               true,
	"policy.networking.k8s.io/AdminNetworkPolicy":         true,
	"policy.networking.k8s.io/ClusterNetworkPolicy":       true,
	"policy.networking.k8s.io/BaselineAdminNetworkPolicy": true,
}

func policiesOf(c *cluster) policies {
	var p policies
	for _, o := range c.Objects() {
		switch {
		case clusterWideNetworks[o.Group+"/"+o.Kind]:
			p.networks = true
		case isPolicy(o):
			p.read(o)
		}
	}
	return p
}

// isPolicy reports whether an object is an admission policy.
func isPolicy(o *reconcile.Object) bool {
	switch o.Group {
	case admissionGroup:
		return o.Kind == "ValidatingAdmissionPolicy"
	case "kyverno.io", "policies.kyverno.io":
		return strings.HasSuffix(o.Kind, "Policy")
	case "constraints.gatekeeper.sh":
		return true
	case "policies.kubewarden.io":
		return strings.HasSuffix(o.Kind, "Policy")
	}
	return false
}

func (p *policies) read(o *reconcile.Object) {
	data, err := json.Marshal(o.Value["spec"])
	if err != nil {
		return
	}
	text := string(data)
	about := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) || strings.Contains(o.Kind, w) {
				return true
			}
		}
		return false
	}
	enforced := o.Group == admissionGroup || strings.EqualFold(o.Text("spec", "validationFailureAction"), "enforce") || about(`"failureAction":"Enforce"`, "Deny")
	if enforced {
		p.accounts = p.accounts || about("serviceAccountName")
		p.crossRefs = p.crossRefs || about("sourceRef")
	}
	p.pods = p.pods || about("podSecurity", "securityContext", "privileged", "K8sPSP")
	if about("generate", "generator") {
		p.networks = p.networks || about("NetworkPolicy")
		p.quotas = p.quotas || about("ResourceQuota")
	}
}
