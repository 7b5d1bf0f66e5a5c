package tenant

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// threats are requests that docs/tenants.md speaks of, by the number of the line, with a
// part of the message that refuses them; none where the tenant may. Those of tenant
// billing need its profile, admin.
var threats = []struct{ line, tenant, object, refusal string }{
	{"A1", "shop", "Kustomization shop: {sourceRef: {kind: GitRepository, name: x}}", "serviceAccountName"},
	{"A2", "shop", "HelmRelease shop: {serviceAccountName: helm-controller}", "serviceAccountName"},
	{"A3", "billing", "ResourceSet billing: {}", "serviceAccountName"},
	{"A4", "shop", "Kustomization shop: {serviceAccountName: shop}", "serviceAccountName"},
	{"A5", "shop", "HelmRelease shop: {serviceAccountName: shop-helm, kubeConfig: {configMapRef: {name: x}}}", "kubeConfig"},
	{"A5", "shop", "Kustomization shop: {serviceAccountName: shop-helm, kubeConfig: {secretRef: {name: x}}}", "kubeConfig"},
	{"A6", "billing", "FluxInstance billing: {distribution: {version: 2.x, registry: ghcr.io/fluxcd}}", "FluxInstance"},
	{"A7", "shop", "Secret shop; {type: kubernetes.io/service-account-token, metadata: {annotations: {kubernetes.io/service-account.name: shop-helm}}}", "a service account token"},
	{"A7", "shop", "Secret shop; {type: Opaque, stringData: {a: b}}", ""},
	{"A7", "shop", "Secret shop; {stringData: {a: b}}", ""},
	{"A7", "shop", "Secret shop; {type: helm.sh/release.v1}", ""},
	{"A7", "billing", "Pod billing: {serviceAccountName: billing-helm}", ""},
	{"A8", "shop", "Pod shop: {serviceAccountName: shop-helm}", "Flux's account"},
	{"A8", "shop", "Pod shop: {serviceAccount: shop-helm}", "Flux's account"},
	{"A8", "shop", "Pod shop: {serviceAccountName: web}", ""},
	{"A8", "shop", "Pod shop: {containers: []}", ""},
	{"A9", "shop", "Deployment shop: {template: {spec: {serviceAccountName: shop-helm}}}", "Flux's account"},
	{"A9", "shop", "StatefulSet shop: {template: {spec: {serviceAccountName: shop-helm}}}", "Flux's account"},
	{"A9", "shop", "DaemonSet shop: {template: {spec: {serviceAccount: shop-helm}}}", "Flux's account"},
	{"A9", "shop", "Job shop: {template: {spec: {serviceAccountName: shop-helm}}}", "Flux's account"},
	{"A9", "shop", "CronJob shop: {jobTemplate: {spec: {template: {spec: {serviceAccountName: shop-helm}}}}}", "Flux's account"},
	{"A9", "shop", "CronJob shop: {jobTemplate: {spec: {template: {spec: {serviceAccountName: web}}}}}", ""},
	{"A9", "shop", "Deployment shop: {template: {spec: {}}}", ""},

	{"S1", "shop", "GitRepository shop: {url: https://github.com/evil/repo}", "URL is not allowed"},
	{"S2", "billing", "GitRepository billing: {url: https://github.com/acme/../evil/lib}", "URL is not allowed"},
	{"S3", "billing", "GitRepository billing: {url: https://github.com/acme/platform, ref: {branch: main}}", "only spec.ref.branch"},
	{"S4", "shop", "GitRepository shop: {url: https://github.com/acme/shop, recurseSubmodules: true}", "submodules"},
	{"S5", "shop", "GitRepository shop: {url: https://github.com/acme/shop, proxySecretRef: {name: x}}", "proxySecretRef"},
	{"S5", "billing", "OCIRepository billing: {url: oci://ghcr.io/acme/charts/x, proxySecretRef: {name: x}}", "proxySecretRef"},
	{"S5", "billing", "Bucket billing: {endpoint: storage.example.com, bucketName: billing, proxySecretRef: {name: x}}", "proxySecretRef"},
	{"S6", "billing", "OCIRepository billing: {url: oci://ghcr.io/acme/charts/x, certSecretRef: {name: x}}", "certSecretRef"},
	{"S6", "billing", "HelmRepository billing: {url: https://charts.example.com/stable, certSecretRef: {name: x}}", "certSecretRef"},
	{"S6", "billing", "Bucket billing: {endpoint: storage.example.com, bucketName: billing, certSecretRef: {name: x}}", "certSecretRef"},
	{"S7", "billing", "Bucket billing: {endpoint: storage.example.com, bucketName: billing, sts: {provider: ldap, endpoint: http://10.0.0.1}}", "spec.sts"},
	{"S8", "billing", "Bucket billing: {endpoint: storage.example.com, bucketName: billing, provider: aws}", "provider"},
	{"S8", "billing", "OCIRepository billing: {url: oci://ghcr.io/acme/x, provider: gcp}", "provider"},
	{"S8", "billing", "HelmRepository billing: {url: oci://ghcr.io/acme/x, type: oci, provider: azure}", "provider"},
	{"S8", "shop", "GitRepository shop: {url: https://github.com/acme/shop, provider: github}", "provider"},
	{"S8", "shop", "GitRepository shop: {url: https://github.com/acme/shop, provider: ''}", "provider"},
	{"S8", "shop", "GitRepository shop: {url: https://github.com/acme/shop, provider: generic, secretRef: {name: x}}", ""},
	{"S9", "billing", "OCIRepository billing: {url: oci://ghcr.io/acme/x, insecure: true}", "insecure"},
	{"S9", "billing", "HelmRepository billing: {url: oci://ghcr.io/acme/x, type: oci, insecure: true}", "insecure"},
	{"S9", "billing", "OCIRepository billing: {url: oci://ghcr.io/acme/x, insecure: false}", ""},
	{"S9", "billing", "Bucket billing: {endpoint: storage.example.com, bucketName: billing, insecure: true}", "URL is not allowed"},
	{"S15", "billing", "ImageRepository billing: {image: docker.io/library/nginx}", "URL is not allowed"},
	{"S15", "billing", "ImageRepository billing: {image: 10.0.0.1:5000/x}", "URL is not allowed"},
	{"S15", "billing", "ImageRepository billing: {image: ghcr.io/acme/x, provider: aws}", "provider"},
	{"S15", "billing", "ImageRepository billing: {image: ghcr.io/acme/x, insecure: true}", "insecure"},
	{"S15", "billing", "ImageRepository billing: {image: ghcr.io/acme/x, proxySecretRef: {name: x}}", "proxySecretRef"},
	{"S15", "billing", "ImageRepository billing: {image: ghcr.io/acme/x}", ""},
	{"S18", "billing", "ImageUpdateAutomation billing: {sourceRef: {kind: GitRepository, name: x}, git: {checkout: {ref: {branch: main}}}}", "push to branch"},
	{"S18", "billing", "ImageUpdateAutomation billing: {sourceRef: {kind: GitRepository, name: x}, git: {push: {branch: main}}}", "push to branch"},
	{"S18", "billing", "ImageUpdateAutomation billing: {sourceRef: {kind: GitRepository, name: x}, git: {push: {refspec: 'a:refs/heads/main'}}}", "push to branch"},
	{"S18", "billing", "ImageUpdateAutomation billing: {sourceRef: {kind: GitRepository, name: x}, git: {commit: {author: {email: a@example.com}}, push: {branch: tenant/billing}}}", ""},
	{"S18", "billing", "ImageUpdateAutomation billing: {sourceRef: {kind: GitRepository, name: x}}", ""},
	{"S18", "shop", "ImageUpdateAutomation shop: {sourceRef: {kind: GitRepository, name: x}, git: {push: {branch: next}}}", ""},

	{"R1", "shop", "Kustomization shop: {serviceAccountName: shop-helm, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}", "another namespace"},
	{"R2", "shop", "HelmRelease shop: {serviceAccountName: shop-helm, chartRef: {kind: OCIRepository, name: x, namespace: flux-system}}", "another namespace"},
	{"R3", "shop", "Kustomization shop: {serviceAccountName: shop-helm, dependsOn: [{name: x, namespace: billing-flux, readyExpr: 'true'}]}", "dependsOn"},
	{"R3", "shop", "Kustomization shop: {serviceAccountName: shop-helm, dependsOn: [{name: a}, {name: x, namespace: shop-flux, readyExpr: 'true'}]}", "dependsOn"},
	{"R3", "shop", "Kustomization shop: {serviceAccountName: shop-helm, dependsOn: [{name: a, readyExpr: 'true'}, {name: x, namespace: shop-jobs}]}", ""},
	{"R3", "shop", "Kustomization shop-flux: {serviceAccountName: shop, dependsOn: [{name: a, namespace: shop-flux}]}", ""},
	{"R4", "shop", "HelmRelease shop: {serviceAccountName: shop-helm, dependsOn: [{name: x, namespace: flux-system, readyExpr: 'true'}]}", "dependsOn"},
	{"R4", "shop", "HelmRelease shop: {serviceAccountName: shop-helm, dependsOn: [{name: x}]}", ""},
	{"R5", "billing", "ResourceSet billing: {serviceAccountName: billing-helm, dependsOn: [{apiVersion: v1, kind: Secret, name: x, namespace: shop, readyExpr: 'true'}]}", "dependsOn"},
	{"R5", "billing", "ResourceSet billing: {serviceAccountName: billing-helm, dependsOn: [{apiVersion: v1, kind: Node, name: x}]}", "dependsOn"},
	{"R5", "billing", "ResourceSet billing: {serviceAccountName: billing-helm, dependsOn: [{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, name: x, readyExpr: 'true'}]}", "dependsOn"},
	{"R5", "billing", "ResourceSet billing: {serviceAccountName: billing-helm, dependsOn: [{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, name: x}]}", ""},
	{"R5", "billing", "ResourceSet billing: {serviceAccountName: billing-helm, dependsOn: [{apiVersion: v1, kind: Node, name: x, namespace: billing, ready: true, readyExpr: 'true'}]}", "namespaced"},
	{"R5", "billing", "ResourceSet billing: {serviceAccountName: billing-helm, dependsOn: [{apiVersion: v1, kind: Namespace, name: x, namespace: billing, ready: true, readyExpr: 'true'}]}", "namespaced"},
	{"R5", "billing", "ResourceSet billing: {serviceAccountName: billing-helm, dependsOn: [{apiVersion: v1, kind: PersistentVolume, name: x, namespace: billing, ready: true, readyExpr: 'true'}]}", "namespaced"},
	{"R5", "billing", "ResourceSet billing: {serviceAccountName: billing-helm, dependsOn: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: x, namespace: billing, ready: true, readyExpr: 'true'}]}", "namespaced"},
	{"R5", "billing", "ResourceSet billing: {serviceAccountName: billing-helm, dependsOn: [{apiVersion: storage.k8s.io/v1, kind: StorageClass, name: x, namespace: billing, ready: true, readyExpr: 'true'}]}", "namespaced"},
	{"R5", "billing", "ResourceSet billing: {serviceAccountName: billing-helm, dependsOn: [{apiVersion: example.com/v1, kind: Database, name: x, namespace: billing, ready: true, readyExpr: 'true'}]}", "namespaced"},
	{"R5", "billing", "ResourceSet billing: {serviceAccountName: billing-helm, dependsOn: [{apiVersion: v1/v1, kind: Pod, name: x, namespace: billing, ready: true, readyExpr: 'true'}]}", "namespaced"},
	{"R5", "billing", "ResourceSet billing: {serviceAccountName: billing-helm, dependsOn: [{apiVersion: apps, kind: Deployment, name: x, namespace: billing, ready: true, readyExpr: 'true'}]}", "namespaced"},
	{"R5", "billing", "ResourceSet billing: {serviceAccountName: billing-helm, dependsOn: [{apiVersion: apps.example.com/v1, kind: Deployment, name: x, namespace: billing, ready: true, readyExpr: 'true'}]}", "namespaced"},
	{"R5", "billing", "ResourceSet billing: {serviceAccountName: billing-helm, dependsOn: [{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, name: x, namespace: billing, ready: true, readyExpr: 'true'}]}", "namespaced"},
	{"R5", "billing", "ResourceSet billing: {serviceAccountName: billing-helm, dependsOn: [{apiVersion: apps/v1, kind: Deployment, name: x, namespace: billing}, {apiVersion: v1, kind: Node, name: x, namespace: billing}]}", "namespaced"},
	{"R5", "billing", "ResourceSet billing: {serviceAccountName: billing-helm, dependsOn: [{kind: Node, name: x, namespace: billing}]}", "namespaced"},
	{"R5", "billing", "ResourceSet billing: {serviceAccountName: billing-helm, dependsOn: [{apiVersion: example.com/v1, kind: CustomResourceDefinition, name: x}]}", "namespaced"},
	{"R5", "billing", "ResourceSet billing: {serviceAccountName: billing-helm, dependsOn: [{apiVersion: v1, kind: Service, name: x, namespace: billing, readyExpr: 'true'}, {apiVersion: apps/v1, kind: Deployment, name: x, namespace: billing, ready: true}, {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: x, namespace: billing, ready: true}, {apiVersion: fluxcd.controlplane.io/v1, kind: ResourceSet, name: x, namespace: billing}]}", ""},
	{"R6", "shop", "Kustomization shop: {serviceAccountName: shop-helm, dependsOn: [{name: infra, namespace: flux-system}]}", "dependsOn"},
	{"R8", "billing", "Alert billing: {providerRef: {name: x}, eventSources: [{kind: Kustomization, name: '*', namespace: flux-system}]}", "another namespace"},
	{"R8", "billing", "Alert billing: {providerRef: {name: x}, eventSources: [{kind: Kustomization, name: '*'}]}", ""},
	{"R9", "billing", "Receiver billing: {type: generic, resources: [{kind: Kustomization, name: x, namespace: shop}]}", "another namespace"},
	{"R9", "billing", "Receiver billing: {type: generic, resources: [{kind: Kustomization, name: x, namespace: billing}]}", ""},
	{"R10", "billing", "ImagePolicy billing: {imageRepositoryRef: {name: x, namespace: shop}}", "another namespace"},
	{"R10", "billing", "ImagePolicy billing: {imageRepositoryRef: {name: x}}", ""},
	{"R11", "billing", "ImageUpdateAutomation billing: {sourceRef: {kind: GitRepository, name: x, namespace: flux-system}}", "another namespace"},
	{"R12", "billing", "ArtifactGenerator billing: {sources: [{alias: a, kind: GitRepository, name: x, namespace: flux-system}]}", "another namespace"},
	{"R12", "billing", "ArtifactGenerator billing: {sources: [{alias: a, kind: GitRepository, name: x}], artifacts: []}", ""},
	{"R13", "billing", "ResourceSetInputProvider billing: {type: ExternalArtifact, selectors: [{name: x, namespace: shop}]}", "another namespace"},

	{"N1", "billing", "Provider billing: {type: generic, address: http://10.0.0.1}", "only the platform"},
	{"N1", "billing", "Provider billing: {type: slack, secretRef: {name: x}}", "only the platform"},
	{"N2", "billing", "Receiver billing: {type: generic-oidc, oidcProviders: [{issuerURL: http://10.0.0.1}], resources: []}", "oidcProviders"},
	{"N3", "billing", "ResourceSetInputProvider billing: {type: ExternalService, url: http://10.0.0.1}", "spec.type"},
	{"N3", "billing", "ResourceSetInputProvider billing: {type: Static, defaultValues: {a: b}}", ""},

	{"W1", "shop", "Pod shop: {priorityClassName: system-cluster-critical}", "priority class"},
	{"W1", "billing", "Deployment billing: {template: {spec: {priorityClassName: system-node-critical}}}", "priority class"},
	{"W1", "shop", "CronJob shop: {jobTemplate: {spec: {template: {spec: {priorityClassName: system-cluster-critical}}}}}", "priority class"},
	{"W1", "shop", "Pod shop: {priorityClassName: high}", ""},

	{"H1", "shop", "Service shop: {externalIPs: [192.0.2.1]}", "addresses"},
	{"H1", "billing", "Service billing: {externalIPs: [192.0.2.1]}", "addresses"},
	{"H1", "shop", "Service shop: {clusterIP: 10.96.0.7, ports: [{port: 80}]}", ""},
	{"H2", "shop", "Service shop: {type: LoadBalancer, loadBalancerIP: 192.0.2.1}", "addresses"},
	{"H2", "shop", "Service shop; {metadata: {annotations: {metallb.io/loadBalancerIPs: 192.0.2.1}}, spec: {type: LoadBalancer}}", "addresses"},
	{"H4", "shop", "Service shop: {type: ExternalName, externalName: source-controller.flux-system.svc.cluster.local}", "ExternalName"},
	{"H4", "billing", "Service billing: {type: ExternalName, externalName: example.com}", "ExternalName"},
	{"H5", "shop", "Ingress shop: {rules: [{host: billing.example.com}]}", "host is not allowed"},
	{"H5", "shop", "Ingress shop: {rules: [{host: shop.example.com}, {host: billing.example.com}]}", "host is not allowed"},
	{"H5", "shop", "Ingress shop: {rules: [{host: evil-shop.example.org}]}", "host is not allowed"},
	{"H5", "shop", "Ingress shop: {rules: [{host: '*.example.com'}]}", "host is not allowed"},
	{"H5", "shop", "Ingress shop: {rules: [{host: a.shop.example.com}]}", "host is not allowed"},
	{"H5", "shop", "Ingress shop: {rules: [{host: shop.example.com}, {host: a.b.shop.example.org}, {host: '*.shop.example.org'}], tls: [{hosts: [shop.example.com], secretName: x}, {secretName: y}]}", ""},
	{"H5", "billing", "Ingress billing: {rules: [{host: billing.example.com}]}", "host is not allowed"},
	{"H6", "shop", "Ingress shop: {rules: [{host: shop.example.com}], tls: [{hosts: [billing.example.com]}]}", "host is not allowed"},
	{"H7", "shop", "Ingress shop: {rules: [{http: {paths: []}}]}", "host is not allowed"},
	{"H7", "shop", "Ingress shop: {rules: [{host: shop.example.com}, {host: ''}]}", "host is not allowed"},
	{"H7", "shop", "Ingress shop: {defaultBackend: {service: {name: x}}}", "defaultBackend"},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/server-alias: 'shop.example.com, billing.example.com'}}, spec: {rules: [{host: shop.example.com}]}}", "host is not allowed"},
	{"H8", "shop", "Service shop; {metadata: {annotations: {external-dns.alpha.kubernetes.io/hostname: billing.example.com}}, spec: {}}", "host is not allowed"},
	{"H8", "shop", "Service shop; {metadata: {annotations: {external-dns.alpha.kubernetes.io/hostname: 'shop.example.com, a.shop.example.org'}}, spec: {}}", ""},
	{"H9", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/server-snippet: 'x'}}, spec: {rules: [{host: shop.example.com}]}}", "configure the ingress controller"},
	{"H9", "shop", "Ingress shop; {metadata: {annotations: {nginx.org/location-snippets: 'x'}}, spec: {rules: [{host: shop.example.com}]}}", "configure the ingress controller"},
	{"H10", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/auth-secret: billing/x}}, spec: {rules: [{host: shop.example.com}]}}", "Secret or ConfigMap of another namespace"},
	{"H10", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/auth-secret: shop/x, nginx.ingress.kubernetes.io/auth-tls-secret: z}}, spec: {rules: [{host: shop.example.com}]}}", ""},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/server-alias: 'billing.example.com www.shop.example.org'}}, spec: {rules: [{host: shop.example.com}]}}", "host is not allowed"},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/server-alias: '~.*|.shop.example.org'}}, spec: {rules: [{host: shop.example.com}]}}", "host is not allowed"},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/server-alias: '~^(.*)[.]shop.example.org'}}, spec: {rules: [{host: shop.example.com}]}}", "host is not allowed"},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/server-alias: 'billing.example.com;www.shop.example.org'}}, spec: {rules: [{host: shop.example.com}]}}", "host is not allowed"},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/server-alias: '*.*.shop.example.org'}}, spec: {rules: [{host: shop.example.com}]}}", "host is not allowed"},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/server-alias: '.shop.example.org'}}, spec: {rules: [{host: shop.example.com}]}}", "host is not allowed"},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/server-alias: 'www.shop.example.org, *.a.shop.example.org,shop.example.com'}}, spec: {rules: [{host: shop.example.com}]}}", ""},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {haproxy-ingress.github.io/server-alias: billing.example.com}}, spec: {rules: [{host: shop.example.com}]}}", "host is not allowed"},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {haproxy-ingress.github.io/redirect-from: billing.example.com}}, spec: {rules: [{host: shop.example.com}]}}", "host is not allowed"},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {konghq.com/host-aliases: 'shop.example.com,billing.example.com'}}, spec: {rules: [{host: shop.example.com}]}}", "host is not allowed"},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {konghq.com/host-aliases: 'shop.example.com,www.shop.example.org'}}, spec: {rules: [{host: shop.example.com}]}}", ""},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {dns.example.com/internal-hostname: billing.example.com}}, spec: {rules: [{host: shop.example.com}]}}", "host is not allowed"},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {external-dns.alpha.kubernetes.io/cloudflare-custom-hostname: billing.example.com}}, spec: {rules: [{host: shop.example.com}]}}", "host is not allowed"},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {external-dns.alpha.kubernetes.io/ingress-hostname-source: defined-hosts-only}}, spec: {rules: [{host: shop.example.com}]}}", ""},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {cert-manager.io/uri-sans: 'spiffe://cluster.local/ns/billing/sa/x'}}, spec: {rules: [{host: shop.example.com}]}}", "host is not allowed"},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/ssl-redirect: 'true', cert-manager.io/cluster-issuer: letsencrypt, example.com/hostnames: x}}, spec: {rules: [{host: shop.example.com}]}}", ""},
	{"H9", "shop", "Ingress shop; {metadata: {annotations: {haproxy-ingress.github.io/config-backend: x}}, spec: {rules: [{host: shop.example.com}]}}", "configure the ingress controller"},
	{"H9", "shop", "Ingress shop; {metadata: {annotations: {haproxy-ingress.github.io/server-alias-regex: shop.example.com}}, spec: {rules: [{host: shop.example.com}]}}", "configure the ingress controller"},
	{"H9", "shop", "Ingress shop; {metadata: {annotations: {alb.ingress.kubernetes.io/conditions.web: '[]'}}, spec: {rules: [{host: shop.example.com}]}}", "configure the ingress controller"},
	{"H9", "shop", "Ingress shop; {metadata: {annotations: {example.com/config-hash: x, alb.ingress.kubernetes.io/scheme: internal}}, spec: {rules: [{host: shop.example.com}]}}", ""},
	{"H10", "shop", "Ingress shop; {metadata: {annotations: {haproxy.org/server-ca: billing/x}}, spec: {rules: [{host: shop.example.com}]}}", "Secret or ConfigMap of another namespace"},
	{"H10", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/custom-headers: billing/x}}, spec: {rules: [{host: shop.example.com}]}}", "Secret or ConfigMap of another namespace"},
	{"H10", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/custom-headers: shop/x, haproxy-ingress.github.io/auth-secret: x}}, spec: {rules: [{host: shop.example.com}]}}", ""},
	{"N5", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/auth-url: 'http://169.254.169.254/'}}, spec: {rules: [{host: shop.example.com}]}}", "ingress controller calls"},
	{"N5", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/auth-signin: 'https://shop.example.com/'}}, spec: {rules: [{host: shop.example.com}]}}", "ingress controller calls"},
	{"N5", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/mirror-target: 'https://10.0.0.1/'}}, spec: {rules: [{host: shop.example.com}]}}", "ingress controller calls"},
	{"N5", "shop", "Ingress shop; {metadata: {annotations: {haproxy-ingress.github.io/auth-url: 'http://10.0.0.1/'}}, spec: {rules: [{host: shop.example.com}]}}", "ingress controller calls"},
	{"N5", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/auth-type: basic, nginx.ingress.kubernetes.io/auth-realm: x, nginx.ingress.kubernetes.io/mirror-host: x}}, spec: {rules: [{host: shop.example.com}]}}", ""},
	{"H11", "shop", "HTTPRoute shop: {parentRefs: [{name: web}], hostnames: [billing.example.com]}", "host is not allowed"},
	{"H11", "shop", "HTTPRoute shop: {parentRefs: [{name: web}], rules: []}", "host is not allowed"},
	{"H11", "shop", "HTTPRoute shop: {parentRefs: [{name: web}], hostnames: [], rules: []}", "host is not allowed"},
	{"H11", "shop", "GRPCRoute shop: {parentRefs: [{name: web}], hostnames: [shop.example.com, billing.example.com]}", "host is not allowed"},
	{"H11", "shop", "TLSRoute shop: {parentRefs: [{name: web}], hostnames: [billing.example.com]}", "host is not allowed"},
	{"H11", "shop", "HTTPRoute shop: {parentRefs: [{name: web, namespace: gateways}], hostnames: [shop.example.com], rules: [{backendRefs: [{name: x}]}]}", ""},
	{"H11", "shop", "HTTPRoute shop: {parentRefs: [{kind: Service, group: '', name: web}], rules: []}", ""},
	{"H12", "shop", "Gateway shop: {listeners: [{name: a, hostname: shop.example.com}, {name: b}]}", "host is not allowed"},
	{"H12", "shop", "ListenerSet shop: {parentRef: {name: web}, listeners: [{name: a, hostname: billing.example.com}]}", "host is not allowed"},
	{"H12", "shop", "Gateway shop: {listeners: [{name: a, hostname: shop.example.com}]}", ""},
	{"H13", "shop", "Gateway shop: {listeners: [{name: a, hostname: shop.example.com}], addresses: [{value: 192.0.2.1}]}", "addresses"},
	{"N5", "shop", "Ingress shop; {metadata: {annotations: {alb.ingress.kubernetes.io/auth-idp-oidc: '{issuer: x}'}}, spec: {rules: [{host: shop.example.com}]}}", "ingress controller calls"},
	{"N5", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/upstream-vhost: billing.billing.svc.cluster.local}}, spec: {rules: [{host: shop.example.com}]}}", "ingress controller calls"},
	{"N5", "shop", "Ingress shop; {metadata: {annotations: {haproxy.org/set-host: billing.billing.svc}}, spec: {rules: [{host: shop.example.com}]}}", "ingress controller calls"},
	{"N5", "shop", "Ingress shop; {metadata: {annotations: {konghq.com/host-header: billing.billing.svc}}, spec: {rules: [{host: shop.example.com}]}}", "ingress controller calls"},
	{"N5", "shop", "Ingress shop; {metadata: {annotations: {alb.ingress.kubernetes.io/auth-type: cognito, alb.ingress.kubernetes.io/auth-idp-cognito: x}}, spec: {rules: [{host: shop.example.com}]}}", ""},
	{"N5", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/permanent-redirect: 'https://example.com/', nginx.ingress.kubernetes.io/temporal-redirect: 'https://example.com/'}}, spec: {rules: [{host: shop.example.com}]}}", ""},
	{"H9", "shop", "Ingress shop; {metadata: {annotations: {alb.ingress.kubernetes.io/group.name: billing}}, spec: {rules: [{host: shop.example.com}]}}", "configure the ingress controller"},
	{"H9", "shop", "Ingress shop; {metadata: {annotations: {alb.ingress.kubernetes.io/actions.web: '{type: forward, targetGroupARN: x}'}}, spec: {rules: [{host: shop.example.com}]}}", "configure the ingress controller"},
	{"H9", "shop", "Ingress shop; {metadata: {annotations: {alb.ingress.kubernetes.io/group.order: '1', example.com/group.name: x, alb.ingress.kubernetes.io/ssl-redirect: '443'}}, spec: {rules: [{host: shop.example.com}]}}", ""},
	{"H2", "shop", "Ingress shop; {metadata: {annotations: {external-dns.alpha.kubernetes.io/target: 10.0.0.1}}, spec: {rules: [{host: shop.example.com}]}}", "addresses"},
	{"H2", "shop", "Service shop; {metadata: {annotations: {external-dns.alpha.kubernetes.io/target: 10.0.0.1}}, spec: {}}", "addresses"},
	{"H2", "shop", "HTTPRoute shop; {metadata: {annotations: {external-dns.alpha.kubernetes.io/target: 10.0.0.1}}, spec: {hostnames: [shop.example.com]}}", "addresses"},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/from-to-www-redirect: 'true'}}, spec: {rules: [{host: shop.example.com}]}}", "host is not allowed"},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/from-to-www-redirect: 'true'}}, spec: {rules: [{host: a.shop.example.org}, {host: shop.example.com}]}}", "host is not allowed"},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/from-to-www-redirect: 'true'}}, spec: {rules: [{host: a.shop.example.org}, {host: www.b.shop.example.org}]}}", ""},
	{"H8", "shop", "Ingress shop; {metadata: {annotations: {nginx.ingress.kubernetes.io/from-to-www-redirect: 'false'}}, spec: {rules: [{host: shop.example.com}]}}", ""},
	{"H17", "shop", "Certificate shop: {secretName: x, dnsNames: [billing.example.com]}", "name of the Certificate"},
	{"H17", "shop", "Certificate shop: {secretName: x, dnsNames: [shop.example.com, billing.example.com]}", "name of the Certificate"},
	{"H17", "shop", "Certificate shop: {secretName: x, dnsNames: ['*.example.com']}", "name of the Certificate"},
	{"H17", "shop", "Certificate shop: {secretName: x, dnsNames: [shop.example.com], commonName: billing.example.com}", "name of the Certificate"},
	{"H17", "shop", "Certificate shop: {secretName: x, literalSubject: 'CN=billing.example.com'}", "name of the Certificate"},
	{"H17", "shop", "Certificate shop: {secretName: x, uris: ['spiffe://cluster.local/ns/billing/sa/x']}", "name of the Certificate"},
	{"H17", "shop", "Certificate shop: {secretName: x, ipAddresses: [10.96.0.1]}", "name of the Certificate"},
	{"H17", "shop", "Certificate shop: {secretName: x, emailAddresses: [admin@example.com]}", "name of the Certificate"},
	{"H17", "shop", "Certificate shop: {secretName: x, otherNames: [{oid: 1.3.6.1.4.1.311.20.2.3, utf8Value: admin@example.com}]}", "name of the Certificate"},
	{"H17", "shop", "Certificate shop: {secretName: x, dnsNames: [billing.billing.svc]}", "name of the Certificate"},
	{"H17", "shop", "Certificate shop: {secretName: x, dnsNames: [web.evil-shop.svc]}", "name of the Certificate"},
	{"H17", "shop", "Certificate shop: {secretName: x, dnsNames: [kubernetes]}", "name of the Certificate"},
	{"H17", "billing", "Certificate billing: {secretName: x, dnsNames: [billing.example.com]}", "name of the Certificate"},
	{"H17", "shop", "Certificate shop: {secretName: x, dnsNames: [shop.example.com], isCA: true}", "isCA"},
	{"H17", "shop", "Certificate shop: {secretName: x, commonName: shop.example.com, dnsNames: [shop.example.com, 'a.b.shop.example.org', '*.shop.example.org'], isCA: false, issuerRef: {kind: ClusterIssuer, name: letsencrypt}}", ""},
	{"H17", "shop", "Certificate shop: {secretName: x, commonName: web.shop.svc, dnsNames: [web.shop.svc, web.shop.svc.cluster.local, '*.web.shop.svc']}", ""},
	{"H17", "billing", "Certificate billing: {secretName: x, dnsNames: [web.billing.svc]}", ""},
	{"H18", "billing", "CertificateRequest billing: {request: eA==, issuerRef: {kind: ClusterIssuer, name: x}}", "only cert-manager"},
	{"H18", "billing", "Order billing: {request: eA==, dnsNames: [shop.example.com]}", "only cert-manager"},
	{"H18", "billing", "Challenge billing: {dnsName: shop.example.com}", "only cert-manager"},
}

// TestThreats holds what admission refuses, and that what is refused can still be deleted.
func TestThreats(t *testing.T) {
	spec := load(t, []byte(admissionSpec))
	policies := map[string][]compiled{}
	for _, tenant := range spec.Tenants {
		policies[tenant.Metadata.Name] = judges(t, spec, tenant)
	}
	for _, c := range threats {
		t.Run(c.line, func(t *testing.T) {
			object := fluxObject(t, c.object)
			refusal := judgeAll(t, policies[c.tenant], asked{object: object})
			if (refusal == "") != (c.refusal == "") || !strings.Contains(refusal, c.refusal) {
				t.Fatalf("%s: got refusal %q, want one about %q", c.object, refusal, c.refusal)
			}
			testDeletion(t, policies[c.tenant], object, c.refusal)
		})
	}
}

// TestThreatModel holds that what the page says admission refuses is tried here.
func TestThreatModel(t *testing.T) {
	page, err := os.ReadFile("../../docs/tenants.md")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := []string{"N4", "R7", "R14", "R15", "S10", "S11", "S12", "S13", "S14", "H15"} // of status and deletion: the tests beside this one
	lines := regexp.MustCompile(`(?m)^\| ([A-Z][0-9]+) \| .* \| (accounts|exposure|pods|references|sources|status)\b.*\|$`).FindAllStringSubmatch(string(page), -1)
	if len(lines) < 40 {
		t.Fatalf("the page has only %d lines that admission refuses", len(lines))
	}
	for _, line := range lines {
		tried := slices.ContainsFunc(threats, func(c struct{ line, tenant, object, refusal string }) bool {
			return c.line == line[1] && c.refusal != ""
		})
		if !tried && !slices.Contains(elsewhere, line[1]) {
			t.Errorf("nothing tries line %s", line[1])
		}
	}
}

// TestStatus holds that the status of Flux's objects is Flux's own (S10 to S12, R14 and
// R15), whatever the object says and while it is being deleted, too.
func TestStatus(t *testing.T) {
	spec := load(t, []byte(admissionSpec))
	policies := judges(t, spec, spec.Tenants[0])
	for _, kind := range []string{"GitRepository", "Bucket", "ExternalArtifact", "HelmChart", "Kustomization", "HelmRelease", "ArtifactGenerator", "Receiver", "ImagePolicy", "ResourceSet"} {
		for _, c := range []struct {
			name    string
			groups  []string
			refused bool
		}{
			{"source-controller", []string{"system:serviceaccounts", "system:serviceaccounts:flux-system", "system:authenticated"}, false},
			{"the tenant", []string{"system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"}, true},
			{"a namespace with Flux's beginning", []string{"system:serviceaccounts", "system:serviceaccounts:flux-system-evil"}, true},
			{"the administrator", []string{"system:masters"}, true},
			{"nobody", nil, true},
		} {
			t.Run(kind+" by "+c.name, func(t *testing.T) {
				object := fluxObject(t, kind+" shop: {url: https://github.com/acme/shop}")
				leaving := object.DeepCopy()
				leaving.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
				for _, o := range []asked{{object: object, old: object}, {object: leaving, old: leaving}} {
					o.subresource, o.groups = "status", c.groups
					if refusal := judgeAll(t, policies, o); (refusal != "") != c.refused {
						t.Errorf("refused: %q, want %t", refusal, c.refused)
					}
				}
			})
		}
	}
}

// TestPlatformCreatesProviders holds that Flux may bring what the tenant may not.
func TestPlatformCreatesProviders(t *testing.T) {
	spec := load(t, []byte(admissionSpec))
	object := fluxObject(t, "Provider shop: {type: slack, secretRef: {name: x}}")
	if refusal := judgeAll(t, judges(t, spec, spec.Tenants[0]), asked{object: object, groups: []string{"system:serviceaccounts:flux-system"}}); refusal != "" {
		t.Errorf("refused: %s", refusal)
	}
}

// TestCertManagerCreatesRequests holds line H18: what cert-manager makes of a Certificate it may
// bring, and nobody of the tenant's, wherever its account is.
func TestCertManagerCreatesRequests(t *testing.T) {
	spec := load(t, []byte(admissionSpec))
	policies := judges(t, spec, spec.Tenants[1])
	for namespace, refused := range map[string]bool{"cert-manager": false, "billing-system": false, "shop": true, "shop-jobs": true, "shop-flux": true} {
		object := fluxObject(t, "CertificateRequest shop: {request: eA==}")
		groups := []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"}
		if refusal := judgeAll(t, policies, asked{object: object, groups: groups}); (refusal != "") != refused {
			t.Errorf("%s: refused: %q, want %t", namespace, refusal, refused)
		}
	}
	if refusal := judgeAll(t, policies, asked{object: fluxObject(t, "Order shop: {request: eA==}"), groups: []string{"system:masters"}}); refusal == "" {
		t.Error("an administrator may create an Order")
	}
}

// TestDeletedObjectsKeepTheirAnnotations holds line H15.
func TestDeletedObjectsKeepTheirAnnotations(t *testing.T) {
	spec := load(t, []byte(admissionSpec))
	old := fluxObject(t, "Ingress shop; {metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}, spec: {rules: [{host: shop.example.com}]}}")
	changed := old.DeepCopy()
	changed.SetAnnotations(map[string]string{"nginx.ingress.kubernetes.io/server-alias": "billing.example.com"})
	policies := judges(t, spec, spec.Tenants[1])
	if refusal := judgeAll(t, policies, asked{object: changed, old: old}); !strings.Contains(refusal, "host is not allowed") {
		t.Errorf("got refusal %q", refusal)
	}
	if refusal := judgeAll(t, policies, asked{object: old, old: changed}); refusal != "" {
		t.Errorf("an alias cannot be removed: %s", refusal)
	}
}
