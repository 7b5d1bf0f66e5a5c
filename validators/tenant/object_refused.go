package tenant

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ObjectRefused is the rule tenant-object-refused.
var ObjectRefused = rule.Rule{
	ID:       "tenant-object-refused",
	Title:    "an object that the cluster refuses its tenant",
	Severity: finding.Error,
	Why: `Flux applies a tenant's objects as the tenant's account, and the API server refuses what that account may not do: a
kind that none of its roles includes, or that they allow it only to read, an object or release in a namespace where it
has no role, a Role or RoleBinding with more permissions than it has. A ValidatingAdmissionPolicy refuses other
objects, such as a host of another team, or a Kustomization with another account than the tenant's. The Kustomization
then applies nothing at all.

The rule uses the roles and policies of the repository. If a role is not in Git, or is built into Kubernetes, kinds are not
checked. Policies whose binding denies are evaluated as in the API server. Policies named tenant-NAME-…, as Fleetwright
generates them, are evaluated for each object and for the pods that controllers create from the template of a workload.
All others are evaluated only for objects that request traffic, an address or a certificate (Services, Ingresses, Gateways,
routes, Certificates), and for releases for other clusters: controllers and the API server may add unknown fields to other
objects. A rule about the user who creates a pod is not evaluated. tenant-source-not-allowed checks sources. In the tenant's
own repository, tenant-boundary reports the same.`,
	Fix: `Remove the object, or let the platform allow it: in the tenant's role, its hosts, or the policy.`,
	Run: func(p *rule.Pass) {
		withPolicies(p, func(c *cluster, a *admission) {
			j := &refusing{p: p, cluster: c, admission: a, rights: map[string]*rights{}, mutator: rule.Mutator(c.Objects())}
			for _, k := range c.Kustomizations {
				if k.Spec.KubeConfig == nil && !c.isRefused(k) && !appliesItself(k) {
					j.judgeAll(account{k.Namespace, k.Spec.ServiceAccountName}, k.Objects)
				}
			}
			for _, r := range c.Releases {
				if r.Object.Field("spec", "kubeConfig") == nil {
					j.judgeAll(account{r.Object.Namespace, r.Object.Text("spec", "serviceAccountName")}, r.All())
				}
			}
		})
	},
}

// refusing checks the objects that tenants' accounts apply to a cluster.
type refusing struct {
	p         *rule.Pass
	cluster   *cluster
	admission *admission
	rights    map[string]*rights
	// mutator is an object because of which pods may be changed before they are checked; nil if there is none.
	mutator *reconcile.Object
	// unsure reports whether it was already reported that not all objects of the platform are known.
	unsure bool
}

// rightsOf returns the rights of an account in a namespace, from a cache.
func (j *refusing) rightsOf(a account, namespace string) *rights {
	key := a.String() + "/" + namespace
	if j.rights[key] == nil {
		j.rights[key] = j.cluster.rightsOf(a, namespace)
	}
	return j.rights[key]
}

func (j *refusing) report(t *tenant, o *reconcile.Object, message, hint string, path ...any) {
	if j.cluster.incomplete != nil {
		if !j.unsure {
			j.unsure = j.cluster.unlessComplete(j.p, "what the cluster allows its tenants")
		}
		return
	}
	j.p.ReportBuilt(o, finding.Finding{Message: fmt.Sprintf("tenant %s: %s", t.name, message), Hint: hint}, path...)
}

// judgeAll checks the objects that an account applies. It skips an account that has a role for the whole
// cluster.
func (j *refusing) judgeAll(a account, objects []*reconcile.Object) {
	c := j.cluster
	t := c.ownerOf(a)
	if t == nil || a.name == "" || !c.isGranted(a) ||
		slices.ContainsFunc(c.index.bound[""], func(g grant) bool { return g.covers(a) && g.account != (account{}) }) {
		return
	}
	for _, o := range objects {
		if o.Namespace == "" || c.isClusterScoped(o) {
			continue
		}
		r := j.rightsOf(a, o.Namespace)
		missing := r.missing(o)
		if missing == "create" && r.known && len(c.Find(o.Identity)) < 2 {
			j.p.Unresolved(o.Position("kind"), fmt.Sprintf("tenant %s: account %s may change %s, but not create it: it is unknown whether it exists on the cluster", t.name, a, o))
		}
		switch {
		case missing == "patch" && r.known:
			where := ""
			if r.none {
				where = ": it has no role there"
			} else if r.grantsOn("create", o) {
				where = ": Flux writes with patch, which its role does not include"
			}
			j.report(t, o, fmt.Sprintf("account %s may not write %s in namespace %s%s", a, o, o.Namespace, where), "remove it, or let the platform add it to the tenant's role", "kind")
		case o.Group == rbacGroup && r.known:
			j.judgeRights(t, a, r, o)
		case isReconciler(o):
			j.judgeReconciler(t, a, o)
		case o.Group == fluxapi.SourceGroup && sourceResources[o.Kind] != "", len(referencesOf(o)) > 0: // other rules check these
		default:
			j.judgeAdmission(t, a, o)
		}
	}
}

// judgeRights checks a Role or RoleBinding that an account applies.
func (j *refusing) judgeRights(t *tenant, a account, r *rights, o *reconcile.Object) {
	if o.Kind == "RoleBinding" {
		name := o.Text("roleRef", "name")
		if rank := slices.Index(ranks, name); o.Text("roleRef", "kind") == "ClusterRole" && rank > 1 && !r.holds(rank) {
			j.report(t, o, fmt.Sprintf("%s grants %s, which has more permissions than account %s", o, name, a), "bind a Role with what the tenant's objects need", "roleRef", "name")
		}
		return
	}
	for i := range o.List("rules") {
		if what := r.grants(ruleOf(o, i)); what != "" {
			j.report(t, o, fmt.Sprintf("%s grants write access to %s, which account %s does not have", o, what, a), "name what the tenant's objects need", "rules", i, "resources")
			return
		}
	}
}

// judgeReconciler checks the account of a Kustomization, HelmRelease or ResourceSet, the namespace into which it
// installs, and its dependencies. Other rules check its source. Policies decide about an object for another cluster.
func (j *refusing) judgeReconciler(t *tenant, by account, o *reconcile.Object) {
	if o.Field("spec", "kubeConfig") != nil {
		j.judgeAdmission(t, by, o)
		return
	}
	j.judgeDependencies(t, by, o)
	a := account{o.Namespace, o.Text("spec", "serviceAccountName")}
	j.judgeAccount(t, by, o, a)
	for _, field := range []string{"targetNamespace", "storageNamespace"} {
		if namespace := o.Text("spec", field); namespace != "" && !strings.Contains(namespace, "${") && j.cluster.isGranted(a) && j.rightsOf(a, namespace).none {
			j.report(t, o, fmt.Sprintf("%s is for namespace %s, where account %s has no role", o, namespace, a), "use a namespace of the tenant", "spec", field)
		}
	}
}

// judgeAccount checks the account that an object names against the policies of the cluster: they refuse it if they admit
// another account of the tenant. tenant-service-account-missing reports an account that does not exist.
func (j *refusing) judgeAccount(t *tenant, by account, o *reconcile.Object, a account) {
	if a.name == "" || strings.Contains(a.name, "${") || !j.cluster.exists(a) {
		return
	}
	refused := func(name string) *refusal {
		found, _ := j.admission.refuses(j.p.Context, changed(o, "spec", map[string]any{"serviceAccountName": name}), by, t)
		return found
	}
	found := refused(a.name)
	if found == nil {
		return
	}
	for _, other := range slices.SortedFunc(maps.Keys(t.accounts), func(a, b account) int { return strings.Compare(a.name, b.name) }) {
		if other.namespace == o.Namespace && refused(other.name) == nil {
			j.report(t, o, fmt.Sprintf("%s is refused by %s: %s", o, found.policy, found.message), "set spec.serviceAccountName: "+other.name, "spec", "serviceAccountName")
			return
		}
	}
}

// judgeDependencies checks spec.dependsOn against the policies of the cluster. Other rules check the other fields, and
// the objects that readyExpr reads.
func (j *refusing) judgeDependencies(t *tenant, a account, o *reconcile.Object) {
	plain := slices.DeleteFunc(slices.Clone(o.List("spec", "dependsOn")), func(d any) bool {
		fields, _ := d.(map[string]any)
		return fields["readyExpr"] != nil
	})
	if data, err := json.Marshal(plain); len(plain) == 0 || err != nil || strings.Contains(string(data), "${") {
		return
	}
	found, _ := j.admission.refuses(j.p.Context, with(o, "dependsOn", plain), a, t)
	if found == nil {
		return
	}
	if other, _ := j.admission.refuses(j.p.Context, with(o, "dependsOn", []any{}), a, t); other == nil {
		j.reportRefusal(t, o, found, "spec", "dependsOn")
	}
}

// judgeAdmission checks an object against the policies of the cluster. Policies that Fleetwright did not generate count
// only for an object that exposes something or is for another cluster: for other objects, they may depend on fields that
// controllers and the API server add.
func (j *refusing) judgeAdmission(t *tenant, a account, o *reconcile.Object) {
	generated := t
	if exposes(o) || isReconciler(o) {
		generated = nil
	}
	found, undecided := j.admission.refuses(j.p.Context, o, a, generated)
	substituted := o.Kustomization == nil || o.Kustomization.Spec.PostBuild != nil
	switch {
	case undecided && j.admission.isSpent(): // report reports it once
	case undecided || found != nil && substituted && hasVariable(o):
		j.p.Unresolved(o.Position("kind"), fmt.Sprintf("tenant %s: cannot decide whether the cluster's admission policies admit %s", t.name, o))
	case found != nil && (o.Group == appsGroup || o.Group == batchGroup || o.Kind == "Pod") && j.mutator != nil:
		j.p.UnresolvedFor(o.Position("kind"), fmt.Sprintf("whether %s refuses %s", found.policy, o), fmt.Sprintf("%s may change it", j.mutator))
	case found != nil:
		j.reportRefusal(t, o, found, "kind")
	}
}

// reportRefusal reports a refusal at the field that its message names, or at another one.
func (j *refusing) reportRefusal(t *tenant, o *reconcile.Object, found *refusal, otherwise ...any) {
	j.report(t, o, fmt.Sprintf("%s by %s: %s", found.what(o), found.policy, found.message), "change it, or let the platform allow it in "+found.policy.File, named(o, found.message, otherwise)...)
}

// hasVariable reports whether an object contains a variable with an unknown value.
func hasVariable(o *reconcile.Object) bool {
	data, err := json.Marshal(o.Value)
	return err != nil || strings.Contains(string(data), "${")
}
