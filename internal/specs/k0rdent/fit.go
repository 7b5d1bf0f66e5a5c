package k0rdent

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/kcm"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// fits checks that the parts of a cluster are compatible, as kcm's webhook does: its credential
// with the infrastructure of its template, the template with the enabled providers, and
// its services with its version of Kubernetes.
func (c *checker) fits(p *strict.Path, d v1alpha1.K0rdentCluster) {
	s := &c.of.Spec
	i := slices.IndexFunc(s.ClusterTemplates, func(t v1alpha1.K0rdentTemplate) bool {
		return t.Name == d.Template.Name && t.Version == d.Template.Version
	})
	template := v1alpha1.K0rdentTemplate{Name: d.Template.Name, Version: d.Template.Version, Helm: &v1alpha1.K0rdentHelm{Chart: d.Template.Name}}
	switch {
	case i >= 0:
		template = s.ClusterTemplates[i]
	case !c.created.Template(d.Template.Name, d.Template.Version, nil):
		return // reported at the reference
	}
	c.serviceVersions(p.Child("services"), template, d.Services)
	needs := template.Providers
	if len(needs) == 0 && template.Helm != nil {
		needs, _ = kcm.Needs(template.Helm.Chart)
	}
	j := slices.IndexFunc(s.Credentials, func(x v1alpha1.K0rdentCredential) bool { return x.Name == d.Credential })
	if j < 0 || !c.Whole(c.of) {
		return
	}
	cred := s.Credentials[j]
	for _, provider := range kcm.Infrastructures(needs) {
		if kinds := kcm.Identities(provider); len(kinds) > 0 && cred.IdentityKind() != "" && !slices.Contains(kinds, cred.IdentityKind()) {
			c.Fail(c.of, p.Child("credential"), "use a credential for "+provider+", which accepts "+strings.Join(kinds, ", "),
				"credential %s has an identity of kind %s, but version %s of cluster template %s is for %s", strict.Quote(cred.Name), cred.IdentityKind(), d.Template.Version, strict.Quote(template.Name), provider)
		}
	}
	if missing := c.notEnabled(needs); len(missing) > 0 && cred.Region == "" {
		hint := "enable a provider that supplies them in spec.providers"
		if charts := kcm.Bringing(missing); len(charts) > 0 {
			hint = "enable " + strings.Join(charts, " and ") + " in spec.providers"
		}
		c.Fail(c.of, p.Child("template"), hint, "version %s of cluster template %s needs %s, which no enabled provider supplies", d.Template.Version, strict.Quote(template.Name), strings.Join(missing, ", "))
	}
}

// notEnabled returns the needed providers that no enabled chart contains. It returns none if the content of a chart is
// unknown.
func (c *checker) notEnabled(needs []string) []string {
	var brings []string
	enabled, known := c.created.Enabled(&c.of.Spec)
	for _, p := range enabled {
		of, isKnown := p.Provides, len(p.Provides) > 0
		if p.Helm == nil && !isKnown {
			of, isKnown = kcm.Brings(p.Name)
		}
		known = known && isKnown
		brings = append(brings, of...)
	}
	if !known {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(needs), func(need string) bool { return kcm.BuiltIn(need) || slices.Contains(brings, need) })
}

// serviceVersions checks that the services of a cluster support its version of Kubernetes.
func (c *checker) serviceVersions(p *strict.Path, template v1alpha1.K0rdentTemplate, services []v1alpha1.K0rdentService) {
	version, err := semver.NewVersion(template.K8sVersion)
	if err != nil {
		return // an invalid version is reported at its field; a missing one is set only in the chart
	}
	for i, service := range services {
		for _, of := range c.of.Spec.ServiceTemplates {
			if of.Name != service.Template.Name || of.Version != service.Template.Version || of.K8sConstraint == "" {
				continue
			}
			if wanted, err := semver.NewConstraint(of.K8sConstraint); err == nil && !wanted.Check(version) {
				c.Fail(c.of, p.Item(i).Child("template"), "use a version of the service that supports it",
					"version %s of service template %s is for Kubernetes %s, but the cluster has %s", of.Version, strict.Quote(of.Name), of.K8sConstraint, template.K8sVersion)
			}
		}
	}
}

// kubernetes checks that the versions and ranges of Kubernetes in templates are valid.
func (c *checker) kubernetes() {
	for i, t := range c.of.Spec.ClusterTemplates {
		if _, err := semver.NewVersion(t.K8sVersion); err != nil && t.K8sVersion != "" {
			c.Fail(c.of, strict.At("spec", "clusterTemplates").Item(i).Child("k8sVersion"), "write a version such as v1.34.1", "%s is not a Kubernetes version", strict.Quote(t.K8sVersion))
		}
	}
	for i, t := range c.of.Spec.ServiceTemplates {
		if _, err := semver.NewConstraint(t.K8sConstraint); err != nil && t.K8sConstraint != "" {
			c.Fail(c.of, strict.At("spec", "serviceTemplates").Item(i).Child("k8sConstraint"), "write a range such as >=1.32.0", "%s is not a range of Kubernetes versions", strict.Quote(t.K8sConstraint))
		}
	}
}
