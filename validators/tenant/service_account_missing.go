package tenant

import (
	"cmp"
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ServiceAccountMissing is the rule tenant-service-account-missing.
var ServiceAccountMissing = rule.Rule{
	ID:       "tenant-service-account-missing",
	Title:    "a Kustomization or HelmRelease without a service account of the tenant",
	Severity: finding.Error,
	Why: `Flux impersonates the account that spec.serviceAccountName names. Without one, kustomize-controller and
helm-controller apply the object as themselves, which is cluster-admin: the tenant can do anything in the whole
cluster. If Flux is locked down, they use the account "default" of the object's namespace, which has no
permissions, so nothing can be applied. That also affects the platform's own Kustomizations and HelmReleases,
and accounts that do not exist.

If Flux is locked down, a namespace whose default account has permissions on purpose is not reported.`,
	Fix: `Set spec.serviceAccountName to the tenant's account, and in the platform's own objects to kustomize-controller
or helm-controller. Also lock Flux down (see tenant-lockdown-missing), because the tenant writes the next
Kustomization.`,
	Run: func(p *rule.Pass) {
		for _, c := range clusters(p) {
			for _, o := range c.Objects() {
				if isReconciler(o) && o.Field("spec", "kubeConfig") == nil {
					c.judgeAccount(p, o)
				}
			}
		}
	},
}

func (c *cluster) judgeAccount(p *rule.Pass, o *reconcile.Object) {
	t := c.byNamespace[o.Namespace]
	name := o.Text("spec", "serviceAccountName")
	switch {
	case name != "" && t != nil:
		c.judgeNamed(p, o, t, account{o.Namespace, name})
	case name != "":
	case t != nil:
		c.judgeDefault(p, o, t)
	case c.lockdown.account != "" && o.Kind != "ResourceSet" && !c.isSyncedByOperator(o):
		c.judgePlatform(p, o, account{o.Namespace, c.lockdown.account})
	}
}

// isSyncedByOperator reports whether the Flux Operator manages a Kustomization, and sets its account.
func (c *cluster) isSyncedByOperator(o *reconcile.Object) bool {
	root := c.Kustomizations[0]
	return c.lockdown.operator && o.Kind == "Kustomization" && o.Namespace == root.Namespace && o.Name == root.Name
}

// judgeDefault checks a tenant's object that has no service account.
func (c *cluster) judgeDefault(p *rule.Pass, o *reconcile.Object, t *tenant) {
	fallback := account{o.Namespace, cmp.Or(c.lockdown.account, "default")}
	open := c.lockdown.known && c.lockdown.account == ""
	if !open && c.isGranted(fallback) {
		return
	}
	f := finding.Finding{Hint: "set spec.serviceAccountName to the tenant's account"}
	if open && o.Kind != "ResourceSet" {
		f.Message = fmt.Sprintf("tenant %s: %s has no serviceAccountName, so Flux applies it as cluster-admin", t.name, o)
	} else {
		f.Message = fmt.Sprintf("tenant %s: %s has no serviceAccountName: the locked-down Flux applies it as account %s, which has no permissions", t.name, o, fallback)
	}
	p.ReportBuilt(o, f, "spec", "serviceAccountName")
}

// judgeNamed checks that the service account of a tenant's object exists. tenant-object-refused checks whether the
// platform's policies allow it.
func (c *cluster) judgeNamed(p *rule.Pass, o *reconcile.Object, t *tenant, a account) {
	if c.exists(a) || c.unlessComplete(p, fmt.Sprintf("whether account %s exists", a)) {
		return
	}
	p.ReportBuilt(o, finding.Finding{
		Message: fmt.Sprintf("tenant %s: %s is applied as account %s, which does not exist and has no permissions", t.name, o, a),
		Hint:    "use the tenant's account",
	}, "spec", "serviceAccountName")
}

// exists reports whether an account is in Git, or has a grant there.
func (c *cluster) exists(a account) bool {
	return c.isGranted(a) || len(c.Find(reconcile.Identity{Kind: "ServiceAccount", Namespace: a.namespace, Name: a.name})) > 0
}

// judgePlatform checks an object of the platform under lockdown.
func (c *cluster) judgePlatform(p *rule.Pass, o *reconcile.Object, a account) {
	if c.isGranted(a) || c.unlessComplete(p, fmt.Sprintf("whether account %s has any permissions", a)) {
		return
	}
	f := finding.Finding{
		Message: fmt.Sprintf("%s has no serviceAccountName: Flux is locked down and applies it as account %s, which has no permissions", o, a),
		Hint:    "set spec.serviceAccountName to an account that is allowed to apply it",
	}
	if o.Namespace == c.flux {
		controller := "kustomize-controller"
		if o.Kind == "HelmRelease" {
			controller = "helm-controller"
		}
		f.Hint = "the platform's own objects need serviceAccountName: " + controller
	}
	p.ReportBuilt(o, f, "spec", "serviceAccountName")
}
