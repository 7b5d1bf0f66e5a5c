package k0rdent

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/specs/check"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// infrastructures are the fields of a credential in messages.
const infrastructures = "aws, azure, aks, gcp, openstack, vsphere, kubevirt, docker, remote, adopted, hetzner and other"

// credentials checks that each credential is for exactly one infrastructure.
func (c *checker) credentials() {
	for i, cred := range c.of.Spec.Credentials {
		p := strict.At("spec", "credentials").Item(i)
		switch n := len(cred.Infrastructures()); {
		case n != 1 && c.Whole(c.of):
			c.Fail(c.of, p, "write exactly one of "+infrastructures,
				"credential %s has %d of %s, want exactly one", strict.Quote(cred.Name), n, infrastructures)
		case n == 1:
			c.secret(p, cred)
		}
	}
}

// secret checks the keys of a credential's Secret.
func (c *checker) secret(p *strict.Path, cred v1alpha1.K0rdentCredential) {
	keys := cred.SecretKeys()
	switch {
	case cred.Docker != nil && len(cred.Keys) > 0:
		c.Fail(c.of, p.Child("keys"), "remove it", "the Secret of docker has no keys")
	case len(keys) > 0:
		c.SecretOf(p, c.of.Spec.Cluster, "credential "+strict.Quote(cred.Name), cred.Keys, keys)
	case cred.Other != nil && cred.Other.Identity == nil && c.Whole(c.of):
		c.Fail(c.of, p, "add the keys that the provider reads, or other.identity", "credential %s has neither keys nor an identity", strict.Quote(cred.Name))
	}
}

// access checks the access rules: each selects namespaces in one way, and distributes
// existing objects.
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
			c.Fail(c.of, p.Child("namespaces"), "keep one of all, list, selector and stringSelector", "the rule selects namespaces with %d fields, want exactly one", n)
		case n == 0 && c.Whole(c.of):
			c.Fail(c.of, p.Child("namespaces"), "list them in list, select them by labels, or set all: true for every namespace", "the rule selects no namespaces")
		}
		c.Names(p.Child("clusterTemplateChains"), check.Declared{What: "cluster template chain", List: "spec.clusterTemplateChains", Names: c.clusterChains}, rule.ClusterTemplateChains)
		c.Names(p.Child("serviceTemplateChains"), check.Declared{What: "service template chain", List: "spec.serviceTemplateChains", Names: c.serviceChains}, rule.ServiceTemplateChains)
		c.Names(p.Child("credentials"), check.Declared{What: "credential", List: "spec.credentials", Names: c.keys}, rule.Credentials)
		if len(rule.ClusterTemplateChains)+len(rule.ServiceTemplateChains)+len(rule.Credentials) == 0 && c.Whole(c.of) {
			c.Fail(c.of, p, "add chains or credentials, or remove it", "the rule distributes nothing")
		}
	}
}

// deployments checks the clusters: the objects that they use must exist, in their namespace.
func (c *checker) deployments() {
	p := strict.At("spec", "clusterDeployments")
	c.Unique(p, "cluster", check.Gather(c.of.Spec.ClusterDeployments, func(x v1alpha1.K0rdentCluster) string { return x.Namespace + "/" + x.Name }))
	for i, d := range c.of.Spec.ClusterDeployments {
		p := p.Item(i)
		c.Labels(c.of, p.Child("labels"), d.Labels)
		if c.template(p.Child("template"), "cluster template", d.Template, c.clusters) {
			c.checkDistributedTemplate(p.Child("template"), d.Namespace, d.Template, chained{"cluster template", "spec.clusterTemplateChains", c.of.Spec.ClusterTemplateChains,
				func(rule v1alpha1.K0rdentAccess) []string { return rule.ClusterTemplateChains }})
		}
		if c.Named(p.Child("credential"), check.Declared{What: "credential", List: "spec.credentials", Names: c.keys}, d.Credential) {
			c.checkDistributed(p.Child("credential"), d.Namespace, "the credential "+strict.Quote(d.Credential), "add a rule to spec.access that distributes it", func(rule v1alpha1.K0rdentAccess) bool {
				return slices.Contains(rule.Credentials, d.Credential)
			})
		}
		c.fits(p, d)
		c.serviceList(p.Child("services"), d.Namespace, d.Services)
		c.options(p.Child("serviceOptions"), d.ServiceOptions)
	}
}

// holds reports whether one of the named chains contains a version of a template.
func holds(chains []v1alpha1.K0rdentChain, named []string, ref v1alpha1.K0rdentTemplateRef) bool {
	return slices.ContainsFunc(chains, func(chain v1alpha1.K0rdentChain) bool {
		return slices.Contains(named, chain.Name) && slices.ContainsFunc(chain.Paths, func(path v1alpha1.K0rdentPath) bool {
			return path.Template == ref.Name && slices.Contains(path.Versions, ref.Version)
		})
	})
}

// chained contains the templates of a kind, with their chains and the chains in access rules.
type chained struct {
	what, list string
	chains     []v1alpha1.K0rdentChain
	named      func(v1alpha1.K0rdentAccess) []string
}

// checkDistributedTemplate reports a version of a template that no access rule distributes to a namespace. If a
// chain with a path of the template is distributed there, the hint is to add the version to the chain.
func (c *checker) checkDistributedTemplate(p *strict.Path, namespace string, ref v1alpha1.K0rdentTemplateRef, of chained) {
	way := "add a rule to spec.access that distributes it"
	for _, rule := range c.of.Spec.Access {
		if reaches, _ := rule.Namespaces.Reach(namespace, c.labels[namespace]); !reaches {
			continue
		}
		for _, chain := range of.chains {
			leads := func(path v1alpha1.K0rdentPath) bool { return path.Template == ref.Name }
			if slices.Contains(of.named(rule), chain.Name) && slices.ContainsFunc(chain.Paths, leads) {
				way = fmt.Sprintf("add %s to the path of %s in chain %s of %s: that chain is distributed to the namespace", strict.Shorten(ref.Version), strict.Shorten(ref.Name), strict.Shorten(chain.Name), of.list)
			}
		}
	}
	c.checkDistributed(p, namespace, "version "+ref.Version+" of the "+of.what+" "+strict.Quote(ref.Name), way, func(rule v1alpha1.K0rdentAccess) bool {
		return holds(of.chains, of.named(rule), ref)
	})
}

// checkDistributed reports an object that no access rule distributes to a namespace. It reports nothing if a selector
// depends on labels that are not in the specification. way is the hint how to distribute the object.
func (c *checker) checkDistributed(p *strict.Path, namespace, what, way string, in func(v1alpha1.K0rdentAccess) bool) {
	if namespace == v1alpha1.K0rdentNamespaceName || !c.rulesValid {
		return
	}
	for _, rule := range c.of.Spec.Access {
		reaches, known := rule.Namespaces.Reach(namespace, c.labels[namespace])
		if in(rule) && (reaches || !known) {
			return
		}
	}
	c.Fail(c.of, p, way+", or deploy from namespace "+v1alpha1.K0rdentNamespaceName,
		"no rule of spec.access distributes %s to namespace %s", what, strict.Quote(namespace))
}

// serviceList checks the services of a cluster, or those of a MultiClusterService.
func (c *checker) serviceList(p *strict.Path, namespace string, services []v1alpha1.K0rdentService) {
	id := func(name, namespace string) string {
		if namespace == "" {
			namespace = "default" // k0rdent's default
		}
		return namespace + "/" + name
	}
	ids := check.Gather(services, func(s v1alpha1.K0rdentService) string { return id(s.Name, s.Namespace) })
	c.Unique(p, "service", ids)
	deps := map[string][]string{}
	for i, s := range services {
		p := p.Item(i)
		if c.template(p.Child("template"), "service template", s.Template, c.services) {
			c.checkDistributedTemplate(p.Child("template"), namespace, s.Template, chained{"service template", "spec.serviceTemplateChains", c.of.Spec.ServiceTemplateChains,
				func(rule v1alpha1.K0rdentAccess) []string { return rule.ServiceTemplateChains }})
		}
		deps[ids[i]] = nil
		for j, ref := range s.DependsOn {
			deps[ids[i]] = append(deps[ids[i]], id(ref.Name, ref.Namespace))
			if on := id(ref.Name, ref.Namespace); !slices.Contains(ids, on) {
				c.Fail(c.of, p.Child("dependsOn").Item(j).Child("name"), c.Report.Suggest(on, "service", "add it to services", ids), "the list has no service %s", strict.Quote(on))
			}
		}
	}
	c.cycle(p, "service", ids, deps)
}

// cycle reports the first name that depends on itself, directly or through others.
func (c *checker) cycle(p *strict.Path, what string, names []string, deps map[string][]string) {
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
			c.Fail(c.of, p.Item(i).Child("dependsOn"), "remove one of the dependencies", "%s %s depends on itself, or on another one that does", what, strict.Quote(name))
			return
		}
	}
}

// options reports options that have a separate field.
func (c *checker) options(p *strict.Path, options map[string]any) {
	if options["services"] != nil {
		c.Fail(c.of, p.Child("services"), "write them in the field services", "services have a separate field")
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
	c.cycle(p, "MultiClusterService", names, deps)
	for i, m := range c.of.Spec.MultiClusterServices {
		p := p.Item(i)
		c.Names(p.Child("dependsOn"), check.Declared{What: "MultiClusterService", List: "spec.multiClusterServices", Names: names}, m.DependsOn)
		c.serviceList(p.Child("services"), v1alpha1.K0rdentNamespaceName, m.Services)
		c.options(p.Child("serviceOptions"), m.ServiceOptions)
	}
}
