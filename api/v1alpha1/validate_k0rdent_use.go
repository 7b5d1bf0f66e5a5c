package v1alpha1

import (
	"fmt"
	"slices"
)

// credentials checks that each is for exactly one infrastructure.
func (c *k0rdentChecker) credentials() {
	for i, cred := range c.of.Spec.Credentials {
		n := 0
		for _, has := range []bool{cred.AWS != nil, cred.Azure != nil, cred.OpenStack != nil, cred.VSphere != nil, cred.Adopted != nil} {
			if has {
				n++
			}
		}
		if n != 1 && c.whole(c.of) {
			c.fail(c.of, at("spec", "credentials").item(i), "write exactly one of aws, azure, openstack, vsphere and adopted",
				"credential %s has %d of aws, azure, openstack, vsphere and adopted, want one", quote(cred.Name), n)
		}
		if n == 1 {
			c.secretOf(at("spec", "credentials").item(i), c.of.Spec.Cluster, "credential "+quote(cred.Name), cred.Keys, cred.SecretKeys())
		}
	}
}

// access checks the rules: each chooses namespaces in one way, and hands on what
// there is.
func (c *k0rdentChecker) access() {
	for i, rule := range c.of.Spec.Access {
		p := at("spec", "access").item(i)
		n := 0
		for _, has := range []bool{rule.Namespaces.All, rule.Namespaces.List != nil, rule.Namespaces.Selector != nil, rule.Namespaces.StringSelector != ""} {
			if has {
				n++
			}
		}
		switch {
		case n > 1:
			c.fail(c.of, p.child("namespaces"), "keep one of all, list, selector and stringSelector", "the rule chooses namespaces in %d ways, want one", n)
		case n == 0 && c.whole(c.of):
			c.fail(c.of, p.child("namespaces"), "name them in list, select them by labels, or write all: true for every namespace", "the rule does not say which namespaces it is for")
		}
		c.names(p.child("clusterTemplateChains"), declared{what: "cluster template chain", list: "spec.clusterTemplateChains", names: c.clusterChains}, rule.ClusterTemplateChains)
		c.names(p.child("serviceTemplateChains"), declared{what: "service template chain", list: "spec.serviceTemplateChains", names: c.serviceChains}, rule.ServiceTemplateChains)
		c.names(p.child("credentials"), declared{what: "credential", list: "spec.credentials", names: c.keys}, rule.Credentials)
		if len(rule.ClusterTemplateChains)+len(rule.ServiceTemplateChains)+len(rule.Credentials) == 0 && c.whole(c.of) {
			c.fail(c.of, p, "add chains or credentials, or take it out", "the rule hands nothing on")
		}
	}
}

// deployments checks the clusters: what they use is there, in their namespace.
func (c *k0rdentChecker) deployments() {
	p := at("spec", "clusterDeployments")
	c.unique(p, "cluster", gather(c.of.Spec.ClusterDeployments, func(x K0rdentCluster) string { return x.Namespace + "/" + x.Name }))
	for i, d := range c.of.Spec.ClusterDeployments {
		p := p.item(i)
		c.checker.labels(c.of, p.child("labels"), d.Labels)
		if c.template(p.child("template"), "cluster template", d.Template, c.clusters) {
			c.handedTemplate(p.child("template"), d.Namespace, d.Template, chained{"cluster template", "spec.clusterTemplateChains", c.of.Spec.ClusterTemplateChains,
				func(rule K0rdentAccess) []string { return rule.ClusterTemplateChains }})
		}
		if c.named(p.child("credential"), declared{what: "credential", list: "spec.credentials", names: c.keys}, d.Credential) {
			c.handed(p.child("credential"), d.Namespace, "the credential "+quote(d.Credential), "add a rule to spec.access that hands it on", func(rule K0rdentAccess) bool {
				return slices.Contains(rule.Credentials, d.Credential)
			})
		}
		c.fits(p, d)
		c.serviceList(p.child("services"), d.Namespace, d.Services)
		c.options(p.child("serviceOptions"), d.ServiceOptions)
	}
}

// holds says whether one of the chains that a rule names has a version of a
// template.
func holds(chains []K0rdentChain, named []string, ref K0rdentTemplateRef) bool {
	return slices.ContainsFunc(chains, func(chain K0rdentChain) bool {
		return slices.Contains(named, chain.Name) && slices.ContainsFunc(chain.Paths, func(path K0rdentPath) bool {
			return path.Template == ref.Name && slices.Contains(path.Versions, ref.Version)
		})
	})
}

// chained are the templates of a kind, with their chains and those that a rule of access names.
type chained struct {
	what, list string
	chains     []K0rdentChain
	named      func(K0rdentAccess) []string
}

// handedTemplate reports a version of a template that no rule of access hands to a namespace. Where a
// chain with a path of the template is handed there, the way is to add the version to it.
func (c *k0rdentChecker) handedTemplate(p *fieldPath, namespace string, ref K0rdentTemplateRef, of chained) {
	way := "add a rule to spec.access that hands it on"
	for _, rule := range c.of.Spec.Access {
		if reaches, _ := rule.Namespaces.Reach(namespace, c.labels[namespace]); !reaches {
			continue
		}
		for _, chain := range of.chains {
			leads := func(path K0rdentPath) bool { return path.Template == ref.Name }
			if slices.Contains(of.named(rule), chain.Name) && slices.ContainsFunc(chain.Paths, leads) {
				way = fmt.Sprintf("add %s to the path of %s in the chain %s of %s, which is handed there", shorten(ref.Version), shorten(ref.Name), shorten(chain.Name), of.list)
			}
		}
	}
	c.handed(p, namespace, "version "+ref.Version+" of the "+of.what+" "+quote(ref.Name), way, func(rule K0rdentAccess) bool {
		return holds(of.chains, of.named(rule), ref)
	})
}

// handed reports what no rule of access hands to a namespace. Of selectors whose
// outcome depends on labels that others give, nothing is said. way is how it is handed on.
func (c *k0rdentChecker) handed(p *fieldPath, namespace, what, way string, in func(K0rdentAccess) bool) {
	if namespace == K0rdentNamespaceName || !c.handsOn {
		return
	}
	for _, rule := range c.of.Spec.Access {
		reaches, known := rule.Namespaces.Reach(namespace, c.labels[namespace])
		if in(rule) && (reaches || !known) {
			return
		}
	}
	c.fail(c.of, p, way+", or deploy from namespace "+K0rdentNamespaceName,
		"no rule of spec.access hands %s to namespace %s", what, quote(namespace))
}

// serviceList checks the services of a cluster, or of all that a
// MultiClusterService selects.
func (c *k0rdentChecker) serviceList(p *fieldPath, namespace string, services []K0rdentService) {
	id := func(name, namespace string) string {
		if namespace == "" {
			namespace = "default" // as k0rdent fills it in
		}
		return namespace + "/" + name
	}
	ids := gather(services, func(s K0rdentService) string { return id(s.Name, s.Namespace) })
	c.unique(p, "service", ids)
	deps := map[string][]string{}
	for i, s := range services {
		p := p.item(i)
		if c.template(p.child("template"), "service template", s.Template, c.services) {
			c.handedTemplate(p.child("template"), namespace, s.Template, chained{"service template", "spec.serviceTemplateChains", c.of.Spec.ServiceTemplateChains,
				func(rule K0rdentAccess) []string { return rule.ServiceTemplateChains }})
		}
		deps[ids[i]] = nil
		for j, ref := range s.DependsOn {
			deps[ids[i]] = append(deps[ids[i]], id(ref.Name, ref.Namespace))
			if on := id(ref.Name, ref.Namespace); !slices.Contains(ids, on) {
				c.fail(c.of, p.child("dependsOn").item(j).child("name"), c.report.suggest(on, "service", "add it to services", ids), "there is no service %s in the list", quote(on))
			}
		}
	}
	c.circle(p, "service", ids, deps)
}

// circle reports the first of the names that waits for itself, by way of any
// others.
func (c *k0rdentChecker) circle(p *fieldPath, what string, names []string, deps map[string][]string) {
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
			c.fail(c.of, p.item(i).child("dependsOn"), "take one of the dependencies out", "%s %s waits for itself, or for one that does", what, quote(name))
			return
		}
	}
}

// options refuses what has a field of its own.
func (c *k0rdentChecker) options(p *fieldPath, options map[string]any) {
	if options["services"] != nil {
		c.fail(c.of, p.child("services"), "write them in services beside it", "services have a field of their own")
	}
}

func (c *k0rdentChecker) multiClusterServices() {
	p := at("spec", "multiClusterServices")
	names := gather(c.of.Spec.MultiClusterServices, func(x K0rdentMultiClusterService) string { return x.Name })
	c.unique(p, "service", names)
	deps := map[string][]string{}
	for _, m := range c.of.Spec.MultiClusterServices {
		deps[m.Name] = m.DependsOn
	}
	c.circle(p, "MultiClusterService", names, deps)
	for i, m := range c.of.Spec.MultiClusterServices {
		p := p.item(i)
		c.names(p.child("dependsOn"), declared{what: "MultiClusterService", list: "spec.multiClusterServices", names: names}, m.DependsOn)
		c.serviceList(p.child("services"), K0rdentNamespaceName, m.Services)
		c.options(p.child("serviceOptions"), m.ServiceOptions)
	}
}
