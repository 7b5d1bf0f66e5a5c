package check

import "github.com/fleetwright/fleetwright/api/v1alpha1"

// ControllerNamespaces are those of the cluster's own controllers, reservedNamespaces
// all that a cluster has by itself: they are no tenant's, and no product hands them out.
var (
	ControllerNamespaces = []string{v1alpha1.FluxNamespace, "kube-node-lease", "kube-public", "kube-system"}
	ReservedNamespaces   = append([]string{"default"}, ControllerNamespaces...)
)
