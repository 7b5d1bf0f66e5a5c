package tenant

import (
	"regexp"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/layout"
)

// accountPolicy keeps Flux's controllers from acting as somebody else, on another
// cluster, with another namespace's source, or from reading another namespace's objects
// for dependsOn. What the Flux Operator makes of a ResourceSet it makes as cluster-admin,
// unless that names an account, and it reads dependsOn as itself; its manifests let
// Kubernetes' own roles edit and admin write them
// (https://fluxoperator.dev/docs/crd/resourceset/#role-based-access-control).
func accountPolicy(t *v1alpha1.Tenant) policy {
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
				"variables.spec.?serviceAccountName.orValue(\"\") ==\n  (object.metadata.namespace == "+celString(t.Spec.SyncNamespace)+
					" ? "+celString(kustomizeAccount(t))+" : "+celString(helmAccount(t))+")",
				"spec.serviceAccountName must be "+helmAccount(t)+", and in "+t.Spec.SyncNamespace+" "+kustomizeAccount(t)),
			validation("!has(variables.spec.kubeConfig)",
				"spec.kubeConfig is not allowed: a tenant deploys to this cluster"),
			validation(`[
  variables.spec.?sourceRef.?namespace,
  variables.spec.?chartRef.?namespace,
  variables.spec.?chart.?spec.?sourceRef.?namespace
].all(ns, ns.orValue("") in ["", string(object.metadata.namespace)])`,
				"a source of another namespace is not allowed"),
			dependencyRule(t),
			namespacedRule,
		},
	}
}

// dependencyRule keeps dependsOn in the tenant's namespaces. readyExpr reads all of an
// object with the controller's own account, and whether an object is there and ready is
// not the tenant's to know either. Without a namespace a Kustomization or HelmRelease
// means its own, a ResourceSet something cluster-wide; whether a definition is there
// everybody may know.
func dependencyRule(t *v1alpha1.Tenant) admissionv1.Validation {
	return validation(`variables.spec.?dependsOn.orValue([]).all(d,
  d.?namespace.orValue("") in [string(object.metadata.namespace)] + `+celList(t.Spec.Namespaces)+` ||
  (d.?namespace.orValue("") == "" && (object.kind != "ResourceSet" ||
  (d.?kind.orValue("") == "CustomResourceDefinition" && !has(d.readyExpr)))))`,
		"spec.dependsOn may name objects of the tenant's own namespaces only")
}

// Kinds that exist in namespaces only, which a ResourceSet may depend on: whole groups of the
// API, and kinds of its core.
const namespacedGroups = `^(apps|batch|autoscaling|(kustomize|helm|source|image|notification)\.toolkit\.fluxcd\.io|source\.extensions\.fluxcd\.io|fluxcd\.controlplane\.io)/v[a-z0-9]+$`

var namespacedKinds = []string{"ConfigMap", "PersistentVolumeClaim", "Pod", "ReplicationController", "ResourceQuota", "Secret", "Service", "ServiceAccount"}

// namespacedRule keeps ResourceSets from objects of the whole cluster: for their kinds the
// operator's client drops the namespace that dependsOn names, so that the tenant's own hides
// them. Which kinds these are only the API server knows, so the rule lists those that are not.
var namespacedRule = validation(`object.kind != "ResourceSet" || variables.spec.?dependsOn.orValue([]).all(d,
  d.?namespace.orValue("") == "" ? d.?apiVersion.orValue("").startsWith("apiextensions.k8s.io/") :
  d.?apiVersion.orValue("").matches(`+celString(namespacedGroups)+`) ||
  (d.?apiVersion.orValue("") == "v1" && d.?kind.orValue("") in `+celList(namespacedKinds)+`))`,
	"spec.dependsOn of a ResourceSet may name kinds that are known to be namespaced only")

// sourcePolicy lets only the tenant's sources through: what is really fetched, and not
// what the URL says. A HelmChart needs no rule but that of its status: it can only name a
// source of its own namespace, and helm-controller makes it.
func sourcePolicy(spec *v1alpha1.Spec, t *v1alpha1.Tenant) policy {
	rules := append([]admissionv1.Validation{urlRule(t)}, fetchRules...)
	if spec.OnPlatformRepository(t) {
		rules = append(rules, branchRule(spec, t))
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

// sourceURL is where a source is pulled from. A Bucket has no URL of its own: it
// is judged as https://ENDPOINT/BUCKET, and what an ImageRepository scans as oci://IMAGE.
const sourceURL = `has(variables.spec.url) ? variables.spec.url :
  has(variables.spec.image) ? "oci://" + variables.spec.image :
  (variables.spec.?insecure.orValue(false) ? "http://" : "https://") +
  variables.spec.endpoint + "/" + variables.spec.bucketName`

// deceptive matches URLs that may lead elsewhere than their beginning says:
// escapes, queries, empty and dot segments.
const deceptive = `[\s\\%?#]|//.*//|/\.\.?(/|$)`

// urlRule lets a source's URL through that is the tenant's own source, the chart of the
// starter in its repository, or what spec.allowedSources begins with. A prefix ends at a
// slash: https://host/org is no prefix of https://host/org-evil.
func urlRule(t *v1alpha1.Tenant) admissionv1.Validation {
	exact := []string{t.Spec.Source.URL}
	if hasTarget(t) {
		exact = append(exact, starterChart)
	}
	prefixes := make([]string, 0, len(t.Spec.AllowedSources))
	for _, allowed := range t.Spec.AllowedSources {
		exact = append(exact, allowed)
		prefixes = append(prefixes, strings.TrimRight(allowed, "/")+"/")
	}
	allowed := "variables.url in " + celList(exact)
	if len(prefixes) > 0 {
		allowed += " ||\n  (!variables.url.matches(" + celString(deceptive) + ") &&\n  " +
			celList(prefixes) + ".exists(prefix, variables.url.startsWith(prefix)))"
	}
	return validation(allowed, "the source's URL is not allowed: the platform lists a tenant's in spec.allowedSources of Tenant "+t.Metadata.Name)
}

// fetchRules keep source-controller from fetching an allowed URL from somewhere else. A
// proxy answers for every host, with a certificate authority of the tenant's own even for
// https. Providers other than generic have credentials of the controller's own, or, for
// GitHub, an address in the tenant's Secret. A Bucket's insecure is part of its URL.
var fetchRules = []admissionv1.Validation{
	validation("!variables.spec.?recurseSubmodules.orValue(false)",
		"spec.recurseSubmodules is not allowed: submodules may come from anywhere"),
	validation("!has(variables.spec.proxySecretRef)",
		"spec.proxySecretRef is not allowed: a proxy may answer for any host"),
	validation("!has(variables.spec.certSecretRef)",
		"spec.certSecretRef is not allowed: whom to trust is the platform's to say"),
	validation("!has(variables.spec.sts)",
		"spec.sts is not allowed: it sends requests to any address"),
	validation(`variables.spec.?provider.orValue("generic") == "generic"`,
		"spec.provider must be generic: others use the controller's own identity"),
	validation("has(variables.spec.bucketName) || !variables.spec.?insecure.orValue(false)",
		"spec.insecure is not allowed: anybody on the way may answer"),
}

// branchRule keeps a tenant on a branch of the platform repository from reading
// another one: its credentials open the whole repository.
func branchRule(spec *v1alpha1.Spec, t *v1alpha1.Tenant) admissionv1.Validation {
	branch := t.Spec.Source.Branch
	return validation(
		"!variables.url.lowerAscii().matches("+celString(repositoryPattern(spec.Fleet.Spec.Repository.URL))+") ||\n"+
			`  (variables.spec.?ref.?branch.orValue("") == `+celString(branch)+" &&\n"+
			`  !["tag", "semver", "name", "commit"].exists(other, other in variables.spec.ref))`,
		"in the platform repository only spec.ref.branch "+strconv.Quote(branch)+" is allowed")
}

// repositoryPattern matches the URLs of a repository in lower case, whatever the
// protocol, user, port, and what Git hosts ignore.
func repositoryPattern(url string) string {
	_, rest, _ := strings.Cut(strings.ToLower(url), "://")
	host, path, _ := strings.Cut(rest, "/")
	host = host[strings.LastIndex(host, "@")+1:]
	host, _, _ = strings.Cut(host, ":")
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	return "^[a-z]+://([^/]*@)?" + regexp.QuoteMeta(host) + "(:[0-9]*)?/+" + strings.ReplaceAll(regexp.QuoteMeta(path), "/", "/+") + `(\.git)?/*$`
}

// referencePolicy keeps the kinds that only the ClusterRole admin grants, as Flux and its
// operator extend it, in their namespace: Flux's lockdown does so for most of them, for
// whom installs it. Where a kind sends requests to an address that admission cannot see
// (a Provider's may come from its Secret), the platform creates it.
func referencePolicy(spec *v1alpha1.Spec, t *v1alpha1.Tenant) policy {
	rules := []admissionv1.Validation{
		validation(`["sources", "eventSources", "resources", "selectors"].all(field,
  variables.spec[?field].orValue([]).all(ref, ref.?namespace.orValue("") in ["", string(object.metadata.namespace)])) &&
[variables.spec.?imageRepositoryRef.?namespace, variables.spec.?sourceRef.?namespace].all(ns,
  ns.orValue("") in ["", string(object.metadata.namespace)])`,
			"an object of another namespace is not allowed"),
		validation(`object.kind != "FluxInstance"`,
			"a FluxInstance is not allowed: it installs Flux for the whole cluster"),
		validation(`object.kind != "Provider" || `+celString(controllers(emit.FluxNamespace))+" in request.userInfo.?groups.orValue([])",
			"only the platform creates Providers: they send requests to any address"),
		validation("!has(variables.spec.oidcProviders)",
			"spec.oidcProviders is not allowed: the controller sends requests to each issuer"),
		validation(`object.kind != "ResourceSetInputProvider" || variables.spec.?type.orValue("") in ["Static", "ExternalArtifact"]`,
			"spec.type must be Static or ExternalArtifact: others send requests to any address"),
	}
	if spec.OnPlatformRepository(t) {
		rules = append(rules, validation(`object.kind != "ImageUpdateAutomation" ||
  (!has(variables.spec.git) || (!has(variables.spec.git.checkout) && !has(variables.spec.git.?push.refspec) &&
  variables.spec.git.?push.?branch.orValue("") in ["", `+celString(t.Spec.Source.Branch)+`]))`,
			"spec.git may neither check out nor push to another branch than "+strconv.Quote(t.Spec.Source.Branch)))
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

// statusPolicy lets nobody but Flux's controllers write the status of Flux's objects. A
// source's says where an artifact is pulled from and what its digest is, so that who
// writes it deploys from anywhere; an ArtifactGenerator's lists what is deleted with it,
// in any namespace. The ClusterRole admin, to which Flux adds its kinds with all
// subresources, lets a tenant do so. There is no exemption: an object that is being
// deleted still deploys.
func statusPolicy(spec *v1alpha1.Spec) policy {
	groups := fluxGroups(spec)
	return policy{
		suffix: "status",
		resources: []admissionv1.NamedRuleWithOperations{
			inGroups(resourceRule(fluxapi.SourceGroup, "*/status"), fluxapi.ArtifactGroup, fluxapi.KustomizeGroup, fluxapi.HelmGroup, fluxapi.ImageGroup, fluxapi.NotificationGroup, fluxapi.OperatorGroup),
		},
		validations: []admissionv1.Validation{validation(
			celList(groups)+".exists(group, group in request.userInfo.?groups.orValue([]))",
			"the status of Flux's objects is written by Flux's controllers only: it says what is deployed")},
	}
}

// controllers are the accounts of a namespace.
func controllers(namespace string) string { return "system:serviceaccounts:" + namespace }

// fluxGroups are the groups of the accounts that Flux and its operator run as.
func fluxGroups(spec *v1alpha1.Spec) []string {
	groups := []string{controllers(emit.FluxNamespace)}
	for _, p := range spec.Products {
		for _, namespace := range p.FluxNamespaces() {
			groups = append(groups, controllers(namespace))
		}
	}
	for _, a := range spec.Addons {
		if a.Metadata.Name == layout.FluxOperator {
			groups = append(groups, controllers(a.Spec.Namespace))
		}
	}
	return groups
}
