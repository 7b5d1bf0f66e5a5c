package e2e

import (
	"slices"
	"strings"
)

// A podTrial is a trial of a pod's specification, which is tried in every kind that creates pods.
type podTrial struct {
	line, what      string
	spec, container string // fields that are added to a careful pod and to its container
	by              refusedBy
}

// podTrials are the trials of sections A and W: as whom pods run, and what they may do.
var podTrials = []podTrial{
	{"W2", "a careful pod", "", "", admitted},
	{"A8", "a pod as default", "serviceAccountName: default, ", "", admitted},
	{"A8", "a pod as the tenant's account", "serviceAccountName: TENANT-helm, ", "", byPolicy},
	{"A8", "a pod as the tenant's account, by the old name of the field", "serviceAccount: TENANT-helm, ", "", byPolicy},
	{"W1", "a pod that is critical for the cluster", "priorityClassName: system-cluster-critical, ", "", byPolicy},
	{"W1", "a pod that is critical for its node", "priorityClassName: system-node-critical, ", "", byPolicy},
	{"W2", "a pod in the host's network", "hostNetwork: true, ", "", bySecurity},
	{"W2", "a pod among the host's processes", "hostPID: true, ", "", bySecurity},
	{"W2", "a pod in the host's IPC", "hostIPC: true, ", "", bySecurity},
	{"W2", "a pod with the host's files", "volumes: [{name: host, hostPath: {path: /}}], ", "", bySecurity},
	{"W2", "a pod with the host's port", "", "ports: [{containerPort: 80, hostPort: 80}], ", bySecurity},
	{"W3", "a pod whose probe calls another host", "", "livenessProbe: {httpGet: {host: 169.254.169.254, port: 80}}, ", bySecurity},
	{"W3", "a pod whose hook calls another host", "", "lifecycle: {postStart: {httpGet: {host: 169.254.169.254, port: 80}}}, ", bySecurity},
	{"W3", "a pod whose probe calls itself", "", "livenessProbe: {httpGet: {port: 80}}, ", admitted},
	{"W4", "a pod with more than its share", "", "resources: {limits: {memory: 1Ti}}, ", byLimit},
	{"W4", "a pod with its share", "", "resources: {limits: {memory: 256Mi}}, ", admitted},
	{"Z1", "a pod with a Secret of its namespace", "volumes: [{name: any, secret: {secretName: any}}], ", "", admitted},
	{"Z6", "a pod on a node of its choice", "nodeName: control-plane, ", "", admitted},
	{"Z6", "a pod on nodes of the control plane", "tolerations: [{operator: Exists}], ", "", admitted},
	{"Z6", "a pod of another scheduler", "schedulerName: other, ", "", admitted},
	{"Z7", "an image that is on the node", "", "imagePullPolicy: Never, ", admitted},
}

// carriers are the kinds that create pods, and Pod itself.
var carriers = []struct {
	who           grant
	before, after string
}{
	{accounts, `{apiVersion: apps/v1, kind: Deployment, spec: {selector: {matchLabels: {app: web}}, template: `, `}}`},
	{accounts, `{apiVersion: apps/v1, kind: StatefulSet, spec: {serviceName: web, selector: {matchLabels: {app: web}}, template: `, `}}`},
	{accounts, `{apiVersion: apps/v1, kind: DaemonSet, spec: {selector: {matchLabels: {app: web}}, template: `, `}}`},
	{accounts, `{apiVersion: batch/v1, kind: Job, spec: {template: `, `}}`},
	{accounts, `{apiVersion: batch/v1, kind: CronJob, spec: {schedule: "0 3 1 1 *", jobTemplate: {spec: {template: `, `}}}}`},
	{admins, `{apiVersion: apps/v1, kind: ReplicaSet, spec: {selector: {matchLabels: {app: web}}, template: `, `}}`},
	{admins, `{apiVersion: v1, kind: ReplicationController, spec: {selector: {app: web}, template: `, `}}`},
	{admins, `{apiVersion: v1, kind: Pod, `, `}`},
}

// trials returns the pod's trial in every kind.
func (p podTrial) trials() []trial {
	var trials []trial
	for _, c := range carriers {
		restart := ""
		if strings.Contains(c.before, "kind: Job") || strings.Contains(c.before, "kind: CronJob") {
			restart = "restartPolicy: Never, "
		}
		spec := `{` + p.spec + restart + `securityContext: {runAsNonRoot: true, runAsUser: 10001, seccompProfile: {type: RuntimeDefault}}, ` +
			`containers: [{name: web, image: "example.com/web:1.0.0", ` + p.container +
			`securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}`
		template := `{metadata: {labels: {app: web}}, spec: ` + spec + `}`
		if strings.Contains(c.before, "kind: Pod,") {
			template = `spec: ` + spec
		}
		line := p.line
		if line == "A8" && template[0] == '{' {
			line = "A9" // of templates
		}
		trials = append(trials, trial{line, p.what, c.who, c.before + template + c.after, p.by})
	}
	return trials
}

// allTrials returns the trials of every section.
func allTrials() []trial {
	trials := slices.Concat(accountTrials, sourceTrials, imageTrials, referenceTrials, identityTrials, shareTrials, trafficTrials)
	for _, p := range podTrials {
		trials = append(trials, p.trials()...)
	}
	return trials
}

func secretOf(kind, account, data string) string {
	return `{apiVersion: v1, kind: Secret, type: ` + kind + `, metadata: {name: trial, annotations: {kubernetes.io/service-account.name: ` + account + `}}, ` + data + `}`
}

const role = `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, rules: `

func binding(ref, subject string) string {
	return `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {apiGroup: rbac.authorization.k8s.io, ` + ref + `}, subjects: [` + subject + `]}`
}

// identityTrials are the trials of tokens, accounts and roles.
var identityTrials = []trial{
	{"A7", "a token of its own account", accounts, secretOf("kubernetes.io/service-account-token", "TENANT-helm", ""), byPolicy},
	{"A7", "a token of default", accounts, secretOf("kubernetes.io/service-account-token", "default", ""), byPolicy},
	{"A7", "a Secret of any type", accounts, secretOf("example.com/any", "web", "stringData: {a: b}"), admitted},
	{"A7", "a Secret", accounts, `{apiVersion: v1, kind: Secret, stringData: {a: b}}`, admitted},
	{"A7", "a login of a registry", accounts, `{apiVersion: v1, kind: Secret, type: kubernetes.io/dockerconfigjson, stringData: {.dockerconfigjson: "{}"}}`, admitted},
	{"A7", "a certificate", accounts, `{apiVersion: v1, kind: Secret, type: kubernetes.io/tls, stringData: {tls.crt: "", tls.key: ""}}`, admitted},
	{"A12", "a Role with what it has", chartAuthors, role + `[{apiGroups: [""], resources: [configmaps], verbs: [get]}]}`, admitted},
	{"A12", "a Role with everything", nobody, role + `[{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]}`, admitted},
	{"A12", "a Role that may act as others", nobody, role + `[{apiGroups: [""], resources: [users, groups], verbs: [impersonate]}]}`, admitted},
	{"A12", "a Role that may bind", nobody, role + `[{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind, escalate]}]}`, admitted},
	{"A12", "a Role that may write quotas", nobody, role + `[{apiGroups: [""], resources: [resourcequotas], verbs: [patch]}]}`, admitted},
	{"A12", "cluster-admin in its namespace", nobody, binding("kind: ClusterRole, name: cluster-admin", `{kind: ServiceAccount, name: default, namespace: HERE}`), admitted},
	{"A13", "cluster-admin", nobody, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: [{kind: ServiceAccount, name: TENANT, namespace: SYNC}]}`, admitted},
	{"A13", "a role that others' are made of", nobody, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: trial, labels: {rbac.authorization.k8s.io/aggregate-to-admin: "true"}}, rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]}`, admitted},
	{"A13", "a namespace", nobody, `{apiVersion: v1, kind: Namespace, metadata: {name: trial, labels: {toolkit.fluxcd.io/tenant: other}}}`, admitted},
	{"A13", "a class of priority", nobody, `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, value: 1000000}`, admitted},
	{"A13", "a webhook", nobody, `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, webhooks: []}`, admitted},
	{"A13", "a volume of the node's files", nobody, `{apiVersion: v1, kind: PersistentVolume, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /}}}`, admitted},
	{"A13", "no policy of its own", nobody, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: tenant-TENANT-sources}, spec: {policyName: tenant-TENANT-sources, validationActions: [Audit]}}`, admitted},
	{"A14", "no pod security", nobody, `{apiVersion: v1, kind: Namespace, metadata: {name: HERE, labels: {pod-security.kubernetes.io/enforce: privileged}}}`, admitted},
	{"A14", "another tenant's label", nobody, `{apiVersion: v1, kind: Namespace, metadata: {name: HERE, labels: {toolkit.fluxcd.io/tenant: other}}}`, admitted},
	{"A17", "a quota", nobody, `{apiVersion: v1, kind: ResourceQuota, metadata: {name: TENANT}, spec: {hard: {pods: "1000"}}}`, admitted},
	{"A17", "limits", nobody, `{apiVersion: v1, kind: LimitRange, metadata: {name: TENANT}, spec: {limits: []}}`, admitted},
	{"A17", "no network policy", admins, `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: default-deny}, spec: {podSelector: {}, egress: [{}], policyTypes: [Egress]}}`, admitted},
	{"A19", "endpoints of any address", nobody, `{apiVersion: v1, kind: Endpoints, subsets: [{addresses: [{ip: 10.0.0.1}], ports: [{port: 443}]}]}`, admitted},
	{"A19", "an endpoint slice of any address", nobody, `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, endpoints: [{addresses: [10.0.0.1]}]}`, admitted},
}

// shareTrials are the trials of section W that are not about pods.
var shareTrials = []trial{
	{"W4", "a volume", accounts, claim("1Gi"), admitted},
	{"W4", "a volume beyond the quota", accounts, claim("1Pi"), byQuota},
	{"W8", "a scaler of its own", accounts, scaler(""), admitted},
	{"W8", "a scaler of another namespace's workload", accounts, scaler(", namespace: flux-system"), bySchema},
	{"Z6", "a volume of its choice", accounts, `{apiVersion: v1, kind: PersistentVolumeClaim, spec: {volumeName: any, storageClassName: any, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`, admitted},
	{"Z8", "pods that may not be evicted", accounts, `{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {maxUnavailable: 0, selector: {matchLabels: {app: web}}}}`, admitted},
	{"Z8", "an object with a finalizer", accounts, `{apiVersion: v1, kind: ConfigMap, metadata: {name: trial, finalizers: [example.com/hold]}}`, admitted},
}

func claim(size string) string {
	return `{apiVersion: v1, kind: PersistentVolumeClaim, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: ` + size + `}}}}`
}

func scaler(more string) string {
	return `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web` + more + `}}}`
}
