package k0rdent

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule"
)

// A cluster whose cloud controller reads what is propagated needs the ConfigMap in its namespace; others need none, and what
// may be created elsewhere is unresolved.
func TestResourceTemplates(t *testing.T) {
	t.Parallel()
	const credentials = `-- clusters/prod/azure.yaml --
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureClusterIdentity
metadata: {name: azure, namespace: kcm-system}
spec: {type: ServicePrincipal, clientID: a, tenantID: b, clientSecret: {name: azure-secret, namespace: kcm-system}}
---
apiVersion: k0rdent.mirantis.com/v1beta1
kind: Credential
metadata: {name: azure, namespace: kcm-system}
spec: {identityRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureClusterIdentity, name: azure, namespace: kcm-system}}
---
apiVersion: k0rdent.mirantis.com/v1beta1
kind: Credential
metadata: {name: private, namespace: kcm-system}
spec: {identityRef: {apiVersion: v1, kind: Secret, name: private, namespace: kcm-system}}
`
	const held = "-- clusters/prod/held.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other-resource-template, namespace: kcm-system}\n"
	const wanted = "-- clusters/prod/wanted.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: azure-resource-template, namespace: kcm-system}\n"
	const missing = tools + " propagates its credential, but ConfigMap kcm-system/azure-resource-template does not exist: Sveltos fails, and the cluster gets no configuration for its cloud controller\n  add the ConfigMap, or propagateCredentials: false if the cluster needs none\n"
	ask := func(why string) string {
		return "? whether ConfigMap kcm-system/azure-resource-template, which " + tools + " propagates, exists: " + why + "\n"
	}
	files := created("") + credentials + held
	inAzure := cluster("azure-standalone-cp-1-0-45", "azure")
	with := func(field string) string {
		return swap(t, inAzure, "  credential: azure\n", "  credential: azure\n  "+field+"\n")
	}
	inPrivate := strings.ReplaceAll(missing, "azure", "private")
	cases(t, ResourceTemplateMissing, map[string][2]string{
		"none":                           {files + inAzure, missing},
		"one":                            {files + wanted + inAzure, ""},
		"in another namespace":           {files + swap(t, wanted, "kcm-system", "azure") + inAzure, missing},
		"asked for":                      {files + with("propagateCredentials: true"), missing},
		"not asked for":                  {files + with("propagateCredentials: false"), ""},
		"a variable":                     {files + with("propagateCredentials: ${PROPAGATE}"), ""},
		"a dry run":                      {files + with("dryRun: true"), ""},
		"AKS":                            {files + cluster("azure-aks-1-0-15", "azure"), ""},
		"a template of somebody else":    {files + cluster("own-1-0-0", "azure"), missing},
		"OpenStack":                      {files + cluster("openstack-standalone-cp-1-0-46", "private"), inPrivate},
		"Google Cloud":                   {files + cluster("gcp-hosted-cp-1-0-20", "private"), inPrivate},
		"GKE":                            {files + cluster("gcp-gke-1-0-15", "private"), ""},
		"KubeVirt":                       {files + cluster("kubevirt-standalone-cp-1-0-1", "private"), ""},
		"an adopted cluster":             {files + cluster("adopted-cluster-1-0-1", "private"), ""},
		"a Secret for something else":    {files + cluster("own-1-0-0", "private"), ""},
		"AWS":                            {files + templates + cluster("aws-standalone-cp-1-0-43", "aws"), ""},
		"a credential that is not there": {files + cluster("azure-standalone-cp-1-0-45", "gone"), ""},
		"none of any credential":         {created("") + credentials + inAzure, ask("Git has no such ConfigMap at all")},
		"a region":                       {swap(t, files, "kind: Credential\nmetadata: {name: azure, namespace: kcm-system}\nspec: {", "kind: Credential\nmetadata: {name: azure, namespace: kcm-system}\nspec: {region: eu, ") + inAzure, ask("Sveltos looks for it in the cluster of the region")},
		"a script":                       {files + inAzure + "-- hack/credentials.sh --\nkubectl apply -f - <<EOF\nname: azure-resource-template\nEOF\n", ask("hack/credentials.sh mentions it")},
		"a chart":                        {files + inAzure + "-- clusters/prod/chart.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: credentials, namespace: kcm-system}\nspec: {interval: 1h, chart: {spec: {chart: azure-credential, version: 1.0.0, sourceRef: {kind: HelmRepository, name: kcm}}}}\n", ask("the chart of HelmRelease kcm-system/credentials may create it")},
	})
	if got := said(t, ResourceTemplateMissing, strings.Replace(files+inAzure, rule.FluxSync, "", 1)); strings.Contains(got, "does not exist") || !strings.Contains(got, "? whether") {
		t.Errorf("without a cluster: got\n%s", got)
	}
}
