package flux

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// definitionOf is a definition of Flux that a cluster applies.
func definitionOf(kind, group string, versions ...string) string {
	plural := strings.ToLower(kind) + "s"
	all := ""
	for _, version := range versions {
		all += "{name: " + version + ", served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}, "
	}
	return "-- clusters/prod/" + plural + ".yaml --\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " + plural + "." + group + "}\n" +
		"spec: {group: " + group + ", scope: Namespaced, names: {kind: " + kind + ", plural: " + plural + "}, versions: [" + all + "]}\n"
}

// TestKindMissing: an object is refused if the cluster's own Flux, as Git has it, does not serve its kind and version.
// Reproduces: image automation in auspatious/de-flux.
func TestKindMissing(t *testing.T) {
	t.Parallel()
	flux := definitionOf("Kustomization", "kustomize.toolkit.fluxcd.io", "v1") + definitionOf("GitRepository", "source.toolkit.fluxcd.io", "v1")
	instance := func(spec string) string {
		return "-- clusters/prod/flux.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\nspec: {distribution: {version: 2.x, registry: ghcr.io/fluxcd}" + spec + "}\n"
	}
	release := func(values string) string {
		return "-- clusters/prod/flux-instance.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: flux-instance, namespace: flux-system}\nspec: {interval: 1h, chartRef: {kind: OCIRepository, name: flux-instance}" + values + "}\n"
	}
	const image = "-- clusters/prod/image.yaml --\napiVersion: image.toolkit.fluxcd.io/v1\nkind: ImagePolicy\nmetadata: {name: a, namespace: flux-system}\nspec: {imageRepositoryRef: {name: a}, policy: {semver: {range: '*'}}}\n"
	const policies = "-- clusters/prod/policies.yaml --\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: imagepolicies.image.toolkit.fluxcd.io}\nspec: {group: image.toolkit.fluxcd.io, names: {kind: ImagePolicy, plural: imagepolicies}, versions: [{name: VERSION, served: true}]}\n"
	for name, c := range map[string]struct{ files, want string }{
		"nothing is known":                               {image, ""},
		"not among the definitions":                      {flux + image, "the cluster's Flux has no image-reflector-controller, which serves the kind"},
		"some definitions":                               {definitionOf("Kustomization", "kustomize.toolkit.fluxcd.io", "v1") + image, ""},
		"another version":                                {flux + strings.ReplaceAll(policies, "VERSION", "v1beta2") + image, "the cluster's Flux serves the kind only as v1beta2"},
		"the version":                                    {flux + strings.ReplaceAll(policies, "VERSION", "v1") + image, ""},
		"the default components":                         {instance("") + image, "FluxInstance flux-system/flux does not install image-reflector-controller"},
		"a component":                                    {instance(", components: [source-controller, kustomize-controller, image-reflector-controller]") + image, ""},
		"unknown components":                             {instance(", components: ['${CONTROLLERS}']") + image, ""},
		"the values of a chart":                          {release(", values: {instance: {components: [source-controller]}}") + image, "HelmRelease flux-system/flux-instance does not install"},
		"values from elsewhere":                          {release(", values: {instance: {sync: {kind: GitRepository}}}, valuesFrom: [{kind: ConfigMap, name: a}]") + image, ""},
		"two instances":                                  {instance("") + strings.ReplaceAll(strings.ReplaceAll(instance(", components: [image-reflector-controller]"), "name: flux,", "name: other,"), "flux.yaml", "other.yaml") + image, ""},
		"definitions beside an instance":                 {instance("") + strings.ReplaceAll(policies, "VERSION", "v1") + image, ""},
		"a Kustomization that is suspended":              {flux + apps("  suspend: true\n") + strings.ReplaceAll(image, "clusters/prod", "apps"), ""},
		"a ResourceSet's":                                {flux + "-- clusters/prod/set.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: a, namespace: flux-system}\nspec: {resources: [{apiVersion: image.toolkit.fluxcd.io/v1, kind: ImagePolicy, metadata: {name: a, namespace: flux-system}}]}\n", ""},
		"a version that is gone":                         {flux + strings.ReplaceAll(policies, "VERSION", "v1") + strings.ReplaceAll(image, "fluxcd.io/v1", "fluxcd.io/v1beta1"), ""},
		"a version that is gone, and the kind":           {flux + strings.ReplaceAll(image, "fluxcd.io/v1", "fluxcd.io/v1beta1"), "the cluster's Flux has no image-reflector-controller"},
		"definitions and an instance":                    {flux + instance(", components: [image-reflector-controller]") + image, ""},
		"a chart of Flux":                                {flux + "-- clusters/prod/flux2.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: image, namespace: flux-system}\nspec: {interval: 1h, chart: {spec: {chart: flux2, sourceRef: {kind: HelmRepository, name: community}}}}\n" + image, ""},
		"the child of a Kustomization that is suspended": {flux + apps("  suspend: true\n") + strings.ReplaceAll(kustomization("child", ""), "clusters/prod", "apps") + strings.ReplaceAll(image, "clusters/prod", "child"), ""},
	} {
		found := ruletest.Find(t, KindMissing, fluxSync+c.files)
		switch {
		case c.want == "" && len(found) > 0, c.want != "" && (len(found) == 0 || !strings.Contains(found[0].Message, c.want)):
			t.Errorf("%s: %+v, want %q", name, found, c.want)
		}
	}
}

// Flux's own definitions exist before the first Kustomization: nothing waits for them, and their descriptions are no concern of
// the user.
// Reproduces: SovereignCloudStack/moin-cluster-config and hmcts/sds-flux-config.
func TestDefinitionsOfFlux(t *testing.T) {
	t.Parallel()
	releases := strings.ReplaceAll(definitionOf("HelmRelease", "helm.toolkit.fluxcd.io", "v2"), "clusters/prod", "flux")
	others := kustomization("flux", "") + releases + podinfoIn("a", "")
	if found := ruletest.Find(t, CRDOrder, fluxSync+others); len(found) != 1 {
		t.Errorf("a definition in another Kustomization: %+v", found)
	}
	own := strings.ReplaceAll(definitionOf("Kustomization", "kustomize.toolkit.fluxcd.io", "v1"), "clusters/prod", "flux")
	if found := ruletest.Find(t, CRDOrder, fluxSync+others+own); len(found) != 0 {
		t.Errorf("definitions of Flux in another Kustomization: %+v", found)
	}
	const controller = "-- clusters/prod/controller.yaml --\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: kustomize-controller, namespace: flux-system}\nspec: {template: {spec: {containers: [{name: manager, image: 'ghcr.io/fluxcd/kustomize-controller:VERSION'}]}}}\n"
	described := kustomization("flux", "  postBuild: {substitute: {a: b}}\n") + strings.ReplaceAll(own, "type: object", "type: object, description: 'such as ${var}'")
	for version, want := range map[string]int{"v1.4.0": 0, "v1.9.0": 1} {
		if found := ruletest.Find(t, SubstitutionUndefined, fluxSync+described+strings.ReplaceAll(controller, "VERSION", version)); len(found) != want {
			t.Errorf("a variable in a description, kustomize-controller %s: %+v", version, found)
		}
	}
}

// The hint does not propose to wait for what waits for the Kustomization itself.
// Reproduces: infrastructure.yaml of Informasjonsforvaltning/fdk-infra.
func TestNoWaitForAChild(t *testing.T) {
	t.Parallel()
	const workload = "-- infra/web.yaml --\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: default}\n"
	child := kustomization("child", "  dependsOn: [{name: infra}]\n")
	for name, c := range map[string]struct{ files, want string }{
		"a child":      {strings.Replace(child, "clusters/prod", "infra", 1), "list the required objects in healthChecks (not wait: true: flux-system/infra would wait for flux-system/child, which it applies and which depends on it)"},
		"a grandchild": {strings.Replace(kustomization("between", ""), "clusters/prod", "infra", 1) + strings.Replace(child, "clusters/prod", "between", 1), "list the required objects in healthChecks (not wait: true: flux-system/infra would wait for flux-system/child, which it applies and which depends on it)"},
		"a sibling":    {child, "set wait: true, or list the required objects in healthChecks"},
	} {
		found := ruletest.Find(t, DependsOnNoWait, fluxSync+kustomization("infra", "")+workload+c.files)
		if len(found) != 1 || found[0].Hint != c.want {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// If the source exists in another namespace, the finding is at the namespace, which a patch may set.
// Reproduces: clusters/staging of Bold-origins/gitops-infrastructure.
func TestPlaceOfASourcesNamespace(t *testing.T) {
	t.Parallel()
	const patch = "-- apps/kustomization.yaml --\nresources: [release.yaml]\npatches: [{path: patch.yaml}]\n-- apps/patch.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: flux-system}\nspec:\n  chartRef:\n    namespace: wrong\n"
	found := ruletest.Find(t, SourceMissing, fluxSync+podinfoSource+apps("")+strings.Replace(podinfoIn("a", ""), "clusters/prod/a", "apps/release", 1)+patch)
	if len(found) != 1 || found[0].File != "apps/patch.yaml" || found[0].Line != 6 {
		t.Errorf("%+v", found)
	}
}
