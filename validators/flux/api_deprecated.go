package flux

import (
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// APIDeprecated is flux-api-deprecated.
var APIDeprecated = rule.Rule{
	ID:       "flux-api-deprecated",
	Title:    "a deprecated or removed Flux API version",
	Severity: finding.Warning,
	Why: `Flux removes old versions of its kinds some releases after a newer one became stable. An object of a version
that the cluster no longer serves is refused, and the whole Kustomization that applies it with it: an upgrade of Flux
then stops the cluster's own reconciliation. Where Git tells that the cluster runs such a release (by the FluxInstance,
gotk-components.yaml or the artifact of Flux's manifests) it is an error. Where it tells nothing, or of an older one, and
for a version that is deprecated and still served, it is a warning.`,
	Fix: `Write the version that the message names. "flux migrate -f" rewrites the files; fields that changed between
versions are found by schema-unknown-field.`,
	Run: func(p *rule.Pass) {
		minors := map[*reconcile.Cluster]int{}
		served := servedVersions(p.Applied())
		each(p, func(w *world) { minors[w.cluster] = w.minor })
		for _, o := range p.Applied() {
			minor := 0
			if o.Kustomization != nil {
				minor = minors[o.Kustomization.Cluster]
			}
			deprecated(p, o, minor, served)
		}
	},
}

// served are the versions that definitions in the repository serve of a kind, by group and kind.
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

// has says whether a version may be served: the repository doesn't define the kind without it.
func (s served) has(gvk schema.GroupVersionKind) bool {
	versions := s[gvk.GroupKind()]
	return versions == nil || versions[gvk.Version]
}

func deprecated(p *rule.Pass, o *reconcile.Object, minor int, served served) {
	if !strings.HasSuffix(o.Group, ".toolkit.fluxcd.io") && !strings.HasSuffix(o.Group, ".extensions.fluxcd.io") && o.Group != fluxapi.OperatorGroup {
		return
	}
	gvk := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind)
	v, known := schemas.VersionOf(gvk)
	if !known || !v.Deprecated() || !served.has(v.Replacement) && v.Replacement != (schema.GroupVersionKind{}) {
		return // or the cluster's Flux doesn't know the other one yet
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
		if removed := minorOf(v.RemovedIn); !v.Served && minor >= removed {
			f.Severity = finding.Error
		}
	}
	if v.Replacement != (schema.GroupVersionKind{}) {
		f.Hint = fmt.Sprintf("write %s", v.Replacement.GroupVersion())
		if v.Replacement.Kind != o.Kind {
			f.Hint += " " + v.Replacement.Kind
		} else if fits(o, v.Replacement) {
			f.Fix = p.ReplaceText(o, v.Replacement.GroupVersion().String(), "apiVersion")
		}
	}
	p.ReportBuilt(o, f, "apiVersion")
}

// fits says whether an object is one of another version of its kind as it stands.
func fits(o *reconcile.Object, gvk schema.GroupVersionKind) bool {
	s, ok := schemas.Lookup(gvk)
	if !ok {
		return false
	}
	moved := maps.Clone(o.Value)
	moved["apiVersion"] = gvk.GroupVersion().String()
	return len(s.Validate(moved)) == 0
}
