// Package exposure lists the annotations of Services, Ingresses and routes that expose more than the objects' fields do, as
// the admission policies of generated tenants and a tenant's own check judge them.
package exposure

// Patterns of annotation keys, in RE2. If all controllers use the same word, the pattern matches the last part of the
// key with any prefix.
const (
	// Hosts matches annotations with host names to serve, to publish in DNS, or to request a certificate for.
	Hosts = `/(([a-z0-9-]+-)?hostname|server-alias|host-aliases|redirect-from|alt-names|common-name|(ip|uri|email)-sans)$`
	// Configuration matches annotations that configure the ingress controller or load balancer itself, that match any
	// host, or that join a load balancer of others or lead to their backends.
	Configuration = `/(.*-snippets?|config-(backend|tcp|tcp-service)|(server-alias|redirect-from)-regex|conditions\..*)$|^alb\.ingress\.kubernetes\.io/(group\.name|actions\..*)$`
	// Requests matches annotations with addresses that an ingress controller calls, or with host names that it sends to a
	// backend: a service mesh routes requests by host name.
	Requests = `/(auth-url|auth-signin|auth-idp-oidc|mirror-target|mirror-uri|upstream-vhost|set-host|host-header)$`
	// References matches annotations that name objects which an ingress controller reads, as [NAMESPACE/]NAME.
	References = `/(.*-secret|auth-proxy-set-headers|custom-headers|fastcgi-params-configmap|server-ca|server-crt|client-ca)$`
)

// WithWWW is the end of the key of an annotation that serves each host's name with and without www.
const WithWWW = "/from-to-www-redirect"

// Addresses are the annotations that choose the address of a load balancer, or the address of a DNS name.
var Addresses = []string{
	"external-dns.alpha.kubernetes.io/target",
	"io.cilium/lb-ipam-ips",
	"kube-vip.io/loadbalancerIPs",
	"lbipam.cilium.io/ips",
	"metallb.io/loadBalancerIPs",
	"metallb.universe.tf/loadBalancerIPs",
}

// HostName matches a host name or wildcard, but no regular expression and no list of names.
const HostName = `^(\*\.)?[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
