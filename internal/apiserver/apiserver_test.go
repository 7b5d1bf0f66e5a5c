package apiserver

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// decode reads an object as a cluster's build gives it, which has integers.
func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

const container = "containers: [{name: a, image: a}]"

// TestValidate has an object that the API server takes of each kind, and changes that it refuses.
func TestValidate(t *testing.T) {
	t.Parallel()
	workload := "{selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {" + container + "}}}"
	job := "{template: {spec: {restartPolicy: Never, " + container + "}}}"
	tested := map[schema.GroupVersionKind]bool{}
	for _, c := range []struct {
		apiVersion, kind, rest string
		// refused are pairs of what is changed in rest, and the field of the error.
		refused []string
	}{
		{"apps/v1", "DaemonSet", "spec: " + workload, []string{"image: a->image: ''", "spec.template.spec.containers[0].image"}},
		{"apps/v1", "Deployment", "spec: " + workload, []string{
			"image: a->image: a, ports: [{containerPort: 70000}]", "spec.template.spec.containers[0].ports[0].containerPort",
			"image: a->image: a, ports: [{containerPort: 80, name: a_name_that_is_long}]", "spec.template.spec.containers[0].ports[0].name",
			"image: a->image: a, volumeMounts: [{name: data, mountPath: /data}]", "spec.template.spec.containers[0].volumeMounts[0].name",
			"image: a->image: a, resources: {requests: {cpu: 2}, limits: {cpu: 1}}", "spec.template.spec.containers[0].resources.requests",
			"image: a->image: a, livenessProbe: {periodSeconds: -1, tcpSocket: {port: 80}}", "spec.template.spec.containers[0].livenessProbe.periodSeconds",
			"image: a->image: a, livenessProbe: {successThreshold: 2, tcpSocket: {port: 80}}", "spec.template.spec.containers[0].livenessProbe.successThreshold",
			"image: a->image: a, env: [{name: 'a=b', value: c}]", "spec.template.spec.containers[0].env[0].name",
			"[{name: a, image: a}]->[{name: a, image: a}, {name: a, image: b}]", "spec.template.spec.containers[1].name",
			"labels: {app: a}->labels: {app: a, b: 'our team!'}", "spec.template.labels",
			"labels: {app: a}->labels: {app: b}", "spec.template.metadata.labels",
			"{selector->{replicas: -1, selector", "spec.replicas",
		}},
		{"apps/v1", "ReplicaSet", "spec: " + workload, []string{"name: a, image->name: A, image", "spec.template.spec.containers[0].name"}},
		{"apps/v1", "StatefulSet", "spec: " + workload, []string{"{selector->{podManagementPolicy: Never, selector", "spec.podManagementPolicy"}},
		{"autoscaling/v2", "HorizontalPodAutoscaler", "spec: {minReplicas: 0, maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, metrics: [{type: External, external: {metric: {name: a}, target: {type: Value, value: 1}}}]}",
			[]string{"minReplicas: 0->minReplicas: 3", "spec.maxReplicas"}},
		{"batch/v1", "CronJob", "spec: {schedule: 0 3 * * *, jobTemplate: {spec: " + job + "}}", []string{"0 3 * * *->every day", "spec.schedule", "0 3 * * *->0 25 * * *", "spec.schedule"}},
		{"batch/v1", "Job", "spec: " + job, []string{"{template->{parallelism: -1, template", "spec.parallelism"}},
		{"v1", "ConfigMap", "data: {a: b}", []string{"{a->{'a b'", "data[a b]"}},
		{"v1", "LimitRange", "spec: {limits: [{type: Container, max: {cpu: 1}, min: {cpu: 1}}]}", []string{"min: {cpu: 1}->min: {cpu: 2}", "spec.limits[0].min[cpu]"}},
		{"v1", "Namespace", "spec: {}", []string{"spec: {}->spec: {finalizers: [A_B]}", "spec.finalizers"}},
		{"v1", "PersistentVolume", "spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, nfs: {server: a, path: /a}}", []string{"nfs: {server: a, path: /a}->nfs: {server: a, path: a}", "spec.nfs.path"}},
		{"v1", "PersistentVolumeClaim", "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}", []string{"ReadWriteOnce->ReadWriteAll", "spec.accessModes", "1Gi->-1Gi", "spec.resources[storage]"}},
		{"v1", "Pod", "spec: {" + container + "}", []string{"{containers->{hostNetwork: true, restartPolicy: Sometimes, containers", "spec.restartPolicy"}},
		{"v1", "ResourceQuota", "spec: {hard: {pods: 1}}", []string{"pods: 1->pods: -1", "spec.hard[pods]"}},
		{"v1", "Secret", "stringData: {a: b}", []string{"stringData: {a: b}->type: kubernetes.io/tls", "data[tls.crt]"}},
		{"v1", "Service", "spec: {type: LoadBalancer, externalTrafficPolicy: Local, clusterIP: None, ports: [{port: 80}]}->None->10.0.0.1", []string{
			"port: 80->port: 70000", "spec.ports[0].port", "[{port: 80}]->[{port: 80}, {port: 81}]", "spec.ports[0].name", "port: 80->port: 80, targetPort: UPPER", "spec.ports[0].targetPort"}},
		{"v1", "ServiceAccount", "automountServiceAccountToken: false", nil},
		{"networking.k8s.io/v1", "Ingress", "spec: {rules: [{host: a.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: a, port: {number: 80}}}}]}}]}", []string{
			"path: /,->path: a,", "spec.rules[0].http.paths[0].path", "number: 80->name: http, number: 80", "spec.rules[0].http.paths[0].backend", "a.example.com->A_b", "spec.rules[0].host"}},
		{"networking.k8s.io/v1", "IngressClass", "spec: {controller: example.com/a}", []string{"example.com/a->a", "spec.controller"}},
		{"networking.k8s.io/v1", "NetworkPolicy", "spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}", []string{"10.0.0.0/8->10.0.0.0", "spec.ingress[0].from[0].ipBlock.cidr"}},
		{"policy/v1", "PodDisruptionBudget", "spec: {minAvailable: 1, selector: {matchLabels: {a: b}}}", []string{"minAvailable: 1->minAvailable: 1, maxUnavailable: 1", "spec"}},
		{"rbac.authorization.k8s.io/v1", "ClusterRole", "rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]", []string{"verbs: [get]->verbs: []", "rules[0].verbs"}},
		{"rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: a}", []string{"kind: ClusterRole->kind: Role", "roleRef.kind"}},
		{"rbac.authorization.k8s.io/v1", "Role", "rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]", []string{"resources: [pods]->resources: []", "rules[0].resources", "{apiGroups->{nonResourceURLs: [/a], apiGroups", "rules[0].nonResourceURLs"}},
		{"rbac.authorization.k8s.io/v1", "RoleBinding", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: a}", []string{"name: a->name: ''", "roleRef.name", "kind: Role->kind: Rol", "roleRef.kind"}},
		{"scheduling.k8s.io/v1", "PriorityClass", "value: 1", []string{"value: 1->value: 2000000000", "value"}},
		{"storage.k8s.io/v1", "CSIDriver", "spec: {}", []string{"{}->{volumeLifecycleModes: [a]}", "spec.volumeLifecycleModes"}},
		{"storage.k8s.io/v1", "StorageClass", "provisioner: a", []string{"provisioner: a->provisioner: a, reclaimPolicy: Recycle", "reclaimPolicy"}},
		{"storage.k8s.io/v1", "VolumeAttributesClass", "driverName: a\nparameters: {a: b}", []string{"driverName: a->driverName: ''", "driverName"}},
	} {
		head := "apiVersion: " + c.apiVersion + "\nkind: " + c.kind + "\nmetadata: {name: a, creationTimestamp: null}\nstatus: {}\n"
		tested[schema.FromAPIVersionAndKind(c.apiVersion, c.kind)] = true
		rest := c.rest
		if text, change, ok := strings.Cut(rest, "->"); ok {
			old, replacement, _ := strings.Cut(change, "->")
			rest = strings.ReplaceAll(text, old, replacement)
		}
		if refused := Validate(decode(t, head+rest)); len(refused) > 0 {
			t.Errorf("%s %s: %v", c.kind, rest, refused.ToAggregate())
		}
		for i := 0; i+1 < len(c.refused); i += 2 {
			old, replacement, _ := strings.Cut(c.refused[i], "->")
			text := strings.Replace(rest, old, replacement, 1)
			text = strings.Replace(text, "provisioner: a, ", "provisioner: a\n", 1)
			var fields []string
			for _, e := range Validate(decode(t, head+text)) {
				fields = append(fields, e.Field)
			}
			if text == rest || !slices.ContainsFunc(fields, func(f string) bool { return strings.HasPrefix(f, c.refused[i+1]) }) {
				t.Errorf("%s %s: refused %q, want %s", c.kind, text, fields, c.refused[i+1])
			}
		}
	}
	for gvk := range kinds {
		if !tested[gvk] {
			t.Errorf("no %s is tested", gvk)
		}
	}
}

// TestNotJudged: what is of another kind, or does not decode, is another's to report, and the object stays as it is.
func TestNotJudged(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"apiVersion: example.com/v1\nkind: Service\nspec: {ports: [{port: 70000}]}",
		"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: '${PORT}'}]}",
		"apiVersion: v1\nkind: Service\nmetadata: a",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: 'ENC[a]'}",
	} {
		if refused := Validate(decode(t, text)); len(refused) > 0 {
			t.Errorf("%s: %v", text, refused)
		}
	}
	object := decode(t, "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {template: {spec: {restartPolicy: Never, "+container+"}}}")
	before, _ := yaml.Marshal(object)
	Validate(object)
	if after, _ := yaml.Marshal(object); string(after) != string(before) {
		t.Errorf("the object is %s afterwards", after)
	}
}
