package bootstrap

import (
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ObjectMissing is bootstrap-object-missing.
var ObjectMissing = rule.Rule{
	ID:       bootstrap.RuleObjectMissing,
	Title:    "a hook of a bootstrap applies an object that Flux does not apply",
	Severity: finding.Warning,
	Why: `A hook of a helmfile applies objects that other releases wait for, such as the address pool of the network or the
store of the secrets. If Flux applies the same objects, they follow Git from then on. If it does not, they stay as they
were when the cluster was created: a change in Git changes no cluster, and Flux never prunes them.

Objects are compared by kind and name. Secrets, Namespaces, CustomResourceDefinitions and objects that start Flux itself are
not reported. If a Kustomization cannot be fully built, the question is unresolved. Nothing is reported if a HelmRelease or
ResourceSet has the kind in its values, or if a Kustomization that no cluster of the repository reaches has the file.`,
	Fix: `List the file in a kustomization that Flux applies. If the object is only for the bootstrap, ignore the finding with
a reason, or delete the object in a later hook.`,
	Run: func(p *rule.Pass) { orders(p, bootstrap.RuleObjectMissing) },
}
