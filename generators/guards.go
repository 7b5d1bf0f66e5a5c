package generators

import (
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/addon"
	"github.com/fleetwright/fleetwright/internal/layout"
)

// The kinds of Guards.
const (
	GuardCluster = "clusters"
	GuardAddon   = "addons"
	GuardProduct = "products"
	GuardTenant  = "tenants"
	GuardSecret  = "secrets"
)

// Guard describes an object that a later render removes only on request, because its removal loses more than files.
type Guard struct {
	// Kind is GuardCluster, GuardAddon, GuardProduct, GuardTenant or GuardSecret.
	Kind string
	// Cluster is the name of the cluster, and Path its folder in the platform repository, or the file of a Secret.
	Cluster, Path string
	// Addon is the name of an add-on on the cluster, and Release its release as NAMESPACE/NAME.
	Addon, Release string
	// Loses is the kind of data that is lost with the release.
	Loses string
	// Product is the name of a platform product of the cluster, and Part one of its parts as KIND/NAME, "" for
	// the whole product.
	Product, Part string
	// Tenant is the name of a tenant on the cluster, and Namespace one of its workload namespaces, "" for the whole tenant.
	Tenant, Namespace string
	// Secret is a declared Secret as NAMESPACE/NAME, and Owner its owner: OwnerPlatform, or OwnerCluster, OwnerProduct or
	// OwnerTenant followed by a name.
	Secret, Owner string
}

// String returns the guard as inventories record it.
func (g Guard) String() string {
	switch g.Kind {
	case GuardCluster:
		return path.Join(g.Kind, g.Cluster, g.Path)
	case GuardProduct:
		return path.Join(g.Kind, g.Cluster, g.Product, g.Part)
	case GuardTenant:
		return path.Join(g.Kind, g.Cluster, g.Tenant, g.Namespace)
	case GuardSecret:
		return path.Join(g.Kind, g.Owner, g.Secret, g.Path)
	}
	return path.Join(g.Kind, g.Cluster, g.Addon, g.Release, g.Loses)
}

// ParseGuard parses a guard from an inventory. It returns false if the string is not a guard.
func ParseGuard(text string) (Guard, bool) {
	kind, rest, _ := strings.Cut(text, "/")
	parts := strings.Split(rest, "/")
	switch {
	case kind == GuardCluster && len(parts) > 1:
		return Guard{Kind: kind, Cluster: parts[0], Path: path.Join(parts[1:]...)}, true
	case kind == GuardAddon && len(parts) == 5:
		return Guard{Kind: kind, Cluster: parts[0], Addon: parts[1], Release: path.Join(parts[2], parts[3]), Loses: parts[4]}, true
	case kind == GuardProduct && (len(parts) == 2 || len(parts) == 4):
		return Guard{Kind: kind, Cluster: parts[0], Product: parts[1], Part: path.Join(parts[2:]...)}, true
	case kind == GuardTenant && (len(parts) == 2 || len(parts) == 3):
		return Guard{Kind: kind, Cluster: parts[0], Tenant: parts[1], Namespace: path.Join(parts[2:]...)}, true
	case kind == GuardSecret && len(parts) > 3:
		return Guard{Kind: kind, Owner: parts[0], Secret: path.Join(parts[1], parts[2]), Path: path.Join(parts[3:]...)}, true
	}
	return Guard{}, false
}

// The kinds of data that are lost with the release of an add-on. The kind is losesUnknown if the chart's defaults decide.
const (
	losesData          = "data"
	losesUnknown       = "unknown"
	losesVolumes       = "volumes"
	losesLoadBalancers = "load-balancers"
)

// The owners of a declared Secret, in a Guard's Owner: OwnerPlatform, or one of the prefixes followed by a name.
const (
	OwnerPlatform = "platform"
	OwnerCluster  = "cluster:"
	OwnerProduct  = "product:"
	OwnerTenant   = "tenant:"
)

// createdOnce are the toggles of kcm for the objects that kcm creates at its first installation and never upgrades. A
// Guard has such a toggle in Part, with the version of k0rdent.
var createdOnce = []string{v1alpha1.K0rdentCreateRelease, v1alpha1.K0rdentCreateManagement}

// CreatedOnce returns the toggle of kcm and the version in a guard; "" for other guards.
func (g Guard) CreatedOnce() (toggle, version string) {
	if kind, name, _ := strings.Cut(g.Part, "/"); slices.Contains(createdOnce, kind) {
		return kind, name
	}
	return "", ""
}

// owner returns the owner of a declared Secret, followed by the clusters that apply its file.
func owner(f SecretFile) string {
	switch d := f.Secret; {
	case d.Product != "":
		return OwnerProduct + d.Product
	case d.Scope == v1alpha1.ScopeTenant:
		return OwnerTenant + d.Tenant
	case d.Scope == v1alpha1.ScopeClusters && len(f.Clusters) == 1:
		return OwnerCluster + f.Clusters[0]
	}
	return OwnerPlatform
}

// Guards returns, as inventories record them and sorted, the guards of a specification: its clusters, their tenants and
// the tenants' namespaces, its platform products with their parts, the data that the removal of an add-on deletes for
// good, and the files of declared Secrets.
func Guards(spec *v1alpha1.Spec) []string {
	var out []string
	for _, c := range spec.Clusters {
		out = append(out, Guard{Kind: GuardCluster, Cluster: c.Metadata.Name, Path: c.Spec.Path}.String())
		for _, p := range spec.ProductsOn(c) {
			g := Guard{Kind: GuardProduct, Cluster: c.Metadata.Name, Product: p.ProductName()}
			out = append(out, g.String())
			for _, held := range p.Holds() {
				g.Part = path.Join(held.Kind, held.Name)
				out = append(out, g.String())
			}
			for _, toggle := range createdOnce {
				if k, is := p.(*v1alpha1.K0rdent); is && k.Spec.Creates(toggle) {
					g.Part = path.Join(toggle, k.Spec.Version)
					out = append(out, g.String())
				}
			}
		}
		for _, a := range addon.On(spec, c) {
			for _, what := range losses(a) {
				out = append(out, Guard{
					Kind: GuardAddon, Cluster: c.Metadata.Name, Addon: a.Metadata.Name,
					Release: path.Join(a.Spec.Namespace, a.Spec.ReleaseName), Loses: what,
				}.String())
			}
		}
	}
	for _, t := range spec.Tenants {
		if t.Spec.State == v1alpha1.StateRemoved {
			continue
		}
		for _, on := range spec.TenantClusters(t) {
			for _, namespace := range append([]string{""}, t.Spec.Namespaces...) {
				out = append(out, Guard{Kind: GuardTenant, Cluster: on.Cluster, Tenant: t.Metadata.Name, Namespace: namespace}.String())
			}
		}
	}
	for _, f := range SecretFiles(spec) {
		out = append(out, Guard{Kind: GuardSecret, Owner: owner(f), Secret: f.Secret.String(), Path: f.Path}.String())
	}
	slices.Sort(out)
	return out
}

// Stays reports whether no data is lost although the guard of an add-on is gone. This is so if the cluster still has the
// release, and the guard came from elsewhere: from spec.stateful instead of the values or vice versa, or from values that
// now show what was unknown.
func Stays(spec *v1alpha1.Spec, g Guard) bool {
	for _, c := range spec.Clusters {
		if c.Metadata.Name != g.Cluster {
			continue
		}
		for _, a := range addon.On(spec, c) {
			if a.Metadata.Name == g.Addon && path.Join(a.Spec.Namespace, a.Spec.ReleaseName) == g.Release {
				return g.Loses == losesData || g.Loses == losesUnknown || a.Spec.Stateful != nil
			}
		}
	}
	return false
}

// losses returns the kinds of data that an add-on stores, with its values on a cluster.
func losses(a *v1alpha1.Addon) []string {
	if stateful := a.Spec.Stateful; stateful != nil {
		if *stateful {
			return []string{losesData}
		}
		return nil
	}
	found := map[string]bool{}
	state(a.Spec.Values, found)
	for _, r := range a.Spec.Resources {
		for _, m := range r.Manifests {
			if m["kind"] == "PersistentVolumeClaim" {
				found[losesVolumes] = true
			}
			state(m, found)
		}
	}
	var out []string
	known := true
	for _, what := range []string{losesLoadBalancers, losesVolumes} {
		asks, said := found[what]
		if asks {
			out = append(out, what)
		}
		known = known && said
	}
	if name := a.Metadata.Name; len(out) == 0 && !known && a.Spec.Chart != nil && name != layout.FluxOperator && name != layout.FluxInstance {
		return []string{losesUnknown}
	}
	return out
}

// state searches values or a manifest for volumes and load balancers. It sets found to true for a kind that they request,
// and to false for one that they only turn off.
func state(v any, found map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			state(item, found)
		}
	case map[string]any:
		for key, value := range v {
			switch strings.ToLower(key) {
			case "type":
				if slices.Contains([]any{"LoadBalancer", "ClusterIP", "NodePort"}, value) {
					found[losesLoadBalancers] = found[losesLoadBalancers] || value == "LoadBalancer"
				}
			case "persistence", "persistentvolume", "persistentvolumeclaim", "persistentvolumeclaims", "volumeclaimtemplate", "volumeclaimtemplates", "storagespec":
				found[losesVolumes] = found[losesVolumes] || isVolume(value)
			case "storage":
				size, _ := value.(map[string]any)
				found[losesVolumes] = found[losesVolumes] || size["size"] != nil && isVolume(value)
			}
			state(value, found)
		}
	}
}

// isVolume reports whether the value of a field for volumes requests one. It does not if it is disabled, if it
// is another kind of volume, or if it names an existing claim.
func isVolume(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case []any:
		return slices.ContainsFunc(v, isVolume)
	case map[string]any:
		if enabled, set := v["enabled"].(bool); set && !enabled || v["existingClaim"] != nil && v["existingClaim"] != "" {
			return false
		}
		if kind, set := v["type"].(string); set {
			return strings.EqualFold(kind, "persistentVolumeClaim") || strings.EqualFold(kind, "pvc") || strings.EqualFold(kind, "persistent-claim")
		}
		if enabled, _ := v["enabled"].(bool); enabled {
			return true
		}
		named := false // each volume in the map has its own settings
		for _, item := range v {
			if inner, isMap := item.(map[string]any); isMap && (inner["enabled"] != nil || inner["type"] != nil || inner["existingClaim"] != nil) {
				if named = true; isVolume(inner) {
					return true
				}
			}
		}
		return !named && len(v) > 0
	}
	return false
}
