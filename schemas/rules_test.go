package schemas

import (
	"slices"
	"strings"
	"testing"
)

func TestRules(t *testing.T) {
	const release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: b}\n"
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"neither of two fields", release + "spec: {interval: 1h}\n", []string{
			"violation: spec: spec: either chart or chartRef must be set (the rule is (has(self.chart) && !has(self.chartRef)) || (!has(self.chart) && has(self.chartRef)))"}},
		{"both of two fields, and what is substituted is no matter", release + "spec: {interval: 1h, releaseName: '${NAME}', chartRef: {kind: OCIRepository, name: a}, chart: {spec: {chart: '${CHART}', sourceRef: {kind: HelmRepository, name: b}}}}\n", []string{
			"violation: spec: spec: either chart or chartRef must be set (the rule is (has(self.chart) && !has(self.chartRef)) || (!has(self.chart) && has(self.chartRef)))"}},
		{"not looked at where the object is invalid", release + "spec: {}\n", []string{
			"invalid: spec.interval: spec.interval is required"}},
		{"after the defaults", "apiVersion: source.toolkit.fluxcd.io/v1\nkind: Bucket\nmetadata: {name: a}\nspec: {interval: 1h, endpoint: e, bucketName: b, sts: {provider: aws, endpoint: 'https://e'}}\n", []string{
			"violation: spec: spec: 'ldap' is the only supported STS provider for the 'generic' Bucket provider (the rule is self.provider != 'generic' || !has(self.sts) || self.sts.provider == 'ldap')",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := problems(t, c.in); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}
