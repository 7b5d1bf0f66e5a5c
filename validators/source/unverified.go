package source

import (
	"cmp"
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Unverified is the rule source-unverified.
var Unverified = rule.Rule{
	ID:       "source-unverified",
	Title:    "an artifact whose signature is not verified",
	Severity: finding.Info,
	Profile:  "audit",
	Why: `Everybody who can push to the registry, legitimately or with stolen credentials, deploys to the cluster. With
spec.verify, source-controller accepts an artifact only if it is signed with the identity or key that you name.
It can verify artifacts of an OCIRepository, and charts of a HelmRepository of type oci.

Many publishers sign their charts, and many do not: this rule is advice. Start with the workloads that have the
most permissions.`,
	Fix: `If the publisher signs, configure the verification:

    verify:
      provider: cosign
      matchOIDCIdentity:
        - issuer: ^https://token\.actions\.githubusercontent\.com$
          subject: ^https://github\.com/stefanprodan/podinfo.*$`,
	Run: func(p *rule.Pass) {
		objects := p.Applied()
		registries := map[use]bool{}
		for _, o := range objects {
			if isSource(o, helmRepository) && o.Text("spec", "type") == "oci" {
				registries[use{clusterOf(o), helmRepository, o.Namespace, o.Name}] = true
			}
		}
		for _, o := range objects {
			unverified(p, o, registries)
		}
	},
}

func unverified(p *rule.Pass, o *reconcile.Object, registries map[use]bool) {
	var at []any
	switch {
	case isSource(o, ociRepository):
		at = []any{"spec"}
	case o.Group == fluxapi.HelmGroup && o.Kind == helmRelease:
		at = []any{"spec", "chart", "spec"}
		namespace := cmp.Or(o.Text("spec", "chart", "spec", "sourceRef", "namespace"), o.Namespace)
		if !registries[use{clusterOf(o), helmRepository, namespace, o.Text("spec", "chart", "spec", "sourceRef", "name")}] {
			return
		}
	default:
		return
	}
	if o.Field(append(at, "verify")...) == nil {
		p.ReportBuilt(o, finding.Finding{Message: fmt.Sprintf("%s: Flux accepts unsigned artifacts from the registry", o),
			Hint: "add spec.verify if the publisher signs"}, append(at, "verify")...)
	}
}
