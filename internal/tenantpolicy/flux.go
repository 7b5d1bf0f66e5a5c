package tenantpolicy

import (
	"regexp"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
)

// accountPolicy prevents Flux's controllers from acting with another account, on another cluster, or with a
// source of another namespace, and from reading objects of other namespaces for dependsOn. The Flux Operator
// applies a ResourceSet as cluster-admin, unless it names an account, and it reads dependsOn with its own
// account. The operator's manifests let the built-in roles edit and admin write ResourceSets
// (https://fluxoperator.dev/docs/crd/resourceset/#role-based-access-control).
func accountPolicy(t Tenant) policy {
	return policy{
		suffix: "accounts",
		resources: []admissionv1.NamedRuleWithOperations{
			resourceRule(fluxapi.KustomizeGroup, "kustomizations"),
			resourceRule(fluxapi.HelmGroup, "helmreleases"),
			resourceRule(fluxapi.OperatorGroup, "resourcesets"),
		},
		exempt:    sameSpec,
		variables: []admissionv1.Variable{specVariable},
		validations: []admissionv1.Validation{
			validation(
				"variables.spec.?serviceAccountName.orValue(\"\") ==\n  (object.metadata.namespace == "+celString(t.SyncNamespace)+
					" ? "+celString(t.SyncAccount)+" : "+celString(t.Account)+")",
				"spec.serviceAccountName must be "+t.Account+", and in "+t.SyncNamespace+" "+t.SyncAccount),
			validation("!has(variables.spec.kubeConfig)",
				"spec.kubeConfig is not allowed: a tenant deploys to this cluster"),
			validation(`[
  variables.spec.?sourceRef.?namespace,
  variables.spec.?chartRef.?namespace,
  variables.spec.?chart.?spec.?sourceRef.?namespace
].all(ns, ns.orValue("") in ["", string(object.metadata.namespace)])`,
				"a source in another namespace is not allowed"),
			dependencyRule(t),
			namespacedRule,
		},
	}
}

// dependencyRule limits dependsOn to the tenant's namespaces. readyExpr reads the whole object with the
// controller's account, and even whether an object exists and is ready is secret from the tenant. Without a
// namespace, a Kustomization or HelmRelease depends on an object in its own namespace, and a ResourceSet on a
// cluster-scoped one. Everybody may know whether a CustomResourceDefinition exists.
func dependencyRule(t Tenant) admissionv1.Validation {
	return validation(`variables.spec.?dependsOn.orValue([]).all(d,
  d.?namespace.orValue("") in [string(object.metadata.namespace)] + `+celList(t.Namespaces)+` ||
  (d.?namespace.orValue("") == "" && (object.kind != "ResourceSet" ||
  (d.?kind.orValue("") == "CustomResourceDefinition" && !has(d.readyExpr)))))`,
		"spec.dependsOn may only name objects in the tenant's own namespaces")
}

// Namespaced kinds, which a ResourceSet may depend on: whole API groups, and kinds of the core group.
const namespacedGroups = `^(apps|batch|autoscaling|(kustomize|helm|source|image|notification)\.toolkit\.fluxcd\.io|source\.extensions\.fluxcd\.io|fluxcd\.controlplane\.io)/v[a-z0-9]+$`

var namespacedKinds = []string{"ConfigMap", "PersistentVolumeClaim", "Pod", "ReplicationController", "ResourceQuota", "Secret", "Service", "ServiceAccount"}

// namespacedRule prevents ResourceSets from depending on cluster-scoped objects. For their kinds the operator's
// client ignores the namespace in dependsOn, so a tenant could name its own namespace to pass the other rule.
// Only the API server knows which kinds are cluster-scoped, so the rule lists the kinds that are namespaced.
var namespacedRule = validation(`object.kind != "ResourceSet" || variables.spec.?dependsOn.orValue([]).all(d,
  d.?namespace.orValue("") == "" ? d.?apiVersion.orValue("").startsWith("apiextensions.k8s.io/") :
  d.?apiVersion.orValue("").matches(`+celString(namespacedGroups)+`) ||
  (d.?apiVersion.orValue("") == "v1" && d.?kind.orValue("") in `+celList(namespacedKinds)+`))`,
	"spec.dependsOn of a ResourceSet may only name kinds that are known to be namespaced")

// sourcePolicy allows only the tenant's sources. It checks what is really fetched, and not only the URL. A
// HelmChart needs no rule except that for its status, because it can only name a source in its own namespace,
// and helm-controller creates it.
func sourcePolicy(t Tenant) policy {
	rules := append([]admissionv1.Validation{urlRule(t)}, fetchRules...)
	if t.Repository != "" {
		rules = append(rules, branchRule(t))
	}
	return policy{
		suffix: "sources",
		resources: []admissionv1.NamedRuleWithOperations{
			resourceRule(fluxapi.SourceGroup, "buckets", "gitrepositories", "helmrepositories", "ocirepositories"),
			resourceRule(fluxapi.ImageGroup, "imagerepositories"),
		},
		exempt:      sameSpec,
		variables:   []admissionv1.Variable{specVariable, {Name: "url", Expression: sourceURL}},
		validations: rules,
	}
}

// sourceURL is the expression for the URL of a source. A Bucket has no URL, so it is checked as
// https://ENDPOINT/BUCKET. The image of an ImageRepository is checked as oci://IMAGE.
const sourceURL = `has(variables.spec.url) ? variables.spec.url :
  has(variables.spec.image) ? "oci://" + variables.spec.image :
  (variables.spec.?insecure.orValue(false) ? "http://" : "https://") +
  variables.spec.endpoint + "/" + variables.spec.bucketName`

// deceptive matches parts of a URL by which it may lead to another place than its prefix says: escapes,
// queries, empty and dot segments.
const deceptive = `[\s\\%?#]|//.*//|/\.\.?(/|$)`

// urlRule allows the URLs of the tenant.
func urlRule(t Tenant) admissionv1.Validation {
	allowed := "variables.url in " + celList(t.URLs)
	if len(t.Prefixes) > 0 {
		allowed += " ||\n  (!variables.url.matches(" + celString(deceptive) + ") &&\n  " +
			celList(t.Prefixes) + ".exists(prefix, variables.url.startsWith(prefix)))"
	}
	return validation(allowed, "the source's URL is not allowed: the platform lists the allowed URLs in spec.allowedSources of Tenant "+t.Name)
}

// fetchRules prevent source-controller from fetching an allowed URL from another place. A proxy can answer for
// every host, and with a certificate authority of the tenant even for https. Providers other than generic use
// the controller's own credentials or, for GitHub, an address in the tenant's Secret. Whether a Bucket is
// insecure is part of its URL.
var fetchRules = []admissionv1.Validation{
	validation("!variables.spec.?recurseSubmodules.orValue(false)",
		"spec.recurseSubmodules is not allowed: submodules may come from anywhere"),
	validation("!has(variables.spec.proxySecretRef)",
		"spec.proxySecretRef is not allowed: a proxy can answer for any host"),
	validation("!has(variables.spec.certSecretRef)",
		"spec.certSecretRef is not allowed: the platform decides which certificates are trusted"),
	validation("!has(variables.spec.sts)",
		"spec.sts is not allowed: it sends requests to any address"),
	validation(`variables.spec.?provider.orValue("generic") == "generic"`,
		"spec.provider must be generic: other providers use the controller's own identity"),
	validation("has(variables.spec.bucketName) || !variables.spec.?insecure.orValue(false)",
		"spec.insecure is not allowed: anybody on the network path can answer"),
}

// branchRule prevents a tenant on a branch of the platform repository from reading another branch, because its
// credentials can read the whole repository.
func branchRule(t Tenant) admissionv1.Validation {
	branch := t.Branch
	return validation(
		"!variables.url.lowerAscii().matches("+celString(repositoryPattern(t.Repository))+") ||\n"+
			`  (variables.spec.?ref.?branch.orValue("") == `+celString(branch)+" &&\n"+
			`  !["tag", "semver", "name", "commit"].exists(other, other in variables.spec.ref))`,
		"in the platform repository, only spec.ref.branch "+strconv.Quote(branch)+" is allowed")
}

// repositoryPattern returns a pattern for the lower-case URLs of a repository, with any protocol, user and
// port, and with differences that Git hosts ignore.
func repositoryPattern(url string) string {
	_, rest, _ := strings.Cut(strings.ToLower(url), "://")
	host, path, _ := strings.Cut(rest, "/")
	host = host[strings.LastIndex(host, "@")+1:]
	host, _, _ = strings.Cut(host, ":")
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	return "^[a-z]+://([^/]*@)?" + regexp.QuoteMeta(host) + "(:[0-9]*)?/+" + strings.ReplaceAll(regexp.QuoteMeta(path), "/", "/+") + `(\.git)?/*$`
}

// referencePolicy limits references to the tenant's namespace for the kinds that only the ClusterRole admin
// grants, as Flux and its operator extend it. Flux's lockdown does so for most of these kinds, but not every
// installation has it. If a kind sends requests to an address that admission cannot see (that of a Provider may
// come from its Secret), only the platform may create it.
func referencePolicy(t Tenant) policy {
	rules := []admissionv1.Validation{
		validation(`["sources", "eventSources", "resources", "selectors"].all(field,
  variables.spec[?field].orValue([]).all(ref, ref.?namespace.orValue("") in ["", string(object.metadata.namespace)])) &&
[variables.spec.?imageRepositoryRef.?namespace, variables.spec.?sourceRef.?namespace].all(ns,
  ns.orValue("") in ["", string(object.metadata.namespace)])`,
			"an object in another namespace is not allowed"),
		validation(`object.kind != "FluxInstance"`,
			"a FluxInstance is not allowed: it installs Flux for the whole cluster"),
		validation(`object.kind != "Provider" || `+celString(Accounts(v1alpha1.FluxNamespace))+" in request.userInfo.?groups.orValue([])",
			"only the platform creates Providers: they send requests to any address"),
		validation("!has(variables.spec.oidcProviders)",
			"spec.oidcProviders is not allowed: the controller sends requests to each issuer"),
		validation(`object.kind != "ResourceSetInputProvider" || variables.spec.?type.orValue("") in ["Static", "ExternalArtifact"]`,
			"spec.type must be Static or ExternalArtifact: other types send requests to any address"),
	}
	if t.Repository != "" {
		rules = append(rules, validation(`object.kind != "ImageUpdateAutomation" ||
  (!has(variables.spec.git) || (!has(variables.spec.git.checkout) && !has(variables.spec.git.?push.refspec) &&
  variables.spec.git.?push.?branch.orValue("") in ["", `+celString(t.Branch)+`]))`,
			"spec.git may only check out and push to branch "+strconv.Quote(t.Branch)))
	}
	return policy{
		suffix: "references",
		resources: []admissionv1.NamedRuleWithOperations{
			resourceRule(fluxapi.ArtifactGroup, "artifactgenerators"),
			resourceRule(fluxapi.ImageGroup, "imagepolicies", "imageupdateautomations"),
			resourceRule(fluxapi.NotificationGroup, "alerts", "providers", "receivers"),
			resourceRule(fluxapi.OperatorGroup, "fluxinstances", "resourcesetinputproviders"),
		},
		exempt:      sameSpec,
		variables:   []admissionv1.Variable{specVariable},
		validations: rules,
	}
}

// statusPolicy lets only Flux's controllers write the status of Flux's objects. The status of a source has the
// address and the digest of its artifact, so whoever writes it can deploy anything. The status of an
// ArtifactGenerator lists the objects that are deleted with it, in any namespace. The ClusterRole admin, to
// which Flux adds its kinds with all subresources, allows a tenant to write the status. There is no exemption,
// because an object that is being deleted still deploys.
func statusPolicy(t Tenant) policy {
	return policy{
		suffix: "status",
		resources: []admissionv1.NamedRuleWithOperations{
			inGroups(resourceRule(fluxapi.SourceGroup, "*/status"), fluxapi.ArtifactGroup, fluxapi.KustomizeGroup, fluxapi.HelmGroup, fluxapi.ImageGroup, fluxapi.NotificationGroup, fluxapi.OperatorGroup),
		},
		validations: []admissionv1.Validation{validation(
			celList(t.Controllers)+".exists(group, group in request.userInfo.?groups.orValue([]))",
			"only Flux's controllers may write the status of Flux's objects: it decides what is deployed")},
	}
}

// Accounts returns the group of all service accounts in a namespace.
func Accounts(namespace string) string { return "system:serviceaccounts:" + namespace }
