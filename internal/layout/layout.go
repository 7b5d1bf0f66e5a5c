// Package layout determines the file of each object in the platform repository. A Layout is a value that is passed to
// generators, which do not depend on the kind of layout.
package layout

import (
	"path"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// Layout determines the files of a platform repository. All paths are relative to the repository's
// root, with forward slashes.
type Layout interface {
	// Bootstrap is the folder of a cluster's helmfile.
	Bootstrap(c *v1alpha1.Cluster) string
	// TenantBase is the folder of a tenant's objects that all clusters share.
	TenantBase(tenant string) string
	// TenantOverlay is the folder that a cluster's tenants Kustomization applies.
	TenantOverlay(cluster string) string
	// Tenants is the unit that applies a cluster's tenants, after its add-ons.
	Tenants(c *v1alpha1.Cluster, addons []Unit) Unit
	// Addons are the units that install a cluster's add-ons, in the order of
	// their dependencies.
	Addons(c *v1alpha1.Cluster, addons []*v1alpha1.Addon) []Unit
	// Platform is the unit of a platform product that a cluster manages: it has the file of the
	// product's Kustomizations, its folder, and the units that it waits for.
	Platform(c *v1alpha1.Cluster, name string, addons []Unit) Unit
	// Namespace places the Namespace object of a cluster's add-ons.
	Namespace(c *v1alpha1.Cluster, namespace string) Place
	// Home is the namespace and service account of an add-on's release on clusters.
	Home(a *v1alpha1.Addon) Home
	// Secret is the place of the file of a declared Secret that a cluster applies.
	Secret(c *v1alpha1.Cluster, d *v1alpha1.DeclaredSecret) SecretPlace
}

// SecretPlace is the place of the file of a declared Secret.
type SecretPlace struct {
	// Place of the file; several clusters may share it.
	Place
	// Via is the folder whose kustomization.yaml lists the folder Index; empty if no entry is
	// needed.
	Via string
	// Unit that applies the Secret, unless its folder belongs to a tenant or a platform
	// product. It may apply nothing else.
	Unit Unit
}

// secretFile returns the file of a Secret in a folder. The path contains the namespace: two namespaces may use the same name.
func secretFile(dir string, d *v1alpha1.DeclaredSecret) string {
	return path.Join(dir, d.Namespace, d.Name+".sops.yaml")
}

// tenantSecret returns the place of a tenant's Secret in the folder that its clusters share.
func tenantSecret(base string, d *v1alpha1.DeclaredSecret) SecretPlace {
	return SecretPlace{Place: Place{File: secretFile(path.Join(base, "secrets"), d), Index: base}}
}

// productSecret returns the place of a platform product's Secret in the folder of the step
// that applies it.
func productSecret(dir string, d *v1alpha1.DeclaredSecret) SecretPlace {
	dir = path.Join(dir, d.Step)
	if d.File != "" {
		return SecretPlace{Place: Place{File: d.File, Index: path.Dir(d.File)}}
	}
	return SecretPlace{Place: Place{File: secretFile(dir, d), Index: dir}}
}

// For returns the layout with a name. The specification's validation allows only known names.
func For(name v1alpha1.Layout) Layout {
	if name == v1alpha1.LayoutApps {
		return apps{}
	}
	return fleet{}
}

// Home is the place of an add-on's HelmRelease and source on a cluster.
type Home struct {
	// Namespace of the HelmRelease and its source.
	Namespace string
	// ServiceAccount that helm-controller impersonates under lockdown.
	ServiceAccount string
	// Bound is set if the account is generated next to the namespace and bound to cluster-admin;
	// otherwise Flux's own account is used.
	Bound bool
}

// Place is a file and the kustomization that lists it.
type Place struct {
	// File that contains the object; several objects may share it.
	File string
	// Index is the folder whose kustomization.yaml lists the file; empty if Flux finds the file
	// itself.
	Index string
}

// Unit is a Flux Kustomization and its parts.
type Unit struct {
	// Name of the Kustomization in flux-system.
	Name string
	// Place of the Kustomization object. Without a file, no Kustomization is generated, and the
	// cluster's root Kustomization applies Dir.
	Place Place
	// Dir is the Kustomization's path.
	Dir string
	// DependsOn names Kustomizations that must be ready first.
	DependsOn []string
	// TargetNamespace, if any, is set on every object.
	TargetNamespace string
	// Wait for all objects to be ready.
	Wait bool
	// DeletionPolicy of the Kustomization (kustomize.toolkit.fluxcd.io/v1).
	DeletionPolicy string
	// Substitute the cluster's variables.
	Substitute bool
	// Timeout of the health checks; the Fleet's default one by default.
	Timeout v1alpha1.Duration
	// HealthChecks are objects to wait for, in place of Wait.
	HealthChecks []meta.NamespacedObjectKindReference
	// HealthCheckExprs are the conditions under which objects of custom kinds are healthy.
	HealthCheckExprs []kustomize.CustomHealthCheck
	// Parts that the unit applies; without any, Dir has no generated kustomization.yaml.
	Parts []Part
}

// Part is the objects of one add-on in a unit.
type Part struct {
	Addon *v1alpha1.Addon
	// Dir contains the part's files. It is the unit's own Dir, a folder below it, or a base that
	// clusters share (then OwnDir is set).
	Dir string
	// OwnDir contains the part's files if a cluster can't use the shared ones.
	OwnDir string
	// Release is set if the part contains the chart's release and source.
	Release bool
	// DependsOn names HelmReleases of the same namespace that must be ready
	// before the part's.
	DependsOn []string
	// Resources are the add-on's resources in the part.
	Resources []v1alpha1.ResourceFile
}

// Shared reports whether several clusters use the part's files.
func (p Part) Shared() bool { return p.OwnDir != "" }

// FluxNamespace is the namespace of Flux's controllers.
const FluxNamespace = "flux-system"

// Names of the add-ons that are Flux itself.
const (
	FluxOperator = "flux-operator"
	FluxInstance = "flux-instance"
)

// IsFlux reports whether an add-on is Flux itself.
func IsFlux(a *v1alpha1.Addon) bool {
	return a.Metadata.Name == FluxOperator || a.Metadata.Name == FluxInstance
}
