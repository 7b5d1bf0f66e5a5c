package layout

import (
	"path"
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// apps is kubernetes/apps/<namespace>/<app>/{ks.yaml,app/…}, for one cluster. Each add-on is
// installed by a Kustomization of its own. The Kustomization is in flux-system, because lockdown
// forbids references to a source in another namespace, and applies its objects to the add-on's
// namespace. The HelmRelease is in that namespace and runs as a service account that is bound
// there.
type apps struct{}

// folder contains the namespaces of the apps.
const folder = "kubernetes/apps"

func (apps) Bootstrap(*v1alpha1.Cluster) string { return "bootstrap" }
func (apps) TenantBase(t string) string         { return path.Join("kubernetes/tenants/base", t) }
func (apps) TenantOverlay(c string) string      { return path.Join("kubernetes/tenants", c) }

func (apps) Home(a *v1alpha1.Addon) Home {
	return Home{Namespace: a.Spec.Namespace, ServiceAccount: "helm-installer", Bound: true}
}

// Secret returns the place in the folder of the Secret's namespace, which the root unit applies
// before the apps.
func (l apps) Secret(c *v1alpha1.Cluster, d *v1alpha1.DeclaredSecret) SecretPlace {
	if d.Product != "" {
		return productSecret(l.Platform(c, d.Product, nil).Dir, d)
	}
	if d.Scope == v1alpha1.ScopeTenant {
		return tenantSecret(l.TenantBase(d.Tenant), d)
	}
	return SecretPlace{Place: Place{File: secretFile(folder, d), Index: path.Join(folder, d.Namespace)}, Unit: root(c)}
}

func (apps) Namespace(_ *v1alpha1.Cluster, namespace string) Place {
	dir := path.Join(folder, namespace)
	return Place{File: path.Join(dir, "namespace.yaml"), Index: dir}
}

func (l apps) Tenants(c *v1alpha1.Cluster, _ []Unit) Unit {
	return Unit{
		Name:      "tenants",
		Place:     Place{File: path.Join(c.Spec.Path, "tenants.yaml")},
		Dir:       l.TenantOverlay(c.Metadata.Name),
		DependsOn: []string{rootUnit},
	}
}

func (apps) Platform(c *v1alpha1.Cluster, name string, _ []Unit) Unit {
	return Unit{
		Name:      name,
		Place:     Place{File: path.Join(c.Spec.Path, name+".yaml")},
		Dir:       path.Join("kubernetes", name),
		DependsOn: []string{rootUnit},
	}
}

// rootUnit is the name of the Kustomization that applies all others.
const rootUnit = "cluster-apps"

func root(c *v1alpha1.Cluster) Unit {
	return Unit{
		Name:           rootUnit,
		Place:          Place{File: path.Join(c.Spec.Path, "ks.yaml")},
		Dir:            folder,
		DeletionPolicy: "WaitForTermination",
	}
}

func (apps) Addons(c *v1alpha1.Cluster, addons []*v1alpha1.Addon) []Unit {
	units := []Unit{root(c)}
	for _, a := range addons {
		dir := path.Join(folder, a.Spec.Namespace, a.Metadata.Name)
		place := Place{File: path.Join(dir, "ks.yaml"), Index: path.Dir(dir)}
		app := Part{Addon: a, Dir: path.Join(dir, "app"), Release: a.Spec.Chart != nil}
		config := Part{Addon: a, Dir: path.Join(dir, "config")}
		for _, r := range a.Spec.Resources {
			// The definitions of the objects that a bootstrap hook applies exist before Flux runs; all other objects wait for the
			// chart.
			if !app.Release || appliedByHook(a, r.Name) {
				app.Resources = append(app.Resources, r)
			} else {
				config.Resources = append(config.Resources, r)
			}
		}
		units = append(units, Unit{
			Name: a.Metadata.Name, Place: place, Dir: app.Dir, DependsOn: appDependencies(a, addons),
			TargetNamespace: a.Spec.Namespace, Wait: true, Substitute: true, Parts: []Part{app},
		})
		if len(config.Resources) > 0 {
			units = append(units, Unit{
				Name: a.Metadata.Name + "-config", Place: place, Dir: config.Dir, DependsOn: []string{a.Metadata.Name},
				TargetNamespace: a.Spec.Namespace, Wait: true, Substitute: true, Parts: []Part{config},
			})
		}
	}
	return units
}

// appDependencies returns the Kustomizations of the add-ons on the cluster that an add-on depends on.
func appDependencies(a *v1alpha1.Addon, addons []*v1alpha1.Addon) []string {
	var names []string
	for _, dep := range a.Spec.DependsOn {
		if slices.ContainsFunc(addons, func(on *v1alpha1.Addon) bool { return on.Metadata.Name == dep.Name }) {
			names = append(names, dep.Name)
		}
	}
	return names
}

func appliedByHook(a *v1alpha1.Addon, resource string) bool {
	return a.Spec.Bootstrap != nil && slices.ContainsFunc(a.Spec.Bootstrap.Hooks, func(h v1alpha1.BootstrapHook) bool {
		return h.Apply == resource
	})
}
