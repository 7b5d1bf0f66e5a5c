package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// A build is a folder of a tenant's repository that kustomize-controller builds and applies as
// the tenant's account. It also contains an innocent ConfigMap, which exists
// only if Flux applies the folder. REMOTE is a host of the tenant, STORAGE the address
// at which source-controller serves artifacts.
type build struct {
	line, what    string
	kustomization string            // more of kustomization.yaml
	files         map[string]string // files beside it
	spec          string            // more of the Kustomization's spec
	refused       string            // the Kustomization's message; empty if it becomes ready
}

var builds = []build{
	{"S16", "a remote base", `resources: ["REMOTE/base.git?ref=main"]`, nil, "", "fs-security-constraint"},
	{"S16", "a remote component", `components: ["REMOTE/base.git?ref=main"]`, nil, "", "fs-security-constraint"},
	{"S19", "a file of the controller's", `resources: [../../../../../../../../etc/hosts]`, nil, "", "fs-security-constraint"},
	{"S19", "an absolute file of the controller's", `configMapGenerator: [{name: stolen, files: [/proc/self/environ]}]`, nil, "", "fs-security-constraint"},
	{"S19", "a link to the controller's files", `configMapGenerator: [{name: stolen, files: [link]}]`,
		map[string]string{"link": harness.LinkTo + "/proc/self/environ"}, "", "link"},
	{"S19", "a program", `generators: [program.yaml]`,
		map[string]string{"program.yaml": `{apiVersion: example.com/v1, kind: Program, metadata: {name: web, annotations: {config.kubernetes.io/function: "exec: {path: /bin/true}"}}}`},
		"", "Program"},
	{"S19", "a chart of kustomize's", `helmCharts: [{name: web, repo: "REMOTE", version: 1.0.0}]`, nil, "", "helm"},
	{"R17", "an object of the platform's namespace", `resources: [more.yaml]`, map[string]string{"more.yaml": configMap("flux-system")}, "", `cannot patch resource "configmaps"`},
	{"R17", "the same in a list", `resources: [more.yaml]`,
		map[string]string{"more.yaml": `{apiVersion: v1, kind: List, items: [` + configMap("flux-system") + `]}`}, "", `cannot patch resource "configmaps"`},
	{"R17", "everything in the platform's namespace", "", nil, `targetNamespace: flux-system`, `cannot patch resource "configmaps"`},
	{"A13", "a ClusterRole in a list", `resources: [more.yaml]`,
		map[string]string{"more.yaml": `{apiVersion: v1, kind: List, items: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: trial}, rules: []}]}`},
		"", `cannot patch resource "clusterroles"`},
	{"R19", "the health of the platform's objects", "", nil,
		`wait: false, timeout: 3s, healthChecks: [{apiVersion: apps/v1, kind: Deployment, name: source-controller, namespace: flux-system}]`, "forbidden"},
	{"Z16", "a key server that the repository names", `resources: [more.yaml]`, map[string]string{"more.yaml": vaulted}, "", "Failed to get the data key"},
	{"Z13", "a remote file", `resources: ["REMOTE/file.yaml"]`, nil, "", ""},
	{"Z13", "a remote file in a ConfigMap", `configMapGenerator: [{name: fetched, files: ["any=REMOTE/file.yaml"]}]`, nil, "", ""},
	{"Z13", "the list of all artifacts", `configMapGenerator: [{name: listed, files: ["any=STORAGE/gitrepository/flux-system/flux-system/"]}]`, nil, "", ""},
}

// vaulted is a Secret that names a key server as the owner of its key.
const vaulted = `
apiVersion: v1
kind: Secret
metadata: {name: vaulted, namespace: HERE}
stringData: {a: "ENC[AES256_GCM,data:YQ==,iv:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,tag:AAAAAAAAAAAAAAAAAAAAAA==,type:str]"}
sops:
  hc_vault: [{vault_address: "REMOTE", engine_path: sops, key_name: a, created_at: "2026-01-01T00:00:00Z", enc: "vault:v1:a"}]
  lastmodified: "2026-01-01T00:00:00Z"
  mac: "ENC[AES256_GCM,data:YQ==,iv:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,tag:AAAAAAAAAAAAAAAAAAAAAA==,type:str]"
  version: 3.9.0
`

// folders lets each tenant commit the folders, and compares what Flux reports and applies with what
// it should.
func (s *site) folders(t *testing.T, tenants []*tenant) {
	remote := harness.StartRemote(t, map[string]string{
		"file.yaml":          "{apiVersion: v1, kind: ConfigMap, metadata: {name: remote-file, namespace: default}}",
		"base.yaml":          "{apiVersion: v1, kind: ConfigMap, metadata: {name: remote-base}}",
		"kustomization.yaml": "resources: [base.yaml]",
	})
	for _, tenant := range tenants {
		s.commitBuilds(t, tenant, tenants, remote)
	}
	for _, tenant := range tenants {
		t.Run(tenant.name, func(t *testing.T) { s.wantBuilds(t, tenant) })
		for i := range builds {
			must(t, s.flux.Any.Resource(harness.Kustomizations).Namespace(tenant.sync).Delete(t.Context(), buildName(i), metav1.DeleteOptions{}))
		}
		s.publish(t, tenant, nil, nil)
		s.fetch(tenant)
	}
	s.flux.Ready(patience)
	// --no-remote-bases keeps these from being applied, but they are fetched nevertheless.
	want := []string{"GET /base.git", "GET /base.git/info/refs", "GET /file.yaml", "POST /base.git/git-upload-pack", "PUT /v1/sops/decrypt/a"}
	if asked := remote.Asked(); !slices.Equal(asked, want) {
		t.Errorf("kustomize-controller asks a remote host for %q, want %q as docs/cluster.md says", asked, want)
	}
}

func buildName(i int) string { return fmt.Sprintf("build-%d", i) }

// commitBuilds commits the folders to the tenant's repository, and makes Flux apply each.
func (s *site) commitBuilds(t *testing.T, tenant *tenant, all []*tenant, remote *harness.Remote) {
	t.Helper()
	names, urls := s.names(tenant, all), strings.NewReplacer("REMOTE", remote.URL, "STORAGE", "http://"+s.flux.Storage)
	files := map[string]string{}
	for i, b := range builds {
		folder := "builds/" + buildName(i) + "/"
		kustomization := b.kustomization
		if !strings.Contains(kustomization, "resources: [") {
			kustomization += "\nresources: [innocent.yaml]"
		}
		kustomization = strings.Replace(kustomization, "resources: [", "resources: [innocent.yaml, ", 1)
		kustomization = strings.Replace(kustomization, "innocent.yaml, innocent.yaml", "innocent.yaml", 1)
		files[folder+"kustomization.yaml"] = urls.Replace(kustomization) + "\ngeneratorOptions: {disableNameSuffixHash: true}\n"
		files[folder+"innocent.yaml"] = innocent(tenant, buildName(i))
		if strings.Contains(b.kustomization, "Generator") || strings.Contains(b.kustomization, "file.yaml") {
			files[folder+"kustomization.yaml"] += "namespace: " + tenant.namespaces[0] + "\n"
		}
		for name, content := range b.files {
			text, _ := names.replace(urls.Replace(content))
			files[folder+name] = text
		}
	}
	s.publish(t, tenant, nil, files)
	s.fetch(tenant)
	for i, b := range builds {
		more := map[string]any{}
		if b.spec != "" {
			must(t, yaml.Unmarshal([]byte("{"+b.spec+"}"), &more))
		}
		s.kustomization(t, tenant, tenant.sync, buildName(i), func(spec map[string]any) {
			spec["path"], spec["deletionPolicy"] = "./builds/"+buildName(i), "Delete" // without waiting
			if len(tenant.namespaces) > 1 || b.refused != "" {
				delete(spec, "targetNamespace")
			}
			maps.Copy(spec, more)
		})
	}
}

// wantBuilds compares what Flux reports for each folder with what it should, and looks for the
// innocent ConfigMap.
func (s *site) wantBuilds(t *testing.T, tenant *tenant) {
	refused := 0
	for i, b := range builds {
		s.flux.Says(tenant.sync, buildName(i), b.refused == "", b.refused)
		_, err := s.flux.Kube.CoreV1().ConfigMaps(tenant.namespaces[0]).Get(t.Context(), "innocent-"+buildName(i), metav1.GetOptions{})
		if applied := err == nil; applied != (b.refused == "") && b.line != "R19" {
			t.Errorf("%s: %s: Flux applied the folder: %t", b.line, b.what, applied)
		}
		if b.refused != "" {
			refused++
		}
	}
	s.proved(t, "%d folders of its repository: %d refused by Flux, of which it applies nothing", len(builds), refused)
	listed, err := s.flux.Kube.CoreV1().ConfigMaps(tenant.namespaces[0]).Get(t.Context(), "listed", metav1.GetOptions{})
	must(t, err)
	if !strings.Contains(listed.Data["any"], ".tar.gz") {
		t.Errorf("source-controller lists %q", listed.Data["any"])
	}
}
