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
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// APIDeprecated is flux-api-deprecated.
var APIDeprecated = rule.Rule{
	ID:       "flux-api-deprecated",
	Title:    "a deprecated or removed Flux API version",
	Severity: finding.Warning,
	Why: `Flux removes old API versions some releases after a newer version became stable. If the cluster no longer serves
the version of an object, Flux cannot apply the object or any other object of its Kustomization: an upgrade of
Flux then stops the reconciliation of the cluster.

If Git shows that the cluster runs such a Flux release (by the FluxInstance, gotk-components.yaml or the
artifact of Flux's manifests), the finding is an error. If Git has the definition of the kind, and no FluxInstance
installs another one, the finding is an error if the definition does not serve the version. If Git shows an older release or none, or if the version
is deprecated but still served, it is a warning.`,
	Fix: `Use the version that the message names. "flux migrate -f" rewrites the files; schema-unknown-field finds fields
that changed between versions.`,
	Run: func(p *rule.Pass) {
		minors, definitions := map[*reconcile.Cluster]int{}, map[*reconcile.Cluster]served{}
		served := servedVersions(p.Applied())
		each(p, func(w *world) { minors[w.cluster], definitions[w.cluster] = w.minor, w.definitions() })
		m := moves{pass: p, patches: map[*reconcile.Kustomization][]versioned{}, group: map[finding.Place]finding.Place{}, edits: map[finding.Place]finding.Edit{}}
		for _, o := range p.Applied() {
			if o.Kustomization == nil {
				m.deprecated(o, 0, served, nil)
				continue
			}
			m.deprecated(o, minors[o.Kustomization.Cluster], served, definitions[o.Kustomization.Cluster])
		}
		newest := 0
		for _, minor := range minors {
			newest = max(newest, minor)
		}
		for _, o := range deployedObjects(p) {
			m.deprecated(o, newest, served, nil)
		}
		m.report()
	},
}

// deployedObjects returns the objects in the application definitions that AppDeployments reference, as they are
// in their files, if no Kustomization in Git builds them.
func deployedObjects(p *rule.Pass) []*reconcile.Object {
	definitions := platform.Deployed.Of(p)
	if len(definitions) == 0 {
		return nil
	}
	built := map[*repository.Object]bool{}
	for _, o := range p.Applied() {
		built[o.Source] = true
	}
	return slices.DeleteFunc(reconcile.Plain(p.Repo), func(o *reconcile.Object) bool {
		return !definitions.Hold(o.File) || built[o.Source]
	})
}

// served maps each kind that the repository defines to the API versions that its definitions serve.
type served map[schema.GroupKind]map[string]bool

func servedVersions(objects []*reconcile.Object) served {
	all := served{}
	for _, o := range objects {
		if o.Kind != "CustomResourceDefinition" {
			continue
		}
		of := schema.GroupKind{Group: o.Text("spec", "group"), Kind: o.Text("spec", "names", "kind")}
		for _, v := range o.List("spec", "versions") {
			version, _ := v.(map[string]any)
			if name, _ := version["name"].(string); version["served"] == true {
				if all[of] == nil {
					all[of] = map[string]bool{}
				}
				all[of][name] = true
			}
		}
	}
	return all
}

// has reports whether a version may be served: the kind is not defined in the repository, or the definition
// serves the version.
func (s served) has(gvk schema.GroupVersionKind) bool {
	versions := s[gvk.GroupKind()]
	return versions == nil || versions[gvk.Version]
}

// definitions returns the versions that the cluster's definitions of Flux's kinds serve, according to Git. It returns nil if a
// FluxInstance installs Flux: its operator replaces the definitions.
func (w *world) definitions() served {
	var all []*reconcile.Object
	for _, one := range append([]*world{w}, w.beside...) {
		if len(one.fluxInstances()) > 0 {
			return nil
		}
		all = append(all, one.applied...)
	}
	return servedVersions(all)
}

// deprecated adds a finding for an object with a deprecated version. The definitions in its cluster decide whether it is
// removed there, and if there is none of the kind, the minor version of Flux.
func (m *moves) deprecated(o *reconcile.Object, minor int, served, definitions served) {
	if !strings.HasSuffix(o.Group, ".toolkit.fluxcd.io") && !strings.HasSuffix(o.Group, ".extensions.fluxcd.io") && o.Group != fluxapi.OperatorGroup {
		return
	}
	gvk := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind)
	v, known := schemas.VersionOf(gvk)
	if !known || !v.Deprecated() || !served.has(v.Replacement) && v.Replacement != (schema.GroupVersionKind{}) {
		return // or the cluster's Flux does not serve the newer version yet
	}
	if since := minorOf(v.DeprecatedIn); minor > 0 && since > minor {
		return
	}
	f := finding.Finding{Message: fmt.Sprintf("%s of %s is deprecated", o.APIVersion, o.Kind)}
	if v.DeprecatedIn != "" {
		f.Message += fmt.Sprintf(" since Flux %s", v.DeprecatedIn)
	}
	if v.RemovedIn != "" {
		f.Message = fmt.Sprintf("%s of %s is removed in Flux %s", o.APIVersion, o.Kind, v.RemovedIn)
		removed := minor >= minorOf(v.RemovedIn)
		if definitions[gvk.GroupKind()] != nil {
			removed = !definitions.has(gvk)
		}
		if !v.Served && removed {
			f.Severity = finding.Error
		}
	}
	to := ""
	if v.Replacement != (schema.GroupVersionKind{}) {
		f.Hint = fmt.Sprintf("write %s", v.Replacement.GroupVersion())
		if v.Replacement.Kind != o.Kind {
			f.Hint += " " + v.Replacement.Kind
		} else if fits(o, v.Replacement) {
			to = v.Replacement.GroupVersion().String()
		}
	}
	m.add(o, f, to)
}

// fits reports whether an object would be valid, unchanged, with another API version of its kind.
func fits(o *reconcile.Object, gvk schema.GroupVersionKind) bool {
	s, ok := schemas.Lookup(gvk)
	if !ok {
		return false
	}
	moved := maps.Clone(o.Value)
	moved["apiVersion"] = gvk.GroupVersion().String()
	return len(s.Validate(moved)) == 0
}
