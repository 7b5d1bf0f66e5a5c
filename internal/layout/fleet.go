package layout

import (
	"path"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// fleet is clusters/<cluster>/, infrastructure/{controllers,configs}/ and
// tenants/{base,<cluster>}/, for several clusters. Add-ons are installed by two Kustomizations of
// each cluster, infra-controllers and infra-configs. Their HelmReleases are in flux-system, where
// Flux's own service account helm-controller may install anything under lockdown. Flux itself (the
// add-ons flux-operator and flux-instance) is in the folder of the cluster's root.
type fleet struct{}

func (fleet) Bootstrap(c *v1alpha1.Cluster) string { return path.Join("bootstrap", c.Metadata.Name) }
func (fleet) TenantBase(t string) string           { return path.Join("tenants/base", t) }
func (fleet) TenantOverlay(c string) string        { return path.Join("tenants", c) }

func (fleet) Home(*v1alpha1.Addon) Home {
	return Home{Namespace: FluxNamespace, ServiceAccount: "helm-controller"}
}

// Secret returns the place of a Secret, outside of the stages' folders: add-ons choose the file names there. The stage that
// creates the namespaces applies the Secret, so that it exists before the releases.
func (l fleet) Secret(c *v1alpha1.Cluster, d *v1alpha1.DeclaredSecret) SecretPlace {
	if d.Product != "" {
		return productSecret(l.Platform(c, d.Product, nil).Dir, d)
	}
	if d.Scope == v1alpha1.ScopeTenant {
		return tenantSecret(l.TenantBase(d.Tenant), d)
	}
	dir := path.Join("infrastructure/secrets", c.Metadata.Name)
	if d.Scope == v1alpha1.ScopePlatform {
		dir = "infrastructure/secrets/base"
	}
	unit := stage(v1alpha1.StageControllers, c)
	return SecretPlace{Place: Place{File: secretFile(dir, d), Index: dir}, Via: unit.Dir, Unit: unit}
}

func (fleet) Namespace(c *v1alpha1.Cluster, _ string) Place {
	dir := infrastructure(v1alpha1.StageControllers, c)
	return Place{File: path.Join(dir, "namespaces.yaml"), Index: dir}
}

func (l fleet) Tenants(c *v1alpha1.Cluster, addons []Unit) Unit {
	return Unit{
		Name:      "tenants",
		Place:     Place{File: path.Join(c.Spec.Path, "tenants.yaml")},
		Dir:       l.TenantOverlay(c.Metadata.Name),
		DependsOn: lastStage(addons),
	}
}

func (fleet) Platform(c *v1alpha1.Cluster, name string, addons []Unit) Unit {
	return Unit{
		Name:      name,
		Place:     Place{File: path.Join(c.Spec.Path, name+".yaml")},
		Dir:       name,
		DependsOn: lastStage(addons),
	}
}

// lastStage returns the name of the unit that waits for all others; none without units.
func lastStage(addons []Unit) []string {
	var last []string
	for _, a := range addons {
		if a.Place.File != "" {
			last = []string{a.Name}
		}
	}
	return last
}

func (fleet) Addons(c *v1alpha1.Cluster, addons []*v1alpha1.Addon) []Unit {
	flux := Unit{Name: FluxNamespace, Dir: path.Join(c.Spec.Path, FluxNamespace)}
	controllers := stage(v1alpha1.StageControllers, c)
	configs := stage(v1alpha1.StageConfigs, c)
	for _, a := range addons {
		switch {
		case IsFlux(a):
			flux.Parts = append(flux.Parts, Part{
				Addon: a, Dir: path.Join(flux.Dir, a.Metadata.Name),
				Release: a.Spec.Chart != nil, Resources: a.Spec.Resources,
			})
		case a.Spec.Chart == nil || a.Spec.Stage == v1alpha1.StageConfigs:
			u := &controllers
			if a.Spec.Stage == v1alpha1.StageConfigs {
				u = &configs
			}
			u.Parts = append(u.Parts, part(u.Dir, a, addons, a.Spec.Resources))
		default:
			controllers.Parts = append(controllers.Parts, part(controllers.Dir, a, addons, nil))
			if len(a.Spec.Resources) > 0 { // the resources may use the chart's definitions
				p := part(configs.Dir, a, addons, a.Spec.Resources)
				p.Release, p.DependsOn = false, nil
				configs.Parts = append(configs.Parts, p)
			}
		}
	}
	var units []Unit
	for _, u := range []Unit{flux, controllers, configs} {
		if len(u.Parts) == 0 {
			continue
		}
		if u.Name == configs.Name && len(controllers.Parts) > 0 {
			u.DependsOn = []string{controllers.Name}
		}
		units = append(units, u)
	}
	return units
}

// stage returns the unit of a stage on a cluster, without parts.
func stage(s v1alpha1.Stage, c *v1alpha1.Cluster) Unit {
	return Unit{
		Name:       "infra-" + string(s),
		Place:      Place{File: path.Join(c.Spec.Path, "infrastructure.yaml")},
		Dir:        infrastructure(s, c),
		Wait:       true,
		Substitute: true,
	}
}

func infrastructure(s v1alpha1.Stage, c *v1alpha1.Cluster) string {
	return path.Join("infrastructure", string(s), c.Metadata.Name)
}

// part places an add-on in the shared base of a stage. Releases of one stage wait for each other by
// their own dependencies; the stages wait by their Kustomizations.
func part(unitDir string, a *v1alpha1.Addon, all []*v1alpha1.Addon, resources []v1alpha1.ResourceFile) Part {
	p := Part{
		Addon:     a,
		Dir:       path.Join(path.Dir(unitDir), "base", a.Metadata.Name),
		OwnDir:    path.Join(unitDir, a.Metadata.Name),
		Release:   a.Spec.Chart != nil,
		Resources: resources,
	}
	p.DependsOn = Dependencies(a, all)
	return p
}

// Dependencies returns the releases that an add-on's release depends on: those of the add-ons in among that are in the same
// stage.
func Dependencies(a *v1alpha1.Addon, among []*v1alpha1.Addon) []string {
	var names []string
	for _, dep := range a.Spec.DependsOn {
		for _, other := range among {
			if other.Metadata.Name == dep.Name && other.Spec.Chart != nil && other.Spec.Stage == a.Spec.Stage {
				names = append(names, dep.Name)
			}
		}
	}
	return names
}
