package kommander

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kustypes "sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/addon"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/manifest"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// home is the namespace of the release of a definition. Kommander sets it through a variable.
var home = layout.Home{Namespace: "${releaseNamespace}"}

// definitions writes the definitions of the applications and of Flux.
func (g *generator) definitions() {
	newest := map[string]v1alpha1.KommanderDefinition{}
	for i := range g.k.Definitions {
		d := &g.k.Definitions[i]
		g.definition(d)
		file := g.profile.metadataFile(*d)
		if before, there := newest[file]; !there || newer(d.Version, before.Version) {
			newest[file] = *d
		}
	}
	for _, e := range g.k.ExistingDefinitions {
		file := g.profile.metadataFile(v1alpha1.KommanderDefinition{Name: e.Name, Version: e.Version})
		if delete(newest, file); g.has(file) {
			g.out.NotKRM("/" + file)
		}
	}
	if g.k.ExistingCommon || len(g.k.ExistingDefinitions) > 0 {
		g.out.NotKRM("templates/") // of the charts in a clone
	}
	for _, file := range slices.Sorted(maps.Keys(newest)) {
		g.metadata(file, tree.Managed, newest[file])
	}
	g.flux()
}

// newer reports whether version a is newer than b. The specification's validation has checked both.
func newer(a, b string) bool {
	x, err := semver.NewVersion(a)
	y, otherErr := semver.NewVersion(b)
	return err == nil && otherErr == nil && x.GreaterThan(y)
}

// metadata writes the description of an application that Kommander shows to users. It is not a KRM object.
func (g *generator) metadata(file string, mode tree.Mode, d v1alpha1.KommanderDefinition) {
	content, err := manifest.YAML(manifest.Header, d.Catalog)
	if err != nil {
		g.out.Fail(err)
		return
	}
	g.out.Text(file, mode, content)
}

// definition writes one version of an application: its release, its default values, and the kustomizations that
// Kommander builds.
func (g *generator) definition(d *v1alpha1.KommanderDefinition) {
	dir, release := g.profile.dir(d.Name, d.Version), g.profile.releaseDir(d)
	names := []string{d.Name + ".yaml"}
	if g.bootstrapped(d.Name, d.Version) {
		a := g.bootstrapAddon(d)
		own := layout.Home{Namespace: namespace}
		g.out.Objects(path.Join(release, d.Name+".yaml"), bootstrapComment, addon.Release(g.spec, a, own, nil))
		g.out.Objects(path.Join(release, addon.SourceFile(a)), "", addon.Source(g.spec, a, own))
		names = append(names, addon.SourceFile(a))
	} else {
		g.out.Objects(path.Join(release, d.Name+".yaml"), "", g.release(d)...)
	}
	defaults := g.defaults(d)
	if !g.profile.ownDefaults {
		g.out.Objects(path.Join(release, "cm.yaml"), "", defaults)
		g.out.Kustomization(release, emit.Kustomization{Resources: emit.Sorted(append(names, "cm.yaml"))})
		g.out.Kustomization(dir, emit.Kustomization{Resources: []string{"helmrelease"}})
		return
	}
	g.out.Kustomization(dir, emit.Kustomization{Resources: emit.Sorted(names)})
	g.defaultsFolder(dir, defaults)
}

// defaultsFolder writes the folder of the default values.
func (g *generator) defaultsFolder(dir string, defaults any) {
	dir = path.Join(dir, "defaults")
	g.out.Objects(path.Join(dir, "cm.yaml"), "", defaults)
	g.out.Kustomization(dir, emit.Kustomization{Resources: []string{"cm.yaml"}})
}

// bootstrapComment explains why a definition differs from the others.
const bootstrapComment = "The bootstrap reads chart, version and values here, so they are literal: without\nvariables, and not in a ConfigMap."

// defaults returns the ConfigMap with the default values. It is empty if the bootstrap reads the values from
// the HelmRelease.
func (g *generator) defaults(d *v1alpha1.KommanderDefinition) any {
	values := g.giteaValues(d)
	if g.bootstrapped(d.Name, d.Version) {
		values = nil
	}
	m := metadata{Name: g.profile.defaults(d.Name, d.Version), Namespace: home.Namespace}
	return watched(configMap(m, map[string]string{"values.yaml": g.text(values)}))
}

// text encodes values as YAML for a ConfigMap.
func (g *generator) text(values map[string]any) string {
	if len(values) == 0 {
		return "{}\n"
	}
	text, err := manifest.YAML("", values)
	if err != nil {
		g.out.Fail(err)
	}
	return strings.TrimSuffix(string(text), "\n") + "\n"
}

// addonOf converts a definition to an add-on in a namespace.
func addonOf(d *v1alpha1.KommanderDefinition, namespace string) *v1alpha1.Addon {
	chart := d.Chart
	return &v1alpha1.Addon{
		Metadata: v1alpha1.ObjectMeta{Name: d.Name},
		Spec:     v1alpha1.AddonSpec{Namespace: namespace, ReleaseName: d.ReleaseName, Chart: &chart},
	}
}

// bootstrapAddon converts a definition that the bootstrap installs to an add-on.
func (g *generator) bootstrapAddon(d *v1alpha1.KommanderDefinition) *v1alpha1.Addon {
	a := addonOf(d, namespace)
	a.Spec.Values, a.Spec.Bootstrap = d.Values, &v1alpha1.Bootstrap{}
	return a
}

// release returns the HelmRelease of a definition. The source of its chart comes before it, unless definitions
// share the source.
func (g *generator) release(d *v1alpha1.KommanderDefinition) []any {
	target := home.Namespace
	if d.Namespace != "" {
		target = d.Namespace
	}
	a := addonOf(d, target)
	hr := addon.Release(g.spec, a, home, nil)
	hr.Spec.ValuesFrom = []helmv2.ValuesReference{
		{Kind: "ConfigMap", Name: g.profile.defaults(d.Name, d.Version)},
		{Kind: "ConfigMap", Name: d.Name + "-overrides", Optional: true},
	}
	if !strings.HasPrefix(d.Chart.URL, "oci://") {
		hr.Spec.Chart.Spec.SourceRef.Name, hr.Spec.Chart.Spec.SourceRef.Namespace = v1alpha1.KommanderHelmRepository(d.Chart.URL), fluxNamespace
		return []any{hr}
	}
	source, _ := addon.Source(g.spec, a, home).(*sourcev1.OCIRepository)
	source.Name = g.profile.chart(d.Name)
	hr.Spec.ChartRef.Name = source.Name
	return []any{source, hr}
}

// flux writes the definition of the Flux that Kommander installs on the clusters that it attaches. It is the
// Fleet's Flux, in Kommander's namespace and without the Fleet's sync.
func (g *generator) flux() {
	version := g.spec.FluxVersion()
	dir := g.profile.dir(v1alpha1.KommanderFluxApp, version)
	k := emit.Kustomization{
		Namespace: fluxNamespace,
		Resources: []string{emit.Relative(dir, path.Join(g.on.Spec.Path, layout.FluxNamespace))},
	}
	for _, kind := range []string{"GitRepository", "Kustomization"} {
		target := &kustypes.Selector{}
		target.Kind, target.Name = kind, emit.FluxSync
		k.Patches = append(k.Patches, kustypes.Patch{Target: target, Patch: "$patch: delete\nkind: " + kind + "\nmetadata:\n  name: " + emit.FluxSync + "\n"})
	}
	g.out.Kustomization(dir, k)
	d := v1alpha1.KommanderDefinition{
		Name: v1alpha1.KommanderFluxApp, Version: version,
		Catalog: v1alpha1.KommanderMetadata{Type: "internal", Scope: []string{"workspace"}},
	}
	if g.profile.ownDefaults {
		g.defaultsFolder(dir, g.defaults(&d))
	}
	// All versions may share this file, including versions whose folder was copied.
	g.metadata(g.profile.metadataFile(d), tree.Once, d)
}

// helmRepositories returns the Helm repositories of the definitions, and additional ones, by name. The
// definition of the mirror itself has a source of its own, because a mirror cannot serve itself.
func (g *generator) helmRepositories() map[string]*sourcev1.HelmRepository {
	urls := slices.Clone(g.k.HelmRepositories)
	for _, d := range g.k.Definitions {
		if !strings.HasPrefix(d.Chart.URL, "oci://") && !g.bootstrapped(d.Name, d.Version) {
			urls = append(urls, d.Chart.URL)
		}
	}
	out := map[string]*sourcev1.HelmRepository{}
	for _, url := range urls {
		name := v1alpha1.KommanderHelmRepository(url)
		out[name] = &sourcev1.HelmRepository{
			TypeMeta:   emit.TypeMeta(sourcev1.GroupVersion, sourcev1.HelmRepositoryKind),
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: fluxNamespace},
			Spec: sourcev1.HelmRepositorySpec{
				Interval: emit.Duration(g.spec.Fleet.Spec.Defaults.Interval),
				URL:      "${helmMirrorURL:=" + url + "}",
			},
		}
	}
	return out
}
