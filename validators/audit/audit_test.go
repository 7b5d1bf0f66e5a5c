package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/audit"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

func all() []rule.Rule {
	return []rule.Rule{
		audit.AlertMissing, audit.AutomationBranch, audit.AutomationKey, audit.ClusterSize, audit.CreateNamespace, audit.DefaultNamespace,
		audit.DriftDetection, audit.Prune, audit.ReleaseRetry, audit.RetryInterval, audit.Timeout,
	}
}

// The rules of the profile give advice, and are off unless they are asked for.
func TestProfile(t *testing.T) {
	t.Parallel()
	for _, r := range all() {
		if r.Profile != audit.Profile || r.Severity != "info" {
			t.Errorf("%s is always on, or more than advice", r.ID)
		}
	}
}

// lines are where a rule finds something, with the cluster.
func lines(t *testing.T, r rule.Rule, files string) string {
	t.Helper()
	var at []string
	for _, f := range ruletest.Find(t, r, files) {
		at = append(at, fmt.Sprintf("%s:%d %s", f.File, f.Line, f.Cluster))
	}
	return strings.TrimSpace(strings.Join(at, ", "))
}

// object is an object of some kind with a spec, in a file of its own.
func object(apiVersion, kind, spec string) string {
	return "-- a.yaml --\napiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: a, namespace: b}\nspec: " + spec + "\n"
}

func TestObjects(t *testing.T) {
	t.Parallel()
	const (
		ks    = "kustomize.toolkit.fluxcd.io/v1"
		hr    = "helm.toolkit.fluxcd.io/v2"
		auto  = "image.toolkit.fluxcd.io/v1"
		found = "a.yaml:4"
		chart = "chartRef: {kind: OCIRepository, name: a}"
	)
	for _, c := range []struct {
		r                      rule.Rule
		apiVersion, kind, spec string
		want                   string
	}{
		{audit.RetryInterval, ks, "Kustomization", "{interval: 10m}", ""},
		{audit.RetryInterval, ks, "Kustomization", "{interval: 11m}", found},
		{audit.RetryInterval, ks, "Kustomization", "{interval: 1h, retryInterval: 1m}", ""},
		{audit.RetryInterval, ks, "Kustomization", "{interval: '${INTERVAL}'}", ""},
		{audit.Timeout, ks, "Kustomization", "{interval: 1h}", ""},
		{audit.Timeout, ks, "Kustomization", "{interval: 1h, wait: true}", found},
		{audit.Timeout, ks, "Kustomization", "{interval: 1h, healthChecks: [{kind: Deployment}]}", found},
		{audit.Timeout, ks, "Kustomization", "{interval: 1h, wait: true, timeout: 5m}", ""},
		{audit.Timeout, ks, "Kustomization", "{interval: 5m, wait: true}", ""},
		{audit.Prune, ks, "Kustomization", "{prune: true}", ""},
		{audit.Prune, ks, "Kustomization", "{prune: false}", found},
		{audit.Prune, ks, "Kustomization", "{interval: 5m}", found},
		{audit.Prune, ks, "Kustomization", "{prune: '${PRUNE}'}", ""},
		{audit.ReleaseRetry, hr, "HelmRelease", "{" + chart + "}", found},
		{audit.ReleaseRetry, hr, "HelmRelease", "{values: {a: b}}", ""},
		{audit.ReleaseRetry, hr, "HelmRelease", "{" + chart + ", install: {remediation: {retries: -1}}, upgrade: {remediation: {retries: 3}}}", ""},
		{audit.ReleaseRetry, hr, "HelmRelease", "{" + chart + ", install: {remediation: {retries: 0}}, upgrade: {remediation: {retries: 3}}}", found},
		{audit.ReleaseRetry, hr, "HelmRelease", "{" + chart + ", install: {strategy: {name: RetryOnFailure}}, upgrade: {strategy: {name: RemediateOnFailure}}}", found},
		{audit.DriftDetection, hr, "HelmRelease", "{" + chart + "}", found},
		{audit.DriftDetection, hr, "HelmRelease", "{" + chart + ", driftDetection: {mode: warn}}", ""},
		{audit.DriftDetection, hr, "HelmRelease", "{" + chart + ", driftDetection: {mode: disabled}}", found},
		{audit.CreateNamespace, hr, "HelmRelease", "{" + chart + ", install: {createNamespace: false}}", ""},
		{audit.DefaultNamespace, hr, "HelmRelease", "{" + chart + ", targetNamespace: default}", found},
		{audit.DefaultNamespace, hr, "HelmRelease", "{" + chart + "}", ""},
		{audit.AutomationBranch, auto, "ImageUpdateAutomation", "{git: {checkout: {ref: {branch: main}}, push: {branch: updates}}}", ""},
		{audit.AutomationBranch, auto, "ImageUpdateAutomation", "{git: {checkout: {ref: {branch: main}}, push: {branch: main}}}", found},
		{audit.AutomationBranch, auto, "ImageUpdateAutomation", "{git: {checkout: {ref: {branch: main}}}}", found},
		{audit.AutomationBranch, auto, "ImageUpdateAutomation", "{git: {push: {refspec: 'refs/heads/main:refs/heads/x'}}}", ""},
	} {
		if got := lines(t, c.r, object(c.apiVersion, c.kind, c.spec)); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.r.ID, c.spec, got, c.want)
		}
	}
}

func TestWorkloadsInDefault(t *testing.T) {
	t.Parallel()
	files := "-- a.yaml --\n"
	for _, kind := range []string{"apps/v1 Deployment", "batch/v1 CronJob", "v1 Pod", "v1 ConfigMap", "rbac.authorization.k8s.io/v1 Role"} {
		apiVersion, kind, _ := strings.Cut(kind, " ")
		files += "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: a, namespace: default}\n---\n"
	}
	if got := lines(t, audit.DefaultNamespace, files); got != "a.yaml:3 , a.yaml:7 , a.yaml:11" {
		t.Errorf("got %q", got)
	}
}

// synced is a cluster whose FluxInstance syncs a folder, with more of its spec.
func synced(path, more string) string {
	return "-- " + path + "/flux.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\n" +
		"spec: {distribution: {version: 2.x, registry: ghcr.io/fluxcd}, " + more + "sync: {kind: GitRepository, url: 'https://git.example.com/a/b', ref: refs/heads/main, path: " + path + "}}\n"
}

const someRelease = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: a, namespace: b}
spec: {interval: 1h, chartRef: {kind: OCIRepository, name: a}}
`

// Drift detection and alerts are asked of production, where the clusters' paths name it.
func TestStages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ paths, want string }{
		{"clusters/production clusters/staging", "clusters/production"},
		{"clusters/prod-eu clusters/preprod", "clusters/prod-eu"},
		{"clusters/staging clusters/dev", ""},
		{"clusters/home", "clusters/home"},
		{"kubernetes/main kubernetes/test", "kubernetes/main"},
	} {
		files := ""
		for path := range strings.FieldsSeq(c.paths) {
			files += synced(path, "") + "-- " + path + "/a.yaml --\n" + someRelease
		}
		drift, alerts := "", ""
		if c.want != "" {
			name := c.want[strings.LastIndex(c.want, "/")+1:]
			drift, alerts = c.want+"/a.yaml:4 "+name, c.want+"/flux.yaml:4 "+name
		}
		if got := lines(t, audit.DriftDetection, files); got != drift {
			t.Errorf("%s: %q, want %q", c.paths, got, drift)
		}
		if got := lines(t, audit.AlertMissing, files); got != alerts {
			t.Errorf("%s: %q, want %q", c.paths, got, alerts)
		}
	}
}

func TestAlerts(t *testing.T) {
	for name, c := range map[string]struct {
		more  string
		found bool
	}{
		"nothing":           {"", true},
		"monitoring":        {"apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: a, namespace: b}\nspec: {groups: [{name: a, rules: [{expr: gotk_resource_info}]}]}\n", false},
		"other monitoring":  {"apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: a, namespace: b}\nspec: {groups: [{name: a, rules: [{expr: up}]}]}\n", true},
		"an unknown source": {"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: b}\nspec: {sourceRef: {kind: GitRepository, name: x}}\n", false},
	} {
		files := synced("clusters/a", "") + "-- clusters/a/a.yaml --\n" + c.more
		if got := lines(t, audit.AlertMissing, files); (got != "") != c.found {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A helm-controller that retries by default needs no strategy.
func TestRetriesByDefault(t *testing.T) {
	t.Parallel()
	const gate = "kustomize: {patches: [{patch: '- {op: add, path: /spec/template/spec/containers/0/args/-, value: --feature-gates=DefaultToRetryOnFailure=true}'}]}, "
	for more, want := range map[string]string{gate: "", "": "clusters/a/a.yaml:4 a"} {
		if got := lines(t, audit.ReleaseRetry, synced("clusters/a", more)+"-- clusters/a/a.yaml --\n"+someRelease); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestClusterSizeInAChart(t *testing.T) {
	t.Parallel()
	release := "{chartRef: {kind: OCIRepository, name: flux-instance}, values: {instance: {cluster: {SIZE}}}}"
	for size, want := range map[string]string{"size: small": "", "type: kubernetes": "a.yaml:4"} {
		if got := lines(t, audit.ClusterSize, object("helm.toolkit.fluxcd.io/v2", "HelmRelease", strings.Replace(release, "SIZE", size, 1))); got != want {
			t.Errorf("%s: %q, want %q", size, got, want)
		}
	}
}
