package k0rdent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/examples/platformtest"
)

// toggled sets toggles of kcm's chart in the example.
func toggled(toggles ...string) []string {
	text := "  values:\n    controller:\n"
	for _, toggle := range toggles {
		text += "      " + toggle + ": true\n"
	}
	return []string{"  values:\n    controller:\n      logger", text + "      logger"}
}

// What kcm creates itself is left out, and what comes after it waits for it.
func TestLeftToKCM(t *testing.T) {
	everything := render(t, example(t))
	for name, c := range map[string]struct {
		toggles []string
		// absent are kinds of which nothing is left, waited what the Kustomizations of steps wait for.
		absent []string
		waited map[string][]string
	}{
		"templates": {
			[]string{"createTemplates"}, []string{"ProviderTemplate"},
			map[string][]string{
				"release":   {"Release /kcm-1-11-4"},
				"templates": {"ClusterTemplate kcm-system/aws-standalone-cp-1-0-43", "ClusterTemplate kcm-system/azure-standalone-cp-1-0-45"},
			},
		},
		"Release": {
			[]string{"createTemplates", "createRelease"}, []string{"ProviderTemplate", "Release"},
			map[string][]string{"release": {"Release /kcm-1-11-4"}},
		},
		"Management": {
			[]string{"createTemplates", "createRelease", "createManagement"}, []string{"ProviderTemplate", "Release", "Management"},
			map[string][]string{"release": {"Release /kcm-1-11-4"}, "management": {"Management /kcm"}},
		},
	} {
		changes := toggled(c.toggles...)
		if slices.Contains(c.toggles, "createManagement") {
			changes = append(changes, "      version: 1.0.24\n      disabled: true\n", "      version: 1.0.24\n")
		}
		r := render(t, example(t, changes...))
		for _, kind := range c.absent {
			if left := r.Names(kind); len(left) > 0 {
				t.Errorf("%s: %s %v is rendered", name, kind, left)
			}
		}
		stepsWait(t, r, name, c.waited)
		// kcm 1.11.4 creates 1.0.43 of aws-standalone-cp: Git has the version before.
		if got := r.Names("ClusterTemplate"); !slices.Equal(got, []string{"aws-standalone-cp-1-0-42"}) {
			t.Errorf("%s: ClusterTemplates %v", name, got)
		}
		values := r.Must("HelmRelease", "kcm")
		for _, toggle := range []string{"createManagement", "createRelease", "createTemplates", "createAccessManagement"} {
			if got := values.Get("spec", "values", "controller", toggle); got != slices.Contains(c.toggles, toggle) {
				t.Errorf("%s: controller.%s is %v", name, toggle, got)
			}
		}
		for _, kind := range []string{"ServiceTemplate", "Credential", "ClusterDeployment", "AccessManagement"} {
			if got, want := r.Names(kind), everything.Names(kind); !slices.Equal(got, want) {
				t.Errorf("%s: %s %v, want %v", name, kind, got, want)
			}
		}
		for _, pair := range [][2]string{{"kcm", "release"}, {"release", "management"}, {"management", "templates"}, {"templates", "access"}, {"access", "clusters"}} {
			if !r.Before(pair[0], pair[1]) {
				t.Errorf("%s: %s does not wait for %s", name, pair[1], pair[0])
			}
		}
	}
}

// stepsWait checks what the Kustomizations of steps wait for.
func stepsWait(t *testing.T, r *rendered, name string, waited map[string][]string) {
	t.Helper()
	for step, want := range waited {
		k := r.Must("Kustomization", "k0rdent-"+step)
		for _, one := range want {
			if !slices.Contains(platformtest.Waited(k), one) {
				t.Errorf("%s: k0rdent-%s waits for %v, not for %s", name, step, platformtest.Waited(k), one)
			}
		}
		if k.Get("spec", "wait") != nil {
			t.Errorf("%s: k0rdent-%s waits for what it applies, and Flux ignores its healthChecks", name, step)
		}
	}
}

// The versions of kcm's own charts are those of its release, unless others are written.
func TestVersionsOfTheRelease(t *testing.T) {
	r := render(t, example(t,
		"  capi:\n    version: 1.1.15\n", "",
		"      version: 1.0.25\n", ""))
	before := render(t, example(t))
	for _, name := range []string{"cluster-api-1-1-15", "cluster-api-provider-aws-1-0-25"} {
		same(t, before, r, "ProviderTemplate", name)
	}
	same(t, before, r, "Release", "kcm-1-11-4")
	newer := render(t, example(t, slices.Concat(to112, []string{"      version: 1.0.25\n", ""})...))
	newer.Must("ProviderTemplate", "cluster-api-provider-aws-1-0-26")
}

// hetzner installs a provider that kcm does not have, from a source of its own.
var hetzner = []string{
	"    - name: projectsveltos\n", "    - name: cluster-api-provider-hetzner\n      version: 1.0.8\n" +
		"      helm: {sourceRef: {name: infrastructure}}\n      provides: [infrastructure-hetzner]\n      config: {replicas: 2}\n    - name: projectsveltos\n",
	"  sources:\n", "  sources:\n    - {name: infrastructure, url: oci://registry.nimbus.example/charts}\n",
}

// A provider's chart may come from another source, which its step applies.
func TestProviderOfAnotherSource(t *testing.T) {
	for _, toggles := range [][]string{nil, {"createTemplates", "createRelease"}} {
		changes := hetzner
		if toggles != nil {
			changes = append(slices.Clone(hetzner), toggled(toggles...)...)
		}
		r := render(t, example(t, changes...))
		r.Must("ProviderTemplate", "cluster-api-provider-hetzner-1-0-8").Holds(t, `
helm: {chartSpec: {chart: cluster-api-provider-hetzner, version: 1.0.8, interval: 10m0s, sourceRef: {kind: HelmRepository, name: infrastructure}}}
providers: [infrastructure-hetzner]`, "spec")
		r.Must("HelmRepository", "infrastructure").Holds(t, "{type: oci, url: oci://registry.nimbus.example/charts, interval: 10m0s}", "spec")
		for kind, name := range map[string]string{"ProviderTemplate": "cluster-api-provider-hetzner-1-0-8", "HelmRepository": "infrastructure"} {
			if step := r.step(kind, name); step != "release" {
				t.Errorf("step %q applies %s %s", step, kind, name)
			}
		}
		if step := r.step("HelmRepository", "ingress-nginx"); step != "templates" {
			t.Errorf("step %q applies a source of templates", step)
		}
		want := "{name: cluster-api-provider-hetzner, config: {replicas: 2}}"
		if toggles != nil { // kcm's Release doesn't have it
			want = "{name: cluster-api-provider-hetzner, template: cluster-api-provider-hetzner-1-0-8, config: {replicas: 2}}"
		} else if !strings.Contains(r.Of("Release")[0].YAML(t), "template: cluster-api-provider-hetzner-1-0-8") {
			t.Error("the Release does not list it")
		}
		r.Must("Management", "kcm").Holds(t, want, "spec", "providers", 5)
	}
}

// Each infrastructure has its identity, its Secret and its resource template.
func TestInfrastructures(t *testing.T) {
	r := render(t, example(t, "  credentials:\n", `  credentials:
    - {name: google, gcp: {}}
    - {name: aks, aks: {}}
    - {name: virtual, kubevirt: {}}
    - {name: local, docker: {}}
    - {name: machines, remote: {}}
    - {name: cloud, hetzner: {robot: true}}
    - {name: own, other: {}, keys: [{name: token, from: {env: OWN}}]}
    - name: role
      other:
        identity:
          apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
          kind: AWSClusterControllerIdentity
          clusterScoped: true
          spec: {allowedNamespaces: {}}
`))
	for name, keys := range map[string]string{
		"google": "credentials", "aks": "AZURE_CLIENT_ID, AZURE_CLIENT_SECRET, AZURE_SUBSCRIPTION_ID, AZURE_TENANT_ID", "virtual": "kubeconfig",
		"local": "", "machines": "value", "cloud": "hcloud, robot-user, robot-password", "own": "token",
	} {
		r.Must("Credential", name).Holds(t, "{apiVersion: v1, kind: Secret, name: "+name+", namespace: kcm-system}", "spec", "identityRef")
		template := r.Must("ConfigMap", name+"-resource-template")
		template.Holds(t, "{projectsveltos.io/template: 'true'}", "metadata", "annotations")
		if got := template.Get("data"); (got != nil) != (name == "google") { // TestResourceTemplates has those that hold something
			t.Errorf("the resource template of %s is %v", name, got)
		}
		header, _ := r.Tree.Get("k0rdent/credentials/" + name + ".yaml")
		if keys != "" && !strings.Contains(string(header.Content), "keys "+keys) {
			t.Errorf("%s does not say that its Secret needs %s:\n%s", name, keys, header.Content)
		}
	}
	secrets := r.Of("Secret")
	if len(secrets) != 1 || secrets[0].Name() != "local" || secrets[0].Get("data") != nil {
		t.Errorf("Secrets are rendered: %v", secrets)
	}
	r.Must("Credential", "role").Holds(t, "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: AWSClusterControllerIdentity, name: role}", "spec", "identityRef")
	identity := r.Must("AWSClusterControllerIdentity", "role")
	identity.Holds(t, "{name: role, labels: {k0rdent.mirantis.com/component: kcm}}", "metadata")
	identity.Holds(t, "{allowedNamespaces: {}}", "spec")
}
