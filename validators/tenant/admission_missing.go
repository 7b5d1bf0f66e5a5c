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
	Why: `RBAC says which kinds a tenant may write, and not what is in them; Flux's lockdown says nothing of some fields.
With a kind that it may write, a tenant reads other namespaces' objects (spec.dependsOn[].readyExpr, which the
controller evaluates with its own account; a ResourceSet reads those of the whole cluster, too), takes over addresses and hosts (a Service's externalIPs, an Ingress of
another team's host), leads a name to another namespace (type ExternalName, which an Ingress opens), evicts others'
pods (priorityClassName system-cluster-critical), writes the status of a source, which says what Flux deploys, or
lets a controller send requests to any address (a Provider).

Each is tried on the ValidatingAdmissionPolicies of the repository that a binding makes deny, evaluated as the API
server does, for each tenant that a role lets write the kind. A policy of Kyverno, Gatekeeper or Kubewarden that
names the field counts as refusing it, and so does Capsule for Services, Ingresses and pods. A tenant whose objects
come from the platform's repository is not judged: who writes there is the platform's to say. One finding lists what
is open on a cluster.`,
	Fix: `Add a ValidatingAdmissionPolicy that refuses it in the tenants' namespaces, or take the kind out of the
tenants' roles. Fleetwright generates such policies for each Tenant; docs/tenants.md lists them line by line.

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

The same doesn't hold ResourceSets: the Flux Operator's client ignores the namespace of a kind that belongs to the whole
cluster, such as a Node's, and without a namespace it means the whole cluster. Limit the kinds that they depend on, too:

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

// openDoor is a door that stands open for a tenant.
type openDoor struct {
	door
	tenant *tenant
	grant  grant
}

// judgeDoors tries all doors for all tenants that differ.
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
		p.Unresolved(c.Root.File, c.Root.Line, fmt.Sprintf("cluster %s: cannot tell whether admission policies refuse %d of %d ways out of the tenants' namespaces", c.Name, undecided, len(doors)))
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
