package tenant

import (
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/tenantpolicy"
)

// admission returns the policies that the platform has for a tenant; nil if the boundary does not describe them.
func (j *bounded) admission(c *reconcile.Cluster) (*admission, error) {
	if j.spec.Admission == nil {
		return nil, nil
	}
	e, err := newEvaluator()
	if err != nil {
		return nil, err
	}
	a := e.admission(&cluster{Cluster: c})
	for _, p := range tenantpolicy.Of(j.allowed()) {
		if p.Suffix == "exposure" && j.spec.Exposure == nil {
			continue
		}
		value, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&admissionv1.ValidatingAdmissionPolicy{Spec: p.Spec})
		if err != nil {
			return nil, err
		}
		policy := &reconcile.Object{Value: value, Place: c.Root.Place}
		policy.Kind, policy.Name = "ValidatingAdmissionPolicy", "tenant-"+j.name+"-"+p.Suffix
		a.add(boundPolicy{policy, &reconcile.Object{}})
	}
	return a, nil
}

// allowed returns the permissions that the boundary describes.
func (j *bounded) allowed() tenantpolicy.Tenant {
	b := j.spec
	allowed := tenantpolicy.Tenant{
		Name:          j.name,
		SyncNamespace: b.SyncNamespace, SyncAccount: j.name, Account: b.ServiceAccountName,
		Namespaces: b.Namespaces, URLs: b.Sources,
		Admin:      b.Admission.Profile == "admin",
		Repository: b.Admission.Repository, Branch: b.Admission.Branch,
	}
	for _, url := range b.Sources {
		if strings.HasSuffix(url, "/") {
			allowed.Prefixes = append(allowed.Prefixes, url)
		}
	}
	if b.Exposure != nil {
		allowed.Hosts = b.Exposure.Hosts
	}
	return allowed
}

// judgeAdmission checks an object against the policies.
func (j *bounded) judgeAdmission(a *admission, o *reconcile.Object) {
	by := account{j.spec.SyncNamespace, j.name}
	if o.HelmRelease != nil {
		by = account{o.HelmRelease.Namespace, j.spec.ServiceAccountName}
	}
	found, undecided := a.refuses(j.p.Context, o, by, nil)
	switch {
	case undecided && a.isSpent(): // report reports it once
	case undecided || found != nil && hasVariable(o):
		j.p.Unresolved(o.Position("kind"), fmt.Sprintf("tenant %s: cannot decide whether the platform's admission policies admit %s", j.name, o))
	case found != nil:
		j.report(o, "change it, or ask the platform to allow it", fmt.Sprintf("%s by the platform's %s: %s", found.what(o), found.policy, found.message),
			named(o, found.message, []any{"kind"})...)
	}
}
