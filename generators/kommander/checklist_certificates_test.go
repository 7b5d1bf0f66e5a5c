package kommander_test

import "testing"

func checkRootCA(t *testing.T, r *rendered) {
	r.must(t, "root-ca", "ClusterIssuer", "selfsigned-issuer").Holds(t, "{selfSigned: {}}", "spec")
	certificate := r.must(t, "root-ca", "Certificate", "kommander-ca")
	certificate.Holds(t, `
isCA: true
commonName: kommander-ca
secretName: kommander-ca
privateKey: {algorithm: ECDSA, size: 256}
issuerRef: {name: selfsigned-issuer, kind: ClusterIssuer, group: cert-manager.io}`, "spec")
	// cert-manager reads the Secret of a ClusterIssuer in its own namespace.
	if got := certificate.Text("metadata", "namespace"); got != "cert-manager" {
		t.Errorf("the root certificate stands in %q", got)
	}
	r.must(t, "root-ca", "ClusterIssuer", "kommander-ca").Holds(t, "{ca: {secretName: kommander-ca}}", "spec")
	r.must(t, "gitea", "Certificate", "git-tls").Holds(t, `
secretName: git-tls
dnsNames: [gitea-http.kommander.svc, gitea-http.kommander.svc.cluster.local]
privateKey: {algorithm: ECDSA, size: 256}
issuerRef: {name: kommander-ca, kind: ClusterIssuer, group: cert-manager.io}`, "spec")
}

func checkIngress(t *testing.T, r *rendered) {
	r.must(t, "ingress", "ClusterIssuer", "kommander-acme-issuer").Holds(t, `
acme:
  email: platform@nimbus.example
  server: https://acme-v02.api.letsencrypt.org/directory
  privateKeySecretRef: {name: kommander-acme-issuer-account}
  solvers: [{http01: {ingress: {ingressClassName: kommander-traefik}}}]`, "spec")
	r.must(t, "ingress", "Certificate", "kommander-ingress-tls").Holds(t, `
secretName: kommander-ingress-tls
dnsNames: [kommander.nimbus.example]
issuerRef: {name: kommander-acme-issuer, kind: ClusterIssuer, group: cert-manager.io}`, "spec")
	r.must(t, "cluster", "KommanderCluster", "host-cluster").Holds(t, `
ingress: {hostname: kommander.nimbus.example, certificateSecretRef: {name: kommander-ingress-tls}}`, "spec")
}
