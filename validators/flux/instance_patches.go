package flux

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/patches"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
)

// fluxInstance is a FluxInstance, or the HelmRelease of the chart that creates one.
type fluxInstance struct {
	object *reconcile.Object
	// at is the path of the FluxInstance's spec in the object. spec is the spec as far as it is known.
	at   []any
	spec map[string]any
	// elsewhere reports whether values from elsewhere may be added to the spec.
	elsewhere bool
}

// fluxInstances returns the FluxInstances that a cluster applies.
func (w *world) fluxInstances() []fluxInstance {
	var all []fluxInstance
	for _, o := range w.applied {
		i := fluxInstance{object: o, at: []any{"spec"}}
		switch {
		case o.HelmRelease != nil:
			continue // the values of its release are checked
		case o.Group == fluxapi.OperatorGroup && o.Kind == "FluxInstance":
			i.spec, _ = field(o.Value, "spec").(map[string]any)
		case isHelmRelease(o) && isFluxChart(o):
			i.at = []any{"spec", "values", "instance"}
			i.spec, _ = field(o.Value, "spec", "values", "instance").(map[string]any)
			i.elsewhere = len(list(o.Value, "spec", "valuesFrom")) > 0
		}
		if i.spec != nil && isKnown(i.spec) {
			all = append(all, i)
		}
	}
	return all
}

// namespace returns the namespace of the instance, "" if it is unknown.
func (i fluxInstance) namespace() string {
	namespace := i.object.Namespace
	if isHelmRelease(i.object) {
		namespace = cmp.Or(text(i.object.Value, "spec", "targetNamespace"), namespace)
	}
	if unknown(namespace) {
		return ""
	}
	return namespace
}

// patches returns the instance's patches that have targets, each with what it selects of the objects that the
// Flux Operator installs. The operator runs these patches after its own, in a kustomization that sets the
// namespace after all patches.
func (i fluxInstance) patches() []patches.Targeted {
	text, err := yaml.Marshal(field(i.spec, "kustomize", "patches"))
	if err != nil {
		return nil
	}
	var entries []types.Patch
	if err := yaml.Unmarshal(text, &entries); err != nil {
		return nil // the schema rules report it
	}
	var all []patches.Targeted
	for n, p := range entries {
		if p.Target == nil {
			continue
		}
		one := i.look(*p.Target)
		one.Index, one.Shared = n, true
		at := append(slices.Clone(i.at), "kustomize", "patches", n, "target")
		one.Place = i.object.Position(append(at, "name")...)
		all = append(all, one)
	}
	return all
}

// look returns the patch's target with the objects that it selects.
func (i fluxInstance) look(target types.Selector) patches.Targeted {
	p := patches.Targeted{Target: target}
	namespace, components := i.namespace(), componentsOf(i.spec, i.elsewhere)
	ofAnyVersion := target
	ofAnyVersion.Version = ""
	regex, err := patches.NewSelectorRegex(&target)
	loose, looseErr := patches.NewSelectorRegex(&ofAnyVersion)
	if err != nil || looseErr != nil || unknown(target.String()) || target.Namespace != "" && namespace == "" || i.mayInstallMore(loose) {
		p.Selects = true
		return p
	}
	for _, o := range distribution(i.spec, namespace) {
		by := regex
		if o.gvk.Version == "" {
			by = loose
		}
		named := len(o.names) == 0 || slices.ContainsFunc(o.names, by.MatchName)
		there := o.component == "" || components == nil || slices.Contains(components, o.component)
		switch {
		case there && named && by.MatchGvk(o.gvk) && o.in(by):
			p.Selects = true
			return p
		case target.Kind != "" && o.gvk.Kind == target.Kind && there:
			p.Names = append(p.Names, o.names...)
			if !by.MatchGvk(o.gvk) {
				p.Versions = append(p.Versions, o.gvk.ApiVersion())
			}
		case target.Name != "" && named && there:
			p.Kinds = append(p.Kinds, o.gvk.Kind)
		}
	}
	for _, names := range []*[]string{&p.Names, &p.Kinds, &p.Versions} {
		slices.Sort(*names)
		*names = slices.Compact(*names)
	}
	return p
}

// mayInstallMore reports whether a selector may select objects that are not known here: sync and storage
// objects that other values configure, and definitions that a newer version of Flux adds.
func (i fluxInstance) mayInstallMore(by *types.SelectorRegex) bool {
	if i.elsewhere && slices.ContainsFunc([]resid.Gvk{
		resid.NewGvk(fluxapi.KustomizeGroup, "v1", kustomizationKind), resid.NewGvk(fluxapi.SourceGroup, "v1", "GitRepository"),
		resid.NewGvk(fluxapi.SourceGroup, "v1", "OCIRepository"), resid.NewGvk(fluxapi.SourceGroup, "v1", "Bucket"), resid.NewGvk("", "v1", "PersistentVolumeClaim"),
	}, by.MatchGvk) {
		return true
	}
	definition := resid.NewGvk(definitionGroup, "v1", definitionKind)
	return by.MatchGvk(definition) && !slices.ContainsFunc(distribution(i.spec, i.namespace()), func(o installed) bool {
		return o.gvk == definition && slices.ContainsFunc(o.names, by.MatchName)
	})
}

// in reports whether a selector selects the namespace that an object has before the patches, or its original
// namespace.
func (o installed) in(by *types.SelectorRegex) bool {
	if by.MatchNamespace(resid.NewResIdWithNamespace(o.gvk, "", o.namespace).EffectiveNamespace()) {
		return true
	}
	return o.gvk.Group != fluxapi.KustomizeGroup && o.gvk.Group != fluxapi.SourceGroup && by.MatchNamespace(resid.NewResId(o.gvk, "").EffectiveNamespace())
}

// wayOut returns a hint for a patch that selects nothing, "" if the general hint applies.
func (i fluxInstance) wayOut(one patches.Targeted) string {
	selects := func(change func(*types.Selector)) bool {
		target := one.Target
		change(&target)
		return target != one.Target && i.look(target).Selects
	}
	if selects(func(t *types.Selector) { t.Namespace = "" }) {
		return "remove the namespace: the Flux Operator sets it after the patches"
	}
	if selects(func(t *types.Selector) { t.Group, t.Version = "", "" }) {
		return "its API version is " + some(one.Versions)
	}
	var kinds []string
	for _, o := range distribution(i.spec, "") {
		kinds = append(kinds, o.gvk.Kind)
	}
	if kind, ok := schemas.Misspelt(one.Target.Kind, kinds); ok && len(one.Names) == 0 {
		return fmt.Sprintf("did you mean kind %q?", kind)
	}
	for _, c := range fluxComponents {
		with := i
		with.spec = maps.Clone(i.spec)
		with.spec["components"] = []any{c.name}
		if with.look(one.Target).Selects {
			return fmt.Sprintf("add %q to the components, or remove the patch", c.name)
		}
	}
	return ""
}
