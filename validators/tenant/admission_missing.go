package tenant

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// AdmissionMissing is the rule tenant-admission-missing.
var AdmissionMissing = rule.Rule{
	ID:       "tenant-admission-missing",
	Title:    "tenants may reach beyond their namespaces, and no admission policy refuses it",
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
		var e *evaluator
		for _, c := range clusters(p) {
			if e == nil {
				var err error
				if e, err = newEvaluator(); err != nil {
					p.Unresolved("", 0, "admission policies cannot be evaluated: "+err.Error())
					return
				}
			}
			if !c.unlessComplete(p, "whether admission policies keep tenants in their namespaces") {
				c.judgeDoors(p, e.admission(c))
			}
		}
		e.report(p)
	},
}

// reads is a tenant whose account may write Kustomizations only; the binding's role is as
// given.
func reads(role string) string {
	return `apiVersion: v1
kind: ServiceAccount
metadata:
  name: shop
  namespace: shop
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: shop
  namespace: shop
rules:
  - apiGroups: [kustomize.toolkit.fluxcd.io]
    resources: [kustomizations]
    verbs: [get, list, watch, create, patch, delete]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: shop
  namespace: shop
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
` + role + `subjects:
  - kind: ServiceAccount
    name: shop
    namespace: shop
---
`
}

// openDoor is a door that stands open for a tenant.
type openDoor struct {
	door
	tenant *tenant
	grant  grant
}

// judgeDoors tries all doors for all tenants that differ.
func (c *cluster) judgeDoors(p *rule.Pass, a *admission) {
	other := c.otherPolicies()
	served := c.servedGroups()
	open := map[string]openDoor{}
	undecided := 0
	for _, t := range differing.Of(p)[c.Name] {
		for _, d := range doors {
			if _, known := open[d.line]; known || d.group == "" && t.capsule || d.group == networkingGroup && t.capsule || open[d.behind].tenant != nil || slices.Contains(optional, d.group) && !served[d.group] ||
				slices.ContainsFunc(d.words, func(word string) bool { return strings.Contains(other, word) }) {
				continue
			}
			at, may := c.reaches(t, d)
			if !may {
				continue
			}
			found, unknown := a.decide(p.Context, d.request(at))
			switch {
			case unknown && found == nil:
				undecided++
			case found == nil:
				open[d.line] = openDoor{d, t, at.grant}
			}
		}
	}
	if undecided > 0 {
		p.Unresolved(c.Root.File, c.Root.Line, fmt.Sprintf("cluster %s: whether admission policies refuse %d of %d ways out of tenants' namespaces cannot be told here", c.Name, undecided, len(doors)))
	}
	c.reportDoors(p, open)
}

// optional are groups that not every cluster with Flux serves.
var optional = []string{operatorGroup, "gateway.networking.k8s.io", certManagerGroup}

// servedGroups are those of the cluster's objects and definitions.
func (c *cluster) servedGroups() map[string]bool {
	served := map[string]bool{operatorGroup: c.lockdown.operator}
	for _, o := range c.Objects() {
		served[o.Group] = true
	}
	for scope := range c.index.scopes {
		served[scope[0]] = true
	}
	return served
}

// request is that of a tenant, in a place where it may write.
func (d door) request(at place) request {
	// What Flux acts as in the namespace is the account that stands there.
	r := request{object: probe(d.object, at.namespace, at.by.name), resource: d.resource, by: &at.by}
	if d.updated {
		r.old = map[string]any{}
		for key, value := range r.object.Value {
			if key != "status" {
				r.old[key] = value
			}
		}
	}
	return r
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
		Message: fmt.Sprintf("tenants may reach beyond their namespaces, and no admission policy refuses it: with this role tenant %s may %s", first.tenant.name, strings.Join(says, "; ")),
		Hint:    "add a ValidatingAdmissionPolicy for the tenants' namespaces, as docs/tenants.md has it",
	}, "roleRef", "name")
}

// otherPolicies are the texts of the policies of other engines.
func (c *cluster) otherPolicies() string {
	var b strings.Builder
	for _, o := range c.Objects() {
		if isPolicy(o) && o.Group != admissionGroup {
			if text, err := yaml.Marshal(o.Value["spec"]); err == nil {
				b.WriteString(o.Kind + "\n")
				b.Write(text)
			}
		}
	}
	return b.String()
}
