package tenant

import (
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// podPolicy keeps pods from taking the place of the cluster's own and, unless the profile
// is admin, from working with the rights of Flux's account: what it may do is for what is
// in Git. Every workload's pods are created in the namespace, so that the rule for Pods
// holds for all; that for the templates says so earlier.
func podPolicy(t *v1alpha1.Tenant) policy {
	p := policy{
		suffix: "pods",
		resources: []admissionv1.NamedRuleWithOperations{
			createRule("", "pods"),
			resourceRule("apps", "daemonsets", "deployments", "statefulsets"),
			resourceRule("batch", "cronjobs", "jobs"),
		},
		exempt: sameSpec,
		variables: []admissionv1.Variable{{Name: "pod", Expression: `dyn(object).?spec.?jobTemplate.?spec.?template.?spec.or(
  dyn(object).?spec.?template.?spec).or(dyn(object).?spec).orValue({})`}},
		validations: []admissionv1.Validation{
			validation(`!variables.pod.?priorityClassName.orValue("").startsWith("system-")`,
				"a priority class of the system's is not allowed: its pods evict those of others"),
		},
	}
	if t.Spec.Access.Profile == profileAdmin {
		return p
	}
	p.resources[0].Resources = append(p.resources[0].Resources, "secrets")
	p.validations = append(p.validations,
		validation(celString(helmAccount(t))+` != variables.pod.?serviceAccountName.orValue("") &&
`+celString(helmAccount(t))+` != variables.pod.?serviceAccount.orValue("")`,
			"pods may not run as "+helmAccount(t)+": it is Flux's account"),
		validation(`object.kind != "Secret" || dyn(object).?type.orValue("") != "kubernetes.io/service-account-token"`,
			"a Secret with the token of an account is not allowed"))
	return p
}

// Annotations of Services, Ingresses and routes that say more than their fields do. Where the
// controllers use the same word, the last part of the key is matched, whatever its prefix.
const (
	// Names to serve, to put into DNS, or to have a certificate for.
	hostAnnotations = `/(([a-z0-9-]+-)?hostname|server-alias|host-aliases|redirect-from|alt-names|common-name|(ip|uri|email)-sans)$`
	// Configuration of an ingress controller or load balancer itself, expressions that match any
	// host, and what joins a load balancer of others' or leads to their backends.
	configAnnotations = `/(.*-snippets?|config-(backend|tcp|tcp-service)|(server-alias|redirect-from)-regex|conditions\..*)$|^alb\.ingress\.kubernetes\.io/(group\.name|actions\..*)$`
	// Addresses that an ingress controller calls, and the host names that it sends to a backend: a
	// service mesh leads a request by them.
	requestAnnotations = `/(auth-url|auth-signin|auth-idp-oidc|mirror-target|mirror-uri|upstream-vhost|set-host|host-header)$`
	// Objects that an ingress controller reads, as [NAMESPACE/]NAME.
	referenceAnnotations = `/(.*-secret|auth-proxy-set-headers|custom-headers|fastcgi-params-configmap|server-ca|server-crt|client-ca)$`
)

// addressAnnotations choose the address of a load balancer, or of a name in the DNS.
var addressAnnotations = []string{
	"external-dns.alpha.kubernetes.io/target",
	"io.cilium/lb-ipam-ips",
	"kube-vip.io/loadbalancerIPs",
	"lbipam.cilium.io/ips",
	"metallb.io/loadBalancerIPs",
	"metallb.universe.tf/loadBalancerIPs",
}

// hostName matches a name or a wildcard, and neither a regular expression nor several names.
const hostName = `^(\*\.)?[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`

// servedHosts are lists of all names that an object asks traffic for. A rule, listener or
// route without a name asks for every host, which "" stands for; but a route of a mesh,
// whose parents are Services, has no names. from-to-www-redirect serves each host's name with
// www. and without. What a Certificate names has a rule of its own.
var servedHosts = `(object.kind in ["Service", "Certificate", "CertificateRequest", "Order", "Challenge"] ? dyn([]) :
  object.kind == "Ingress" ?
  dyn([variables.spec.?rules.orValue([]).map(r, r.?host.orValue(""))] + variables.spec.?tls.orValue([]).map(t, t.?hosts.orValue([]))) :
  has(variables.spec.listeners) ? dyn([variables.spec.listeners.map(l, l.?hostname.orValue(""))]) :
  variables.spec.?hostnames.orValue([]).size() > 0 ? dyn([variables.spec.hostnames]) :
  variables.spec.?parentRefs.orValue([]).exists(p, p.?kind.orValue("Gateway") != "Service") ? dyn([[""]]) : dyn([])) +
  (variables.annotations.exists(key, key.endsWith("/from-to-www-redirect") && variables.annotations[key] != "false") ?
  dyn([variables.spec.?rules.orValue([]).map(r, r.?host.orValue("").startsWith("www.") ? r.host.substring(4) : "www." + r.?host.orValue(""))]) : dyn([])) +
  variables.annotations.filter(key, key.matches(` + celString(hostAnnotations) + `)).map(key, variables.annotations[key].split(",").map(h, h.trim()).filter(h, h != ""))`

// exposurePolicy keeps a tenant's names and addresses its own. Other tenants' are not
// known to admission, so that a tenant has the hosts that the specification lists.
func exposurePolicy(t *v1alpha1.Tenant) policy {
	return policy{
		suffix: "exposure",
		resources: []admissionv1.NamedRuleWithOperations{
			resourceRule("", "services"),
			resourceRule("networking.k8s.io", "ingresses"),
			resourceRule("gateway.networking.k8s.io", "gateways", "grpcroutes", "httproutes", "listenersets", "tlsroutes"),
			resourceRule("gateway.networking.x-k8s.io", "xlistenersets"),
			resourceRule("cert-manager.io", "certificaterequests", "certificates"),
			resourceRule("acme.cert-manager.io", "challenges", "orders"),
		},
		exempt:    sameSpecAndAnnotations,
		variables: []admissionv1.Variable{specVariable, annotationsVariable},
		validations: []admissionv1.Validation{
			hostRule(t),
			validation("!has(variables.spec.defaultBackend)",
				"spec.defaultBackend is not allowed: it serves every host"),
			validation(`variables.spec.?externalIPs.orValue([]).size() == 0 && variables.spec.?addresses.orValue([]).size() == 0 &&
variables.spec.?loadBalancerIP.orValue("") == "" &&
!`+celList(addressAnnotations)+`.exists(key, key in variables.annotations)`,
				"addresses are not a tenant's to choose: spec.externalIPs, spec.loadBalancerIP, spec.addresses, and annotations for them"),
			validation(`variables.spec.?type.orValue("") != "ExternalName"`,
				"a Service of type ExternalName is not allowed: its name may lead to another namespace"),
			validation("variables.annotations.all(key, !key.matches("+celString(configAnnotations)+"))",
				"annotations that configure the ingress controller are not allowed"),
			validation("variables.annotations.all(key, !key.matches("+celString(requestAnnotations)+"))",
				"annotations with an address that the ingress controller calls are not allowed"),
			validation(`variables.annotations.all(key, !key.matches(`+celString(referenceAnnotations)+`) || !variables.annotations[key].contains("/") ||
  variables.annotations[key].startsWith(string(object.metadata.namespace) + "/"))`,
				"an annotation may not name a Secret or ConfigMap of another namespace"),
			certificateRule(t),
			validation(`object.kind != "Certificate" || !variables.spec.?isCA.orValue(false)`,
				"spec.isCA is not allowed: who has it signs certificates for any host"),
			requestRule(t),
		},
	}
}

// hostRule lets the tenant's hosts through.
func hostRule(t *v1alpha1.Tenant) admissionv1.Validation {
	return validation("("+servedHosts+").all(hosts, hosts.all(host, "+ownHost(t)+"))",
		"the host is not allowed: the platform lists a tenant's in spec.hosts of Tenant "+t.Metadata.Name)
}

// ownHost is an expression that says whether host is one of the tenant's. *.NAME is every name
// below NAME, and itself.
func ownHost(t *v1alpha1.Tenant) string {
	var exact, suffixes []string
	for _, host := range t.Spec.Hosts {
		if below, wildcard := strings.CutPrefix(host, "*"); wildcard {
			suffixes = append(suffixes, below)
		} else {
			exact = append(exact, host)
		}
	}
	slices.Sort(exact)
	slices.Sort(suffixes)
	own := "host in " + celList(exact)
	if len(suffixes) > 0 {
		own += " || host.matches(" + celString(hostName) + ") && " + celList(suffixes) + ".exists(suffix, host.endsWith(suffix))"
	}
	return own
}

// certificateRule keeps the names of cert-manager's Certificates to the tenant's hosts, and to
// those of the Services in its namespace.
func certificateRule(t *v1alpha1.Tenant) admissionv1.Validation {
	return validation(`object.kind != "Certificate" ||
["dnsNames", "ipAddresses", "uris", "emailAddresses"].map(field, variables.spec[?field].orValue([])).all(hosts, hosts.all(host, `+certificateName(t)+`)) &&
["commonName", "literalSubject"].map(field, variables.spec[?field].orValue("")).all(host, host == "" || `+certificateName(t)+`) &&
variables.spec.?otherNames.orValue([]).size() == 0`,
		"a name of the Certificate is not allowed: the platform lists a tenant's in spec.hosts of Tenant "+t.Metadata.Name)
}

func certificateName(t *v1alpha1.Tenant) string {
	return ownHost(t) + ` || host.matches(` + celString(hostName) + `) &&
  [".svc", ".svc.cluster.local"].exists(suffix, host.endsWith("." + string(object.metadata.namespace) + suffix))`
}

// requestRule keeps the tenant from what cert-manager makes of a Certificate: what a request
// asks for is in an encoded text that admission doesn't read, and cert-manager approves all.
func requestRule(t *v1alpha1.Tenant) admissionv1.Validation {
	accounts := []string{controllers(t.Spec.SyncNamespace)}
	for _, namespace := range t.Spec.Namespaces {
		accounts = append(accounts, controllers(namespace))
	}
	return validation(`!(object.kind in ["CertificateRequest", "Order", "Challenge"]) ||
("system:serviceaccounts" in request.userInfo.?groups.orValue([]) &&
!`+celList(accounts)+`.exists(group, group in request.userInfo.?groups.orValue([])))`,
		"only cert-manager creates CertificateRequests, Orders and Challenges: create a Certificate")
}
