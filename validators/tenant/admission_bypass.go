package tenant

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// AdmissionBypass is the rule tenant-admission-bypass.
var AdmissionBypass = rule.Rule{
	ID:       "tenant-admission-bypass",
	Title:    "an admission policy on tenants' Flux objects that can be bypassed",
	Severity: finding.Warning,
	Why: `A policy that compares a source's URL with a list does not control the content that Flux fetches. With
spec.proxySecretRef, the tenant's own proxy answers for an allowed host; with a certificate authority of the
tenant's (spec.certSecretRef, or ca.crt in the Secret), also for https. A Bucket's spec.sts.endpoint sends
requests to any address. A provider other than generic uses the controller's own cloud identity, and for GitHub
an address from the tenant's Secret. With spec.insecure, anybody on the network path can answer. Submodules come
from anywhere.

A policy that exempts objects in deletion (!has(object.metadata.deletionTimestamp)) exempts them for as long as
the tenant keeps them with its own finalizer. The tenant can then change the URL, spec.serviceAccountName or
spec.kubeConfig, and Flux still acts on the object. The same applies to the host and the annotations of an
Ingress, which is served until the object is gone.

If a policy restricts only the URLs of sources, an ImageRepository can still name any image.

The rule evaluates the policies of the repository with such objects, as the API server does, if the policies
admit a source of a tenant and refuse it with another URL or account. It also tries every object that
tenant-admission-missing tries.`,
	Fix: `Refuse these fields, too. Exempt only updates that do not change the object's spec, such as the removal of a
finalizer:

    matchConditions:
      - name: unless-deleted-and-unchanged
        expression: "!has(object.metadata.deletionTimestamp) || oldObject == null || object.spec != oldObject.spec"
    validations:
      - expression: "!has(object.spec.proxySecretRef) && !has(object.spec.certSecretRef) && !has(object.spec.sts)"
      - expression: object.spec.?provider.orValue("generic") == "generic"
      - expression: "!object.spec.?insecure.orValue(false) && !object.spec.?recurseSubmodules.orValue(false)"`,
	Run: func(p *rule.Pass) {
		withPolicies(p, func(c *cluster, a *admission) { c.judgeBypasses(p, a) })
	},
}

// detour is a field that causes a controller to fetch a source from another place than its URL.
type detour struct {
	kinds []string
	field string
	value any
}

var (
	secretRef = map[string]any{"name": "probe"}
	detours   = []detour{
		{[]string{"GitRepository", "OCIRepository", "Bucket", "ImageRepository"}, "proxySecretRef", secretRef},
		{[]string{"OCIRepository", "HelmRepository", "Bucket", "ImageRepository"}, "certSecretRef", secretRef},
		{[]string{"Bucket"}, "sts", map[string]any{"provider": "ldap", "endpoint": "http://probe.kube-system.svc"}},
		{[]string{"OCIRepository", "HelmRepository", "Bucket", "ImageRepository"}, "provider", "aws"},
		{[]string{"GitRepository"}, "provider", "github"},
		{[]string{"OCIRepository", "HelmRepository", "Bucket", "ImageRepository"}, "insecure", true},
		{[]string{"GitRepository"}, "recurseSubmodules", true},
	}
)

// fetched are the kinds from which a controller fetches, with the field of the URL.
var fetched = []struct{ group, kind, resource, field string }{
	{fluxapi.SourceGroup, "Bucket", "buckets", "endpoint"}, {fluxapi.SourceGroup, "GitRepository", "gitrepositories", "url"},
	{fluxapi.SourceGroup, "HelmRepository", "helmrepositories", "url"}, {fluxapi.SourceGroup, "OCIRepository", "ocirepositories", "url"},
	{fluxapi.ImageGroup, "ImageRepository", "imagerepositories", "image"},
}

// bypasses are the ways in which a tenant can bypass a policy.
type bypasses struct {
	policy *reconcile.Object
	tenant *tenant
	fields []string
	// deleted reports whether the policy admits objects that are being deleted.
	deleted bool
}

func (c *cluster) judgeBypasses(p *rule.Pass, a *admission) {
	found := map[*reconcile.Object]*bypasses{}
	at := func(policy *reconcile.Object, t *tenant) *bypasses {
		if found[policy] == nil {
			found[policy] = &bypasses{policy: policy, tenant: t}
		}
		return found[policy]
	}
	for _, t := range differing.Of(p)[c.Name] {
		at := func(policy *reconcile.Object) *bypasses { return at(policy, t) }
		c.judgeFetched(p, a, t, at)
		c.judgeAccounts(p, a, t, at)
		c.judgeLeaving(p, a, t, at)
	}
	for _, o := range c.Objects() {
		if b := found[o]; b != nil {
			b.report(p)
		}
	}
}

// judgeFetched checks which sources a tenant may let a controller fetch. It checks an ImageRepository only if a
// policy limits the sources, because otherwise any image is allowed.
func (c *cluster) judgeFetched(p *rule.Pass, a *admission, t *tenant, at func(*reconcile.Object) *bypasses) {
	var limits *reconcile.Object
	for _, kind := range fetched {
		where, may := c.mayWrite(t, kind.group, kind.resource)
		if !may || kind.group == fluxapi.ImageGroup && (limits == nil || !c.servedGroups()[fluxapi.ImageGroup]) {
			continue
		}
		if base := c.admitted(p, a, t, kind.kind, kind.resource, where); base != nil {
			r := request{object: base, resource: kind.resource, by: &where.by}
			limits = cmp.Or(c.judgeDetours(p, a, r, kind.field, at), limits)
		}
		if kind.group == fluxapi.ImageGroup {
			anyImage := request{object: sourceOf(kind.kind, "oci://probe.invalid/probe", where.namespace, nil), resource: kind.resource, by: &where.by}
			if found, undecided := a.decide(p.Context, anyImage); found == nil && !undecided {
				at(limits).fields = append(at(limits).fields, "any spec.image of an ImageRepository")
			}
		}
	}
}

// admitted returns a source of a kind that the policies admit, with a URL that the tenant uses; nil if there is none.
func (c *cluster) admitted(p *rule.Pass, a *admission, t *tenant, kind, resource string, at place) *reconcile.Object {
	for _, o := range c.index.sources {
		url := o.Text("spec", "url")
		if c.byNamespace[o.Namespace] != t || url == "" || strings.Contains(url, "${") {
			continue
		}
		base := sourceOf(kind, url, at.namespace, o)
		if found, undecided := a.decide(p.Context, request{object: base, resource: resource, by: &at.by}); found == nil && !undecided {
			return base
		}
	}
	return nil
}

// sourceOf returns a source of a kind with a URL, and the reference of a similar source, if any.
func sourceOf(kind, url, namespace string, like *reconcile.Object) *reconcile.Object {
	_, address, _ := strings.Cut(url, "://")
	spec := map[string]any{"interval": "1h"}
	switch kind {
	case "Bucket":
		spec["endpoint"], spec["bucketName"], _ = strings.Cut(address, "/")
	case "ImageRepository":
		spec["image"] = address
	default:
		spec["url"] = url
	}
	if like != nil && kind == like.Kind && like.Field("spec", "ref") != nil {
		spec["ref"] = like.Field("spec", "ref")
	}
	group := fluxapi.SourceGroup
	if kind == "ImageRepository" {
		group = fluxapi.ImageGroup
	}
	return changed(probe("{apiVersion: "+group+"/v1, kind: "+kind+"}", namespace, ""), "spec", spec)
}

// with returns an object with a changed field in its spec.
func with(o *reconcile.Object, field string, value any) *reconcile.Object {
	spec, _ := o.Value["spec"].(map[string]any)
	spec = maps.Clone(spec)
	spec[field] = value
	return changed(o, "spec", spec)
}

// judgeDetours checks the detours of an admitted source if the policies reject other addresses. It returns the
// policy that rejects them; nil if there is none.
func (c *cluster) judgeDetours(p *rule.Pass, a *admission, base request, field string, at func(*reconcile.Object) *bypasses) *reconcile.Object {
	policy := c.judgeDeleted(p, a, base, with(base.object, field, "https://probe.invalid/probe"), at)
	if policy == nil {
		return nil
	}
	for _, d := range detours {
		if !slices.Contains(d.kinds, base.object.Kind) {
			continue
		}
		r := base
		r.object = with(base.object, d.field, d.value)
		if found, undecided := a.decide(p.Context, r); found == nil && !undecided {
			b := at(policy)
			b.fields = append(b.fields, fmt.Sprintf("spec.%s of a %s", d.field, base.object.Kind))
		}
	}
	return policy
}

// judgeDeleted returns the policy that rejects an object. It records the policy as bypassed if an existing
// object can be changed to this one while it is being deleted.
func (c *cluster) judgeDeleted(p *rule.Pass, a *admission, base request, evil *reconcile.Object, at func(*reconcile.Object) *bypasses) *reconcile.Object {
	r := base
	r.object = evil
	found, undecided := a.decide(p.Context, r)
	if found == nil || undecided {
		return nil
	}
	r.object, r.old = leaving(evil), leaving(base.object).Value
	if passes, undecided := a.decide(p.Context, r); passes == nil && !undecided {
		at(found.policy).deleted = true
	}
	return found.policy
}

// judgeAccounts checks a Kustomization and a HelmRelease with the tenant's account, and then with another one.
func (c *cluster) judgeAccounts(p *rule.Pass, a *admission, t *tenant, at func(*reconcile.Object) *bypasses) {
	for _, k := range [][3]string{
		{fluxapi.KustomizeGroup, "kustomizations", kustomizationOf("path: ./")},
		{fluxapi.HelmGroup, "helmreleases", releaseOf("suspend: false")},
	} {
		where, may := c.mayWrite(t, k[0], k[1])
		if !may {
			continue
		}
		base := request{object: probe(k[2], where.namespace, where.by.name), resource: k[1], by: &where.by}
		if found, undecided := a.decide(p.Context, base); found == nil && !undecided {
			c.judgeDeleted(p, a, base, with(base.object, "serviceAccountName", "probe-invalid"), at)
		}
	}
}

// judgeLeaving checks the doors that a policy closes a second time, with objects that are being deleted.
func (c *cluster) judgeLeaving(p *rule.Pass, a *admission, t *tenant, at func(*reconcile.Object) *bypasses) {
	for _, d := range c.passable() {
		where, may := c.reaches(t, d)
		if !may || !d.lasts() {
			continue
		}
		if found, _ := a.through(p.Context, d, where); found != nil && a.whileDeleted(p.Context, d, where) {
			at(found.policy).deleted = true
		}
	}
}

func (b *bypasses) report(p *rule.Pass) {
	if len(b.fields) > 0 {
		slices.Sort(b.fields)
		p.ReportBuilt(b.policy, finding.Finding{
			Message: fmt.Sprintf("%s restricts the URLs of tenant %s's sources, but not the content that Flux fetches: it admits %s", b.policy, b.tenant.name, strings.Join(slices.Compact(b.fields), ", ")),
			Hint:    "also refuse these fields",
		}, "spec", "validations")
	}
	if b.deleted {
		p.ReportBuilt(b.policy, finding.Finding{
			Message: fmt.Sprintf("%s exempts objects that are being deleted: tenant %s can keep one with a finalizer and change it, and it still takes effect", b.policy, b.tenant.name),
			Hint:    "exempt only updates that leave the object's spec as it is",
		}, "spec", "matchConditions")
	}
}
