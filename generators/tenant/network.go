package tenant

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
)

const networkComment = `All traffic of the pods is denied, except DNS, traffic inside their namespace, and what
spec.networkPolicy allows. Access to the cluster's own API server is denied, too.`

// dnsNamespace is the namespace of the cluster's DNS.
const dnsNamespace = "kube-system"

// networkPolicies returns the policies of each workload namespace. Policies add up: traffic is allowed if one
// of them allows it.
func networkPolicies(t *v1alpha1.Tenant) []any {
	everywhere := []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}
	open := t.Spec.NetworkPolicy
	var objects []any
	for _, ns := range t.Spec.Namespaces {
		add := func(name string, spec networkingv1.NetworkPolicySpec) {
			objects = append(objects, &networkingv1.NetworkPolicy{
				TypeMeta:   emit.TypeMeta(networkingv1.SchemeGroupVersion, "NetworkPolicy"),
				ObjectMeta: objectMeta(t, name, ns),
				Spec:       spec,
			})
		}
		add("default-deny", networkSpec(nil, nil, networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress))
		add("allow-dns", networkSpec(nil, []networkingv1.NetworkPolicyEgressRule{{
			Ports: dnsPorts(),
			To:    namespacePeers([]string{dnsNamespace}),
		}}, networkingv1.PolicyTypeEgress))
		add("allow-same-namespace", networkSpec(
			[]networkingv1.NetworkPolicyIngressRule{{From: everywhere}},
			[]networkingv1.NetworkPolicyEgressRule{{To: everywhere}},
			networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress))
		if len(open.IngressFrom) > 0 {
			add("allow-ingress", networkSpec([]networkingv1.NetworkPolicyIngressRule{{From: namespacePeers(open.IngressFrom)}}, nil,
				networkingv1.PolicyTypeIngress))
		}
		if to := egressPeers(open); len(to) > 0 {
			add("allow-egress", networkSpec(nil, []networkingv1.NetworkPolicyEgressRule{{To: to}}, networkingv1.PolicyTypeEgress))
		}
	}
	return objects
}

// networkSpec returns the spec of a policy for all pods of a namespace.
func networkSpec(in []networkingv1.NetworkPolicyIngressRule, out []networkingv1.NetworkPolicyEgressRule, types ...networkingv1.PolicyType) networkingv1.NetworkPolicySpec {
	return networkingv1.NetworkPolicySpec{PolicyTypes: types, Ingress: in, Egress: out}
}

func dnsPorts() []networkingv1.NetworkPolicyPort {
	port := intstr.FromInt32(53)
	return []networkingv1.NetworkPolicyPort{
		{Protocol: new(corev1.ProtocolUDP), Port: &port},
		{Protocol: new(corev1.ProtocolTCP), Port: &port},
	}
}

// namespacePeers returns peers for all pods of some namespaces, by the name label that the API server adds to
// each namespace.
func namespacePeers(names []string) []networkingv1.NetworkPolicyPeer {
	peers := make([]networkingv1.NetworkPolicyPeer, 0, len(names))
	for _, name := range names {
		peers = append(peers, networkingv1.NetworkPolicyPeer{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: name}},
		})
	}
	return peers
}

func egressPeers(open v1alpha1.NetworkPolicy) []networkingv1.NetworkPolicyPeer {
	peers := namespacePeers(open.EgressTo)
	for _, cidr := range open.EgressCIDRs {
		peers = append(peers, networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: cidr}})
	}
	return peers
}
