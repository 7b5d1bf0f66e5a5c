package tenantpolicy

import (
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/fleetwright/fleetwright/internal/exposure"
)

// podPolicy prevents pods from replacing those of the cluster. Unless the profile is admin, it also prevents
// them from using Flux's account, whose permissions are for the objects in Git. Every workload's pods are
// created in the namespace, so the rule for Pods covers all. The rule for pod templates reports the problem
// earlier.
func podPolicy(t Tenant) policy {
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
				"a system priority class is not allowed: its pods evict others' pods"),
		},
	}
	if t.Admin {
		return p
	}
	p.resources[0].Resources = append(p.resources[0].Resources, "secrets")
	p.validations = append(p.validations,
		validation(celString(t.Account)+` != variables.pod.?serviceAccountName.orValue("") &&
`+celString(t.Account)+` != variables.pod.?serviceAccount.orValue("")`,
			"pods may not run as "+t.Account+": it is Flux's account"),
		validation(`object.kind != "Secret" || dyn(object).?type.orValue("") != "kubernetes.io/service-account-token"`,
			"a Secret with a service account token is not allowed"))
	return p
}

// servedHosts is the expression for the lists of all host names for which an object requests traffic. A rule,
// listener or route without a host name requests every host, which is represented by "". A route of a service
// mesh, whose parents are Services, has no host names. from-to-www-redirect serves each host name with and
// without www. The host names in a Certificate have a rule of their own.
var servedHosts = `(object.kind in ["Service", "Certificate", "CertificateRequest", "Order", "Challenge"] ? dyn([]) :
  object.kind == "Ingress" ?
  dyn([variables.spec.?rules.orValue([]).map(r, r.?host.orValue(""))] + variables.spec.?tls.orValue([]).map(t, t.?hosts.orValue([]))) :
  has(variables.spec.listeners) ? dyn([variables.spec.listeners.map(l, l.?hostname.orValue(""))]) :
  variables.spec.?hostnames.orValue([]).size() > 0 ? dyn([variables.spec.hostnames]) :
  variables.spec.?parentRefs.orValue([]).exists(p, p.?kind.orValue("Gateway") != "Service") ? dyn([[""]]) : dyn([])) +
  (variables.annotations.exists(key, key.endsWith(` + celString(exposure.WithWWW) + `) && variables.annotations[key] != "false") ?
  dyn([variables.spec.?rules.orValue([]).map(r, r.?host.orValue("").startsWith("www.") ? r.host.substring(4) : "www." + r.?host.orValue(""))]) : dyn([])) +
  variables.annotations.filter(key, key.matches(` + celString(exposure.Hosts) + `)).map(key, variables.annotations[key].split(",").map(h, h.trim()).filter(h, h != ""))`

// exposurePolicy limits a tenant to its own host names and addresses. Admission does not know those of other
// tenants, so a tenant has exactly the hosts that the specification lists.
func exposurePolicy(t Tenant) policy {
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
!`+celList(exposure.Addresses)+`.exists(key, key in variables.annotations)`,
				"a tenant may not choose addresses: spec.externalIPs, spec.loadBalancerIP, spec.addresses, and annotations for them"),
			validation(`variables.spec.?type.orValue("") != "ExternalName"`,
				"a Service of type ExternalName is not allowed: its name may point to another namespace"),
			validation("variables.annotations.all(key, !key.matches("+celString(exposure.Configuration)+"))",
				"annotations that configure the ingress controller are not allowed"),
			validation("variables.annotations.all(key, !key.matches("+celString(exposure.Requests)+"))",
				"annotations with an address that the ingress controller calls are not allowed"),
			validation(`variables.annotations.all(key, !key.matches(`+celString(exposure.References)+`) || !variables.annotations[key].contains("/") ||
  variables.annotations[key].startsWith(string(object.metadata.namespace) + "/"))`,
				"an annotation may not name a Secret or ConfigMap of another namespace"),
			certificateRule(t),
			validation(`object.kind != "Certificate" || !variables.spec.?isCA.orValue(false)`,
				"spec.isCA is not allowed: its owner can sign certificates for any host"),
			requestRule(t),
		},
	}
}

// hostRule allows the tenant's hosts.
func hostRule(t Tenant) admissionv1.Validation {
	return validation("("+servedHosts+").all(hosts, hosts.all(host, "+ownHost(t)+"))",
		"the host is not allowed: the platform lists the allowed hosts in spec.hosts of Tenant "+t.Name)
}

// ownHost returns the expression that reports whether host belongs to the tenant. *.NAME matches every name
// below NAME, and NAME itself.
func ownHost(t Tenant) string {
	var exact, suffixes []string
	for _, host := range t.Hosts {
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
		own += " || host.matches(" + celString(exposure.HostName) + ") && " + celList(suffixes) + ".exists(suffix, host.endsWith(suffix))"
	}
	return own
}

// certificateRule limits the names in cert-manager's Certificates to the tenant's hosts, and to the Services in
// its namespace.
func certificateRule(t Tenant) admissionv1.Validation {
	return validation(`object.kind != "Certificate" ||
["dnsNames", "ipAddresses", "uris", "emailAddresses"].map(field, variables.spec[?field].orValue([])).all(hosts, hosts.all(host, `+certificateName(t)+`)) &&
["commonName", "literalSubject"].map(field, variables.spec[?field].orValue("")).all(host, host == "" || `+certificateName(t)+`) &&
variables.spec.?otherNames.orValue([]).size() == 0`,
		"a name of the Certificate is not allowed: the platform lists the allowed hosts in spec.hosts of Tenant "+t.Name)
}

func certificateName(t Tenant) string {
	return ownHost(t) + ` || host.matches(` + celString(exposure.HostName) + `) &&
  [".svc", ".svc.cluster.local"].exists(suffix, host.endsWith("." + string(object.metadata.namespace) + suffix))`
}

// requestRule prevents the tenant from creating the objects that cert-manager creates for a Certificate. The
// requested names are in an encoded field that admission cannot read, and cert-manager approves all requests.
func requestRule(t Tenant) admissionv1.Validation {
	accounts := []string{Accounts(t.SyncNamespace)}
	for _, namespace := range t.Namespaces {
		accounts = append(accounts, Accounts(namespace))
	}
	return validation(`!(object.kind in ["CertificateRequest", "Order", "Challenge"]) ||
("system:serviceaccounts" in request.userInfo.?groups.orValue([]) &&
!`+celList(accounts)+`.exists(group, group in request.userInfo.?groups.orValue([])))`,
		"only cert-manager creates CertificateRequests, Orders and Challenges: create a Certificate")
}
