package flux

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// TestUnfetched: what is not fetched brings only what it can hold, and nothing that it waits for; a typo is told
// whatever it may bring.
func TestUnfetched(t *testing.T) {
	t.Parallel()
	remote := func(address string) string {
		return kustomization("remote", "") + "-- remote/kustomization.yaml --\nresources: ['" + address + "']\n"
	}
	const (
		crds    = "https://github.com/cert-manager/cert-manager/releases/download/v1.20.0/cert-manager.crds.yaml"
		install = "https://github.com/argoproj/argo-rollouts/releases/download/v1.8.0/install.yaml"
		raw     = "https://raw.githubusercontent.com/example/example/main/all.yaml"
	)
	source := func(url, path string) string {
		return "-- clusters/prod/other.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: other, namespace: flux-system}\nspec: {url: '" + url + "', interval: 1h}\n---\n" +
			"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: other, namespace: flux-system}\nspec: {interval: 1h, prune: true, path: '" + path + "', sourceRef: {kind: OCIRepository, name: other}}\n"
	}
	account := podinfoNamespace + apps("  serviceAccountName: nobody\n")
	repository := "-- clusters/prod/charts.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: bjw-s, namespace: charts}\nspec: {url: https://example.com, interval: 1h}\n"
	release := func(namespace, name, more string) string {
		return repository + "-- clusters/prod/release.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: charts}\nspec:\n  interval: 1h\n" +
			"  chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: " + name + ", namespace: " + namespace + "}}}\n" + more
	}
	key := func(name string) string {
		return "  decryption: {provider: sops, secretRef: {name: " + name + "}}\n"
	}
	object := func(apiVersion, kind, name, spec string) string {
		return "-- clusters/prod/" + strings.ToLower(kind) + ".yaml --\napiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: charts}\n" + spec + "\n"
	}
	values := func(kind, name string) string {
		return release("charts", "bjw-s", "  valuesFrom: [{kind: "+kind+", name: "+name+"}]\n")
	}
	for _, c := range []struct {
		name  string
		rule  rule.Rule
		files string
		want  finding.Severity
	}{
		{"definitions bring no account", ServiceAccountMissing, account + remote(crds), finding.Error},
		{"a release of others brings no account to Flux's namespace", ServiceAccountMissing, account + remote(install), finding.Error},
		{"it may bring one to a namespace that it names", ServiceAccountMissing, strings.Replace(account, "namespace: flux-system", "namespace: argo", 1) + remote(install), ""},
		{"a release of the owner may bring any source", SourceMissing, release("charts", "other", "") + remote(strings.Replace(install, "argoproj", "example", 1)), ""},
		{"a release brings no source", SourceMissing, release("charts", "other", "") + remote(install), finding.Error},
		{"any file may bring a source", SourceMissing, release("charts", "other", "") + remote(raw), ""},
		{"definitions and more", SourceMissing, release("charts", "other", "") + remote(crds) + strings.ReplaceAll(remote(raw), "remote", "second"), ""},
		{"Flux brings no source", SourceMissing, release("charts", "other", "") + source("oci://ghcr.io/fluxcd/flux-manifests", "./"), finding.Error},
		{"Flux brings its accounts only", ServiceAccountMissing, account + source("oci://ghcr.io/fluxcd/flux-manifests", "./"), finding.Error},
		{"a folder of definitions", ServiceAccountMissing, account + source("oci://ghcr.io/example/all", "./config/crd"), finding.Error},
		{"another folder", ServiceAccountMissing, account + source("oci://ghcr.io/example/all", "./config"), ""},
		{"what waits brings nothing", ServiceAccountMissing, account + strings.Replace(remote(raw), "  prune: true\n", "  prune: true\n  dependsOn: [{name: apps}]\n", 1), finding.Error},
		{"what does not wait", ServiceAccountMissing, account + remote(raw), ""},
		{"a typo in a short word", SourceMissing, release("charts", "bj-s", "") + remote(raw), finding.Warning},
		{"a typo in the namespace", SourceMissing, release("chart", "bjw-s", "") + remote(raw), finding.Error},
		{"a typo beside a Job that creates ConfigMaps", ValuesReferenceMissing, values("ConfigMap", "runne-config") + object("v1", "ConfigMap", "runner-config", "data: {values.yaml: a}") +
			object("batch/v1", "Job", "a", "spec: {template: {spec: {containers: [{name: a, command: [\"apiVersion: v1\\nkind: ConfigMap\\n\"]}]}}}"), finding.Error},
		{"a typo of a Secret that a controller creates", ValuesReferenceMissing, values("Secret", "helm-vlues") + object("external-secrets.io/v1", "ExternalSecret", "helm-values", "spec: {}"), finding.Error},
		{"a typo in a short word of a key", SecretMissing, kustomization("a", key("sops-age")) + kustomization("b", key("sops-age")) + kustomization("c", key("sop-age")), finding.Error},
		{"another key", SecretMissing, kustomization("a", key("sops-age")) + kustomization("b", key("sops-age")) + kustomization("c", key("age-key")), ""},
		{"the ConfigMap of a bucket", ValuesReferenceMissing, values("ConfigMap", "bucket") + object("objectbucket.io/v1alpha1", "ObjectBucketClaim", "bucket", "spec: {}"), ""},
	} {
		found := ruletest.Find(t, c.rule, fluxSync+c.files)
		if c.want == "" && len(found) == 0 {
			continue
		}
		if len(found) != 1 || found[0].Severity != c.want {
			t.Errorf("%s: got %+v, want %q", c.name, found, c.want)
		}
	}
}
