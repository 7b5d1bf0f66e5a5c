package k0rdent

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// The parts of a repository with a cluster in kcm-system, tools, and one in the namespace team, web.
const (
	toolsPart = `-- k0rdent/tools.yaml --
apiVersion: k0rdent.mirantis.com/v1beta1
kind: ClusterDeployment
metadata:
  name: tools
  namespace: kcm-system
spec:
  template: aws-standalone-cp-1-0-43
  credential: aws
`
	webPart = `-- k0rdent/web.yaml --
apiVersion: k0rdent.mirantis.com/v1beta1
kind: ClusterDeployment
metadata:
  name: web
  namespace: team
spec:
  template: aws-standalone-cp-1-0-42
  credential: aws
`
	namespacePart = `-- clusters/prod/team.yaml --
apiVersion: v1
kind: Namespace
metadata:
  name: team
`
	credentialPart = `-- clusters/prod/credential.yaml --
apiVersion: k0rdent.mirantis.com/v1beta1
kind: Credential
metadata:
  name: aws
  namespace: kcm-system
spec:
  identityRef:
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
    kind: AWSClusterStaticIdentity
    name: aws
`
	identityPart = "-- clusters/prod/identity.yaml --\n" + identity
	secretPart   = `-- clusters/prod/secret.yaml --
apiVersion: v1
kind: Secret
metadata:
  name: aws-secret
  namespace: kcm-system
stringData:
  AccessKeyID: ENC[AES256_GCM,data:x,iv:x,tag:x,type:str]
`
	storePart = `-- clusters/prod/secret.yaml --
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: aws
  namespace: kcm-system
spec:
  target:
    name: aws-secret
`
)

// goneSince gives what the rule says of a change, each message on a line.
func goneSince(t *testing.T, before, after string) string {
	t.Helper()
	var b strings.Builder
	for _, f := range ruletest.Since(t, RemovalOrder, before, after) {
		b.WriteString(f.Message + "\n")
	}
	return b.String()
}

// What it takes to delete a cluster goes with it, in any of its parts.
func TestWhatAClusterNeedsToGo(t *testing.T) {
	t.Parallel()
	step := clusterStep("", "")
	rule, other := handing("list: [team]"), strings.Replace(handing("list: [team]"), "credentials: [aws]", "credentials: [azure]", 1)
	with := func(parts ...string) string { return base + step + strings.Join(parts, "") }
	tools := with(toolsPart, credentialPart, identityPart, secretPart)
	team := with(webPart, namespacePart, rule, credentialPart, identityPart)
	adopted := strings.Replace(credentialPart, "    apiVersion: infrastructure.cluster.x-k8s.io/v1beta2\n    kind: AWSClusterStaticIdentity\n    name: aws\n",
		"    apiVersion: v1\n    kind: Secret\n    name: aws-secret\n    namespace: kcm-system\n", 1)
	const hub, web = "ClusterDeployment kcm-system/tools is removed together with ", "ClusterDeployment team/web is removed together with "
	const cant = ", without which k0rdent cannot delete the cluster\n"
	for _, c := range []struct{ name, before, after, want string }{
		{"nothing", tools, tools, ""},
		{"the cluster alone", tools, with(credentialPart, identityPart, secretPart), ""},
		{"the credential alone, which another rule tells", tools, with(toolsPart, identityPart, secretPart), ""},
		{"its credential", tools, with(identityPart, secretPart), hub + "Credential kcm-system/aws" + cant},
		{"its identity", tools, with(credentialPart, secretPart), hub + "AWSClusterStaticIdentity aws" + cant},
		{"its Secret", tools, with(credentialPart, identityPart), hub + "Secret kcm-system/aws-secret" + cant},
		{"all of them", tools, with(), hub + "Credential kcm-system/aws, AWSClusterStaticIdentity aws and Secret kcm-system/aws-secret" + cant},
		{"its Secret, which a store makes now", tools, with(credentialPart, identityPart, storePart), ""},
		{"its Secret, which is the identity", with(toolsPart, adopted, secretPart), with(adopted), hub + "Secret kcm-system/aws-secret" + cant},
		{"its Secret, which is the identity and a store makes now", with(toolsPart, adopted, secretPart), with(adopted, storePart), ""},
		{"its credential, which stays", strings.Replace(tools, "kind: Credential\nmetadata:\n", "kind: Credential\nmetadata:\n  annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}\n", 1), with(identityPart, secretPart), ""},
		{"the whole step", tools, base + identityPart + secretPart, hub + "Credential kcm-system/aws" + cant},
		{"the whole step, which stays", strings.Replace(tools, "  retryInterval: 1m\n", "  retryInterval: 1m\n  deletionPolicy: Orphan\n", 1), base, ""},
		{"no credential", with(strings.Replace(toolsPart, "  credential: aws\n", "", 1), credentialPart), with(), ""},
		{"its namespace", team, with(rule, credentialPart, identityPart), web + "Namespace team" + cant},
		{"its rule of access", team, with(namespacePart, other, credentialPart, identityPart), web + "the access rule that distributes Credential team/aws to it" + cant},
		{"the rule of access alone, which another rule tells", team, with(webPart, namespacePart, other, credentialPart, identityPart), ""},
		{"the AccessManagement, which kcm refuses to delete", team, with(namespacePart, credentialPart, identityPart), ""},
		{"the credential behind the rule", team, with(namespacePart, rule, identityPart), web + "Credential kcm-system/aws" + cant},
	} {
		if got := goneSince(t, c.before, c.after); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// A template that goes with its cluster is refused where the Kustomization of the cluster waits for its
// own; where nothing waits it goes when the cluster is gone.
func TestTemplatesThatGoWithTheirCluster(t *testing.T) {
	t.Parallel()
	step := func(spec, clusters string) string {
		return strings.Replace(clusterStep("", clusters), "  retryInterval: 1m\n", "  retryInterval: 1m\n"+spec, 1)
	}
	with, without, _ := strings.Cut(templates, "---\n")
	with, rest := with+"---\n", strings.SplitAfterN(without, "---\n", 2)[1]
	of := cluster("aws-standalone-cp-1-0-43", "aws")
	for spec, want := range map[string]string{
		"  dependsOn: [{name: templates}]\n": "ClusterDeployment kcm-system/tools is removed together with ClusterTemplate kcm-system/aws-standalone-cp-1-0-43, and kcm refuses to delete the template first: " +
			"Kustomization flux-system/k0rdent, which prunes the cluster, waits for flux-system/templates, which prunes the template\n",
		"": "",
	} {
		templatesStep := "-- clusters/prod/templates-step.yaml --\n" + kustomization("templates", "")
		in := func(files string) string {
			return strings.Replace(files, "-- clusters/prod/templates.yaml --", "-- templates/templates.yaml --", 1)
		}
		before := base + templatesStep + in(templates) + step(spec, of)
		if got := goneSince(t, before, base+templatesStep+in(with+rest)+step(spec, "")); got != want {
			t.Errorf("%q: got\n%swant\n%s", spec, got, want)
		}
	}
}

// A provider that a cluster needs goes with it: from the Release too, or with its template, it is gone
// before the cluster; otherwise kcm refuses it, which matters where the cluster is pruned only after it.
func TestProvidersThatGoWithTheirCluster(t *testing.T) {
	t.Parallel()
	const aws, smotron = "cluster-api-provider-aws", "cluster-api-provider-k0sproject-k0smotron"
	const entry, waits = "  - name: " + aws + "\n    template: " + aws + "-1-0-25\n", "  dependsOn: [{name: management}]\n"
	both, azureToo, without := enabled(aws, smotron), enabled(aws, "cluster-api-provider-azure", smotron), enabled(smotron)
	released := strings.Replace(without, entry, "", 1)
	if released == without {
		t.Fatal("the Release has another entry")
	}
	head, _, _ := strings.Cut(without, "---\napiVersion: k0rdent.mirantis.com/v1beta1\nkind: ProviderTemplate\nmetadata:\n  name: "+aws+"-1-0-25\n")
	_, tail, _ := strings.Cut(without, "-- management/")
	untemplated := head + "-- management/" + tail
	step := func(spec, clusters string) string {
		return strings.Replace(clusterStep("", clusters), "  retryInterval: 1m\n", "  retryInterval: 1m\n"+spec, 1)
	}
	together := func(providers, clusters string) string {
		return base + templates + providers + strings.ReplaceAll(clusters, "-- clusters/prod/", "-- management/")
	}
	of := cluster("aws-standalone-cp-1-0-43", "aws")
	const is = "ClusterDeployment kcm-system/tools is removed together with provider " + aws
	const taken = is + " of Management kcm, without which k0rdent cannot delete the cluster\n"
	const refused = is + ", and kcm refuses to remove the provider from Management kcm first: Kustomization flux-system/"
	for _, c := range []struct{ name, before, after, want string }{
		{"from the Release too", base + templates + both + step("", of), base + templates + released + step("", ""), taken},
		{"with its template", base + templates + both + step("", of), base + templates + untemplated + step("", ""), taken},
		{
			"kept by the Release, and waited for", base + templates + both + step(waits, of), base + templates + without + step(waits, ""),
			refused + "k0rdent, which prunes the cluster, waits for flux-system/management, which applies the Management\n",
		},
		{
			"kept by the Release, in one Kustomization", together(both, of), together(without, ""),
			refused + "management, which prunes the cluster, applies the Management first\n",
		},
		{"kept by the Release, and not waited for", base + templates + both + step("", of), base + templates + without + step("", ""), ""},
		{"another provider", base + templates + azureToo + step(waits, of), base + templates + both + step(waits, ""), ""},
		{"the cluster alone", base + templates + both + step(waits, of), base + templates + both + step(waits, ""), ""},
		{"the provider alone, which another rule tells", base + templates + both + step("", of), base + templates + released + step("", of), ""},
	} {
		if got := goneSince(t, c.before, c.after); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// Where not all that is applied is known, the cluster may still be there.
func TestRemovalThatIsNotKnown(t *testing.T) {
	t.Parallel()
	before := base + chains + clusterStep("", cluster("aws-standalone-cp-1-0-43", "aws"))
	after := base + strings.Replace(chains, "kind: Credential\nmetadata:\n  name: aws\n", "kind: Credential\nmetadata:\n  name: amazon\n", 1) + clusterStep("", "") +
		"-- clusters/prod/other.yaml --\n" + strings.Replace(kustomization("other", ""), "  sourceRef:\n    kind: GitRepository\n    name: flux-system\n", "  sourceRef:\n    kind: OCIRepository\n    name: other\n", 1) +
		"---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: other, namespace: flux-system}\nspec: {interval: 1h, url: \"oci://registry.example.com/other\"}\n"
	found, open := ruletest.RunSince(t, RemovalOrder, before, after)
	if len(found) > 0 || len(open) != 1 || !strings.HasPrefix(open[0].Reason, "whether ClusterDeployment kcm-system/tools is removed together with objects that its deletion needs: Kustomization") {
		t.Errorf("found %v, open %v", found, open)
	}
}
