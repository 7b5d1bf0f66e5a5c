package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	release "helm.sh/helm/v4/pkg/release/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// helm installs, changes and uninstalls a release in each workload namespace of each tenant, as helm-controller
// does: its own account asks the API server to impersonate the tenant's, TENANT-helm.
func (s *site) helm(t *testing.T) {
	controller := s.flux.As("flux-system", "helm-controller")
	for _, tenant := range s.tenants(t) {
		profile := s.fleet.Profile(tenant.name)
		var hosts []any
		for _, host := range s.fleet.TenantSpec(tenant.name).Hosts[:min(1, len(s.fleet.TenantSpec(tenant.name).Hosts))] {
			hosts = append(hosts, strings.Replace(host, "*", "shop", 1))
		}
		for _, namespace := range tenant.namespaces {
			t.Run(namespace, func(t *testing.T) {
				t.Parallel()
				r := &releases{
					Helm: controller.Helm(t, namespace, tenant.name+"-helm"),
					flux: s.flux, namespace: namespace, profile: profile, hosts: hosts,
				}
				r.life(t)
				r.refused(t)
				s.proved(t, "as %s/%s-helm with profile %s: a chart is installed, upgraded, rolled back and uninstalled; %d are refused and leave nothing",
					namespace, tenant.name, profile, len(r.refusals()))
			})
		}
	}
}

// releases are the releases of one tenant in one namespace.
type releases struct {
	*harness.Helm
	flux               *harness.Flux
	namespace, profile string
	hosts              []any // at most one, which the tenant may serve
}

// identities reports whether charts may contain accounts and roles of their own.
func (r *releases) identities() bool { return r.profile != "restricted" }

func (r *releases) values(message string, extra bool) map[string]any {
	return map[string]any{"message": message, "extra": extra, "identities": r.identities(), "hosts": r.hosts}
}

// life installs, upgrades, rolls back and uninstalls a release. The upgrade changes a
// value and removes one object; one that the API server refuses changes nothing.
func (r *releases) life(t *testing.T) {
	before := r.objects(t)
	must(t, r.Install("web", newChart(), r.values("first", true)))
	r.want(t, 1, "first", true)
	must(t, r.Upgrade("web", newChart(), r.values("second", false)))
	r.want(t, 2, "second", false)
	must(t, r.Rollback("web", 1))
	r.want(t, 3, "first", true)
	wantRefused(t, "an upgrade with a ClusterRole", r.Upgrade("web", newChart(clusterRole), r.values("third", true)), `cannot get resource "clusterroles"`)
	r.want(t, 3, "first", true)
	must(t, r.Uninstall("web"))
	r.wantObjects(t, "the uninstallation", before)
}

// want compares the namespace with the objects that the release's last revision must have created
// when Helm reports that it is ready.
func (r *releases) want(t *testing.T, revision int, message string, extra bool) {
	t.Helper()
	last, err := r.Last("web")
	must(t, err)
	if last.Version != revision || last.Info.Status != "deployed" {
		t.Fatalf("revision %d of the release is %s, want revision %d deployed", last.Version, last.Info.Status, revision)
	}
	if len(last.Hooks) != 1 || revision < 3 && last.Hooks[0].LastRun.Phase != release.HookPhaseSucceeded {
		t.Errorf("revision %d: the Job of the hook did not succeed: %v", revision, last.Hooks)
	}
	config, err := r.flux.Kube.CoreV1().ConfigMaps(r.namespace).Get(t.Context(), "web", metav1.GetOptions{})
	must(t, err)
	if config.Data["message"] != message {
		t.Errorf("revision %d: the message is %q, want %q", revision, config.Data["message"], message)
	}
	deployment, err := r.flux.Kube.AppsV1().Deployments(r.namespace).Get(t.Context(), "web", metav1.GetOptions{})
	must(t, err)
	if s := deployment.Status; s.ObservedGeneration != deployment.Generation || s.UpdatedReplicas != 1 || s.AvailableReplicas != 1 {
		t.Errorf("revision %d: Helm did not wait for the Deployment: %+v", revision, s)
	}
	objects := r.objects(t)
	if slices.Contains(objects, "ConfigMap "+r.namespace+"/web-extra") != extra {
		t.Errorf("revision %d: web-extra should be there: %t; there are\n%s", revision, extra, strings.Join(objects, "\n"))
	}
}

// A refusal is an object that a chart must not contain, and the API server's answer.
type refusal struct {
	what, template, reason string
	stuck                  bool // its uninstallation is refused, too
}

// refusals returns the refusals of the profile.
func (r *releases) refusals() []refusal {
	refusals := []refusal{
		{"a ClusterRole", clusterRole, `cannot get resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope`, false},
		{"a look at another namespace", lookup, `cannot get resource "secrets" in API group "" in the namespace "flux-system"`, false},
		{"an object of another namespace", elsewhere, `cannot get resource "configmaps" in API group "" in the namespace "flux-system"`, false},
		// The ClusterRole admin may read quotas. Helm, which checks first, then gets as far
		// as a record, and deleting the quota is refused as well.
		{"a quota", quota, `resource "resourcequotas" in API group ""`, r.profile == "admin"},
	}
	if r.identities() {
		return append(refusals, refusal{"a Role that grants more than the account has", escalation, "attempting to grant RBAC permissions not currently held", false})
	}
	return append(refusals, refusal{"a Role", escalation, `cannot get resource "roles"`, false})
}

// refused installs charts that the API server must refuse. As helm-controller does after a
// failed installation, it uninstalls releases that have a record; then nothing may be left.
func (r *releases) refused(t *testing.T) {
	before := r.objects(t)
	for _, refusal := range r.refusals() {
		wantRefused(t, refusal.what, r.Install("refused", newChart(refusal.template), r.values("", true)), refusal.reason)
		if _, err := r.Last("refused"); err == nil {
			err := r.Uninstall("refused")
			if stuck := err != nil; stuck != refusal.stuck {
				t.Errorf("a chart with %s: its uninstallation is refused: %t, want %t: %v", refusal.what, stuck, refusal.stuck, err)
			}
			must(t, r.Forget("refused"))
		}
		r.wantObjects(t, "a chart with "+refusal.what, before)
	}
}

func wantRefused(t *testing.T, what string, err error, reason string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "forbidden") || !strings.Contains(err.Error(), reason) {
		t.Errorf("%s: %v; it should be forbidden: %s", what, err, reason)
	}
}

// objects returns the IDs of all objects in the namespace.
func (r *releases) objects(t *testing.T) []string {
	t.Helper()
	var ids []string
	for _, object := range r.flux.List(t, r.namespace, metav1.ListOptions{}) {
		ids = append(ids, harness.ID(object))
	}
	return ids
}

// wantObjects waits until the namespace has the same objects as before, and no others.
func (r *releases) wantObjects(t *testing.T, after string, before []string) {
	t.Helper()
	harness.Eventually(t, patience, after+" leaves nothing in "+r.namespace, func(context.Context) (bool, string) {
		now := r.objects(t)
		return slices.Equal(now, before), fmt.Sprintf("there are\n%s\nand there were\n%s", strings.Join(now, "\n"), strings.Join(before, "\n"))
	})
}

// newChart returns a chart of the usual kind, with additional templates.
func newChart(more ...string) *chart.Chart {
	c := &chart.Chart{Metadata: &chart.Metadata{APIVersion: chart.APIVersionV2, Name: "web", Version: "1.0.0", Type: "application"}}
	for i, template := range append([]string{workloads, configuration, identities, hook}, more...) {
		c.Templates = append(c.Templates, &common.File{Name: fmt.Sprintf("templates/%d.yaml", i), Data: []byte(template)})
	}
	c.Templates = append(c.Templates, &common.File{Name: "templates/_pod.tpl", Data: []byte(podTemplate)})
	return c
}

// The templates of the chart. Its pods satisfy the pod security level restricted.
const (
	podTemplate = `{{ define "pod" }}
serviceAccountName: {{ .Values.identities | ternary .Release.Name "default" }}
automountServiceAccountToken: false
securityContext: {runAsNonRoot: true, runAsUser: 10001, seccompProfile: {type: RuntimeDefault}}
containers:
- name: web
  image: example.com/web:1.0.0
  securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
  resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {cpu: 100m, memory: 16Mi}}
{{ end }}`

	workloads = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: 1
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata:
      labels: {app: {{ .Release.Name }}}
      annotations: {checksum/message: {{ .Values.message | sha256sum }}}
    spec: {{- include "pod" . | nindent 6 }}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: {{ .Release.Name }}}
spec:
  schedule: "0 3 1 1 *"
  jobTemplate:
    spec:
      template:
        spec: {{- include "pod" . | nindent 10 }}
          restartPolicy: OnFailure
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: {{ .Release.Name }}}
spec:
  maxUnavailable: 1
  selector: {matchLabels: {app: {{ .Release.Name }}}}`

	configuration = `
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data: {message: {{ .Values.message | quote }}}
---
apiVersion: v1
kind: Secret
metadata: {name: {{ .Release.Name }}}
stringData: {message: {{ .Values.message | quote }}}
---
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}}
spec:
  selector: {app: {{ .Release.Name }}}
  ports: [{name: http, port: 80}]
{{ range .Values.hosts }}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: {{ $.Release.Name }}}
spec:
  rules:
  - host: {{ . | quote }}
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: {{ $.Release.Name }}, port: {name: http}}}}]}
{{ end }}
{{ if .Values.extra }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-extra}
{{ end }}`

	identities = `{{ if .Values.identities }}
apiVersion: v1
kind: ServiceAccount
metadata: {name: {{ .Release.Name }}}
automountServiceAccountToken: false
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: {{ .Release.Name }}}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: {{ .Release.Name }}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ .Release.Name }}}
subjects: [{kind: ServiceAccount, name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}]
{{ end }}`

	hook = `
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-migration
  annotations:
    helm.sh/hook: post-install,post-upgrade
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  template:
    spec: {{- include "pod" . | nindent 6 }}
      restartPolicy: Never`
)

// Templates that no chart of a tenant may have.
const (
	clusterRole = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: {{ .Release.Namespace }}-{{ .Release.Name }}}
rules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]`

	elsewhere = `
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}, namespace: flux-system}`

	lookup = `
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-seen}
data: {seen: {{ lookup "v1" "Secret" "flux-system" "sops-age" | toJson | quote }}}`

	quota = `
apiVersion: v1
kind: ResourceQuota
metadata: {name: {{ .Release.Name }}}
spec: {hard: {pods: "1000"}}`

	escalation = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: {{ .Release.Name }}-more}
rules: [{apiGroups: [""], resources: [resourcequotas], verbs: [delete]}]`
)
