package check

import "github.com/fleetwright/fleetwright/api/v1alpha1"

// ControllerNamespaces are the namespaces of the cluster's own controllers, reservedNamespaces
// all namespaces that every cluster has. They belong to no tenant, and no product may use them.
var (
	ControllerNamespaces = []string{v1alpha1.FluxNamespace, "kube-node-lease", "kube-public", "kube-system"}
	ReservedNamespaces   = append([]string{"default"}, ControllerNamespaces...)
)
