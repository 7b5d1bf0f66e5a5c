package bootstrap

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/testarchive"
)

// problems are those of the order of releases and of hooks in a repository, one a line.
func problems(t *testing.T, archive string) string {
	t.Helper()
	report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(archive))), nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, o := range report.Order {
		line := o.Rule + ": " + o.Message
		if o.Refused {
			line = "error: " + line
		}
		if o.Unresolved {
			line = "unresolved: " + line
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

const (
	cilium   = "  - {name: cilium, namespace: kube-system, chart: oci://quay.io/cilium/charts/cilium, version: 1.18.6NEEDS}\n"
	coredns  = "  - {name: coredns, namespace: kube-system, chart: oci://ghcr.io/coredns/charts/coredns, version: 1.45.0NEEDS}\n"
	operator = "  - {name: flux-operator, namespace: flux-system, chart: oci://ghcr.io/controlplaneio-fluxcd/charts/flux-operator, version: 0.58.0NEEDS}\n"
	instance = "  - {name: flux-instance, namespace: flux-system, chart: oci://ghcr.io/controlplaneio-fluxcd/charts/flux-instance, version: 0.58.0NEEDS}\n"
	certs    = "  - {name: cert-manager, namespace: cert-manager, chart: oci://quay.io/jetstack/charts/cert-manager, version: 1.19.1NEEDS}\n"
	trust    = "  - {name: trust-manager, namespace: cert-manager, chart: oci://quay.io/jetstack/charts/trust-manager, version: 0.20.0NEEDS}\n"
	secrets  = "  - {name: external-secrets, namespace: es, chart: oci://ghcr.io/external-secrets/charts/external-secrets, version: 2.9.0NEEDS}\n"
	otel     = "  - {name: opentelemetry-operator, namespace: otel, chart: oci://ghcr.io/open-telemetry/opentelemetry-helm-charts/opentelemetry-operator, version: 0.90.0NEEDS}\n"
	store    = "-- bootstrap/store.yaml --\napiVersion: external-secrets.io/v1\nkind: ClusterSecretStore\nmetadata: {name: vault}\n"
)

// with is a release with some needs, or with other fields.
func with(release, fields string) string {
	if fields != "" {
		fields = ", " + fields
	}
	return strings.Replace(release, "NEEDS", fields, 1)
}

func helmfiles(releases ...string) string {
	return "-- bootstrap/helmfile.yaml --\nreleases:\n" + strings.Join(releases, "")
}

const applies = "hooks: [{events: [postsync], command: kubectl, args: [apply, -f, store.yaml]}]"

// TestRequirements finds needs that are missing, and hooks that run too early, and nothing where what is needed may come
// from elsewhere.
func TestRequirements(t *testing.T) {
	app := "  - {name: app, namespace: app, chart: oci://ghcr.io/example/charts/app, version: 1.0.0NEEDS}\n"
	early := func(command string) string {
		return "hooks: [{events: [presync], showlogs: true, " + command + "}]"
	}
	waits := early("command: kubectl, args: [wait, --for=create, --timeout=5m, crd/ciliumnodes.cilium.io]")
	for name, c := range map[string]struct{ repo, want string }{
		"in order":               {helmfiles(with(cilium, ""), with(coredns, "needs: [cilium]"), with(operator, "needs: [kube-system/coredns]"), with(instance, "needs: [flux-operator]")), ""},
		"no network in the file": {helmfiles(with(coredns, ""), with(operator, "needs: [kube-system/coredns]"), with(instance, "needs: [flux-operator]")), ""},
		"network": {helmfiles(with(cilium, ""), with(coredns, "")),
			`helmfile may install release "kube-system/coredns" before "kube-system/cilium", whose network its pods need`},
		"the other way round": {helmfiles(with(cilium, "needs: [coredns]"), with(coredns, "")),
			`helmfile installs release "kube-system/coredns" before "kube-system/cilium", whose network its pods need`},
		"definitions before the network": {helmfiles("  - {name: crds, namespace: o, chart: oci://h/prometheus-operator-crds, version: 1.0.0}\n", with(cilium, "needs: [o/crds]")), ""},
		"once, for the first":            {helmfiles(with(cilium, ""), with(coredns, ""), with(operator, "needs: [kube-system/coredns]")), `helmfile may install release "kube-system/coredns"`},
		"in the node's network":          {helmfiles(with(cilium, ""), with(coredns, "values: [{hostNetwork: true}]")), ""},
		"DNS": {helmfiles(with(cilium, ""), with(coredns, "needs: [cilium]"), with(operator, "needs: [kube-system/cilium]"), with(instance, "needs: [flux-operator]")),
			`helmfile may install release "flux-system/flux-instance" before "kube-system/coredns", whose DNS its pods need to reach the Git server`},
		"operator": {helmfiles(with(operator, ""), with(instance, "")),
			`helmfile may install release "flux-system/flux-instance" before "flux-system/flux-operator", which brings the definition of FluxInstance`},
		"certificates": {helmfiles(with(certs, "values: [{crds: {enabled: true}}]"), with(trust, "")),
			`helmfile may install release "cert-manager/trust-manager" before "cert-manager/cert-manager", which brings the definition of Certificate, of which its chart contains an object`},
		"no certificates": {helmfiles(with(certs, "values: [{crds: {enabled: true}}]"), with(trust, "values: [{app: {webhook: {tls: {helmCert: {enabled: true}}}}}]")), ""},
		"a webhook's certificate": {helmfiles(with(certs, "values: [{crds: {enabled: true}}]"), with(otel, "")),
			`helmfile may install release "otel/opentelemetry-operator" before "cert-manager/cert-manager", which brings the definition of Certificate, of which its chart contains an object`},
		"no webhook":                  {helmfiles(with(certs, "values: [{crds: {enabled: true}}]"), with(otel, "values: [{admissionWebhooks: {create: false}}]")), ""},
		"a webhook's own certificate": {helmfiles(with(certs, "values: [{crds: {enabled: true}}]"), with(otel, "values: [{admissionWebhooks: {certManager: {enabled: false}}}]")), ""},
		"a hook's object": {helmfiles(with(secrets, ""), with(app, applies)) + store,
			`helmfile may install release "app/app" before "es/external-secrets", which brings the definition of ClusterSecretStore, of which a hook applies an object`},
		"needed through others":         {helmfiles(with(secrets, ""), with(coredns, "needs: [es/external-secrets]"), with(app, "needs: [kube-system/coredns], "+applies)) + store, ""},
		"without its definitions":       {helmfiles(with(secrets, "values: [{installCRDs: false}]"), with(app, applies)) + store, ""},
		"needs that are not known":      {helmfiles(with(secrets, ""), with(app, "needs: ['{{ requiredEnv \"A\" }}'], "+applies)) + store, ""},
		"not installed":                 {helmfiles(with(secrets, "installed: false"), with(app, applies)) + store, ""},
		"a stage of definitions":        {helmfiles(with(secrets, ""), with(app, applies)) + store + "-- bootstrap/crds.yaml --\nhelmDefaults: {args: [--include-crds, --no-hooks]}\nreleases:\n" + with(secrets, ""), ""},
		"definitions in a file":         {helmfiles(with(secrets, ""), with(app, applies)) + store + "-- crds/store.yaml --\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: clustersecretstores.external-secrets.io}\nspec: {group: external-secrets.io}\n", ""},
		"a script":                      {helmfiles(with(secrets, ""), with(app, applies)) + store + "-- boot.sh --\nkubectl apply -f https://example.com/external-secrets/crds.yaml\n", ""},
		"a hook with a URL":             {helmfiles(with(secrets, ""), with(app, "hooks: [{events: [presync], command: kubectl, args: [apply, -f, 'https://example.com/crds.yaml']}, {events: [postsync], command: kubectl, args: [apply, -f, store.yaml]}]")) + store, ""},
		"a hook that waits for its own": {helmfiles(with(cilium, waits)), `a presync hook of release "kube-system/cilium" needs the definition of ciliumnodes.cilium.io, for which a hook waits, which the release itself brings: it fails on a new cluster`},
		"afterwards":                    {helmfiles(with(cilium, strings.Replace(waits, "presync", "postsync", 1))), ""},
		"in a loop": {helmfiles(with(cilium, early("command: bash, args: [-c, 'until kubectl get crd ciliumnodes.cilium.io &>/dev/null; do sleep 5; done']"))),
			`a presync hook of release "kube-system/cilium" needs the definition of ciliumnodes.cilium.io`},
		"in a loop that gives up": {helmfiles(with(cilium, early("command: bash, args: [-c, 'kubectl wait crd/ciliumnodes.cilium.io || true']"))), ""},
		"until it is gone":        {helmfiles(with(cilium, early("command: kubectl, args: [wait, --for=delete, crd/ciliumnodes.cilium.io]"))), ""},
		"a workload": {helmfiles(with(cilium, early("command: kubectl, args: [rollout, status, -n, '{{ .Release.Namespace }}', 'ds/{{ .Release.Name }}']"))),
			`a presync hook of release "kube-system/cilium" waits for DaemonSet kube-system/cilium, which the release itself creates`},
		"a workload of another": {helmfiles(with(cilium, ""), with(coredns, "needs: [cilium], "+early("command: kubectl, args: [rollout, status, -n, kube-system, ds/cilium]"))), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := problems(t, c.repo)
			if c.want == "" && got != "" || c.want != "" && (!strings.HasPrefix(got, RuleOrder+": "+c.want) || strings.Contains(got, "\n")) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestOperator finds a FluxInstance without the operator, and nothing where it may come from elsewhere.
func TestOperator(t *testing.T) {
	want := RuleOperatorMissing + `: release "flux-instance" creates a FluxInstance, and nothing in the repository installs the Flux Operator before Flux runs`
	object := "-- bootstrap/flux.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\n"
	for name, c := range map[string]struct{ repo, want string }{
		"without":                   {helmfiles(with(instance, "")), want},
		"with":                      {helmfiles(with(operator, ""), with(instance, "needs: [flux-operator]")), ""},
		"not installed":             {helmfiles(with(operator, "installed: false"), with(instance, "")), want},
		"another helmfile":          {helmfiles(with(instance, "")) + "-- bootstrap/00.yaml --\nreleases:\n" + with(operator, ""), ""},
		"Git alone":                 {helmfiles(with(instance, "")) + "-- apps/operator.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: flux-operator, namespace: flux-system}\nspec: {chartRef: {kind: OCIRepository, name: flux-operator}}\n", want},
		"a script":                  {helmfiles(with(instance, "")) + "-- Taskfile.yaml --\ntasks: {boot: {cmd: helm install flux-operator oci://example.com/flux-operator}}\n", ""},
		"Terraform":                 {helmfiles(with(instance, "")) + "-- main.tf --\nresource \"helm_release\" \"flux-operator\" {}\n", ""},
		"a remote manifest":         {helmfiles(with(instance, "")) + "-- operator/kustomization.yaml --\nresources: ['https://github.com/controlplaneio-fluxcd/flux-operator/releases/download/v0.58.0/install.yaml']\n", ""},
		"a chart that is not known": {helmfiles(with(instance, ""), "  - {name: other, namespace: a, chart: '{{ requiredEnv \"CHART\" }}', version: 1.0.0}\n"), ""},
		"a hook": {helmfiles(with(cilium, strings.Replace(applies, "store", "flux", 1))) + object,
			strings.Replace(want, "flux-instance", "cilium", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := problems(t, c.repo); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

const fluxSync = `-- clusters/prod/flux-system/gotk-sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, ref: {branch: main}, url: ssh://git@github.com/example/fleet}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 10m, path: ./clusters/prod, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
`

// TestHookObjects finds objects that hooks apply and that Flux does not, and says where that is not known.
func TestHookObjects(t *testing.T) {
	repo := func(apply string) string {
		return fluxSync + helmfiles(with(cilium, "hooks: [{events: [postsync], command: kubectl, args: [apply, "+apply+"]}]"))
	}
	pool := func(file string) string {
		return "-- " + file + " --\napiVersion: cilium.io/v2\nkind: CiliumLoadBalancerIPPool\nmetadata: {name: home}\n"
	}
	file, want := repo("-f, pool.yaml")+pool("bootstrap/pool.yaml"), RuleObjectMissing+`: a hook of release "cilium" applies CiliumLoadBalancerIPPool home, which Flux does not apply`
	folder := repo("-k, '../networks/{{ .Release.Namespace }}'") + pool("networks/kube-system/pool.yaml") +
		"-- networks/kube-system/kustomization.yaml --\nresources: [pool.yaml]\n"
	for name, c := range map[string]struct{ repo, want string }{
		"a file":                 {file, want},
		"a folder":               {folder, want},
		"several":                {file + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n", want + " (and 1 more of bootstrap/pool.yaml)"},
		"Git's":                  {repo("-f, ../clusters/prod/pool.yaml") + pool("clusters/prod/pool.yaml"), ""},
		"Git's own copy":         {file + pool("clusters/prod/pool.yaml"), ""},
		"another name":           {file + strings.Replace(pool("clusters/prod/pool.yaml"), "home", "other", 1), want},
		"renamed":                {strings.Replace(folder, "resources:", "namePrefix: a-\nresources:", 1), ""},
		"a Secret":               {repo("-f, a.yaml") + "-- bootstrap/a.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: sops-age, namespace: flux-system}\n", ""},
		"without Flux":           {strings.TrimPrefix(file, fluxSync), ""},
		"in a chart's values":    {file + "-- clusters/prod/cilium.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: cilium, namespace: kube-system}\nspec: {interval: 1h, chartRef: {kind: OCIRepository, name: cilium}, values: {extra: [{kind: CiliumLoadBalancerIPPool}]}}\n", ""},
		"of another cluster":     {file + "-- other/ks.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: other, namespace: flux-system}\nspec: {interval: 10m, path: ./bootstrap, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n", ""},
		"with a remote base":     {file + "-- clusters/prod/kustomization.yaml --\nresources: [flux-system/gotk-sync.yaml, 'github.com/example/pools?ref=v1']\n", "unresolved: " + RuleObjectMissing + ": whether Flux applies CiliumLoadBalancerIPPool home, which a hook of release \"cilium\" applies, is not known"},
		"with a variable's name": {strings.Replace(file, "name: home", "name: ${NAME}", 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := problems(t, c.repo); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
