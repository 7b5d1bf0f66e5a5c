package tenant

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// AdmissionBypass is the rule tenant-admission-bypass.
var AdmissionBypass = rule.Rule{
	ID:       "tenant-admission-bypass",
	Title:    "an admission policy on tenants' Flux objects that can be passed by",
	Severity: finding.Warning,
	Why: `A policy that compares a source's URL with a list does not say what is fetched: with spec.proxySecretRef the
tenant's own proxy answers for an allowed host, and with a certificate authority of the tenant's (spec.certSecretRef,
or ca.crt in the Secret) for https, too; a Bucket's spec.sts.endpoint sends requests to any address; a provider other
than generic uses the controller's own identity in a cloud, and for GitHub an address from the tenant's Secret;
spec.insecure lets anybody on the way answer; submodules come from anywhere.

A policy that exempts objects which are being deleted (!has(object.metadata.deletionTimestamp)) exempts what a tenant
holds with a finalizer of its own for as long as it likes: it changes the URL, spec.serviceAccountName or
spec.kubeConfig then, and Flux still acts on the object.

The policies of the repository are tried with such objects, as the API server does, where a tenant has a source that
they admit and where they refuse another URL or account.`,
	Fix: `Refuse the fields, too, and exempt only updates that leave the object's spec as it is, since the removal of a
finalizer is one:

    matchConditions:
      - name: unless-deleted-and-unchanged
        expression: "!has(object.metadata.deletionTimestamp) || oldObject == null || object.spec != oldObject.spec"
    validations:
      - expression: "!has(object.spec.proxySecretRef) && !has(object.spec.certSecretRef) && !has(object.spec.sts)"
      - expression: object.spec.?provider.orValue("generic") == "generic"
      - expression: "!object.spec.?insecure.orValue(false) && !object.spec.?recurseSubmodules.orValue(false)"`,
	Run: func(p *rule.Pass) {
		var e *evaluator
		for _, c := range clusters(p) {
			if e == nil {
				var err error
				if e, err = newEvaluator(); err != nil {
					p.Unresolved("", 0, "admission policies cannot be evaluated: "+err.Error())
					return
				}
			}
			c.judgeBypasses(p, e.admission(c))
		}
		e.report(p)
	},
}

// detour is a field by which a source is fetched from elsewhere than its URL says.
type detour struct {
	kinds []string
	field string
	value any
}

var (
	secretRef = map[string]any{"name": "probe"}
	detours   = []detour{
		{[]string{"GitRepository", "OCIRepository", "Bucket"}, "proxySecretRef", secretRef},
		{[]string{"OCIRepository", "HelmRepository", "Bucket"}, "certSecretRef", secretRef},
		{[]string{"Bucket"}, "sts", map[string]any{"provider": "ldap", "endpoint": "http://probe.kube-system.svc"}},
		{[]string{"OCIRepository", "HelmRepository", "Bucket"}, "provider", "aws"},
		{[]string{"GitRepository"}, "provider", "github"},
		{[]string{"OCIRepository", "HelmRepository", "Bucket"}, "insecure", true},
		{[]string{"GitRepository"}, "recurseSubmodules", true},
	}
)

// bypasses are the ways past a policy.
type bypasses struct {
	policy *reconcile.Object
	tenant *tenant
	fields []string
	// deleted says that objects which are being deleted pass.
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
		for _, kind := range slices.Sorted(maps.Keys(sourceResources)) {
			resource := sourceResources[kind]
			where, may := c.mayWrite(t, sourceGroup, resource)
			if !may {
				continue
			}
			if base := c.admitted(p, a, t, kind, where); base != nil {
				c.judgeDetours(p, a, request{object: base, resource: resource, by: &where.by}, func(policy *reconcile.Object) *bypasses { return at(policy, t) })
			}
		}
		c.judgeAccounts(p, a, t, func(policy *reconcile.Object) *bypasses { return at(policy, t) })
	}
	for _, o := range c.Objects() {
		if b := found[o]; b != nil {
			b.report(p)
		}
	}
}

// admitted is a source of a kind, with a URL of one of the tenant's, that the policies
// admit; nil where there is none.
func (c *cluster) admitted(p *rule.Pass, a *admission, t *tenant, kind string, at place) *reconcile.Object {
	for _, o := range c.index.sources {
		url := o.Text("spec", "url")
		if c.byNamespace[o.Namespace] != t || url == "" || strings.Contains(url, "${") {
			continue
		}
		base := sourceOf(kind, url, at.namespace, o)
		if found, undecided := a.decide(p.Context, request{object: base, resource: sourceResources[kind], by: &at.by}); found == nil && !undecided {
			return base
		}
	}
	return nil
}

// sourceOf is a source of a kind with a URL, and the reference of the one that it is like.
func sourceOf(kind, url, namespace string, like *reconcile.Object) *reconcile.Object {
	o := probe("{apiVersion: source.toolkit.fluxcd.io/v1, kind: "+kind+", spec: {interval: 1h}}", namespace, "")
	spec, _ := o.Value["spec"].(map[string]any)
	spec["url"] = url
	if ref := like.Field("spec", "ref"); ref != nil && kind == like.Kind {
		spec["ref"] = ref
	}
	if kind == "Bucket" {
		delete(spec, "url")
		_, rest, _ := strings.Cut(url, "://")
		spec["endpoint"], spec["bucketName"], _ = strings.Cut(rest, "/")
	}
	return o
}

// with is an object with a field of its spec changed.
func with(o *reconcile.Object, field string, value any) *reconcile.Object {
	spec, _ := o.Value["spec"].(map[string]any)
	changed := *o
	changed.Value = maps.Clone(o.Value)
	other := maps.Clone(spec)
	other[field] = value
	changed.Value["spec"] = other
	return &changed
}

// leaving is an object that is being deleted.
func leaving(o *reconcile.Object) *reconcile.Object {
	metadata, _ := o.Value["metadata"].(map[string]any)
	changed := *o
	changed.Value = maps.Clone(o.Value)
	other := maps.Clone(metadata)
	other["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	other["finalizers"] = []any{"example.com/hold"}
	changed.Value["metadata"] = other
	return &changed
}

// judgeDetours tries the fields of an admitted source where another URL is refused.
func (c *cluster) judgeDetours(p *rule.Pass, a *admission, base request, at func(*reconcile.Object) *bypasses) {
	field := "url"
	if base.object.Kind == "Bucket" {
		field = "endpoint"
	}
	policy := c.judgeDeleted(p, a, base, with(base.object, field, "https://probe.invalid/probe"), at)
	if policy == nil {
		return
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
}

// judgeDeleted gives the policy that refuses an object, and notes it where the object that
// is there may become this one while it is being deleted.
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

// judgeAccounts tries a Kustomization and a HelmRelease as the tenant's account, and then
// for another cluster.
func (c *cluster) judgeAccounts(p *rule.Pass, a *admission, t *tenant, at func(*reconcile.Object) *bypasses) {
	for _, k := range [][3]string{
		{kustomizeGroup, "kustomizations", kustomizationOf("path: ./")},
		{helmGroup, "helmreleases", `{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, spec: {interval: 1h, serviceAccountName: ACCOUNT, chartRef: {kind: OCIRepository, name: probe}}}`},
	} {
		where, may := c.mayWrite(t, k[0], k[1])
		if !may {
			continue
		}
		base := request{object: probe(k[2], where.namespace, where.by.name), resource: k[1], by: &where.by}
		if found, undecided := a.decide(p.Context, base); found != nil || undecided {
			continue
		}
		for field, value := range map[string]any{"serviceAccountName": "probe-invalid", "kubeConfig": map[string]any{"secretRef": secretRef}} {
			c.judgeDeleted(p, a, base, with(base.object, field, value), at)
		}
	}
}

func (b *bypasses) report(p *rule.Pass) {
	if len(b.fields) > 0 {
		slices.Sort(b.fields)
		p.ReportBuilt(b.policy, finding.Finding{
			Message: fmt.Sprintf("%s limits the URLs of tenant %s's sources, and not what is fetched: it admits %s", b.policy, b.tenant.name, strings.Join(slices.Compact(b.fields), ", ")),
			Hint:    "refuse these fields, too",
		}, "spec", "validations")
	}
	if b.deleted {
		p.ReportBuilt(b.policy, finding.Finding{
			Message: fmt.Sprintf("%s exempts objects that are being deleted: tenant %s holds one with a finalizer and changes it, and Flux still acts on it", b.policy, b.tenant.name),
			Hint:    "exempt only updates that leave the object's spec as it is",
		}, "spec", "matchConditions")
	}
}
