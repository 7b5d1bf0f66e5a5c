package tenant_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/flux"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
	"github.com/fleetwright/fleetwright/validators/tenant"
)

// shown is a repository that lacks the protection of a line of the threat model in docs/tenants.md,
// and what a rule says about it.
type shown struct {
	line  string
	rule  rule.Rule
	files string
	says  string
}

// TestLines holds the table of docs/tenants.md against the rules: each line that a rule is said to
// find is found in a smallest repository, each that is found is in the table, and no line lacks a
// rule but those that no repository can lack.
func TestLines(t *testing.T) {
	page, err := os.ReadFile("../../docs/tenants.md")
	if err != nil {
		t.Fatal(err)
	}
	reported, covered := map[string]bool{}, map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| (?:\[([a-z-]+)\]\(rules/[a-z-]+\.md\)|no rule) \| (.*) \|$`).FindAllStringSubmatch(string(page), -1) {
		for _, line := range expand(t, row[2]) {
			if covered[line] = true; row[1] != "" {
				reported[row[1]+" "+line] = true
			}
		}
	}
	tried := map[string]bool{}
	for _, s := range slices.Concat(doorLines(), bypassLines(), roleLines(), objectLines(t)) {
		tried[s.rule.ID+" "+s.line] = true
		t.Run(s.rule.ID+"/"+s.line, func(t *testing.T) {
			found, unresolved := ruletest.Run(t, s.rule, s.files)
			if !slices.ContainsFunc(found, func(f finding.Finding) bool { return strings.Contains(f.Message, s.says) }) {
				t.Errorf("nothing says %q: %+v, %+v", s.says, found, unresolved)
			}
		})
	}
	for _, pair := range slices.Sorted(maps.Keys(reported)) {
		if !tried[pair] {
			t.Errorf("docs/tenants.md says that %s, and no repository here shows it", pair)
		}
	}
	for _, pair := range slices.Sorted(maps.Keys(tried)) {
		if !reported[pair] {
			t.Errorf("docs/tenants.md doesn't say that %s", pair)
		}
	}
	for _, match := range regexp.MustCompile(`(?m)^\| ([ASRNWH][0-9]+) \|`).FindAllStringSubmatch(string(page), -1) {
		if !covered[match[1]] {
			t.Errorf("no rule finds a repository without line %s", match[1])
		}
	}
}

// expand reads a list of lines: A1–A3, R7.
func expand(t *testing.T, list string) (lines []string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`([A-Z])([0-9]+)(?:–[A-Z]([0-9]+))?`).FindAllStringSubmatch(list, -1) {
		first, err := strconv.Atoi(m[2])
		last := first
		if err == nil && m[3] != "" {
			last, err = strconv.Atoi(m[3])
		}
		if err != nil {
			t.Fatal(err)
		}
		for n := first; n <= last; n++ {
			lines = append(lines, m[1]+strconv.Itoa(n))
		}
	}
	return lines
}

// writes is a tenant that may write one resource, GROUP/RESOURCE, in its namespace, on a cluster that
// is locked down and serves every kind.
func writes(resource string) string {
	group, resource, _ := strings.Cut(resource, "/")
	return root(locked...) + strings.Replace(team(label, syncs), "kind: ClusterRole, name: admin", "kind: Role, name: r", 1) +
		role("Role", "team", fmt.Sprintf("{apiGroups: [%q], resources: [%q], verbs: [create, patch]}", group, resource)) + served
}

// served are objects of groups that not every cluster has.
const served = `apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: issuer}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: class}
---
apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSetInputProvider
metadata: {name: inputs, namespace: flux-system}
spec: {type: Static}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImagePolicy
metadata: {name: images, namespace: flux-system}
---
`

// refuses is a policy about everything.
func refuses(unless string) string {
	return `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: refuses}
spec:
  matchConstraints: {resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], resources: ["*", "*/*"], operations: [CREATE, UPDATE]}]}
  validations:
  - expression: >-
      ` + unless + `
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: refuses}
spec: {policyName: refuses, validationActions: [Deny]}
---
`
}

// doorLines are those of tenant-admission-missing. A policy refuses what comes before, if anything.
func doorLines() (all []shown) {
	const kustomizations, ingresses = "kustomize.toolkit.fluxcd.io/kustomizations", "networking.k8s.io/ingresses"
	const withoutRules = "!has(object.spec.rules)"
	for _, c := range []struct{ line, writes, unless, says string }{
		{"A5", kustomizations, "", "any API server"},
		{"A6", "fluxcd.controlplane.io/fluxinstances", "", "install Flux"},
		{"A7", "/secrets", "", "create tokens"},
		{"A8", "/pods", "", "run pods as Flux's account"},
		{"A9", "apps/deployments", `object.kind != "Pod" || request.userInfo.username != "system:serviceaccount:team:team"`, "the template of a Deployment"},
		{"A9", "batch/cronjobs", `object.kind != "Pod" || request.userInfo.username != "system:serviceaccount:team:team"`, "the template of a CronJob"},
		{"S10", "source.toolkit.fluxcd.io/gitrepositories/status", "", "the status of sources"},
		{"S11", "source.toolkit.fluxcd.io/externalartifacts/status", "", "the status of ExternalArtifacts"},
		{"S18", "image.toolkit.fluxcd.io/imageupdateautomations", "", "push to any branch"},
		{"R3", kustomizations, "", "read other namespaces' Kustomizations"},
		{"R4", "helm.toolkit.fluxcd.io/helmreleases", "", "read other namespaces' HelmReleases"},
		{"R5", "fluxcd.controlplane.io/resourcesets", "", "read any object"},
		{"R6", kustomizations, `object.spec.?dependsOn.orValue([]).all(d, !has(d.readyExpr))`, "learn which Kustomizations"},
		{"R6", "helm.toolkit.fluxcd.io/helmreleases", `object.spec.?dependsOn.orValue([]).all(d, !has(d.readyExpr))`, "learn which HelmReleases"},
		{"R14", "source.extensions.fluxcd.io/artifactgenerators/status", "", "delete other namespaces' artifacts"},
		{"R15", kustomizations + "/status", "", "the status of Kustomizations"},
		{"R15", "helm.toolkit.fluxcd.io/helmreleases/status", "", "the status of HelmReleases"},
		{"R15", "image.toolkit.fluxcd.io/imagerepositories/status", "", "the status of ImageRepositories"},
		{"N1", "notification.toolkit.fluxcd.io/providers", "", "(Provider)"},
		{"N2", "notification.toolkit.fluxcd.io/receivers", "", "any issuer"},
		{"N3", "fluxcd.controlplane.io/resourcesetinputproviders", "", "from the Flux Operator"},
		{"N4", "source.toolkit.fluxcd.io/gitrepositories", "", "GitRepository spec.url"},
		{"N4", "source.toolkit.fluxcd.io/buckets", "", "Bucket spec.endpoint"},
		{"N5", ingresses, withoutRules, "annotation auth-url"},
		{"W1", "/pods", "", "evict others' pods"},
		{"W1", "apps/daemonsets", `object.kind != "Pod" || request.userInfo.username != "system:serviceaccount:team:team"`, "in the template of a DaemonSet"},
		{"H1", "/services", "", "take over addresses"},
		{"H2", "/services", "!has(object.spec.externalIPs)", "spec.loadBalancerIP"},
		{"H2", "/services", "!has(object.spec.externalIPs) && !has(object.spec.loadBalancerIP)", "annotations such as metallb.io"},
		{"H4", "/services", "", "ExternalName"},
		{"H5", ingresses, "", "Ingress spec.rules[].host"},
		{"H6", ingresses, withoutRules, "Ingress spec.tls[].hosts"},
		{"H7", ingresses, withoutRules, "spec.defaultBackend"},
		{"H8", ingresses, withoutRules, "annotation server-alias"},
		{"H9", ingresses, withoutRules, "end in -snippet"},
		{"H10", ingresses, withoutRules, "end in -secret"},
		{"H11", "gateway.networking.k8s.io/httproutes", "", "HTTPRoute spec.hostnames"},
		{"H12", "gateway.networking.k8s.io/gateways", "", "Gateway spec.listeners"},
		{"H12", "gateway.networking.k8s.io/listenersets", "", "ListenerSet spec.listeners"},
		{"H13", "gateway.networking.k8s.io/gateways", "object.spec.?listeners.orValue([]).size() == 0", "Gateway spec.addresses"},
		{"H17", "cert-manager.io/certificates", "", "Certificate spec.dnsNames"},
		{"H18", "cert-manager.io/certificaterequests", "", "CertificateRequest"},
	} {
		files := writes(c.writes)
		if c.line == "S18" {
			files = strings.Replace(files, "https://git.example.com/team/apps", "https://git.example.com/platform/fleet.git", 1)
		}
		if c.unless != "" {
			files += refuses(c.unless)
		}
		all = append(all, shown{c.line, tenant.AdmissionMissing, files, c.says})
	}
	return all
}

// bypassLines are those of tenant-admission-bypass.
func bypassLines() (all []shown) {
	const sources = "source.toolkit.fluxcd.io/"
	const own = `object.spec.?url.orValue(object.spec.?endpoint.orValue("")) in ["https://git.example.com/team/apps", "git.example.com"]`
	const deleted, exempts = "has(object.metadata.deletionTimestamp) || ", "exempts objects that are being deleted"
	for _, c := range []struct{ line, writes, unless, says string }{
		{"S4", sources + "gitrepositories", own, "spec.recurseSubmodules"},
		{"S5", sources + "gitrepositories", own, "spec.proxySecretRef"},
		{"S6", sources + "helmrepositories", own, "spec.certSecretRef"},
		{"S7", sources + "buckets", own, "spec.sts"},
		{"S8", sources + "gitrepositories", own, "spec.provider"},
		{"S9", sources + "helmrepositories", own, "spec.insecure"},
		{"S12", sources + "gitrepositories/status", deleted + "!has(object.status)", exempts},
		{"S13", sources + "gitrepositories", deleted + own, exempts},
		{"S14", "kustomize.toolkit.fluxcd.io/kustomizations", deleted + `object.spec.serviceAccountName == "team"`, exempts},
		{"S14", "helm.toolkit.fluxcd.io/helmreleases", deleted + `!has(object.spec.kubeConfig)`, exempts},
		{"S15", sources + "gitrepositories", `object.kind == "ImageRepository" || ` + own, "any spec.image of an ImageRepository"},
		{"R7", "kustomize.toolkit.fluxcd.io/kustomizations", deleted + "!has(object.spec.dependsOn)", exempts},
		{"H15", "networking.k8s.io/ingresses", deleted + "!has(object.spec.rules)", exempts},
		{"H15", "networking.k8s.io/ingresses", `!has(object.metadata.annotations) || has(object.metadata.deletionTimestamp) && oldObject.spec == object.spec`, exempts},
	} {
		files := writes(c.writes)
		if c.line == "S15" {
			files = strings.Replace(files, "verbs: [create, patch]}", `verbs: [create, patch]}, {apiGroups: [image.toolkit.fluxcd.io], resources: [imagerepositories], verbs: [create]}`, 1)
		}
		all = append(all, shown{c.line, tenant.AdmissionBypass, files + refuses(c.unless), c.says})
	}
	return all
}

// roleLines are those about what a role grants: in the tenant's own namespace, in Flux's, or in all.
func roleLines() (all []shown) {
	for _, c := range []struct {
		line      string
		rule      rule.Rule
		namespace string
		rules     string
		says      string
	}{
		{"A10", tenant.RBACEscalation, "team", `{apiGroups: [""], resources: [serviceaccounts/token], verbs: [create]}`, "may create serviceaccounts/token"},
		{"A11", tenant.RBACEscalation, "team", `{apiGroups: [""], resources: [serviceaccounts], verbs: [impersonate]}`, "may impersonate serviceaccounts"},
		{"A12", tenant.RBACEscalation, "team", `{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [escalate]}`, "may escalate roles"},
		{"A13", tenant.RBACExcess, "", `{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [create]}`, "in the whole cluster"},
		{"A14", tenant.RBACExcess, "team", `{apiGroups: [""], resources: [namespaces], verbs: [patch]}`, "can write namespaces"},
		{"A15", tenant.RBACExcess, "flux-system", `{apiGroups: [""], resources: [configmaps], verbs: [create]}`, "in namespace flux-system"},
		{"A16", tenant.RBACExcess, "flux-system", `{apiGroups: [""], resources: [secrets], verbs: [get]}`, "in namespace flux-system"},
		{"A17", tenant.RBACExcess, "team", `{apiGroups: [""], resources: [resourcequotas], verbs: [patch]}`, "lift its own limits"},
		{"A18", tenant.RBACExcess, "flux-system", `{apiGroups: [""], resources: [pods/exec], verbs: [get]}`, "in namespace flux-system"},
		{"A18", tenant.RBACExcess, "", `{apiGroups: [""], resources: [services/proxy, nodes/proxy], verbs: [get]}`, "in the whole cluster"},
		{"A19", tenant.RBACExcess, "team", `{apiGroups: [""], resources: [endpoints], verbs: [patch]}`, "point a Service at any address"},
		{"A19", tenant.RBACExcess, "team", `{apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [create]}`, "point a Service at any address"},
		{"S17", tenant.RBACExcess, "flux-system", `{apiGroups: [kustomize.toolkit.fluxcd.io], resources: [kustomizations], verbs: [patch]}`, "in namespace flux-system"},
		{"R17", tenant.RBACExcess, "flux-system", `{apiGroups: [apps], resources: [deployments], verbs: [patch]}`, "in namespace flux-system"},
		{"R18", tenant.RBACExcess, "", `{apiGroups: [""], resources: [secrets], verbs: [list]}`, "in the whole cluster"},
		{"R19", tenant.RBACExcess, "", "view", "in the whole cluster"},
		{"W5", tenant.RBACExcess, "flux-system", `{apiGroups: [""], resources: [pods/ephemeralcontainers], verbs: [patch]}`, "in namespace flux-system"},
		{"W6", tenant.RBACExcess, "team", `{apiGroups: [""], resources: [pods/binding], verbs: [create]}`, "choose any node"},
		{"W6", tenant.RBACExcess, "team", `{apiGroups: [""], resources: [pods/status], verbs: [patch]}`, "point a Service at any address"},
		{"H14", tenant.RBACExcess, "flux-system", `{apiGroups: [gateway.networking.k8s.io], resources: [referencegrants], verbs: [create]}`, "in namespace flux-system"},
		{"H16", tenant.RBACExcess, "team", `{apiGroups: [""], resources: [services/status], verbs: [patch]}`, "take over addresses"},
		{"H16", tenant.RBACExcess, "team", `{apiGroups: [networking.k8s.io], resources: [ingresses/status], verbs: [patch]}`, "address of a DNS name"},
		{"A12", tenant.ClusterAdmin, "", "cluster-admin", "cluster-admin in the whole cluster"},
	} {
		kind, name := "Role", "r"
		if c.namespace == "" {
			kind = "ClusterRole"
		}
		files := root(locked...) + team(label, syncs)
		if strings.HasPrefix(c.rules, "{") {
			files += role(kind, c.namespace, c.rules)
		} else {
			name = c.rules
		}
		files += binding(kind+"Binding", c.namespace, "kind: "+kind+", name: "+name, "{kind: ServiceAccount, name: team, namespace: team}")
		all = append(all, shown{c.line, c.rule, files, c.says})
	}
	return all
}

// objectLines are those of the other rules: about Flux's flags, objects of the tenant's, and its namespace.
func objectLines(t *testing.T) (all []shown) {
	t.Helper()
	open := root()
	for _, name := range []string{"image-reflector-controller", "image-automation-controller", "source-watcher"} {
		open += "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + ", namespace: flux-system, labels: {app.kubernetes.io/part-of: flux}}\n" +
			"spec: {template: {spec: {containers: [{name: manager, args: [--watch-all-namespaces=true]}]}}}\n---\n"
	}
	for line, says := range map[string]string{
		"A1": "--default-service-account (kustomize-controller", "A2": "--default-service-account (kustomize-controller, helm-controller)",
		"R1": "--no-cross-namespace-refs (kustomize-controller", "R2": "--no-cross-namespace-refs (kustomize-controller, helm-controller",
		"R8": "notification-controller", "R9": "notification-controller", "R10": "image-reflector-controller", "R11": "image-automation-controller",
		"R12": "source-watcher", "S16": "--no-remote-bases (kustomize-controller)",
	} {
		all = append(all, shown{line, tenant.LockdownMissing, open + team(label, syncs), says})
	}
	object := func(apiVersion, kind, spec string) string {
		return root(locked...) + team(label, syncs) + "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: probe, namespace: team}\nspec: {" + spec + "}\n---\n"
	}
	const away = "name: probe, namespace: flux-system"
	for _, c := range []struct {
		line                   string
		rule                   rule.Rule
		apiVersion, kind, spec string
		says                   string
	}{
		{"A1", tenant.ServiceAccountMissing, "kustomize.toolkit.fluxcd.io/v1", "Kustomization", "prune: true, sourceRef: {kind: GitRepository, name: team}", "has no serviceAccountName"},
		{"A2", tenant.ServiceAccountMissing, "helm.toolkit.fluxcd.io/v2", "HelmRelease", "chartRef: {kind: OCIRepository, name: a}", "has no serviceAccountName"},
		{"A3", tenant.ServiceAccountMissing, "fluxcd.controlplane.io/v1", "ResourceSet", "resources: []", "has no serviceAccountName"},
		{"A4", tenant.ServiceAccountMissing, "kustomize.toolkit.fluxcd.io/v1", "Kustomization", "serviceAccountName: sync, prune: true, sourceRef: {kind: GitRepository, name: team}", "does not exist and has no permissions"},
		{"R1", tenant.CrossNamespaceRef, "kustomize.toolkit.fluxcd.io/v1", "Kustomization", "serviceAccountName: team, prune: true, sourceRef: {kind: GitRepository, " + away + "}", "refers to namespace"},
		{"R2", tenant.CrossNamespaceRef, "helm.toolkit.fluxcd.io/v2", "HelmRelease", "serviceAccountName: team, chartRef: {kind: OCIRepository, " + away + "}", "refers to namespace"},
		{"R3", tenant.CrossNamespaceRef, "kustomize.toolkit.fluxcd.io/v1", "Kustomization", `serviceAccountName: team, prune: true, sourceRef: {kind: GitRepository, name: team}, dependsOn: [{` + away + `, readyExpr: "true"}]`, "(readyExpr)"},
		{"R4", tenant.CrossNamespaceRef, "helm.toolkit.fluxcd.io/v2", "HelmRelease", `serviceAccountName: team, chartRef: {kind: OCIRepository, name: a}, dependsOn: [{` + away + `, readyExpr: "true"}]`, "(readyExpr)"},
		{"R5", tenant.CrossNamespaceRef, "fluxcd.controlplane.io/v1", "ResourceSet", `serviceAccountName: team, dependsOn: [{apiVersion: v1, kind: Node, name: a, readyExpr: "true"}]`, "(readyExpr)"},
		{"R8", tenant.CrossNamespaceRef, "notification.toolkit.fluxcd.io/v1beta3", "Alert", "providerRef: {name: a}, eventSources: [{kind: Kustomization, " + away + "}]", "refers to namespace"},
		{"R9", tenant.CrossNamespaceRef, "notification.toolkit.fluxcd.io/v1", "Receiver", "type: generic, resources: [{kind: GitRepository, " + away + "}]", "refers to namespace"},
		{"R10", tenant.CrossNamespaceRef, "image.toolkit.fluxcd.io/v1", "ImagePolicy", "imageRepositoryRef: {" + away + "}", "refers to namespace"},
		{"R11", tenant.CrossNamespaceRef, "image.toolkit.fluxcd.io/v1", "ImageUpdateAutomation", "sourceRef: {kind: GitRepository, " + away + "}", "refers to namespace"},
		{"R12", tenant.CrossNamespaceRef, "source.extensions.fluxcd.io/v1beta1", "ArtifactGenerator", "sources: [{alias: a, kind: GitRepository, " + away + "}]", "refers to namespace"},
		{"R13", tenant.CrossNamespaceRef, "fluxcd.controlplane.io/v1", "ResourceSetInputProvider", "type: ExternalArtifact, selectors: [{" + away + "}]", "refers to namespace"},
	} {
		all = append(all, shown{c.line, c.rule, object(c.apiVersion, c.kind, c.spec), c.says})
	}
	git := func(spec, unless string) string {
		return object("source.toolkit.fluxcd.io/v1", "GitRepository", "interval: 1h, "+spec) + refuses(`object.kind != "GitRepository" || `+unless)
	}
	return append(all,
		shown{"S1", tenant.SourceNotAllowed, git(`url: "https://git.example.net/a"`, `object.spec.url.startsWith("https://git.example.com/")`), "is refused by"},
		shown{"S2", tenant.SourceNotAllowed, git(`url: "https://git.example.com/../a"`, `!object.spec.url.contains("..")`), "is refused by"},
		shown{"S3", tenant.SourceNotAllowed, git(`url: "https://git.example.com/platform/fleet", ref: {branch: main}`, `object.spec.?ref.?branch.orValue("team") == "team"`), "is refused by"},
		shown{"A13", tenant.ClusterScoped, ruletest.Read(t, tenant.ClusterScoped).Bad[0].Files, "belongs to the whole cluster"},
		shown{"W2", tenant.NamespaceUnlabelled, ruletest.Read(t, tenant.NamespaceUnlabelled).Bad[0].Files, "privileged pods"},
		shown{"W3", tenant.NamespaceUnlabelled, ruletest.Read(t, tenant.NamespaceUnlabelled).Bad[0].Files, "privileged pods"},
		shown{"W7", tenant.NetworkPolicyMissing, ruletest.Read(t, tenant.NetworkPolicyMissing).Bad[0].Files, "has no NetworkPolicy"},
		shown{"W4", tenant.QuotaMissing, ruletest.Read(t, tenant.QuotaMissing).Bad[0].Files, "has no ResourceQuota"},
		shown{"H3", tenant.QuotaMissing, ruletest.Read(t, tenant.QuotaMissing).Bad[0].Files, "has no ResourceQuota"},
		shown{"S16", flux.RemoteBase, ruletest.Read(t, flux.RemoteBase).Bad[0].Files, ""},
		shown{"Z13", flux.RemoteBase, ruletest.Read(t, flux.RemoteBase).Bad[0].Files, ""},
	)
}
