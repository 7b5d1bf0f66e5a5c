package k0rdent

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// resourceTemplate returns the ConfigMap that Sveltos renders for each cluster, in the namespace of the clusters
// (docs/appendix/appendix-providers.md of https://github.com/k0rdent/docs). Its name is the name of the identity, which
// is the credential's name, with a suffix. By default it is empty, as in that documentation, for AWS, AKS, KubeVirt, SSH
// and existing clusters. It is also empty for Hetzner, as in HETZNER.md of https://github.com/k0rdent-oot/oot: that
// provider creates the Secrets kube-system/hcloud and kube-system/NAME in each cluster itself.
func resourceTemplate(clusters []v1alpha1.K0rdentCluster, c v1alpha1.K0rdentCredential, namespace string) *corev1.ConfigMap {
	data := c.ResourceTemplate
	if data == nil {
		if template := cloudConfig(clusters, c); template != "" {
			data = map[string]string{"configmap.yaml": template}
		}
	}
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name: c.Name + "-resource-template", Namespace: namespace,
			Labels: componentLabel(), Annotations: map[string]string{"projectsveltos.io/template": "true"},
		},
		Data: data,
	}
}

// cloudConfig returns the template of the objects that the cloud controller and the storage driver of kcm's own cluster
// templates read; "" if they read none. The template calls only functions that k0rdent's own templates call, and reads
// optional fields with index, because a missing field is an error in Sveltos.
func cloudConfig(clusters []v1alpha1.K0rdentCluster, c v1alpha1.K0rdentCredential) string {
	switch {
	case c.Azure != nil:
		return azureCloudConfig
	case c.GCP != nil:
		return gcpCloudConfig
	case c.OpenStack != nil:
		return openstackCloudConfig
	case c.VSphere != nil:
		return vsphereCloudConfig(datacenters(clusters, c))
	}
	return ""
}

// datacenters returns the data centers of a credential, by default those of the clusters that use it.
func datacenters(clusters []v1alpha1.K0rdentCluster, c v1alpha1.K0rdentCredential) []string {
	if len(c.VSphere.Datacenters) > 0 {
		return c.VSphere.Datacenters
	}
	var out []string
	for _, d := range clusters {
		config, _ := d.Config["vsphere"].(map[string]any)
		if name, _ := config["datacenter"].(string); name != "" && d.Credential == c.Name {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// gcpCloudConfig is the Secret of the cloud controller and of the storage driver on virtual machines of Google
// (docs/admin/installation/prepare-mgmt-cluster/gcp.md of https://github.com/k0rdent/docs).
const gcpCloudConfig = `apiVersion: v1
kind: Secret
metadata:
  name: gcp-cloud-sa
  namespace: kube-system
type: Opaque
data:
  cloud-sa.json: {{ index (getResource "InfrastructureProviderIdentity") "data" "credentials" }}
`

// azureCloudConfig is the Secret of Azure's cloud controller and storage drivers
// (docs/admin/installation/prepare-mgmt-cluster/azure.md of https://github.com/k0rdent/docs).
const azureCloudConfig = `{{- $spec := .InfrastructureProvider.spec -}}
{{- $identity := (getResource "InfrastructureProviderIdentity").spec -}}
{{- $password := index (getResource "InfrastructureProviderIdentitySecret") "data" "clientSecret" | b64dec -}}
{{- $subnet := "" -}}
{{- $securityGroup := "" -}}
{{- $routeTable := "" -}}
{{- range $spec.networkSpec.subnets -}}
  {{- if eq .role "node" -}}
    {{- $subnet = .name -}}
    {{- $securityGroup = .securityGroup.name -}}
    {{- $routeTable = .routeTable.name -}}
    {{- break -}}
  {{- end -}}
{{- end -}}
{{- $vnet := $spec.networkSpec.vnet -}}
{{- $config := dict
  "cloud" $spec.azureEnvironment
  "tenantId" $identity.tenantID
  "subscriptionId" $spec.subscriptionID
  "aadClientId" $identity.clientID
  "aadClientSecret" $password
  "useManagedIdentityExtension" false
  "useInstanceMetadata" true
  "location" $spec.location
  "resourceGroup" $spec.resourceGroup
  "vmType" "vmss"
  "vnetName" $vnet.name
  "vnetResourceGroup" $vnet.resourceGroup
  "subnetName" $subnet
  "securityGroupName" $securityGroup
  "securityGroupResourceGroup" $vnet.resourceGroup
  "routeTableName" $routeTable
  "loadBalancerName" ""
  "loadBalancerSku" "Standard"
  "maximumLoadBalancerRuleCount" 250
-}}
apiVersion: v1
kind: Secret
metadata:
  name: azure-cloud-provider
  namespace: kube-system
type: Opaque
data:
  cloud-config: {{ $config | toJson | b64enc }}
`

// openstackCloudConfig are the Secrets of OpenStack's cloud controller and storage driver
// (docs/admin/installation/prepare-mgmt-cluster/openstack.md of https://github.com/k0rdent/docs). Unlike in that
// documentation, the cluster selects the cloud, and the password is read from its place in clouds.yaml.
const openstackCloudConfig = `{{- $cluster := .InfrastructureProvider -}}
{{- $data := (getResource "InfrastructureProviderIdentity").data -}}
{{- $wanted := $cluster.spec.identityRef -}}
{{- $name := index $wanted "cloudName" | default "openstack" -}}
{{- $clouds := index (index $data "clouds.yaml" | b64dec | fromYaml) "clouds" -}}
{{- if not $clouds }}{{ fail "clouds.yaml has no clouds" }}{{ end -}}
{{- if not (hasKey $clouds $name) }}{{ fail (printf "clouds.yaml has no cloud %q" $name) }}{{ end -}}
{{- $cloud := index $clouds $name -}}
{{- $auth := index $cloud "auth" -}}
{{- if not $auth }}{{ fail (printf "cloud %q in clouds.yaml has no auth" $name) }}{{ end -}}
{{- $region := index $cloud "region_name" | default (index $wanted "region") -}}
{{- $authority := index $data "cacert" -}}
{{- $network := $cluster.status.externalNetwork -}}
apiVersion: v1
kind: Secret
metadata:
  name: openstack-cloud-config
  namespace: kube-system
type: Opaque
stringData:
  cloud.conf: |
    [Global]
    {{- range $key, $option := dict
      "auth_url" "auth-url"
      "application_credential_id" "application-credential-id"
      "application_credential_name" "application-credential-name"
      "application_credential_secret" "application-credential-secret"
      "username" "username"
      "user_id" "user-id"
      "user_domain_id" "user-domain-id"
      "user_domain_name" "user-domain-name"
      "password" "password"
      "project_id" "tenant-id"
      "project_name" "tenant-name"
      "project_domain_id" "tenant-domain-id"
      "project_domain_name" "tenant-domain-name"
      "domain_id" "domain-id"
      "domain_name" "domain-name" }}
    {{- with index $auth $key }}
    {{ $option }}={{ printf "%v" . | printf "%q" }}
    {{- end }}
    {{- end }}
    {{- with $region }}
    region={{ printf "%q" . }}
    {{- end }}
    {{- if eq (printf "%v" (index $cloud "verify")) "false" }}
    tls-insecure=true
    {{- end }}
    {{- if $authority }}
    ca-file=/etc/cacert/ca.crt
    {{- end }}
    [LoadBalancer]
    {{- with index $network "id" }}
    floating-network-id={{ printf "%q" . }}
    {{- end }}
    [Networking]
    {{- with index $network "name" }}
    public-network-name={{ printf "%q" . }}
    {{- end }}
{{- if $authority }}
---
apiVersion: v1
kind: Secret
metadata:
  name: openstack-ca-cert
  namespace: kube-system
type: Opaque
data:
  ca.crt: {{ $authority }}
{{- end }}
`

// vsphereCloudConfig returns the Secrets and the ConfigMap of vSphere's cloud controller and storage driver
// (docs/admin/installation/prepare-mgmt-cluster/vmware.md of https://github.com/k0rdent/docs). Without data
// centers, both use all.
func vsphereCloudConfig(datacenters []string) string {
	var line, list string
	if len(datacenters) > 0 {
		line = "\n    datacenters = " + literal(strings.Join(datacenters, ", "))
		list = "\n        datacenters:"
	}
	for _, name := range datacenters {
		list += "\n          - " + literal(name)
	}
	return `{{- $cluster := .InfrastructureProvider -}}
{{- $server := $cluster.spec.server -}}
{{- $secret := (getResource "InfrastructureProviderIdentitySecret").data -}}
apiVersion: v1
kind: Secret
metadata:
  name: vsphere-cloud-secret
  namespace: kube-system
type: Opaque
data:
  {{ $server }}.username: {{ $secret.username }}
  {{ $server }}.password: {{ $secret.password }}
---
apiVersion: v1
kind: Secret
metadata:
  name: vcenter-config-secret
  namespace: kube-system
type: Opaque
stringData:
  csi-vsphere.conf: |
    [Global]
    cluster-id = {{ printf "%q" $cluster.metadata.name }}
    [VirtualCenter {{ printf "%q" $server }}]
    insecure-flag = "true"
    user = {{ $secret.username | b64dec | printf "%q" }}
    password = {{ $secret.password | b64dec | printf "%q" }}
    port = "443"` + line + `
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: cloud-config
  namespace: kube-system
data:
  vsphere.conf: |
    global:
      insecureFlag: true
      port: 443
      secretName: vsphere-cloud-secret
      secretNamespace: kube-system
    labels:
      region: k8s-region
      zone: k8s-zone
    vcenter:
      {{ $server }}:
        server: {{ $server }}` + list + "\n"
}

// literal quotes a string for use in the output of a template.
func literal(text string) string {
	return "{{ printf \"%q\" " + strconv.Quote(text) + " }}"
}
