package e2e

// referenceTrials are the trials of sections R and N for Flux's kinds: what is read and requested.
var referenceTrials = []trial{
	{"R1", "a Kustomization of the platform's source", accounts, kustomization(asOwn + `sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}`), byPolicy},
	{"R1", "a Kustomization of another tenant's source", accounts, kustomization(asOwn + `sourceRef: {kind: GitRepository, name: web, namespace: OTHERNS}`), byPolicy},
	{"R1", "a Kustomization of the sync namespace's source", accounts, kustomization(asOwn + `sourceRef: {kind: OWNKIND, name: TENANT, namespace: SYNC}`), byPolicy},
	{"R1", "a Kustomization that names its own namespace", accounts, kustomization(asOwn + `sourceRef: {kind: OWNKIND, name: web, namespace: HERE}`), admitted},
	{"R1", "a Kustomization of another namespace's ExternalArtifact", accounts, kustomization(asOwn + `sourceRef: {apiVersion: source.toolkit.fluxcd.io/v1, kind: ExternalArtifact, name: web, namespace: OTHERNS}`), byPolicy},
	{"R2", "a HelmRelease of the platform's chart", accounts, helmRelease(asOwn + `chartRef: {kind: OCIRepository, name: web, namespace: flux-system}`), byPolicy},
	{"R2", "a HelmRelease of the platform's HelmChart", accounts, helmRelease(asOwn + `chartRef: {kind: HelmChart, name: web, namespace: flux-system}`), byPolicy},
	{"R2", "a HelmRelease of the platform's repository", accounts, helmRelease(asOwn + `chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: web, namespace: flux-system}}}`), byPolicy},
	{"R2", "a HelmRelease of a chart in its own source", accounts, helmRelease(asOwn + `chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: web}}}`), admitted},
	{"R3", "the platform's paths, by readyExpr", accounts, kustomization(asOwn + ownSource + `dependsOn: [{name: flux-system, namespace: flux-system, readyExpr: "dep.spec.path.startsWith('./a')"}]`), byPolicy},
	{"R3", "another tenant's variables, by readyExpr", accounts, kustomization(asOwn + ownSource + `dependsOn: [{name: web, namespace: OTHERNS, readyExpr: "dep.spec.postBuild.substitute.password.startsWith('a')"}]`), byPolicy},
	{"R3", "the second of two dependencies", accounts, kustomization(asOwn + ownSource + `dependsOn: [{name: a}, {name: web, namespace: OTHERNS, readyExpr: "true"}]`), byPolicy},
	{"R3", "its own readyExpr", accounts, kustomization(asOwn + ownSource + `dependsOn: [{name: database, readyExpr: "dep.status.conditions.size() > 0"}]`), admitted},
	{"R3", "a dependency that names its own namespace", accounts, kustomization(asOwn + ownSource + `dependsOn: [{name: database, namespace: HERE}]`), admitted},
	{"R3", "a dependency in its other namespace", accounts, kustomization(asOwn + ownSource + `dependsOn: [{name: database, namespace: SECONDNS}]`), admitted},
	{"R4", "another tenant's release, by readyExpr", accounts, helmRelease(asOwn + ownChart + `dependsOn: [{name: web, namespace: OTHERNS, readyExpr: "dep.spec.values.password == 'a'"}]`), byPolicy},
	{"R4", "its own release, by readyExpr", accounts, helmRelease(asOwn + ownChart + `dependsOn: [{name: database, readyExpr: "dep.status.conditions.size() > 0"}]`), admitted},
	{"R5", "any Secret, by readyExpr of a ResourceSet", admins, resourceSet(asOwn + `dependsOn: [{apiVersion: v1, kind: Secret, name: sops-age, namespace: flux-system, readyExpr: "has(dep.data)"}], `), byPolicy},
	{"R5", "a node, by readyExpr of a ResourceSet", admins, resourceSet(asOwn + `dependsOn: [{apiVersion: v1, kind: Node, name: node, ready: true}], `), byPolicy},
	{"R5", "a node, by readyExpr of a ResourceSet that names its own namespace", admins, resourceSet(asOwn + `dependsOn: [{apiVersion: v1, kind: Node, name: node, namespace: HERE, ready: true, readyExpr: "status.phase == 'a'"}], `), byPolicy},
	{"R5", "the labels of another namespace, by readyExpr of a ResourceSet that names its own namespace", admins, resourceSet(asOwn + `dependsOn: [{apiVersion: v1, kind: Namespace, name: flux-system, namespace: HERE, ready: true, readyExpr: "status.phase == 'a'"}], `), byPolicy},
	{"R5", "a volume, by readyExpr of a ResourceSet that names its own namespace", admins, resourceSet(asOwn + `dependsOn: [{apiVersion: v1, kind: PersistentVolume, name: volume, namespace: HERE, ready: true, readyExpr: "status.phase == 'a'"}], `), byPolicy},
	{"R5", "a role of the whole cluster, by readyExpr of a ResourceSet that names its own namespace", admins, resourceSet(asOwn + `dependsOn: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: admin, namespace: HERE, ready: true, readyExpr: "status.phase == 'a'"}], `), byPolicy},
	{"R5", "its own Deployment, by readyExpr of a ResourceSet", admins, resourceSet(asOwn + `dependsOn: [{apiVersion: apps/v1, kind: Deployment, name: web, namespace: HERE, ready: true, readyExpr: "status.replicas > 0"}], `), admitted},
	{"R6", "whether a Kustomization of the platform is ready", accounts, kustomization(asOwn + ownSource + `dependsOn: [{name: flux-system, namespace: flux-system}]`), byPolicy},
	{"R6", "whether a release of another tenant is ready", accounts, helmRelease(asOwn + ownChart + `dependsOn: [{name: web, namespace: OTHERNS}]`), byPolicy},
	{"R8", "the events of the platform", admins, alert(`{kind: Kustomization, name: "*", namespace: flux-system}`), byPolicy},
	{"R8", "the events of another tenant", admins, alert(`{kind: HelmRelease, name: "*", namespace: OTHERNS}`), byPolicy},
	{"R8", "its own events", admins, alert(`{kind: Kustomization, name: "*"}`), admitted},
	{"R9", "a reconciliation of the platform", admins, receiver(`resources: [{kind: GitRepository, name: flux-system, namespace: flux-system}]`), byPolicy},
	{"R9", "a reconciliation of its own", admins, receiver(`resources: [{kind: OWNKIND, name: web}]`), admitted},
	{"R12", "a copy of the platform's source", admins, generator(`{alias: web, kind: GitRepository, name: flux-system, namespace: flux-system}`), byPolicy},
	{"R12", "a copy of its own source", admins, generator(`{alias: web, kind: OWNKIND, name: web}`), admitted},
	{"R13", "the platform's ExternalArtifacts", admins, provider(`type: ExternalArtifact, selectors: [{name: web, namespace: flux-system}]`), byPolicy},
	{"R16", "a decryption key of another namespace", accounts, kustomization(asOwn + ownSource + `decryption: {provider: sops, secretRef: {name: sops-age, namespace: flux-system}}`), bySchema},
	{"R16", "variables of another namespace", accounts, kustomization(asOwn + ownSource + `postBuild: {substituteFrom: [{kind: Secret, name: sops-age, namespace: flux-system}]}`), bySchema},
	{"R16", "values of another namespace", accounts, helmRelease(asOwn + ownChart + `valuesFrom: [{kind: Secret, name: sops-age, namespace: flux-system}]`), bySchema},
	{"R16", "credentials of another namespace", accounts, own(`secretRef: {name: flux-system, namespace: flux-system}`), bySchema},
	{"R16", "its own keys, variables and credentials", accounts, kustomization(asOwn + ownSource + `decryption: {provider: sops, secretRef: {name: web}}, postBuild: {substituteFrom: [{kind: Secret, name: web}]}`), admitted},
	{"Z2", "a chart in its own source, with dependencies that nobody sees", accounts, helmRelease(asOwn + `chart: {spec: {chart: ./umbrella, sourceRef: {kind: GitRepository, name: web}}}`), admitted},
	{"Z3", "a Helm repository whose index leads anywhere", accounts, sourceOf("HelmRepository", `url: "https://ENDPOINT/BUCKETNAME"`), admitted},
	{"Z5", "decryption with the controller's keys", accounts, kustomization(asOwn + ownSource + `decryption: {provider: sops}`), admitted},
	{"Z15", "a Kustomization that waits for a day", accounts, kustomization(asOwn + ownSource + `wait: true, timeout: 24h`), admitted},
	{"R17", "a ConfigMap in the platform's namespace", nobody, configMap("flux-system"), admitted},
	{"R17", "a ConfigMap in another tenant's namespace", nobody, configMap("OTHERNS"), admitted},
	{"R17", "a ConfigMap in the sync namespace", nobody, configMap("SYNC"), admitted},
	{"R17", "a ConfigMap in its own", accounts, configMap("HERE"), admitted},

	{"N1", "events to any address", admins, notifications(`type: generic, address: "http://169.254.169.254/latest"`), byPolicy},
	{"N1", "events to a Service inside of the cluster", admins, notifications(`type: generic-hmac, address: "http://source-controller.flux-system.svc", secretRef: {name: web}`), byPolicy},
	{"N1", "events to an address in a Secret", admins, notifications(`type: slack, secretRef: {name: web}`), byPolicy},
	{"N1", "events through a proxy", admins, notifications(`type: slack, address: "https://hooks.slack.com/services/a", proxySecretRef: {name: proxy}`), byPolicy},
	{"N1", "commit statuses of a repository", admins, notifications(`type: github, address: "https://github.com/anybody/anything", secretRef: {name: web}`), byPolicy},
	{"N2", "any issuer of tokens", admins, oidcReceiver("https://kubernetes.default.svc"), byPolicy},
	{"N3", "inputs from a Git host", admins, provider(`type: GitHubTag, url: "https://github.com/anybody/anything"`), byPolicy},
	{"N3", "inputs from any registry", admins, provider(`type: OCIArtifactTag, url: "oci://registry.example.com/anybody/anything"`), byPolicy},
	{"N3", "inputs of its own", admins, provider(`type: Static, defaultValues: {a: b}`), admitted},
	{"N4", "a source in the cluster", accounts, git("http://source-controller.flux-system.svc.cluster.local./gitrepository"), byPolicy},
	{"N4", "a Helm repository at the API server", accounts, sourceOf("HelmRepository", `url: "https://kubernetes.default.svc"`), byPolicy},
	{"N4", "an artifact at the metadata service", accounts, sourceOf("OCIRepository", `url: "oci://169.254.169.254/latest", insecure: true`), byPolicy},
	{"N4", "a bucket at the metadata service", accounts, sourceOf("Bucket", `endpoint: 169.254.169.254, bucketName: latest, insecure: true`), byPolicy},
	{"N4", "a bucket at a port of the node", accounts, sourceOf("Bucket", `endpoint: "127.0.0.1:10250", bucketName: pods`), byPolicy},
}

func configMap(namespace string) string {
	return `{apiVersion: v1, kind: ConfigMap, metadata: {name: trial, namespace: ` + namespace + `}, data: {a: b}}`
}

func alert(source string) string {
	return fluxObject("notification.toolkit.fluxcd.io/v1beta3", "Alert", `suspend: true, providerRef: {name: web}, eventSources: [`+source+`]`)
}

func notifications(spec string) string {
	return fluxObject("notification.toolkit.fluxcd.io/v1beta3", "Provider", `suspend: true, `+spec)
}

func receiver(spec string) string {
	return fluxObject("notification.toolkit.fluxcd.io/v1", "Receiver", `suspend: true, type: generic, secretRef: {name: web}, `+spec)
}

func oidcReceiver(issuer string) string {
	return fluxObject("notification.toolkit.fluxcd.io/v1", "Receiver", `suspend: true, type: generic-oidc, resources: [{kind: OWNKIND, name: web}], `+
		`oidcProviders: [{issuerURL: "`+issuer+`", audience: web, validations: [{expression: "true", message: a}]}]`)
}

func generator(source string) string {
	return fluxObject("source.extensions.fluxcd.io/v1beta1", "ArtifactGenerator", `sources: [`+source+`], artifacts: [{name: web, copy: [{from: "@web/**", to: "@artifact/"}]}]`)
}

func provider(spec string) string {
	return fluxObject("fluxcd.controlplane.io/v1", "ResourceSetInputProvider", spec)
}
