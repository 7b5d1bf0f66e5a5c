// Package k0rdent checks the K0rdent of a specification.
package k0rdent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/kcm"
	"github.com/fleetwright/fleetwright/internal/specs/check"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// checker checks a K0rdent.
type checker struct {
	*check.Product
	of *v1alpha1.K0rdent
	// sources maps the declared sources to their kinds. The other fields are the versions of templates by name, and the
	// names of chains and credentials.
	sources             map[string]string
	clusters, services  map[string][]string
	clusterChains       []string
	serviceChains, keys []string
	labels              map[string]map[string]string
	// rulesValid is set if the access rules, and the objects that they distribute, are valid.
	rulesValid bool
	// created reports the objects that kcm creates itself.
	created kcm.Created
}

// Complete sets the fields of the specification's K0rdent, if it has one, that follow from its version.
func Complete(spec *v1alpha1.Spec) {
	if k := v1alpha1.ProductOf[*v1alpha1.K0rdent](spec); k != nil {
		kcm.Complete(&k.Spec)
	}
}

// Check checks the specification's K0rdent, if it has one.
func Check(c *check.Checker) {
	k := v1alpha1.ProductOf[*v1alpha1.K0rdent](c.Spec)
	if k == nil {
		return
	}
	kc := &checker{Product: check.NewProduct(c, k), of: k, labels: k.Spec.K0rdentNamespaceLabels(), created: kcm.CreatedOf(&k.Spec)}
	kc.Cluster(k.Spec.Cluster, "kcm's HelmReleases have no service account, and their charts are in other namespaces", "k0rdent can install nothing")
	kc.release()
	kc.values()
	kc.toggles()
	kc.URL(k, strict.At("spec", "chartsURL"), k.Spec.ChartsURL)
	kc.declare()
	kc.providers()
	kc.derived()
	kc.ownNamespaces()
	kc.templates()
	kc.kubernetes()
	before := len(kc.Report.Errors)
	kc.chains(strict.At("spec", "clusterTemplateChains"), "cluster template", k.Spec.ClusterTemplateChains, kc.clusters)
	kc.chains(strict.At("spec", "serviceTemplateChains"), "service template", k.Spec.ServiceTemplateChains, kc.services)
	kc.access()
	kc.rulesValid = before == len(kc.Report.Errors) && !kc.Torn("spec.access", "spec.clusterTemplateChains", "spec.serviceTemplateChains", "spec.credentials")
	kc.credentials()
	kc.deployments()
	kc.multiClusterServices()
}

// release checks the version. From 1.6 on, kcm's charts, including those for regions, have the
// version of their release, and its kinds have the generated fields (kcm's Makefile,
// set-kcm-version, and its definitions at the tags since v1.0.0).
func (c *checker) release() {
	if s := &c.of.Spec; !v1alpha1.AtLeast(s.Version, 1, 6) && c.Whole(c.of) {
		c.Fail(c.of, strict.At("spec", "version"), "write 1.6.0 or later, and upgrade an older management cluster to 1.6.0 first",
			"k0rdent %s does not support the objects that Fleetwright generates", s.Version)
	}
}

// ownedValue is a value of kcm's chart that another field of the specification overwrites.
type ownedValue struct {
	path []string
	// is is the value's only allowed content; nil if it must not be set at all.
	is        any
	why, hint string
}

// ownedValues returns all values of kcm's chart that other fields of the specification set.
func ownedValues() []ownedValue {
	var out []ownedValue
	return append(out, ownedValue{
		[]string{"controller", "createAccessManagement"}, false,
		"the value lets kcm manage the objects that the specification describes", "remove it: it is always false, because the objects that it would create are in Git",
	}, ownedValue{
		[]string{"controller", "templatesRepoURL"}, nil,
		"the location of kcm's charts is set in spec.chartsURL", "remove it and set spec.chartsURL",
	}, ownedValue{
		[]string{"flux2", "enabled"}, false,
		"a second Flux in the cluster would reconcile the same objects", "remove it: it is always false, because the platform's own Flux reconciles kcm's objects",
	})
}

// values reports values that would let kcm manage objects that are in Git, values that would be overwritten, and values
// of another type where a mapping is needed to overwrite them.
func (c *checker) values() {
	for _, owned := range ownedValues() {
		p, in := strict.At("spec", "values"), any(c.of.Spec.Values)
		for _, name := range owned.path {
			values, isMapping := in.(map[string]any)
			if !isMapping && in != nil {
				_, value, _ := p.Find(c.Objects[c.of].Root)
				c.Fail(c.of, p, "write a mapping, or remove it: it contains values that the specification sets", "%s is %s, want a mapping", p, strict.Describe(strict.Dereference(value)))
			}
			p, in = p.Child(name), values[name]
		}
		if in != nil && in != owned.is {
			c.Fail(c.of, p, owned.hint, "%s", owned.why)
		}
	}
}

// declare collects the names that the lists declare, and reports duplicates.
func (c *checker) declare() {
	s := &c.of.Spec
	c.Unique(strict.At("spec", "providers"), "provider", check.Gather(s.Providers, func(p v1alpha1.K0rdentProvider) string { return p.Name }))
	sources := check.Gather(s.Sources, func(x v1alpha1.K0rdentSource) string { return x.Name })
	c.Unique(strict.At("spec", "sources"), "source", sources)
	c.sources = map[string]string{v1alpha1.K0rdentTemplates: "HelmRepository"}
	for i, source := range s.Sources {
		p := strict.At("spec", "sources").Item(i)
		if source.Name == v1alpha1.K0rdentTemplates {
			c.Fail(c.of, p.Child("name"), "choose another name", "%s is the name of the source with kcm's own charts", strict.Quote(source.Name))
		}
		c.URL(c.of, p.Child("url"), source.URL)
		c.source(p, source)
		if source.Kind == v1alpha1.SourceGit {
			c.GitKey(c.of, p, source.URL, source.SecretRef)
		}
		c.sources[source.Name] = source.Kind
	}
	clusters := check.Gather(s.ClusterTemplates, func(t v1alpha1.K0rdentTemplate) string { return v1alpha1.K0rdentObjectName(t.Name, t.Version) })
	services := check.Gather(s.ServiceTemplates, func(t v1alpha1.K0rdentServiceTemplate) string { return v1alpha1.K0rdentObjectName(t.Name, t.Version) })
	c.Unique(strict.At("spec", "clusterTemplates"), "template", clusters)
	c.Unique(strict.At("spec", "serviceTemplates"), "template", services)
	c.clusters, c.services = map[string][]string{}, map[string][]string{}
	for _, t := range s.ClusterTemplates {
		c.clusters[t.Name] = append(c.clusters[t.Name], t.Version)
	}
	for _, chart := range c.created.Of.Clusters() {
		if version := c.created.Of.ChartVersion(chart); c.created.Templates && !slices.Contains(c.clusters[chart], version) {
			c.clusters[chart] = append(c.clusters[chart], version)
		}
	}
	for _, t := range s.ServiceTemplates {
		c.services[t.Name] = append(c.services[t.Name], t.Version)
	}
	name := func(x v1alpha1.K0rdentChain) string { return x.Name }
	c.clusterChains, c.serviceChains = check.Gather(s.ClusterTemplateChains, name), check.Gather(s.ServiceTemplateChains, name)
	c.Unique(strict.At("spec", "clusterTemplateChains"), "chain", c.clusterChains)
	c.Unique(strict.At("spec", "serviceTemplateChains"), "chain", c.serviceChains)
	c.keys = check.Gather(s.Credentials, func(x v1alpha1.K0rdentCredential) string { return x.Name })
	c.Unique(strict.At("spec", "credentials"), "credential", c.keys)
	c.Unique(strict.At("spec", "namespaces"), "namespace", check.Gather(s.Namespaces, func(x v1alpha1.K0rdentNamespace) string { return x.Name }))
	for i, n := range s.Namespaces {
		c.Labels(c.of, strict.At("spec", "namespaces").Item(i).Child("labels"), n.Labels)
	}
}

// source checks which fields a kind of source must and must not have.
func (c *checker) source(p *strict.Path, s v1alpha1.K0rdentSource) {
	oci := strings.HasPrefix(s.URL, "oci://")
	c.Branch(c.of, p.Child("branch"), s.Branch)
	switch {
	case c.Objects[c.of].Bad[p.Child("kind").String()]:
	case s.Branch != "" && s.Kind != v1alpha1.SourceGit:
		c.Fail(c.of, p.Child("branch"), "take it out", "a source of kind %s has no branch", s.Kind)
	case s.Tag != "" && s.Kind == "HelmRepository":
		c.Fail(c.of, p.Child("tag"), "remove it: the template sets the version", "a HelmRepository has no tag")
	case s.Kind == v1alpha1.SourceGit && s.Branch != "" && s.Tag != "":
		c.Fail(c.of, p.Child("tag"), "keep one of them", "the source has both a branch and a tag")
	case s.Kind == v1alpha1.SourceGit && oci:
		c.Fail(c.of, p.Child("url"), "write https:// or ssh://, or kind: OCIRepository", "a GitRepository cannot have an oci:// URL")
	case s.Kind == v1alpha1.SourceOCI && !oci && s.URL != "":
		c.Fail(c.of, p.Child("url"), "write oci://host/path", "an OCIRepository needs an oci:// URL")
	case s.Kind == "HelmRepository" && strings.HasPrefix(s.URL, "ssh://"):
		c.Fail(c.of, p.Child("url"), "write https:// or oci://", "a HelmRepository cannot have an ssh:// URL")
	}
}

// templates checks the sources of the templates.
func (c *checker) templates() {
	for i, t := range c.of.Spec.ClusterTemplates {
		c.helm(strict.At("spec", "clusterTemplates").Item(i).Child("helm"), t.Helm)
	}
	for i, t := range c.of.Spec.ServiceTemplates {
		p := strict.At("spec", "serviceTemplates").Item(i)
		n := 0
		for _, has := range []bool{t.Helm != nil, t.Kustomize != nil, t.Resources != nil} {
			if has {
				n++
			}
		}
		if n != 1 && c.Whole(c.of) {
			c.Fail(c.of, p, "write exactly one of helm, kustomize and resources", "service template %s has %d of helm, kustomize and resources, want exactly one", strict.Quote(t.Name), n)
		}
		c.helm(p.Child("helm"), t.Helm)
		c.content(p.Child("kustomize"), t.Kustomize)
		c.content(p.Child("resources"), t.Resources)
	}
}

func (c *checker) helm(p *strict.Path, h *v1alpha1.K0rdentHelm) {
	if h == nil {
		return
	}
	kind := c.sourceRef(p, h.SourceRef)
	if kind == v1alpha1.SourceOCI {
		c.Fail(c.of, p.Child("sourceRef").Child("name"), "use a HelmRepository: k0rdent reads charts from HelmRepositories and GitRepositories",
			"source %s is an OCIRepository, from which k0rdent reads no charts", strict.Quote(h.SourceRef.Name))
	}
}

// sourceRef checks a reference to a source and returns the kind of the source, "" if the source does not exist.
func (c *checker) sourceRef(p *strict.Path, ref *v1alpha1.NameRef) string {
	if ref == nil || ref.Name == "" {
		return ""
	}
	kind := c.sources[ref.Name]
	if kind == "" {
		c.Named(p.Child("sourceRef").Child("name"), check.Declared{What: "source", List: "spec.sources", Names: slices.Collect(maps.Keys(c.sources))}, ref.Name)
	}
	return kind
}

func (c *checker) content(p *strict.Path, content *v1alpha1.K0rdentContent) {
	if content == nil {
		return
	}
	if (content.SourceRef == nil) == (content.Remote == nil) && c.Whole(c.of) {
		c.Fail(c.of, p, "set either sourceRef, to one of the sources, or remote", "%s needs exactly one of sourceRef and remote", p)
	}
	if c.sourceRef(p, content.SourceRef) == "HelmRepository" {
		c.Fail(c.of, p.Child("sourceRef").Child("name"), "reference a GitRepository or OCIRepository", "source %s is a HelmRepository, which contains charts", strict.Quote(content.SourceRef.Name))
	}
	if r := content.Remote; r != nil {
		c.URL(c.of, p.Child("remote").Child("url"), r.URL)
		c.Branch(c.of, p.Child("remote").Child("branch"), r.Branch)
		if r.Branch != "" && strings.HasPrefix(r.URL, "oci://") {
			c.Fail(c.of, p.Child("remote").Child("branch"), "write a tag", "an OCI artifact has no branch")
		}
	}
}

// chains checks that the upgrade paths consist of existing versions.
func (c *checker) chains(p *strict.Path, what string, chains []v1alpha1.K0rdentChain, known map[string][]string) {
	for i, chain := range chains {
		for j, path := range chain.Paths {
			q := p.Item(i).Child("paths").Item(j)
			versions := known[path.Template]
			if versions == nil {
				c.missingTemplate(q.Child("template"), what, path.Template, known)
				continue
			}
			for k, version := range path.Versions {
				switch {
				case !slices.Contains(versions, version):
					if c.Torn(templatesField(what)) {
						continue
					}
					c.Fail(c.of, q.Child("versions").Item(k), strict.Choices("version", "add it to "+templatesField(what), versions), "version %s of the %s %s does not exist", strict.Quote(version), what, strict.Quote(path.Template))
				case slices.Index(path.Versions, version) < k:
					c.Fail(c.of, q.Child("versions").Item(k), "use a separate path for each upgrade route", "the path contains version %s twice", strict.Quote(version))
				case k > 0 && older(version, path.Versions[k-1]):
					c.Fail(c.of, q.Child("versions").Item(k), "list the versions in upgrade order, oldest first",
						"the path goes from version %s back to %s, which is not an upgrade", strict.Quote(path.Versions[k-1]), strict.Quote(version))
				}
			}
		}
	}
}

// older reports whether a version is older than another one. Because each step of a path leads
// to a newer version, paths cannot form a cycle.
func older(version, than string) bool {
	v, err := semver.NewVersion(version)
	w, otherErr := semver.NewVersion(than)
	return err == nil && otherErr == nil && v.LessThan(w)
}

func (c *checker) missingTemplate(p *strict.Path, what, name string, known map[string][]string) {
	d := check.Declared{What: what, List: templatesField(what), Names: slices.Collect(maps.Keys(known))}
	if c.created.Templates && c.created.Of == nil && what == "cluster template" {
		d.Otherwise = fmt.Sprintf("add it to %s with its chart: the templates that kcm creates are known for its releases %s from %s", d.List,
			strings.Join(kcm.Releases(), ", "), v1alpha1.K0rdentCharts)
	}
	c.Named(p, d, name)
}

// templatesField returns the field that declares cluster templates or service templates.
func templatesField(what string) string {
	return "spec." + strings.ReplaceAll(what, " template", "Templates")
}

// template checks a reference to a version of a template, and reports whether it exists.
func (c *checker) template(p *strict.Path, what string, ref v1alpha1.K0rdentTemplateRef, known map[string][]string) bool {
	versions := known[ref.Name]
	switch {
	case versions == nil:
		c.missingTemplate(p.Child("name"), what, ref.Name, known)
	case !slices.Contains(versions, ref.Version) && c.Torn(templatesField(what)):
	case !slices.Contains(versions, ref.Version) && ref.Version != "":
		c.Fail(c.of, p.Child("version"), strict.Choices("version", "add it to "+templatesField(what), versions), "version %s of the %s %s does not exist", strict.Quote(ref.Version), what, strict.Quote(ref.Name))
	default:
		return ref.Version != ""
	}
	return false
}
