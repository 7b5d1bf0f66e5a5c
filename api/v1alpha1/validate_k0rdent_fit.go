package v1alpha1

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/internal/kcm"
)

// fits checks that what a cluster is made of goes together, as kcm's webhook does: its credential
// with the infrastructure of its template, the template with the providers that are enabled, and
// its services with its version of Kubernetes.
func (c *k0rdentChecker) fits(p *fieldPath, d K0rdentCluster) {
	s := &c.of.Spec
	i := slices.IndexFunc(s.ClusterTemplates, func(t K0rdentTemplate) bool { return t.Name == d.Template.Name && t.Version == d.Template.Version })
	if i < 0 {
		return
	}
	template := s.ClusterTemplates[i]
	c.serviceVersions(p.child("services"), template, d.Services)
	needs := template.Providers
	if len(needs) == 0 && template.Helm != nil {
		needs, _ = kcm.Needs(template.Helm.Chart)
	}
	j := slices.IndexFunc(s.Credentials, func(x K0rdentCredential) bool { return x.Name == d.Credential })
	if j < 0 || !c.whole(c.of) {
		return
	}
	cred := s.Credentials[j]
	for _, provider := range kcm.Infrastructures(needs) {
		if kinds := kcm.Identities(provider); len(kinds) > 0 && cred.identityKind() != "" && !slices.Contains(kinds, cred.identityKind()) {
			c.fail(c.of, p.child("credential"), "name a credential for "+provider+", which takes "+strings.Join(kinds, ", "),
				"the credential %s has an identity of kind %s, and version %s of the cluster template %s is for %s", quote(cred.Name), cred.identityKind(), d.Template.Version, quote(template.Name), provider)
		}
	}
	if missing := c.notEnabled(needs); len(missing) > 0 && cred.Region == "" {
		hint := "enable what brings them in spec.providers"
		if charts := kcm.Bringing(missing); len(charts) > 0 {
			hint = "enable " + strings.Join(charts, " and ") + " in spec.providers"
		}
		c.fail(c.of, p.child("template"), hint, "version %s of the cluster template %s needs %s, which no enabled provider brings", d.Template.Version, quote(template.Name), strings.Join(missing, ", "))
	}
}

// identityKind is the kind of the identity that is made for a credential, "" where it says none.
func (c K0rdentCredential) identityKind() string {
	switch {
	case c.AWS != nil:
		return "AWSClusterStaticIdentity"
	case c.Azure != nil:
		return "AzureClusterIdentity"
	case c.VSphere != nil:
		return "VSphereClusterIdentity"
	case c.OpenStack != nil:
		return "Secret"
	}
	return ""
}

// notEnabled are the providers among some that none of the Management's brings; none where it
// isn't known what one of them brings.
func (c *k0rdentChecker) notEnabled(needs []string) []string {
	var brings []string
	for _, p := range c.of.Spec.Providers {
		of, known := kcm.Brings(p.Name)
		if !known && !p.Disabled {
			return nil
		}
		if !p.Disabled {
			brings = append(brings, of...)
		}
	}
	return slices.DeleteFunc(slices.Clone(needs), func(need string) bool { return kcm.BuiltIn(need) || slices.Contains(brings, need) })
}

// serviceVersions checks that the services of a cluster are for its version of Kubernetes.
func (c *k0rdentChecker) serviceVersions(p *fieldPath, template K0rdentTemplate, services []K0rdentService) {
	version, err := semver.NewVersion(template.K8sVersion)
	if err != nil {
		return // told where it stands, or only the chart says it
	}
	for i, service := range services {
		for _, of := range c.of.Spec.ServiceTemplates {
			if of.Name != service.Template.Name || of.Version != service.Template.Version || of.K8sConstraint == "" {
				continue
			}
			if wanted, err := semver.NewConstraint(of.K8sConstraint); err == nil && !wanted.Check(version) {
				c.fail(c.of, p.item(i).child("template"), "take a version of the service that is for it",
					"version %s of the service template %s is for Kubernetes %s, and the cluster gets %s", of.Version, quote(of.Name), of.K8sConstraint, template.K8sVersion)
			}
		}
	}
}

// kubernetes checks that the versions and ranges of Kubernetes in templates are some.
func (c *k0rdentChecker) kubernetes() {
	for i, t := range c.of.Spec.ClusterTemplates {
		if _, err := semver.NewVersion(t.K8sVersion); err != nil && t.K8sVersion != "" {
			c.fail(c.of, at("spec", "clusterTemplates").item(i).child("k8sVersion"), "write a version, as in v1.34.1", "%s is no version of Kubernetes", quote(t.K8sVersion))
		}
	}
	for i, t := range c.of.Spec.ServiceTemplates {
		if _, err := semver.NewConstraint(t.K8sConstraint); err != nil && t.K8sConstraint != "" {
			c.fail(c.of, at("spec", "serviceTemplates").item(i).child("k8sConstraint"), "write a range, as in >=1.32.0", "%s is no range of versions of Kubernetes", quote(t.K8sConstraint))
		}
	}
}
