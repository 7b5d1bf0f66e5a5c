package k0rdent_test

import "testing"

func checkCredentials(t *testing.T, r *rendered) {
	for name, spec := range map[string]string{
		"aws": `
description: The AWS account of the platform team
identityRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: AWSClusterStaticIdentity, name: aws}`,
		"azure": `
description: The Azure subscription of the platform team
identityRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureClusterIdentity, name: azure, namespace: kcm-system}`,
		"openstack": `
description: The private cloud in Frankfurt
identityRef: {apiVersion: v1, kind: Secret, name: openstack, namespace: kcm-system}`,
		"vsphere": `
description: The data centre in Munich
region: munich
identityRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: VSphereClusterIdentity, name: vsphere, namespace: kcm-system}`,
		"warehouse": `
description: A cluster that is there already
identityRef: {apiVersion: v1, kind: Secret, name: warehouse, namespace: kcm-system}`,
	} {
		r.Must("Credential", name).Holds(t, spec, "spec")
	}
}

// The names of the Secrets are those that TestSecretsAreListedWhenTheyAreThere asserts.
func checkIdentities(t *testing.T, r *rendered) {
	for _, identity := range []struct{ kind, metadata, labels, spec string }{
		{"AWSClusterStaticIdentity", "{name: aws", "", "{secretRef: aws-secret, allowedNamespaces: {}}"},
		{"AzureClusterIdentity", "{name: azure, namespace: kcm-system", "clusterctl.cluster.x-k8s.io/move-hierarchy: 'true', ", `
type: ServicePrincipal
clientID: 6b8d6f3c-6a06-4a5c-9a2e-0d5f7d1c2b3a
tenantID: 1f0b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d
clientSecret: {name: azure-secret, namespace: kcm-system}
allowedNamespaces: {}`},
		{"VSphereClusterIdentity", "{name: vsphere", "", "{secretName: vsphere-secret, allowedNamespaces: {selector: {matchLabels: {}}}}"},
	} {
		objects := r.Of(identity.kind)
		if len(objects) != 1 {
			t.Fatalf("%d of %s", len(objects), identity.kind)
		}
		objects[0].Holds(t, identity.metadata+", labels: {"+identity.labels+"k0rdent.mirantis.com/component: kcm}}", "metadata")
		objects[0].Holds(t, identity.spec, "spec")
	}
	for _, namespace := range []string{"kcm-system", "team-blue"} { // where Sveltos looks for it: kcm does not copy it
		resourceTemplateOf(t, r, "openstack", namespace).Holds(t, `
name: openstack-resource-template
namespace: `+namespace+`
labels: {k0rdent.mirantis.com/component: kcm}
annotations: {projectsveltos.io/template: "true"}`, "metadata")
	}
	if secrets := r.Of("Secret"); len(secrets) > 0 {
		t.Errorf("Secrets are rendered: %v", secrets)
	}
}

func checkClusters(t *testing.T, r *rendered) {
	o := r.Must("ClusterDeployment", "red-production")
	o.Holds(t, "{name: red-production, namespace: team-red, labels: {environment: production, ingress: public}}", "metadata")
	o.Holds(t, `
template: aws-standalone-cp-1-0-42
credential: aws
propagateCredentials: false
config:
  region: eu-central-1
  clusterIdentity: {name: aws}
  controlPlaneNumber: 3
  controlPlane: {instanceType: t3.medium}
  workersNumber: 5
  worker: {instanceType: m6i.large}
serviceSpec:
  services:
  - name: ingress-nginx
    namespace: ingress-nginx
    template: ingress-nginx-4-13-2
    values: "controller:\n  replicaCount: 2\n"
    valuesFrom: [{kind: ConfigMap, name: ingress-values}, {kind: Secret, name: ingress-tokens}]
    dependsOn: [{name: cert-manager, namespace: cert-manager}, {name: issuers}]
  - {name: cert-manager, namespace: cert-manager, template: cert-manager-1-19-1}
  - {name: issuers, template: cert-manager-1-19-1}`, "spec")
	r.Must("ClusterDeployment", "blue-staging").Holds(t, `
template: openstack-standalone-cp-1-0-46
credential: openstack
dryRun: true
config:
  controlPlaneNumber: 1
  workersNumber: 2
  controlPlane: {flavor: m1.medium}
  worker: {flavor: m1.large}`, "spec")
}

func checkMultiClusterServices(t *testing.T, r *rendered) {
	r.Must("MultiClusterService", "baseline").Holds(t, `
clusterSelector: {matchExpressions: [{key: environment, operator: Exists}]}
serviceSpec:
  priority: 500
  syncMode: Continuous
  services: [{name: baseline, template: baseline-1-4-0}, {name: storage-classes, template: storage-classes-1-0-0}]`, "spec")
	r.Must("MultiClusterService", "certificates").Holds(t, `
clusterSelector: {matchLabels: {environment: production}}
dependsOn: [baseline]
serviceSpec:
  services: [{name: cert-manager, namespace: cert-manager, template: cert-manager-1-19-1, values: "crds:\n  enabled: true\n"}]`, "spec")
}
