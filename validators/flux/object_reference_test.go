package flux

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// TestObjectReferences: a typo is certain, another name only where nothing else may create the object.
func TestObjectReferences(t *testing.T) {
	t.Parallel()
	const in = "-- clusters/prod/podinfo.yaml --\n"
	object := func(apiVersion, kind, rest string) string {
		return "---\napiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: NAME, namespace: default}\n" + rest + "\n"
	}
	pod := func(spec string) string {
		return object("apps/v1", "Deployment", "spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {"+spec+"}}}")
	}
	settings := strings.ReplaceAll(object("v1", "ConfigMap", ""), "NAME", "settings")
	route := object("gateway.networking.k8s.io/v1", "HTTPRoute", "spec: {rules: [{backendRefs: [{name: webserve, port: 80}]}]}")
	service := strings.ReplaceAll(object("v1", "Service", "spec: {ports: [{port: 80, name: web, targetPort: 8080}]}"), "NAME", "webserver")
	backend := func(name string, port int) string {
		return object("gateway.networking.k8s.io/v1", "HTTPRoute", fmt.Sprintf("spec: {rules: [{backendRefs: [{name: %s, port: %d}]}]}", name, port))
	}
	ingress := func(port string) string {
		return object("networking.k8s.io/v1", "Ingress", "spec: {rules: [{http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: webserver, port: {"+port+"}}}}]}}]}")
	}
	scaler := func(name string) string {
		return object("autoscaling/v2", "HorizontalPodAutoscaler", "spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: "+name+"}}")
	}
	binding := func(role string) string {
		return object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "+role+"}")
	}
	configMap := pod("volumes: [{name: a, configMap: {name: missing}}]")
	three := ""
	for _, name := range []string{"one", "two", "three"} {
		three += strings.ReplaceAll(object("v1", "ConfigMap", "")+pod("volumes: [{name: a, configMap: {name: "+name+"}}]"), "NAME", name)
	}
	chart := "-- clusters/prod/release.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: other}\nspec: {interval: 1h, chartRef: {kind: OCIRepository, name: a}}\n"
	for name, c := range map[string]struct {
		files string
		want  finding.Severity
	}{
		"a typo of a ConfigMap":                            {in + settings + pod("volumes: [{name: a, configMap: {name: setings}}]"), finding.Error},
		"a typo beside a chart":                            {in + settings + pod("volumes: [{name: a, configMap: {name: setings}}]") + chart, finding.Error},
		"a typo that is optional":                          {in + settings + pod("volumes: [{name: a, configMap: {name: setings, optional: true}}]"), ""},
		"another name":                                     {in + configMap, finding.Warning},
		"another name beside a chart":                      {in + configMap + strings.ReplaceAll(chart, "other", "default"), finding.Warning},
		"the only one that is missing":                     {in + three + configMap, finding.Error},
		"the only one beside a chart":                      {in + three + configMap + strings.ReplaceAll(chart, "other", "default"), finding.Error},
		"one of two beside a chart":                        {in + three + configMap + pod("volumes: [{name: a, configMap: {name: lost}}]") + strings.ReplaceAll(chart, "other", "default"), ""},
		"a name of a chart":                                {in + configMap + strings.NewReplacer("other", "default", "name: a,", "name: missing,").Replace(chart), ""},
		"a name in the values of a chart":                  {in + configMap + strings.NewReplacer("other", "default", "spec: {", "spec: {values: {a: [missing-x]}, ").Replace(chart), ""},
		"another name beside a chart of another namespace": {in + configMap + chart, finding.Warning},
		"another name beside an operator":                  {in + configMap + object("example.com/v1", "Foo", ""), finding.Warning},
		"a name in the object of an operator":              {in + configMap + object("example.com/v1", "Foo", "spec: {bar: missing}"), ""},
		"a name of an operator's group":                    {in + configMap + object("missing.com/v1", "Foo", ""), ""},
		"another name in a namespace of Kubernetes":        {in + strings.ReplaceAll(configMap, "default", "kube-system"), ""},
		"another name that a script has":                   {in + configMap + "-- setup.sh --\nkubectl create configmap missing\n", ""},
		"another name of a Secret":                         {in + pod("volumes: [{name: a, secret: {secretName: missing}}]"), ""},
		"a claim":                                          {in + pod("volumes: [{name: a, persistentVolumeClaim: {claimName: data}}]"), finding.Warning},
		"a claim of a StatefulSet":                         {in + pod("volumes: [{name: a, persistentVolumeClaim: {claimName: data-a-0}}]") + object("apps/v1", "StatefulSet", "spec: {}"), ""},
		"a backend that is a typo":                         {in + service + route, finding.Warning},
		"a backend of another kind":                        {in + service + strings.Replace(route, "{name: webserve", "{kind: Foo, group: example.com, name: webserve", 1), ""},
		"a backend that nothing resembles":                 {in + route, finding.Warning},
		"one of a chart of its namespace":                  {in + route + strings.NewReplacer("other", "default", "name: a,", "name: webserve,").Replace(chart), ""},
		"a port of a backend":                              {in + service + backend("webserver", 80), ""},
		"a port that a Service does not have":              {in + service + backend("webserver", 81), finding.Warning},
		"a name of a port":                                 {in + service + ingress("name: web"), ""},
		"a name that no port has":                          {in + service + ingress("name: wbe"), finding.Warning},
		"the port of the pods":                             {in + service + ingress("number: 8080"), ""},
		"the target of an autoscaler":                      {in + pod("") + scaler("podinfo"), ""},
		"a target that is a typo":                          {in + pod("") + scaler("podinf"), finding.Warning},
		"a target of an operator's kind":                   {in + strings.Replace(scaler("podinf"), "apps/v1", "example.com/v1", 1), ""},
		"a ConfigMap beside a Certificate":                 {in + configMap + object("cert-manager.io/v1", "Certificate", ""), finding.Warning},
		"a role":                                           {in + object("rbac.authorization.k8s.io/v1", "RoleBinding", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: missing}"), finding.Warning},
		"a ClusterRole with a namespace":                   {in + strings.ReplaceAll(object("rbac.authorization.k8s.io/v1", "ClusterRole", "rules: []"), "NAME", "reader") + binding("reader"), ""},
		"a typo of one":                                    {in + strings.ReplaceAll(object("rbac.authorization.k8s.io/v1", "ClusterRole", "rules: []"), "NAME", "reader") + binding("redaer"), finding.Error},
		"a built-in role":                                  {in + object("rbac.authorization.k8s.io/v1", "RoleBinding", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}"), ""},
		"a typo of a built-in role":                        {in + object("rbac.authorization.k8s.io/v1", "RoleBinding", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admn}"), finding.Error},
		"a typo of a role of Kubernetes":                   {in + binding("system:auth-delegatr"), finding.Error},
		"another role of Kubernetes":                       {in + binding("system:controller:foo"), ""},
		"a name with an unknown variable":                  {in + pod("serviceAccountName: '${ACCOUNT}'"), ""},
		"a ConfigMap that kustomize creates":               {in + pod("volumes: [{name: a, configMap: {name: generated}}]") + "-- clusters/prod/kustomization.yaml --\nresources: [podinfo.yaml, flux-system]\nnamespace: default\nconfigMapGenerator: [{name: generated, literals: [a=b]}]\n", ""},
	} {
		found := ruletest.Find(t, ObjectReferenceMissing, fluxSync+strings.ReplaceAll(c.files, "NAME,", "podinfo,"))
		if c.want == "" && len(found) == 0 {
			continue
		}
		if len(found) != 1 || found[0].Severity != c.want {
			t.Errorf("%s: got %+v, want %q", name, found, c.want)
		}
	}
}

// TestSelectors: a label that is a typo is found whatever is unknown, another one where all pods are known.
// A namespace with many workloads and Services is checked whole.
func TestManySelectors(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("-- clusters/prod/all.yaml --\n")
	const n = 1001
	for i := range n {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a%[1]d, namespace: default, labels: {app: a%[1]d, part-of: all}}\nspec: {containers: []}\n"+
			"---\napiVersion: v1\nkind: Service\nmetadata: {name: a%[1]d, namespace: default}\nspec: {selector: {app: a%[1]d, part-of: all}, ports: [{port: 80}]}\n", i)
	}
	if found := ruletest.Find(t, SelectorUnmatched, fluxSync+b.String()); len(found) != 0 {
		t.Errorf("%d findings, the first: %+v", len(found), found[0])
	}
}

func TestSelectors(t *testing.T) {
	t.Parallel()
	object := func(apiVersion, kind, rest string) string {
		return "---\napiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: podinfo, namespace: default, labels: {app: web}}\n" + rest + "\n"
	}
	const in, chart = "-- clusters/prod/podinfo.yaml --\n", "-- clusters/prod/release.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: default}\nspec: {interval: 1h, chartRef: {kind: OCIRepository, name: a}}\n"
	pods := object("apps/v1", "Deployment", "spec: {selector: {matchLabels: {app: podinfo}}, template: {metadata: {labels: {app: podinfo, part: web}}, spec: {containers: []}}}")
	job := object("batch/v1", "CronJob", "spec: {jobTemplate: {spec: {template: {metadata: {labels: {app: job}}}}}}")
	service := func(labels string) string {
		return object("v1", "Service", "spec: {selector: {"+labels+"}, ports: [{port: 80}]}")
	}
	monitor := func(labels, rest string) string {
		return object("monitoring.coreos.com/v1", "ServiceMonitor", "spec: {selector: {matchLabels: {"+labels+"}}, endpoints: []"+rest+"}")
	}
	for name, c := range map[string]struct {
		files string
		want  int
	}{
		"all labels":                     {in + pods + service("app: podinfo, part: web"), 0},
		"the labels of a job":            {in + job + service("app: job"), 0},
		"a typo of a value":              {in + pods + service("app: podinf"), 1},
		"a typo of a name":               {in + strings.ReplaceAll(pods, "app:", "tier:") + service("teir: podinfo"), 1},
		"a typo beside a chart":          {in + pods + service("app: podinf") + chart, 1},
		"other labels":                   {in + pods + service("app: other"), 1},
		"labels of two objects":          {in + pods + job + service("app: job, part: web"), 1},
		"other labels beside a chart":    {in + pods + service("app: other") + chart, 0},
		"other labels in a script":       {in + pods + service("app: other") + "-- run.sh --\nkubectl run other\n", 0},
		"other labels beside a database": {in + pods + service("app: other") + object("postgresql.cnpg.io/v1", "Cluster", ""), 0},
		"an unknown label":               {in + pods + service("app: '${APP}'"), 0},
		"a label of a controller":        {in + pods + service("app: podinfo, statefulset.kubernetes.io/pod-name: a-0"), 0},
		"no selector":                    {in + service(""), 0},
		"another name for a host":        {in + object("v1", "Service", "spec: {type: ExternalName, selector: {app: other}}"), 0},
		"a budget":                       {in + pods + object("policy/v1", "PodDisruptionBudget", "spec: {selector: {matchLabels: {app: podinf}}}"), 1},
		"expressions":                    {in + pods + object("policy/v1", "PodDisruptionBudget", "spec: {selector: {matchLabels: {app: podinf}, matchExpressions: [{key: a, operator: Exists}]}}"), 0},
		"a monitor of pods":              {in + pods + object("monitoring.coreos.com/v1", "PodMonitor", "spec: {selector: {matchLabels: {app: podinf}}}"), 1},
		"a monitor":                      {in + pods + service("app: podinfo") + monitor("app: web", ""), 0},
		"a monitor of other labels":      {in + pods + service("app: podinfo") + monitor("app: podinfo", ""), 1},
		"a monitor of all namespaces":    {in + monitor("app: podinfo", ", namespaceSelector: {any: true}"), 0},
		"a monitor of another namespace": {in + pods + service("app: podinfo") + monitor("app: web", ", namespaceSelector: {matchNames: [other]}"), 1},
	} {
		if found := ruletest.Find(t, SelectorUnmatched, fluxSync+c.files); len(found) != c.want {
			t.Errorf("%s: got %+v", name, found)
		}
	}
}
