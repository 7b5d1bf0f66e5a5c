package render

import (
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/strict"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// ofClusters is a fleet with these clusters, and others beside minimal's parts.
func ofClusters(t *testing.T, more string, clusters ...string) *Rendered {
	t.Helper()
	var spec strings.Builder
	spec.WriteString(minimal)
	for _, c := range clusters {
		name, path, _ := strings.Cut(c, "@")
		spec.WriteString("---\napiVersion: fleetwright.dev/v1alpha1\nkind: Cluster\nmetadata: {name: " + name + "}\nspec: {environment: production")
		if path != "" {
			spec.WriteString(", path: " + path)
		}
		spec.WriteString("}\n")
	}
	return generated(t, folder(t, map[string]string{"fleet/a.yaml": spec.String() + more}))
}

// anAddon is one with more fields of its spec.
func anAddon(name, fields string) string {
	return "---\napiVersion: fleetwright.dev/v1alpha1\nkind: Addon\nmetadata: {name: " + name + "}\nspec: {namespace: " + name +
		", chart: {url: oci://ghcr.io/acme/charts/" + name + ", version: 1.0.0}, " + fields + "}\n"
}

// aTenant is one with more fields of its spec.
func aTenant(name, fields string) string {
	return "---\napiVersion: fleetwright.dev/v1alpha1\nkind: Tenant\nmetadata: {name: " + name + "}\nspec: {" + fields + "}\n"
}

const (
	withVolume   = "values: {persistence: {enabled: true}}"
	withBoth     = "values: {persistence: {enabled: true}, service: {type: LoadBalancer}}"
	withBalancer = "values: {service: {type: LoadBalancer}}"
	withNone     = "values: {persistence: {enabled: false}, service: {type: ClusterIP}}"
	withDefaults = "values: {replicas: 1}"
)

// removalCases are renders after another one: what each is refused with, in order; each is a part of the message and
// hint of one error, without which it is let through.
var removalCases = map[string]struct {
	before, after []string // clusters beside staging
	had, has      string
	retired       []string
	declared      []string // files of Secrets that do not exist yet
	allow         []string
	want          [][]string
	never         []string
	states        map[string]string // of tenants before, if not Active
}{
	"a cluster with all that it holds": {
		before: []string{"eu", "us"}, after: []string{"us"},
		had: anAddon("grafana", withVolume) + anAddon("traefik", withBalancer) + anAddon("loki", withVolume) + anAddon("db", "stateful: true") + anAddon("metrics", withNone) + anAddon("vault", withDefaults),
		has: anAddon("grafana", withVolume) + anAddon("traefik", withBalancer) + anAddon("loki", withVolume) + anAddon("db", "stateful: true") + anAddon("metrics", withNone) + anAddon("vault", withDefaults),
		retired: []string{
			"infrastructure/secrets/eu/grafana/admin.sops.yaml", "infrastructure/secrets/eu/loki/password.sops.yaml",
		},
		want: [][]string{{
			`cluster "eu" was removed`, "Flux deletes nothing there", "it holds data of db; load balancers of traefik; volumes of grafana, loki; the volumes and load balancers that the charts of vault ask for by default",
			"infrastructure/secrets/eu/grafana/admin.sops.yaml, infrastructure/secrets/eu/loki/password.sops.yaml", "--allow-removal cluster/eu",
		}},
		never: []string{"metrics", "tenants"},
	},
	"a cluster with tenants": {
		before: []string{"eu"}, had: aTenant("shop", "") + aTenant("web", "environments: {staging: ./}"), has: aTenant("shop", "") + aTenant("web", ""),
		want: [][]string{{"it holds the objects of tenants on it: shop; the volumes"}}, never: []string{"tenant/"},
	},
	"two clusters, each with its own Secrets, and one of both": {
		before: []string{"eu", "us"},
		retired: []string{
			"infrastructure/secrets/base/tools/shared.sops.yaml", "infrastructure/secrets/eu/tools/one.sops.yaml", "infrastructure/secrets/us/tools/one.sops.yaml",
		},
		want: [][]string{
			{`cluster "eu"`, ": infrastructure/secrets/eu/tools/one.sops.yaml;"},
			{`cluster "us"`, ": infrastructure/secrets/us/tools/one.sops.yaml;"},
			{`declared Secret "tools/shared" was removed`, "hint: Git loses the values of these Secrets, generated ones included: infrastructure/secrets/base/tools/shared.sops.yaml; Flux deletes", "--allow-removal secret/tools/shared"},
		},
	},
	"a cluster by another name in its folder": {
		before: []string{"eu"}, after: []string{"de@clusters/eu"},
		had: anAddon("grafana", withVolume), has: anAddon("grafana", withVolume),
		retired: []string{"infrastructure/secrets/eu/grafana/admin.sops.yaml"},
		want:    [][]string{{`cluster "eu" was removed from the specification, and cluster "de" has its folder`, "Flux on the cluster then applies", `now called "de", move these files`, "cluster/eu"}},
		never:   []string{"disappears", "it holds"},
	},
	"a cluster by another name that no longer has an add-on": {
		before: []string{"eu"}, after: []string{"de@clusters/eu"}, allow: []string{"cluster/eu"},
		had: anAddon("grafana", withVolume), has: anAddon("grafana", withVolume+", clusters: {names: [staging]}"),
		want: [][]string{{`no longer has release "grafana/grafana" with its volumes on de`, "addon/grafana"}},
	},
	"an add-on on one cluster only": {
		before: []string{"eu"}, after: []string{"eu"},
		had: anAddon("grafana", withBoth), has: anAddon("grafana", withBoth+", clusters: {names: [staging]}"),
		want: [][]string{{`with its load balancers and volumes on eu`, "Flux deletes load balancers and their addresses, and PersistentVolumeClaims"}},
	},
	"volumes on one cluster by an override": {
		before: []string{"eu"}, after: []string{"eu"},
		had: anAddon("grafana", withBoth), has: anAddon("grafana", withBoth+", overrides: [{clusters: {names: [eu]}, values: {persistence: {enabled: false}}}]"),
		want: [][]string{{`with its volumes on eu`}}, never: []string{"load balancers"},
	},
	"an add-on with all its Secrets on all clusters": {
		before: []string{"eu"}, after: []string{"eu"},
		had: anAddon("grafana", withVolume) + anAddon("traefik", withBalancer), has: anAddon("metrics", withNone) + anAddon("vault", withDefaults),
		retired: []string{
			"infrastructure/secrets/eu/grafana/admin.sops.yaml", "infrastructure/secrets/eu/grafana/token.sops.yaml", "infrastructure/secrets/staging/grafana/admin.sops.yaml",
		},
		want: [][]string{
			{"add-on \"grafana\"", "volumes on eu, staging, was removed", "included: infrastructure/secrets/{eu,staging}/grafana/admin.sops.yaml, infrastructure/secrets/eu/grafana/token.sops.yaml; save"},
			{"add-on \"traefik\"", "hint: Flux deletes load balancers and their addresses; save"},
		},
	},
	"what a chart stores by default": {
		before: []string{"eu"}, after: []string{"eu"},
		had: anAddon("vault", withDefaults) + anAddon("loki", "values: {persistence: {enabled: false}}") + anAddon("web", "values: {service: {type: NodePort}}"),
		has: anAddon("metrics", withNone) + anAddon("vault", withDefaults+", clusters: {names: [staging]}"),
		want: [][]string{
			{`add-on "loki", release "loki/loki", on eu, staging, was removed`, "whatever its chart stores by default", "if the add-on stores no data, restore it with stateful: false, render, and then remove it", "addon/loki"},
			{`add-on "vault" no longer has release "vault/vault" on eu`},
			{`add-on "web"`},
		},
	},
	"values that say what a chart stored": {
		had: anAddon("a", withDefaults) + anAddon("b", withDefaults) + anAddon("c", withDefaults),
		has: anAddon("a", withVolume) + anAddon("b", withNone) + anAddon("c", "stateful: false"),
	},
	"stateful says that nothing is lost": {
		had: anAddon("grafana", withVolume), has: anAddon("grafana", withVolume+", stateful: false"),
	},
	"stateful says what the values said": {
		had: anAddon("grafana", withVolume), has: anAddon("grafana", withVolume+", stateful: true"),
	},
	"stateful no longer says so of a release that stays": {
		had: anAddon("grafana", withNone+", stateful: true"), has: anAddon("grafana", withNone),
	},
	"a stateful release by another name": {
		had: anAddon("grafana", "stateful: true"), has: anAddon("grafana", "stateful: true, releaseName: other"),
		want: [][]string{{`no longer has release "grafana/grafana" with its data on staging`}},
	},
	"what is allowed": {
		before: []string{"eu"}, allow: []string{"cluster/eu", "addon/grafana"},
		had: anAddon("grafana", withVolume), has: anAddon("metrics", withNone), retired: []string{"infrastructure/secrets/eu/tools/one.sops.yaml"},
	},
	"a tenant off one cluster": {
		before: []string{"eu"}, after: []string{"eu"},
		had: aTenant("shop", ""), has: aTenant("shop", "environments: {staging: ./}"),
		want: [][]string{{`Tenant shop: tenant "shop" was removed from eu`, "stays behind without updates and limits, in its namespaces (shop, shop-flux), which are kept", "--allow-removal tenant/shop, and then"}},
	},
	"a tenant off one cluster, allowed": {
		before: []string{"eu"}, after: []string{"eu"}, allow: []string{"tenant/shop"},
		had: aTenant("shop", ""), has: aTenant("shop", "environments: {staging: ./}"),
	},
	"a namespace of a tenant by another name": {
		before: []string{"eu"}, after: []string{"eu"},
		had: aTenant("shop", "namespaces: [shop, web]"), has: aTenant("shop", "namespaces: [store, web]"),
		want: [][]string{{`Tenant shop: tenant "shop" no longer has namespace "shop" on eu, staging`, "with its volumes, as far as its accounts still may", "keep it in spec.namespaces, beside a new one", "--allow-removal tenant/shop, and then"}},
	},
	"a namespace of a tenant by another name, allowed": {
		had: aTenant("shop", ""), has: aTenant("shop", "namespaces: [store]"), allow: []string{"tenant/shop"},
	},
	"another namespace of a tenant": {
		had: aTenant("shop", ""), has: aTenant("shop", "namespaces: [shop, store]"),
	},
	"a namespace of a tenant that drained": {
		had: aTenant("shop", "state: Draining"), has: aTenant("shop", "namespaces: [store], state: Draining"),
	},
	"a namespace of a tenant off one cluster": {
		before: []string{"eu"}, after: []string{"eu"},
		had: aTenant("shop", ""), has: aTenant("shop", "environments: {staging: ./}, namespaces: [store]"),
		want: [][]string{{`tenant "shop" was removed from eu`}, {`tenant "shop" no longer has namespace "shop" on staging`}},
	},
	"a tenant that starts to drain and leaves a cluster at once": {
		before: []string{"eu"}, after: []string{"eu"},
		had: aTenant("shop", ""), has: aTenant("shop", "environments: {staging: ./}, state: Draining"),
		want: [][]string{{`tenant "shop" was removed from eu`}},
	},
	"a tenant that drained": {
		before: []string{"eu"}, after: []string{"eu"},
		had: aTenant("shop", "state: Draining"), has: aTenant("shop", "environments: {staging: ./}, state: Draining"),
	},
	"a tenant that leaves step by step": {
		had: aTenant("shop", "state: Draining"), has: aTenant("shop", "state: Removed"),
	},
	"a tenant off the cluster that has another name now": {
		before: []string{"eu"}, after: []string{"de@clusters/eu"}, allow: []string{"cluster/eu"},
		had: aTenant("shop", "environments: {eu: ./}"), has: aTenant("shop", "environments: {staging: ./}"),
		want: [][]string{{`tenant "shop" was removed from de`}},
	},
	"the Secret of a tenant that left goes with it": {
		states:  map[string]string{"shop": "Removed"},
		retired: []string{"tenant:shop=tenants/base/shop/secrets/shop-flux/sops-age.sops.yaml"},
	},
	"the Secret of a tenant that stays": {
		had: aTenant("shop", ""), has: aTenant("shop", ""),
		retired: []string{"tenant:shop=tenants/base/shop/secrets/shop-flux/sops-age.sops.yaml"},
		want:    [][]string{{`declared Secret "shop-flux/sops-age" was removed`, "secret/shop-flux/sops-age"}},
	},
	"a Secret on all clusters": {
		before: []string{"eu"}, after: []string{"eu"},
		retired: []string{"infrastructure/secrets/eu/tools/one.sops.yaml", "infrastructure/secrets/staging/tools/one.sops.yaml"},
		want:    [][]string{{`declared Secret "tools/one" was removed`, "infrastructure/secrets/{eu,staging}/tools/one.sops.yaml; Flux deletes"}},
	},
	"a Secret, allowed": {
		retired: []string{"infrastructure/secrets/base/tools/one.sops.yaml"}, allow: []string{"secret/tools/one"},
	},
	"an allowed add-on takes along what its hint listed": {
		allow: []string{"addon/grafana"}, had: anAddon("grafana", withVolume), has: anAddon("metrics", withNone) + anAddon("vault", withDefaults),
		retired: []string{"infrastructure/secrets/base/grafana/admin.sops.yaml", "infrastructure/secrets/base/tools/one.sops.yaml"},
		want:    [][]string{{`declared Secret "tools/one" was removed`}}, never: []string{"grafana"},
	},
	"an allowed add-on takes no Secret that is declared in its new namespace": {
		allow: []string{"addon/grafana"}, had: anAddon("grafana", withVolume),
		has:     strings.Replace(anAddon("grafana", withVolume), "namespace: grafana", "namespace: obs", 1),
		retired: []string{"infrastructure/secrets/base/grafana/admin.sops.yaml"}, declared: []string{"infrastructure/secrets/base/obs/admin.sops.yaml"},
		want: [][]string{{`declared Secret "grafana/admin" was removed`}},
	},
	"a tenant that was only about to leave, and stays on fewer clusters": {
		before: []string{"eu"}, after: []string{"eu"},
		had: aTenant("shop", "state: Draining"), has: aTenant("shop", "environments: {staging: ./}"),
		want: [][]string{{`tenant "shop" was removed from eu`}},
	},
	"a Secret that belongs to a product which stays": {
		retired: []string{"product:kommander=kommander/gitea/kommander/gitea-admin.sops.yaml"},
		want:    [][]string{{`declared Secret "kommander/gitea-admin" was removed`}},
	},
	"the Secrets of an allowed cluster are not told of with another": {
		before: []string{"eu", "us"}, allow: []string{"cluster/eu"},
		retired: []string{"infrastructure/secrets/eu/tools/one.sops.yaml", "infrastructure/secrets/us/tools/one.sops.yaml"},
		want:    [][]string{{`cluster "us"`, ": infrastructure/secrets/us/tools/one.sops.yaml;"}}, never: []string{"secrets/eu"},
	},
}

// goes is the plan that deletes the files of Secrets, and its guards: in the folder of a cluster, in base, or with more
// before them, the owner.
func goes(files []string) (*tree.Plan, []string) {
	plan, guards := &tree.Plan{}, []string(nil)
	for _, file := range files {
		owner, at, owned := strings.Cut(file, "=")
		if !owned {
			at = file
			if owner = generators.OwnerCluster + strings.Split(file, "/")[2]; owner == generators.OwnerCluster+"base" {
				owner = generators.OwnerPlatform
			}
		}
		plan.Steps = append(plan.Steps, tree.Step{Path: at, Action: tree.Delete, Mode: tree.Carried})
		name, _, _ := strings.Cut(path.Base(at), ".")
		guards = append(guards, generators.Guard{Kind: generators.GuardSecret, Owner: owner, Secret: path.Join(path.Base(path.Dir(at)), name), Path: at}.String())
	}
	return plan, guards
}

func TestRemovals(t *testing.T) {
	for name, c := range removalCases {
		t.Run(name, func(t *testing.T) {
			before, after := ofClusters(t, c.had, c.before...), ofClusters(t, c.has, c.after...)
			_, declared := goes(c.declared)
			after.Guards = append(after.Guards, declared...)
			plan, guards := goes(c.retired)
			inv := &tree.Inventory{Guards: append(generators.Guards(before.Spec), guards...), Tenants: before.Tenants}
			for tenant, state := range c.states {
				inv.Tenants = append(inv.Tenants, tree.TenantState{Name: tenant, State: state})
			}
			err := checkRemoval(after, inv, plan, c.allow)
			var errs strict.Errors
			if errors.As(err, &errs); len(errs) != len(c.want) {
				t.Fatalf("got %d errors, want %d: %v", len(errs), len(c.want), err)
			}
			for i, parts := range c.want {
				for _, part := range parts {
					if !strings.Contains(errs[i].Text(), part) {
						t.Errorf("error %d has no %q:\n%s", i, part, errs[i].Text())
					}
				}
				for _, part := range c.never {
					if strings.Contains(errs[i].Text(), part) {
						t.Errorf("error %d has %q:\n%s", i, part, errs[i].Text())
					}
				}
			}
		})
	}
}
