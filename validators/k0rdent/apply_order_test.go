package k0rdent

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// What comes in one Kustomization with what it needs is never applied on a new cluster, nor is what
// waits for it; what doesn't wait is refused for a while.
func TestWhatIsAppliedBeforeWhatItNeeds(t *testing.T) {
	t.Parallel()
	const chainName = "ClusterTemplateChain kcm-system/aws-1-0-43"
	clusters := cluster("aws-standalone-cp-1-0-43", "aws")
	inOrder := ordered(base + chains + clusters)
	together := chainName + " is applied together with ClusterTemplate kcm-system/aws-standalone-cp-1-0-42 and ClusterTemplate kcm-system/aws-standalone-cp-1-0-43: on a new cluster kcm refuses it until it exists, and Kustomization flux-system/flux-system applies nothing\n" +
		"  move it to a Kustomization that depends on this one\n"
	cases(t, ApplyOrder, map[string][2]string{
		"in order":   {inOrder, ""},
		"together":   {base + chains, together},
		"no cluster": {chains + clusters, ""},
		"kcm's own templates, which it may have made": {swap(t, base, "      createTemplates: false\n", "") + strings.ReplaceAll(chains, "        name: kcm\n", "        name: kcm-templates\n"), ""},
		"kcm's own charts, which Git brings":          {base + strings.ReplaceAll(chains, "        name: kcm\n", "        name: kcm-templates\n"), together},
		"charts of others, and templates of kcm":      {swap(t, base, "      createTemplates: false\n", "") + chains, together},
		"before 1.6":                                  {base + chains + managedBy("1.5.0"), ""},
		"a chain that kcm handed on":                  {base + swap(t, strings.ReplaceAll(chains, "namespace: kcm-system", "namespace: team"), "name: aws-1-0-43\n", "name: aws-1-0-43\n  labels: {k0rdent.mirantis.com/managed: \"true\"}\n"), ""},
		"without waiting": {swap(t, inOrder, "  dependsOn:\n  - name: chains\n", ""), "Kustomization flux-system/deployments applies " + tools +
			" without waiting for flux-system/templates, which applies ClusterTemplate kcm-system/aws-standalone-cp-1-0-43 and Credential kcm-system/aws: on a new cluster kcm refuses it until it is ready\n  add flux-system/templates to its dependsOn\n"},
		"above it": {strings.Replace(inOrder, "-- deployments/cluster.yaml --", "-- deployments/none.yaml --\n# Nothing.\n-- clusters/prod/cluster.yaml --", 1), tools +
			" is applied before ClusterTemplate kcm-system/aws-standalone-cp-1-0-43 and Credential kcm-system/aws: on a new cluster kcm refuses it until it is ready, but Kustomization flux-system/templates, which applies the latter, depends on flux-system/flux-system\n  move it to a Kustomization that depends on flux-system/templates\n"},
	})
	handed := base + chains + handing("list: [team]") + inTeam
	if got := said(t, ApplyOrder, handed); !strings.Contains(got, "ClusterDeployment team/web is applied together with ClusterTemplate kcm-system/aws-standalone-cp-1-0-42 and Credential kcm-system/aws: ") {
		t.Errorf("handed on: %s", got)
	}
	withServices := base + serviceTemplates + services("web", "")
	if got := said(t, ApplyOrder, withServices); !strings.Contains(got, "Credential kcm-system/aws and ServiceTemplate kcm-system/ingress-4-13-3: ") {
		t.Errorf("services: %s", got)
	}
	for files, want := range map[string]finding.Severity{base + chains: finding.Error, swap(t, inOrder, "  dependsOn:\n  - name: chains\n", ""): finding.Warning} {
		if found := ruletest.Find(t, ApplyOrder, files); len(found) != 1 || found[0].Severity != want {
			t.Errorf("%v, want one of severity %v", found, want)
		}
	}
}
