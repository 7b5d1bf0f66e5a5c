package tenant

import (
	"context"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/roots"
)

// probe returns an object in a namespace, from a YAML template, to be checked by the admission policies.
func probe(text, namespace, flux string) *reconcile.Object {
	value := map[string]any{}
	text = strings.NewReplacer("NAMESPACE", namespace, "ACCOUNT", flux).Replace(text)
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		panic(err) // it contains only strings of this package
	}
	metadata, _ := value["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		value["metadata"] = metadata
	}
	metadata["name"], metadata["namespace"] = "probe", namespace
	o := &reconcile.Object{Value: value}
	o.APIVersion, _ = value["apiVersion"].(string)
	o.Kind, _ = value["kind"].(string)
	o.Name, o.Namespace = "probe", namespace
	if group, _, found := strings.Cut(o.APIVersion, "/"); found {
		o.Group = group
	}
	return o
}

// place is a namespace in which a tenant may write something, and the account with which it may.
type place struct {
	namespace string
	by        account
	grant     grant
}

// mayWrite returns the place where a tenant may write a resource, preferably with an account of the same namespace. It
// returns false if the tenant may not write it, or if that is unknown.
func (c *cluster) mayWrite(t *tenant, group, resource string) (place, bool) {
	var elsewhere []place
	for _, namespace := range t.sorted() {
		for _, g := range c.index.bound[namespace] {
			if g.other || g.account.name == "" || c.ownerOf(g.account) != t || !c.allows(g, group, resource) {
				continue
			}
			if g.account.namespace == namespace {
				return place{namespace, g.account, g}, true
			}
			elsewhere = append(elsewhere, place{namespace, g.account, g})
		}
	}
	if len(elsewhere) == 0 {
		return place{}, false
	}
	return elsewhere[0], true
}

// reaches returns the place where a tenant has the permissions that a door requires.
func (c *cluster) reaches(t *tenant, d door) (place, bool) {
	if t.capsule && (d.group == "" || d.group == networkingGroup || d.template) {
		return place{}, false
	}
	at, may := c.mayWrite(t, d.group, d.resource)
	for i := 0; d.workload && !may && i < len(workloads); i++ {
		at, may = c.mayWrite(t, workloads[i].group, workloads[i].resource)
	}
	if d.shared && !c.onPlatform(t) {
		return place{}, false
	}
	if may && d.confined {
		if _, issues := c.mayWrite(t, "", "serviceaccounts/token"); issues {
			return place{}, false
		}
	}
	return at, may
}

// onPlatform reports whether a tenant has a source that is the platform's repository.
func (c *cluster) onPlatform(t *tenant) bool {
	platform := map[string]bool{}
	for _, o := range c.Objects() {
		switch {
		case o.Group == fluxapi.OperatorGroup && o.Kind == "FluxInstance":
			platform[roots.RepositoryAddress(o.Text("spec", "sync", "url"))] = true
		case o.Group == fluxapi.SourceGroup && o.Namespace == c.flux && len(c.Kustomizations) > 0 && o.Name == c.Kustomizations[0].Spec.SourceRef.Name:
			platform[roots.RepositoryAddress(o.Text("spec", "url"))] = true
		}
	}
	return slices.ContainsFunc(c.index.sources, func(o *reconcile.Object) bool {
		return c.byNamespace[o.Namespace] == t && platform[roots.RepositoryAddress(o.Text("spec", "url"))]
	})
}

// allows reports whether a grant allows its subject to create or patch a resource.
func (c *cluster) allows(g grant, group, resource string) bool {
	if g.isBuiltIn() && len(c.Find(reconcile.Identity{Group: rbacGroup, Kind: g.roleKind, Name: g.roleName})) == 0 {
		return g.roleName == "cluster-admin" || g.roleName != "view" && slices.Contains(aggregated, group)
	}
	id := reconcile.Identity{Group: rbacGroup, Kind: g.roleKind, Name: g.roleName}
	if g.roleKind == "Role" {
		id.Namespace = g.namespace
	}
	for _, o := range c.Find(id) {
		for i := range o.List("rules") {
			rule := policyRule{groups: texts(o, "rules", i, "apiGroups"), resources: texts(o, "rules", i, "resources"), verbs: texts(o, "rules", i, "verbs")}
			if rule.allows("create", group, resource) || rule.allows("patch", group, resource) {
				return true
			}
		}
	}
	return false
}

// aggregated are the API groups for which the built-in roles edit and admin have permissions on the checked kinds: groups
// of Kubernetes, and groups that Flux adds.
// Source: config/rbac of flux2, ClusterRole flux-edit.
var aggregated = []string{"", appsGroup, batchGroup, networkingGroup, fluxapi.KustomizeGroup, fluxapi.HelmGroup, fluxapi.SourceGroup, fluxapi.ArtifactGroup, fluxapi.ImageGroup, fluxapi.NotificationGroup}

// optional are API groups that not every cluster with Flux serves.
var optional = []string{fluxapi.OperatorGroup, gatewayGroup, certManagerGroup, fluxapi.ImageGroup}

// passable returns the doors for kinds that the cluster serves, except those that a policy of another policy
// engine mentions.
func (c *cluster) passable() []door {
	other, served := c.otherPolicies(), c.servedGroups()
	return slices.DeleteFunc(slices.Clone(doors), func(d door) bool {
		return slices.Contains(optional, d.group) && !served[d.group] ||
			slices.ContainsFunc(d.words, func(word string) bool { return strings.Contains(other, word) })
	})
}

// servedGroups returns the API groups of the cluster's objects and CustomResourceDefinitions.
func (c *cluster) servedGroups() map[string]bool {
	served := map[string]bool{fluxapi.OperatorGroup: c.lockdown.operator}
	for _, o := range c.Objects() {
		served[o.Group] = true
	}
	for scope := range c.index.scopes {
		served[scope[0]] = true
	}
	return served
}

// otherPolicies returns the text of the policies of other policy engines.
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

// through returns the policy that rejects the request of a tenant for a door, and whether that is undecided.
func (a *admission) through(ctx context.Context, d door, at place) (found *refusal, undecided bool) {
	r := d.request(at)
	if d.updated {
		r.old = changed(r.object, "status", nil).Value
	}
	found, undecided = a.decide(ctx, r)
	if found != nil || !d.template {
		return found, undecided
	}
	pod, later := a.decide(ctx, podFrom(r.object))
	return pod, undecided || later
}

// whileDeleted reports whether the policies admit the object of a door while it is being deleted.
func (a *admission) whileDeleted(ctx context.Context, d door, at place) bool {
	r := d.request(at)
	r.object = leaving(r.object)
	metadata, _ := r.object.Value["metadata"].(map[string]any)
	switch {
	case d.updated:
		r.old = changed(r.object, "status", nil).Value
	case metadata["annotations"] != nil: // the update changes the annotations
		metadata = maps.Clone(metadata)
		delete(metadata, "annotations")
		r.old = changed(r.object, "metadata", metadata).Value
	default:
		r.old = changed(r.object, "spec", map[string]any{}).Value
	}
	found, undecided := a.decide(ctx, r)
	return found == nil && !undecided
}

// lasts reports whether the object of a door can still be changed, and keeps its effect, while it is being
// deleted.
func (d door) lasts() bool {
	return d.resource == "services" || !slices.Contains([]string{"", appsGroup, batchGroup, certManagerGroup}, d.group)
}

// request returns the admission request of a tenant for a door, at a place where it may write.
func (d door) request(at place) request {
	// The account that Flux uses in the namespace is the account of the place.
	return request{object: probe(d.object, at.namespace, at.by.name), resource: d.resource, by: &at.by}
}

// podFrom returns the request of a controller that creates the pod of a workload.
func podFrom(workload *reconcile.Object) request {
	template := workload.Field("spec", "template")
	if job := workload.Field("spec", "jobTemplate", "spec", "template"); job != nil {
		template = job
	}
	fields, _ := template.(map[string]any)
	metadata := map[string]any{"name": workload.Name, "namespace": workload.Namespace}
	ofTemplate, _ := fields["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations"} {
		if ofTemplate[field] != nil {
			metadata[field] = ofTemplate[field]
		}
	}
	pod := &reconcile.Object{Value: map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": fields["spec"], "metadata": metadata}}
	pod.APIVersion, pod.Kind, pod.Name, pod.Namespace = "v1", "Pod", workload.Name, workload.Namespace
	return request{object: pod, resource: "pods", by: &account{"kube-system", "replicaset-controller"}}
}

// changed returns an object with another value in a field; nil removes the field.
func changed(o *reconcile.Object, field string, value any) *reconcile.Object {
	other := *o
	other.Value = maps.Clone(o.Value)
	if other.Value[field] = value; value == nil {
		delete(other.Value, field)
	}
	return &other
}

// leaving returns the state of an object while it is being deleted.
func leaving(o *reconcile.Object) *reconcile.Object {
	metadata, _ := o.Value["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	metadata["finalizers"] = []any{"example.com/hold"}
	return changed(o, "metadata", metadata)
}
