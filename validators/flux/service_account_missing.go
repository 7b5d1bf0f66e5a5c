package flux

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/otherfiles"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/tenant"
)

// ServiceAccountMissing is flux-service-account-missing.
var ServiceAccountMissing = rule.Rule{
	ID:       "flux-service-account-missing",
	Title:    "a service account that does not exist",
	Severity: finding.Error,
	Why: `Flux applies a Kustomization or HelmRelease as the account of spec.serviceAccountName, in the object's namespace. An
account that no object creates and that no binding names has no permissions: everything is forbidden. Sources, Providers
and ImageRepositories read the account itself, and fail without it.

With --default-service-account, Flux applies an object without serviceAccountName as the account of that name in the
object's namespace. This includes the platform's own Kustomizations: without a binding for it they fail.

An account is unresolved if a script, a chart that is not rendered or something outside of the repository may create it.
Accounts of tenants are reported by tenant-service-account-missing, and the accounts of Flux's own controllers are not
checked.`,
	Fix: `Correct the name, or add the ServiceAccount and a RoleBinding for it to the cluster in Git.`,
	Run: func(p *rule.Pass) {
		var open questions
		names := map[string]bool{}
		each(p, func(w *world) {
			for _, n := range w.missingAccounts(p) {
				names[n.id.Name] = true
			}
		})
		spoken := otherfiles.Mentions(p.Repo, names, false)
		each(p, func(w *world) {
			charts := w.unrendered()
			for _, n := range w.missingAccounts(p) {
				w.accountMissing(p, &open, n, spoken[n.id.Name], creator(charts, n.id))
			}
			w.withoutAccount(p, &open)
		})
		open.report(p)
	},
}

var accountFields = []nameField{
	{group: fluxapi.KustomizeGroup, kinds: []string{kustomizationKind}, path: []any{"spec", "serviceAccountName"}, to: kind{"", "ServiceAccount"}},
	{group: fluxapi.HelmGroup, kinds: []string{helmReleaseKind}, path: []any{"spec", "serviceAccountName"}, to: kind{"", "ServiceAccount"}},
	{group: fluxapi.SourceGroup, kinds: sourceKinds, path: []any{"spec", "serviceAccountName"}, to: kind{"", "ServiceAccount"}},
	{group: fluxapi.NotificationGroup, kinds: []string{"Provider"}, path: []any{"spec", "serviceAccountName"}, to: kind{"", "ServiceAccount"}},
	{group: fluxapi.ImageGroup, kinds: []string{"ImageRepository"}, path: []any{"spec", "serviceAccountName"}, to: kind{"", "ServiceAccount"}},
}

// missingAccounts returns the references to service accounts that do not exist. An account that Flux
// impersonates counts as existing if a binding names it.
func (w *world) missingAccounts(p *rule.Pass) []mention {
	root := w.cluster.Kustomizations[0].Namespace
	return slices.DeleteFunc(w.namesIn(accountFields), func(n mention) bool {
		applies := isKustomization(n.of) || isHelmRelease(n.of)
		_, bound := w.granted(account{n.id.Namespace, n.id.Name})
		switch {
		case w.has(n.id), n.id.Name == "default":
			return true
		case applies && (bound || n.of.Field("spec", "kubeConfig") != nil):
			return true
		case n.id.Namespace == root && strings.HasSuffix(n.id.Name, "-controller"):
			return true // of Flux itself
		case applies && w.cluster.Root.Boundary != nil && p.Runs("tenant-boundary"):
			return true // tenant-service-account-missing or tenant-boundary reports it
		}
		return applies && p.Runs("tenant-service-account-missing") && tenant.Owns(p, w.cluster, n.id.Namespace)
	})
}

// accountMissing reports a missing service account. spoken is a file that mentions it and that Flux does not
// read, "" for none. release is the HelmRelease whose chart may create it, nil for none.
func (w *world) accountMissing(p *rule.Pass, open *questions, n mention, spoken string, release *reconcile.Object) {
	near, why := w.near(n.id), w.doubtOf(n.id, n.of)
	if why == "" && spoken != "" {
		why = spoken + " mentions it, and may create it"
	}
	if why == "" && release != nil && !near {
		why = fmt.Sprintf("the chart of %s may create it", release)
	}
	if why == "" && !near {
		why = w.outside(n.id)
	}
	if hint, typo := w.resembles(n.id); typo && why != "" && spoken == "" {
		n.report(p, w, finding.Warning, hint)
		return
	}
	if why != "" {
		n.ask(w, open, why)
		return
	}
	n.report(p, w, finding.Error, w.hint(n.id))
}

// withoutAccount reports the Kustomizations and HelmReleases without a serviceAccountName, if the controllers apply them
// as a default account that has no permissions.
func (w *world) withoutAccount(p *rule.Pass, open *questions) {
	var all []*reconcile.Object
	for _, k := range w.cluster.Kustomizations {
		if k.Object != nil {
			all = append(all, k.Object)
		}
	}
	for _, o := range w.applied {
		if isHelmRelease(o) {
			all = append(all, o)
		}
	}
	accounts := map[bool]string{false: tenant.DefaultAccount(p, w.cluster, "kustomize-controller"), true: tenant.DefaultAccount(p, w.cluster, "helm-controller")}
	for _, o := range all {
		name := accounts[isHelmRelease(o)]
		if _, bound := w.granted(account{o.Namespace, name}); bound || name == "" || suspended(o) || o.Text("spec", "serviceAccountName") != "" || o.Field("spec", "kubeConfig") != nil || tenant.Owns(p, w.cluster, o.Namespace) {
			continue
		}
		binding := reconcile.Identity{Group: rbac, Kind: "RoleBinding", Namespace: o.Namespace, Name: name}
		at := o.Position("spec")
		if why := cmp.Or(w.doubtOf(binding, o), w.outside(binding)); why != "" {
			open.add(at, fmt.Sprintf("whether service account %s/%s, as which Flux applies %s, has permissions", o.Namespace, name, o), why)
			continue
		}
		p.ReportBuilt(o, finding.Finding{Place: at,
			Message: fmt.Sprintf("%s has no serviceAccountName, so Flux applies it as %s/%s (--default-service-account), to which no binding grants permissions", o, o.Namespace, name),
			Hint:    "set spec.serviceAccountName to an account of its namespace that has permissions",
		})
	}
}
