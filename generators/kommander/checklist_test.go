package kommander_test

import (
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/examples/platformtest"
	"github.com/fleetwright/fleetwright/generators"
)

// What a management repository of Kommander must hold, line by line.
var checklist = []struct {
	line  string
	check func(*testing.T, *rendered)
}{
	{"order: namespaces, Flux, root CA, ChartMuseum, HelmRepositories, ingress, Gitea, bootstrap repository, Flux configuration, Gatekeeper, appmanagement, core, optional, catalogs", checkOrder},
	{"root CA: a self-signed ClusterIssuer, Certificate and ClusterIssuer kommander-ca; Gitea's certificate is of it", checkRootCA},
	{"ingress certificate and KommanderCluster, ACME ClusterIssuer", checkIngress},
	{"definitions: services/<app>/<version>/{<app>.yaml,kustomization.yaml,defaults/{cm,kustomization}.yaml}, services/<app>/metadata.yaml", checkDefinitions},
	{"ConfigMaps: <app>-<version>-d2iq-defaults, <app>-overrides optional", checkDefaults},
	{"common: HelmRepositories in kommander-flux with helmMirrorURL and interval; the air-gapped variant adds tls-root-ca", checkCommon},
	{"apps-kommander: path, 6h, 1m, prune, wait, substitute, source management", checkAppsKommander},
	{"workspaces/ and projects/: a folder each", checkFolders},
	{"variables: kommander-vars in kommander, through substituteFrom", checkVariables},
	{"apps also use substitution-vars: Kommander's own, which the repository neither writes nor waits for", checkSubstitutionVars},
	{"age: only the recipient is in Git; credentials in shared/kommander-git-repository/git-credentials.yaml", checkSecrets},
	{"AppDeployment: appRef, configOverrides, clusterSelector, clusterConfigOverrides", checkDeployments},
	{"AppDeployments never have the name of a Kustomization", checkNames},
	{"catalogs: GitRepositories with their labels, refs and secrets", checkCatalogs},
	{"Workspace, Project, ProjectRole, VirtualGroupProjectRoleBinding, GitopsRepository", checkProjects},
	{"Gatekeeper: service accounts of HelmReleases and Kustomizations in projects", checkGatekeeper},
	{"served API versions only; no patchesStrategicMerge", checkServed},
}

// extended are the lines of an example that has what the example only offers.
var extended = []struct {
	line    string
	changes []string
	check   func(*testing.T, *rendered)
}{
	{"Gatekeeper and Gitea are handed over from the installation to their AppDeployments", deployed, checkHandover},
	{"a user's own ingress certificate; Gitea's admin Secret in its values; the repository in Gitea", slices.Concat(ownCertificate, inGitea, []string{
		"          admin:\n            existingSecret: ${adminCredentialsSecret}\n", "",
	}), checkOwnCertificate},
}

func TestChecklist(t *testing.T) {
	for _, variant := range []struct {
		name    string
		changes []string
	}{{"fleet", nil}, {"apps", apps}} {
		r := render(t, example(t, variant.changes...))
		for _, c := range checklist {
			t.Run(variant.name+"/"+c.line, func(t *testing.T) {
				r.T = t
				c.check(t, r)
			})
		}
		for _, e := range extended {
			t.Run(variant.name+"/"+e.line, func(t *testing.T) {
				e.check(t, render(t, example(t, slices.Concat(variant.changes, e.changes)...)))
			})
		}
	}
}

func checkOrder(t *testing.T, r *rendered) {
	steps := []string{
		"base", "root-ca", "chartmuseum", "helm-repositories", "ingress", "gitea", "repository", "flux-configuration",
		"gatekeeper", "gatekeeper-templates", "gatekeeper-constraints", "app-management", "core-applications", "applications",
	}
	for i := 1; i < len(steps); i++ {
		if !r.Before(steps[i-1], steps[i]) {
			t.Errorf("%s does not wait for %s", steps[i], steps[i-1])
		}
	}
	for _, pair := range [][2]string{
		{"applications", "cluster"}, {"ingress", "cluster"}, {"applications", "catalogs"}, {"applications", "workspaces"},
		{"workspaces", "workspace-content"}, {"workspaces", "projects"}, {"projects", "project-content"},
		{"applications", "groups"}, {"groups", "project-content"},
	} {
		if !r.Before(pair[0], pair[1]) {
			t.Errorf("%s does not wait for %s", pair[1], pair[0])
		}
	}
	for _, o := range []struct{ step, kind, name string }{
		{"base", "Namespace", "kommander"}, {"base", "Namespace", "kommander-flux"},
		{"root-ca", "ClusterIssuer", "selfsigned-issuer"}, {"root-ca", "Certificate", "kommander-ca"}, {"root-ca", "ClusterIssuer", "kommander-ca"},
		{"chartmuseum", "HelmRelease", "chartmuseum"}, {"helm-repositories", "HelmRepository", "dl.gitea.io-charts"},
		{"ingress", "Certificate", "kommander-ingress-tls"}, {"ingress", "ClusterIssuer", "kommander-acme-issuer"},
		{"cluster", "KommanderCluster", "host-cluster"}, {"gitea", "HelmRelease", "gitea"}, {"gitea", "Certificate", "git-tls"},
		{"repository", "Kustomization", "apps-kommander"}, {"flux-configuration", "ConfigMap", "kommander-vars"},
		{"flux-configuration", "GitRepository", "management"}, {"gatekeeper", "HelmRelease", "gatekeeper"},
		{"app-management", "HelmRelease", "kommander-appmanagement"}, {"core-applications", "AppDeployment", "kommander-flux"},
		{"core-applications", "AppDeployment", "kommander-appmanagement"}, {"core-applications", "AppDeployment", "chartmuseum"},
		{"applications", "AppDeployment", "kommander"}, {"catalogs", "GitRepository", "dkp-catalog-applications"},
	} {
		r.must(t, o.step, o.kind, o.name)
	}
	// Flux stands in Git as manifests, which the cluster has before any step.
	if r.Files[path.Dir(r.file("kommander-base"))+"/flux-system/gotk-components.yaml"] == nil {
		t.Error("Flux's manifests are not in Git")
	}
	for _, name := range []string{"base", "root-ca", "chartmuseum", "helm-repositories", "gitea", "gatekeeper", "gatekeeper-templates", "app-management", "workspaces", "projects"} {
		if r.Must("Kustomization", "kommander-"+name).Get("spec", "wait") != true {
			t.Errorf("nothing waits until %s is healthy", name)
		}
	}
	checkWaits(t, r)
}

// file is the path of the file with a Kustomization.
func (r *rendered) file(kustomization string) string { return r.File("Kustomization", kustomization) }

func checkWaits(t *testing.T, r *rendered) {
	for name, want := range map[string][]string{
		"ingress":            {"ClusterIssuer /kommander-acme-issuer"},
		"flux-configuration": {"GitRepository kommander-flux/management", "Kustomization kommander/apps-kommander"},
		"applications": {
			"CustomResourceDefinition /kommanderclusters.kommander.mesosphere.io", "CustomResourceDefinition /virtualgroups.kommander.mesosphere.io",
			"CustomResourceDefinition /workspaces.workspaces.kommander.mesosphere.io",
			"CustomResourceDefinition /projects.workspaces.kommander.mesosphere.io",
		},
	} {
		if got := platformtest.Waited(r.Must("Kustomization", "kommander-"+name)); !slices.Equal(got, want) {
			t.Errorf("%s waits for %v, want %v", name, got, want)
		}
	}
	platformtest.Healthy(t, r.Must("Kustomization", "kommander-gatekeeper-templates"), "ConstraintTemplate", []string{"{created: true}"}, []string{"{}", "{created: false}"})
	for name, kind := range map[string]string{"workspaces": "Workspace", "projects": "Project"} {
		platformtest.Healthy(t, r.Must("Kustomization", "kommander-"+name), kind, []string{"{namespaceRef: {name: retail}}"}, []string{"{}", "{namespaceRef: {}}"})
	}
	// It is ready only with the GitRepository of the next step.
	if r.Must("Kustomization", "kommander-repository").Get("spec", "wait") != nil {
		t.Error("the step of apps-kommander waits for what comes after it")
	}
}

func checkDefinitions(t *testing.T, r *rendered) {
	for _, app := range []string{"chartmuseum/3.9.0", "gitea/6.0.1", "reloader/0.0.121", "reloader/1.0.5", "kommander/0.4.0"} {
		dir, name := "services/"+app, path.Dir(app)
		for _, file := range []string{name + ".yaml", "kustomization.yaml", "defaults/cm.yaml", "defaults/kustomization.yaml", "../metadata.yaml"} {
			if r.text(path.Join(dir, file)) == "" {
				t.Errorf("there is no %s", path.Join(dir, file))
			}
		}
		hr := r.Files[path.Join(dir, name+".yaml")][0]
		if hr.Text("kind") != "HelmRelease" || hr.Name() != name {
			t.Errorf("%s: %v", app, hr)
		}
	}
	if got := r.Files["services/reloader/1.0.5/reloader.yaml"][0].Get("spec", "chart", "spec"); !reflect.DeepEqual(got, object{
		"chart": "reloader", "version": "v1.0.5",
		"sourceRef": object{"kind": "HelmRepository", "name": "stakater.github.io-stakater-charts", "namespace": "kommander-flux"},
	}) {
		t.Errorf("chart: %v", got)
	}
	// Metadata is the newest version's: that of 0.0.121 has no description.
	if text := r.text("services/reloader/metadata.yaml"); !strings.Contains(text, "description: Restarts") || !strings.Contains(text, "- project") {
		t.Errorf("metadata: %s", text)
	}
	flux := r.Files["services/kommander-flux/2.9.4/kustomization.yaml"][0]
	if flux.Text("namespace") != "kommander-flux" || len(flux.List("resources")) != 1 || !strings.HasSuffix(flux.List("resources")[0], "/flux-system") {
		t.Errorf("Flux: %v", flux)
	}
}

func checkDefaults(t *testing.T, r *rendered) {
	hr := r.Files["services/reloader/0.0.121/reloader.yaml"][0]
	want := []any{
		object{"kind": "ConfigMap", "name": "reloader-0.0.121-d2iq-defaults"},
		object{"kind": "ConfigMap", "name": "reloader-overrides", "optional": true},
	}
	if got := hr.Get("spec", "valuesFrom"); !reflect.DeepEqual(got, want) {
		t.Errorf("valuesFrom: %v", got)
	}
	cm := r.Files["services/reloader/0.0.121/defaults/cm.yaml"][0]
	if cm.Name() != "reloader-0.0.121-d2iq-defaults" || cm.Text("data", "values.yaml") != "reloader:\n  logFormat: json\n" {
		t.Errorf("defaults: %v", cm)
	}
	if hr.Text("metadata", "namespace") != "${releaseNamespace}" || cm.Text("metadata", "namespace") != "${releaseNamespace}" {
		t.Error("the definition says where it goes")
	}
	if got := r.must(t, "gitea", "HelmRelease", "gitea").Text("metadata", "namespace"); got != "kommander" {
		t.Errorf("Gitea goes to %s", got)
	}
	if got := r.must(t, "gitea", "ConfigMap", "gitea-6.0.1-d2iq-defaults").Text("data", "values.yaml"); !strings.Contains(got, "existingSecret: gitea-admin-credentials") {
		t.Errorf("variables in values: %s", got)
	}
}

func checkCommon(t *testing.T, r *rendered) {
	for _, o := range r.Of("HelmRepository") {
		file := r.File("HelmRepository", o.Name())
		if !strings.HasPrefix(file, "common/helm-repositories/") {
			continue // the mirror's own source
		}
		if o.Text("metadata", "namespace") != "kommander-flux" || !regexp.MustCompile(`^\$\{helmMirrorURL:=https://[^}]+\}$`).MatchString(o.Text("spec", "url")) {
			t.Errorf("%s: %v", file, o)
		}
	}
	for name, url := range map[string]string{
		"dl.gitea.io-charts": "https://dl.gitea.io/charts",
		"mesosphere.github.io-kommander-auditing-pipeline-charts": "https://mesosphere.github.io/kommander-auditing-pipeline/charts",
	} {
		r.must(t, "helm-repositories", "HelmRepository", name).Holds(t, "{url: '"+url+"', interval: 10m0s}", "spec")
	}
	if patch := r.Files["common/airgapped/patch-add-secret-ref.yaml"][0]; patch.Text("spec", "secretRef", "name") != "tls-root-ca" {
		t.Errorf("the air-gapped variant: %v", patch)
	}
	for dir, want := range map[string]string{"common/base": "../helm-repositories", "common/airgapped": "../helm-repositories", "clusters/kommander_host-cluster/common": "../../../common/base"} {
		if got := r.Files[dir+"/kustomization.yaml"][0].List("resources"); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %v", dir, got)
		}
	}
}

func checkAppsKommander(t *testing.T, r *rendered) {
	k := r.must(t, "repository", "Kustomization", "apps-kommander")
	want := `interval: 6h0m0s
path: ./clusters/kommander_host-cluster/apps/kommander
postBuild:
    substitute:
        releaseNamespace: kommander
        workspaceNamespace: kommander
prune: true
retryInterval: 1m0s
sourceRef:
    kind: GitRepository
    name: management
    namespace: kommander-flux
timeout: 1m0s
wait: true
`
	got, err := yaml.Marshal(k.Get("spec"))
	if err != nil || string(got) != want || k.Text("metadata", "namespace") != "kommander" {
		t.Errorf("apps-kommander is\n%s%v", got, err)
	}
	if _, built := r.steps["kommander/apps-kommander"]; built {
		t.Error("what Kommander's controllers write is not empty")
	}
	if f, _ := r.Tree.Get("clusters/kommander_host-cluster/apps/kommander/kustomization.yaml"); f.Mode != "once" {
		t.Errorf("what Kommander's controllers write has mode %q", f.Mode)
	}
}

func checkFolders(t *testing.T, r *rendered) {
	for kind, file := range map[string]string{"Workspace": "workspaces/retail/workspace.yaml", "Project": "projects/checkout/project.yaml"} {
		if o := r.Files[file]; len(o) != 1 || o[0].Text("kind") != kind {
			t.Errorf("%s: %v", file, o)
		}
	}
	for _, file := range []string{"workspaces/retail/content/applications/reloader.yaml", "workspaces/default-workspace/content/applications/reloader.yaml", "projects/search/content/sources/search.yaml"} {
		if r.Files[file] == nil {
			t.Errorf("there is no %s", file)
		}
	}
	if r.Files["workspaces/default-workspace/workspace.yaml"] != nil {
		t.Error("Kommander makes its default workspace itself")
	}
}

// checkSubstitutionVars: the Kustomizations of what Kommander installs read the ConfigMap that
// Kommander makes for them. What the repository applies before Kommander is there can't.
func checkSubstitutionVars(t *testing.T, r *rendered) {
	const name = "substitution-vars"
	if slices.Contains(r.Names("ConfigMap"), name) {
		t.Errorf("the repository writes %s, which Kommander writes", name)
	}
	for _, k := range r.Of("Kustomization") {
		if from := k.Text("spec", "postBuild", "substituteFrom", 0, "name"); from == name {
			t.Errorf("%s waits for %s, which Kommander makes later", k.Name(), name)
		}
	}
	if len(r.Of("Kustomization")) == 0 {
		t.Error("there are no Kustomizations")
	}
}

func checkVariables(t *testing.T, r *rendered) {
	cm := r.must(t, "flux-configuration", "ConfigMap", "kommander-vars")
	if cm.Text("metadata", "namespace") != "kommander" {
		t.Errorf("kommander-vars: %v", cm.Get("metadata"))
	}
	for name, want := range map[string]string{
		"airgappedEnabled": "false", "kommanderFluxNamespace": "kommander-flux", "kommanderGitCredentialsSecretName": "kommander-git-credentials",
		"ageEncryptionSecretName": "sops-age", "ageEncryptionSecretKey": "age.agekey", "certificatesIssuerName": "kommander-ca",
		"caSecretNamespace": "cert-manager", "kommanderChartVersion": "v2.4.0", "kommanderAppManagementReplicas": "2",
	} {
		if got := cm.Text("data", name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, step := range []string{"chartmuseum", "helm-repositories", "gitea", "gatekeeper", "app-management"} {
		k := r.Must("Kustomization", "kommander-"+step)
		if got := k.Text("spec", "postBuild", "substituteFrom", 0, "name"); got != "kommander-vars" {
			t.Errorf("%s takes its variables from %q", step, got)
		}
	}
	// What the steps read stands beside them, with the same values.
	for _, o := range r.Files[r.file("kommander-base")] {
		if o.Text("kind") == "ConfigMap" && (o.Text("metadata", "namespace") != "flux-system" || !reflect.DeepEqual(o.Get("data"), plain(cm.Get("data")))) {
			t.Errorf("the steps' variables: %v", o)
		}
	}
	if got := r.must(t, "app-management", "ConfigMap", "kommander-appmanagement-0.4.0-d2iq-defaults").Text("data", "values.yaml"); strings.Contains(got, "$") || !strings.Contains(got, "replicas: 2") {
		t.Errorf("variables in values: %s", got)
	}
}

// plain is a map as it is decoded from a file.
func plain(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := object{}
	for key, value := range m {
		out[key] = plain(value)
	}
	return out
}

func checkSecrets(t *testing.T, r *rendered) {
	got := map[string][]string{}
	for _, f := range generators.SecretFiles(r.spec) {
		got[f.Path] = append([]string{f.Secret.String()}, f.Secret.DataKeys()...)
		for _, k := range f.Secret.Keys {
			got[f.Path] = append(got[f.Path], k.From.Env)
		}
	}
	want := map[string][]string{
		"shared/kommander-git-repository/git-credentials.yaml":                                                                    {"kommander-flux/kommander-git-credentials", "username", "password", "KOMMANDER_GIT_USERNAME", "KOMMANDER_GIT_PASSWORD"},
		r.Must("Kustomization", "kommander-gitea").Text("spec", "path")[2:] + "/kommander/gitea-admin-credentials.sops.yaml":      {"kommander/gitea-admin-credentials", "username", "password", "GITEA_ADMIN_USERNAME", "GITEA_ADMIN_PASSWORD"},
		r.Must("Kustomization", "kommander-workspace-content").Text("spec", "path")[2:] + "/retail/retail-applications.sops.yaml": {"retail/retail-applications", "username", "password", "RETAIL_GIT_USERNAME", "RETAIL_GIT_PASSWORD"},
		r.Must("Kustomization", "kommander-project-content").Text("spec", "path")[2:] + "/checkout/checkout-git.sops.yaml":        {"checkout/checkout-git", "username", "password", "CHECKOUT_GIT_USERNAME", "CHECKOUT_GIT_PASSWORD"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	r.Must("GitRepository", "management").Holds(t, `
url: https://git.nimbus.example/platform/kommander.git
ref: {branch: main}
secretRef: {name: kommander-git-credentials}
interval: 1m0s`, "spec")
	var config struct {
		Rules []struct {
			Path  string `yaml:"path_regex"`
			Regex string `yaml:"encrypted_regex"`
			Age   string `yaml:"age"`
		} `yaml:"creation_rules"`
	}
	if err := yaml.Unmarshal([]byte(r.text(".sops.yaml")), &config); err != nil {
		t.Fatal(err)
	}
	for file := range got {
		matches := 0
		for _, rule := range config.Rules {
			if regexp.MustCompile(rule.Path).MatchString(file) {
				matches++
				if rule.Regex != "^(data|stringData)$" || strings.Count(rule.Age, "age1") != 2 {
					t.Errorf("%s: %+v", file, rule)
				}
			}
		}
		if matches != 1 {
			t.Errorf("%d rules of .sops.yaml are for %s", matches, file)
		}
	}
	// Without their files no kustomization names them, and nothing is rendered in plaintext.
	none := platformtest.Render(t, "kommander", r.spec)
	for file, objects := range none.Files {
		for _, o := range objects {
			if o.Text("kind") == "Secret" || slices.ContainsFunc(o.List("resources"), func(s string) bool { return strings.Contains(s, "credentials") }) {
				t.Errorf("%s: %v", file, o)
			}
		}
	}
}

func checkDeployments(t *testing.T, r *rendered) {
	o := r.must(t, "workspace-content", "AppDeployment", "kube-prometheus-stack")
	host := func(names ...any) map[string]any {
		return map[string]any{"matchExpressions": []any{map[string]any{"key": "kommander.d2iq.io/cluster-name", "operator": "In", "values": names}}}
	}
	want := map[string]any{
		"appRef":          map[string]any{"kind": "ClusterApp", "name": "kube-prometheus-stack-40.0.0"},
		"configOverrides": map[string]any{"name": "kube-prometheus-stack-overrides"},
		"clusterSelector": host("retail-production", "retail-staging"),
		"clusterConfigOverrides": []any{map[string]any{
			"clusterSelector": host("retail-staging"), "configMapName": "kube-prometheus-stack-staging-overrides",
		}},
	}
	if got := o.Get("spec"); o.Text("apiVersion") != "apps.kommander.d2iq.io/v1alpha3" || o.Text("metadata", "namespace") != "retail" || !reflect.DeepEqual(got, any(want)) {
		t.Errorf("got %v, want %v", got, want)
	}
	for name, want := range map[string]string{
		"kube-prometheus-stack-overrides":         "grafana:\n  defaultDashboardsTimezone: Europe/Berlin\n",
		"kube-prometheus-stack-staging-overrides": "prometheus:\n  prometheusSpec:\n    retention: 2d\n",
	} {
		if cm := r.must(t, "workspace-content", "ConfigMap", name); cm.Text("data", "values.yaml") != want || cm.Text("metadata", "namespace") != "retail" {
			t.Errorf("%s: %v", name, cm)
		}
	}
	// The core ones: Flux everywhere but where the Fleet's is.
	flux := r.must(t, "core-applications", "AppDeployment", "kommander-flux")
	if flux.Text("metadata", "namespace") != "kommander" || flux.Text("spec", "appRef", "name") != "kommander-flux-2.9.4" ||
		flux.Text("spec", "clusterSelector", "matchExpressions", 0, "operator") != "NotIn" || !slices.Equal(flux.List("spec", "clusterSelector", "matchExpressions", 0, "values"), []string{"host-cluster"}) {
		t.Errorf("Flux: %v", flux)
	}
	if got := r.must(t, "workspace-content", "AppDeployment", "kommander-flux").Get("spec", "clusterSelector"); got != nil {
		t.Errorf("Flux of a workspace: %v", got)
	}
	for name, app := range map[string]string{"kommander-appmanagement": "kommander-appmanagement-0.4.0", "chartmuseum": "chartmuseum-3.9.0"} {
		if got := r.must(t, "core-applications", "AppDeployment", name).Text("spec", "appRef", "name"); got != app {
			t.Errorf("%s has %s", name, got)
		}
	}
	for _, step := range []string{"chartmuseum", "app-management"} { // Kommander takes them over
		for _, o := range r.steps["flux-system/kommander-"+step] {
			if !o.Annotated(platformtest.SSA, "IfNotPresent") || !o.Annotated(platformtest.Prune, "disabled") {
				t.Errorf("Kommander can't take %s %s over", o.Text("kind"), o.Name())
			}
		}
	}
}

func checkNames(t *testing.T, r *rendered) {
	taken := r.Names("Kustomization")
	for _, o := range r.Of("AppDeployment") {
		if slices.Contains(taken, o.Name()) {
			t.Errorf("an AppDeployment is named as the Kustomization %s", o.Name())
		}
	}
}

func checkCatalogs(t *testing.T, r *rendered) {
	for _, c := range []struct {
		step, name, namespace string
		labels                map[string]any
		spec                  string
	}{
		{"catalogs", "dkp-catalog-applications", "kommander", map[string]any{
			"kommander.d2iq.io/gitapps-gitrepository-type": "dkp", "kommander.d2iq.io/gitrepository-type": "catalog",
			"kommander.d2iq.io/workspace-default-catalog-repository": "true", "kommander.d2iq.io/project-default-catalog-repository": "true",
		}, "{url: https://github.com/mesosphere/dkp-catalog-applications, ref: {tag: v2.4.0}, interval: 10m0s}"},
		{"workspace-content", "retail-applications", "retail", map[string]any{
			"kommander.d2iq.io/gitapps-gitrepository-type": "catalog", "kommander.d2iq.io/gitrepository-type": "catalog",
		}, "{url: https://git.nimbus.example/retail/applications.git, ref: {branch: main}, secretRef: {name: retail-applications}, interval: 10m0s}"},
	} {
		o := r.must(t, c.step, "GitRepository", c.name)
		o.Holds(t, c.spec, "spec")
		if o.Text("metadata", "namespace") != c.namespace || !reflect.DeepEqual(o.Get("metadata", "labels"), any(c.labels)) {
			t.Errorf("%s: %v", c.name, o.Get("metadata"))
		}
	}
}

func checkProjects(t *testing.T, r *rendered) {
	for _, o := range []struct{ step, kind, name, namespace, spec string }{
		{"workspaces", "Workspace", "retail", "", "{clusterLabels: {nimbus.example/team: retail}, namespaceName: retail}"},
		{"groups", "VirtualGroup", "checkout-team", "", "{subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: 'oidc:checkout'}]}"},
		{"workspace-content", "KommanderCluster", "retail-staging", "retail", "{kubeconfigRef: {name: retail-staging-kubeconfig}}"},
		{"projects", "Project", "checkout", "retail", "{namespaceName: checkout, placement: {clusterSelector: {matchLabels: {environment: production}}}, workspaceRef: {name: retail}}"},
		{"projects", "Project", "search", "retail", "{namespaceName: search, placement: {clusters: [{name: retail-production}, {name: retail-staging}]}, workspaceRef: {name: retail}}"},
		{"project-content", "ProjectRole", "deployer", "checkout", "{rules: [{apiGroups: [apps], resources: [deployments], verbs: [get, list, watch, patch]}]}"},
		{"project-content", "VirtualGroupProjectRoleBinding", "checkout-deployers", "checkout", "{projectRoleRef: {name: deployer}, virtualGroupRef: {name: checkout-team}}"},
		{"project-content", "VirtualGroupProjectRoleBinding", "checkout-viewers", "checkout", "{projectRoleRef: {name: viewer}, virtualGroupRef: {name: retail-team}}"},
		{"project-content", "GitopsRepository", "checkout", "checkout", "{cloneUrl: https://git.nimbus.example/retail/checkout.git, secret: checkout-git, template: {path: deploy, ref: {branch: main}}}"},
		{"project-content", "GitopsRepository", "search", "search", "{cloneUrl: https://git.nimbus.example/retail/search.git, template: {ref: {branch: main}}}"},
		{"project-content", "AppDeployment", "reloader-checkout", "checkout", "{appRef: {kind: ClusterApp, name: reloader-1.0.5}}"},
		{"cluster", "KommanderCluster", "host-cluster", "kommander", "{ingress: {hostname: kommander.nimbus.example, certificateSecretRef: {name: kommander-ingress-tls}}}"},
	} {
		var want map[string]any
		if err := yaml.Unmarshal([]byte(o.spec), &want); err != nil {
			t.Fatal(err)
		}
		got := r.must(t, o.step, o.kind, o.name)
		if got.Text("metadata", "namespace") != o.namespace || !reflect.DeepEqual(got.Get("spec"), any(want)) {
			t.Errorf("%s %s: %v, want %v in %q", o.kind, o.name, got, want, o.namespace)
		}
	}
	// Projects select clusters by these labels.
	for name, environment := range map[string]string{"retail-production": "production", "retail-staging": "staging"} {
		r.must(t, "workspace-content", "KommanderCluster", name).Holds(t, "{environment: "+environment+"}", "metadata", "labels")
	}
	for _, kind := range []string{"Workspace", "Project", "ProjectRole", "VirtualGroupProjectRoleBinding"} {
		for _, o := range r.Of(kind) {
			if o.Text("apiVersion") != "workspaces.kommander.mesosphere.io/v1alpha1" {
				t.Errorf("%s %s has apiVersion %s", kind, o.Name(), o.Text("apiVersion"))
			}
		}
	}
	if got := r.Must("GitopsRepository", "search").Text("apiVersion"); got != "dispatch.d2iq.io/v1alpha2" {
		t.Errorf("GitopsRepository has apiVersion %s", got)
	}
}

func checkGatekeeper(t *testing.T, r *rendered) {
	for name, kind := range map[string][2]string{
		"helmrelease-must-have-sa":   {"helm.toolkit.fluxcd.io", "HelmRelease"},
		"kustomization-must-have-sa": {"kustomize.toolkit.fluxcd.io", "Kustomization"},
	} {
		o := r.must(t, "gatekeeper-constraints", "RequiredServiceAccountName", name)
		if !slices.Equal(o.List("spec", "match", "kinds", 0, "apiGroups"), []string{kind[0]}) || !slices.Equal(o.List("spec", "match", "kinds", 0, "kinds"), []string{kind[1]}) ||
			o.Text("spec", "match", "namespaceSelector", "matchLabels", "kommander.d2iq.io/managed-by-kind") != "Project" {
			t.Errorf("%s: %v", name, o.Get("spec"))
		}
	}
	template := r.must(t, "gatekeeper-templates", "ConstraintTemplate", "requiredserviceaccountname")
	// A violation where the condition holds: no service account, or one without a name.
	template.Holds(t, `
crd: {spec: {names: {kind: RequiredServiceAccountName}}}
targets:
- target: admission.k8s.gatekeeper.sh
  rego: |
    package requiredserviceaccountname

    violation[{"msg": msg}] {
      object.get(input.review.object.spec, "serviceAccountName", "") == ""
      msg := sprintf("%s %s has no serviceAccountName", [input.review.kind.kind, input.review.object.metadata.name])
    }
`, "spec")
}

func checkServed(t *testing.T, r *rendered) {
	old := regexp.MustCompile(`(kustomize|helm|source)\.toolkit\.fluxcd\.io/v[0-9]+beta|patchesStrategicMerge|patchesJson6902`)
	for f := range r.Tree.All() {
		if found := old.Find(f.Content); found != nil {
			t.Errorf("%s has %s", f.Path, found)
		}
	}
}
