package tenant

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// oldest is the first Kubernetes that serves admissionregistration.k8s.io/v1
// policies: what it can't compile, no cluster may get.
var oldest = version.MajorMinor(1, 30)

type expression struct {
	name, text string
	kind       *celgo.Type
}

func (e expression) GetName() string            { return e.name }
func (e expression) GetExpression() string      { return e.text }
func (e expression) ReturnTypes() []*celgo.Type { return []*celgo.Type{e.kind} }

// compiled is a policy as the API server holds it.
type compiled struct {
	compiler               *cel.CompositedCompiler
	conditions, validation cel.ConditionEvaluator
	messages               []string
	rules                  []admissionregistrationv1.NamedRuleWithOperations
}

// compile does what the API server's ValidatingAdmissionPolicy plugin does.
func compile(t *testing.T, p *admissionregistrationv1.ValidatingAdmissionPolicy) compiled {
	t.Helper()
	compiler, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(oldest))
	if err != nil {
		t.Fatal(err)
	}
	options := cel.OptionalVariableDeclarations{}
	for _, v := range p.Spec.Variables {
		result := compiler.CompileAndStoreVariable(expression{v.Name, v.Expression, celgo.AnyType}, options, environment.NewExpressions)
		if result.Error != nil {
			t.Fatalf("%s: variable %s: %v", p.Name, v.Name, result.Error)
		}
	}
	c := compiled{compiler: compiler}
	var conditions, validations []cel.ExpressionAccessor
	for _, m := range p.Spec.MatchConditions {
		conditions = append(conditions, expression{m.Name, m.Expression, celgo.BoolType})
	}
	for _, v := range p.Spec.Validations {
		validations = append(validations, expression{"", v.Expression, celgo.BoolType})
		c.messages = append(c.messages, v.Message)
	}
	c.conditions = compiler.CompileCondition(conditions, options, environment.NewExpressions)
	c.validation = compiler.CompileCondition(validations, options, environment.NewExpressions)
	for _, err := range append(c.conditions.CompilationErrors(), c.validation.CompilationErrors()...) {
		t.Errorf("%s: %v", p.Name, err)
	}
	c.rules = p.Spec.MatchConstraints.ResourceRules
	return c
}

// asked is a request: the creation of an object, or with an old one its update.
type asked struct {
	object, old *unstructured.Unstructured
	subresource string
	groups      []string // of the user
}

func (a asked) operation() admission.Operation {
	if a.old != nil {
		return admission.Update
	}
	return admission.Create
}

func (a asked) resource() schema.GroupVersionResource {
	gvk := a.object.GroupVersionKind()
	return schema.GroupVersionResource{Group: gvk.Group, Version: gvk.Version, Resource: resourceOf(gvk.Kind)}
}

// matches says whether the policy is about the request.
func (c compiled) matches(a asked) bool {
	resource, all := a.resource().Resource, "*"
	if a.subresource != "" {
		resource, all = resource+"/"+a.subresource, "*/"+a.subresource
	}
	return slices.ContainsFunc(c.rules, func(r admissionregistrationv1.NamedRuleWithOperations) bool {
		return slices.Contains(r.APIGroups, a.resource().Group) && (slices.Contains(r.Resources, resource) || slices.Contains(r.Resources, all)) &&
			slices.Contains(r.Operations, admissionregistrationv1.OperationType(a.operation()))
	})
}

// judge returns why the API server would refuse a request; empty when it wouldn't.
func (c compiled) judge(t *testing.T, a asked) string {
	t.Helper()
	gvk, gvr := a.object.GroupVersionKind(), a.resource()
	attributes := admission.NewAttributesRecord(a.object, nil, gvk, a.object.GetNamespace(), a.object.GetName(), gvr, a.subresource, a.operation(), nil, false,
		&user.DefaultInfo{Name: "somebody", Groups: a.groups})
	versioned := &admission.VersionedAttributes{Attributes: attributes, VersionedKind: gvk, VersionedObject: admission.NewLazyObject(a.object)}
	if a.old != nil {
		versioned.VersionedOldObject = admission.NewLazyObject(a.old)
	}
	request := cel.CreateAdmissionRequest(attributes, metav1.GroupVersionResource(gvr), metav1.GroupVersionKind(gvk))
	evaluate := func(e cel.ConditionEvaluator) []cel.EvaluationResult {
		results, _, err := e.ForInput(c.compiler.CreateContext(t.Context()), versioned, request, cel.OptionalVariableBindings{}, nil, celconfig.RuntimeCELCostBudget)
		if err != nil {
			t.Fatal(err)
		}
		return results
	}
	for _, r := range evaluate(c.conditions) {
		if r.Error != nil {
			return r.Error.Error()
		}
		if r.EvalResult != types.True {
			return ""
		}
	}
	for i, r := range evaluate(c.validation) {
		if r.Error != nil {
			return r.Error.Error()
		}
		if r.EvalResult != types.True {
			return c.messages[i]
		}
	}
	return ""
}

func resourceOf(kind string) string {
	switch before, y := strings.CutSuffix(kind, "y"); {
	case y && !strings.HasSuffix(before, "a"):
		return strings.ToLower(before) + "ies"
	case strings.HasSuffix(kind, "s"):
		return strings.ToLower(kind) + "es"
	}
	return strings.ToLower(kind) + "s"
}

// judges are the compiled policies of a tenant.
func judges(t *testing.T, spec *v1alpha1.Spec, tenant *v1alpha1.Tenant) []compiled {
	t.Helper()
	var out []compiled
	for _, object := range admissionObjects(spec, tenant) {
		if p, ok := object.(*admissionregistrationv1.ValidatingAdmissionPolicy); ok {
			out = append(out, compile(t, p))
		}
	}
	return out
}

// judgeAll is judge of all policies.
func judgeAll(t *testing.T, policies []compiled, a asked) string {
	t.Helper()
	judged := false
	for _, p := range policies {
		if !p.matches(a) {
			continue
		}
		judged = true
		if refusal := p.judge(t, a); refusal != "" {
			return refusal
		}
	}
	if !judged {
		t.Fatalf("no policy judges a %s", a.object.GetKind())
	}
	return ""
}

const admissionSpec = `
apiVersion: fleetwright.dev/v1alpha1
kind: Fleet
metadata: {name: acme}
spec:
  repository: {url: https://github.com/acme/platform}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Cluster
metadata: {name: production}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Tenant
metadata: {name: shop}
spec:
  source: {url: https://github.com/acme/shop}
  namespaces: [shop, shop-jobs]
  hosts: [shop.example.com, "*.shop.example.org"]
---
apiVersion: fleetwright.dev/v1alpha1
kind: Tenant
metadata: {name: billing}
spec:
  allowedSources:
  - https://github.com/acme/
  - oci://ghcr.io/acme
  - https://storage.example.com/billing
  - https://charts.example.com/stable
  access: {profile: admin}
`

var admissionCases = []struct {
	name, tenant, object string
	// refusal is part of the message; empty when the object is let through.
	refusal string
}{
	{"own repository", "shop", "GitRepository shop: {url: https://github.com/acme/shop, ref: {branch: next}}", ""},
	{"own repository at another name", "shop", "GitRepository shop: {url: https://github.com/acme/shop-evil}", "URL is not allowed"},
	{"below own repository", "shop", "GitRepository shop: {url: https://github.com/acme/shop/x}", "URL is not allowed"},
	{"another repository", "shop", "GitRepository shop: {url: https://github.com/evil/repo}", "URL is not allowed"},
	{"user in front of the host", "shop", "GitRepository shop: {url: 'https://github.com/acme/shop@evil.com/x'}", "URL is not allowed"},
	{"chart of a starter", "shop", "OCIRepository shop: {url: oci://ghcr.io/stefanprodan/charts/podinfo}", "URL is not allowed"},
	{"helm repository", "shop", "HelmRepository shop: {url: https://charts.bitnami.com/bitnami}", "URL is not allowed"},
	{"bucket", "shop", "Bucket shop: {endpoint: s3.amazonaws.com, bucketName: loot}", "URL is not allowed"},
	{"submodules", "shop", "GitRepository shop: {url: https://github.com/acme/shop, recurseSubmodules: true}", "submodules"},
	{"no submodules", "shop", "GitRepository shop: {url: https://github.com/acme/shop, recurseSubmodules: false}", ""},

	{"allowed prefix", "billing", "GitRepository billing: {url: https://github.com/acme/lib}", ""},
	{"prefix of another organisation", "billing", "GitRepository billing: {url: https://github.com/acme-evil/lib}", "URL is not allowed"},
	{"allowed registry", "billing", "OCIRepository billing: {url: oci://ghcr.io/acme/charts/x}", ""},
	{"prefix without a slash", "billing", "OCIRepository billing: {url: oci://ghcr.io/acme-evil/x}", "URL is not allowed"},
	{"the allowed URL itself", "billing", "HelmRepository billing: {url: https://charts.example.com/stable}", ""},
	{"the allowed URL with a slash", "billing", "HelmRepository billing: {url: https://charts.example.com/stable/}", ""},
	{"dot segments", "billing", "GitRepository billing: {url: https://github.com/acme/../evil/lib}", "URL is not allowed"},
	{"dot segment at the end", "billing", "GitRepository billing: {url: https://github.com/acme/..}", "URL is not allowed"},
	{"dots in a name", "billing", "GitRepository billing: {url: https://github.com/acme/a..b/.github}", ""},
	{"escaped dot segments", "billing", "GitRepository billing: {url: https://github.com/acme/%2e%2e/evil/lib}", "URL is not allowed"},
	{"backslashes", "billing", `GitRepository billing: {url: 'https://github.com/acme/..\evil\lib'}`, "URL is not allowed"},
	{"query", "billing", "GitRepository billing: {url: 'https://github.com/acme/x?y'}", "URL is not allowed"},
	{"another protocol", "billing", "GitRepository billing: {url: http://github.com/acme/lib}", "URL is not allowed"},
	{"allowed bucket", "billing", "Bucket billing: {endpoint: storage.example.com, bucketName: billing}", ""},
	{"another bucket", "billing", "Bucket billing: {endpoint: storage.example.com, bucketName: billing2}", "URL is not allowed"},
	{"insecure bucket", "billing", "Bucket billing: {endpoint: storage.example.com, bucketName: billing, insecure: true}", "URL is not allowed"},

	{"own branch", "billing", "GitRepository billing: {url: https://github.com/acme/platform, ref: {branch: tenant/billing}}", ""},
	{"platform's branch", "billing", "GitRepository billing: {url: https://github.com/acme/platform, ref: {branch: main}}", "only spec.ref.branch"},
	{"another tenant's branch", "billing", "GitRepository billing: {url: https://github.com/acme/platform, ref: {branch: tenant/shop}}", "only spec.ref.branch"},
	{"default branch", "billing", "GitRepository billing: {url: https://github.com/acme/platform}", "only spec.ref.branch"},
	{"commit", "billing", "GitRepository billing: {url: https://github.com/acme/platform, ref: {branch: tenant/billing, commit: abc}}", "only spec.ref.branch"},
	{"name of a reference", "billing", "GitRepository billing: {url: https://github.com/acme/platform, ref: {name: refs/heads/main}}", "only spec.ref.branch"},
	{"tag", "billing", "GitRepository billing: {url: https://github.com/acme/platform, ref: {branch: tenant/billing, tag: v1}}", "only spec.ref.branch"},
	{"platform in capitals", "billing", "GitRepository billing: {url: https://github.com/acme/Platform.git, ref: {branch: main}}", "only spec.ref.branch"},
	{"a repository with the platform's beginning", "billing", "GitRepository billing: {url: https://github.com/acme/platform-docs, ref: {branch: main}}", ""},

	{"release as the tenant", "shop", "HelmRelease shop: {serviceAccountName: shop-helm, chartRef: {kind: OCIRepository, name: x}}", ""},
	{"release without an account", "shop", "HelmRelease shop: {chartRef: {kind: OCIRepository, name: x}}", "serviceAccountName"},
	{"release with an empty account", "shop", "HelmRelease shop: {serviceAccountName: ''}", "serviceAccountName"},
	{"release as default", "shop", "HelmRelease shop: {serviceAccountName: default}", "serviceAccountName"},
	{"release with a kubeconfig", "shop", "HelmRelease shop: {serviceAccountName: shop-helm, kubeConfig: {secretRef: {name: x}}}", "kubeConfig"},
	{"release of another namespace's chart", "shop", "HelmRelease shop: {serviceAccountName: shop-helm, chartRef: {kind: OCIRepository, name: x, namespace: flux-system}}", "another namespace"},
	{"release of another namespace's repository", "shop", "HelmRelease shop: {serviceAccountName: shop-helm, chart: {spec: {sourceRef: {kind: HelmRepository, name: x, namespace: flux-system}}}}", "another namespace"},
	{"resource set as the tenant", "shop", "ResourceSet shop: {serviceAccountName: shop-helm}", ""},
	{"resource set as the operator", "shop", "ResourceSet shop: {inputs: []}", "serviceAccountName"},
	{"release that names its own namespace", "shop", "HelmRelease shop: {serviceAccountName: shop-helm, chart: {spec: {sourceRef: {kind: HelmRepository, name: x, namespace: shop}}}}", ""},
	{"sync as the tenant", "shop", "Kustomization shop-flux: {serviceAccountName: shop, sourceRef: {kind: GitRepository, name: x}}", ""},
	{"sync as somebody else", "shop", "Kustomization shop-flux: {serviceAccountName: shop-helm, sourceRef: {kind: GitRepository, name: x}}", "serviceAccountName"},
	{"Kustomization beside the workloads", "shop", "Kustomization shop: {serviceAccountName: shop-helm, sourceRef: {kind: GitRepository, name: x}}", ""},
	{"Kustomization as the controller", "shop", "Kustomization shop: {serviceAccountName: kustomize-controller, sourceRef: {kind: GitRepository, name: x}}", "serviceAccountName"},
	{"Kustomization of the platform's source", "shop", "Kustomization shop: {serviceAccountName: shop-helm, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}", "another namespace"},
	{"Kustomization for another cluster", "shop", "Kustomization shop: {serviceAccountName: shop-helm, kubeConfig: {secretRef: {name: x}}, sourceRef: {kind: GitRepository, name: x}}", "kubeConfig"},
}

func TestAdmission(t *testing.T) {
	spec := load(t, []byte(admissionSpec))
	policies := map[string][]compiled{}
	for _, tenant := range spec.Tenants {
		policies[tenant.Metadata.Name] = judges(t, spec, tenant)
	}
	for _, c := range admissionCases {
		t.Run(c.name, func(t *testing.T) {
			object := fluxObject(t, c.object)
			refusal := judgeAll(t, policies[c.tenant], asked{object: object})
			if c.refusal == "" && refusal != "" {
				t.Fatalf("refused: %s", refusal)
			}
			if !strings.Contains(refusal, c.refusal) {
				t.Fatalf("got refusal %q, want one about %q", refusal, c.refusal)
			}
			testDeletion(t, policies[c.tenant], object, c.refusal)
		})
	}
}

// testDeletion holds that an object which is being deleted can go, and can't change into
// one that is refused.
func testDeletion(t *testing.T, policies []compiled, object *unstructured.Unstructured, refusal string) {
	t.Helper()
	leaving := object.DeepCopy()
	leaving.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	held := leaving.DeepCopy()
	held.SetFinalizers([]string{"example.com/hold"})
	request := asked{object: leaving, old: held}
	if !slices.ContainsFunc(policies, func(p compiled) bool { return p.matches(request) }) {
		return // nothing judges updates
	}
	if refusal := judgeAll(t, policies, request); refusal != "" {
		t.Errorf("cannot be deleted: %s", refusal)
	}
	other := held.DeepCopy()
	other.Object["spec"] = map[string]any{"suspend": true}
	if got := judgeAll(t, policies, asked{object: leaving, old: other}); !strings.Contains(got, refusal) {
		t.Errorf("while it is being deleted it may become this: got refusal %q, want one about %q", got, refusal)
	}
}

// groups are those of the kinds that the cases speak of; the sources' is left out.
var groups = map[string]string{
	"HelmRelease": "helm.toolkit.fluxcd.io/v2", "Kustomization": "kustomize.toolkit.fluxcd.io/v1",
	"Alert": "notification.toolkit.fluxcd.io/v1beta3", "Provider": "notification.toolkit.fluxcd.io/v1beta3", "Receiver": "notification.toolkit.fluxcd.io/v1",
	"ImageRepository": "image.toolkit.fluxcd.io/v1", "ImagePolicy": "image.toolkit.fluxcd.io/v1", "ImageUpdateAutomation": "image.toolkit.fluxcd.io/v1",
	"ArtifactGenerator": "source.extensions.fluxcd.io/v1beta1",
	"FluxInstance":      "fluxcd.controlplane.io/v1", "ResourceSet": "fluxcd.controlplane.io/v1", "ResourceSetInputProvider": "fluxcd.controlplane.io/v1",
	"Pod": "v1", "Service": "v1", "Secret": "v1",
	"Deployment": "apps/v1", "DaemonSet": "apps/v1", "StatefulSet": "apps/v1", "CronJob": "batch/v1", "Job": "batch/v1",
	"Ingress": "networking.k8s.io/v1", "HTTPRoute": "gateway.networking.k8s.io/v1", "GRPCRoute": "gateway.networking.k8s.io/v1",
	"Certificate": "cert-manager.io/v1", "CertificateRequest": "cert-manager.io/v1", "Order": "acme.cert-manager.io/v1", "Challenge": "acme.cert-manager.io/v1",
	"TLSRoute": "gateway.networking.k8s.io/v1", "Gateway": "gateway.networking.k8s.io/v1", "ListenerSet": "gateway.networking.k8s.io/v1",
}

// fluxObject reads "KIND NAMESPACE: {spec}", or "KIND NAMESPACE; {other fields}".
func fluxObject(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	end := strings.IndexAny(text, ":;")
	kind, namespace, _ := strings.Cut(text[:end], " ")
	document := fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: x, namespace: %s}}", cmp.Or(groups[kind], "source.toolkit.fluxcd.io/v1"), kind, namespace)
	object, fields := map[string]any{}, map[string]any{}
	unmarshal := func(text string, to *map[string]any) {
		if err := yaml.UnmarshalStrict([]byte(text), to); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	unmarshal(document, &object)
	unmarshal(text[end+1:], &fields)
	if text[end] == ':' {
		object["spec"] = fields
		return &unstructured.Unstructured{Object: object}
	}
	metadata, _ := fields["metadata"].(map[string]any)
	maps.Copy(object["metadata"].(map[string]any), metadata)
	delete(fields, "metadata")
	maps.Copy(object, fields)
	return &unstructured.Unstructured{Object: object}
}
