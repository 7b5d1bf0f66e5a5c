// Package layout says where which object's file stands in the platform
// repository. A Layout is a value that generators are given; none of them asks
// which one it is.
package layout

import (
	"path"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// Layout places the files of a platform repository. All paths are relative to
// the repository's root, with forward slashes.
type Layout interface {
	// Bootstrap is the folder of a cluster's helmfile.
	Bootstrap(c *v1alpha1.Cluster) string
	// TenantBase is the folder of a tenant's objects that all clusters share.
	TenantBase(tenant string) string
	// TenantOverlay is the folder that a cluster's tenants Kustomization applies.
	TenantOverlay(cluster string) string
	// Units are the Flux Kustomizations that install a cluster's add-ons, in
	// the order of their dependencies.
	Units(spec *v1alpha1.Spec, c *v1alpha1.Cluster) []Unit
	// Home is where an add-on's release lives on clusters.
	Home(a *v1alpha1.Addon) Home
}

// For returns the layout of a name; the specification's validation lets only
// known ones through.
func For(name v1alpha1.Layout) Layout {
	if name == v1alpha1.LayoutApps {
		return apps{}
	}
	return fleet{}
}

// Home is where the HelmRelease of an add-on, and its source, live on a cluster.
type Home struct {
	// Namespace of the HelmRelease and its source.
	Namespace string
	// ServiceAccount that helm-controller impersonates under lockdown.
	ServiceAccount string
	// OwnAccount says that the account is generated in the namespace and bound
	// to cluster-admin; otherwise it is one that Flux brings.
	OwnAccount bool
}

// Unit is one Flux Kustomization and what it applies.
type Unit struct {
	// Name of the Kustomization in flux-system.
	Name string
	// File that the Kustomization object is written to. Units that name one
	// file share it.
	File string
	// Dir is the Kustomization's path.
	Dir string
	// DependsOn names Kustomizations that must be ready first.
	DependsOn []string
	// TargetNamespace, if any, is set on every object.
	TargetNamespace string
	// Substitute says that the cluster's variables are filled in.
	Substitute bool
	// Parts that the unit applies.
	Parts []Part
}

// Part is an add-on's share of a unit.
type Part struct {
	Addon *v1alpha1.Addon
	// Dir holds the part's files: the unit's own Dir, or a base that the unit's
	// kustomization refers to.
	Dir string
	// OwnDir is used in place of Dir where the cluster needs files of its own
	// (see addon.Whole); empty when Dir serves one cluster alone.
	OwnDir string
	// Release says that the chart's release and source are in the part.
	Release bool
	// Resources are the add-on's resources in the part.
	Resources []v1alpha1.ResourceFile
}

// fleet is clusters/, infrastructure/ and tenants/.
type fleet struct{}

func (fleet) Bootstrap(c *v1alpha1.Cluster) string { return path.Join("bootstrap", c.Metadata.Name) }
func (fleet) TenantBase(t string) string           { return path.Join("tenants/base", t) }
func (fleet) TenantOverlay(c string) string        { return path.Join("tenants", c) }

// apps is kubernetes/apps/<namespace>/<app>/, for one cluster.
type apps struct{}

func (apps) Bootstrap(*v1alpha1.Cluster) string { return "bootstrap" }
func (apps) TenantBase(t string) string         { return path.Join("kubernetes/tenants/base", t) }
func (apps) TenantOverlay(c string) string      { return path.Join("kubernetes/tenants", c) }
