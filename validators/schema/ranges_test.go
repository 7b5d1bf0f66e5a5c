package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

func TestVersionRanges(t *testing.T) {
	t.Parallel()
	const git, oci = `source.toolkit.fluxcd.io/v1 GitRepository {interval: 1h, url: "https://example.com/a", `, `source.toolkit.fluxcd.io/v1 OCIRepository {interval: 1h, url: "oci://example.com/a", `
	const chart = `source.toolkit.fluxcd.io/v1 HelmChart {interval: 1h, chart: a, sourceRef: {kind: HelmRepository, name: a}, `
	const release = "helm.toolkit.fluxcd.io/v2 HelmRelease {interval: 1h, chart: {spec: {chart: a, sourceRef: {kind: HelmRepository, name: a}, "
	const policy, helm = `image.toolkit.fluxcd.io/v1 ImagePolicy {imageRepositoryRef: {name: a}, policy: `, `source.toolkit.fluxcd.io/v1 HelmRepository {interval: 1h, url: "oci://example.com/a"`
	for spec, want := range map[string]string{
		policy + `{semver: {range: 1.x}}}`:                   "",
		policy + `{semver: {range: one}}}`:                   `4:64 spec.policy.semver.range: "one" is not a version range: image-reflector-controller refuses it`,
		policy + `{numerical: {}}}`:                          "",
		helm + `, type: oci}`:                                "",
		helm + `, suspend: true}`:                            "",
		helm + `}`:                                           `4:27 spec.url is the address of a registry, but spec.type is not oci: source-controller refuses the scheme`,
		git + `ref: {semver: "1.x.y.z!"}}`:                   `4:66 spec.ref.semver: "1.x.y.z!" is not a version range: source-controller refuses it`,
		git + `ref: {semver: latest}}`:                       `4:66 spec.ref.semver: "latest" is not a version range: source-controller refuses it`,
		git + `ref: {semver: ">=1.0.0 <2.0.0 || 3.x"}}`:      "",
		git + `ref: {semver: latest, commit: abc}}`:          "",
		git + `ref: {semver: latest, tag: v1}}`:              "",
		git + `suspend: true, ref: {semver: latest}}`:        "",
		oci + `ref: {semver: ">=1.0.0 <<"}}`:                 `4:64 spec.ref.semver: ">=1.0.0 <<" is not a version range: source-controller refuses it`,
		oci + `ref: {semver: "^1.2 - 3"}}`:                   `4:64 spec.ref.semver: "^1.2 - 3" is not a version range: source-controller refuses it`,
		oci + `ref: {semver: ">= 1.0.0-0"}}`:                 "",
		oci + `ref: {semver: "<${MAJOR}"}}`:                  "",
		oci + `ref: {semver: ">=1 <<", digest: "sha256:0"}}`: "",
		chart + `version: ">=1.0.0 <<"}`:                     `4:85 spec.version: ">=1.0.0 <<" is not a version range: source-controller refuses it`,
		chart + `version: "~1.2"}`:                           "",
		release + `version: "=>> 1"}}}`:                      `4:100 spec.chart.spec.version: "=>> 1" is not a version range: source-controller refuses it`,
		release + `version: 2024.01.01.1}}}`:                 `4:100 spec.chart.spec.version: "2024.01.01.1" is not a version range: source-controller refuses it`, // Helm leaves such tags out
		release + `version: latest-and-greatest}}}`:          `4:100 spec.chart.spec.version: "latest-and-greatest" is not a version range: source-controller refuses it`,
		release + `version: "1.2.3+build_1"}}}`:              `4:100 spec.chart.spec.version: "1.2.3+build_1" is not a version range: source-controller refuses it`,
		release + `version: "1.2"}}}`:                        "",
		release + `version: "*"}}}`:                          "",
		strings.ReplaceAll(release, "HelmRepository", "GitRepository") + `version: "=>> 1"}}}`: "",
	} {
		parts := strings.SplitN(spec, " ", 3)
		files := fmt.Sprintf("-- a.yaml --\napiVersion: %s\nkind: %s\nmetadata: {name: a, namespace: b}\nspec: %s\n", parts[0], parts[1], parts[2])
		var got []string
		for _, f := range ruletest.Find(t, Invalid, files) {
			got = append(got, fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Message))
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: got %q, want %q", spec, got, want)
		}
	}
}

// TestWhatNoSchemaSays: bindings of roles, and expressions of health checks.
func TestWhatNoSchemaSays(t *testing.T) {
	t.Parallel()
	const binding, wide = "rbac.authorization.k8s.io/v1 RoleBinding ", "rbac.authorization.k8s.io/v1 ClusterRoleBinding "
	const role = "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: a}"
	const health = "kustomize.toolkit.fluxcd.io/v1 Kustomization spec: {interval: 1h, prune: true, path: a, sourceRef: {kind: GitRepository, name: a}, healthCheckExprs: [{apiVersion: v1, kind: Foo, "
	for object, want := range map[string]string{
		binding + role + "\nsubjects: [{kind: ServiceAccount, name: a, namespace: b}, {kind: Group, name: c}, {kind: User, apiGroup: rbac.authorization.k8s.io, name: c}]": "",
		binding + strings.Replace(role, "ClusterRole", "ClusterRol", 1):                           `4:54 roleRef.kind is "ClusterRol", must be one of Role, ClusterRole`,
		binding + strings.Replace(role, "rbac.authorization", "rbac", 1):                          `4:21 roleRef.apiGroup is "rbac.k8s.io", must be one of rbac.authorization.k8s.io`,
		binding + strings.Replace(role, "ClusterRole", "${ROLE}", 1):                              "",
		wide + strings.Replace(role, "ClusterRole", "Role", 1):                                    `4:54 roleRef.kind is "Role", must be one of ClusterRole`,
		binding + role + "\nsubjects: [{kind: serviceAccount, name: a}]":                          `5:19 subjects[0].kind is "serviceAccount", must be one of ServiceAccount, User, Group`,
		binding + role + "\nsubjects: [{kind: ServiceAccount, name: a}]":                          "",
		wide + role + "\nsubjects: [{kind: ServiceAccount, name: a}]":                             `5:12 subjects[0].namespace is required`,
		binding + role + "\nsubjects: [{kind: ServiceAccount, name: a, apiGroup: rbac.k8s.io}]":   `5:54 subjects[0].apiGroup is "rbac.k8s.io", must be left out`,
		health + "current: status.ready == true, failed: \"status.phase in ['a', \\\"b\\\"]\"}]}": "",
		health + "current: size(status.x) > 0 && has(status.y}]}":                                 `4:143 spec.healthCheckExprs[0].current is not a valid CEL expression, and stalls the Kustomization: character 35: Syntax error: missing ')' at '<EOF>'`,
		health + "current: status.x = 1}]}":                                                       `4:143 spec.healthCheckExprs[0].current is not a valid CEL expression, and stalls the Kustomization: character 10: Syntax error: token recognition error at: '= '`,
		health + "current: \"status.conditions.exist(e, e.type == 'Ready')\"}]}":                  `4:143 spec.healthCheckExprs[0].current calls the function exist, which Flux's CEL does not have: the health check fails`,
		health + "current: \"status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True') && sets.contains([1], [1]) && base64.encode(b'a') != status.?a.orValue('') && 'a' in status && status.a[0] > 1 ? true : !has(status.b)\"}]}": "",
		health + "current: '${EXPRESSION'}]}": "",
	} {
		parts := strings.SplitN(object, " ", 3)
		files := fmt.Sprintf("-- a.yaml --\napiVersion: %s\nkind: %s\nmetadata: {name: a, namespace: b}\n%s\n", parts[0], parts[1], parts[2])
		if parts[1] == "ClusterRoleBinding" {
			files = strings.Replace(files, ", namespace: b}", "}", 1)
		}
		var got []string
		for _, f := range ruletest.Find(t, Invalid, files) {
			got = append(got, fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Message))
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: got %q, want %q", object, got, want)
		}
	}
}
