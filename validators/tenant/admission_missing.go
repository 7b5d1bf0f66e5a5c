package tenant

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// AdmissionMissing is the rule tenant-admission-missing.
var AdmissionMissing = rule.Rule{
	ID:       "tenant-admission-missing",
	Title:    "tenants can reach beyond their namespaces, and no admission policy prevents it",
	Severity: finding.Warning,
	Why: `RBAC controls which kinds a tenant can write, but not their content, and Flux's lockdown does not cover some
fields. With a kind that it can write, a tenant reads objects of other namespaces (spec.dependsOn[].readyExpr,
which the controller evaluates with its own account) or, with a ResourceSet, of the whole cluster. It takes over
addresses and hosts (externalIPs of a Service, an Ingress with another team's host), and points a name to
another namespace (a Service of type ExternalName, which an Ingress serves). It evicts others' pods
(priorityClassName system-cluster-critical), writes the status of a source, which decides what Flux deploys, and
causes a controller to send requests to any address (a Provider).

The rule tries each of these on the ValidatingAdmissionPolicies of the repository whose binding denies,
evaluated as in the API server, for each tenant whose role can write the kind. A policy of Kyverno, Gatekeeper
or Kubewarden that mentions the field counts as refusing it, and so does Capsule for Services, Ingresses and
pods. A tenant whose objects come from the platform's repository is skipped, because the platform controls who
writes there. One finding lists everything that is open on a cluster.`,
	Fix: `Add a ValidatingAdmissionPolicy that refuses it in the tenants' namespaces, or remove the kind from the tenants'
roles. Fleetwright generates such policies for each Tenant; docs/tenants.md lists them line by line.

    matchConstraints:
      resourceRules:
        - apiGroups: [kustomize.toolkit.fluxcd.io]
          apiVersions: ["*"]
          resources: [kustomizations]
          operations: [CREATE, UPDATE]
    validations:
      - expression: >-
          object.kind == "Kustomization" &&
          object.spec.?dependsOn.orValue([]).all(d, d.?namespace.orValue("") in ["", object.metadata.namespace])
        message: spec.dependsOn may not name another namespace

This is not enough for ResourceSets: for a cluster-scoped kind such as Node, the Flux Operator ignores the
namespace, and without a namespace it reads the whole cluster. Restrict the kinds that they depend on, too:

      - expression: >-
          object.spec.?dependsOn.orValue([]).all(d, d.?namespace.orValue("") == object.metadata.namespace &&
          d.apiVersion in ["apps/v1", "batch/v1", "helm.toolkit.fluxcd.io/v2", "fluxcd.controlplane.io/v1"])`,
	Run: func(p *rule.Pass) {
		withPolicies(p, func(c *cluster, a *admission) {
			if !c.unlessComplete(p, "whether admission policies confine tenants to their namespaces") {
				c.judgeDoors(p, a)
			}
		})
	},
}

// openDoor is a door that is open for a tenant.
type openDoor struct {
	door
	tenant *tenant
	grant  grant
}

// judgeDoors checks all doors for all distinct tenants.
func (c *cluster) judgeDoors(p *rule.Pass, a *admission) {
	tried := c.passable()
	open := map[string]openDoor{}
	undecided := 0
	for _, t := range differing.Of(p)[c.Name] {
		for _, d := range tried {
			if _, known := open[d.line]; known || open[d.behind].tenant != nil {
				continue
			}
			at, may := c.reaches(t, d)
			if !may {
				continue
			}
			found, unknown := a.through(p.Context, d, at)
			switch {
			case unknown && found == nil:
				undecided++
			case found == nil:
				open[d.line] = openDoor{d, t, at.grant}
			}
		}
	}
	if undecided > 0 {
		p.Unresolved(c.Root.Place, fmt.Sprintf("cluster %s: cannot decide whether admission policies refuse %d of %d ways out of the tenants' namespaces", c.Name, undecided, len(doors)))
	}
	c.reportDoors(p, open)
}

func (c *cluster) reportDoors(p *rule.Pass, open map[string]openDoor) {
	if len(open) == 0 {
		return
	}
	var says []string
	var first *openDoor
	for _, d := range doors {
		o, is := open[d.line]
		if !is || o.what != d.what {
			continue
		}
		if first == nil {
			first = &o
		}
		says = append(says, d.what)
	}
	p.ReportBuilt(first.grant.binding, finding.Finding{
		Message: fmt.Sprintf("tenants can reach beyond their namespaces, and no admission policy prevents it: with this role tenant %s can %s", first.tenant.name, strings.Join(says, "; ")),
		Hint:    "add a ValidatingAdmissionPolicy for the tenants' namespaces, as docs/tenants.md shows",
	}, "roleRef", "name")
}
