package k0rdent_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"go.yaml.in/yaml/v3"
)

// A cloud is what a resource template of it renders from, and into.
type cloud struct {
	provider, identity, secret string
	objects                    map[string]any // by kind and name: the values, decoded
}

var clouds = map[string]cloud{
	"azure": {
		provider: `{spec: {azureEnvironment: AzurePublicCloud, location: westus, resourceGroup: shop, subscriptionID: sub-1, networkSpec: {
  vnet: {name: shop-vnet, resourceGroup: network},
  subnets: [{role: control-plane, name: cp, securityGroup: {name: cp-nsg}, routeTable: {name: cp-routes}},
    {role: node, name: nodes, securityGroup: {name: nodes-nsg}, routeTable: {name: nodes-routes}}, {role: node, name: more}]}}}`,
		identity: `{spec: {clientID: client-1, tenantID: tenant-1}}`,
		secret:   `{clientSecret: 'pass"word'}`,
		objects: map[string]any{"Secret azure-cloud-provider": map[string]any{"cloud-config": map[string]any{
			"cloud": "AzurePublicCloud", "tenantId": "tenant-1", "subscriptionId": "sub-1", "aadClientId": "client-1", "aadClientSecret": `pass"word`,
			"useManagedIdentityExtension": false, "useInstanceMetadata": true, "location": "westus", "resourceGroup": "shop", "vmType": "vmss",
			"vnetName": "shop-vnet", "vnetResourceGroup": "network", "subnetName": "nodes", "securityGroupName": "nodes-nsg",
			"securityGroupResourceGroup": "network", "routeTableName": "nodes-routes", "loadBalancerName": "", "loadBalancerSku": "Standard",
			"maximumLoadBalancerRuleCount": 250.0,
		}}},
	},
	"google": {
		identity: `{data: {credentials: '{"type": "service_account"}'}}`,
		objects:  map[string]any{"Secret gcp-cloud-sa": map[string]any{"cloud-sa.json": map[string]any{"type": "service_account"}}},
	},
	"openstack": {
		provider: `{spec: {identityRef: {name: openstack, cloudName: openstack, region: RegionTwo}}, status: {externalNetwork: {id: net-1, name: public}}}`,
		identity: `{data: {clouds.yaml: "clouds: {openstack: {auth: {auth_url: 'https://keystone:5000', application_credential_id: app-1,
  application_credential_secret: pa55}, region_name: RegionOne, interface: public, identity_api_version: 3, auth_type: v3applicationcredential}}"}}`,
		objects: map[string]any{"Secret openstack-cloud-config": map[string]any{"cloud.conf": map[string]any{
			"Global auth-url": "https://keystone:5000", "Global application-credential-id": "app-1", "Global application-credential-secret": "pa55",
			"Global region": "RegionOne", "LoadBalancer floating-network-id": "net-1", "Networking public-network-name": "public",
		}}},
	},
	"vsphere": {
		provider: `{metadata: {name: red}, spec: {server: vcenter.example.com}}`,
		identity: `{}`,
		secret:   `{username: k0rdent@vsphere.local, password: pa55word}`,
		objects: map[string]any{
			"Secret vsphere-cloud-secret": map[string]any{"vcenter.example.com.username": "k0rdent@vsphere.local", "vcenter.example.com.password": "pa55word"},
			"Secret vcenter-config-secret": map[string]any{"csi-vsphere.conf": map[string]any{
				"Global cluster-id": "red", "VirtualCenter vcenter.example.com insecure-flag": "true", "VirtualCenter vcenter.example.com port": "443",
				"VirtualCenter vcenter.example.com user": "k0rdent@vsphere.local", "VirtualCenter vcenter.example.com password": "pa55word",
				"VirtualCenter vcenter.example.com datacenters": "munich-1",
			}},
			"ConfigMap cloud-config": map[string]any{"vsphere.conf": map[string]any{
				"global": map[string]any{"insecureFlag": true, "port": 443, "secretName": "vsphere-cloud-secret", "secretNamespace": "kube-system"},
				"labels": map[string]any{"region": "k8s-region", "zone": "k8s-zone"},
				"vcenter": map[string]any{"vcenter.example.com": map[string]any{
					"server": "vcenter.example.com", "datacenters": []any{"munich-1"},
				}},
			}},
		},
	},
}

// withClouds is the example with a default resource template of each cloud.
var withClouds = []string{"  credentials:\n", "  credentials:\n    - {name: google, gcp: {}}\n"}

// What the cloud controllers and storage drivers read is rendered from the identity and the
// infrastructure, as Sveltos renders it.
func TestResourceTemplates(t *testing.T) {
	r := render(t, example(t, withClouds...))
	for name, c := range clouds {
		data, _ := resourceTemplateOf(t, r, name, "kcm-system").Get("data").(object)
		text, _ := data["configmap.yaml"].(string)
		if text == "" || len(data) != 1 {
			t.Errorf("%s: the resource template is %v", name, data)
			continue
		}
		got, err := c.render(t, text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(got, c.objects) {
			t.Errorf("%s: rendered are\n%s\nwant\n%s", name, indented(t, got), indented(t, c.objects))
		}
		called(t, name, text)
	}
}

// A cloud by another name, with a password and an authority of its own; and what cannot be rendered
// says why.
func TestOpenStackTemplate(t *testing.T) {
	text := resourceTemplateOf(t, render(t, example(t)), "openstack", "kcm-system").Text("data", "configmap.yaml")
	c := cloud{
		provider: `{spec: {identityRef: {cloudName: frankfurt, region: RegionTwo}}, status: {externalNetwork: {id: net-1}}}`,
		identity: `{data: {cacert: AUTHORITY, clouds.yaml: "clouds: {frankfurt: {verify: false, auth: {auth_url: 'https://keystone', username: shop,
  password: 'a\"b', user_domain_name: Default, project_id: 7, project_domain_name: Default}}}"}}`,
	}
	got, err := c.render(t, text)
	want := map[string]any{
		"Secret openstack-cloud-config": map[string]any{"cloud.conf": map[string]any{
			"Global auth-url": "https://keystone", "Global username": "shop", "Global password": `a"b`, "Global user-domain-name": "Default",
			"Global tenant-id": "7", "Global tenant-domain-name": "Default", "Global region": "RegionTwo", "Global tls-insecure": "true",
			"Global ca-file": "/etc/cacert/ca.crt", "LoadBalancer floating-network-id": "net-1",
		}},
		"Secret openstack-ca-cert": map[string]any{"ca.crt": "AUTHORITY"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("rendered are\n%s\nwant\n%s\n%v", indented(t, got), indented(t, want), err)
	}
	for from, message := range map[string]string{
		"clouds: {other: {}}":      `clouds.yaml has no cloud "frankfurt"`,
		"clouds: {frankfurt: {}}":  `cloud "frankfurt" in clouds.yaml has no auth`,
		"secret: [PASSWORD, wrong": "clouds.yaml has no clouds",
	} {
		c.identity = "{data: {clouds.yaml: '" + from + "'}}"
		if _, err := c.render(t, text); err == nil || !strings.Contains(err.Error(), message) || strings.Contains(err.Error(), "PASSWORD") {
			t.Errorf("%s: %v, want %s", from, err, message)
		}
	}
}

// The data centers are those of the clusters unless others are written, and any name is only a name.
func TestDatacenters(t *testing.T) {
	const written, cluster = "      vsphere:\n        datacenters: [munich-1]\n", "  clusterDeployments:\n"
	const with = cluster +
		"    - {name: one, credential: vsphere, template: {name: vsphere-standalone-cp, version: 1.0.42}, config: {vsphere: {datacenter: b}}}\n" +
		"    - {name: two, credential: vsphere, template: {name: vsphere-standalone-cp, version: 1.0.42}, config: {vsphere: {datacenter: a}}}\n" +
		"    - {name: three, credential: vsphere, template: {name: vsphere-standalone-cp, version: 1.0.42}, config: {vsphere: {datacenter: b}}}\n"
	for name, c := range map[string]struct {
		changes []string
		line    any
		list    any
	}{
		"none":     {[]string{written, "      vsphere: {}\n"}, nil, nil},
		"clusters": {[]string{cluster, with, written, "      vsphere: {}\n"}, "a, b", []any{"a", "b"}},
		"written":  {[]string{cluster, with, written, "      vsphere: {datacenters: ['/c: \"{{ fail }}\"']}\n"}, `/c: "{{ fail }}"`, []any{`/c: "{{ fail }}"`}},
	} {
		text := resourceTemplateOf(t, render(t, example(t, c.changes...)), "vsphere", "kcm-system").Text("data", "configmap.yaml")
		with := clouds["vsphere"]
		with.secret = `{username: k0rdent, password: 'pa55\"word'}`
		got, err := with.render(t, text)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		driver := got["Secret vcenter-config-secret"].(map[string]any)["csi-vsphere.conf"].(map[string]any)
		config := got["ConfigMap cloud-config"].(map[string]any)
		if line := driver["VirtualCenter vcenter.example.com datacenters"]; line != c.line {
			t.Errorf("%s: the storage driver's are %v", name, line)
		}
		if got := driver["VirtualCenter vcenter.example.com password"]; got != `pa55\"word` {
			t.Errorf("%s: the password is %q", name, got)
		}
		center := config["vsphere.conf"].(map[string]any)["vcenter"].(map[string]any)["vcenter.example.com"].(map[string]any)
		if list := center["datacenters"]; !reflect.DeepEqual(list, c.list) {
			t.Errorf("%s: the cloud controller's are %v", name, list)
		}
	}
}

// Where there is nothing to propagate, Sveltos is not asked to; where there is, the ConfigMap is in the
// namespace of the cluster, and so is the Secret that kcm does not copy.
func TestPropagation(t *testing.T) {
	cluster := func(name, credential, template, more string) string {
		return "    - {name: " + name + ", credential: " + credential + ", template: {name: " + template + ", version: 1.0.0}" + more + "}\n"
	}
	spec := example(t, "    - name: projectsveltos\n", "    - {name: cluster-api-provider-gcp}\n    - name: projectsveltos\n", "  credentials:\n", `  credentials:
    - {name: google, gcp: {}}
    - {name: aks, aks: {}}
    - {name: virtual, kubevirt: {}}
    - {name: machines, remote: {}}
    - {name: hetzner, hetzner: {}}
    - {name: own, aws: {}, resourceTemplate: {a.yaml: 'kind: Secret'}}
    - {name: quiet, openstack: {}, resourceTemplate: {}}
`, "  clusterTemplates:\n", `  clusterTemplates:
    - {name: gcp-gke, version: 1.0.0}
    - {name: made-up, version: 1.0.0}
`, "      clusterTemplateChains: [private-cloud]\n", "      clusterTemplateChains: [private-cloud, made-up]\n",
		"  clusterTemplateChains:\n", "  clusterTemplateChains:\n    - {name: made-up, paths: [{template: made-up, versions: [1.0.0]}]}\n",
		"      credentials: [openstack, vsphere]\n", "      credentials: [openstack, vsphere, own, azure]\n",
		"  clusterDeployments:\n", "  clusterDeployments:\n"+
			cluster("vms", "google", "made-up", "")+cluster("gke", "google", "gcp-gke", "")+cluster("gke-too", "google", "gcp-gke", ", propagateCredentials: true")+
			cluster("aks", "aks", "made-up", "")+cluster("virtual", "virtual", "made-up", "")+cluster("machines", "machines", "made-up", "")+
			cluster("hetzner", "hetzner", "made-up", "")+cluster("quiet", "quiet", "made-up", "")+
			cluster("own", "own", "made-up", ", namespace: team-blue")+cluster("munich", "vsphere", "made-up", ", namespace: team-blue")+
			cluster("shop", "azure", "made-up", ", namespace: team-blue")+cluster("off", "azure", "made-up", ", namespace: team-red, propagateCredentials: false"))
	r := render(t, spec)
	for name, want := range map[string]any{
		"vms": nil, "gke": false, "gke-too": nil, "aks": false, "virtual": false, "machines": false, "hetzner": false, "quiet": false,
		"own": nil, "munich": nil, "shop": nil, "off": false, "blue-staging": nil, "red-production": false, "platform-tools": nil, "warehouse": false,
	} {
		if got := r.Must("ClusterDeployment", name).Get("spec", "propagateCredentials"); got != want {
			t.Errorf("%s: propagateCredentials is %v, want %v", name, got, want)
		}
	}
	var copies []string
	for _, o := range r.Of("ConfigMap") {
		if namespace := o.Text("metadata", "namespace"); namespace != "kcm-system" && o.Annotated("projectsveltos.io/template", "true") {
			copies = append(copies, namespace+"/"+o.Name())
			if got, want := o.Get("data"), resourceTemplateOf(t, r, strings.TrimSuffix(o.Name(), "-resource-template"), "kcm-system").Get("data"); !reflect.DeepEqual(got, want) {
				t.Errorf("%s in %s holds %v, want %v", o.Name(), namespace, got, want)
			}
		}
	}
	if want := []string{"team-blue/azure-resource-template", "team-blue/openstack-resource-template", "team-blue/own-resource-template", "team-blue/vsphere-resource-template"}; !slices.Equal(copies, want) {
		t.Errorf("the copies are %v, want %v", copies, want)
	}
	var secrets []string
	for _, s := range spec.ProductSecrets() {
		if s.Namespace != "kcm-system" {
			secrets = append(secrets, s.Step+" "+s.Namespace+"/"+s.Name)
		}
	}
	if want := []string{"clusters team-blue/own-secret", "clusters team-blue/vsphere-secret"}; !slices.Equal(secrets, want) {
		t.Errorf("Secrets outside of kcm-system are %v, want %v", secrets, want)
	}
}

// resourceTemplateOf is the ConfigMap of a credential in a namespace.
func resourceTemplateOf(t *testing.T, r *rendered, credential, namespace string) object {
	t.Helper()
	for _, o := range r.Of("ConfigMap") {
		if o.Name() == credential+"-resource-template" && o.Text("metadata", "namespace") == namespace {
			return o
		}
	}
	t.Fatalf("there is no resource template of %s in %s", credential, namespace)
	return nil
}

// kcms are the functions that k0rdent's own templates call, beside those that every template has.
var kcms = []string{"b64dec", "b64enc", "default", "dict", "eq", "fail", "fromYaml", "getResource", "hasKey", "index", "not", "printf", "toJson"}

// called checks that a template calls nothing else.
func called(t *testing.T, name, text string) {
	t.Helper()
	funcs := template.FuncMap{}
	for _, f := range kcms {
		funcs[f] = func(...any) string { return "" }
	}
	if _, err := template.New(name).Funcs(funcs).Parse(text); err != nil {
		t.Errorf("it calls a function that k0rdent's templates don't: %v", err)
	}
}

// render renders a template as Sveltos does (addon-controller, controllers/template_instantiation.go), and
// decodes the values of its objects.
func (c cloud) render(t *testing.T, text string) (map[string]any, error) {
	t.Helper()
	resources := map[string]any{"InfrastructureProviderIdentity": encoded(t, decoded(t, c.identity))}
	if c.secret != "" {
		resources["InfrastructureProviderIdentitySecret"] = encoded(t, map[string]any{"data": decoded(t, c.secret)})
	}
	funcs := sprig.FuncMap()
	maps.Copy(funcs, template.FuncMap{
		"getResource": func(name string) any { return resources[name] },
		"fromYaml": func(text string) map[string]any {
			out := map[string]any{}
			if err := yaml.Unmarshal([]byte(text), &out); err != nil {
				out["Error"] = err.Error()
			}
			return out
		},
		"toJson": func(v any) string { text, _ := json.Marshal(v); return string(text) },
	})
	parsed, err := template.New("").Option("missingkey=error").Funcs(funcs).Parse(text)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, map[string]any{"InfrastructureProvider": decoded(t, c.provider)}); err != nil {
		return nil, err
	}
	objects := map[string]any{}
	for _, o := range documents(t, out.Bytes()) {
		m := object(o)
		if m.Text("metadata", "namespace") != "kube-system" && m.Text("kind") != "StorageClass" {
			t.Errorf("%s %s is in namespace %q", m.Text("kind"), m.Name(), m.Text("metadata", "namespace"))
		}
		objects[m.Text("kind")+" "+m.Name()] = values(t, m)
	}
	return objects, nil
}

// encoded is an object as the API server has it, with its data in base64.
func encoded(t *testing.T, o map[string]any) map[string]any {
	t.Helper()
	data, _ := o["data"].(map[string]any)
	for key, value := range data {
		data[key] = base64.StdEncoding.EncodeToString([]byte(value.(string)))
	}
	return o
}

// values are those of a Secret or ConfigMap, with what is in their texts.
func values(t *testing.T, o object) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, field := range []string{"data", "stringData"} {
		of, _ := o.Get(field).(map[string]any)
		for key, value := range of {
			text := value.(string)
			if o.Text("kind") == "Secret" && field == "data" {
				plain, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					t.Fatalf("%s of %s: %v", key, o.Name(), err)
				}
				text = string(plain)
			}
			out[key] = structured(t, key, text)
		}
	}
	return out
}

var assignment = regexp.MustCompile(`^\s*([a-z-]+)\s*=\s*(.*?)\s*$`)

// structured is a text by its format: JSON, YAML, the sections of a .conf, or itself.
func structured(t *testing.T, key, text string) any {
	t.Helper()
	var out map[string]any
	switch {
	case json.Unmarshal([]byte(text), &out) == nil:
		return out
	case key == "vsphere.conf":
		return decoded(t, text)
	case !strings.HasSuffix(key, ".conf"):
		return text
	}
	section, of := "", map[string]any{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if head, is := strings.CutPrefix(line, "["); is {
			section = strings.ReplaceAll(strings.TrimSuffix(head, "]"), `"`, "")
		} else if m := assignment.FindStringSubmatch(line); m != nil {
			value := m[2]
			if strings.HasPrefix(value, `"`) {
				if err := json.Unmarshal([]byte(m[2]), &value); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
			}
			of[section+" "+m[1]] = value
		} else if line != "" {
			t.Fatalf("%s has a line %q", key, line)
		}
	}
	return of
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

func documents(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	var out []map[string]any
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var o map[string]any
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return slices.DeleteFunc(out, func(o map[string]any) bool { return o == nil })
		} else if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		out = append(out, o)
	}
}

func indented(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
