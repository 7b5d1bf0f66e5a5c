package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// confined checks that each tenant can do only what the specification allows it: with a table of actions
// that the authorizer is asked about and that are requested as the account, with objects that
// admission must judge whoever creates them, and with changes to the tenant's own repository
// that Flux must not apply.
func (s *site) confined(t *testing.T) {
	tenants := s.tenants(t)
	each := func(name string, chapter func(*testing.T, *tenant, []*tenant)) {
		t.Run(name, func(t *testing.T) {
			for _, tenant := range tenants {
				t.Run(tenant.name, func(t *testing.T) {
					t.Parallel()
					chapter(t, tenant, tenants)
				})
			}
		})
	}
	each("actions", s.actions)
	each("admission", s.admission)
	t.Run("repositories", func(t *testing.T) { s.repositories(t, tenants) })
	t.Run("outdated", func(t *testing.T) { s.outdated(t, tenants[0]) })
}

// An attempt is an action of an account, with the expected result.
type attempt struct {
	harness.Action
	account harness.Account
	allowed bool // the authorizer allows it
	judged  bool // an admission policy refuses it
}

// actions tries the table: the authorizer and, when the account does the action, the API server must answer as the table
// says.
func (s *site) actions(t *testing.T, tenant *tenant, all []*tenant) {
	s.declareJudged(t, tenant)
	attempts := s.attempts(t, tenant, all)
	clients := map[harness.Account]harness.Client{}
	counts := map[bool]int{}
	policy := fmt.Sprintf("ValidatingAdmissionPolicy 'tenant-%s-", tenant.name)
	for _, a := range attempts {
		if _, known := clients[a.account]; !known {
			clients[a.account] = s.flux.As(a.account.Namespace, a.account.Name)
		}
		if allowed, reason := s.flux.Authorized(t, a.account, a.Action); allowed != a.allowed {
			t.Errorf("%s: %s: the authorizer's answer is %t, want %t: %s", a.account.User(), a.Action, allowed, a.allowed, reason)
		}
		err := clients[a.account].Attempt(t.Context(), a.Action, s.body(t, a, tenant))
		switch {
		case !a.allowed && !refused(err, a.account):
			t.Errorf("%s: %s: the authorizer should refuse the request: %v", a.account.User(), a.Action, err)
		case a.allowed && a.judged && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), policy)):
			t.Errorf("%s: %s: the admission policy should refuse the request: %v", a.account.User(), a.Action, err)
		case a.allowed && !a.judged && err != nil && !apierrors.IsNotFound(err):
			t.Errorf("%s: %s: the request should succeed: %v", a.account.User(), a.Action, err)
		}
		counts[a.allowed && !a.judged]++
	}
	if len(attempts) < 60 || counts[true] == 0 {
		t.Errorf("the table has only %d actions of %s, %d of them allowed", len(attempts), tenant.name, counts[true])
	}
	s.proved(t, "%d actions of %d accounts with profile %s: %d allowed, %d refused, each by the authorizer and by request",
		len(attempts), len(clients), s.fleet.Profile(tenant.name), counts[true], counts[false])
}

// refused reports whether the authorizer, and not admission, refused the account's request.
// Its message is "cannot", or for roles with more permissions than the account has, that it attempts to grant.
func refused(err error, account harness.Account) bool {
	if !apierrors.IsForbidden(err) {
		return false
	}
	text := err.Error()
	return strings.Contains(text, fmt.Sprintf("User %q cannot ", account.User())) ||
		strings.Contains(text, fmt.Sprintf("user %q ", account.User())) && strings.Contains(text, "is attempting to grant RBAC permissions not currently held")
}

// attempts expands the table to every action of every account of the tenant in every
// namespace that it covers.
func (s *site) attempts(t *testing.T, tenant *tenant, all []*tenant) []attempt {
	t.Helper()
	spec := s.fleet.TenantSpec(tenant.name)
	own := map[harness.Account][]string{ // accounts, and the namespaces in which they may do something
		{Namespace: tenant.sync, Name: tenant.name}: tenant.namespaces,
		{Namespace: tenant.sync, Name: "default"}:   nil,
	}
	for _, namespace := range tenant.namespaces {
		own[harness.Account{Namespace: namespace, Name: tenant.name + "-helm"}] = []string{namespace}
		own[harness.Account{Namespace: namespace, Name: "default"}] = []string{namespace}
	}
	others := []string{"flux-system", "kube-system"}
	if i := slices.Index(all, tenant); len(all) > 1 { // one other tenant is enough
		other := all[(i+1)%len(all)]
		others = []string{"flux-system", other.sync, other.namespaces[0]}
	}
	var attempts []attempt
	for _, account := range slices.SortedFunc(maps.Keys(own), func(a, b harness.Account) int { return strings.Compare(a.User(), b.User()) }) {
		notOwn := slices.DeleteFunc(slices.Clone(tenant.namespaces), func(namespace string) bool { return slices.Contains(own[account], namespace) })
		places := map[place][]string{clusterWide: {""}, inWorkloads: own[account], inSync: {tenant.sync}, inOthers: slices.Concat(notOwn, others)}
		for i, row := range slices.Concat(table, judged) {
			if account.Name == "default" { // no role names it, so one verb is enough
				row.verbs, _, _ = strings.Cut(row.verbs, " ")
			}
			for _, namespace := range places[row.where] {
				for _, action := range s.expand(row, tenant.name, namespace) {
					allowed := may(row.who, account, tenant.name, spec.Access.Profile) || row.who == ruled && account.Name != "default" && spec.Grants(action)
					attempts = append(attempts, attempt{action, account, allowed, i >= len(table)})
				}
			}
		}
	}
	return attempts
}

// may reports whether a grant allows an account an action in a namespace of its own.
func may(who grant, account harness.Account, tenant, profile string) bool {
	switch helm := tenant + "-helm"; {
	case who == anyone:
		return true
	case account.Name != tenant && account.Name != helm:
		return false
	case who == helmOnly:
		return account.Name == helm || profile == "admin"
	case who == chartAuthors:
		return profile != "restricted"
	case who == admins:
		return profile == "admin"
	}
	return who == accounts
}

// expand returns the row's every verb on every resource, in the namespace.
func (s *site) expand(row row, tenant, namespace string) []harness.Action {
	var actions []harness.Action
	names := strings.NewReplacer("TENANT", tenant, "NAMESPACE", namespace)
	for resource := range strings.FieldsSeq(row.resources) {
		for verb := range strings.FieldsSeq(row.verbs) {
			if strings.HasPrefix(resource, "/") {
				actions = append(actions, harness.Action{Verb: verb, Path: resource})
				continue
			}
			base, subresource, _ := strings.Cut(resource, "/")
			action := harness.Action{Verb: verb, Resource: s.resource(schema.ParseGroupResource(base)), Subresource: subresource, Namespace: namespace}
			if named := !slices.Contains([]string{"list", "watch", "create", "deletecollection"}, verb); named || subresource != "" {
				action.Name = names.Replace(row.name)
				if action.Name == "" {
					action.Name = "confined"
				}
			}
			actions = append(actions, action)
		}
	}
	return actions
}

// resource returns the served version of the resource. Resources of charts that the tests do not install are refused, or not
// found, in any version.
func (s *site) resource(resource schema.GroupResource) schema.GroupVersionResource {
	if served, err := s.flux.Mapper.ResourceFor(resource.WithVersion("")); err == nil {
		return served
	}
	return resource.WithVersion("v1")
}

// body returns the body of the action's request, in JSON.
func (s *site) body(t *testing.T, a attempt, tenant *tenant) []byte {
	t.Helper()
	resource := a.Resource.Resource
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	switch {
	case a.Verb == "bind" || a.Verb == "escalate":
		resource = a.Verb
	case a.Verb == "patch" && a.Subresource == "status":
		resource = "status"
	case a.Verb != "create" && a.Verb != "update":
		return []byte("{}")
	}
	object := map[string]any{"apiVersion": a.Resource.GroupVersion().String()}
	if kind, err := s.flux.Mapper.KindFor(a.Resource); err == nil {
		object["kind"] = kind.Kind
	}
	must(t, yaml.Unmarshal([]byte(strings.ReplaceAll(bodies[resource], "ACCOUNT", tenant.name+"-helm")), &object))
	if a.Namespace != "" && resource != "status" {
		object["metadata"] = map[string]any{"name": cmp.Or(a.Name, "confined"), "namespace": a.Namespace}
	}
	text, err := json.Marshal(object)
	must(t, err)
	return text
}

// declareJudged creates the sources whose status the tenant attempts to write: admission does not judge requests about objects
// that do not exist.
func (s *site) declareJudged(t *testing.T, tenant *tenant) {
	t.Helper()
	source := s.fleet.TenantSpec(tenant.name).Chart()
	for _, namespace := range tenant.namespaces {
		for _, text := range []string{
			fmt.Sprintf(`{apiVersion: source.toolkit.fluxcd.io/v1, kind: OCIRepository, spec: {interval: 1h, suspend: true, url: %q}}`, source),
			`{apiVersion: source.toolkit.fluxcd.io/v1, kind: ExternalArtifact, spec: {}}`,
		} {
			object := harness.Objects(t, []byte(text))[0]
			object.SetName("judged")
			object.SetNamespace(namespace)
			must(t, s.flux.Client.Apply(t.Context(), object))
			resource, err := s.flux.Resource(object.GroupVersionKind(), namespace)
			must(t, err)
			t.Cleanup(func() { must(t, resource.Delete(context.Background(), "judged", metav1.DeleteOptions{})) })
		}
	}
}
