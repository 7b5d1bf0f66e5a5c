package schemas

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// kommanderObjects are objects as the published reference and public repositories
// have them, one of each kind at least.
const kommanderObjects = `
apiVersion: apps.kommander.d2iq.io/v1alpha3
kind: AppDeployment
metadata: {name: grafana, namespace: team}
spec:
  appRef: {kind: ClusterApp, name: grafana-1.2.3}
  clusterSelector:
    matchExpressions:
    - {key: kommander.d2iq.io/cluster-name, operator: In, values: [one]}
  configOverrides: {name: grafana-overrides}
  clusterConfigOverrides:
  - appVersion: 1.2.2
    configMapName: ""
    clusterSelector: {matchLabels: {env: dev}}
---
apiVersion: apps.kommander.d2iq.io/v1alpha3
kind: AppDeployment
metadata: {name: dex, namespace: kommander}
spec:
  configOverrides: {name: dex-overrides}
---
apiVersion: apps.kommander.d2iq.io/v1alpha3
kind: App
metadata: {name: podinfo-6.0.0, namespace: team}
spec:
  appId: podinfo
  version: 6.0.0
  gitRepositoryRef: {kind: GitRepository, name: catalog, namespace: team}
---
apiVersion: apps.kommander.d2iq.io/v1alpha3
kind: ClusterApp
metadata: {name: dex-2.11.1}
spec:
  appId: dex
  version: 2.11.1
  gitRepositoryRef: {kind: GitRepository, name: management, namespace: kommander-flux}
---
apiVersion: dispatch.d2iq.io/v1alpha2
kind: GitopsRepository
metadata: {name: source, namespace: shop}
spec:
  cloneUrl: https://git.example.com/shop.git
  secret: shop-git
  template: {path: deploy, suspend: false, ref: {branch: main}}
---
apiVersion: kommander.mesosphere.io/v1beta1
kind: KommanderCluster
metadata: {name: one, namespace: team}
spec:
  kubeconfigRef: {name: one-kubeconfig}
  clusterRef: {capiCluster: {name: one}}
---
apiVersion: kommander.mesosphere.io/v1beta1
kind: License
metadata: {name: licence, namespace: kommander}
spec:
  nutanixLicenseRef: {name: licence}
---
apiVersion: kommander.mesosphere.io/v1beta1
kind: VirtualGroup
metadata: {name: admins}
spec:
  subjects:
  - {apiGroup: rbac.authorization.k8s.io, kind: Group, name: "oidc:admins"}
---
apiVersion: kommander.mesosphere.io/v1beta1
kind: VirtualGroupClusterRoleBinding
metadata: {name: admins}
spec:
  clusterRoleRef: {name: view}
  placement: {clusterSelector: {}}
  virtualGroupRef: {name: admins}
---
apiVersion: workspaces.kommander.mesosphere.io/v1alpha1
kind: Workspace
metadata: {name: team}
spec:
  namespaceName: team
  clusterLabels: {env: dev}
---
apiVersion: workspaces.kommander.mesosphere.io/v1alpha1
kind: Project
metadata: {name: shop, namespace: team}
spec:
  namespaceName: shop
  placement:
    clusters:
    - {name: one}
  workspaceRef: {name: team}
---
apiVersion: workspaces.kommander.mesosphere.io/v1alpha1
kind: ProjectRole
metadata: {name: reader, namespace: shop}
spec:
  rules:
  - {apiGroups: [""], resources: [pods], verbs: [get]}
---
apiVersion: workspaces.kommander.mesosphere.io/v1alpha1
kind: KommanderProjectRole
metadata: {name: reader, namespace: shop}
spec:
  projectObjectVerbs: [get]
  rules:
  - {apiGroups: [""], resources: [pods], verbs: [get]}
---
apiVersion: workspaces.kommander.mesosphere.io/v1alpha1
kind: KommanderWorkspaceRole
metadata: {name: reader, namespace: team}
spec:
  workspaceObjectVerbs: [get]
---
apiVersion: workspaces.kommander.mesosphere.io/v1alpha1
kind: WorkspaceRole
metadata: {name: reader, namespace: team}
spec:
  aggregationRule: {clusterRoleSelectors: [{matchLabels: {reads: pods}}]}
  rules:
  - {nonResourceURLs: [/dashboard], verbs: ["*"]}
---
apiVersion: workspaces.kommander.mesosphere.io/v1alpha1
kind: VirtualGroupProjectRoleBinding
metadata: {name: readers, namespace: shop}
spec:
  projectRoleRef: {name: reader}
  virtualGroupRef: {name: readers}
---
apiVersion: workspaces.kommander.mesosphere.io/v1alpha1
kind: VirtualGroupWorkspaceRoleBinding
metadata: {name: readers, namespace: team}
spec:
  placement: {clusterSelector: {matchLabels: {env: dev}}}
  workspaceRoleRef: {name: reader}
  virtualGroupRef: {name: readers}
---
apiVersion: workspaces.kommander.mesosphere.io/v1alpha1
kind: VirtualGroupKommanderClusterRoleBinding
metadata: {name: readers}
spec:
  clusterRoleRef: {name: view}
  virtualGroupRef: {name: readers}
---
apiVersion: workspaces.kommander.mesosphere.io/v1alpha1
kind: VirtualGroupKommanderProjectRoleBinding
metadata: {name: readers, namespace: shop}
spec:
  kommanderProjectRoleRef: {name: reader}
  virtualGroupRef: {name: readers}
---
apiVersion: workspaces.kommander.mesosphere.io/v1alpha1
kind: VirtualGroupKommanderWorkspaceRoleBinding
metadata: {name: readers, namespace: team}
spec:
  kommanderWorkspaceRoleRef: {name: reader}
  virtualGroupRef: {name: readers}
---
apiVersion: constraints.gatekeeper.sh/v1beta1
kind: RequiredServiceAccountName
metadata: {name: helmrelease-must-have-sa}
spec:
  match:
    kinds:
    - {apiGroups: [helm.toolkit.fluxcd.io], kinds: [HelmRelease]}
    namespaceSelector: {matchLabels: {kommander.d2iq.io/managed-by-kind: Project}}
---
apiVersion: templates.gatekeeper.sh/v1
kind: ConstraintTemplate
metadata: {name: requiredserviceaccountname}
spec:
  crd: {spec: {names: {kind: RequiredServiceAccountName}}}
  targets:
  - target: admission.k8s.gatekeeper.sh
    rego: package requiredserviceaccountname
`

func kommanderObject(t *testing.T, text string) (*Schema, map[string]any) {
	t.Helper()
	var o map[string]any
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	gvk := schema.FromAPIVersionAndKind(o["apiVersion"].(string), o["kind"].(string))
	s, ok := Lookup(gvk)
	if !ok {
		t.Fatalf("no schema for %s", gvk)
	}
	return s, o
}

func TestKommanderTakesWhatIsDocumented(t *testing.T) {
	kinds := map[schema.GroupVersionKind]bool{}
	for text := range strings.SplitSeq(kommanderObjects, "\n---\n") {
		s, o := kommanderObject(t, text)
		kinds[s.GVK] = true
		if problems := s.Validate(o); len(problems) > 0 {
			t.Errorf("%s: %v", s.GVK.Kind, problems)
		}
		namespace, _ := o["metadata"].(map[string]any)["namespace"].(string)
		if s.Namespaced != (namespace != "") {
			t.Errorf("%s: namespaced is %v", s.GVK.Kind, s.Namespaced)
		}
	}
	for _, gvk := range Kinds() {
		if partial := mustLookup(t, gvk).partial; partial && !kinds[gvk] {
			t.Errorf("no object of kind %s", gvk)
		}
	}
}

func mustLookup(t *testing.T, gvk schema.GroupVersionKind) *Schema {
	t.Helper()
	s, ok := Lookup(gvk)
	if !ok {
		t.Fatalf("no schema for %s", gvk)
	}
	return s
}

// What is wrong for certain is refused, and what a later release may have brought is
// not.
func TestKommanderRefusesWhatIsCertain(t *testing.T) {
	for _, c := range []struct{ kind, from, to, want string }{
		{"AppDeployment", "appRef:", "appref:", `unknown field "appref" in spec`},
		{"AppDeployment", "configOverrides:", "configOverride:", `unknown field "configOverride" in spec`},
		{"AppDeployment", "configMapName:", "configmapName:", `unknown field "configmapName" in spec.clusterConfigOverrides[0]`},
		{"AppDeployment", "configOverrides:", "rollout:", ""},
		{"AppDeployment", "configOverrides: {name: grafana-overrides}", "configOverrides: {nam: grafana-overrides}", `unknown field "nam" in spec.configOverrides`},
		{"AppDeployment", "name: grafana-1.2.3", "app: grafana-1.2.3", "spec.appRef.name is required"},
		{"AppDeployment", "matchExpressions:", "matchExpression:", `unknown field "matchExpression" in spec.clusterSelector`},
		{"AppDeployment", "values: [one]", "values: one", "spec.clusterSelector.matchExpressions[0].values"},
		{"App", "version: 6.0.0", "versions: 6.0.0", `unknown field "versions" in spec`},
		{"App", "gitRepositoryRef: {kind: GitRepository, name: catalog, namespace: team}", "ociRepositoryRef: {name: catalog}", ""},
		{"GitopsRepository", "cloneUrl:", "cloneURL:", `unknown field "cloneURL" in spec`},
		{"GitopsRepository", "suspend: false", "suspend: never", "spec.template.suspend"},
		{"Workspace", "namespaceName:", "nameSpaceName:", `unknown field "nameSpaceName" in spec`},
		{"Workspace", "spec:", "specs:", `unknown field "specs" at the top`},
		{"Project", "- {name: one}", "- one", "spec.placement.clusters[0]"},
		{"Project", "clusters:", "cluster:", `unknown field "cluster" in spec.placement`},
		{"ProjectRole", "verbs: [get]", "verb: [get]", `unknown field "verb" in spec.rules[0]`},
		{"VirtualGroup", "name: \"oidc:admins\"", "nombre: x", `spec.subjects[0].name is required`},
		{"VirtualGroupProjectRoleBinding", "virtualGroupRef:", "group:", "spec.virtualGroupRef is required"},
		{"VirtualGroupProjectRoleBinding", "projectRoleRef: {name: reader}", "projectRoleRef: reader", "spec.projectRoleRef"},
		{"License", "nutanixLicenseRef:", "licenceRef:", `unknown field "licenceRef" in spec`},
		{"RequiredServiceAccountName", "kinds:\n", "kind:\n", `unknown field "kind" in spec.match`},
		{"ConstraintTemplate", "targets:\n", "target:\n", `unknown field "target" in spec`},
		{"RequiredServiceAccountName", "kinds: [HelmRelease]", "kinds: HelmRelease", "spec.match.kinds[0].kinds"},
	} {
		texts := strings.Split(kommanderObjects, "\n---\n")
		text := texts[slices.IndexFunc(texts, func(text string) bool { return strings.Contains(text, "kind: "+c.kind+"\n") })]
		if !strings.Contains(text, c.from) {
			t.Fatalf("%s has no %q", c.kind, c.from)
		}
		s, o := kommanderObject(t, strings.Replace(text, c.from, c.to, 1))
		problems := s.Validate(o)
		told := slices.ContainsFunc(problems, func(p Problem) bool { return c.want != "" && strings.Contains(p.Message, c.want) })
		if told != (c.want != "") || c.want == "" && len(problems) > 0 {
			t.Errorf("%s with %q: %v, want %q", c.kind, c.to, problems, c.want)
		}
	}
}

// A slip for a field that stands there as well is none: it may be a field of its own.
func TestKommanderTakesAFieldBesideTheOneThatItResembles(t *testing.T) {
	s, o := kommanderObject(t, strings.Split(kommanderObjects, "\n---\n")[0])
	spec := o["spec"].(map[string]any)
	spec["configOverride"] = "x"
	spec["${field}Selector"] = "x"
	if problems := s.Validate(o); len(problems) > 0 {
		t.Error(problems)
	}
}
