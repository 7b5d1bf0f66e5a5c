package k0rdent

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// cases are what a rule says of files.
func cases(t *testing.T, r rule.Rule, all map[string][2]string) {
	t.Helper()
	for name, c := range all {
		if got := said(t, r, c[0]); got != c[1] {
			t.Errorf("%s: got\n%swant\n%s", name, got, c[1])
		}
	}
}

// swap replaces text that must be there.
func swap(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%q is not there", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

const tools = "ClusterDeployment kcm-system/tools"

// What a cluster's credential lacks is told, where a cluster says that it is applied so.
func TestCredentialThatLacksSomething(t *testing.T) {
	t.Parallel()
	azureIdentity := swap(t, templates, "kind: AWSClusterStaticIdentity\nmetadata:\n  name: aws\nspec:\n  secretRef: aws-secret", "kind: AzureClusterIdentity\nmetadata:\n  name: aws\n  namespace: kcm-system\nspec:\n  type: ServicePrincipal",
		"    kind: AWSClusterStaticIdentity\n    name: aws\n", "    kind: AzureClusterIdentity\n    name: aws\n    namespace: kcm-system\n")
	secret := "-- clusters/prod/secret.yaml --\napiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n  namespace: kcm-system\n"
	with := func(apiVersion, kind, name string) string {
		return strings.NewReplacer("apiVersion: %s", "apiVersion: "+apiVersion, "kind: %s", "kind: "+kind, "name: %s", "name: "+name).Replace(secret)
	}
	without := swap(t, cluster("aws-standalone-cp-1-0-43", "aws"), "  credential: aws\n", "")
	cases(t, CredentialMissing, map[string][2]string{
		"an empty one":             {base + templates + swap(t, cluster("aws-standalone-cp-1-0-43", "aws"), "credential: aws", `credential: ""`), tools + " has no spec.credential: kcm refuses it\n  add spec.credential; for an adopted cluster, its Credential references the Secret with the kubeconfig\n" + outside},
		"a base":                   {without, "? whether " + tools + " gets a credential: the repository has no cluster that shows which objects are applied together\n"},
		"a bare Secret":            {base + swap(t, templates, "    apiVersion: infrastructure.cluster.x-k8s.io/v1beta2\n    kind: AWSClusterStaticIdentity\n", "    apiVersion: v1\n    kind: Secret\n"), "Credential kcm-system/aws references Secret aws without a namespace: kcm refuses clusters that use it\n  add identityRef.namespace: kcm-system\n"},
		"no Secret":                {base + swap(t, templates, "  secretRef: aws-secret\n", "  allowedNamespaces: {}\n"), "AWSClusterStaticIdentity aws references no Secret: clusters that use it are never created\n  add spec.secretRef\n"},
		"no Secret for Azure":      {base + azureIdentity, "AzureClusterIdentity kcm-system/aws references no Secret: clusters that use it are never created\n  add spec.clientSecret.name\n"},
		"a workload's identity":    {base + swap(t, azureIdentity, "type: ServicePrincipal", "type: WorkloadIdentity"), ""},
		"a Secret":                 {base + templates + with("v1", "Secret", "aws-secret"), ""},
		"a SealedSecret":           {base + templates + with("bitnami.com/v1alpha1", "SealedSecret", "aws-secret"), ""},
		"a slip of the pen":        {base + templates + with("v1", "Secret", "aws-secrets"), "AWSClusterStaticIdentity aws references Secret kcm-system/aws-secret, which does not exist: kcm refuses clusters that use it\n  did you mean \"aws-secrets\"?\n"},
		"an identity with a place": {base + swap(t, templates, "kind: AWSClusterStaticIdentity\nmetadata:\n  name: aws\n", "kind: AWSClusterStaticIdentity\nmetadata:\n  name: aws\n  namespace: team\n"), strings.Replace(outside, "Identity aws", "Identity team/aws", 1)},
	})
}

// Services are judged as kcm judges them: by name and namespace, which is default where it isn't
// given.
func TestServices(t *testing.T) {
	t.Parallel()
	files := base + serviceTemplates
	on := func(dependency string) string { return files + services("web", "  dependsOn: [{"+dependency+"}]") }
	service := "service default/web of " + tools + " depends on "
	cases(t, ServiceRefused, map[string][2]string{
		"another one":       {on("name: database, namespace: data"), ""},
		"no namespace":      {on("name: database"), service + "default/database, which is not one of its services: kcm refuses it\n  add namespace: data\n"},
		"none of the name":  {on("name: databas, namespace: data"), service + "data/databas, which is not one of its services: kcm refuses it\n  did you mean \"data/database\"?\n"},
		"itself":            {on("name: web"), "default/web of the services depends on itself in " + tools + ": kcm refuses it\n  remove one of the dependencies\n"},
		"itself by default": {on("name: web, namespace: default"), "default/web of the services depends on itself in " + tools + ": kcm refuses it\n  remove one of the dependencies\n"},
		"a variable":        {files + services("web-${NAME}", "  dependsOn: [{name: databas}]"), ""},
		"a circle": {swap(t, on("name: database, namespace: data"), "      namespace: data\n", "      namespace: data\n      dependsOn: [{name: web}]\n"),
			"the services data/database, default/web depend on each other in " + tools + ": kcm refuses it\n  remove one of the dependencies\n"},
		"a namespace": {swap(t, on("name: database, namespace: data.base"), "namespace: data\n", "namespace: data.base\n"),
			tools + " has a service with namespace \"data.base\", which kcm refuses\n  use at most 63 lower case letters, digits and dashes, with a letter or digit at both ends\n"},
		"its chain": {files + services("web", "  templateChain: ingress") + serviceChainOf("ingress-4-13-3"), ""},
		"another chain": {files + services("web", "  templateChain: ingress") + serviceChainOf("ingress-4-13-4"),
			tools + " has a service with template ingress-4-13-3, which its ServiceTemplateChain kcm-system/ingress does not support: kcm refuses it\n  did you mean \"ingress-4-13-4\"?\n"},
		"no such chain": {files + services("web", "  templateChain: egress") + serviceChainOf("ingress-4-13-4"), ""},
	})
	clusters := cluster("aws-standalone-cp-1-0-43", "aws")
	cases(t, ServiceRefused, map[string][2]string{
		"three":   {files + clusters + dependent("a", "b") + dependent("b", "c") + dependent("c", "a"), "the MultiClusterServices a, b, c depend on each other: kcm installs none of them\n  remove one of the dependencies\n"},
		"missing": {files + clusters + dependent("edge", "bas") + dependent("base", ""), "MultiClusterService edge references MultiClusterService bas, which does not exist: kcm does not install it\n  did you mean \"base\"?\n"},
		"open":    {strings.TrimPrefix(dependent("edge", "base"), ""), "? whether MultiClusterService base, which MultiClusterService edge references, exists: the repository has no cluster that shows which objects are applied together\n"},
	})
}

func serviceChainOf(template string) string {
	return "-- clusters/prod/services.yaml --\napiVersion: k0rdent.mirantis.com/v1beta1\nkind: ServiceTemplateChain\nmetadata:\n  name: ingress\n  namespace: kcm-system\nspec:\n  supportedTemplates:\n  - name: " + template + "\n"
}

// The sources of templates are looked for where each kind of template has them.
func TestSources(t *testing.T) {
	t.Parallel()
	template := "ClusterTemplate kcm-system/aws-standalone-cp-1-0-43"
	local := func(kind, more string) string {
		return base + "-- clusters/prod/service.yaml --\napiVersion: k0rdent.mirantis.com/v1beta1\nkind: ServiceTemplate\nmetadata:\n  name: site-1-0-0\n  namespace: team\nspec:\n  kustomize:\n    deploymentType: Remote\n    localSourceRef:\n      kind: " + kind + "\n      name: site\n" + more
	}
	site := func(kind, namespace string) string {
		return "-- clusters/prod/site.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: " + kind + "\nmetadata:\n  name: site\n  namespace: " + namespace + "\n"
	}
	other := "-- clusters/prod/catalog.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: catalog\n  namespace: kcm-system\n"
	missing := "ServiceTemplate team/site-1-0-0 references GitRepository team/site, which does not exist: the template never becomes valid\n  "
	cases(t, SourceMissing, map[string][2]string{
		"kcm's own":             {base + from("kcm-templates"), ""},
		"of that name":          {base + from("mirror"), template + " references HelmRepository kcm-system/mirror, which does not exist: the template never becomes valid\n"},
		"of a chart":            {base + other + from("mirror"), "? whether HelmRepository kcm-system/mirror, which " + template + " references, exists: the chart of HelmRelease kcm-system/catalog may install it\n"},
		"a slip for all that":   {base + other + from("charts-mirro") + swap(t, site("HelmRepository", "kcm-system"), "name: site", "name: charts-mirror"), template + " references HelmRepository kcm-system/charts-mirro, which does not exist: the template never becomes valid\n  did you mean \"charts-mirror\"?\n"},
		"of another kind":       {base + swap(t, from("site"), "kind: HelmRepository", "kind: GitRepository") + site("HelmRepository", "kcm-system"), template + " references GitRepository kcm-system/site, which does not exist: the template never becomes valid\n  a source of this name exists with kind HelmRepository\n"},
		"there":                 {local("GitRepository", "") + site("GitRepository", "team"), ""},
		"in another namespace":  {local("GitRepository", "") + site("GitRepository", "kcm-system"), missing + "it is in namespace kcm-system\n"},
		"in the one it names":   {local("GitRepository", "      namespace: kcm-system\n") + site("GitRepository", "kcm-system"), ""},
		"none of the kind":      {local("Bucket", ""), "? whether Bucket team/site, which ServiceTemplate team/site-1-0-0 references, exists: Git has no Bucket at all\n"},
		"a ConfigMap":           {local("ConfigMap", ""), "? whether ConfigMap team/site, which ServiceTemplate team/site-1-0-0 references, exists: ConfigMaps may be created outside Git\n"},
		"a chart by its name":   {base + swap(t, from("kcm"), "    chartSpec:\n      chart: aws-standalone-cp\n      version: 1.0.43\n      interval: 10m0s\n      sourceRef:\n        kind: HelmRepository\n        name: kcm\n", "    chartRef:\n      kind: HelmChart\n      name: aws\n"), "? whether HelmChart kcm-system/aws, which " + template + " references, exists: controllers create HelmCharts\n"},
		"of a ProviderTemplate": {base + managed(""), ""},
	})
}

// The providers of a cluster are those of its Region or of the Management.
func TestProviders(t *testing.T) {
	t.Parallel()
	const aws, azure, k0smotron = "cluster-api-provider-aws", "cluster-api-provider-azure", "cluster-api-provider-k0sproject-k0smotron"
	made := cluster("aws-standalone-cp-1-0-43", "aws")
	needs := tools + " needs infrastructure-aws, which Management kcm does not enable: kcm refuses it\n  enable " + aws + " there\n"
	own := strings.ReplaceAll(templates, "spec:\n  helm:\n", "spec:\n  providers: [bootstrap-k0smotron]\n  helm:\n")
	kcmMakes := swap(t, base, "      createTemplates: false\n", "")
	_, credential, _ := strings.Cut(templates, "name: aws-standalone-cp-1-0-43\n")
	_, credential, _ = strings.Cut(credential, "---\n")
	regionOf := "-- clusters/prod/region.yaml --\napiVersion: k0rdent.mirantis.com/v1beta1\nkind: Region\nmetadata:\n  name: eu\nspec:\n  clusterDeployment: {name: tools, namespace: kcm-system}\n  providers: [{name: " + aws + "}, {name: " + k0smotron + "}]\n"
	inRegion := swap(t, templates, "spec:\n  identityRef:\n", "spec:\n  region: eu\n  identityRef:\n")
	cases(t, ProviderMissing, map[string][2]string{
		"enabled":           {base + templates + enabled(aws, k0smotron) + made, ""},
		"not enabled":       {base + templates + enabled(azure, k0smotron) + made, needs},
		"none":              {base + templates + enabled() + made, tools + " needs bootstrap-k0sproject-k0smotron, control-plane-k0sproject-k0smotron, infrastructure-aws, which Management kcm does not enable: kcm refuses it\n  enable " + aws + " and " + k0smotron + " there\n"},
		"adopted":           {base + swap(t, templates, "chart: aws-standalone-cp\n      version: 1.0.43", "chart: adopted-cluster\n      version: 1.0.43") + enabled(azure) + made, ""},
		"kcm's templates":   {kcmMakes + "-- clusters/prod/credential.yaml --\n" + credential + enabled(azure, k0smotron) + made, needs},
		"no Management":     {base + templates + made, ""},
		"in a region":       {base + inRegion + regionOf + enabled(azure) + made, ""},
		"one of another":    {base + templates + enabled(azure, k0smotron) + "  - name: foundry\n    template: foundry-1-0-0\n" + made, "? whether Management kcm provides what " + tools + " needs infrastructure-aws: the contents of provider foundry of Management kcm are unknown\n"},
		"a name of before":  {base + own + enabled(aws) + made, tools + " needs bootstrap-k0smotron, which Management kcm does not enable: kcm refuses it\n"},
		"in an old release": {strings.ReplaceAll(base+own+enabled(aws)+made, "version: 1.11.4", "version: 0.3.0"), "? whether Management kcm provides what " + tools + " needs bootstrap-k0smotron: before k0rdent 1.11, providers may have other names\n"},
		"not in Release":    {base + enabled("cluster-api-provider-awz"), "Management kcm enables provider cluster-api-provider-awz, which is not in Release kcm-1-11-4: it is never installed\n  did you mean \"" + aws + "\"?\n"},
	})
}

// A credential fits the infrastructure of the cluster's template, and services its Kubernetes.
func TestFit(t *testing.T) {
	t.Parallel()
	files := base + templates + azure
	unfit := tools + " uses template azure-standalone-cp-1-0-45 for infrastructure-azure, but Credential kcm-system/aws has an identity of kind AWSClusterStaticIdentity: kcm refuses it\n  infrastructure-azure accepts AzureClusterIdentity, Secret\n"
	inAzure := cluster("azure-standalone-cp-1-0-45", "aws")
	itself := "-- clusters/prod/interface.yaml --\napiVersion: k0rdent.mirantis.com/v1beta1\nkind: ProviderInterface\nmetadata:\n  name: azure\n  labels:\n    cluster.x-k8s.io/provider: infrastructure-azure\nspec:\n  clusterIdentities:\n  - {group: infrastructure.cluster.x-k8s.io, version: v1beta2, kind: AWSClusterStaticIdentity}\n"
	from := func(version, constraint string) string {
		return base + versionedAs(version, constraint) + services("web", "")
	}
	gets := func(service string) string {
		return tools + " runs Kubernetes v1.31.4 (template aws-standalone-cp-1-0-43), but its service ingress-4-13-3 requires " + service + ": kcm refuses it\n"
	}
	cases(t, ClusterUnfit, map[string][2]string{
		"in AWS":           {files + cluster("aws-standalone-cp-1-0-43", "aws"), ""},
		"in Azure":         {files + inAzure, unfit},
		"by its interface": {files + itself + inAzure, ""},
		"said in the template": {base + swap(t, templates, "name: aws-standalone-cp-1-0-43\n  namespace: kcm-system\nspec:\n", "name: aws-standalone-cp-1-0-43\n  namespace: kcm-system\nspec:\n  providers: [infrastructure-gcp]\n") + cluster("aws-standalone-cp-1-0-43", "aws"),
			tools + " uses template aws-standalone-cp-1-0-43 for infrastructure-gcp, but Credential kcm-system/aws has an identity of kind AWSClusterStaticIdentity: kcm refuses it\n  infrastructure-gcp accepts Secret\n"},
		"a chart of others": {base + swap(t, templates, "chart: aws-standalone-cp\n      version: 1.0.43", "chart: hetzner\n      version: 1.0.43") + cluster("aws-standalone-cp-1-0-43", "aws"), ""},
		"no such template":  {base + templates + cluster("azure-standalone-cp-1-0-45", "aws"), ""},
		"a version":         {from("v1.32.4+k0s.0", ">=1.32.0 <1.35"), ""},
		"an older one":      {from("v1.31.4", ">= 1.32"), gets(">= 1.32") + gets(">= 1.32")},
		"disabled":          {strings.ReplaceAll(from("v1.31.4", ">= 1.32"), "      template: ingress-4-13-3\n", "      template: ingress-4-13-3\n      disable: true\n"), ""},
		"no version":        {from("newest", ">= 1.32"), "ClusterTemplate kcm-system/aws-standalone-cp-1-0-43 has an invalid k8sVersion \"newest\": the template never becomes valid\n  write a version, such as v1.34.1\n"},
		"no range":          {from("v1.31.4", "from 1.32"), "ServiceTemplate kcm-system/ingress-4-13-3 has an invalid k8sConstraint \"from 1.32\": the template never becomes valid\n  write a range of versions, such as >= 1.32\n"},
	})
}

// What the API server would refuse of a policy or an authentication is told at its field.
func TestPolicies(t *testing.T) {
	t.Parallel()
	policyOf := "the API server refuses ClusterAuditPolicy kcm-system/strict because of spec.policy."
	people := "the API server refuses ClusterAuthentication kcm-system/people because of spec.authenticationConfiguration."
	cases(t, PolicyInvalid, map[string][2]string{
		"a level":     {base + policy("strict", "Request"), ""},
		"none":        {base + policy("strict", "Requests"), policyOf + "rules[0].level: Unsupported value: \"Requests\": supported values: \"None\", \"Metadata\", \"Request\", \"RequestResponse\"\n"},
		"a stage":     {base + policy("strict", "Metadata\n      omitStages: [Received]"), policyOf + "rules[0].omitStages[0]: Invalid value: \"Received\": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic\n"},
		"a variable":  {base + policy("strict", "${LEVEL}"), ""},
		"an issuer":   {base + authentication("https://id.example.com"), ""},
		"without TLS": {base + authentication("http://id.example.com"), people + "jwt[0].issuer.url: Invalid value: \"http://id.example.com\": URL scheme must be https\n"},
		"an expression": {base + swap(t, authentication("https://id.example.com"), "claim: sub\n          prefix: \"\"\n", "expression: claims.sub +\n"),
			people + "jwt[0].claimMappings.username.expression: Invalid value: \"claims.sub +\": compilation failed: ERROR: <input>:1:13: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | claims.sub +\n | ............^\n"},
		"a large one": {base + policy("strict", "Metadata\n      users: ["+strings.Repeat("somebody-with-a-name, ", 5000)+"]"), "ClusterAuditPolicy kcm-system/strict was not checked: the configuration for the API server is larger than 64 kB\n  " + rule.FixedHint + "\n"},
	})
}

// There is one AccessManagement, which kcm has made unless it is told not to, and one Management.
func TestSingletons(t *testing.T) {
	t.Parallel()
	one := base + chains + access("list: [team]", "credentials: [aws]")
	renamed := base + chains + second("teams")
	cases(t, Singleton, map[string][2]string{
		"one":          {one, ""},
		"two":          {one + second("teams"), "kcm refuses AccessManagement teams: another AccessManagement exists\n  move its rules to the one named kcm\n"},
		"another":      {renamed, ""},
		"beside kcm's": {swap(t, renamed, "      createAccessManagement: false\n", ""), "kcm refuses AccessManagement teams: another AccessManagement exists\n  move its rules to the one named kcm\n"},
		"Management":   {base + swap(t, managed(""), "kind: Management\nmetadata:\n  name: kcm\n", "kind: Management\nmetadata:\n  name: k0rdent\n"), "Management k0rdent is not named kcm: it never deploys a cluster\n  name it kcm\n"},
	})
}

// What is removed, and kcm doesn't let go of, is told of a change, unless something keeps it.
func TestTakenOut(t *testing.T) {
	t.Parallel()
	whole := base + chains + cluster("aws-standalone-cp-1-0-43", "aws") + managedBy("1.11.4") + access("list: [team]", "credentials: [aws]")
	stepless := base + chains + cluster("aws-standalone-cp-1-0-43", "aws")
	kept := "  annotations:\n    kustomize.toolkit.fluxcd.io/prune: disabled\n"
	withoutManagement := swap(t, whole, managementOf("1.11.4", ""), "# none\n")
	for name, c := range map[string]struct{ before, after, want string }{
		"AccessManagement":        {whole, swap(t, whole, access("list: [team]", "credentials: [aws]"), ""), "AccessManagement kcm is removed, and kcm refuses to delete it while Management kcm exists"},
		"Management":              {whole, withoutManagement, "Management kcm is removed, and kcm refuses to delete it while " + tools + " exists"},
		"nothing":                 {whole, whole, ""},
		"nothing of before":       {stepless, whole, ""},
		"a Management that stays": {swap(t, whole, "kind: Management\nmetadata:\n  name: kcm\n", "kind: Management\nmetadata:\n  name: kcm\n"+kept), withoutManagement, ""},
		"the step":                {whole, stepless + access("list: [team]", "credentials: [aws]"), "Management kcm is removed, and kcm refuses to delete it while " + tools + " exists"},
		"a step that orphans":     {strings.ReplaceAll(whole, "  prune: true\n", "  prune: true\n  deletionPolicy: Orphan\n"), stepless + access("list: [team]", "credentials: [aws]"), ""},
		"no prune":                {strings.ReplaceAll(whole, "  prune: true\n", "  prune: false\n"), strings.ReplaceAll(withoutManagement, "  prune: true\n", "  prune: false\n"), ""},
		"all of it":               {whole, base + chains + access("list: [team]", "credentials: [aws]"), ""},
	} {
		var got string
		for _, f := range ruletest.Since(t, Singleton, c.before, c.after) {
			got += f.Message
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// 1.12 refuses to hand on what has no namespace, and kinds that it doesn't find.
func TestKindsOfAccess(t *testing.T) {
	t.Parallel()
	of := func(resource string) string {
		return base + chains + managedBy("1.12.0") + access("list: [team]", "resources:\n    - {"+resource+"}")
	}
	cases(t, AccessVersion, map[string][2]string{
		"a chain":       {of("kind: ClusterTemplateChain"), ""},
		"with a group":  {of("kind: ServiceTemplate, apiGroup: k0rdent.mirantis.com"), ""},
		"a Secret":      {of("kind: Secret"), ""},
		"another group": {of("kind: Issuer, apiGroup: cert-manager.io"), ""},
		"no group":      {of("kind: ServiceTemplate"), "AccessManagement kcm distributes kind ServiceTemplate, which does not exist in API group \"\": kcm refuses it\n  add apiGroup: k0rdent.mirantis.com\n"},
		"a slip":        {of("kind: Credentials, apiGroup: k0rdent.mirantis.com"), "AccessManagement kcm distributes kind Credentials, which does not exist in API group \"k0rdent.mirantis.com\": kcm refuses it\n"},
		"no namespace":  {of("kind: Region, apiGroup: k0rdent.mirantis.com"), "AccessManagement kcm distributes Region, which is cluster-scoped: kcm refuses it\n"},
	})
}

// What objects refer to stands where each kind has it, or is handed to their namespace.
func TestReferences(t *testing.T) {
	t.Parallel()
	made := base + templates + cluster("aws-standalone-cp-1-0-43", "aws")
	inTeam := strings.ReplaceAll(made+"  auditPolicy: strict\n", "name: tools\n  namespace: kcm-system", "name: tools\n  namespace: team")
	distributions := access("list: [team]", "clusterAuditPolicies: [strict]")
	awaits := "which does not exist: kcm does not reconcile it until the object exists\n"
	cases(t, ReferenceMissing, map[string][2]string{
		"handed on":     {inTeam + policy("strict", "Metadata") + distributions, ""},
		"not handed on": {inTeam + policy("strict", "Metadata"), "ClusterDeployment team/tools references ClusterAuditPolicy team/strict, " + awaits + "  it is in kcm-system: distribute it to namespace team with an access rule of the AccessManagement\n"},
		"none handed":   {base + policy("lenient", "Metadata") + distributions, "AccessManagement kcm references ClusterAuditPolicy kcm-system/strict, " + awaits},
		"no Region":     {base + swap(t, templates, "spec:\n  identityRef:\n", "spec:\n  region: eu\n  identityRef:\n"), "? whether Region eu, which Credential kcm-system/aws references, exists: Git has no Region at all\n"},
		"of a Region":   {made + "-- clusters/prod/region.yaml --\napiVersion: k0rdent.mirantis.com/v1beta1\nkind: Region\nmetadata:\n  name: eu\nspec:\n  clusterDeployment: {name: tool, namespace: kcm-system}\n", "Region eu references ClusterDeployment kcm-system/tool, " + awaits + "  did you mean \"tools\"?\n"},
		"kcm's own":     {made + "  serviceSpec:\n    provider: {name: ksm-projectsveltos}\n", ""},
	})
}
