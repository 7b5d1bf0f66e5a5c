package flux

import (
	"cmp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
)

// installed is an object that the Flux Operator installs for a FluxInstance, in the state that the instance's
// patches see. Source: github.com/controlplaneio-fluxcd/flux-operator v0.58, internal/builder/templates.go and
// config/data/flux. There, v2.2.3 to v2.9.4 have the same objects, except for source-watcher and
// ExternalArtifacts (since v2.7.0).
type installed struct {
	gvk resid.Gvk
	// names are the names by which a target may select the object; none if they are unknown.
	names []string
	// namespace is the object's namespace before the patches. It is "" if only the last kustomization sets it,
	// which comes after the patches.
	namespace string
	// component is the Flux component that includes the object, "" for objects that are always installed.
	component string
}

// fluxComponent is a Flux controller, with the resources of its CustomResourceDefinitions and its services.
type fluxComponent struct {
	name, group         string
	resources, services []string
}

// fluxComponents are the components that a FluxInstance may name. The default ones come first.
var fluxComponents = []fluxComponent{
	{"source-controller", fluxapi.SourceGroup, []string{"buckets", "externalartifacts", "gitrepositories", "helmcharts", "helmrepositories", "ocirepositories"}, []string{"source-controller"}},
	{"kustomize-controller", fluxapi.KustomizeGroup, []string{"kustomizations"}, nil},
	{"helm-controller", fluxapi.HelmGroup, []string{"helmreleases"}, nil},
	{"notification-controller", fluxapi.NotificationGroup, []string{"alerts", "providers", "receivers"}, []string{"notification-controller", "webhook-receiver"}},
	{"image-reflector-controller", fluxapi.ImageGroup, []string{"imagepolicies", "imagerepositories"}, nil},
	{"image-automation-controller", fluxapi.ImageGroup, []string{"imageupdateautomations"}, nil},
	{"source-watcher", fluxapi.ArtifactGroup, []string{"artifactgenerators"}, []string{"source-watcher"}},
}

// defaultComponents is the number of components that are installed if a FluxInstance names none.
const defaultComponents = 4

const (
	definitionGroup = "apiextensions.k8s.io"
	definitionKind  = "CustomResourceDefinition"
)

// distribution returns all objects that a FluxInstance in a namespace ("" if unknown) may install, for all
// components.
func distribution(spec map[string]any, namespace string) []installed {
	var all []installed
	add := func(component, group, kind, in string, names ...string) {
		all = append(all, installed{resid.NewGvk(group, "v1", kind), names, in, component})
	}
	shards := shardsOf(spec)
	for _, c := range fluxComponents {
		add(c.name, "apps", "Deployment", "", c.name)
		add(c.name, "", "ServiceAccount", "", c.name)
		for _, service := range c.services {
			add(c.name, "", "Service", "", service)
		}
		for _, resource := range c.resources {
			add(c.name, definitionGroup, definitionKind, "", resource+"."+c.group)
		}
		for _, shard := range shards {
			add(c.name, "apps", "Deployment", namespace, c.name, c.name+"-"+shard)
			for _, service := range c.services {
				add(c.name, "", "Service", namespace, service, service+"-"+shard)
			}
		}
	}
	for _, name := range []string{"allow-egress", "allow-scraping", "allow-webhooks"} {
		add("", "networking.k8s.io", "NetworkPolicy", "", name)
	}
	const rbac = "rbac.authorization.k8s.io"
	for _, name := range []string{"crd-controller", "flux-edit", "flux-view"} {
		add("", rbac, "ClusterRole", "", suffixed(name, namespace)...)
	}
	for _, name := range []string{"cluster-reconciler", "crd-controller"} {
		add("", rbac, "ClusterRoleBinding", "", suffixed(name, namespace)...)
	}
	add("", "", "ResourceQuota", namespace, suffixed("critical-pods", namespace)...)
	add("", "", "Namespace", "", known(namespace)...)
	if spec["storage"] != nil {
		add("", "", "PersistentVolumeClaim", namespace, suffixed("source-controller", shards...)...)
	}
	all = append(all, synced(spec, namespace)...)
	return all
}

// synced returns the Kustomization and the source that the Flux Operator creates for the sync of a
// FluxInstance.
func synced(spec map[string]any, namespace string) []installed {
	sync, ok := spec["sync"].(map[string]any)
	if !ok {
		return nil
	}
	names := known(cmp.Or(text(sync, "name"), namespace))
	return []installed{
		{gvk: resid.NewGvk(fluxapi.KustomizeGroup, "v1", kustomizationKind), names: names, namespace: namespace},
		{gvk: resid.NewGvk(fluxapi.SourceGroup, "", text(sync, "kind")), names: names, namespace: namespace},
	}
}

// suffixed returns a name, and the name with each suffix. It returns nil if a suffix is unknown.
func suffixed(name string, suffixes ...string) []string {
	if slices.Contains(suffixes, "") {
		return nil
	}
	names := []string{name}
	for _, suffix := range suffixes {
		names = append(names, name+"-"+suffix)
	}
	return names
}

// known returns the name in a list, or nil if the name is unknown.
func known(name string) []string {
	if name == "" || unknown(name) {
		return nil
	}
	return []string{name}
}

func shardsOf(spec map[string]any) []string {
	var shards []string
	for _, shard := range list(spec, "sharding", "shards") {
		if name, isText := shard.(string); isText {
			shards = append(shards, name)
		}
	}
	return shards
}

// componentsOf returns the components that a FluxInstance lists, or else the default ones. If it lists none, but values from
// elsewhere (valuesFrom) may add a list, it returns nil.
func componentsOf(spec map[string]any, elsewhere bool) []string {
	var components []string
	for _, c := range list(spec, "components") {
		name, _ := c.(string)
		components = append(components, name)
	}
	for _, c := range fluxComponents[:defaultComponents] {
		if spec["components"] == nil && !elsewhere {
			components = append(components, c.name)
		}
	}
	return components
}

// isKnown reports whether a FluxInstance installs only known components, from the artifact of the Flux Operator
// and not from a custom one.
func isKnown(spec map[string]any) bool {
	artifact := text(spec, "distribution", "artifact")
	if artifact != "" && !strings.HasPrefix(artifact, "oci://ghcr.io/controlplaneio-fluxcd/") {
		return false
	}
	for _, name := range list(spec, "components") {
		if !slices.ContainsFunc(fluxComponents, func(c fluxComponent) bool { return c.name == name }) {
			return false
		}
	}
	return true
}
