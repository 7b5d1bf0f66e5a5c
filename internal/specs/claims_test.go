package specs

import "testing"

const claimsFleet = `apiVersion: fleetwright.dev/v1alpha1
kind: Fleet
metadata: {name: fleet}
spec: {layout: apps, repository: {url: https://git.example.com/platform/fleet.git}, flux: {install: bootstrap}, multiTenancy: {lockdown: false}}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Cluster
metadata: {name: mgmt}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Addon
metadata: {name: reloader}
spec: {namespace: reloader, chart: {url: oci://example.com/reloader, version: 1.0.5}}
---
`

// What comes near to a derived name of another thing, and is none: AppDeployments of one
// application on other clusters, of other workspaces, or named as Kustomizations of other
// namespaces; a disabled provider, and clusters of other namespaces.
func TestNamesThatDoNotMeet(t *testing.T) {
	for name, product := range map[string]string{
		"Kommander": `apiVersion: fleetwright.dev/v1alpha1
kind: Kommander
metadata: {name: k}
spec:
  version: 2.4.0
  cluster: mgmt
  gatekeeper: {version: 3.10.0}
  appManagement: {version: 0.4.0}
  helmRepositories: [https://example.com/charts, https://example.com:8443/charts]
  definitions:
    - {name: gatekeeper, chart: {url: https://example.com/charts/, version: 3.10.0}}
    - {name: kommander-appmanagement, version: 0.4.0, chart: {url: oci://example.com/appmanagement, version: v2.4.0}}
    - {name: reloader, chart: {url: https://example.com/charts, version: v1.0.5}}
    - {name: nginx, namespace: ingress, chart: {url: oci://example.com/nginx, version: 1.0.0}}
    - {name: other-nginx, releaseName: nginx, chart: {url: oci://example.com/nginx, version: 1.0.0}}
  applications:
    - {name: gatekeeper, version: 3.10.0}
    - {name: reloader, version: 1.0.5, values: {a: b}}
    - {name: kommander-base, application: nginx, version: 1.0.0}
  workspaces:
    - name: retail
      clusters: [{name: one}, {name: two}]
      applications:
        - {name: apps-kommander, application: reloader, version: 1.0.5, clusters: [one], values: {a: b}}
        - {name: infra-controllers, application: reloader, version: 1.0.5, clusters: [two], values: {a: b}}
        - {name: nginx, version: 1.0.0, clusters: [one]}
        - {name: other-nginx, version: 1.0.0}
        - {name: kafka, kind: App, version: 1.0.0}
        - {name: other-kafka, application: kafka, kind: App, version: 1.0.0}
    - name: files
      applications:
        - {name: nginx, version: 1.0.0}
  projects:
    - name: checkout
      workspace: retail
      clusters: [two]
      applications:
        - {name: nginx, version: 1.0.0}
        - {name: reloader, version: 1.0.5}
    - name: search
      workspace: retail
      clusterSelector: {matchExpressions: [{key: a, operator: DoesNotExist}]}
      applications:
        - {name: nginx, version: 1.0.0}
`,
		"K0rdent": `apiVersion: fleetwright.dev/v1alpha1
kind: K0rdent
metadata: {name: k}
spec:
  version: 1.6.0-rc1
  cluster: mgmt
  capi: {version: 1.0.9}
  values: {controller: {createRelease: false}, flux2: {}, replicas: 2}
  providers:
    - {name: projectsveltos, version: 1.1.1}
    - {name: own, version: 1.1.1, disabled: true}
    - {name: cluster-api, version: 1.0.8, disabled: true}
  sources:
    - {name: kcm, url: oci://example.com/a}
  clusterTemplates:
    - {name: aws, version: 1.0.9}
    - {name: aws, version: 1.0.10}
  clusterTemplateChains:
    - name: aws
      paths: [{template: aws, versions: [1.0.9, 1.0.10]}, {template: aws, versions: [1.0.10]}]
  credentials:
    - {name: aws, aws: {}}
    - {name: aws-secret, azure: {clientID: a, tenantID: b}}
  access:
    - namespaces: {all: true}
      clusterTemplateChains: [aws]
      credentials: [aws]
  clusterDeployments:
    - {name: own, template: {name: aws, version: 1.0.9}, credential: aws}
    - {name: capi, namespace: teams, template: {name: aws, version: 1.0.10}, credential: aws}
`,
	} {
		if _, err := Load([]File{{Path: "fleet.yaml", Content: []byte(claimsFleet + product)}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
