package e2e

import "strings"

func service(spec string) string {
	return `{apiVersion: v1, kind: Service, spec: {ports: [{port: 80}], ` + spec + `}}`
}

func ingress(spec string) string {
	return `{apiVersion: networking.k8s.io/v1, kind: Ingress, spec: {` + spec + `}}`
}

// served returns an Ingress' rule for the host.
func served(host string) string {
	rule := `http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}`
	if host != "" {
		rule = `host: "` + host + `", ` + rule
	}
	return `rules: [{` + rule + `}], `
}

// route returns a route of the Gateway API with its host names.
func route(kind, hosts string) string {
	spec := `parentRefs: [{name: web, namespace: gateways}], `
	if hosts != "" {
		spec += `hostnames: [` + hosts + `], `
	}
	return `{apiVersion: gateway.networking.k8s.io/v1, kind: ` + kind + `, spec: {` + spec + `rules: [{backendRefs: [{name: web, port: 80}]}]}}`
}

// annotated returns the object with an annotation.
func annotated(object, annotation string) string {
	return strings.Replace(object, "spec: {", "metadata: {name: trial, annotations: {"+annotation+"}}, spec: {", 1)
}

func certificate(names string) string {
	return `{apiVersion: cert-manager.io/v1, kind: Certificate, spec: {secretName: web, issuerRef: {kind: ClusterIssuer, name: web}, ` + names + `}}`
}

// trafficTrials are the trials of section H: addresses and hosts.
var trafficTrials = []trial{
	{"H1", "a Service", accounts, service(""), admitted},
	{"H1", "a Service without an address", accounts, service("clusterIP: None"), admitted},
	{"H1", "an address of somebody else's", accounts, service("externalIPs: [192.0.2.1]"), byPolicy},
	{"H1", "the address of the cluster's DNS", accounts, service("externalIPs: [10.96.0.10]"), byPolicy},
	{"H2", "a load balancer's address", accounts, service("loadBalancerIP: 192.0.2.1"), byPolicy},
	{"H3", "a load balancer", accounts, service("type: LoadBalancer"), byQuota},
	{"H3", "a port of every node", accounts, service("type: NodePort"), byQuota},
	{"H4", "a name of the platform's Service", accounts, service("type: ExternalName, externalName: source-controller.flux-system.svc.cluster.local"), byPolicy},
	{"H4", "a name of the API server", accounts, service("type: ExternalName, externalName: kubernetes.default.svc"), byPolicy},
	{"H4", "any public name", accounts, service("type: ExternalName, externalName: 169-254-169-254.example.com"), byPolicy},
	{"H5", "its own host", accounts, ingress(served("HOST")), admitted},
	{"H5", "another team's host", accounts, ingress(served("OTHERHOST")), byPolicy},
	{"H5", "its own host in a longer one", accounts, ingress(served("HOST.evil.example.com")), byPolicy},
	{"H5", "any host", accounts, ingress(served("*.example.com")), byPolicy},
	{"H5", "its own host, and another team's", accounts, ingress(strings.Replace(served("HOST"), "}], ", "}, "+strings.TrimPrefix(served("OTHERHOST"), "rules: ["), 1)), byPolicy},
	{"H6", "its own certificate", accounts, ingress(served("HOST") + `tls: [{hosts: ["HOST"], secretName: web}]`), admitted},
	{"H6", "another team's certificate", accounts, ingress(served("HOST") + `tls: [{hosts: ["OTHERHOST"], secretName: web}]`), byPolicy},
	{"H7", "every host", accounts, ingress(served("")), byPolicy},
	{"H7", "every host by default", accounts, ingress("defaultBackend: {service: {name: web, port: {number: 80}}}"), byPolicy},
	{"H7", "its own host, and every other by default", accounts, ingress(served("HOST") + "defaultBackend: {service: {name: web, port: {number: 80}}}"), byPolicy},
	{"H8", "another team's host as an alias", accounts, annotated(ingress(served("HOST")), `nginx.ingress.kubernetes.io/server-alias: "OTHERHOST"`), byPolicy},
	{"H8", "another team's host as an alias, before its own", accounts, annotated(ingress(served("HOST")), `nginx.ingress.kubernetes.io/server-alias: "OTHERHOST wwwWILDHOST"`), byPolicy},
	{"H8", "every host as an alias that is an expression", accounts, annotated(ingress(served("HOST")), `nginx.ingress.kubernetes.io/server-alias: "~.*|WILDHOST"`), byPolicy},
	{"H8", "its own host as an alias", accounts, annotated(ingress(served("HOST")), `nginx.ingress.kubernetes.io/server-alias: "HOST,wwwWILDHOST"`), admitted},
	{"H8", "another team's certificate as an alternative name", accounts, annotated(ingress(served("HOST")), `cert-manager.io/alt-names: "OTHERHOST"`), byPolicy},
	{"H8", "another team's certificate as its common name", accounts, annotated(ingress(served("HOST")), `cert-manager.io/common-name: "OTHERHOST"`), byPolicy},
	{"H8", "another team's name in the DNS", accounts, annotated(ingress(served("HOST")), `external-dns.alpha.kubernetes.io/hostname: "OTHERHOST"`), byPolicy},
	{"H8", "another team's name in the DNS, of a Service", accounts, annotated(service(""), `external-dns.alpha.kubernetes.io/hostname: "OTHERHOST"`), byPolicy},
	{"H8", "another team's name inside of the cluster", accounts, annotated(service("clusterIP: None"), `external-dns.alpha.kubernetes.io/internal-hostname: "OTHERHOST"`), byPolicy},
	{"H8", "another team's name in the DNS, of a route", accounts, annotated(route("HTTPRoute", `"HOST"`), `external-dns.alpha.kubernetes.io/hostname: "OTHERHOST"`), byPolicy},
	{"H8", "another team's host as an alias of Kong's", accounts, annotated(ingress(served("HOST")), `konghq.com/host-aliases: OTHERHOST`), byPolicy},
	{"H8", "an annotation that names nothing", accounts, annotated(ingress(served("HOST")), `nginx.ingress.kubernetes.io/proxy-body-size: 8m`), admitted},
	{"H8", "an annotation that names nothing, of a Service", accounts, annotated(service(""), `prometheus.io/scrape: "true"`), admitted},
	{"H8", "an issuer of certificates", accounts, annotated(ingress(served("HOST")), `cert-manager.io/cluster-issuer: letsencrypt`), admitted},
	{"H9", "configuration of the server", accounts, annotated(ingress(served("HOST")), `nginx.ingress.kubernetes.io/server-snippet: "return 200;"`), byPolicy},
	{"H9", "configuration of the location", accounts, annotated(ingress(served("HOST")), `nginx.ingress.kubernetes.io/configuration-snippet: "return 200;"`), byPolicy},
	{"H9", "configuration of HAProxy", accounts, annotated(ingress(served("HOST")), `haproxy.org/backend-config-snippet: "a"`), byPolicy},
	{"H9", "configuration of HAProxy's backend", accounts, annotated(ingress(served("HOST")), `haproxy-ingress.github.io/config-backend: a`), byPolicy},
	{"H10", "another namespace's passwords", accounts, annotated(ingress(served("HOST")), `nginx.ingress.kubernetes.io/auth-secret: flux-system/sops-age`), byPolicy},
	{"H10", "another namespace's certificate", accounts, annotated(ingress(served("HOST")), `nginx.ingress.kubernetes.io/auth-tls-secret: flux-system/ca`), byPolicy},
	{"H10", "another namespace's certificate of a proxy", accounts, annotated(ingress(served("HOST")), `nginx.ingress.kubernetes.io/proxy-ssl-secret: flux-system/ca`), byPolicy},
	{"H10", "another namespace's headers", accounts, annotated(ingress(served("HOST")), `nginx.ingress.kubernetes.io/custom-headers: flux-system/headers`), byPolicy},
	{"H10", "its own passwords", accounts, annotated(ingress(served("HOST")), `nginx.ingress.kubernetes.io/auth-secret: passwords`), admitted},
	{"N5", "a request to any address for each one of its own", accounts, annotated(ingress(served("HOST")), `nginx.ingress.kubernetes.io/auth-url: http://169.254.169.254/`), byPolicy},
	{"N5", "a copy of each request to any address", accounts, annotated(ingress(served("HOST")), `nginx.ingress.kubernetes.io/mirror-target: https://10.96.0.1/`), byPolicy},
	{"N5", "a sign-in at any address", accounts, annotated(ingress(served("HOST")), `nginx.ingress.kubernetes.io/auth-signin: https://HOST/`), byPolicy},
	{"H11", "a route of its own host", accounts, route("HTTPRoute", `"HOST"`), admitted},
	{"H11", "a route of another team's host", accounts, route("HTTPRoute", `"OTHERHOST"`), byPolicy},
	{"H11", "a route of its own host, and of another team's", accounts, route("HTTPRoute", `"HOST", "OTHERHOST"`), byPolicy},
	{"H11", "a route of any host", accounts, route("HTTPRoute", `"*.example.com"`), byPolicy},
	{"H11", "a route of every host", accounts, route("HTTPRoute", ``), byPolicy},
	{"H11", "a route of calls of its own host", accounts, route("GRPCRoute", `"HOST"`), admitted},
	{"H11", "a route of calls of every host", accounts, route("GRPCRoute", ``), byPolicy},
	{"H11", "a route of another team's host, encrypted", nobody, route("TLSRoute", `"OTHERHOST"`), byPolicy},
	{"H12", "a gateway for every host", nobody, `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, spec: {gatewayClassName: web, listeners: [{name: web, port: 80, protocol: HTTP}]}}`, byPolicy},
	{"H12", "a gateway for another team's host", nobody, `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, spec: {gatewayClassName: web, listeners: [{name: web, port: 80, protocol: HTTP, hostname: "OTHERHOST"}]}}`, byPolicy},
	{"H12", "a listener for another team's host", nobody, `{apiVersion: gateway.networking.k8s.io/v1, kind: ListenerSet, spec: {parentRef: {name: web, namespace: gateways}, listeners: [{name: web, port: 80, protocol: HTTP, hostname: "OTHERHOST"}]}}`, byPolicy},
	{"H13", "a gateway's address", nobody, `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, spec: {gatewayClassName: web, addresses: [{value: 192.0.2.1}], listeners: [{name: web, port: 80, protocol: HTTP, hostname: "HOST"}]}}`, byPolicy},
	{"H17", "a certificate of its own host", ruled, certificate(`commonName: "HOST", dnsNames: ["HOST"]`), admitted},
	{"H17", "a certificate of its own Service", ruled, certificate(`dnsNames: [web.HERE.svc, web.HERE.svc.cluster.local]`), admitted},
	{"H17", "a certificate of another team's host", ruled, certificate(`dnsNames: ["HOST", "OTHERHOST"]`), byPolicy},
	{"H17", "a certificate with another team's host as its common name", ruled, certificate(`commonName: "OTHERHOST", dnsNames: ["HOST"]`), byPolicy},
	{"H17", "a certificate with another team's host as its subject", ruled, certificate(`literalSubject: "CN=OTHERHOST"`), byPolicy},
	{"H17", "a certificate of any host", ruled, certificate(`dnsNames: ["*.example.com"]`), byPolicy},
	{"H17", "a certificate of the platform's Service", ruled, certificate(`dnsNames: [source-controller.flux-system.svc]`), byPolicy},
	{"H17", "a certificate of an address", ruled, certificate(`ipAddresses: [10.96.0.1]`), byPolicy},
	{"H17", "a certificate of another namespace's account", ruled, certificate(`uris: ["spiffe://cluster.local/ns/flux-system/sa/web"]`), byPolicy},
	{"H17", "a certificate of somebody's mail", ruled, certificate(`emailAddresses: [admin@example.com]`), byPolicy},
	{"H17", "a certificate that signs others", ruled, certificate(`dnsNames: [web.HERE.svc], isCA: true`), byPolicy},
	{"H18", "a request for a certificate", nobody, `{apiVersion: cert-manager.io/v1, kind: CertificateRequest, spec: {issuerRef: {kind: ClusterIssuer, name: web}, request: YQ==}}`, byPolicy},
	{"H18", "an order of a certificate", nobody, `{apiVersion: acme.cert-manager.io/v1, kind: Order, spec: {issuerRef: {kind: ClusterIssuer, name: web}, request: YQ==, dnsNames: [web.example.com]}}`, byPolicy},
	{"H18", "a challenge for a certificate", nobody, `{apiVersion: acme.cert-manager.io/v1, kind: Challenge, spec: {dnsName: web.example.com}}`, byPolicy},
	{"H2", "an address for its name in the DNS", accounts, annotated(ingress(served("HOST")), `external-dns.alpha.kubernetes.io/target: 10.0.0.1`), byPolicy},
	{"H2", "an address for a Service's name in the DNS", accounts, annotated(service(""), `external-dns.alpha.kubernetes.io/target: 10.0.0.1`), byPolicy},
	{"H8", "its host without www.", accounts, annotated(ingress(served("HOST")), `nginx.ingress.kubernetes.io/from-to-www-redirect: "false"`), admitted},
	{"H8", "another team's host with www.", accounts, annotated(ingress(served("OTHERHOST")), `nginx.ingress.kubernetes.io/from-to-www-redirect: "true"`), byPolicy},
	{"H9", "another team's load balancer", accounts, annotated(ingress(served("HOST")), `alb.ingress.kubernetes.io/group.name: web`), byPolicy},
	{"H9", "another team's backend of a load balancer", accounts, annotated(ingress(served("HOST")), `alb.ingress.kubernetes.io/actions.web: "{}"`), byPolicy},
	{"N5", "an issuer that the load balancer calls", accounts, annotated(ingress(served("HOST")), `alb.ingress.kubernetes.io/auth-idp-oidc: "{}"`), byPolicy},
	{"N5", "another namespace's Service through a mesh", accounts, annotated(ingress(served("HOST")), `nginx.ingress.kubernetes.io/upstream-vhost: source-controller.flux-system.svc`), byPolicy},
	{"N5", "a redirect of its own host", accounts, annotated(ingress(served("HOST")), `nginx.ingress.kubernetes.io/permanent-redirect: https://example.com/`), admitted},
	{"Z17", "another namespace's middleware", accounts, annotated(ingress(served("HOST")), `traefik.ingress.kubernetes.io/router.middlewares: flux-system-web@kubernetescrd`), admitted},
	{"H14", "a grant of another namespace", nobody, `{apiVersion: gateway.networking.k8s.io/v1beta1, kind: ReferenceGrant, metadata: {name: trial, namespace: OTHERNS}, spec: {from: [], to: []}}`, admitted},
}
