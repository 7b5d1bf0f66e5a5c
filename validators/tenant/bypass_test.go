package tenant_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
	"github.com/fleetwright/fleetwright/validators/tenant"
)

// Each validation of the generated policies closes something: without it one of the rules
// has a finding, for a tenant as it is generated, or for one that may write everything in its
// namespace.
func TestEachValidationIsMissed(t *testing.T) {
	t.Parallel()
	files := generated(t, "fleet-operator.txtar")
	if said := foundBy(t, string(txtar.Format(files)), all()); len(said) > 0 {
		t.Fatalf("found %q", said)
	}
	if said := missed(t, files.Files); len(said) > 0 {
		t.Fatalf("found %q", said)
	}
	others := []string{
		"a source in another namespace", "an object in another namespace", // which the lockdown refuses, too
		"spec.serviceAccountName must be", // tenant-lockdown-missing
	}
	mutants := 0
	for i, f := range files.Files {
		if !strings.HasSuffix(f.Name, "/admission-policy.yaml") {
			continue
		}
		for _, at := range validations.FindAllSubmatchIndex(f.Data, -1) {
			message := string(f.Data[at[4]:at[5]])
			if slices.ContainsFunc(others, func(other string) bool { return strings.Contains(message, other) }) {
				continue
			}
			mutants++
			mutant := slices.Clone(files.Files)
			mutant[i].Data = slices.Concat(f.Data[:at[2]], []byte(`"true"`+"\n"), f.Data[at[3]:])
			if said := missed(t, mutant); len(said) == 0 {
				t.Errorf("%s: nothing misses the validation %s", f.Name, message)
			}
		}
		conditions := regexp.MustCompile(`oldObject == null \|\|\n.*\n`).FindAllIndex(f.Data, -1)
		for _, at := range conditions[:2] {
			mutants++
			mutant := slices.Clone(files.Files)
			mutant[i].Data = slices.Concat(f.Data[:at[0]], []byte("oldObject == null\n"), f.Data[at[1]:])
			if said := missed(t, mutant); !slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, "admission-bypass") }) {
				t.Errorf("%s: nothing misses that objects are judged which are being deleted: %q", f.Name, said)
			}
		}
	}
	if mutants < 20 {
		t.Errorf("only %d mutants", mutants)
	}
}

// validations are those of a generated policy: expression and message.
var validations = regexp.MustCompile(`(?m)^  - expression: (.*\n(?:      .*\n)*)    message: (.*)\n`)

// missed are the findings about admission in a rendered tree, and in one whose tenant has
// everything in its namespace.
func missed(t *testing.T, files []txtar.File) []string {
	t.Helper()
	rules := []rule.Rule{tenant.AdmissionBypass, tenant.AdmissionMissing}
	all := slices.Clone(files)
	for i, f := range all {
		if strings.HasSuffix(f.Name, "/team-a/rbac.yaml") {
			all[i].Data = append(slices.Clone(f.Data), everything...)
		}
	}
	if said := foundBy(t, string(txtar.Format(&txtar.Archive{Files: all})), rules); len(said) > 0 {
		return said
	}
	return foundBy(t, string(txtar.Format(&txtar.Archive{Files: files})), rules)
}

// everything in its namespace is the tenant's.
const everything = `---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: everything
  namespace: team-a
rules:
- apiGroups: ["*"]
  resources: ["*"]
  verbs: ["*"]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: everything
  namespace: team-a
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: everything
subjects:
- kind: ServiceAccount
  name: team-a-helm
  namespace: team-a
---
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata:
  name: shows-that-cert-manager-is-there
spec:
  selfSigned: {}
`

// A policy for ResourceSets that somebody wrote has the hole of R5 where it lets an object of the
// whole cluster through: with the tenant's namespace, which the operator's client drops, or without.
func TestDependenciesOfResourceSets(t *testing.T) {
	t.Parallel()
	files := strings.NewReplacer(
		"apiGroups: [kustomize.toolkit.fluxcd.io]", "apiGroups: [fluxcd.controlplane.io]",
		"resources: [kustomizations]", "resources: [resourcesets]",
		`object.kind == "Kustomization" &&`, "LIMIT",
		`in ["", object.metadata.namespace]`, "in [NAMESPACES]",
	).Replace(ruletest.Read(t, tenant.AdmissionMissing).Good[0].Files)
	for name, c := range map[string]struct{ limit, namespaces, want string }{
		"its own namespace":             {"true &&", `object.metadata.namespace`, "names its own namespace"},
		"its own namespace, or none":    {"true &&", `"", object.metadata.namespace`, "names its own namespace"},
		"none, of any kind":             {`object.spec.?dependsOn.orValue([]).all(d, !has(d.namespace)) &&`, `""`, "the like with a ResourceSet (spec"},
		"any namespace":                 {"true ||", "", "read any object"},
		"its own namespace, known kind": {`object.spec.?dependsOn.orValue([]).all(d, d.apiVersion == "apps/v1") &&`, `object.metadata.namespace`, ""},
		"none at all":                   {"!has(object.spec.dependsOn) &&", `""`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			found := ruletest.Find(t, tenant.AdmissionMissing, strings.NewReplacer("LIMIT", c.limit, "NAMESPACES", c.namespaces).Replace(files))
			switch {
			case c.want == "" && len(found) > 0:
				t.Errorf("found %+v", found)
			case c.want != "" && (len(found) != 1 || !strings.Contains(found[0].Message, c.want) || strings.Count(found[0].Message, "ResourceSet") != 1):
				t.Errorf("found %+v, want one about %q", found, c.want)
			}
		})
	}
}

// generated is the platform's part of a rendered tree.
func generated(t *testing.T, name string) *txtar.Archive {
	t.Helper()
	data, err := os.ReadFile("../../testdata/trees/" + name)
	if err != nil {
		t.Fatal(err)
	}
	files := &txtar.Archive{}
	for _, f := range txtar.Parse(data).Files {
		if path, ok := strings.CutPrefix(f.Name, "platform/"); ok {
			files.Files = append(files.Files, txtar.File{Name: path, Data: f.Data})
		}
	}
	return files
}

// What is not in Git for sure, or what another engine refuses, is no finding.
func TestDoors(t *testing.T) {
	t.Parallel()
	admitted := func(more string) string {
		return strings.TrimSuffix(ruletest.Read(t, tenant.AdmissionMissing).Bad[0].Files, "\n") + "\n---\n" + more
	}
	for name, c := range map[string]struct{ files, want string }{
		"nothing refuses it": {admitted(""), "admission-missing warning tenants/shop.yaml:33"},
		"Kyverno": {admitted(`apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: flux}
spec:
  rules: [{name: a, validate: {failureAction: Enforce, pattern: {spec: {X(dependsOn): "null", X(kubeConfig): "null"}}}}]
`), ""},
		"the tenant's objects come from the platform's source": {strings.Replace(admitted(""), "    kind: GitRepository\n    name: shop\n",
			"    kind: GitRepository\n    name: flux-system\n    namespace: flux-system\n", 1), ""},
		"a policy that only warns": {strings.Replace(ruletest.Read(t, tenant.AdmissionMissing).Good[0].Files, "validationActions: [Deny]", "validationActions: [Warn]", 1),
			"admission-missing warning tenants/shop.yaml:33"},
		"a policy for other namespaces": {strings.Replace(ruletest.Read(t, tenant.AdmissionMissing).Good[0].Files, "key: toolkit.fluxcd.io/tenant\n", "key: example.com/tenant\n", 1),
			"admission-missing warning tenants/shop.yaml:33"},
		"a policy for updates only": {strings.Replace(ruletest.Read(t, tenant.AdmissionMissing).Good[0].Files, "operations: [CREATE, UPDATE]", "operations: [UPDATE]", 1),
			"admission-missing warning tenants/shop.yaml:33"},
		"a policy that asks for parameters": {strings.Replace(ruletest.Read(t, tenant.AdmissionMissing).Good[0].Files, "  failurePolicy: Fail\n", "  failurePolicy: Fail\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n", 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if said := strings.Join(foundBy(t, c.files, []rule.Rule{tenant.AdmissionMissing}), "\n"); said != c.want {
				t.Errorf("found %q, want %q", said, c.want)
			}
		})
	}
}

// readyExpr of a ResourceSet reads a cluster-scoped object whichever namespace is named.
func TestReadyExprOfResourceSets(t *testing.T) {
	t.Parallel()
	for dependency, want := range map[string]bool{
		"apiVersion: v1, kind: Node, namespace: shop":                                     true,
		"apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, namespace: shop":    true,
		"apiVersion: v1, kind: Namespace":                                                 true,
		"apiVersion: v1, kind: Pod, namespace: shop":                                      false,
		"apiVersion: apps/v1, kind: Deployment, namespace: shop":                          false,
		"apiVersion: example.com/v1, kind: NobodyKnowsThis, namespace: shop":              false,
		"apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, namespace: monitoring": true,
	} {
		files := strings.TrimSuffix(ruletest.Read(t, tenant.CrossNamespaceRef).Good[0].Files, "\n") + `
---
apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSet
metadata: {name: probe, namespace: shop}
spec: {serviceAccountName: shop, dependsOn: [{` + dependency + `, name: probe, ready: true, readyExpr: "true"}]}
`
		if found := ruletest.Find(t, tenant.CrossNamespaceRef, files); len(found) > 0 != want {
			t.Errorf("%s: found %+v, want one: %t", dependency, found, want)
		}
	}
}
