package tenant

import (
	"fmt"
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
	resources              []string
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
	for _, r := range p.Spec.MatchConstraints.ResourceRules {
		c.resources = append(c.resources, r.Resources...)
	}
	return c
}

// judge returns why the API server would refuse an object; empty when it
// wouldn't.
func (c compiled) judge(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	return c.judgeRequest(t, object, "", nil)
}

// judgeRequest is judge of a user's request for an object or a subresource.
func (c compiled) judgeRequest(t *testing.T, object *unstructured.Unstructured, subresource string, who user.Info) string {
	t.Helper()
	gvk := object.GroupVersionKind()
	gvr := schema.GroupVersionResource{Group: gvk.Group, Version: gvk.Version, Resource: resourceOf(gvk.Kind)}
	attributes := admission.NewAttributesRecord(object, nil, gvk, object.GetNamespace(), object.GetName(), gvr, subresource, admission.Create, nil, false, who)
	versioned := &admission.VersionedAttributes{Attributes: attributes, VersionedKind: gvk, VersionedObject: admission.NewLazyObject(object)}
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
	if before, ok := strings.CutSuffix(kind, "y"); ok {
		return strings.ToLower(before) + "ies"
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

func judgeAll(t *testing.T, policies []compiled, object *unstructured.Unstructured) string {
	t.Helper()
	judged := false
	for _, p := range policies {
		for _, r := range p.resources {
			if r != resourceOf(object.GetKind()) {
				continue
			}
			judged = true
			if refusal := p.judge(t, object); refusal != "" {
				return refusal
			}
		}
	}
	if !judged {
		t.Fatalf("no policy judges a %s", object.GetKind())
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
	{"starter chart", "shop", "OCIRepository shop: {url: oci://ghcr.io/stefanprodan/charts/podinfo}", ""},
	{"beside the starter chart", "shop", "OCIRepository shop: {url: oci://ghcr.io/stefanprodan/charts/other}", "URL is not allowed"},
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
			refusal := judgeAll(t, policies[c.tenant], object)
			if c.refusal == "" && refusal != "" {
				t.Fatalf("refused: %s", refusal)
			}
			if !strings.Contains(refusal, c.refusal) {
				t.Fatalf("got refusal %q, want one about %q", refusal, c.refusal)
			}
			object.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
			if refusal := judgeAll(t, policies[c.tenant], object); refusal != "" {
				t.Errorf("cannot be deleted: %s", refusal)
			}
		})
	}
}

// TestArtifacts holds that a source's status is Flux's own, whatever the object says.
func TestArtifacts(t *testing.T) {
	spec := load(t, []byte(admissionSpec))
	var artifacts []compiled
	for _, p := range judges(t, spec, spec.Tenants[0]) {
		if slices.Contains(p.resources, "*/status") {
			artifacts = append(artifacts, p)
		}
	}
	if len(artifacts) != 1 {
		t.Fatalf("%d policies judge a source's status", len(artifacts))
	}
	for _, c := range []struct {
		name    string
		groups  []string
		refused bool
	}{
		{"source-controller", []string{"system:serviceaccounts", "system:serviceaccounts:flux-system", "system:authenticated"}, false},
		{"the tenant", []string{"system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"}, true},
		{"a namespace with Flux's beginning", []string{"system:serviceaccounts", "system:serviceaccounts:flux-system-evil"}, true},
		{"nobody", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			object := fluxObject(t, "GitRepository shop: {url: https://github.com/acme/shop}")
			refusal := artifacts[0].judgeRequest(t, object, "status", &user.DefaultInfo{Name: c.name, Groups: c.groups})
			if refused := refusal != ""; refused != c.refused {
				t.Errorf("refused: %t, want %t: %s", refused, c.refused, refusal)
			}
		})
	}
}

// fluxObject reads "KIND NAMESPACE: {spec}".
func fluxObject(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	head, spec, _ := strings.Cut(text, ": ")
	kind, namespace, _ := strings.Cut(head, " ")
	group := "source.toolkit.fluxcd.io"
	switch kind {
	case "HelmRelease":
		group = "helm.toolkit.fluxcd.io"
	case "Kustomization":
		group = "kustomize.toolkit.fluxcd.io"
	case "ResourceSet":
		group = "fluxcd.controlplane.io"
	}
	object := map[string]any{}
	document := fmt.Sprintf("{apiVersion: %s/v1, kind: %s, metadata: {name: x, namespace: %s}, spec: %s}", group, kind, namespace, spec)
	if err := yaml.UnmarshalStrict([]byte(document), &object); err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	return &unstructured.Unstructured{Object: object}
}
