package kommander_test

import (
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/examples/platformtest"
)

// Releases of Kommander lay their definitions out differently.
func TestProfiles(t *testing.T) {
	for _, test := range []struct {
		version string
		changes []string
		// files of a definition, from the folder of the application.
		files []string
		// defaults and chart are the names of the ConfigMap and of the OCIRepository.
		folder, defaults, chart string
		// applied is the ConfigMap that the step of Gitea applies.
		applied string
	}{
		{"2.4.0", nil, []string{"metadata.yaml", "6.0.1/gitea.yaml", "6.0.1/kustomization.yaml", "6.0.1/defaults/cm.yaml", "6.0.1/defaults/kustomization.yaml"},
			"services", "gitea-6.0.1-d2iq-defaults", "gitea", "gitea-6.0.1-d2iq-defaults"},
		{"2.15.2", nil, []string{"metadata.yaml", "6.0.1/gitea.yaml", "6.0.1/kustomization.yaml", "6.0.1/defaults/cm.yaml", "6.0.1/defaults/kustomization.yaml"},
			"services", "gitea-6.0.1-d2iq-defaults", "gitea", "gitea-6.0.1-d2iq-defaults"},
		{"2.16.0", nil, []string{"6.0.1/metadata.yaml", "6.0.1/gitea.yaml", "6.0.1/kustomization.yaml", "6.0.1/defaults/cm.yaml", "6.0.1/defaults/kustomization.yaml"},
			"applications", "gitea-6.0.1-config-defaults", "gitea", "gitea-6.0.1-config-defaults"},
		{"2.17.0", nil, []string{"6.0.1/metadata.yaml", "6.0.1/kustomization.yaml", "6.0.1/helmrelease/gitea.yaml", "6.0.1/helmrelease/cm.yaml", "6.0.1/helmrelease/kustomization.yaml"},
			"applications", "${releaseName}-${appVersion}-config-defaults", "${releaseName}-${appVersion}-chart", "gitea-6.0.1-config-defaults"},
	} {
		t.Run(test.version, func(t *testing.T) {
			r := render(t, example(t, append(version(test.version), "url: https://dl.gitea.io/charts\n", "url: oci://registry.nimbus.example/charts/gitea\n")...))
			var got []string
			for _, file := range r.Tree.Paths() {
				if rest, found := strings.CutPrefix(file, test.folder+"/gitea/"); found {
					got = append(got, rest)
				}
			}
			if want := slices.Sorted(slices.Values(test.files)); !slices.Equal(got, want) {
				t.Errorf("files %v, want %v", got, want)
			}
			file := r.Files[path.Join(test.folder, "gitea", test.files[slices.IndexFunc(test.files, func(f string) bool { return strings.HasSuffix(f, "/gitea.yaml") })])]
			source, release := file[0], file[1]
			if source.Text("kind") != "OCIRepository" || source.Name() != test.chart || release.Text("spec", "chartRef", "name") != test.chart {
				t.Errorf("the chart is %s, used as %s", source.Name(), release.Text("spec", "chartRef", "name"))
			}
			if got := release.Text("spec", "valuesFrom", 0, "name"); got != test.defaults {
				t.Errorf("default values: %s", got)
			}
			r.must(t, "gitea", "ConfigMap", test.applied)
			r.must(t, "gitea", "HelmRelease", "gitea")
			if r.Files["common/helm-repositories/dl.gitea.io-charts.yaml"] != nil {
				t.Error("an OCI chart has a Helm repository")
			}
		})
	}
}

// In an air-gapped cluster the Helm repositories are the mirror, whose certificate authority
// is in an encrypted Secret.
func TestAirGapped(t *testing.T) {
	for _, test := range []struct{ version, field, key string }{{"2.4.0", "secretRef", "caFile"}, {"2.7.3", "secretRef", "caFile"}, {"2.8.0", "certSecretRef", "ca.crt"}} {
		t.Run(test.version, func(t *testing.T) {
			r := render(t, example(t, append(version(test.version), airGapped...)...))
			n := 0
			for _, o := range r.steps["flux-system/kommander-helm-repositories"] {
				if o.Text("kind") == "HelmRepository" {
					n++
					if o.Text("spec", "url") != "https://chartmuseum.kommander.svc:8080" || o.Text("spec", test.field, "name") != "tls-root-ca" {
						t.Errorf("%s: %v", o.Name(), o.Get("spec"))
					}
				}
			}
			if n < 8 {
				t.Errorf("only %d Helm repositories", n)
			}
			if got := r.must(t, "flux-configuration", "ConfigMap", "kommander-vars"); got.Text("data", "airgappedEnabled") != "true" || got.Text("data", "helmMirrorURL") == "" {
				t.Errorf("variables: %v", got)
			}
			// The mirror itself comes from elsewhere.
			if got := r.must(t, "chartmuseum", "HelmRepository", "chartmuseum"); got.Text("spec", "url") != "https://chartmuseum.github.io/charts" {
				t.Errorf("ChartMuseum comes from %v", got)
			}
			file := "kommander/helm-repositories/kommander-flux/tls-root-ca.sops.yaml"
			for _, d := range r.spec.Secrets() {
				if d.Name == "tls-root-ca" && (!slices.Equal(d.DataKeys(), []string{test.key}) || d.Namespace != "kommander-flux") {
					t.Errorf("%s has keys %v", d, d.DataKeys())
				}
			}
			if list := r.Files["kommander/helm-repositories/kustomization.yaml"][0].List("resources"); !slices.Contains(list, "kommander-flux/tls-root-ca.sops.yaml") || r.text(file) == "" {
				t.Errorf("listed: %v", list)
			}
		})
	}
}

// Parts that can be left out leave their steps out, and those behind wait for what there is.
func TestSmallestInstallation(t *testing.T) {
	spec := example(t, partsLeftOut(t)...)
	r := render(t, spec)
	var steps []string
	for _, o := range r.Files["clusters/management/kommander.yaml"] {
		if o.Text("kind") == "Kustomization" {
			steps = append(steps, strings.TrimPrefix(o.Name(), "kommander-"))
		}
	}
	want := []string{
		"base", "root-ca", "helm-repositories", "repository", "flux-configuration", "gatekeeper", "gatekeeper-templates", "gatekeeper-constraints",
		"app-management", "core-applications", "applications",
	}
	// These stay without anything to apply, so that the last of their objects goes, too.
	empty := []string{"catalogs", "groups", "workspaces", "workspace-content", "projects", "project-content"}
	if want := slices.Concat(want, empty); !slices.Equal(steps, want) {
		t.Errorf("steps %v, want %v", steps, want)
	}
	for i := 1; i < len(want); i++ {
		if !r.Before(want[i-1], want[i]) {
			t.Errorf("%s does not wait for %s", want[i], want[i-1])
		}
	}
	for _, step := range append(empty, "applications") {
		k := r.Must("Kustomization", "kommander-"+step)
		there := r.Files["kommander/"+step+"/kustomization.yaml"]
		if applied := r.steps["flux-system/kommander-"+step]; len(there) != 1 || len(applied) > 0 || k.Get("spec", "prune") != true {
			t.Errorf("%s of %v applies %v, and prunes: %v", step, there, applied, k.Get("spec", "prune"))
		}
	}
	if r.Files["bootstrap/management/helmfile.yaml"] != nil {
		t.Error("there is a bootstrap without anything to install")
	}
}

// partsLeftOut takes out of the example what an installation can do without.
func partsLeftOut(t *testing.T) []string {
	t.Helper()
	text := string(platformtest.Files(t, "kommander")[1].Content)
	cut := func(from, to string) string {
		i, j := strings.Index(text, from), strings.Index(text, to)
		if to == "" {
			j = len(text)
		}
		if i < 0 || j < i {
			t.Fatalf("the example has no %q before %q", from, to)
		}
		return text[i:j]
	}
	return []string{
		cut("  ingress:\n", "  variables:\n"), "",
		cut("  chartMuseum:\n", "  gatekeeper:\n"), "",
		cut("  # Beside those of the definitions' charts", ""), "",
		ownSecrets(t), "",
	}
}

// ownSecrets are the Secrets that the example declares beside those of the installation.
func ownSecrets(t *testing.T) string {
	t.Helper()
	_, secrets, found := strings.Cut(string(platformtest.Files(t, "kommander")[0].Content), "  secrets:\n")
	if !found {
		t.Fatal("the example declares no Secret")
	}
	return "  secrets:\n" + secrets
}

// A Secret in a namespace of Kommander's, of a workspace or a project is applied by the step that
// comes after the namespace, with what uses it, by the key of the cluster.
func TestSecretsInItsNamespaces(t *testing.T) {
	declare := func(name, namespace string) string {
		return "    - {name: " + name + ", namespace: " + namespace + ", keys: [{name: k, from: {env: K}}]}\n"
	}
	r := render(t, example(t, ownSecrets(t), "  secrets:\n"+declare("a", "kommander")+declare("b", "kommander-flux")+
		declare("c", "kommander-default-workspace")+declare("d", "retail")+declare("e", "checkout")+declare("f", "search")+declare("g", "cert-manager")))
	for file, step := range map[string]string{
		"kommander/a": "base", "kommander-flux/b": "base", "kommander-default-workspace/c": "workspace-content",
		"retail/d": "workspace-content", "checkout/e": "project-content", "search/f": "project-content",
	} {
		at := "kommander/" + step + "/" + file + ".sops.yaml"
		if k := r.Must("Kustomization", "kommander-"+step); r.text(at) == "" || k.Text("spec", "decryption", "provider") != "sops" {
			t.Errorf("%s is not there, or not decrypted: %v", at, k.Get("spec", "decryption"))
		}
		if list := r.Files["kommander/"+step+"/kustomization.yaml"][0].List("resources"); !slices.Contains(list, file+".sops.yaml") {
			t.Errorf("%s is not listed: %v", at, list)
		}
	}
	if at := "infrastructure/secrets/base/cert-manager/g.sops.yaml"; r.text(at) == "" {
		t.Errorf("%s, of an add-on's namespace, is not there", at)
	}
	if !r.Before("workspaces", "workspace-content") || !r.Before("projects", "project-content") {
		t.Error("the steps do not wait for their namespaces")
	}
}

// An application of a catalog is an App, which no definition of this repository says.
func TestApplicationOfACatalog(t *testing.T) {
	r := render(t, example(t, "        #- name: kafka-operator\n        #  kind: App\n        #  version: 0.20.0\n", "        - name: kafka-operator\n          kind: App\n          version: 0.20.0\n"))
	if got := r.must(t, "workspace-content", "AppDeployment", "kafka-operator").Get("spec", "appRef"); !reflect.DeepEqual(got, any(map[string]any{"kind": "App", "name": "kafka-operator-0.20.0"})) {
		t.Errorf("appRef: %v", got)
	}
}

// A binding names exactly one role: of the project, or of its workspace.
func TestBindingToARoleOfTheWorkspace(t *testing.T) {
	r := render(t, example(t, "projectRole: viewer # or workspaceRole: one that Kommander makes", "workspaceRole: project-view"))
	spec := r.must(t, "project-content", "VirtualGroupProjectRoleBinding", "checkout-viewers")
	if spec.Text("spec", "workspaceRoleRef", "name") != "project-view" || spec.Get("spec", "projectRoleRef") != nil {
		t.Errorf("%v", spec)
	}
}

// ChartMuseum without the bootstrap has a definition as any other.
func TestChartMuseumWithoutBootstrap(t *testing.T) {
	r := render(t, example(t, "    bootstrap: true\n", ""))
	hr := r.must(t, "chartmuseum", "HelmRelease", "chartmuseum")
	if hr.Get("spec", "values") != nil || hr.Text("spec", "chart", "spec", "sourceRef", "namespace") != "kommander-flux" || hr.Text("spec", "valuesFrom", 0, "name") != "chartmuseum-3.9.0-d2iq-defaults" {
		t.Errorf("%v", hr)
	}
	if r.Files["common/helm-repositories/chartmuseum.github.io-charts.yaml"] == nil {
		t.Error("its Helm repository is not there")
	}
}

// Where the ingress has a certificate of the cluster's own, the step waits for it.
func TestIngressWithoutACME(t *testing.T) {
	r := render(t, example(t, "    # A certificate of a public authority; without it, one of the cluster's own.\n    acme:\n      email: platform@nimbus.example\n", ""))
	if r.applied("ingress", "ClusterIssuer", "kommander-acme-issuer") != nil || r.must(t, "ingress", "Certificate", "kommander-ingress-tls").Text("spec", "issuerRef", "name") != "kommander-ca" {
		t.Error("the certificate is a public authority's")
	}
	if r.Must("Kustomization", "kommander-ingress").Get("spec", "wait") != true {
		t.Error("nothing waits for the certificate")
	}
}

// A namespace that an add-on has is made with the add-on alone.
func TestNamespaceOfAnAddon(t *testing.T) {
	r := render(t, example(t, "spec:\n  namespace: cert-manager\n", "spec:\n  namespace: kommander\n", "  rootCA:\n    namespace: cert-manager\n", "  rootCA:\n    namespace: kommander\n"))
	if r.applied("base", "Namespace", "kommander") != nil || r.applied("base", "Namespace", "kommander-flux") == nil {
		t.Errorf("base applies %v", r.steps["flux-system/kommander-base"])
	}
	if n := len(slices.DeleteFunc(r.Names("Namespace"), func(n string) bool { return n != "kommander" })); n != 1 {
		t.Errorf("the namespace kommander is made %d times", n)
	}
}

// In layout apps the steps stand elsewhere; Kommander's own folders stay where it looks for
// them.
func TestLayoutApps(t *testing.T) {
	r := render(t, example(t, apps...))
	for _, file := range []string{"kubernetes/flux/cluster/kommander.yaml", "kubernetes/kommander/base/namespaces.yaml", "services/reloader/1.0.5/reloader.yaml", "clusters/kommander_host-cluster/apps/kommander.yaml"} {
		if r.text(file) == "" {
			t.Errorf("there is no %s among %v", file, slices.Sorted(maps.Keys(r.Files)))
		}
	}
	if got := r.Must("Kustomization", "kommander-base"); got.Text("spec", "path") != "./kubernetes/kommander/base" || got.Text("spec", "dependsOn", 0, "name") != "cluster-apps" {
		t.Errorf("kommander-base: %v", got.Get("spec"))
	}
}
