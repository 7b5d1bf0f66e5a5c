package k0rdent_test

import (
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/generators"
)

// What a repository of k0rdent must hold, line by line.
var checklist = []struct {
	line  string
	check func(*testing.T, *rendered)
}{
	{"v1beta1 and kcm-system", checkSystem},
	{"order: install, Release, templates, Management, AccessManagement", checkOrder},
	{"Release: cluster-scoped, kcm-<version with dashes>, version, kcm, capi, regional, providers with name and template", checkRelease},
	{"ProviderTemplate: cluster-scoped, chartSpec from kcm-templates every 10m0s", checkProviderTemplates},
	{"ClusterTemplate: namespaced, helm, providers, providerContracts, k8sVersion", checkClusterTemplates},
	{"ServiceTemplate: exactly one of helm, kustomize, resources; localSourceRef or remoteSourceSpec, deploymentType, k8sConstraint", checkServiceTemplates},
	{"Management: cluster-scoped, kcm, release, core and providers with config", checkManagement},
	{"AccessManagement: cluster-scoped, kcm, targetNamespaces of list, selector, stringSelector", checkAccess},
	{"chains: kcm-system, supportedTemplates with availableUpgrades", checkChains},
	{"Credential: namespaced, identityRef, region", checkCredentials},
	{"ClusterDeployment: labels, template, credential, config, dryRun, services with name, template, namespace, values as text, valuesFrom, dependsOn", checkClusters},
	{"MultiClusterService: clusterSelector, dependsOn, services", checkMultiClusterServices},
	{"names of templates encode versions", checkNames},
	{"every available upgrade is supported; templates exist first", checkUpgrades},
	{"Management waits until the Release's status is ready, and each step for the one before", checkReleaseReady},
	{"singletons are not pruned; Release and templates are kept", checkKept},
	{"the toggles of what Git owns are off", checkToggles},
	{"sources carry the managed label; one Flux in the cluster", checkFlux},
	{"identities carry the component label; their secrets are encrypted", checkIdentities},
}

func TestChecklist(t *testing.T) {
	for _, version := range []struct {
		name    string
		changes []string
	}{{"1.11.4", nil}, {"1.12.0-rc2", to112}} {
		r := render(t, example(t, slices.Concat(full, version.changes)...))
		for _, c := range checklist {
			t.Run(version.name+"/"+c.line, func(t *testing.T) {
				r.T = t
				c.check(t, r)
			})
		}
	}
}

// own are the kinds of k0rdent that are rendered, and whether they stand in a
// namespace.
var own = map[string]bool{
	"Release": false, "ProviderTemplate": false, "Management": false, "AccessManagement": false, "MultiClusterService": false,
	"ClusterTemplate": true, "ServiceTemplate": true, "ClusterTemplateChain": true, "ServiceTemplateChain": true, "Credential": true, "ClusterDeployment": true,
}

func checkSystem(t *testing.T, r *rendered) {
	for kind, namespaced := range own {
		objects := r.Of(kind)
		if len(objects) == 0 {
			t.Errorf("no %s", kind)
		}
		for _, o := range objects {
			namespace := o.Text("metadata", "namespace")
			if o.Text("apiVersion") != "k0rdent.mirantis.com/v1beta1" || namespaced != (namespace != "") ||
				namespaced && kind != "ClusterDeployment" && namespace != "kcm-system" {
				t.Errorf("%s %s: apiVersion %s, namespace %q", kind, o.Name(), o.Text("apiVersion"), namespace)
			}
		}
	}
}

func checkOrder(t *testing.T, r *rendered) {
	steps := []string{"kcm", "release", "management", "access", "clusters"}
	for i := 1; i < len(steps); i++ {
		if !r.Before(steps[i-1], steps[i]) {
			t.Errorf("%s does not wait for %s", steps[i], steps[i-1])
		}
	}
	for _, pair := range [][2]string{{"management", "templates"}, {"management", "credentials"}, {"templates", "access"}, {"credentials", "access"}, {"templates", "services"}} {
		if !r.Before(pair[0], pair[1]) {
			t.Errorf("%s does not wait for %s", pair[1], pair[0])
		}
	}
	for kind, step := range map[string]string{
		"HelmRelease": "kcm", "Release": "release", "ProviderTemplate": "release", "Management": "management", "AccessManagement": "access",
		"ClusterTemplate": "templates", "ServiceTemplate": "templates", "ClusterTemplateChain": "access", "ServiceTemplateChain": "access",
		"Credential": "credentials", "ClusterDeployment": "clusters", "MultiClusterService": "services",
	} {
		for _, o := range r.Of(kind) {
			if got := r.step(kind, o.Name()); got != step && o.Name() != "flux-operator" {
				t.Errorf("%s %s is in step %s, want %s", kind, o.Name(), got, step)
			}
		}
	}
	for _, k := range r.Of("Kustomization") {
		if strings.HasPrefix(k.Name(), "k0rdent-") && k.Text("spec", "deletionPolicy") != "Orphan" {
			t.Errorf("taking %s out deletes what it applied", k.Name())
		}
	}
}

func checkRelease(t *testing.T, r *rendered) {
	version := r.Of("Release")[0].Text("spec", "version")
	o := r.Must("Release", "kcm-"+strings.ReplaceAll(version, ".", "-"))
	for path, want := range map[string]string{
		"kcm": "kcm-" + dashed(version), "regional": "kcm-regional-" + dashed(version), "capi": "cluster-api-1-1-15",
	} {
		if got := o.Text("spec", path, "template"); got != want || r.One("ProviderTemplate", got) == nil {
			t.Errorf("%s is %s, want %s, which is there", path, got, want)
		}
	}
	o.Holds(t, `
- {name: cluster-api-provider-k0sproject-k0smotron, template: cluster-api-provider-k0sproject-k0smotron-1-0-32}
- {name: cluster-api-provider-aws, template: cluster-api-provider-aws-1-0-25}
- {name: cluster-api-provider-azure, template: cluster-api-provider-azure-1-0-31}
- {name: cluster-api-provider-openstack, template: cluster-api-provider-openstack-1-0-28}
- {name: cluster-api-provider-vsphere, template: cluster-api-provider-vsphere-1-0-21}
- {name: cluster-api-provider-docker, template: cluster-api-provider-docker-1-0-24}
- {name: projectsveltos, template: projectsveltos-1-12-1}`, "spec", "providers")
	providers, _ := o.Get("spec", "providers").([]any)
	for i := range providers {
		if template := o.Text("spec", "providers", i, "template"); r.One("ProviderTemplate", template) == nil {
			t.Errorf("there is no template %s", template)
		}
	}
}

func dashed(version string) string { return strings.ReplaceAll(version, ".", "-") }

func checkProviderTemplates(t *testing.T, r *rendered) {
	for _, o := range r.Of("ProviderTemplate") {
		version := o.Text("spec", "helm", "chartSpec", "version")
		o.Holds(t, kcmChart(strings.TrimSuffix(o.Name(), "-"+dashed(version)), version), "spec")
	}
}

func checkManagement(t *testing.T, r *rendered) {
	o := r.Must("Management", "kcm")
	if r.One("Release", o.Text("spec", "release")) == nil {
		t.Errorf("there is no release %s", o.Text("spec", "release"))
	}
	// Docker is disabled, and what kcm gets is asserted with the toggles.
	o.Holds(t, `
- {name: cluster-api-provider-k0sproject-k0smotron}
- {name: cluster-api-provider-aws, config: {replicas: 2}}
- {name: cluster-api-provider-azure}
- {name: cluster-api-provider-openstack}
- {name: cluster-api-provider-vsphere}
- {name: projectsveltos}`, "spec", "providers")
	o.Holds(t, "{config: {manager: {verbosity: 2}}}", "spec", "core", "capi")
}

func checkAccess(t *testing.T, r *rendered) {
	o := r.Must("AccessManagement", "kcm")
	o.Holds(t, "{list: [team-red]}", "spec", "accessRules", 0, "targetNamespaces")
	o.Holds(t, "{selector: {matchLabels: {nimbus.example/clusters: private}}}", "spec", "accessRules", 1, "targetNamespaces")
	o.Holds(t, "{stringSelector: nimbus.example/stage in (development)}", "spec", "accessRules", 2, "targetNamespaces")
	r.Must("Namespace", "team-blue").Holds(t, "{nimbus.example/clusters: private}", "metadata", "labels") // what the selector selects
	cluster, service := r.chain("ClusterTemplateChain", "aws-"), r.chain("ServiceTemplateChain", "services-")
	if version := r.Of("Release")[0].Text("spec", "version"); strings.HasPrefix(version, "1.11") {
		want := map[string][]string{"clusterTemplateChains": {cluster}, "serviceTemplateChains": {service}, "credentials": {"aws"}}
		for field, names := range want {
			if got := o.List("spec", "accessRules", 0, field); !slices.Equal(got, names) {
				t.Errorf("%s is %v, want %v", field, got, names)
			}
		}
		if o.Get("spec", "accessRules", 0, "resources") != nil {
			t.Error("1.11 has no resources")
		}
		return
	}
	want := map[string]string{"ClusterTemplateChain": cluster, "ServiceTemplateChain": service, "Credential": "aws"}
	for i, kind := range []string{"ClusterTemplateChain", "ServiceTemplateChain", "Credential"} {
		at := []any{"spec", "accessRules", 0, "resources", i}
		if o.Text(append(at, "apiGroup")...) != "k0rdent.mirantis.com" || o.Text(append(at, "kind")...) != kind || !slices.Equal(o.List(append(at, "names")...), []string{want[kind]}) {
			t.Errorf("resources[%d]: %v", i, o.Get(at...))
		}
	}
	for _, field := range []string{"clusterTemplateChains", "serviceTemplateChains", "credentials"} {
		if o.Get("spec", "accessRules", 0, field) != nil {
			t.Errorf("1.12 turns %s into resources", field)
		}
	}
}

// chain is the name of the one chain whose name begins so.
func (r *rendered) chain(kind, prefix string) string {
	r.T.Helper()
	var found []string
	for _, name := range r.Names(kind) {
		if strings.HasPrefix(name, prefix) {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		r.T.Fatalf("%d chains begin with %s", len(found), prefix)
	}
	return found[0]
}

func checkChains(t *testing.T, r *rendered) {
	o := r.Must("ClusterTemplateChain", r.chain("ClusterTemplateChain", "aws-1-0-43-"))
	o.Holds(t, `
supportedTemplates:
- {name: aws-standalone-cp-1-0-42, availableUpgrades: [{name: aws-standalone-cp-1-0-43}]}
- {name: aws-standalone-cp-1-0-43}`, "spec")
}

func checkNames(t *testing.T, r *rendered) {
	for _, kind := range []string{"ProviderTemplate", "ClusterTemplate"} {
		for _, o := range r.Of(kind) {
			if version := o.Text("spec", "helm", "chartSpec", "version"); !strings.HasSuffix(o.Name(), "-"+dashed(version)) {
				t.Errorf("%s %s has version %s", kind, o.Name(), version)
			}
		}
	}
	for _, o := range r.Of("ServiceTemplate") {
		version := o.Text("spec", "version") + o.Text("spec", "helm", "chartSpec", "version")
		if version == "" || !strings.HasSuffix(o.Name(), "-"+dashed(version)) {
			t.Errorf("ServiceTemplate %s has version %s", o.Name(), version)
		}
	}
}

func checkUpgrades(t *testing.T, r *rendered) {
	for _, kind := range []string{"ClusterTemplate", "ServiceTemplate"} {
		for _, o := range r.Of(kind + "Chain") {
			var supported []string
			items, _ := o.Get("spec", "supportedTemplates").([]any)
			for i := range items {
				name := o.Text("spec", "supportedTemplates", i, "name")
				supported = append(supported, name)
				if r.One(kind, name) == nil {
					t.Errorf("%s: there is no %s %s", o.Name(), kind, name)
				}
			}
			for i := range items {
				upgrades, _ := o.Get("spec", "supportedTemplates", i, "availableUpgrades").([]any)
				for j := range upgrades {
					if to := o.Text("spec", "supportedTemplates", i, "availableUpgrades", j, "name"); !slices.Contains(supported, to) {
						t.Errorf("%s: %s is not supported", o.Name(), to)
					}
				}
			}
		}
	}
	if !r.Before("templates", "access") {
		t.Error("chains do not wait for templates")
	}
}

func checkKept(t *testing.T, r *rendered) {
	for _, kind := range []string{"Management", "AccessManagement"} { // kcm backs up what has the label
		r.Must(kind, "kcm").Holds(t, "{k0rdent.mirantis.com/component: kcm}", "metadata", "labels")
	}
	for _, kind := range []string{"Management", "AccessManagement", "Release", "ProviderTemplate", "ClusterTemplate", "ServiceTemplate"} {
		for _, o := range r.Of(kind) {
			if !o.Annotated(prune, "disabled") {
				t.Errorf("%s %s can be pruned", kind, o.Name())
			}
			if template := kind != "Management" && kind != "AccessManagement"; template && !o.Annotated("helm.sh/resource-policy", "keep") {
				t.Errorf("%s %s is not kept", kind, o.Name())
			}
		}
	}
	for _, kind := range []string{"ClusterTemplateChain", "ServiceTemplateChain", "ClusterDeployment", "Credential"} {
		for _, o := range r.Of(kind) {
			if o.Annotated(prune, "disabled") {
				t.Errorf("%s %s stays for ever", kind, o.Name())
			}
		}
	}
}

func checkToggles(t *testing.T, r *rendered) {
	for what, values := range map[string]any{
		"HelmRelease": r.Must("HelmRelease", "kcm").Get("spec", "values"),
		"Management":  r.Must("Management", "kcm").Get("spec", "core", "kcm", "config"),
	} {
		v := object{"values": values}
		for _, toggle := range []string{"createManagement", "createAccessManagement", "createRelease", "createTemplates"} {
			if v.Get("values", "controller", toggle) != false {
				t.Errorf("%s: controller.%s is not off", what, toggle)
			}
		}
		if v.Text("values", "controller", "logger", "encoder") != "json" {
			t.Errorf("%s: the specification's own values are lost", what)
		}
	}
	hr := r.Must("HelmRelease", "kcm")
	hr.Holds(t, "{kind: OCIRepository, name: kcm}", "spec", "chartRef")
	r.Must("OCIRepository", "kcm").Holds(t, "{tag: "+r.Of("Release")[0].Text("spec", "version")+"}", "spec", "ref")
	if !reflect.DeepEqual(hr.Get("spec", "values"), r.Must("Management", "kcm").Get("spec", "core", "kcm", "config")) {
		t.Error("the Management installs kcm with other values than the HelmRelease that it takes over")
	}
	if hr.Text("metadata", "namespace") != "kcm-system" || !hr.Annotated("kustomize.toolkit.fluxcd.io/ssa", "IfNotPresent") {
		t.Errorf("Management cannot take the HelmRelease over: %v", hr.Get("metadata"))
	}
}

// The encrypted Secrets are those that the credentials need; what is there is
// listed, and what is absent is named to the caller.
func TestSecretsAreListedWhenTheyAreThere(t *testing.T) {
	spec := example(t)
	keys := map[string][]string{}
	for _, f := range generators.SecretFiles(spec) {
		keys[f.Path] = append([]string{f.Secret.String(), f.Secret.Labels["k0rdent.mirantis.com/component"]}, f.Secret.DataKeys()...)
		for _, k := range f.Secret.Keys {
			keys[f.Path] = append(keys[f.Path], k.From.Env)
		}
	}
	dir := "k0rdent/credentials/kcm-system/"
	want := map[string][]string{
		dir + "aws-secret.sops.yaml":                            {"kcm-system/aws-secret", "kcm", "AccessKeyID", "SecretAccessKey", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"},
		dir + "azure-secret.sops.yaml":                          {"kcm-system/azure-secret", "kcm", "clientSecret", "AZURE_CLIENT_SECRET"},
		dir + "openstack.sops.yaml":                             {"kcm-system/openstack", "kcm", "clouds.yaml", "OPENSTACK_CLOUDS_YAML"},
		dir + "vsphere-secret.sops.yaml":                        {"kcm-system/vsphere-secret", "kcm", "username", "password", "VSPHERE_USERNAME", ""},
		dir + "warehouse.sops.yaml":                             {"kcm-system/warehouse", "kcm", "value", "WAREHOUSE_KUBECONFIG"},
		"k0rdent/kcm/kcm-system/cluster-baseline-git.sops.yaml": {"kcm-system/cluster-baseline-git", "", "username", "password", "BASELINE_GIT_USERNAME", "BASELINE_GIT_PASSWORD"},
	}
	if !reflect.DeepEqual(keys, want) {
		t.Errorf("got %v, want %v", keys, want)
	}
	none := render(t, spec).Files["k0rdent/credentials/kustomization.yaml"][0].List("resources")
	one := render(t, spec, dir+"aws-secret.sops.yaml").Files["k0rdent/credentials/kustomization.yaml"][0].List("resources")
	if slices.Contains(none, "kcm-system/aws-secret.sops.yaml") || !slices.Contains(one, "kcm-system/aws-secret.sops.yaml") || len(one) != len(none)+1 {
		t.Errorf("listed without: %v, with: %v", none, one)
	}
}

// A rule for every namespace has no targetNamespaces: kcm takes that for all of them.
func TestAccessForEveryNamespace(t *testing.T) {
	r := render(t, example(t, "        list: [team-red]", "        all: true"))
	if got := r.Must("AccessManagement", "kcm").Get("spec", "accessRules", 0, "targetNamespaces"); got != nil {
		t.Errorf("target namespaces: %v", got)
	}
}

// A Secret in a namespace of k0rdent's is applied by the step that makes the namespace, before
// what uses it, with the key of the cluster.
func TestSecretsInItsNamespaces(t *testing.T) {
	spec := example(t, "    - name: cluster-baseline-git\n", "    - {name: registry, namespace: team-red, keys: [{name: k, from: {env: K}}]}\n"+
		"    - {name: labelled, namespace: team-blue, scope: clusters, clusters: {names: [management]}, keys: [{name: k, from: {env: K}}]}\n    - name: cluster-baseline-git\n")
	files := map[string]string{
		"k0rdent/kcm/kcm-system/cluster-baseline-git.sops.yaml": "kcm",
		"k0rdent/access/team-red/registry.sops.yaml":            "access",
		"k0rdent/access/team-blue/labelled.sops.yaml":           "access",
	}
	r := render(t, spec, slices.Collect(maps.Keys(files))...)
	for file, step := range files {
		namespace := path.Base(path.Dir(file))
		k := r.Must("Kustomization", "k0rdent-"+step)
		if k.Text("spec", "path") != "./k0rdent/"+step || k.Text("spec", "decryption", "provider") != "sops" {
			t.Errorf("%s: %v", file, k.Get("spec"))
		}
		if list := r.Files["k0rdent/"+step+"/kustomization.yaml"][0].List("resources"); !slices.Contains(list, namespace+"/"+path.Base(file)) {
			t.Errorf("%s is not listed: %v", file, list)
		}
		made := false
		for _, name := range []string{"namespace.yaml", "namespaces.yaml"} {
			for _, o := range r.Files["k0rdent/"+step+"/"+name] {
				made = made || o.Name() == namespace
			}
		}
		if !made {
			t.Errorf("step %s does not make namespace %s", step, namespace)
		}
	}
	if !r.Before("kcm", "templates") || !r.Before("access", "clusters") {
		t.Error("what uses them does not wait for them")
	}
}

// The identity of an adopted cluster is the Secret with its kubeconfig.
func TestAdoptedCluster(t *testing.T) {
	r := render(t, example(t))
	c := r.Must("Credential", "warehouse")
	for field, want := range map[string]string{"apiVersion": "v1", "kind": "Secret", "name": "warehouse", "namespace": "kcm-system"} {
		if got := c.Text("spec", "identityRef", field); got != want {
			t.Errorf("%s of the identity is %q, want %q", field, got, want)
		}
	}
	if got := r.Must("ClusterDeployment", "warehouse"); got.Text("spec", "template") != "adopted-cluster-1-0-2" || got.Text("spec", "credential") != "warehouse" {
		t.Errorf("the cluster is %v", got.Get("spec"))
	}
}
