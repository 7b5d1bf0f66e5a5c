package k0rdent

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule"
)

// toggles are those of base, all off.
const toggles = "  values:\n    controller:\n      createManagement: false\n      createAccessManagement: false\n      createRelease: false\n      createTemplates: false\n"

// created is base with other values.
func created(values string) string {
	if !strings.Contains(base, toggles) {
		panic("base has other toggles")
	}
	return strings.Replace(base, toggles, values, 1)
}

// kcmValues is a ConfigMap with values of kcm, after its HelmRelease.
func kcmValues(values string) string {
	return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kcm-values, namespace: kcm-system}\ndata: {values.yaml: \"" + values + "\"}\n"
}

// What kcm creates by itself is known: it is there, it is not, or it is left open with the reason.
func TestWhatKCMCreates(t *testing.T) {
	t.Parallel()
	const (
		inCluster = "ClusterDeployment kcm-system/tools references ClusterTemplate kcm-system/"
		ask       = "? whether ClusterTemplate kcm-system/%s, which ClusterDeployment kcm-system/tools references, exists: "
	)
	open := func(name, why string) string { return strings.Replace(ask, "%s", name, 1) + why + "\n" }
	for name, c := range map[string]struct{ values, template, want string }{
		"by default":                {"", "aws-standalone-cp-1-0-43", ""},
		"with both toggles":         {"  values: {controller: {createTemplates: true, createRelease: true}}\n", "gcp-gke-1-0-15", ""},
		"a typo":                    {"", "aws-standlone-cp-1-0-43", inCluster + "aws-standlone-cp-1-0-43, which does not exist: kcm refuses it\n  did you mean \"aws-standalone-cp-1-0-43\", which kcm creates?\n"},
		"of a later kcm":            {"", "aws-standalone-cp-1-0-99", inCluster + "aws-standalone-cp-1-0-99, which does not exist: kcm refuses it\n  did you mean \"aws-standalone-cp-1-0-43\", which kcm creates?\n"},
		"of an earlier kcm":         {"", "aws-standalone-cp-1-0-20", open("aws-standalone-cp-1-0-20", "an earlier kcm may have created it")},
		"of somebody else":          {"", "own-1-0-0", open("own-1-0-0", "Git has no ClusterTemplate at all")},
		"templates of no Release":   {"  values: {controller: {createRelease: false}}\n", "aws-standalone-cp-1-0-43", open("aws-standalone-cp-1-0-43", "Git has no Release for which kcm creates templates")},
		"values of other objects":   {"  valuesFrom: [{kind: ConfigMap, name: kcm}]\n", "aws-standalone-cp-1-0-43", open("aws-standalone-cp-1-0-43", "HelmRelease kcm-system/kcm also reads values from other objects")},
		"values of a ConfigMap":     {"  valuesFrom: [{kind: ConfigMap, name: kcm-values}]\n" + kcmValues("{}"), "aws-standlone-cp-1-0-43", inCluster + "aws-standlone-cp-1-0-43, which does not exist: kcm refuses it\n  did you mean \"aws-standalone-cp-1-0-43\", which kcm creates?\n"},
		"charts of a ConfigMap":     {"  valuesFrom: [{kind: ConfigMap, name: kcm-values}]\n" + kcmValues("{controller: {templatesRepoURL: oci://registry.example/charts}}"), "aws-standalone-cp-1-0-43", open("aws-standalone-cp-1-0-43", "kcm creates templates of its charts, and kcm's charts are in oci://registry.example/charts")},
		"a value that is not known": {"  values: {controller: {createTemplates: \"${T}\"}}\n", "aws-standalone-cp-1-0-43", open("aws-standalone-cp-1-0-43", "the value of controller.createTemplates in HelmRelease kcm-system/kcm is unknown")},
		"charts from elsewhere":     {"  values: {controller: {templatesRepoURL: oci://registry.example/charts}}\n", "aws-standalone-cp-1-0-43", open("aws-standalone-cp-1-0-43", "kcm creates templates of its charts, and kcm's charts are in oci://registry.example/charts")},
	} {
		if got := said(t, TemplateMissing, created(c.values)+cluster(c.template, "aws")); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
	}
	for version, want := range map[string]string{
		"'>=1.11'": open("aws-standalone-cp-1-0-43", "the version that HelmRelease kcm-system/kcm installs is unknown"),
		"1.13.0":   open("aws-standalone-cp-1-0-43", "the templates that kcm 1.13.0 creates are unknown"),
	} {
		files := strings.Replace(created(""), "version: 1.11.4", "version: "+version, 1)
		if got := said(t, TemplateMissing, files+cluster("aws-standalone-cp-1-0-43", "aws")); got != want {
			t.Errorf("kcm %s: got\n%swant\n%s", version, got, want)
		}
	}
}

// The Management of Git may be of the Release that kcm creates, with its providers.
func TestReleaseOfKCM(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		r                               rule.Rule
		values, version, provider, want string
	}{
		"its own":            {TemplateMissing, "", "1.11.4", "cluster-api-provider-aws", ""},
		"of another version": {TemplateMissing, "", "1.12.0", "cluster-api-provider-aws", "Management kcm references Release kcm-1-12-0, which does not exist: kcm refuses it\n  did you mean \"kcm-1-11-4\", which kcm creates?\n"},
		"of an earlier one":  {TemplateMissing, "", "1.10.0", "cluster-api-provider-aws", "? whether Release kcm-1-10-0, which Management kcm references, exists: an earlier kcm may have created it\n"},
		"without templates":  {TemplateMissing, "  values: {controller: {createTemplates: false}}\n", "1.11.4", "cluster-api-provider-aws", "? whether Release kcm-1-11-4, which Management kcm references, exists: Git has no Release at all\n"},
		"a provider of it":   {ProviderMissing, "", "1.11.4", "cluster-api-provider-kubevirt", ""},
		"no provider of it":  {ProviderMissing, "", "1.11.4", "cluster-api-provider-hetzner", "Management kcm enables provider cluster-api-provider-hetzner, which is not in the Release that kcm 1.11.4 creates: it is never installed\n  did you mean \"cluster-api-provider-azure\"?\n"},
	} {
		files := created(c.values) + "-- clusters/prod/m.yaml --\n" + managementOf(c.version, "") + "  providers:\n  - name: " + c.provider + "\n"
		if got := said(t, c.r, files); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
	}
}

// The Management that kcm creates enables the providers of its Release.
func TestManagementOfKCM(t *testing.T) {
	t.Parallel()
	own := "-- clusters/prod/template.yaml --\napiVersion: k0rdent.mirantis.com/v1beta1\nkind: ClusterTemplate\nmetadata:\n  name: own-1-0-0\n  namespace: kcm-system\n" +
		"spec:\n  providers: [infrastructure-hetzner]\n  helm:\n    chartSpec:\n      chart: own\n"
	secret := "-- clusters/prod/credential.yaml --\napiVersion: k0rdent.mirantis.com/v1beta1\nkind: Credential\nmetadata:\n  name: c\n  namespace: kcm-system\n" +
		"spec:\n  identityRef:\n    apiVersion: v1\n    kind: Secret\n    name: c\n    namespace: kcm-system\n"
	want := "ClusterDeployment kcm-system/tools needs infrastructure-hetzner, which the Management that kcm creates does not enable: kcm refuses it\n"
	if got := said(t, ProviderMissing, created("")+own+secret+cluster("own-1-0-0", "c")); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := said(t, ProviderMissing, created("")+secret+cluster("gcp-standalone-cp-1-0-43", "c")); got != "" {
		t.Errorf("one of kcm's own: %s", got)
	}
	off := "  values: {controller: {createManagement: false}}\n"
	if got := said(t, ProviderMissing, created(off)+own+secret+cluster("own-1-0-0", "c")); got != "" {
		t.Errorf("nobody creates a Management: %s", got)
	}
}

// An object's version of the API is one that the kcm in Git serves.
func TestVersionsOfTheAPI(t *testing.T) {
	t.Parallel()
	backup := func(version string) string {
		return "-- clusters/prod/backup.yaml --\napiVersion: k0rdent.mirantis.com/" + version + "\nkind: ManagementBackup\nmetadata:\n  name: b\nspec:\n  schedule: 0 2 * * *\n"
	}
	of := func(version string) string { return strings.Replace(base, "version: 1.11.4", "version: "+version, 1) }
	const way = "  write k0rdent.mirantis.com/v1beta1, which has the same fields"
	for name, c := range map[string]struct{ files, want string }{
		"0.3, older":  {of("0.3.0") + backup("v1alpha1"), ""},
		"0.3, newer":  {of("0.3.0") + backup("v1beta1"), "k0rdent.mirantis.com/v1beta1 of ManagementBackup b does not exist in kcm 0.3.0: Flux cannot apply it\n  upgrade kcm to 1.0, which serves both versions, or write k0rdent.mirantis.com/v1alpha1\n"},
		"1.0, older":  {of("1.0.0") + backup("v1alpha1"), "k0rdent.mirantis.com/v1alpha1 of ManagementBackup b is removed in kcm 1.1\n" + way + ", once kcm 1.0 is installed\n"},
		"1.1, older":  {of("1.1.0") + backup("v1alpha1"), "kcm 1.1.0 does not serve k0rdent.mirantis.com/v1alpha1 of ManagementBackup b: Flux cannot apply it\n  write k0rdent.mirantis.com/v1beta1\n"},
		"1.11, newer": {base + backup("v1beta1"), ""},
		"no kcm":      {rule.FluxSync + backup("v1alpha1"), "k0rdent.mirantis.com/v1alpha1 of ManagementBackup b is removed in kcm 1.1\n" + way + ", once kcm 1.0 is installed\n"},
	} {
		if got := said(t, APIVersion, c.files); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
	}
}
