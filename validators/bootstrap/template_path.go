package bootstrap

import (
	"strings"

	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// TemplatePath is bootstrap-template-path.
var TemplatePath = rule.Rule{
	ID:       bootstrap.RuleTemplatePath,
	Title:    "a template of the bootstrap reads a file that isn't there",
	Severity: finding.Error,
	Why: `helmfile stops at a readFile that finds nothing, so that no new cluster can be built: most often the
application was moved. A path in a helmfile starts from the helmfile's folder, one in a values template from the
template's.`,
	Fix: `Correct the path. fleetwright bootstrap verify tells where each release's values come from.`,
	Bad: []rule.Example{{Files: strings.Replace(strings.Replace(generated, "cilium/app/ocirepository.yaml\" | fromYaml | get \"spec.ref.tag\" }}'",
		"cilium/ocirepository.yaml\" | fromYaml | get \"spec.ref.tag\" }}' # <-- here", 1), "chart: '{{ readFile \"../kubernetes/apps/kube-system/cilium/app/ocirepository.yaml\" | fromYaml | get \"spec.url\" }}'",
		"chart: oci://quay.io/cilium/charts/cilium", 1) + cilium("replicas: 1")}},
	Good: []rule.Example{{Files: generated + cilium("replicas: 1")}},
	Run:  func(p *rule.Pass) { drifts(p, bootstrap.RuleTemplatePath) },
}
