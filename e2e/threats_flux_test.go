package e2e

import "strings"

// Objects of Flux's kinds with all that a tenant may write in them.
const (
	asOwn     = `serviceAccountName: TENANT-helm, `
	ownSource = `sourceRef: {kind: OWNKIND, name: web}, `
	ownChart  = `chartRef: {kind: OCIRepository, name: web}, `
	hourly    = `interval: 1h, `
)

func fluxObject(apiVersion, kind, spec string) string {
	return `{apiVersion: ` + apiVersion + `, kind: ` + kind + `, spec: {` + spec + `}}`
}

func kustomization(spec string) string {
	return fluxObject("kustomize.toolkit.fluxcd.io/v1", "Kustomization", hourly+`prune: true, suspend: true, `+spec)
}

func helmRelease(spec string) string {
	return fluxObject("helm.toolkit.fluxcd.io/v2", "HelmRelease", hourly+`suspend: true, `+spec)
}

func sourceOf(kind, spec string) string {
	return fluxObject("source.toolkit.fluxcd.io/v1", kind, hourly+`suspend: true, `+spec)
}

// Sources that the specification allows: the tenant's own, charts in a registry, and, for tenants
// with an allowed https:// address, a Helm repository and a bucket.
func own(more string) string { return sourceOf("OWNKIND", `url: "OWNURL", ref: OWNREF, `+more) }
func oci(more string) string { return sourceOf("OCIRepository", `url: "CHARTURL", `+more) }
func repository(more string) string {
	return sourceOf("HelmRepository", `type: oci, url: "CHARTURL", `+more)
}
func bucket(more string) string {
	return sourceOf("Bucket", `endpoint: "ENDPOINT", bucketName: BUCKETNAME, `+more)
}
func git(url string) string { return sourceOf("GitRepository", `url: "`+url+`"`) }

func resourceSet(spec string) string {
	return fluxObject("fluxcd.controlplane.io/v1", "ResourceSet", spec+`resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: trial, namespace: HERE}}]`)
}

// accountTrials are the trials of section A: as which account an object acts.
var accountTrials = []trial{
	{"A1", "a Kustomization as the tenant's account", accounts, kustomization(asOwn + ownSource), admitted},
	{"A1", "a Kustomization without an account", accounts, kustomization(ownSource), byPolicy},
	{"A1", "a Kustomization with an empty account", accounts, kustomization(`serviceAccountName: "", ` + ownSource), byPolicy},
	{"A1", "a Kustomization as default", accounts, kustomization(`serviceAccountName: default, ` + ownSource), byPolicy},
	{"A1", "a Kustomization as the controller", accounts, kustomization(`serviceAccountName: kustomize-controller, ` + ownSource), byPolicy},
	{"A2", "a HelmRelease as the tenant's account", accounts, helmRelease(asOwn + ownChart), admitted},
	{"A2", "a HelmRelease without an account", accounts, helmRelease(ownChart), byPolicy},
	{"A2", "a HelmRelease as default", accounts, helmRelease(`serviceAccountName: default, ` + ownChart), byPolicy},
	{"A2", "a HelmRelease as the controller", accounts, helmRelease(`serviceAccountName: helm-controller, ` + ownChart), byPolicy},
	{"A3", "a ResourceSet as the tenant's account", admins, resourceSet(asOwn), admitted},
	{"A3", "a ResourceSet without an account", admins, resourceSet(""), byPolicy},
	{"A3", "a ResourceSet as the Flux Operator", admins, resourceSet(`serviceAccountName: flux-operator, `), byPolicy},
	{"A4", "a Kustomization as the sync namespace's account", accounts, kustomization(`serviceAccountName: TENANT, ` + ownSource), byPolicy},
	{"A4", "a HelmRelease as the sync namespace's account", accounts, helmRelease(`serviceAccountName: TENANT, ` + ownChart), byPolicy},
	{"A5", "a Kustomization for another cluster", accounts, kustomization(asOwn + ownSource + `kubeConfig: {secretRef: {name: web}}`), byPolicy},
	{"A5", "a Kustomization for another cluster, by workload identity", accounts, kustomization(asOwn + ownSource + `kubeConfig: {configMapRef: {name: web}}`), byPolicy},
	{"A5", "a HelmRelease for another cluster", accounts, helmRelease(asOwn + ownChart + `kubeConfig: {secretRef: {name: web}}`), byPolicy},
	{"A5", "a HelmRelease for another cluster, by workload identity", accounts, helmRelease(asOwn + ownChart + `kubeConfig: {configMapRef: {name: web}}`), byPolicy},
	{"A6", "a Flux of its own", nobody, `{apiVersion: fluxcd.controlplane.io/v1, kind: FluxInstance, metadata: {name: flux}, spec: {distribution: {version: 2.x, registry: ghcr.io/fluxcd}}}`, byPolicy},
	{"A15", "a Kustomization in the sync namespace", nobody, in("SYNC", kustomization(`serviceAccountName: TENANT, `+ownSource)), admitted},
	{"A15", "a source in the sync namespace", nobody, in("SYNC", own("")), admitted},
	{"A15", "a Kustomization in the platform's namespace", nobody, in("flux-system", kustomization(`serviceAccountName: kustomize-controller, `+ownSource)), admitted},
	{"A15", "a HelmRelease of another tenant's", nobody, in("OTHERNS", helmRelease(asOwn+ownChart)), admitted},
}

// in returns the object in the namespace.
func in(namespace, object string) string {
	return strings.Replace(object, "spec: {", "metadata: {namespace: "+namespace+"}, spec: {", 1)
}

// sourceTrials are the trials of section S: what is deployed.
var sourceTrials = []trial{
	{"S1", "its own source", accounts, own(""), admitted},
	{"S1", "a chart that it may use", accounts, oci(""), admitted},
	{"S1", "the same as a Helm repository", accounts, repository(""), admitted},
	{"S1", "a Helm repository that is allowed", accounts, sourceOf("HelmRepository", `url: "https://ENDPOINT/BUCKETNAME"`), admitted},
	{"S1", "a bucket that is allowed", accounts, bucket(""), admitted},
	{"S1", "anybody's repository", accounts, git("https://git.example.com/anybody/anything"), byPolicy},
	{"S1", "anybody's repository by ssh", accounts, git("ssh://git@git.example.com/anybody/anything"), byPolicy},
	{"S1", "anybody's artifact", accounts, sourceOf("OCIRepository", `url: "oci://registry.example.com/anybody/anything"`), byPolicy},
	{"S1", "anybody's charts", accounts, sourceOf("HelmRepository", `url: "https://charts.example.com"`), byPolicy},
	{"S1", "anybody's charts in a registry", accounts, sourceOf("HelmRepository", `type: oci, url: "oci://registry.example.com/charts"`), byPolicy},
	{"S1", "anybody's bucket", accounts, sourceOf("Bucket", `endpoint: s3.example.com, bucketName: anything`), byPolicy},
	{"S1", "another tenant's source", accounts, git("https://git.acme.example/another/deploy.git"), byPolicy},
	{"S2", "a repository beside its own", accounts, sourceOf("OWNKIND", `url: "OWNURL-evil"`), byPolicy},
	{"S2", "a repository below its own", accounts, sourceOf("OWNKIND", `url: "OWNURL/../evil"`), byPolicy},
	{"S2", "an allowed address as the user of another host", accounts, sourceOf("HelmRepository", `url: "https://ENDPOINT@evil.example.com/BUCKETNAME"`), byPolicy},
	{"S2", "a longer host", accounts, sourceOf("HelmRepository", `url: "https://ENDPOINT.evil.example.com/BUCKETNAME"`), byPolicy},
	{"S2", "another port", accounts, sourceOf("HelmRepository", `url: "https://ENDPOINT:8443/BUCKETNAME"`), byPolicy},
	{"S2", "escapes in the path", accounts, sourceOf("HelmRepository", `url: "https://ENDPOINT/BUCKETNAME/%2e%2e/evil"`), byPolicy},
	{"S2", "a query", accounts, sourceOf("HelmRepository", `url: "https://ENDPOINT/BUCKETNAME/?to=evil"`), byPolicy},
	{"S2", "a fragment", accounts, sourceOf("HelmRepository", `url: "https://ENDPOINT/BUCKETNAME/#evil"`), byPolicy},
	{"S2", "a bucket's endpoint with a path", accounts, sourceOf("Bucket", `endpoint: "evil.example.com/ENDPOINT", bucketName: BUCKETNAME`), byPolicy},
	{"S2", "a bucket's endpoint with a user", accounts, sourceOf("Bucket", `endpoint: "ENDPOINT@evil.example.com", bucketName: BUCKETNAME`), byPolicy},
	{"S3", "the platform's branch", accounts, sourceOf("GitRepository", `url: "PLATFORMURL", ref: {branch: main}`), byPolicy},
	{"S3", "the platform's default branch", accounts, git("PLATFORMURL"), byPolicy},
	{"S3", "the platform's tag", accounts, sourceOf("GitRepository", `url: "PLATFORMURL", ref: {tag: v1}`), byPolicy},
	{"S3", "its own branch, and any ref", accounts, sourceOf("GitRepository", `url: "PLATFORMURL", ref: {branch: BRANCH, name: refs/heads/main}`), byPolicy},
	{"S3", "its own branch, and any commit", accounts, sourceOf("GitRepository", `url: "PLATFORMURL", ref: {branch: BRANCH, commit: "0123456789012345678901234567890123456789"}`), byPolicy},
	{"S3", "its own branch, and the platform's files", accounts, sourceOf("GitRepository", `url: "PLATFORMURL", ref: {branch: BRANCH, semver: "*"}`), byPolicy},
	{"S4", "its own source with submodules", accounts, sourceOf("GitRepository", `url: "GITURL", ref: OWNREF, recurseSubmodules: true`), byPolicy},
	{"S5", "its own source through a proxy", accounts, own(`proxySecretRef: {name: proxy}`), byPolicy},
	{"S5", "an artifact through a proxy", accounts, oci(`proxySecretRef: {name: proxy}`), byPolicy},
	{"S5", "a bucket through a proxy", accounts, bucket(`proxySecretRef: {name: proxy}`), byPolicy},
	{"S6", "an artifact with a certificate authority of its own", accounts, oci(`certSecretRef: {name: ca}`), byPolicy},
	{"S6", "a Helm repository with a certificate authority of its own", accounts, repository(`certSecretRef: {name: ca}`), byPolicy},
	{"S6", "a bucket with a certificate authority of its own", accounts, bucket(`certSecretRef: {name: ca}`), byPolicy},
	{"S7", "a bucket with credentials from any address", accounts, bucket(`provider: generic, sts: {provider: ldap, endpoint: "http://kubernetes.default.svc"}`), byPolicy},
	{"S7", "a bucket with credentials from any address, as on AWS", accounts, bucket(`provider: aws, sts: {provider: aws, endpoint: "https://sts.example.com"}`), byPolicy},
	{"S8", "an artifact with no provider's identity", accounts, oci(`provider: generic`), admitted},
	{"S8", "an artifact with the controller's identity on AWS", accounts, oci(`provider: aws`), byPolicy},
	{"S8", "an artifact with the controller's identity on Azure", accounts, oci(`provider: azure`), byPolicy},
	{"S8", "an artifact with the controller's identity on GCP", accounts, oci(`provider: gcp`), byPolicy},
	{"S8", "a Helm repository with the controller's identity", accounts, repository(`provider: aws`), byPolicy},
	{"S8", "a bucket with the controller's identity", accounts, bucket(`provider: aws`), byPolicy},
	{"S8", "a repository with the controller's identity", accounts, sourceOf("GitRepository", `url: "GITURL", ref: OWNREF, provider: azure`), byPolicy},
	{"S8", "a repository with a GitHub App", accounts, sourceOf("GitRepository", `url: "GITURL", ref: OWNREF, provider: github`), byPolicy},
	{"Z4", "its own source with credentials, and what authority to trust", accounts, own(`secretRef: {name: web}`), admitted},
	{"S9", "an artifact without TLS", accounts, oci(`insecure: true`), byPolicy},
	{"S9", "a Helm repository without TLS", accounts, repository(`insecure: true`), byPolicy},
	{"S9", "a bucket without TLS", accounts, bucket(`insecure: true`), byPolicy},
	{"S9", "an allowed address without TLS", accounts, sourceOf("HelmRepository", `url: "http://ENDPOINT/BUCKETNAME"`), byPolicy},
}

// imageTrials are the trials of image automation.
var imageTrials = []trial{
	{"S15", "an image that it may use", admins, imageRepository(`image: "CHARTIMAGE"`), admitted},
	{"S15", "any image", admins, imageRepository(`image: registry.example.com/anybody/anything`), byPolicy},
	{"S15", "an image inside of the cluster", admins, imageRepository(`image: source-controller.flux-system.svc/anything, insecure: true`), byPolicy},
	{"S15", "an image through a proxy", admins, imageRepository(`image: "CHARTIMAGE", proxySecretRef: {name: proxy}`), byPolicy},
	{"S15", "an image with the controller's identity", admins, imageRepository(`image: "CHARTIMAGE", provider: aws`), byPolicy},
	{"S15", "an image without TLS", admins, imageRepository(`image: "CHARTIMAGE", insecure: true`), byPolicy},
	{"S15", "an image with a certificate authority of its own", admins, imageRepository(`image: "CHARTIMAGE", certSecretRef: {name: ca}`), byPolicy},
	{"S18", "commits to its own branch", admins, automation(ownSource, `push: {branch: BRANCH}, `), admitted},
	{"S18", "commits to the platform's branch", admins, automation(ownSource, `push: {branch: main, options: {from: BRANCH}}, `), byPolicy},
	{"S18", "commits to the platform's branch by a refspec", admins, automation(ownSource, `push: {refspec: "refs/heads/BRANCH:refs/heads/main"}, `), byPolicy},
	{"S18", "a checkout of the platform's branch", admins, automation(ownSource, `checkout: {ref: {branch: main}}, push: {branch: BRANCH}, `), byPolicy},
	{"R10", "a policy for its own images", admins, imagePolicy(""), admitted},
	{"R10", "a policy for the platform's images", admins, imagePolicy(`, namespace: flux-system`), byPolicy},
	{"R11", "commits to the platform's source", admins, automation(`sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}, `, `checkout: {ref: {branch: main}}, `), byPolicy},
}

func imageRepository(spec string) string {
	return fluxObject("image.toolkit.fluxcd.io/v1", "ImageRepository", hourly+`suspend: true, `+spec)
}

func imagePolicy(more string) string {
	return fluxObject("image.toolkit.fluxcd.io/v1", "ImagePolicy", `imageRepositoryRef: {name: web`+more+`}, policy: {semver: {range: "*"}}`)
}

func automation(source, git string) string {
	return fluxObject("image.toolkit.fluxcd.io/v1", "ImageUpdateAutomation", hourly+`suspend: true, `+strings.Replace(source, "OWNKIND", "GitRepository", 1)+
		`git: {`+git+`commit: {author: {email: trial@example.com}}}`)
}
