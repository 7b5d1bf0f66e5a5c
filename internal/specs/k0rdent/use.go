package k0rdent

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/specs/check"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// credentials checks that each is for exactly one infrastructure.
func (c *checker) credentials() {
	for i, cred := range c.of.Spec.Credentials {
		n := 0
		for _, has := range []bool{cred.AWS != nil, cred.Azure != nil, cred.OpenStack != nil, cred.VSphere != nil, cred.Adopted != nil} {
			if has {
				n++
			}
		}
		if n != 1 && c.Whole(c.of) {
			c.Fail(c.of, strict.At("spec", "credentials").Item(i), "write exactly one of aws, azure, openstack, vsphere and adopted",
				"credential %s has %d of aws, azure, openstack, vsphere and adopted, want one", strict.Quote(cred.Name), n)
		}
		if n == 1 {
			c.SecretOf(strict.At("spec", "credentials").Item(i), c.of.Spec.Cluster, "credential "+strict.Quote(cred.Name), cred.Keys, cred.SecretKeys())
		}
	}
}

// access checks the rules: each chooses namespaces in one way, and hands on what
// there is.
func (c *checker) access() {
	for i, rule := range c.of.Spec.Access {
		p := strict.At("spec", "access").Item(i)
		n := 0
		for _, has := range []bool{rule.Namespaces.All, rule.Namespaces.List != nil, rule.Namespaces.Selector != nil, rule.Namespaces.StringSelector != ""} {
			if has {
				n++
			}
		}
		switch {
		case n > 1:
			c.Fail(c.of, p.Child("namespaces"), "keep one of all, list, selector and stringSelector", "the rule chooses namespaces in %d ways, want one", n)
		case n == 0 && c.Whole(c.of):
			c.Fail(c.of, p.Child("namespaces"), "name them in list, select them by labels, or write all: true for every namespace", "the rule does not say which namespaces it is for")
		}
		c.Names(p.Child("clusterTemplateChains"), check.Declared{What: "cluster template chain", List: "spec.clusterTemplateChains", Names: c.clusterChains}, rule.ClusterTemplateChains)
		c.Names(p.Child("serviceTemplateChains"), check.Declared{What: "service template chain", List: "spec.serviceTemplateChains", Names: c.serviceChains}, rule.ServiceTemplateChains)
		c.Names(p.Child("credentials"), check.Declared{What: "credential", List: "spec.credentials", Names: c.keys}, rule.Credentials)
		if len(rule.ClusterTemplateChains)+len(rule.ServiceTemplateChains)+len(rule.Credentials) == 0 && c.Whole(c.of) {
			c.Fail(c.of, p, "add chains or credentials, or take it out", "the rule hands nothing on")
		}
	}
}

// deployments checks the clusters: what they use is there, in their namespace.
func (c *checker) deployments() {
	p := strict.At("spec", "clusterDeployments")
	c.Unique(p, "cluster", check.Gather(c.of.Spec.ClusterDeployments, func(x v1alpha1.K0rdentCluster) string { return x.Namespace + "/" + x.Name }))
	for i, d := range c.of.Spec.ClusterDeployments {
		p := p.Item(i)
		c.Labels(c.of, p.Child("labels"), d.Labels)
		if c.template(p.Child("template"), "cluster template", d.Template, c.clusters) {
			c.handedTemplate(p.Child("template"), d.Namespace, d.Template, chained{"cluster template", "spec.clusterTemplateChains", c.of.Spec.ClusterTemplateChains,
				func(rule v1alpha1.K0rdentAccess) []string { return rule.ClusterTemplateChains }})
		}
		if c.Named(p.Child("credential"), check.Declared{What: "credential", List: "spec.credentials", Names: c.keys}, d.Credential) {
			c.handed(p.Child("credential"), d.Namespace, "the credential "+strict.Quote(d.Credential), "add a rule to spec.access that hands it on", func(rule v1alpha1.K0rdentAccess) bool {
				return slices.Contains(rule.Credentials, d.Credential)
			})
		}
		c.fits(p, d)
		c.serviceList(p.Child("services"), d.Namespace, d.Services)
		c.options(p.Child("serviceOptions"), d.ServiceOptions)
	}
}

// holds says whether one of the chains that a rule names has a version of a
// template.
func holds(chains []v1alpha1.K0rdentChain, named []string, ref v1alpha1.K0rdentTemplateRef) bool {
	return slices.ContainsFunc(chains, func(chain v1alpha1.K0rdentChain) bool {
		return slices.Contains(named, chain.Name) && slices.ContainsFunc(chain.Paths, func(path v1alpha1.K0rdentPath) bool {
			return path.Template == ref.Name && slices.Contains(path.Versions, ref.Version)
		})
	})
}

// chained are the templates of a kind, with their chains and those that a rule of access names.
type chained struct {
	what, list string
	chains     []v1alpha1.K0rdentChain
	named      func(v1alpha1.K0rdentAccess) []string
}

// handedTemplate reports a version of a template that no rule of access hands to a namespace. Where a
// chain with a path of the template is handed there, the way is to add the version to it.
func (c *checker) handedTemplate(p *strict.Path, namespace string, ref v1alpha1.K0rdentTemplateRef, of chained) {
	way := "add a rule to spec.access that hands it on"
	for _, rule := range c.of.Spec.Access {
		if reaches, _ := rule.Namespaces.Reach(namespace, c.labels[namespace]); !reaches {
			continue
		}
		for _, chain := range of.chains {
			leads := func(path v1alpha1.K0rdentPath) bool { return path.Template == ref.Name }
			if slices.Contains(of.named(rule), chain.Name) && slices.ContainsFunc(chain.Paths, leads) {
				way = fmt.Sprintf("add %s to the path of %s in the chain %s of %s, which is handed there", strict.Shorten(ref.Version), strict.Shorten(ref.Name), strict.Shorten(chain.Name), of.list)
			}
		}
	}
	c.handed(p, namespace, "version "+ref.Version+" of the "+of.what+" "+strict.Quote(ref.Name), way, func(rule v1alpha1.K0rdentAccess) bool {
		return holds(of.chains, of.named(rule), ref)
	})
}

// handed reports what no rule of access hands to a namespace. Of selectors whose
// outcome depends on labels that others give, nothing is said. way is how it is handed on.
func (c *checker) handed(p *strict.Path, namespace, what, way string, in func(v1alpha1.K0rdentAccess) bool) {
	if namespace == v1alpha1.K0rdentNamespaceName || !c.handsOn {
		return
	}
	for _, rule := range c.of.Spec.Access {
		reaches, known := rule.Namespaces.Reach(namespace, c.labels[namespace])
		if in(rule) && (reaches || !known) {
			return
		}
	}
	c.Fail(c.of, p, way+", or deploy from namespace "+v1alpha1.K0rdentNamespaceName,
		"no rule of spec.access hands %s to namespace %s", what, strict.Quote(namespace))
}

// serviceList checks the services of a cluster, or of all that a
// MultiClusterService selects.
func (c *checker) serviceList(p *strict.Path, namespace string, services []v1alpha1.K0rdentService) {
	id := func(name, namespace string) string {
		if namespace == "" {
			namespace = "default" // as k0rdent fills it in
		}
		return namespace + "/" + name
	}
	ids := check.Gather(services, func(s v1alpha1.K0rdentService) string { return id(s.Name, s.Namespace) })
	c.Unique(p, "service", ids)
	deps := map[string][]string{}
	for i, s := range services {
		p := p.Item(i)
		if c.template(p.Child("template"), "service template", s.Template, c.services) {
			c.handedTemplate(p.Child("template"), namespace, s.Template, chained{"service template", "spec.serviceTemplateChains", c.of.Spec.ServiceTemplateChains,
				func(rule v1alpha1.K0rdentAccess) []string { return rule.ServiceTemplateChains }})
		}
		deps[ids[i]] = nil
		for j, ref := range s.DependsOn {
			deps[ids[i]] = append(deps[ids[i]], id(ref.Name, ref.Namespace))
			if on := id(ref.Name, ref.Namespace); !slices.Contains(ids, on) {
				c.Fail(c.of, p.Child("dependsOn").Item(j).Child("name"), c.Report.Suggest(on, "service", "add it to services", ids), "there is no service %s in the list", strict.Quote(on))
			}
		}
	}
	c.circle(p, "service", ids, deps)
}

// circle reports the first of the names that waits for itself, by way of any
// others.
func (c *checker) circle(p *strict.Path, what string, names []string, deps map[string][]string) {
	done := map[string]bool{}
	var waits func(name string, above map[string]bool) bool
	waits = func(name string, above map[string]bool) bool {
		if above[name] {
			return true
		}
		if done[name] {
			return false
		}
		done[name], above[name] = true, true
		found := slices.ContainsFunc(deps[name], func(on string) bool { return waits(on, above) })
		delete(above, name)
		return found
	}
	for i, name := range names {
		if waits(name, map[string]bool{}) {
			c.Fail(c.of, p.Item(i).Child("dependsOn"), "take one of the dependencies out", "%s %s waits for itself, or for one that does", what, strict.Quote(name))
			return
		}
	}
}

// options refuses what has a field of its own.
func (c *checker) options(p *strict.Path, options map[string]any) {
	if options["services"] != nil {
		c.Fail(c.of, p.Child("services"), "write them in services beside it", "services have a field of their own")
	}
}

func (c *checker) multiClusterServices() {
	p := strict.At("spec", "multiClusterServices")
	names := check.Gather(c.of.Spec.MultiClusterServices, func(x v1alpha1.K0rdentMultiClusterService) string { return x.Name })
	c.Unique(p, "service", names)
	deps := map[string][]string{}
	for _, m := range c.of.Spec.MultiClusterServices {
		deps[m.Name] = m.DependsOn
	}
	c.circle(p, "MultiClusterService", names, deps)
	for i, m := range c.of.Spec.MultiClusterServices {
		p := p.Item(i)
		c.Names(p.Child("dependsOn"), check.Declared{What: "MultiClusterService", List: "spec.multiClusterServices", Names: names}, m.DependsOn)
		c.serviceList(p.Child("services"), v1alpha1.K0rdentNamespaceName, m.Services)
		c.options(p.Child("serviceOptions"), m.ServiceOptions)
	}
}
