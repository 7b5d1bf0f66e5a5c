package flux

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

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
	Why: `Flux installs only the controllers that it is told to, and with each one the definitions of its kinds. If the cluster's
Flux lacks the kind of an object, or serves other versions of it, the dry run of the Kustomization fails ("no matches
for kind"), and none of its objects is applied. Image automation is the usual case: it is no part of a default
installation.

The rule compares with the definitions that Git applies with Flux itself (gotk-components.yaml), and else with the
components of the FluxInstance. It is silent if Git says neither. A version that no supported release of Flux has is
reported by flux-api-deprecated or schema-invalid.`,
	Fix: `Install the controller: run flux bootstrap or flux install --export again with --components-extra, or add it to the
components of the FluxInstance. Or remove the object. For a version that is not served, write one that the message names,
or upgrade Flux.`,
	Run: func(p *rule.Pass) {
		var open questions
		each(p, func(w *world) {
			install := w.installed()
			if install.by == nil {
				return
			}
			told := map[string]bool{}
			for _, o := range w.applied {
				what := o.APIVersion + " " + o.Kind
				why, hint := install.lacks(o)
				if why == "" || told[what] || o.HelmRelease != nil || o.ResourceSet() != nil { // they break nothing but themselves
					continue
				}
				told[what] = true
				if doubt := w.doubt(definitionOf(o)); doubt != "" {
					open.add(placeOf(o, "kind"), fmt.Sprintf("whether the cluster knows the kind %s", o.Kind), doubt)
					continue
				}
				p.ReportBuilt(o, finding.Finding{Message: fmt.Sprintf("%s cannot be applied, nor what Kustomization %s applies with it: %s", o, o.Kustomization, why), Hint: hint}, "kind")
			}
		})
		open.report(p)
	},
}

// definitionOf returns the identity of the definition of an object's kind.
func definitionOf(o *reconcile.Object) reconcile.Identity {
	return reconcile.Identity{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: strings.ToLower(o.Kind) + "s." + o.Group}
}

// installation is what Git says of the Flux in a cluster.
type installation struct {
	// by is the object that says it: a definition of Flux, or the FluxInstance; nil if Git does not say it.
	by *reconcile.Object
	// served are the versions of the kinds, nil for a FluxInstance, which has components instead.
	served     served
	components map[string]bool
}

// installed returns the Flux that the cluster's objects install.
func (w *world) installed() installation {
	all := w.applied
	for _, other := range w.beside {
		all = append(slices.Clone(all), other.applied...)
	}
	for _, o := range all {
		if o.Kind == "CustomResourceDefinition" && o.Name == "kustomizations."+fluxapi.KustomizeGroup {
			return installation{by: o, served: servedVersions(all)}
		}
	}
	var instance *reconcile.Object
	for _, o := range all {
		switch {
		case o.Kind == "FluxInstance" && o.Group == fluxapi.OperatorGroup && instance == nil:
			instance = o
		case o.Kind == "FluxInstance" && o.Group == fluxapi.OperatorGroup, o.Kind == "CustomResourceDefinition" && strings.HasSuffix(o.Name, ".toolkit.fluxcd.io"):
			return installation{} // more than one Flux
		}
	}
	if instance == nil || len(instance.Unknown) > 0 {
		return installation{}
	}
	components := map[string]bool{}
	for _, c := range list(instance.Value, "spec", "components") {
		name, _ := c.(string)
		components[name] = true
	}
	if len(components) == 0 {
		// Source: github.com/controlplaneio-fluxcd/flux-operator, api/v1 FluxInstanceSpec.GetComponents.
		for _, name := range []string{"source-controller", "kustomize-controller", "helm-controller", "notification-controller"} {
			components[name] = true
		}
	}
	return installation{by: instance, components: components}
}

// lacks returns why the installation does not know an object's kind or version, and what to do; "" if it does.
func (in installation) lacks(o *reconcile.Object) (why, hint string) {
	controller := controllerOf(o.Group, o.Kind)
	gvk := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind)
	if v, known := schemas.VersionOf(gvk); controller == "" || !known || !v.Served {
		return "", ""
	}
	if in.components != nil {
		if in.components[controller] {
			return "", ""
		}
		return fmt.Sprintf("%s does not install %s", in.by, controller), "add " + controller + " to spec.components of the FluxInstance"
	}
	versions := in.served[gvk.GroupKind()]
	switch {
	case versions[gvk.Version]:
		return "", ""
	case versions == nil:
		return fmt.Sprintf("the cluster's Flux has no %s, which serves the kind", controller),
			"add it with flux bootstrap or flux install --export, and --components-extra=" + controller
	}
	return fmt.Sprintf("the cluster's Flux serves the kind only as %s", strings.Join(slices.Sorted(maps.Keys(versions)), ", ")),
		fmt.Sprintf("upgrade Flux, or write apiVersion: %s/%s", gvk.Group, slices.Max(slices.Collect(maps.Keys(versions))))
}

// controllerOf returns the controller of Flux that serves a kind, "" if it is none of Flux's.
func controllerOf(group, kind string) string {
	switch group {
	case fluxapi.SourceGroup:
		return "source-controller"
	case fluxapi.KustomizeGroup:
		return "kustomize-controller"
	case fluxapi.HelmGroup:
		return "helm-controller"
	case fluxapi.NotificationGroup:
		return "notification-controller"
	case fluxapi.ImageGroup:
		if kind == "ImageUpdateAutomation" {
			return "image-automation-controller"
		}
		return "image-reflector-controller"
	case fluxapi.ArtifactGroup:
		return "source-watcher"
	}
	return ""
}
