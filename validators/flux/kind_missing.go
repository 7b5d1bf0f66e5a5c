package flux

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// KindMissing is flux-kind-missing.
var KindMissing = rule.Rule{
	ID:       "flux-kind-missing",
	Title:    "an object of Flux that the cluster's own Flux does not know",
	Severity: finding.Error,
	Why: `Flux installs only the controllers that it is configured to install, and with each one the definitions of its kinds.
If the cluster's Flux lacks the kind of an object, or serves other versions of it, the dry run of the Kustomization fails
("no matches for kind"), and none of its objects is applied. Image automation is the usual case: a default installation
does not include it.

The rule compares with the definitions that Git applies with Flux itself (gotk-components.yaml), or else with the
components of the FluxInstance. If Git has neither, the rule reports nothing. A version that no supported release of Flux
has is reported by flux-api-deprecated or schema-invalid.`,
	Fix: `Install the controller: run flux bootstrap or flux install --export again with --components-extra, or add it to the
components of the FluxInstance. Or remove the object. For a version that is not served, write one that the message names,
or upgrade Flux.`,
	Run: func(p *rule.Pass) {
		var open questions
		each(p, func(w *world) {
			install := w.installed()
			reported := map[string]bool{}
			for _, o := range w.applied {
				// The objects of a HelmRelease or ResourceSet are applied separately.
				if o.HelmRelease != nil || o.ResourceSet() != nil || stopped(o.Kustomization) || reported[o.APIVersion+" "+o.Kind] {
					continue
				}
				why, hint := install.lacks(o)
				if why == "" {
					continue
				}
				reported[o.APIVersion+" "+o.Kind] = true
				definition := reconcile.Identity{Group: definitionGroup, Kind: definitionKind, Name: resourceOf(o).GroupResource().String()}
				if doubt := w.doubt(definition); doubt != "" {
					open.add(o.Position("kind"), fmt.Sprintf("whether the cluster knows the kind %s", o.Kind), doubt)
					continue
				}
				p.ReportBuilt(o, finding.Finding{Message: fmt.Sprintf("%s cannot be applied, and neither can the other objects of Kustomization %s: %s", o, o.Kustomization, why), Hint: hint}, "kind")
			}
		})
		open.report(p)
	},
}

// stopped reports whether a Kustomization, or one that leads to it, is suspended.
func stopped(k *reconcile.Kustomization) bool {
	for ; k != nil && k.Parent != k; k = k.Parent {
		if k.Spec.Suspend {
			return true
		}
	}
	return false
}

// resourceOf returns the resource of an object's kind, such as imagepolicies.
func resourceOf(o *reconcile.Object) schema.GroupVersionResource {
	resource, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(o.APIVersion, o.Kind))
	return resource
}

// installation is the Flux of a cluster as Git shows it: the definitions that Git applies, or a FluxInstance; neither if
// Git shows none.
type installation struct {
	served   served
	instance *reconcile.Object
	// components are the components of the FluxInstance.
	components []string
}

// installed returns the Flux that the cluster's objects install.
func (w *world) installed() installation {
	var all []*reconcile.Object
	var instances []fluxInstance
	for _, one := range append([]*world{w}, w.beside...) {
		for _, o := range one.applied {
			if chart := o.ChartName(one.find); isHelmRelease(o) && strings.HasPrefix(chart, "flux") && chart != "flux-operator" && chart != "flux-instance" {
				return installation{} // such as flux2, whose chart may install any definition
			}
		}
		all = append(all, one.applied...)
		instances = append(instances, one.fluxInstances()...)
	}
	served := servedVersions(all)
	if served[schema.GroupKind{Group: fluxapi.KustomizeGroup, Kind: kustomizationKind}] != nil && served[schema.GroupKind{Group: fluxapi.SourceGroup, Kind: "GitRepository"}] != nil && len(instances) == 0 {
		return installation{served: served}
	}
	for of := range served {
		if slices.ContainsFunc(fluxComponents, func(c fluxComponent) bool { return c.group == of.Group }) {
			return installation{} // only some components of Flux, whose other definitions are unknown
		}
	}
	if len(instances) != 1 {
		return installation{}
	}
	return installation{instance: instances[0].object, components: componentsOf(instances[0].spec, instances[0].elsewhere)}
}

// componentOf returns the component of Flux that serves an object's kind, nil if none does.
func componentOf(o *reconcile.Object) *fluxComponent {
	resource := resourceOf(o).Resource
	i := slices.IndexFunc(fluxComponents, func(c fluxComponent) bool { return c.group == o.Group && slices.Contains(c.resources, resource) })
	if i < 0 {
		return nil
	}
	return &fluxComponents[i]
}

// lacks returns why the installation does not know an object's kind or version, and what to do; "" if it does.
func (in installation) lacks(o *reconcile.Object) (why, hint string) {
	component := componentOf(o)
	if component == nil {
		return "", ""
	}
	gvk := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind)
	versions := in.served[gvk.GroupKind()]
	switch {
	case in.components != nil && !slices.Contains(in.components, component.name):
		return fmt.Sprintf("%s does not install %s", in.instance, component.name), "add " + component.name + " to the components of the FluxInstance"
	case in.served == nil || versions[gvk.Version]:
		return "", ""
	case versions == nil:
		return fmt.Sprintf("the cluster's Flux has no %s, which serves the kind", component.name),
			"add it with flux bootstrap or flux install --export, and --components-extra=" + component.name
	}
	if v, known := schemas.VersionOf(gvk); !known || !v.Served {
		return "", "" // flux-api-deprecated and schema-invalid report it
	}
	return fmt.Sprintf("the cluster's Flux serves the kind only as %s", strings.Join(slices.Sorted(maps.Keys(versions)), ", ")),
		fmt.Sprintf("upgrade Flux, or write apiVersion: %s/%s", gvk.Group, slices.MaxFunc(slices.Collect(maps.Keys(versions)), version.CompareKubeAwareVersionStrings))
}
