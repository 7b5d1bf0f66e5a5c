package specs

import (
	"strings"
	"testing"
)

// The templates that kcm creates are known for its releases. Of another one, the hint says for which.
func TestTemplatesOfAnUnknownRelease(t *testing.T) {
	for version, want := range map[string]string{
		"1.12.0": "add it to spec.clusterTemplates with its chart: the templates that kcm creates are known for its releases 1.6.0, ",
		"1.11.4": "",
	} {
		_, err := Load([]File{{Path: "fleet.yaml", Content: []byte(claimsFleet + `apiVersion: fleetwright.dev/v1alpha1
kind: K0rdent
metadata: {name: k}
spec:
  version: ` + version + `
  cluster: mgmt
  values: {controller: {createTemplates: true}}
  capi: {version: 1.1.15}
  clusterDeployments:
    - {name: one, template: {name: aws-standalone-cp, version: 1.0.43}, credential: none}
`)}})
		if got := err.Error(); strings.Contains(got, `: cluster template "aws-standalone-cp" does not exist`) && (want == "" || !strings.Contains(got, want)) || want != "" && !strings.Contains(got, want) {
			t.Errorf("%s: %s", version, got)
		}
	}
}
