package flux

import (
	"cmp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
)

// installed is an object that the Flux Operator installs for a FluxInstance, as the instance's
// patches see it.
// Source: github.com/controlplaneio-fluxcd/flux-operator v0.58, config/data/flux, where v2.2.3 to
// v2.9.4 hold the same but for source-watcher and ExternalArtifacts (since v2.7.0), and
// internal/builder/templates.go.
type installed struct {
	gvk resid.Gvk
	// names that a target may select it by; none where it isn't known.
	names []string
	// namespace that it has before the patches, "" where only the last kustomization sets it,
	// which comes after them.
	namespace string
	// component that brings it, "" for what comes with all.
	component string
}

// fluxComponent is a controller with the resources of its custom resource definitions, and its
// services, if any.
type fluxComponent struct {
	name, group         string
	resources, services []string
}

// fluxComponents are those that a FluxInstance may name, the default ones first.
var fluxComponents = []fluxComponent{
	{"source-controller", fluxapi.SourceGroup, []string{"buckets", "externalartifacts", "gitrepositories", "helmcharts", "helmrepositories", "ocirepositories"}, []string{"source-controller"}},
	{"kustomize-controller", fluxapi.KustomizeGroup, []string{"kustomizations"}, nil},
	{"helm-controller", fluxapi.HelmGroup, []string{"helmreleases"}, nil},
	{"notification-controller", fluxapi.NotificationGroup, []string{"alerts", "providers", "receivers"}, []string{"notification-controller", "webhook-receiver"}},
	{"image-reflector-controller", fluxapi.ImageGroup, []string{"imagepolicies", "imagerepositories"}, nil},
	{"image-automation-controller", fluxapi.ImageGroup, []string{"imageupdateautomations"}, nil},
	{"source-watcher", fluxapi.ArtifactGroup, []string{"artifactgenerators"}, []string{"source-watcher"}},
}

// defaultComponents is how many of them are installed where a FluxInstance names none.
const defaultComponents = 4

const (
	definitionGroup = "apiextensions.k8s.io"
	definitionKind  = "CustomResourceDefinition"
)

// distribution is all that a FluxInstance in a namespace ("" where it isn't known) may install,
// with every component.
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

// synced are the Kustomization and the source that a FluxInstance syncs.
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

// suffixed are a name and the ones that it has with suffixes; none where one isn't known.
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

// known is a name, or none where it isn't known.
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

// componentsOf are the components that a FluxInstance installs, nil where other values may name
// them.
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

// isKnown says whether a FluxInstance installs what the Flux Operator brings, of components that are
// known, and not the manifests of an artifact of somebody's own.
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
