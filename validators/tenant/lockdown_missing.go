package tenant

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// LockdownMissing is the rule tenant-lockdown-missing.
var LockdownMissing = rule.Rule{
	ID:       "tenant-lockdown-missing",
	Title:    "a cluster whose Flux does not isolate its tenants",
	Severity: finding.Error,
	Why: `By default, Flux applies a Kustomization or HelmRelease without a service account as cluster-admin, and reads
any source that it references: a tenant that can write one Flux object owns the cluster. Three flags of the
controllers prevent this: --no-cross-namespace-refs, --default-service-account and --no-remote-bases;
cluster.multitenant of a FluxInstance sets all of them. A missing --no-remote-bases, or a flag that only the
notification or image controllers lack, is a warning.

An admission policy that requires spec.serviceAccountName, or checks spec.sourceRef, replaces the flag: other
missing flags are then a warning. A cluster has tenants if a namespace has a tenant label
(toolkit.fluxcd.io/tenant, capsule.clastix.io/tenant) and Flux applies objects there with a separate account, or
a role is bound to one there. If the installation of Flux is not in Git, the check is unresolved.`,
	Fix: `Set spec.cluster.multitenant: true in the FluxInstance; or patch the controllers in the kustomization.yaml
beside gotk-components.yaml:

    patches:
      - target:
          kind: Deployment
          name: (kustomize-controller|helm-controller|notification-controller|image-reflector-controller|image-automation-controller|source-watcher)
        patch: |
          - op: add
            path: /spec/template/spec/containers/0/args/-
            value: --no-cross-namespace-refs=true
      - target: {kind: Deployment, name: kustomize-controller}
        patch: |
          - op: add
            path: /spec/template/spec/containers/0/args/-
            value: --no-remote-bases=true
      - target: {kind: Deployment, name: (kustomize-controller|helm-controller)}
        patch: |
          - op: add
            path: /spec/template/spec/containers/0/args/-
            value: --default-service-account=default

The platform's own Kustomizations and HelmReleases then need a serviceAccountName, the root's included.

Source: https://fluxcd.io/flux/installation/configuration/multitenancy/`,
	Run: func(p *rule.Pass) {
		for _, c := range clusters(p) {
			c.judgeLockdown(p)
		}
	},
}

func (c *cluster) judgeLockdown(p *rule.Pass) {
	l := c.lockdown
	if !l.known {
		p.Unresolved(l.Place, fmt.Sprintf("cluster %s has tenants; cannot decide whether its Flux is locked down: %s", c.Name, l.why))
		return
	}
	f := finding.Finding{Place: l.Place, Severity: finding.Warning}
	var lacking []string
	demanded := true
	for _, m := range l.missing {
		lacking = append(lacking, fmt.Sprintf("%s (%s)", strings.TrimSuffix(m.flag, "=true"), strings.Join(m.controllers, ", ")))
		replaced := m.flag == flagCrossRefs && c.policies.crossRefs || m.flag == flagAccount && c.policies.accounts
		demanded = demanded && replaced
		if !replaced && m.flag != flagRemoteBases && l.lacks(m.flag, "kustomize-controller", "helm-controller") {
			f.Severity = finding.Error
		}
	}
	if demanded {
		return
	}
	names := make([]string, 0, len(c.tenants))
	for _, t := range c.tenants {
		names = append(names, t.name)
	}
	f.Message = fmt.Sprintf("Flux does not isolate tenants (%s): missing %s", shorten(names), strings.Join(lacking, ", "))
	if f.Hint = "patch the controllers: fleetwright explain tenant-lockdown-missing shows how"; l.operator {
		f.Hint = "set spec.cluster.multitenant: true"
	}
	if l.object != nil {
		p.ReportBuilt(l.object, f)
		return
	}
	p.ReportIn(c.Name, f)
}

// shorten joins the first few names, and adds the number of the others.
func shorten(names []string) string {
	const most = 3
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
