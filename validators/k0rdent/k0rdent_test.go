package k0rdent

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// said gives what a rule says of files, a line each: what it finds, and after "?"
// what it leaves open.
func said(t *testing.T, r rule.Rule, files string) string {
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
	return b.String()
}

// outside is what is left open of the Secret of the identity in the examples.
const outside = "? whether Secret kcm-system/aws-secret, which AWSClusterStaticIdentity aws references, exists: Secrets may be created outside Git\n"

// handing has a rule of access in the older form.
func handing(targets string) string {
	return access(targets, "clusterTemplateChains: [aws-1-0-43]\n    credentials: [aws]")
}

const inTeam = `-- clusters/prod/team.yaml --
apiVersion: v1
kind: Namespace
metadata:
  name: team
  labels:
    clusters: aws
---
apiVersion: k0rdent.mirantis.com/v1beta1
kind: ClusterDeployment
metadata:
  name: web
  namespace: team
spec:
  template: aws-standalone-cp-1-0-42
  credential: aws
`

// What other namespaces use is handed to them by the AccessManagement, in either
// generation of its schema.
func TestHandedToOtherNamespaces(t *testing.T) {
	t.Parallel()
	refused := "ClusterDeployment team/web references ClusterTemplate team/aws-standalone-cp-1-0-42, which does not exist: kcm refuses it\n" +
		"  it is in kcm-system: distribute it to namespace team with an access rule of the AccessManagement\n"
	open := "? whether ClusterTemplate team/aws-standalone-cp-1-0-42, which ClusterDeployment team/web references, exists: the namespaces that a rule's stringSelector selects are unknown\n"
	for target, want := range map[string]string{
		"list: [team]":  "",
		"list: [other]": refused,
		"list: []":      "", // an empty list is every namespace
		"selector: {}":  "",
		"selector: {matchLabels: {clusters: aws}}":                                     "",
		"selector: {matchLabels: {clusters: azure}}":                                   refused,
		"selector: {matchExpressions: [{key: clusters, operator: In, values: [aws]}]}": "",
		"selector: {matchExpressions: [{key: clusters, operator: DoesNotExist}]}":      refused,
		"stringSelector: clusters=aws":                                                 open,
	} {
		if got := said(t, TemplateMissing, base+chains+handing(target)+inTeam); got != want {
			t.Errorf("%s: got\n%swant\n%s", target, got, want)
		}
	}
	newer := access("list: [team]", "resources:\n    - {kind: ClusterTemplateChain, names: [aws-1-0-43]}\n    - {kind: Credential}")
	for _, r := range []rule.Rule{TemplateMissing, ChainMissing, CredentialMissing} {
		if got := said(t, r, base+chains+newer+inTeam); strings.TrimSuffix(got, outside) != "" {
			t.Errorf("%s of resources: %s", r.ID, got)
		}
	}
	none := strings.Replace(newer, "- {kind: Credential}", "- {kind: Credential, names: [azure]}", 1)
	if got := said(t, CredentialMissing, base+chains+none+inTeam); !strings.Contains(got, "AccessManagement kcm references Credential kcm-system/azure") || !strings.Contains(got, "ClusterDeployment team/web references Credential team/aws") {
		t.Errorf("a credential that is not there: %s", got)
	}
}

// What Git doesn't own is left open.
func TestDoubt(t *testing.T) {
	t.Parallel()
	dangles := cluster("gcp-standalone-cp-1-0-43", "gcp")
	kcmMakes := "? whether ClusterTemplate kcm-system/gcp-standalone-cp-1-0-43, which ClusterDeployment kcm-system/tools references, exists: " +
		"Git has no Release for which kcm creates templates\n"
	for name, c := range map[string]struct {
		r           rule.Rule
		files, want string
	}{
		"templates of kcm's": {TemplateMissing, strings.Replace(base, "      createTemplates: false\n", "", 1) + chains + dangles, kcmMakes},
		"no kcm in Git": {TemplateMissing, rule.FluxSync + chains + dangles, strings.Replace(kcmMakes, "Git has no Release for which kcm creates templates",
			"kcm creates templates itself, unless controller.createTemplates is false in its HelmRelease", 1)},
		"no credential":        {CredentialMissing, base + dangles, "? whether Credential kcm-system/gcp, which ClusterDeployment kcm-system/tools references, exists: Git has no Credential at all\n"},
		"a variable":           {TemplateMissing, base + chains + cluster("aws-${VERSION}", "aws"), "? whether ClusterTemplate kcm-system/aws-${VERSION}, which ClusterDeployment kcm-system/tools references, exists: its name contains a variable with an unknown value\n"},
		"a Release of kcm's":   {TemplateMissing, rule.FluxSync + "-- clusters/prod/m.yaml --\n" + managementOf("1.11.4", ""), "? whether Release kcm-1-11-4, which Management kcm references, exists: kcm creates Releases itself, unless controller.createRelease is false in its HelmRelease\n"},
		"a near miss":          {TemplateMissing, base + chains + cluster("aws-standalone-cp-1-0-4", "aws"), "ClusterDeployment kcm-system/tools references ClusterTemplate kcm-system/aws-standalone-cp-1-0-4, which does not exist: kcm refuses it\n  did you mean \"aws-standalone-cp-1-0-42\"?\n"},
		"nothing of k0rdent's": {TemplateMissing, rule.FluxSync, ""},
	} {
		if got := said(t, c.r, c.files); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
	}
}

// Only what a webhook judges is refused; the rest is accepted, and never works.
func TestWhatBecomesOfWhatNamesNothing(t *testing.T) {
	t.Parallel()
	const other = "-- clusters/prod/template.yaml --\napiVersion: k0rdent.mirantis.com/v1beta1\nkind: ServiceTemplate\nmetadata:\n  name: other-2-0-0\n  namespace: kcm-system\n"
	services := base + chains + other + strings.Replace(service("{matchLabels: {a: b}}"), "ingress-4-13-3", "web-1-0-0", 1)
	want := "MultiClusterService ingress references ServiceTemplate kcm-system/web-1-0-0, which does not exist: kcm installs none of its services\n"
	if got := said(t, TemplateMissing, services); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	wrong := strings.Replace(managedBy("1.11.4"), "template: cluster-api-1-1-15", "template: cluster-api-9-9-9", 1)
	if got := said(t, TemplateMissing, base+wrong); !strings.HasPrefix(got, "Release kcm-1-11-4 references ProviderTemplate cluster-api-9-9-9, which does not exist: the Release never becomes ready\n") {
		t.Errorf("got\n%s", got)
	}
}

// A Management may wait for its Release by way of others.
func TestOrderByWayOfOthers(t *testing.T) {
	t.Parallel()
	between := base + strings.Replace(steps("between", waiting, ""), "-- release/release.yaml --", "---\n"+kustomization("between", "  dependsOn:\n  - name: release\n")+
		"-- between/config.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: kcm-system\n-- release/release.yaml --", 1)
	if got := said(t, ReleaseOrder, between); got != "" {
		t.Errorf("by way of another: %s", got)
	}
	checked := strings.Replace(waiting, "  wait: true\n", "  healthChecks:\n  - apiVersion: k0rdent.mirantis.com/v1beta1\n    kind: Release\n    name: kcm-1-11-4\n", 1)
	if got := said(t, ReleaseOrder, base+steps("release", checked, "")); got != "" {
		t.Errorf("with a health check: %s", got)
	}
	for wait, want := range map[string]string{
		"":               "has no health check for",
		"  wait: true\n": "has no health check for",
		strings.Replace(waiting, "  wait: true\n", "", 1): "has no health check for",
	} {
		if got := said(t, ReleaseOrder, base+steps("release", wait, "")); !strings.Contains(got, want) {
			t.Errorf("%q: %s", wait, got)
		}
	}
}

// Whom a MultiClusterService is for is told by the labels of the clusters, and an empty
// list of namespaces is all of them.
func TestPlacement(t *testing.T) {
	t.Parallel()
	files := base + templates + cluster("aws-standalone-cp-1-0-43", "aws")
	none := "MultiClusterService ingress selects no cluster: "
	for selector, want := range map[string]string{
		"{matchLabels: {environment: tools}}":                                                            "",
		"{matchLabels: {environment: tool}}":                                                             none + "no ClusterDeployment has labels that match its clusterSelector\n  add the labels to the clusters\n",
		"{matchExpressions: [{key: environment, operator: In, values: [a, tools]}]}":                     "",
		"{matchExpressions: [{key: environment, operator: In, values: []}]}":                             none + "In of \"environment\" has no values\n",
		"{matchExpressions: [{key: environment, operator: Is, values: [tools]}]}":                        none + "operator \"Is\" does not exist\n",
		"{matchExpressions: [{key: environment, operator: Exists, values: [tools]}]}":                    none + "Exists of \"environment\" has values\n",
		"{matchLabels: {a: b}, matchExpressions: [{key: a, operator: DoesNotExist}]}":                    none + "its conditions for \"a\" exclude each other\n",
		"{matchLabels: {a: b}, matchExpressions: [{key: a, operator: NotIn, values: [b]}]}":              none + "its conditions for \"a\" exclude each other\n",
		"{matchExpressions: [{key: a, operator: In, values: [b]}, {key: a, operator: In, values: [c]}]}": none + "its conditions for \"a\" exclude each other\n",
		"{matchLabels: {environment: \"${STAGE}\"}}":                                                     "? which clusters MultiClusterService ingress selects: its clusterSelector contains a variable whose value is unknown\n",
		"{matchLabels: {k0rdent.mirantis.com/component: kcm}}":                                           "? which clusters MultiClusterService ingress selects: it matches labels that kcm sets\n",
		"{}\n  x: {}": none + "its clusterSelector is empty, and kcm then selects none\n  select clusters by a label\n",
	} {
		if got := said(t, PlacementEmpty, files+service(selector)); got != want {
			t.Errorf("%s: got\n%swant\n%s", selector, got, want)
		}
	}
	itself := strings.Replace(service("{}"), "  serviceSpec:\n", "  serviceSpec:\n    provider: {selfManagement: true}\n", 1)
	if got := said(t, PlacementEmpty, files+itself); got != "" {
		t.Errorf("for the management cluster: %s", got)
	}
	if got := said(t, PlacementEmpty, base+service("{matchLabels: {a: b}}")); !strings.HasSuffix(got, "Git has no ClusterDeployment at all\n") {
		t.Errorf("no cluster: %s", got)
	}
	for targets, want := range map[string]string{
		"list: [team]":                        "",
		"list: []":                            "this rule of AccessManagement kcm distributes to every namespace: kcm treats an empty list as all namespaces\n  list the namespaces, or remove the rule; if all namespaces are intended, remove targetNamespaces\n",
		"list: []\n      stringSelector: a=b": "",
		"selector: {matchLabels: {a: b}}":     "",
		"selector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: DoesNotExist}]}": "this rule of AccessManagement kcm selects no namespace: its conditions for \"a\" exclude each other\n",
	} {
		if got := said(t, PlacementEmpty, base+chains+access(targets, "credentials: [aws]")); got != want {
			t.Errorf("%s: got\n%swant\n%s", targets, got, want)
		}
	}
}

// The identity of a Credential is looked for where its kind may stand.
func TestIdentityOfACredential(t *testing.T) {
	t.Parallel()
	for files, want := range map[string]string{
		templates: outside,
		strings.Replace(templates, "    name: aws\n", "    name: aws\n    namespace: kcm-system\n", 1): outside,
		strings.Replace(templates, "    name: aws\n", "    name: awz\n", 1):                            "Credential kcm-system/aws references AWSClusterStaticIdentity awz, which does not exist: kcm refuses clusters that use it\n  did you mean \"aws\"?\n",
		strings.TrimSuffix(templates, "---\n"+identity):                                                "? whether AWSClusterStaticIdentity aws, which Credential kcm-system/aws references, exists: Git has no AWSClusterStaticIdentity at all\n",
		strings.Replace(templates, "    apiVersion: infrastructure.cluster.x-k8s.io/v1beta2\n    kind: AWSClusterStaticIdentity\n", "    apiVersion: v1\n    kind: Secret\n    namespace: kcm-system\n", 1): "? whether Secret kcm-system/aws, which Credential kcm-system/aws references, exists: Secrets may be created outside Git\n",
	} {
		if got := said(t, CredentialMissing, base+files); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
}

// 1.12 turns the lists of the older form into resources.
func TestListsOfTheOlderForm(t *testing.T) {
	t.Parallel()
	files := base + chains + handing("list: [team]")
	if got := said(t, AccessVersion, files+managedBy("1.11.4")); got != "" {
		t.Errorf("1.11: %s", got)
	}
	if got := said(t, AccessVersion, files+managedBy("1.12.0-rc2")); strings.Count(got, "whose webhook converts it to resources") != 2 {
		t.Errorf("1.12: %s", got)
	}
}

// Writing a default out is no change, and neither is one of what isn't immutable.
func TestChangesThatAreAllowed(t *testing.T) {
	t.Parallel()
	before := base + strings.Replace(chains, "  identityRef:\n", "  region: us\n  identityRef:\n", 1)
	for name, change := range map[string][2]string{
		"a default":   {"      interval: 10m0s\n", "      interval: 10m0s\n      reconcileStrategy: ChartVersion\n"},
		"a label":     {"  name: aws\n  namespace: kcm-system\n", "  name: aws\n  namespace: kcm-system\n  labels: {a: b}\n"},
		"a reference": {"    name: aws\n", "    name: other\n"},
		"a spelling":  {"      interval: 10m0s\n", "      interval: 600s\n"},
		"an interval": {"      interval: 10m0s\n", ""},
		"a source":    {"      sourceRef:\n        kind: HelmRepository\n        name: kcm-templates\n", ""},
	} {
		before := strings.ReplaceAll(before, "        kind: HelmRepository\n        name: kcm\n", "        kind: HelmRepository\n        name: kcm-templates\n")
		if strings.ReplaceAll(before, change[0], change[1]) == before {
			t.Fatalf("%s: nothing is changed", name)
		}

		if got := ruletest.Since(t, TemplateEdited, before, strings.ReplaceAll(before, change[0], change[1])); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	for name, change := range map[string][2]string{
		"a region":     {"  region: us\n", "  region: eu\n"},
		"a chain":      {"    - name: aws-standalone-cp-1-0-43\n", "    - name: aws-standalone-cp-1-0-42\n"},
		"the interval": {"      interval: 10m0s\n", "      interval: 20m0s\n"},
		"the source":   {"      sourceRef:\n        kind: HelmRepository\n        name: kcm\n", ""},
	} {
		if got := ruletest.Since(t, TemplateEdited, before, strings.ReplaceAll(before, change[0], change[1])); len(got) == 0 {
			t.Errorf("%s: nothing is found", name)
		}
	}
}

// A cluster goes by the upgrades of the chains, unless kcm is told not to look; a template of no
// chain in Git may be one of another's.
func TestUpgradePaths(t *testing.T) {
	t.Parallel()
	at := func(template string) string { return base + chains + cluster(template, "aws") }
	const old, next, far = "aws-standalone-cp-1-0-42", "aws-standalone-cp-1-0-43", "aws-standalone-cp-1-0-44"
	for _, c := range []struct {
		was, is string
		want    int
	}{{old, next, 0}, {old, old, 0}, {next, old, 1}, {old, far, 1}, {far, next, 0}, {old, "${TEMPLATE}", 0}} {
		if got := ruletest.Since(t, UpgradePath, at(c.was), at(c.is)); len(got) != c.want {
			t.Errorf("%s to %s: %v", c.was, c.is, got)
		}
	}
	without := strings.Replace(at(next), "    availableUpgrades:\n    - name: "+next+"\n", "", 1)
	if without == at(next) {
		t.Fatal("the chain is another")
	}
	if got := ruletest.Since(t, UpgradePath, at(old), without); len(got) > 0 {
		t.Errorf("the chain was there until now: %v", got)
	}
	if got := ruletest.Since(t, UpgradePath, strings.Replace(without, "template: "+next, "template: "+old, 1), without); len(got) != 1 {
		t.Errorf("it never was: %v", got)
	}
	lenient := strings.Replace(at(old), "  name: kcm\n  namespace: kcm-system\nspec:\n  interval: 1h\n  chart:", "  name: kcm\n  namespace: kcm-system\nspec:\n  interval: 1h\n  values: {controller: {validateClusterUpgradePath: false}}\n  chart:", 1)
	if lenient == at(old) {
		t.Fatal("kcm's HelmRelease is another")
	}
	if got := ruletest.Since(t, UpgradePath, at(next), lenient); len(got) > 0 {
		t.Errorf("kcm doesn't look: %v", got)
	}
}

// A repository that means to keep the rules busy ends soon, and what was not followed
// is left open.
func TestTooMuchToFollow(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(base + chains + "-- clusters/prod/access.yaml --\napiVersion: k0rdent.mirantis.com/v1beta1\nkind: AccessManagement\nmetadata:\n  name: kcm\nspec:\n  accessRules:\n")
	b.WriteString(strings.Repeat("  - targetNamespaces:\n      list: ["+strings.Repeat("a, ", 500)+"b]\n    credentials: [aws]\n", 100))
	b.WriteString("-- clusters/prod/clusters.yaml --\n")
	for i := range 300 {
		name := strings.Repeat("n", i+1)
		if i > 60 {
			name = "n" + strings.Repeat("n", i%60) + "-" + string(rune('a'+i%26))
		}
		b.WriteString("apiVersion: k0rdent.mirantis.com/v1beta1\nkind: ClusterDeployment\nmetadata:\n  name: c\n  namespace: " + name + "\nspec:\n  template: aws-standalone-cp-1-0-42\n  credential: gcp\n---\n")
	}
	found, open := ruletest.Run(t, CredentialMissing, b.String())
	if len(found) == 0 || !slices.ContainsFunc(open, func(u finding.Unresolved) bool { return strings.Contains(u.Reason, tooMuch) }) {
		t.Errorf("%d findings, %d unresolved", len(found), len(open))
	}
	if !slices.ContainsFunc(found, func(f finding.Finding) bool {
		return f.Rule == rule.LimitExceeded && strings.HasPrefix(f.Message, "the distribution by AccessManagement kcm was not checked: ")
	}) {
		t.Error("that there is too much to follow is no finding")
	}
}

// What chains distribute is not followed without end, either.
func TestTooManyTemplates(t *testing.T) {
	t.Parallel()
	chain := "-- clusters/prod/chain.yaml --\napiVersion: k0rdent.mirantis.com/v1beta1\nkind: ClusterTemplateChain\nmetadata:\n  name: many\n  namespace: kcm-system\nspec:\n  supportedTemplates:\n" +
		strings.Repeat("  - name: aws-standalone-cp-1-0-43\n", 2000)
	rules := access("list: [team]", "clusterTemplateChains: ["+strings.Repeat("many, ", 501)+"]\n    credentials: [aws]")
	if got := said(t, TemplateMissing, base+templates+chain+rules+inTeam); !strings.HasPrefix(got, "the distribution by AccessManagement kcm was not checked: its cluster has more than") {
		t.Errorf("got %s", got)
	}
}

// Where the templates of clusters need more than is followed, that is said once of each rule, and what
// came before is told.
func TestTooManyNeeds(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	const last = "name: aws-standalone-cp-1-0-43\n  namespace: kcm-system\nspec:\n"
	needs := last + "  providers: [infrastructure-azure" + strings.Repeat(", bootstrap-own", 4000) + "]\n"
	b.WriteString(base + strings.Replace(templates, last, needs, 1) + enabled("cluster-api-provider-azure") + "-- clusters/prod/clusters.yaml --\n")
	for i := range 300 {
		b.WriteString("apiVersion: k0rdent.mirantis.com/v1beta1\nkind: ClusterDeployment\nmetadata:\n  name: c" + strconv.Itoa(i) + "\n  namespace: kcm-system\nspec:\n  template: aws-standalone-cp-1-0-43\n  credential: aws\n---\n")
	}
	for _, r := range []rule.Rule{ClusterUnfit, ProviderMissing} {
		found, open := ruletest.Run(t, r, b.String())
		n := 0
		for _, f := range found {
			if f.Rule == rule.LimitExceeded && strings.Contains(f.Message, "like everything that is checked after it, was not checked: its cluster has more than") {
				n++
			}
		}
		if len(found) == 0 || len(found) >= 300 || n != 1 {
			t.Errorf("%s: %d findings, %d unresolved, %d of them for too much", r.ID, len(found), len(open), n)
		}
	}
}

// kcm's own cert-manager may be off where another one comes, and the Management has the last word.
func TestPrerequisites(t *testing.T) {
	t.Parallel()
	missing := func(of string) string {
		return of + " disables kcm's cert-manager, and this repository installs no other one: the Management never becomes ready\n" +
			"  add cert-manager, or remove the value; if cert-manager is installed in another way, ignore the rule with that reason\n"
	}
	managing := func(enabled string) string {
		return strings.Replace(managedBy("1.11.4"), "  release: kcm-1-11-4\n", "  release: kcm-1-11-4\n  core: {kcm: {config: {regional: {cert-manager: {enabled: "+enabled+"}}}}}\n", 1)
	}
	for name, c := range map[string]struct{ files, want string }{
		"kcm's own":                 {withCertManager("true", ""), ""},
		"none":                      {withCertManager("false", ""), missing("HelmRelease kcm-system/kcm")},
		"another one":               {withCertManager("false", certManager), ""},
		"in the bootstrap":          {withCertManager("false", "-- helmfile.yaml --\nreleases:\n- name: cert-manager\n  chart: jetstack/cert-manager\n"), ""},
		"off in the Management":     {withCertManager("true", managing("false")), missing("Management kcm")},
		"on in the Management":      {withCertManager("false", managing("true")), ""},
		"none, as k0rdent's values": {base + templates + managedBy("1.11.4"), ""},
	} {
		if got := said(t, PrerequisiteMissing, c.files); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
	}
}

// TestVersionsOfATemplate asks what is said of a version of a template that isn't there.
func TestVersionsOfATemplate(t *testing.T) {
	t.Parallel()
	names := func(all ...string) *managementCluster {
		var objects []*reconcile.Object
		for _, name := range all {
			objects = append(objects, &reconcile.Object{Identity: reconcile.Identity{Group: group, Kind: clusterTemplate, Namespace: system, Name: name}})
		}
		return &managementCluster{ManagementCluster: &platform.ManagementCluster{Objects: objects}}
	}
	w := names("aws-standalone-cp-1-0-42", "aws-standalone-cp-1-0-43", "aws-standalone-cp-1-0-9", "aws-standalone-cp", "aws-eks-1-0-9", "mine-1-0-42")
	for name, want := range map[string]string{
		"aws-standalone-cp-1-0-44": "aws-standalone-cp has aws-standalone-cp-1-0-43, aws-standalone-cp-1-0-42, aws-standalone-cp-1-0-9: add the template, or reference an existing one",
		"gcp-gke-1-0-1":            "",
		"aws-standalone":           "",
	} {
		if got := w.versions(platform.Reference{Group: group, Kind: clusterTemplate, Namespace: system, Name: name}); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if got := w.versions(platform.Reference{Group: group, Kind: credential, Namespace: system, Name: "aws-standalone-cp-1-0-44"}); got != "" {
		t.Errorf("of a credential: %q", got)
	}
}

// The providers that removed clusters need are not followed without end.
func TestTooManyRemoved(t *testing.T) {
	t.Parallel()
	const last = "name: aws-standalone-cp-1-0-43\n  namespace: kcm-system\nspec:\n"
	with := base + strings.Replace(templates, last, last+"  providers: [infrastructure-aws"+strings.Repeat(", bootstrap-own", 4000)+"]\n", 1) + enabled("cluster-api-provider-aws")
	var clusters strings.Builder
	clusters.WriteString("-- clusters/prod/clusters.yaml --\n")
	for i := range 300 {
		clusters.WriteString("apiVersion: k0rdent.mirantis.com/v1beta1\nkind: ClusterDeployment\nmetadata:\n  name: c" + strconv.Itoa(i) + "\n  namespace: kcm-system\nspec:\n  template: aws-standalone-cp-1-0-43\n  credential: aws\n---\n")
	}
	found := ruletest.Since(t, RemovalOrder, with+clusterStep("", strings.Replace(clusters.String(), "clusters.yaml", "all.yaml", 1)), with+clusterStep("", ""))
	if len(found) != 1 || found[0].Rule != rule.LimitExceeded || !strings.Contains(found[0].Message, "its deletion needs, like everything that is checked after it, was not checked: its cluster has more than") {
		t.Errorf("got %v", found)
	}
}
