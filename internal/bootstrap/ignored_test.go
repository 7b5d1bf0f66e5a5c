package bootstrap

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/testarchive"
)

const ignorable = `-- bootstrap/helmfile.yaml --
releases:
  - name: app
    namespace: a
    chart: oci://ghcr.io/charts/app
    version: 1.0.0 # VERSION
  - name: gone # GONE
    namespace: a
    chart: oci://ghcr.io/charts/gone
    version: 1.0.0
    values: [gone.yaml.gotmpl]
    needs: [a/nobody] # ORDER
-- bootstrap/gone.yaml.gotmpl --
{{ readFile "../apps/gone.yaml" }}
-- apps/app.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app, namespace: a}
spec:
  chartRef: {kind: OCIRepository, name: app}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: app, namespace: a}
spec: {url: oci://ghcr.io/charts/app, ref: {tag: 1.0.1}}
`

// TestIgnored lets comments and the configuration turn what is wrong into what is meant.
func TestIgnored(t *testing.T) {
	commented := strings.NewReplacer("# VERSION", "# fleetwright:ignore bootstrap-version-drift held back",
		"# GONE", "# fleetwright:ignore bootstrap-helmrelease-missing it comes back",
		"# ORDER", "# fleetwright:ignore bootstrap-order another file has it").Replace(ignorable)
	all := finding.Selector{Rules: []string{"bootstrap-*"}, Paths: []string{"bootstrap"}, Reason: "an old cluster"}
	for _, test := range []struct {
		name, repo, app, gone, reason string
		order                         bool
		ignore                        []finding.Selector
	}{
		{"nothing", ignorable, "drift", "missing", "", false, nil},
		{"comments", commented, "intended", "intended", "held back", true, nil},
		{"configuration", ignorable, "intended", "intended", "an old cluster", true, []finding.Selector{all}},
		{"one rule", ignorable, "intended", "missing", "r", false, []finding.Selector{{Rules: []string{"bootstrap-version-drift"}, Reason: "r"}}},
		{"a kind", ignorable, "intended", "missing", "r", false, []finding.Selector{{Kinds: []string{"HelmRelease"}, Reason: "r"}}},
		{"another folder", ignorable, "drift", "missing", "", false, []finding.Selector{{Paths: []string{"apps"}, Reason: "r"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(test.repo))), nil, test.ignore...)
			if err != nil {
				t.Fatal(err)
			}
			app, gone := report.Releases[0], report.Releases[1]
			if string(app.Verdict) != test.app || string(gone.Verdict) != test.gone || app.Differences[0].Reason != test.reason {
				t.Errorf("app: %s (%q), gone: %s (%q)", app.Verdict, app.Differences[0].Reason, gone.Verdict, gone.Reason)
			}
			if len(report.Order) != 1 || report.Order[0].Ignored != test.order {
				t.Errorf("order: %+v", report.Order)
			}
			var out strings.Builder
			if err := report.WriteText(&out, TextOptions{}); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), "which the file does not define: helmfile fails") == test.order {
				t.Errorf("the text is\n%s", &out)
			}
		})
	}
}
