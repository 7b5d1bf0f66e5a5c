package v1alpha1

import (
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// defaultK0rdent fills in what a K0rdent leaves out.
func defaultK0rdent(s *K0rdentSpec) {
	set(&s.ChartsURL, K0rdentCharts)
	set(&s.Timeout, "15m")
	for i := range s.Sources {
		set(&s.Sources[i].Kind, "HelmRepository")
		set(&s.Sources[i].Interval, defaultInterval)
	}
	for i := range s.ClusterTemplates {
		t := &s.ClusterTemplates[i]
		if t.Helm == nil {
			t.Helm = &K0rdentHelm{}
		}
		defaultHelm(t.Helm, t.Name)
	}
	for i := range s.ServiceTemplates {
		t := &s.ServiceTemplates[i]
		if t.Helm != nil {
			defaultHelm(t.Helm, t.Name)
		}
		for _, content := range []*K0rdentContent{t.Kustomize, t.Resources} {
			if content == nil {
				continue
			}
			set(&content.DeploymentType, "Remote")
			if content.Remote != nil {
				set(&content.Remote.Interval, defaultInterval)
			}
		}
	}
	for i := range s.Credentials {
		if c := &s.Credentials[i]; c.Keys == nil {
			c.Keys = c.defaultKeys()
		}
	}
	for i := range s.ClusterDeployments {
		set(&s.ClusterDeployments[i].Namespace, K0rdentNamespaceName)
	}
}

func defaultHelm(h *K0rdentHelm, name string) {
	set(&h.Chart, name)
	if h.SourceRef == nil {
		h.SourceRef = &NameRef{Name: K0rdentTemplates}
	}
}

// k0rdentChecker checks a K0rdent.
type k0rdentChecker struct {
	*productChecker
	of *K0rdent
	// What it declares: sources by name with their kinds, versions of templates
	// by name, names of chains and credentials.
	sources             map[string]string
	clusters, services  map[string][]string
	clusterChains       []string
	serviceChains, keys []string
	labels              map[string]map[string]string
	// handsOn says that the rules of access, and what they hand on, are sound.
	handsOn bool
}

func (c *checker) k0rdent() {
	k := c.spec.K0rdent
	if k == nil {
		return
	}
	kc := &k0rdentChecker{productChecker: &productChecker{checker: c, product: k}, of: k, labels: k.Spec.K0rdentNamespaceLabels()}
	kc.cluster(k.Spec.Cluster, "kcm's HelmReleases name no service account, and their charts stand in other namespaces", "k0rdent can install nothing")
	kc.release()
	kc.values()
	kc.url(k, at("spec", "chartsURL"), k.Spec.ChartsURL)
	kc.declare()
	kc.providers()
	kc.derived()
	kc.ownNamespaces()
	kc.templates()
	kc.kubernetes()
	before := len(kc.report.errors)
	kc.chains(at("spec", "clusterTemplateChains"), "cluster template", k.Spec.ClusterTemplateChains, kc.clusters)
	kc.chains(at("spec", "serviceTemplateChains"), "service template", k.Spec.ServiceTemplateChains, kc.services)
	kc.access()
	kc.handsOn = before == len(kc.report.errors) && !kc.torn("spec.access", "spec.clusterTemplateChains", "spec.serviceTemplateChains", "spec.credentials")
	kc.credentials()
	kc.deployments()
	kc.multiClusterServices()
}

// release checks the version. From 1.6 on kcm's charts, that of regions among them, have
// the version of their release, and its kinds the fields that are generated (kcm's
// Makefile, set-kcm-version, and its definitions at the tags since v1.0.0).
func (c *k0rdentChecker) release() {
	if s := &c.of.Spec; !atLeast(s.Version, 1, 6) && c.whole(c.of) {
		c.fail(c.of, at("spec", "version"), "write 1.6.0 or later, and upgrade an older management cluster to that first",
			"k0rdent %s has other objects than those that are generated", s.Version)
	}
}

// ownedValue is a value of kcm's chart that is decided elsewhere: another one would be
// overwritten.
type ownedValue struct {
	path []string
	// is the value that it always has; nil where it may not be said.
	is        any
	why, hint string
}

// ownedValues are all of them.
func ownedValues() []ownedValue {
	var out []ownedValue
	for _, toggle := range []string{"createManagement", "createAccessManagement", "createRelease", "createTemplates"} {
		out = append(out, ownedValue{
			[]string{"controller", toggle}, false,
			"the value makes kcm own what the specification describes", "take it out: it is false, since Git holds what it would make",
		})
	}
	return append(out, ownedValue{
		[]string{"controller", "templatesRepoURL"}, nil,
		"where kcm's charts are is said in spec.chartsURL", "take it out and set spec.chartsURL",
	}, ownedValue{
		[]string{"flux2", "enabled"}, false,
		"a second Flux in the cluster would reconcile the same objects", "take it out: it is false, since the platform's own Flux reconciles kcm's objects",
	})
}

// values refuses values that take from Git what it owns, and what would be overwritten
// with such values: no mapping has any beside it.
func (c *k0rdentChecker) values() {
	for _, owned := range ownedValues() {
		p, in := at("spec", "values"), any(c.of.Spec.Values)
		for _, name := range owned.path {
			values, isMapping := in.(map[string]any)
			if !isMapping && in != nil {
				_, value, _ := p.find(c.objects[c.of].root)
				c.fail(c.of, p, "write a mapping, or take it out: it holds values that the specification gives", "%s is %s, want a mapping", p, describe(dereference(value)))
			}
			p, in = p.child(name), values[name]
		}
		if in != nil && in != owned.is {
			c.fail(c.of, p, owned.hint, "%s", owned.why)
		}
	}
}

// declare gathers what the lists declare, and refuses what stands in one twice.
func (c *k0rdentChecker) declare() {
	s := &c.of.Spec
	c.unique(at("spec", "providers"), "provider", gather(s.Providers, func(p K0rdentProvider) string { return p.Name }))
	sources := gather(s.Sources, func(x K0rdentSource) string { return x.Name })
	c.unique(at("spec", "sources"), "source", sources)
	c.sources = map[string]string{K0rdentTemplates: "HelmRepository"}
	for i, source := range s.Sources {
		p := at("spec", "sources").item(i)
		if source.Name == K0rdentTemplates {
			c.fail(c.of, p.child("name"), "choose another name", "kcm's own charts are the source %s", quote(source.Name))
		}
		c.url(c.of, p.child("url"), source.URL)
		c.source(p, source)
		c.sources[source.Name] = source.Kind
	}
	clusters := gather(s.ClusterTemplates, func(t K0rdentTemplate) string { return K0rdentObjectName(t.Name, t.Version) })
	services := gather(s.ServiceTemplates, func(t K0rdentServiceTemplate) string { return K0rdentObjectName(t.Name, t.Version) })
	c.unique(at("spec", "clusterTemplates"), "template", clusters)
	c.unique(at("spec", "serviceTemplates"), "template", services)
	c.clusters, c.services = map[string][]string{}, map[string][]string{}
	for _, t := range s.ClusterTemplates {
		c.clusters[t.Name] = append(c.clusters[t.Name], t.Version)
	}
	for _, t := range s.ServiceTemplates {
		c.services[t.Name] = append(c.services[t.Name], t.Version)
	}
	name := func(x K0rdentChain) string { return x.Name }
	c.clusterChains, c.serviceChains = gather(s.ClusterTemplateChains, name), gather(s.ServiceTemplateChains, name)
	c.unique(at("spec", "clusterTemplateChains"), "chain", c.clusterChains)
	c.unique(at("spec", "serviceTemplateChains"), "chain", c.serviceChains)
	c.keys = gather(s.Credentials, func(x K0rdentCredential) string { return x.Name })
	c.unique(at("spec", "credentials"), "credential", c.keys)
	c.unique(at("spec", "namespaces"), "namespace", gather(s.Namespaces, func(x K0rdentNamespace) string { return x.Name }))
	for i, n := range s.Namespaces {
		c.checker.labels(c.of, at("spec", "namespaces").item(i).child("labels"), n.Labels)
	}
}

func gather[T any](list []T, name func(T) string) []string {
	out := make([]string, 0, len(list))
	for _, item := range list {
		out = append(out, name(item))
	}
	return out
}

// source checks what a kind of source has and what it hasn't.
func (c *k0rdentChecker) source(p *fieldPath, s K0rdentSource) {
	oci := strings.HasPrefix(s.URL, "oci://")
	c.branch(c.of, p.child("branch"), s.Branch)
	switch {
	case c.objects[c.of].bad[p.child("kind").String()]:
	case s.Branch != "" && s.Kind != SourceGit:
		c.fail(c.of, p.child("branch"), "take it out", "a source of kind %s has no branch", s.Kind)
	case s.Tag != "" && s.Kind == "HelmRepository":
		c.fail(c.of, p.child("tag"), "the version is the template's", "a HelmRepository has no tag")
	case s.Kind == SourceGit && s.Branch != "" && s.Tag != "":
		c.fail(c.of, p.child("tag"), "keep one of them", "the source has a branch and a tag")
	case s.Kind == SourceGit && oci:
		c.fail(c.of, p.child("url"), "write https:// or ssh://, or kind: OCIRepository", "a GitRepository cannot be at an oci:// URL")
	case s.Kind == SourceOCI && !oci && s.URL != "":
		c.fail(c.of, p.child("url"), "write oci://host/path", "an OCIRepository is at an oci:// URL")
	case s.Kind == "HelmRepository" && strings.HasPrefix(s.URL, "ssh://"):
		c.fail(c.of, p.child("url"), "write https:// or oci://", "a HelmRepository cannot be at an ssh:// URL")
	}
}

// templates checks where the templates' contents are.
func (c *k0rdentChecker) templates() {
	for i, t := range c.of.Spec.ClusterTemplates {
		c.helm(at("spec", "clusterTemplates").item(i).child("helm"), t.Helm)
	}
	for i, t := range c.of.Spec.ServiceTemplates {
		p := at("spec", "serviceTemplates").item(i)
		n := 0
		for _, has := range []bool{t.Helm != nil, t.Kustomize != nil, t.Resources != nil} {
			if has {
				n++
			}
		}
		if n != 1 && c.whole(c.of) {
			c.fail(c.of, p, "write exactly one of helm, kustomize and resources", "service template %s has %d of helm, kustomize and resources, want one", quote(t.Name), n)
		}
		c.helm(p.child("helm"), t.Helm)
		c.content(p.child("kustomize"), t.Kustomize)
		c.content(p.child("resources"), t.Resources)
	}
}

func (c *k0rdentChecker) helm(p *fieldPath, h *K0rdentHelm) {
	if h == nil {
		return
	}
	kind := c.sourceRef(p, h.SourceRef)
	if kind == SourceOCI {
		c.fail(c.of, p.child("sourceRef").child("name"), "make it a HelmRepository: k0rdent takes charts from HelmRepositories and GitRepositories",
			"the source %s is an OCIRepository, which holds no charts for k0rdent", quote(h.SourceRef.Name))
	}
}

// sourceRef checks a reference and returns the kind of the source, "" where
// there is none.
func (c *k0rdentChecker) sourceRef(p *fieldPath, ref *NameRef) string {
	if ref == nil || ref.Name == "" {
		return ""
	}
	kind := c.sources[ref.Name]
	if kind == "" {
		c.named(p.child("sourceRef").child("name"), declared{what: "source", list: "spec.sources", names: slices.Collect(maps.Keys(c.sources))}, ref.Name)
	}
	return kind
}

func (c *k0rdentChecker) content(p *fieldPath, content *K0rdentContent) {
	if content == nil {
		return
	}
	if (content.SourceRef == nil) == (content.Remote == nil) && c.whole(c.of) {
		c.fail(c.of, p, "name one of the sources in sourceRef, or write a remote", "%s wants exactly one of sourceRef and remote", p)
	}
	if c.sourceRef(p, content.SourceRef) == "HelmRepository" {
		c.fail(c.of, p.child("sourceRef").child("name"), "name a GitRepository or OCIRepository", "the source %s is a HelmRepository, which holds charts", quote(content.SourceRef.Name))
	}
	if r := content.Remote; r != nil {
		c.url(c.of, p.child("remote").child("url"), r.URL)
		c.branch(c.of, p.child("remote").child("branch"), r.Branch)
		if r.Branch != "" && strings.HasPrefix(r.URL, "oci://") {
			c.fail(c.of, p.child("remote").child("branch"), "write a tag", "an OCI artifact has no branch")
		}
	}
}

// chains checks the upgrade paths: they go through versions that there are.
func (c *k0rdentChecker) chains(p *fieldPath, what string, chains []K0rdentChain, known map[string][]string) {
	for i, chain := range chains {
		for j, path := range chain.Paths {
			q := p.item(i).child("paths").item(j)
			versions := known[path.Template]
			if versions == nil {
				c.missingTemplate(q.child("template"), what, path.Template, known)
				continue
			}
			for k, version := range path.Versions {
				switch {
				case !slices.Contains(versions, version):
					if c.torn(templatesField(what)) {
						continue
					}
					c.fail(c.of, q.child("versions").item(k), choices("version", "add it to "+templatesField(what), versions), "there is no version %s of the %s %s", quote(version), what, quote(path.Template))
				case slices.Index(path.Versions, version) < k:
					c.fail(c.of, q.child("versions").item(k), "write another path for another way", "the path goes through version %s twice", quote(version))
				case k > 0 && older(version, path.Versions[k-1]):
					c.fail(c.of, q.child("versions").item(k), "write the versions in the order of the upgrades, the oldest first",
						"the path leads from version %s back to %s, which is no upgrade", quote(path.Versions[k-1]), quote(version))
				}
			}
		}
	}
}

// older says whether a version comes before another one. Since each step of a path leads
// to a newer one, no paths together make a circle.
func older(version, than string) bool {
	v, err := semver.NewVersion(version)
	w, otherErr := semver.NewVersion(than)
	return err == nil && otherErr == nil && v.LessThan(w)
}

func (c *k0rdentChecker) missingTemplate(p *fieldPath, what, name string, known map[string][]string) {
	c.named(p, declared{what: what, list: templatesField(what), names: slices.Collect(maps.Keys(known))}, name)
}

// templatesField is the field that declares cluster templates or service templates.
func templatesField(what string) string {
	return "spec." + strings.ReplaceAll(what, " template", "Templates")
}

// template checks a reference to a version of a template, and says whether it is
// there.
func (c *k0rdentChecker) template(p *fieldPath, what string, ref K0rdentTemplateRef, known map[string][]string) bool {
	versions := known[ref.Name]
	switch {
	case versions == nil:
		c.missingTemplate(p.child("name"), what, ref.Name, known)
	case !slices.Contains(versions, ref.Version) && c.torn(templatesField(what)):
	case !slices.Contains(versions, ref.Version) && ref.Version != "":
		c.fail(c.of, p.child("version"), choices("version", "add it to "+templatesField(what), versions), "there is no version %s of the %s %s", quote(ref.Version), what, quote(ref.Name))
	default:
		return ref.Version != ""
	}
	return false
}
