package schemas

import (
	"slices"
	"strings"
	"testing"
)

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app.kubernetes.io/name: web}
  annotations: {example.com/a.b: "1"}
  creationTimestamp: null
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 1}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: nginx
          ports: [{containerPort: 80, name: http}]
          env: [{name: A, value: "1"}]
          resources: {requests: {cpu: 0.5, memory: 1Gi}, limits: {cpu: 1, memory: 2e9}}
          securityContext: {}
          livenessProbe: {httpGet: {path: /, port: http}}
      volumes: [{name: tmp, emptyDir: {}}]
status: {anything: true}
`

func TestValidate(t *testing.T) {
	const release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: b}\n"
	const ref = "  chartRef: {kind: OCIRepository, name: a}\n"
	const cm = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"deployment", deployment, nil},
		{"free-form values", release + "spec:\n  interval: 1h\n" + ref + "  values: {a: {b: [1, null]}, x: null}\n", nil},
		{"unknown field with its nearest name", release + "spec:\n  intervall: 1h\n  interval: 1h\n" + ref, []string{
			`unknown field: spec.intervall: unknown field "intervall" in spec (did you mean "interval"?)`}},
		{"unknown field far from all", release + "spec:\n  interval: 1h\n  chartRef: {kind: OCIRepository, name: a, zzz: b}\n", []string{
			`unknown field: spec.chartRef.zzz: unknown field "zzz" in spec.chartRef (the existing fields are apiVersion, kind, name, namespace)`}},
		{"unknown field at the top", release + "specs: {}\nspec:\n  interval: 1h\n" + ref, []string{
			`unknown field: specs: unknown field "specs" at the top of HelmRelease (did you mean "spec"?)`}},
		{"required", release + "spec: {chartRef: {kind: OCIRepository, name: a}}\n", []string{
			"invalid: spec.interval: spec.interval is required"}},
		{"a misspelt required field is told once", release + "spec:\n  intervall: 1h\n" + ref, []string{
			`unknown field: spec.intervall: unknown field "intervall" in spec (did you mean "interval"?)`}},
		{"another one is required too", release + "spec:\n  zzz: 1h\n" + ref, []string{
			"invalid: spec.interval: spec.interval is required",
			`unknown field: spec.zzz: unknown field "zzz" in spec (the existing fields are chart, chartRef, commonMetadata, dependsOn, driftDetection, healthCheckExprs, install, interval, kubeConfig, maxHistory, persistentClient, postRenderStrategy, postRenderers, releaseName, rollback, serviceAccountName, storageNamespace, suspend, targetNamespace, test and 6 more)`}},
		{"a number for a duration", release + "spec:\n  interval: 10\n" + ref, []string{
			`invalid: spec.interval: spec.interval must be a string, not an integer (a duration has a unit: 10s for seconds, 10m for minutes)`}},
		{"a duration without a unit", release + "spec:\n  interval: \"10\"\n" + ref, []string{
			`invalid: spec.interval: spec.interval is "10", must match '^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$' (a duration has a unit: 10s for seconds, 10m for minutes)`}},
		{"a text for a number", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: \"80\"}]}\n", []string{
			`invalid: spec.ports[0].port: spec.ports[0].port must be an integer, not a string (write it without quotes: 80)`}},
		{"a text with a zero in front for a number", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: \"0755\"}]}\n", []string{
			`invalid: spec.ports[0].port: spec.ports[0].port must be an integer, not a string (write it without quotes: 755; 0755 without them is octal, and means 493)`}},
		{"a map for a list is told once", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: {port: 80, name: http}}\n", []string{
			"invalid: spec.ports: spec.ports must be a list, not a map"}},
		{"a list for a map is told once", release + "spec:\n  interval: 1h\n  install: [{crds: Create}, {remediation: {retries: 3}}]\n" + ref, []string{
			"invalid: spec.install: spec.install must be a map, not a list"}},
		{"null is no value", release + "spec:\n  interval: null\n" + ref, []string{
			"invalid: spec.interval: spec.interval is required"}},
		{"enum", release + "spec:\n  interval: 1h\n  chartRef: {kind: ocirepository, name: a}\n", []string{
			`invalid: spec.chartRef.kind: spec.chartRef.kind is "ocirepository", must be one of OCIRepository, HelmChart, ExternalArtifact (did you mean "OCIRepository"?)`}},
		{"pattern", release + "spec:\n  interval: often\n" + ref, []string{
			`invalid: spec.interval: spec.interval is "often", must match '^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$'`}},
		{"type", release + "spec:\n  interval: 1h\n  suspend: \"yes\"\n" + ref, []string{
			"invalid: spec.suspend: spec.suspend must be true or false, not a string (write true)"}},
		{"substituted", release + "spec:\n  interval: ${INTERVAL}\n  suspend: ${OFF:=false}\n" + ref, []string{
			"unresolved: spec.interval: spec.interval contains a variable with an unknown value",
			"unresolved: spec.suspend: spec.suspend contains a variable with an unknown value"}},
		{"annotation that is no text", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, annotations: {example.com/a.b: true}}\n", []string{
			`invalid: metadata.annotations["example.com/a.b"]: metadata.annotations["example.com/a.b"] must be a string, not true (quote it: "true")`}},
		{"unknown metadata", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, label: {a: b}}\n", []string{
			`unknown field: metadata.label: unknown field "label" in metadata (did you mean "labels"?)`}},
		{"number in a ConfigMap", cm + "data: {a: 1}\n", []string{
			`invalid: data.a: data.a must be a string, not an integer (quote it: "1")`}},
		{"Secret values are never told", secret + "data: {a: '!!s3cr3t'}\nstringData: {b: 5551234}\ntype: []\n", []string{
			"invalid: data.a: data.a must be base64 (encode it, or write it into stringData)",
			"invalid: stringData.b: stringData.b must be a string, not an integer (quote it)",
			"invalid: type: type must be a string, not a list"}},
		{"empty Secret", secret + "data: {a: '', b: \"\\n\"}\n", nil},
		{"generated Secret", secret + "data: {a: \"c2VjcmV0\\nc2VjcmV0\\r\\n\"}\n", nil},
		{"SOPS", secret + "data: {a: 'ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]'}\nsops: {mac: x}\n", nil},
		{"quantities", "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: a}\nspec: {hard: {pods: 10, requests.cpu: 1.5, requests.memory: 1GiB, limits.cpu: true}}\n", []string{
			`invalid: spec.hard["limits.cpu"]: spec.hard["limits.cpu"] must be a quantity, not true`,
			`invalid: spec.hard["requests.memory"]: spec.hard["requests.memory"] is "1GiB", must be a quantity`}},
		{"the operator's kinds in an alert", "apiVersion: notification.toolkit.fluxcd.io/v1beta3\nkind: Alert\nmetadata: {name: a}\nspec: {providerRef: {name: a}, eventSources: [{kind: FluxInstance, name: a}, {kind: Deployment, name: a}]}\n", []string{
			`invalid: spec.eventSources[1].kind: spec.eventSources[1].kind is "Deployment", must be one of Bucket, GitRepository, Kustomization, HelmRelease, HelmChart, HelmRepository, ImageRepository, ImagePolicy, ImageUpdateAutomation, OCIRepository, ArtifactGenerator, ExternalArtifact, FluxInstance, ResourceSet, ResourceSetInputProvider`}},
		{"list index", "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a}\nrules: [{verbs: [get], resources: [pods], apiGroups: ['']}, {verb: [get]}]\n", []string{
			`unknown field: rules[1].verb: unknown field "verb" in rules[1] (did you mean "verbs"?)`}},
		{"CRD of a CRD", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.b.c}\nspec: {group: b.c, scope: Namespaced, names: {plural: as, kind: A}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {anyOf: [{type: string}]}}}}}]}\n", nil},
		{"kustomization in any case", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nconfigMapgenerator: [{name: a, literals: [a=b]}]\nresources: [a]\n", nil},
		{"kustomization", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresource: [a]\nnamespace: 5\npatches: {a: b}\nimages: [{name: a, newtag: b, digests: c}]\n", []string{
			`unknown field: images[0].digests: unknown field "digests" in images[0] (did you mean "digest"?)`,
			"invalid: namespace: namespace must be a string, not an integer",
			"invalid: patches: patches must be a list, not a map",
			`unknown field: resource: unknown field "resource" at the top of a kustomization (did you mean "resources"?)`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := problems(t, c.in); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestValidateLeavesTheObjectAlone(t *testing.T) {
	o := object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, x: null}\nunknown: 1\nstatus: {}\n")
	s, _ := Lookup(gvk("v1", "ConfigMap"))
	if len(s.Validate(o)) != 2 {
		t.Error("the unknown fields are not found")
	}
	if _, ok := o["unknown"]; !ok || o["status"] == nil {
		t.Errorf("the object was changed: %v", o)
	}
}

func TestPathOfPrefersTheObjectsNames(t *testing.T) {
	o := map[string]any{
		"a.b": map[string]any{"c": int64(1)},
		"a":   map[string]any{"b[0]": []any{map[string]any{"x": "y"}}},
	}
	for text, want := range map[string]string{
		"a.b.c": `["a.b"].c`, ".a.b[0][0].x": `a["b[0]"][0].x`, "a.b.missing.d": `["a.b"]["missing.d"]`, "": "",
	} {
		if got := Field(pathOf(o, text)); got != want {
			t.Errorf("pathOf(%q) = %s, want %s", text, got, want)
		}
	}
}
