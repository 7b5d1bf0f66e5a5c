package kommander

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// says holds what a rule says of files against a text: a line for what it finds, with
// its hint in a line below, and after "?" what it leaves open.
func says(t *testing.T, r rule.Rule, name, files, want string) {
	t.Helper()
	found, open := ruletest.Run(t, r, files)
	var b strings.Builder
	for _, f := range found {
		b.WriteString(f.Message + "\n")
		if f.Hint != "" {
			b.WriteString("  " + f.Hint + "\n")
		}
	}
	for _, u := range open {
		b.WriteString("? " + u.Reason + "\n")
	}
	if got := b.String(); got != want {
		t.Errorf("%s: got\n%swant\n%s", name, got, want)
	}
}

// Applications of catalogs are unresolved, versions of those that Git holds are known.
func TestApplications(t *testing.T) {
	t.Parallel()
	catalog := ": it may come from a catalog, or from Kommander itself\n"
	object := inCluster("object", "apiVersion: apps.kommander.d2iq.io/v1alpha3\nkind: ClusterApp\nmetadata:\n  name: dex-2.11.1\nspec:\n  appId: dex\n  version: 2.11.1\n")
	cases := map[string][2]string{
		"another version":       {definitions + deploy("ClusterApp", "reloader-2.0.0", ""), "AppDeployment retail/reloader references ClusterApp reloader-2.0.0, which does not exist: nothing is installed\n  existing versions: 0.0.121, 1.0.5\n"},
		"no version":            {definitions + deploy("ClusterApp", "reloader", ""), "AppDeployment retail/reloader references ClusterApp reloader, which does not exist: nothing is installed\n  existing versions: 0.0.121, 1.0.5\n"},
		"of another":            {definitions + deploy("ClusterApp", "dex-2.11.1", ""), "? whether ClusterApp dex-2.11.1, which AppDeployment retail/reloader references, exists" + catalog},
		"a catalog's":           {definitions + deploy("App", "reloader-2.0.0", ""), "? whether App retail/reloader-2.0.0, which AppDeployment retail/reloader references, exists" + catalog},
		"an object":             {object + deploy("ClusterApp", "dex-2.11.1", ""), ""},
		"an object's":           {object + deploy("ClusterApp", "dex-2.11.2", ""), "AppDeployment retail/reloader references ClusterApp dex-2.11.2, which does not exist: nothing is installed\n  did you mean \"dex-2.11.1\"?\n"},
		"a variable":            {definitions + deploy("ClusterApp", "reloader-${V}", ""), "? whether ClusterApp reloader-${V}, which AppDeployment retail/reloader references, exists: its name contains a variable with an unknown value\n"},
		"nothing but overrides": {definitions + inCluster("app", "apiVersion: apps.kommander.d2iq.io/v1alpha3\nkind: AppDeployment\nmetadata:\n  name: dex\n  namespace: kommander\nspec:\n  configOverrides:\n    name: dex\n"), ""},
		"on some clusters":      {definitions + deploy("ClusterApp", "reloader-1.0.5", "clusterConfigOverrides:\n  - appVersion: 0.0.121\n  - appVersion: 0.0.122"), "AppDeployment retail/reloader references ClusterApp reloader-0.0.122, which does not exist: nothing is installed\n  existing versions: 0.0.121, 1.0.5\n"},
		"no definition":         {deploy("ClusterApp", "reloader-1.0.5", ""), "? whether ClusterApp reloader-1.0.5, which AppDeployment retail/reloader references, exists" + catalog},
	}
	for name, c := range cases {
		says(t, AppMissing, name, base+c[0], c[1])
	}
}

// Workspaces are Git's, or one of the two that Kommander makes.
func TestWorkspaces(t *testing.T) {
	t.Parallel()
	says(t, WorkspaceMissing, "a slip", base+projectIn("retial", "retail"), "Project retail/checkout references Workspace retial, which does not exist: Kommander creates nothing for the project\n  did you mean \"retail\"?\n")
	says(t, WorkspaceMissing, "elsewhere", base+projectIn("default-workspace", "retail"), "Project retail/checkout belongs to workspace default-workspace, whose namespace is \"kommander-default-workspace\"\n  move it to namespace kommander-default-workspace\n")
	says(t, WorkspaceMissing, "made by hand", rule.FluxSync+projectIn("retail", "retail"), "? whether Workspace retail, which Project retail/checkout references, exists: Git has no Workspace at all\n")
	app := strings.Replace(deploy("App", "dex-2.11.1", ""), "namespace: retail", "namespace: retial", 1)
	says(t, WorkspaceMissing, "a slip of a namespace", base+app, "AppDeployment retial/reloader is in namespace \"retial\", which belongs to no workspace or project\n  did you mean \"retail\"?\n")
	says(t, WorkspaceMissing, "a namespace that is there", base+app+inCluster("retial", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: retial\n"), "")
	says(t, WorkspaceMissing, "a namespace of its own", base+strings.Replace(app, "retial", "retail-2", 1), "")
	says(t, WorkspaceMissing, "no reference", base+strings.Replace(projectIn("retail", "shop"), "  workspaceRef:\n    name: retail\n", "", 1), "")
}

// Of roles Kommander has its own, so that only slips are certain.
func TestRoles(t *testing.T) {
	t.Parallel()
	files := base + projectIn("retail", "retail")
	role := inCluster("role", "apiVersion: workspaces.kommander.mesosphere.io/v1alpha1\nkind: WorkspaceRole\nmetadata:\n  name: dashboards\n  namespace: retail\nspec:\n  rules: []\n")
	says(t, RoleMissing, "Kommander's", files+binding("projectRoleRef: {name: project-admin}", "checkout-team"), "? whether ProjectRole checkout/project-admin, which VirtualGroupProjectRoleBinding checkout/checkout-deployers references, exists: Kommander creates objects of this kind itself\n")
	says(t, RoleMissing, "of the workspace", files+role+binding("workspaceRoleRef: {name: dashboards}", "checkout-team"), "")
	says(t, RoleMissing, "a slip of the workspace's", files+role+binding("workspaceRoleRef: {name: dashbaords}", "checkout-team"), "VirtualGroupProjectRoleBinding checkout/checkout-deployers references WorkspaceRole retail/dashbaords, which does not exist: the group gets no permissions\n  did you mean \"dashboards\"?\n")
	says(t, RoleMissing, "in another namespace", files+strings.Replace(binding("projectRoleRef: {name: deployer}", "checkout-team"), "namespace: checkout", "namespace: shop", 1), "VirtualGroupProjectRoleBinding shop/checkout-deployers references ProjectRole shop/deployer, which does not exist: the group gets no permissions\n  it is in namespace checkout\n")
	says(t, RoleMissing, "a workspace's", files+role+strings.Replace(placed("clusterSelector: {}"), "workspace-view", "dashboard", 1), "VirtualGroupWorkspaceRoleBinding retail/checkout-viewers references WorkspaceRole retail/dashboard, which does not exist: the group gets no permissions\n  did you mean \"dashboards\"?\n")
	says(t, GroupMissing, "made by hand", rule.FluxSync+binding("projectRoleRef: {name: deployer}", "checkout-team"), "? whether VirtualGroup checkout-team, which VirtualGroupProjectRoleBinding checkout/checkout-deployers references, exists: Git has no VirtualGroup at all\n")
	says(t, GroupMissing, "made beside those in Git", files+binding("projectRoleRef: {name: deployer}", "auditors"), "? whether VirtualGroup auditors, which VirtualGroupProjectRoleBinding checkout/checkout-deployers references, exists: Git has no object with this name, but a user may create it in Kommander's user interface\n")
	says(t, BindingRole, "none", files+strings.Replace(binding("x", "checkout-team"), "  x\n", "", 1), "VirtualGroupProjectRoleBinding checkout/checkout-deployers grants no role\n  set either projectRoleRef or workspaceRoleRef\n")
}

// Overrides may be made in Kommander where Git has none of the namespace.
func TestOverrides(t *testing.T) {
	t.Parallel()
	files := base + definitions + deploy("ClusterApp", "reloader-1.0.5", "configOverrides:\n    name: reloader-overrides")
	missing := "AppDeployment retail/reloader references ConfigMap retail/reloader-overrides, which does not exist: the application runs with its default values\n"
	says(t, OverrideMissing, "none in Git", files, "? whether ConfigMap retail/reloader-overrides, which AppDeployment retail/reloader references, exists: Git has no override in the namespace, but one may be created in Kommander\n")
	says(t, OverrideMissing, "a slip", files+override("reloader-overides", "retail", "values.yaml: '{}'"), missing+"  did you mean \"reloader-overides\"?\n")
	says(t, OverrideMissing, "generated", files+override("reloader-overrides-bck8g4h7t2", "retail", "values.yaml: '{}'"), missing+"  a configMapGenerator creates reloader-overrides-bck8g4h7t2: set disableNameSuffixHash: true\n")
	says(t, OverrideMissing, "another ConfigMap", files+override("dashboards", "retail", "a: b"), "? whether ConfigMap retail/reloader-overrides, which AppDeployment retail/reloader references, exists: Git has no override in the namespace, but one may be created in Kommander\n")
	others := strings.Replace(files, "    name: reloader-overrides\n", "    name: reloader-overrides\n  clusterConfigOverrides:\n  - configMapName: \"\"\n  - configMapName: dev\n", 1)
	says(t, OverrideMissing, "another's", others+override("dev", "retail", "values.yaml: '{}'"), missing)
	says(t, OverrideValues, "of some clusters", others+override("dev", "retail", "values: '{}'"), "ConfigMap retail/dev overrides values of AppDeployment retail/reloader, but has no key \"values.yaml\"\n  put the values under values.yaml\n")
	list := "ConfigMap retail/reloader-overrides overrides values of AppDeployment retail/reloader, but its values.yaml is not a YAML mapping\n  write a YAML mapping, as in a chart's values.yaml\n"
	for data, want := range map[string]string{"'- a'": list, "'a: [b'": list, "just text": list, "''": "", "'null'": "", "'{a: [b]}'": "", "'# none'": ""} {
		says(t, OverrideValues, data, files+override("reloader-overrides", "retail", "values.yaml: "+data), want)
	}
}

// Placement is decided by the lists, the selectors themselves, and the clusters in Git.
func TestPlacement(t *testing.T) {
	t.Parallel()
	files := base + projectIn("retail", "retail")
	nowhere := "this placement of VirtualGroupWorkspaceRoleBinding retail/checkout-viewers selects no cluster: "
	hint := "\n  list clusters, or select them by labels\n"
	for placement, want := range map[string]string{
		"clusters: [{name: retail-production}]": "",
		"clusters: [{name: host-cluster}]":      "",
		"clusters: [{name: retail-staging}]":    "VirtualGroupWorkspaceRoleBinding retail/checkout-viewers references KommanderCluster retail-staging, which does not exist: nothing is installed\n",
		"{}":                                    nowhere + "its placement is empty" + hint,
		"clusterSelector: {}":                   "",
		"clusterSelector: {matchLabels: {environment: production}}":        "",
		"clusterSelector: {matchLabels: {team: retail}}":                   "",
		"clusterSelector: {matchLabels: {cluster.x-k8s.io/provider: aws}}": "",
		"clusterSelector: {matchLabels: {environment: staging}}":           nowhere + "no attached cluster has these labels" + hint,
		"clusterSelector: {matchLabels: {a: b}}":                           "? which clusters VirtualGroupWorkspaceRoleBinding retail/checkout-viewers selects: no cluster in Git has the label a, but it may be set in Kommander\n",
		"clusters: []\n    clusterSelector: {matchLabels: {a: b}}":         nowhere + "its list of clusters is empty" + hint,
		"clusterSelector: {matchExpressions: [{key: a, operator: In}]}":    nowhere + "In of \"a\" has no values" + hint,
	} {
		says(t, PlacementEmpty, placement, files+attached+placed(placement), want)
	}
	none := "this placement of Project retail/checkout selects no cluster: it has no placement" + hint
	for placement, want := range map[string]string{"": none, "  placement: null\n": none, "  placement: ${PLACEMENT}\n": ""} {
		says(t, PlacementEmpty, "a project with "+placement, strings.Replace(files, "  placement:\n    clusterSelector: {}\n", placement, 1), want)
	}
	app := base + definitions
	says(t, PlacementEmpty, "by hand", app+deploy("ClusterApp", "reloader-1.0.5", selecting("one")), "? whether KommanderCluster one, which AppDeployment retail/reloader references, exists: Git has no KommanderCluster at all\n")
	says(t, PlacementEmpty, "by label", app+attached+deploy("ClusterApp", "reloader-1.0.5", "clusterSelector:\n    matchLabels:\n      kommander.d2iq.io/cluster-name: retail-production\n      kommander.d2iq.io/host: 'true'"), "")
	disjoint := selecting("host-cluster") + "\n  clusterConfigOverrides:\n  - configMapName: ''\n    " + strings.ReplaceAll(selecting("retail-production"), "\n", "\n    ")
	says(t, PlacementEmpty, "an override for others", app+attached+deploy("ClusterApp", "reloader-1.0.5", disjoint), "this placement of AppDeployment retail/reloader selects no cluster: the application is not placed on the clusters of this override"+hint)
}

// A namespace that is set for the first time is no change.
func TestNamespaceSetFirst(t *testing.T) {
	t.Parallel()
	before := strings.Replace(base, "  namespaceName: retail\n", "", 1)
	if found := ruletest.Since(t, NamespaceChanged, before, base); len(found) > 0 {
		t.Error(found)
	}
	if found := ruletest.Since(t, NamespaceChanged, base+projectIn("retail", "retail"), base+strings.Replace(projectIn("retail", "retail"), "namespaceName: checkout", "namespaceName: shop", 1)); len(found) != 1 {
		t.Error(found)
	}
}

// A workspace goes alone, or with clusters in its namespace, which may stay in Git.
func TestWorkspacesThatGo(t *testing.T) {
	t.Parallel()
	other := strings.Replace(attached, "  namespace: retail\n", "  namespace: wholesale\n", 1)
	message := "Workspace retail is removed while KommanderCluster retail/retail-production is in it: Kommander deletes only a workspace without clusters"
	kept := strings.Replace(base, "metadata:\n  name: retail\nspec:\n", "metadata:\n  name: retail\n  annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}\nspec:\n", 1)
	for name, c := range map[string]struct{ before, after, want string }{
		"with its cluster":             {base + attached, rule.FluxSync, message},
		"its cluster stays":            {base + attached, rule.FluxSync + attached, message},
		"the cluster of another one":   {base + other, rule.FluxSync, ""},
		"the cluster alone":            {base + attached, base, ""},
		"it stays on the cluster":      {kept + attached, rule.FluxSync, ""},
		"a namespace that isn't known": {strings.Replace(base, "  namespaceName: retail\n", "", 1) + attached, rule.FluxSync, ""},
	} {
		var got []string
		for _, f := range ruletest.Since(t, RemovalOrder, c.before, c.after) {
			got = append(got, f.Message)
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Labels of catalogs that come near to one of Kommander's, and those that are others'.
func TestCatalogLabels(t *testing.T) {
	t.Parallel()
	const is, none, no = "GitRepository retail/applications has label ", ", which Kommander does not know\n", ", which is not a valid value\n"
	for label, want := range map[string]string{
		"gitrepository-type: catalog":                       "",
		"project-default-catalog-repository: 'false'":       "",
		"gitrepository-name: catalog":                       "",
		"gitapps-gitrepository-types: dkp":                  "", // it has the right one, too
		"gitrepository_type: catalog":                       is + `"kommander.d2iq.io/gitrepository_type"` + none + "  did you mean \"kommander.d2iq.io/gitrepository-type\"?\n",
		"project-default-catalog-repositry: 'true'":         is + `"kommander.d2iq.io/project-default-catalog-repositry"` + none + "  did you mean \"kommander.d2iq.io/project-default-catalog-repository\"?\n",
		"workspace-default-catalog-repository: 'True'":      is + `kommander.d2iq.io/workspace-default-catalog-repository: "True"` + no + "  did you mean \"true\"?\n",
		"gitrepository-type: catalogue":                     "",
		"gitrepository-type: catalogs":                      is + `kommander.d2iq.io/gitrepository-type: "catalogs"` + no + "  did you mean \"catalog\"?\n",
		"gitrepository-type: ${TYPE}":                       "",
		"workspace-default-catalog-repository: \"${TRUE}\"": "",
	} {
		says(t, CatalogLabel, label, base+catalog(label), want)
	}
	domain := strings.Replace(catalog("gitrepository-type: catalog"), "    kommander.d2iq.io/gitrepository", "    komander.d2iq.io/gitrepository", 1)
	says(t, CatalogLabel, "the domain", base+domain, is+`"komander.d2iq.io/gitrepository-type"`+none+"  did you mean \"kommander.d2iq.io/gitrepository-type\"?\n")
}

// AppDeployments of one application meet where both are for a cluster, and their HelmRelease has
// one name.
func TestSharedReleases(t *testing.T) {
	t.Parallel()
	staging := strings.Replace(selecting("retail-production"), "operator: In", "operator: NotIn", 1)
	shared := "AppDeployment retail/reloader-too installs reloader on the same cluster as AppDeployment retail/reloader at clusters/prod/app.yaml:1: both write the same HelmRelease\n" +
		"  select different clusters in each, or keep one and set clusterConfigOverrides\n"
	open := "? whether AppDeployment retail/reloader-too and AppDeployment retail/reloader write the same HelmRelease: "
	const one, two = "ClusterApp", "reloader-1.0.5"
	for name, c := range map[string]struct{ files, want string }{
		"both for all":            {releases("reloader") + deploy(one, two, "") + second(two, ""), shared},
		"an empty selector":       {releases("reloader") + deploy(one, two, "clusterSelector: {}") + second(two, ""), shared},
		"all and one":             {releases("reloader") + deploy(one, two, "") + second(two, selecting("a")), shared},
		"one and all":             {releases("reloader") + deploy(one, two, selecting("a")) + second(two, ""), shared},
		"one and the same":        {releases("reloader") + deploy(one, two, selecting("a")) + second(two, selecting("b\n      - a")), shared},
		"one and another":         {releases("reloader") + deploy(one, two, selecting("a")) + second(two, selecting("b")), ""},
		"all and all but one":     {releases("reloader") + deploy(one, two, "") + second(two, staging), shared},
		"one and all but one":     {releases("reloader") + deploy(one, two, selecting("a")) + second(two, staging), open + "their selectors may or may not select the same clusters\n"},
		"a variable's name":       {releases("${releaseName}") + deploy(one, two, "") + second(two, ""), ""},
		"no HelmRelease":          {definitions + deploy(one, two, "") + second(two, ""), ""},
		"elsewhere defined":       {deploy(one, two, "") + second(two, ""), open + "the definition of reloader is not in Git, and may name its HelmRelease with a variable\n"},
		"another application":     {releases("reloader") + deploy(one, "dex-1.0.5", "") + second(two, ""), ""},
		"a catalog's of the name": {releases("reloader") + deploy("App", two, "") + second(two, ""), ""},
		"another namespace":       {releases("reloader") + deploy(one, two, "") + strings.Replace(second(two, ""), "namespace: retail", "namespace: kommander", 1), ""},
		"one that is there twice": {releases("reloader") + deploy(one, two, "") + strings.Replace(second(two, ""), "reloader-too", "reloader", 1), ""},
		"a variable":              {releases("reloader") + deploy(one, "reloader-${V}", "") + second("reloader-${V}", ""), ""},
	} {
		says(t, ReleaseShared, name, base+c.files, c.want)
	}
}
