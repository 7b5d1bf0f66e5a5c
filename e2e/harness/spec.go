package harness

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// A TenantSpec is the part of a tenant's specification that the cluster must enforce.
type TenantSpec struct {
	Access struct {
		Profile string
		Rules   []rbacv1.PolicyRule
	}
	Namespaces     []string
	PodSecurity    string
	Limits         struct{ Default, DefaultRequest map[string]string }
	AllowedSources []string
	Starter        string
	Hosts          []string
	Source         struct{ URL string }
}

// TenantSpec returns the tenant's specification, with the defaults of docs/specification.md.
func (f *Fleet) TenantSpec(name string) TenantSpec {
	f.t.Helper()
	text, err := yaml.Marshal(f.document("Tenant", name).get("spec"))
	must(f.t, err)
	var spec TenantSpec
	spec.Access.Profile, spec.PodSecurity = "restricted", "restricted"
	spec.Limits.Default = map[string]string{"cpu": "500m", "memory": "512Mi"}
	spec.Limits.DefaultRequest = map[string]string{"cpu": "50m", "memory": "128Mi"}
	spec.Namespaces, spec.Source.URL = []string{name}, f.PlatformURL()
	must(f.t, yaml.Unmarshal(text, &spec))
	return spec
}

// Chart returns the URL of a chart in an OCI registry that the specification allows the tenant, "" if there is none.
func (s TenantSpec) Chart() string {
	for _, allowed := range append(slices.Clone(s.AllowedSources), s.Source.URL) {
		if strings.HasPrefix(allowed, "oci://") && strings.HasSuffix(allowed, "/") {
			return allowed + "podinfo"
		}
		if strings.HasPrefix(allowed, "oci://") {
			return allowed
		}
	}
	return ""
}

// Grants reports whether the specification grants the action in addition to the profile.
func (s TenantSpec) Grants(a Action) bool {
	for _, rule := range s.Access.Rules {
		if a.Subresource == "" && slices.Contains(rule.Verbs, a.Verb) &&
			slices.Contains(rule.APIGroups, a.Resource.Group) && slices.Contains(rule.Resources, a.Resource.Resource) {
			return true
		}
	}
	return false
}
