package tenant_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
	"github.com/fleetwright/fleetwright/validators/source"
	"github.com/fleetwright/fleetwright/validators/tenant"
)

func all() []rule.Rule {
	return []rule.Rule{
		tenant.AdmissionBypass, tenant.AdmissionMissing, tenant.ClusterAdmin, tenant.ClusterScoped, tenant.CrossNamespaceRef, tenant.LockdownMissing, tenant.NamespaceUnlabelled,
		tenant.NetworkPolicyMissing, tenant.ObjectRefused, tenant.QuotaMissing, tenant.RBACEscalation, tenant.RBACExcess, tenant.ServiceAccountMissing,
		tenant.SourceNotAllowed,
	}
}

// found gives what the rules find in files, a line each: rule, severity and place. That no
// policy refuses what the tenants' roles let them is a finding of nearly all: the tests of
// tenant-admission-missing speak of it.
func found(t *testing.T, files string) []string {
	t.Helper()
	return foundBy(t, files, slices.DeleteFunc(all(), func(r rule.Rule) bool { return r.ID == tenant.AdmissionMissing.ID }))
}

func foundBy(t *testing.T, files string, rules []rule.Rule) []string {
	t.Helper()
	o := rule.Options{Rules: rules}
	for _, r := range rules {
		o.Known = append(o.Known, r.ID)
	}
	out, err := rule.Run(t.Context(), ruletest.Load(t, files), o)
	if err != nil {
		t.Fatal(err)
	}
	said := make([]string, 0, len(out.Findings))
	for _, f := range out.Findings {
		said = append(said, fmt.Sprintf("%s %s %s:%d", strings.TrimPrefix(f.Rule, "tenant-"), f.Severity, f.File, f.Line))
	}
	slices.Sort(said)
	return said
}

// What the generators render has no findings, but for the flags that nothing demands.
func TestRenderedTrees(t *testing.T) {
	trees, err := filepath.Glob("../../testdata/trees/*.txtar")
	if err != nil || len(trees) == 0 {
		t.Fatalf("no rendered trees: %v", err)
	}
	for _, name := range trees {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files := &txtar.Archive{}
			for _, f := range txtar.Parse(data).Files {
				if path, ok := strings.CutPrefix(f.Name, "platform/"); ok {
					files.Files = append(files.Files, txtar.File{Name: path, Data: f.Data})
				}
			}
			text := string(txtar.Format(files))
			if said := foundBy(t, text, all()); len(said) > 0 {
				t.Errorf("found %q", said)
			}
			for _, r := range []rule.Rule{source.Insecure, source.MutableRef, source.HelmRepositoryOCI} {
				if said := ruletest.Find(t, r, text); len(said) > 0 {
					t.Errorf("found %+v", said)
				}
			}
		})
	}
}

// root is a cluster of flux bootstrap's, with arguments of its controllers, whose sync
// applies what follows.
func root(args ...string) string {
	var b strings.Builder
	b.WriteString(`-- clusters/a/flux-system/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- gotk-components.yaml
- gotk-sync.yaml
patches:
- target: {kind: Deployment}
  patch: |
`)
	for _, arg := range append([]string{"--log-level=info"}, args...) {
		b.WriteString("    - {op: add, path: /spec/template/spec/containers/0/args/-, value: " + arg + "}\n")
	}
	b.WriteString(`-- clusters/a/flux-system/gotk-components.yaml --
`)
	for _, name := range []string{"kustomize-controller", "helm-controller", "notification-controller"} {
		b.WriteString("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + ", namespace: flux-system, labels: {app.kubernetes.io/part-of: flux}}\n" +
			"spec: {template: {spec: {containers: [{name: manager, args: [--watch-all-namespaces=true]}]}}}\n---\n")
	}
	b.WriteString(`-- clusters/a/flux-system/gotk-sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: "ssh://git@git.example.com/platform/fleet", ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1h, path: ./clusters/a, prune: true, serviceAccountName: kustomize-controller, sourceRef: {kind: GitRepository, name: flux-system}}
-- clusters/a/tenants.yaml --
`)
	return b.String()
}

// locked are the arguments of Flux's lockdown.
var locked = []string{"--no-cross-namespace-refs=true", "--no-remote-bases=true", "--default-service-account=default"}

// team is a tenant as flux create tenant and flux create source and kustomization make it,
// in a namespace with what a namespace should have.
func team(label, spec string) string {
	return `apiVersion: v1
kind: Namespace
metadata: {name: team, labels: {pod-security.kubernetes.io/enforce: baseline` + label + `}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: team, namespace: team}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: gotk-reconciler, namespace: team}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: gotk:team:reconciler}
- {kind: ServiceAccount, name: team, namespace: team}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: team}
spec: {hard: {pods: "10"}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: team, namespace: team}
spec: {podSelector: {}, ingress: [{from: [{podSelector: {}}]}]}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: team, namespace: team}
spec: {interval: 1m, url: "https://git.example.com/team/apps"}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: team, namespace: team}
spec: {interval: 1h, prune: true, ` + spec + `}
---
`
}

const (
	label = ", toolkit.fluxcd.io/tenant: team"
	syncs = "serviceAccountName: team, sourceRef: {kind: GitRepository, name: team}"
)

func TestTenants(t *testing.T) {
	t.Parallel()
	// The place of a finding about the installation, and of one about the Kustomization.
	const installation, sync = "clusters/a/flux-system/kustomization.yaml:6", "clusters/a/tenants.yaml:35"
	for _, c := range []struct{ name, files, want string }{
		{"a tenant, locked down", root(locked...) + team(label, syncs), ""},
		{"not locked down", root() + team(label, syncs), "lockdown-missing error " + installation},
		{"an unlabelled tenant", root() + team("", syncs), "lockdown-missing error " + installation},
		{"Capsule's tenant", root() + team(", capsule.clastix.io/tenant: team", syncs), "lockdown-missing error " + installation},
		{"without the account's default", root(locked[:2]...) + team(label, syncs), "lockdown-missing error " + installation},
		{"without the ban on remote bases", root(locked[0], locked[2]) + team(label, syncs), "lockdown-missing warning " + installation},
		{"switched off again", root(append(locked, "--no-cross-namespace-refs=false")...) + team(label, syncs), "lockdown-missing error " + installation},
		{"no account, locked down", root(locked...) + team(label, "sourceRef: {kind: GitRepository, name: team}"), "service-account-missing error " + sync},
		{"no account, not locked down", root() + team(label, "sourceRef: {kind: GitRepository, name: team}"),
			"lockdown-missing error " + installation + " service-account-missing error " + sync},
		{"a default account with a role", root(locked...) + strings.ReplaceAll(team(label, "sourceRef: {kind: GitRepository, name: team}"), "ServiceAccount, name: team", "ServiceAccount, name: default"), ""},
		{"another cluster", root(locked...) + team(label, "kubeConfig: {secretRef: {name: a}}, sourceRef: {kind: GitRepository, name: team}"), ""},
		{"an account that isn't there", root(locked...) + team(label, "serviceAccountName: x, sourceRef: {kind: GitRepository, name: team}"), "service-account-missing error " + sync},
		{"another namespace's source, locked down", root(locked...) + team(label, "serviceAccountName: team, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}"),
			"cross-namespace-ref error " + sync},
		{"another namespace's source", root() + team(label, "serviceAccountName: team, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}"),
			"cross-namespace-ref error " + sync + " lockdown-missing error " + installation},
		{"its own namespace", root(locked...) + team(label, "serviceAccountName: team, sourceRef: {kind: GitRepository, name: team, namespace: team}"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(found(t, c.files), " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A repository without tenants has no findings, whatever it labels, and however Flux is
// installed.
func TestNoTenants(t *testing.T) {
	t.Parallel()
	namespace := func(label string) string {
		return "apiVersion: v1\nkind: Namespace\nmetadata: {name: team" + label + "}\n---\n"
	}
	labelled := namespace(", labels: {toolkit.fluxcd.io/tenant: team}")
	ks := func(spec string) string {
		return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: app, namespace: team}\nspec: {interval: 1h, path: ./app, " + spec + "}\n---\n"
	}
	const admin = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: app}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: app, namespace: team}]
---
`
	const release = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app, namespace: team}
spec: {interval: 1h, serviceAccountName: app, chartRef: {kind: OCIRepository, name: app, namespace: flux-system}}
---
`
	own := "sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}"
	for name, files := range map[string]string{
		"nothing":                      namespace(""),
		"a label":                      labelled,
		"a platform's team":            labelled + admin + release,
		"apps beside their namespaces": labelled + ks(own),
		"third-party manifests":        namespace("") + strings.ReplaceAll(ks("sourceRef: {kind: GitRepository, name: x}"), "namespace: team", "namespace: flux-system"),
		"an account of a cluster role": namespace("") + admin + ks("serviceAccountName: app, sourceRef: {kind: GitRepository, name: app}"),
		"a source of the namespace":    labelled + ks("sourceRef: {kind: GitRepository, name: x}"),
		"an operator with the label": labelled + `apiVersion: v1
kind: ServiceAccount
metadata: {name: app, namespace: team, labels: {toolkit.fluxcd.io/tenant: team}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: team}
spec: {template: {spec: {serviceAccountName: app}}}
---
` + strings.Replace(admin, "ClusterRoleBinding\nmetadata: {name: app}", "RoleBinding\nmetadata: {name: app, namespace: team}", 1),
		"lockdown without an account":     ks(own),
		"the same for several namespaces": team("", syncs) + "---\n" + strings.ReplaceAll(strings.ReplaceAll(team("", syncs), "team", "other"), "com/other", "com/team"),
		"a part of the platform that it syncs itself": team("", syncs) + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app, namespace: team}\nspec: {template: {spec: {serviceAccountName: app}}}\n---\n" +
			strings.ReplaceAll(admin, "cluster-admin", "view"),
		"roles of workloads": namespace("") + strings.Replace(admin, "ClusterRoleBinding\nmetadata: {name: app}", "RoleBinding\nmetadata: {name: app, namespace: team}", 1) + ks(own),
	} {
		for _, args := range [][]string{nil, locked} {
			if said := found(t, root(args...)+files); len(said) > 0 {
				t.Errorf("%s, %q: found %q", name, args, said)
			}
		}
	}
	if said := found(t, "-- a.yaml --\n"+team(label, syncs)); len(said) > 0 {
		t.Errorf("without a cluster: found %q", said)
	}
}

func TestPlatformUnderLockdown(t *testing.T) {
	t.Parallel()
	const app = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: app, namespace: NS}
spec: {interval: 1h, path: ./app, prune: true, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}
-- app/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: app}
`
	const at = "clusters/a/tenants.yaml:40"
	own := root(locked...) + team(label, syncs) + strings.ReplaceAll(app, "NS", "flux-system")
	if got := strings.Join(found(t, own), " "); got != "service-account-missing error "+at {
		t.Errorf("got %s", got)
	}
	other := root(locked...) + team(label, syncs) + strings.ReplaceAll(app, "NS", "app")
	if got := strings.Join(found(t, other), " "); got != "cross-namespace-ref error "+at+" service-account-missing error "+at {
		t.Errorf("got %s", got)
	}
	open := root(locked[1]) + team(label, syncs) + strings.ReplaceAll(app, "NS", "app")
	if got := strings.Join(found(t, open), " "); got != "lockdown-missing error clusters/a/flux-system/kustomization.yaml:6" {
		t.Errorf("got %s", got)
	}
}

// A policy that demands accounts and judges references stands for the flags.
func TestPoliciesStandForFlags(t *testing.T) {
	t.Parallel()
	const policy = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: flux}
spec:
  validationFailureAction: ACTION
  rules:
  - name: account
    match: {any: [{resources: {kinds: [Kustomization, HelmRelease]}}]}
    validate: {pattern: {spec: {serviceAccountName: "?*"}}}
  - name: source
    match: {any: [{resources: {kinds: [Kustomization]}}]}
    validate: {deny: {conditions: [{key: "{{request.object.spec.sourceRef.namespace}}", operator: NotEquals, value: ""}]}}
`
	for action, want := range map[string]string{"Enforce": "warning", "Audit": "error"} {
		files := root() + team(label, syncs) + strings.Replace(policy, "ACTION", action, 1)
		if got := strings.Join(found(t, files), " "); got != "lockdown-missing "+want+" clusters/a/flux-system/kustomization.yaml:6" {
			t.Errorf("%s: got %s", action, got)
		}
	}
}

// role and binding are those of a namespace, or of the whole cluster.
func role(kind, namespace, rules string) string {
	return "apiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind + "\nmetadata: {name: r, namespace: " + namespace + "}\nrules: [" + rules + "]\n---\n"
}

func binding(kind, namespace, role, subject string) string {
	return "apiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind + "\nmetadata: {name: x, namespace: " + namespace + "}\nroleRef: {apiGroup: rbac.authorization.k8s.io, " +
		role + "}\nsubjects: [" + subject + "]\n---\n"
}

func TestRBAC(t *testing.T) {
	t.Parallel()
	const (
		me, group, user = "{kind: ServiceAccount, name: team, namespace: team}", "{kind: Group, name: 'system:serviceaccounts:team'}", "{kind: User, name: 'system:serviceaccount:team:team'}"
		everybody       = "{kind: Group, name: 'system:serviceaccounts'}"
		stranger        = "{kind: ServiceAccount, name: x, namespace: x}"
		reads           = "{apiGroups: [''], resources: [configmaps], verbs: [get, list]}"
		secrets         = "{apiGroups: [''], resources: [secrets], verbs: [get]}"
		writes          = "{apiGroups: [apps], resources: [deployments], verbs: [patch]}"
	)
	clusterRole := func(name string) string { return "kind: ClusterRole, name: " + name }
	const other = "apiVersion: v1\nkind: Namespace\nmetadata: {name: other, labels: {toolkit.fluxcd.io/tenant: other, pod-security.kubernetes.io/enforce: baseline}}\n---\n" +
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: other, namespace: other}\nspec: {interval: 1h, prune: true, serviceAccountName: other, sourceRef: {kind: GitRepository, name: other}}\n---\n" +
		"apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: other, namespace: other}\n---\n"
	// A namespace that nothing lists, whose account carries the tenant's label.
	const unlisted = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: front, namespace: front, labels: {toolkit.fluxcd.io/tenant: team}}\n---\n" +
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: front, namespace: front}\nspec: {interval: 1h, prune: true, serviceAccountName: front, sourceRef: {kind: GitRepository, name: front}}\n---\n"
	for _, c := range []struct{ name, files, want string }{
		{"admin of a namespace of its own that nothing lists", unlisted + binding("RoleBinding", "front", clusterRole("admin"), "{kind: ServiceAccount, name: front, namespace: front}"), ""},
		{"cluster-admin of all", binding("ClusterRoleBinding", "", clusterRole("cluster-admin"), me), "cluster-admin error"},
		{"cluster-admin of all, by a group", binding("ClusterRoleBinding", "", clusterRole("cluster-admin"), group), "cluster-admin error"},
		{"cluster-admin of all, by a user", binding("ClusterRoleBinding", "", clusterRole("cluster-admin"), user), "cluster-admin error"},
		{"cluster-admin for everybody", binding("ClusterRoleBinding", "", clusterRole("cluster-admin"), everybody), "cluster-admin error"},
		{"cluster-admin of its namespace", binding("RoleBinding", "team", clusterRole("cluster-admin"), me), "cluster-admin warning"},
		{"cluster-admin of Flux's namespace", binding("RoleBinding", "flux-system", clusterRole("cluster-admin"), me), "cluster-admin error"},
		{"cluster-admin for somebody else", binding("ClusterRoleBinding", "", clusterRole("cluster-admin"), stranger), ""},
		{"view of all", binding("ClusterRoleBinding", "", clusterRole("view"), me), "rbac-excess warning"},
		{"edit of all", binding("ClusterRoleBinding", "", clusterRole("edit"), me), "rbac-excess error"},
		{"reads all", role("ClusterRole", "", reads) + binding("ClusterRoleBinding", "", clusterRole("r"), me), ""},
		{"reads all secrets", role("ClusterRole", "", secrets) + binding("ClusterRoleBinding", "", clusterRole("r"), me), "rbac-excess error"},
		{"writes all", role("ClusterRole", "", writes) + binding("ClusterRoleBinding", "", clusterRole("r"), me), "rbac-excess error"},
		{"writes in its namespace", role("Role", "team", writes) + binding("RoleBinding", "team", "kind: Role, name: r", me), ""},
		{"writes in Flux's namespace", role("Role", "flux-system", writes) + binding("RoleBinding", "flux-system", "kind: Role, name: r", me), "rbac-excess error"},
		{"reads in Flux's namespace", role("Role", "flux-system", reads) + binding("RoleBinding", "flux-system", "kind: Role, name: r", me), ""},
		{"edits another tenant's namespace", other + binding("RoleBinding", "other", clusterRole("edit"), me) + quotaAndNetwork("other"), "rbac-excess error"},
		{"edits a namespace of nobody's", binding("RoleBinding", "more", clusterRole("edit"), me), ""},
		{"a role that isn't in Git", binding("ClusterRoleBinding", "", clusterRole("unknown"), me), ""},
		{"escalates", role("Role", "team", "{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [escalate]}") + binding("RoleBinding", "team", "kind: Role, name: r", me), "rbac-escalation error"},
		{"all verbs on roles", role("Role", "team", "{apiGroups: ['*'], resources: [roles], verbs: ['*']}") + binding("RoleBinding", "team", "kind: Role, name: r", me), "rbac-escalation error"},
		{"makes tokens", role("Role", "team", "{apiGroups: [''], resources: ['serviceaccounts/token'], verbs: [create]}") + binding("RoleBinding", "team", "kind: Role, name: r", me), "rbac-escalation error"},
		{"impersonates users in a namespace, where there are none", role("Role", "team", "{apiGroups: [''], resources: [users], verbs: [impersonate]}") + binding("RoleBinding", "team", "kind: Role, name: r", me), ""},
		{"impersonates itself", role("Role", "team", "{apiGroups: [''], resources: [serviceaccounts], verbs: [impersonate], resourceNames: [team]}") + binding("RoleBinding", "team", "kind: Role, name: r", me), ""},
		{"impersonates itself and another one", role("Role", "team", "{apiGroups: [''], resources: [serviceaccounts], verbs: [impersonate], resourceNames: [team, other]}") + binding("RoleBinding", "team", "kind: Role, name: r", me), "rbac-escalation error"},
		{"impersonates accounts of its name anywhere", role("ClusterRole", "", "{apiGroups: [''], resources: [serviceaccounts], verbs: [impersonate], resourceNames: [team]}") + binding("ClusterRoleBinding", "", clusterRole("r"), me), "rbac-escalation error, rbac-excess error"},
		{"anything in its namespace", role("Role", "team", "{apiGroups: ['*'], resources: ['*'], verbs: ['*']}") + binding("RoleBinding", "team", "kind: Role, name: r", me), "rbac-escalation warning"},
		{"escalates, bound to nobody", role("Role", "team", "{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [escalate]}"), ""},
		{"its own Namespace", role("Role", "team", "{apiGroups: [''], resources: [namespaces], verbs: [patch]}") + binding("RoleBinding", "team", "kind: Role, name: r", me), "rbac-excess warning"},
		{"reads its Namespace", role("Role", "team", "{apiGroups: [''], resources: [namespaces], verbs: [get]}") + binding("RoleBinding", "team", "kind: Role, name: r", me), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var said []string
			for _, line := range found(t, root(locked...)+team(label, syncs)+c.files) {
				said = append(said, strings.Join(strings.Fields(line)[:2], " "))
			}
			if got := strings.Join(said, ", "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func quotaAndNetwork(namespace string) string {
	return "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: " + namespace + "}\nspec: {hard: {pods: 1}}\n---\n" +
		"apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: n, namespace: " + namespace + "}\nspec: {endpointSelector: {}, ingress: [{}]}\n---\n"
}

// What is missing in a namespace is not said where something else takes care of it, or
// where not everything is known.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	bare := strings.NewReplacer("{hard: {pods: \"10\"}}", "{}", "{podSelector: {}, ingress", "{podSelector: {matchLabels: {a: b}}, ingress",
		"pod-security.kubernetes.io/enforce: baseline", "x: y").Replace(team(label, syncs))
	missing := "namespace-unlabelled warning, network-policy-missing warning, quota-missing info"
	unknown := `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: more, namespace: flux-system}
spec: {interval: 1h, prune: true, serviceAccountName: kustomize-controller, sourceRef: {kind: OCIRepository, name: more}}
---
`
	for _, c := range []struct{ name, files, want string }{
		{"bare", bare, missing},
		{"capsule", strings.ReplaceAll(bare, "toolkit.fluxcd.io", "capsule.clastix.io"), ""},
		{"privileged", strings.Replace(team(label, syncs), "enforce: baseline", "enforce: privileged", 1), "namespace-unlabelled warning"},
		{"not all is known", bare + unknown, "namespace-unlabelled warning"},
		{"a policy about pods", bare + "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec: {rules: [{name: p, validate: {podSecurity: {level: baseline}}}]}\n", strings.TrimPrefix(missing, "namespace-unlabelled warning, ")},
		{"a network policy for all", bare + "apiVersion: cilium.io/v2\nkind: CiliumClusterwideNetworkPolicy\nmetadata: {name: p}\nspec: {endpointSelector: {}}\n", "namespace-unlabelled warning, quota-missing info"},
		{"generated", bare + "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec: {rules: [{name: q, generate: {kind: ResourceQuota}}, {name: n, generate: {kind: NetworkPolicy}}]}\n", "namespace-unlabelled warning"},
		{"egress only", strings.Replace(team(label, syncs), "podSelector: {}, ingress", "podSelector: {}, policyTypes: [Egress], ingress", 1), "network-policy-missing warning"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var said []string
			for _, line := range found(t, root(locked...)+c.files) {
				said = append(said, strings.Join(strings.Fields(line)[:2], " "))
			}
			if got := strings.Join(said, ", "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	_, unresolved := ruletest.Run(t, tenant.QuotaMissing, root(locked...)+bare+unknown)
	if len(unresolved) != 1 || !strings.Contains(unresolved[0].Reason, "flux-system/more") {
		t.Errorf("unresolved is %+v", unresolved)
	}
}

func TestLockdownUnresolved(t *testing.T) {
	t.Parallel()
	files := strings.Replace(root(locked...), "app.kubernetes.io/part-of: flux", "a: b", 3) + team(label, syncs)
	files = strings.Replace(files, "- gotk-components.yaml", "- ./gotk-components.yaml", 1)
	found, unresolved := ruletest.Run(t, tenant.LockdownMissing, files)
	if len(found) > 0 || len(unresolved) != 1 || unresolved[0].File != "clusters/a/flux-system/gotk-sync.yaml" {
		t.Errorf("got %+v, %+v", found, unresolved)
	}
}

// Before flux bootstrap has run there are only the patches.
func TestLockdownBeforeBootstrap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want int
	}{{locked, 0}, {locked[:1], 1}, {nil, 1}} {
		before, after, _ := strings.Cut(root(c.args...), "-- clusters/a/flux-system/gotk-components.yaml --\n")
		_, after, _ = strings.Cut(after, "-- clusters/a/tenants.yaml --\n")
		files := before + "-- clusters/a/flux-system/gotk-components.yaml --\n# flux bootstrap writes it\n-- clusters/a/flux-system/gotk-sync.yaml --\n# and this\n-- clusters/a/tenants.yaml --\n" + after + `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: tenants, namespace: flux-system}
spec: {interval: 1h, path: ./tenants, prune: true, serviceAccountName: kustomize-controller, sourceRef: {kind: GitRepository, name: flux-system}}
-- tenants/team.yaml --
` + team(label, syncs)
		if got := ruletest.Find(t, tenant.LockdownMissing, files); len(got) != c.want || c.want > 0 && got[0].File != "clusters/a/flux-system/kustomization.yaml" {
			t.Errorf("%q: got %+v", c.args, got)
		}
	}
}

// The chart of the community, and a FluxInstance in the values of its chart.
func TestLockdownOfCharts(t *testing.T) {
	t.Parallel()
	bootstrapped := strings.NewReplacer("app.kubernetes.io/part-of: flux", "a: b", "- gotk-components.yaml", "- ./gotk-components.yaml").Replace(root())
	chart := "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: flux, namespace: flux-system}\n" +
		"spec: {interval: 1h, serviceAccountName: helm-controller, chart: {spec: {chart: CHART, version: 2.x, sourceRef: {kind: HelmRepository, name: x}}}, values: VALUES}\n"
	for _, c := range []struct {
		chart, values string
		want          int
	}{
		{"flux2", "{multitenancy: {enabled: true}}", 0},
		{"flux2", "{multitenancy: {enabled: false}}", 1},
		{"flux2", "{}", 1},
		{"flux-instance", "{instance: {cluster: {multitenant: true}}}", 0},
		{"flux-instance", "{instance: {cluster: {multitenant: false}}}", 1},
		{"flux-instance", "{instance: {kustomize: {patches: [{patch: '--no-cross-namespace-refs=true --no-remote-bases=true --default-service-account=default'}]}}}", 0},
	} {
		files := bootstrapped + team(label, syncs) + strings.NewReplacer("CHART", c.chart, "VALUES", c.values).Replace(chart)
		found, unresolved := ruletest.Run(t, tenant.LockdownMissing, files)
		if len(found) != c.want || len(unresolved) > 0 {
			t.Errorf("%s %s: got %+v, %+v", c.chart, c.values, found, unresolved)
		}
	}
}

// TestDefaultAccount: the account that Flux uses by default has the same name in the namespaces of all tenants: it names none.
// Reproduces: the d2 layout of izerecord/d2-fleet.
func TestDefaultAccount(t *testing.T) {
	const platform = `-- clusters/prod/flux.yaml --
apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: flux-system}
spec:
  distribution: {version: 2.x, registry: ghcr.io/fluxcd}
  cluster: {multitenant: true, tenantDefaultServiceAccount: DEFAULT}
  sync: {kind: GitRepository, url: https://example.com/fleet, ref: refs/heads/main, path: clusters/prod}
`
	const team = `-- clusters/prod/TEAM.yaml --
apiVersion: v1
kind: Namespace
metadata: {name: TEAM}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: flux, namespace: TEAM}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: flux, namespace: TEAM}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}
subjects: [{kind: ServiceAccount, name: flux, namespace: TEAM}]
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: apps, namespace: TEAM}
spec: {interval: 1m, ref: {branch: main}, url: https://example.com/TEAM}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: TEAM}
spec: {interval: 10m, path: ./, prune: true, serviceAccountName: flux, targetNamespace: TEAM, sourceRef: {kind: GitRepository, name: apps}}
`
	teams := strings.ReplaceAll(team, "TEAM", "web") + strings.ReplaceAll(team, "TEAM", "shop")
	for account, want := range map[string][]string{"flux": {"shop", "web"}, "other": {"flux", "flux"}} {
		var names []string
		for _, f := range ruletest.Find(t, tenant.NamespaceUnlabelled, strings.Replace(platform, "DEFAULT", account, 1)+teams) {
			name, _, _ := strings.Cut(strings.TrimPrefix(f.Message, "tenant "), ":")
			names = append(names, name)
		}
		if slices.Sort(names); !slices.Equal(names, want) {
			t.Errorf("default account %s: the tenants of the findings are %v, want %v", account, names, want)
		}
	}
}
