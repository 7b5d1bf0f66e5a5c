package flux

import (
	"cmp"
	"maps"
	"strings"

	"github.com/fleetwright/fleetwright/internal/reconcile"
)

const rbac = "rbac.authorization.k8s.io"

type account struct{ namespace, name string }

// addBinding records the namespaces in which a binding grants permissions to service accounts.
func (w *world) addBinding(o *reconcile.Object) {
	if o.Group != rbac || o.Kind != "RoleBinding" && o.Kind != "ClusterRoleBinding" {
		return
	}
	for _, s := range list(o.Value, "subjects") {
		a, isAccount := accountOf(s, o.Namespace)
		if !isAccount {
			continue
		}
		if w.accounts[a] == nil {
			w.accounts[a] = map[string]bool{}
		}
		w.accounts[a][o.Namespace] = true
	}
}

// everyAccount as an account's name means all service accounts of its namespace, and as its namespace, all namespaces.
const everyAccount = "*"

// accountOf returns the service accounts that a subject of a binding names. It returns false if the subject is a user or
// another group.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-subjects.
func accountOf(subject any, namespace string) (account, bool) {
	name := text(subject, "name")
	switch text(subject, "kind") {
	case "ServiceAccount":
		return account{cmp.Or(text(subject, "namespace"), namespace), name}, true
	case "User":
		of, is := strings.CutPrefix(name, "system:serviceaccount:")
		namespace, name, _ := strings.Cut(of, ":")
		return account{namespace, name}, is
	case "Group":
		if of, is := strings.CutPrefix(name, "system:serviceaccounts:"); is {
			return account{of, everyAccount}, true
		}
		return account{everyAccount, everyAccount}, name == "system:serviceaccounts" || name == "system:authenticated"
	}
	return account{}, false
}

// granted returns the namespaces in which bindings grant permissions to a service account, "" for all, and whether any
// binding names the account.
func (w *world) granted(a account) (namespaces map[string]bool, bound bool) {
	namespaces = map[string]bool{}
	for _, as := range []account{a, {a.namespace, everyAccount}, {everyAccount, everyAccount}} {
		maps.Copy(namespaces, w.accounts[as])
	}
	return namespaces, len(namespaces) > 0
}
