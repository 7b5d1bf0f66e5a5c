package kommander

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Handover is kommander-handover. Source for AppDeployments that adopt the objects of the installer: the
// documentation of DKP 2.8 (Kommander Resource Locations).
var Handover = rule.Rule{
	ID:       "kommander-handover",
	Title:    "an application that an AppDeployment and a Kustomization in Git both apply",
	Severity: finding.Error,
	Why: `The installation of Kommander applies some applications itself, such as gatekeeper, and an AppDeployment takes
them over: for it, Kommander creates a Kustomization that applies the same HelmRelease. If the Kustomization in
Git continues to apply the HelmRelease, both write it: versions and values alternate, and each prunes what the
other applied. With the annotation kustomize.toolkit.fluxcd.io/ssa: IfNotPresent (or Ignore), the Kustomization
in Git creates the object once and leaves it alone after that.

If both have different versions, a new cluster installs one and immediately replaces it with the other, which may be
older: this is a warning. The rule compares the folders of both definitions. For a HelmRelease that is not in a
definition, it compares the version of its chart, or of the source that its chartRef references. A range, a variable or a
digest instead of a version is unresolved.

The rule checks the AppDeployments of the management cluster: those in namespace kommander that select the cluster
host-cluster. If the definition of the application is not in Git, or if the selector requires other labels, the
finding is unresolved.`,
	Fix: `Add the annotation to the objects that the Kustomization in Git applies, and prune: disabled, for example with
commonAnnotations:

  commonAnnotations:
    kustomize.toolkit.fluxcd.io/ssa: IfNotPresent
    kustomize.toolkit.fluxcd.io/prune: disabled

Use the same version in both.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			var h *handovers
			for _, o := range w.Of(deployment) {
				t, ok := takeoverOf(o)
				if ok && h == nil {
					h = handoversOf(p, w)
				}
				if ok {
					h.judge(t)
				}
			}
		}
	},
}

// handovers holds, by application, the objects in Kommander's namespace that Git applies and that an AppDeployment may
// install as well. It also holds the objects of the definitions in Git, by application and version.
type handovers struct {
	pass              *rule.Pass
	managementCluster *managementCluster
	applied           map[string][]*reconcile.Object
	defined           map[[2]string][]*reconcile.Object
}

func handoversOf(p *rule.Pass, w *managementCluster) *handovers {
	h := &handovers{pass: p, managementCluster: w, applied: map[string][]*reconcile.Object{}, defined: map[[2]string][]*reconcile.Object{}}
	kinds := [][2]string{{fluxapi.HelmGroup, helmRelease}, {fluxapi.KustomizeGroup, kustomization}}
	for _, o := range w.Objects {
		if o.Namespace != v1alpha1.KommanderNamespace || o.HelmRelease != nil || !slices.Contains(kinds, [2]string{o.Group, o.Kind}) ||
			o.Kustomization == nil || o.Kustomization.Spec.Suspend || o.Kustomization.Spec.KubeConfig != nil {
			continue
		}
		of, _ := definitionOf(o.File)
		if by := o.Kustomization.Object; by != nil && of != "" {
			if parent, _ := definitionOf(by.File); parent == of {
				continue // it belongs to the Kustomization from that folder
			}
		}
		if of != "" {
			h.applied[of] = append(h.applied[of], o)
		}
		if o.Kind == helmRelease && o.Name != of {
			h.applied[o.Name] = append(h.applied[o.Name], o)
		}
	}
	for _, kind := range append(kinds, [2]string{fluxapi.SourceGroup, "OCIRepository"}, [2]string{fluxapi.SourceGroup, "HelmChart"}) {
		for _, d := range p.Repo.ByKind(kind[0], kind[1]) {
			application, version := definitionOf(d.Document.File.Path)
			if o := reconcile.PlainObject(d); application != "" && o != nil {
				key := [2]string{application, version}
				h.defined[key] = append(h.defined[key], o)
			}
		}
	}
	return h
}

const (
	helmRelease   = "HelmRelease"
	kustomization = "Kustomization"
)

// judge reports the first object that both Git and an AppDeployment apply.
func (h *handovers) judge(t takeover) {
	for _, o := range h.applied[t.application] {
		other, doubt := h.defines(t, o)
		if other == nil && doubt == "" {
			continue
		}
		if doubt == "" && t.unclear {
			doubt = "its selector requires labels, and Git does not show the labels of " + hostCluster
		}
		always, once := applied(o)
		if always && doubt != "" {
			h.open(t, fmt.Sprintf("whether %s writes %s, which %s applies", t.Object, o, o.Kustomization), doubt)
			return
		}
		if always {
			h.pass.ReportBuilt(t.Object, finding.Finding{
				Message: fmt.Sprintf("%s writes %s, and so does %s (%s:%d)", t.Object, o, o.Kustomization, o.File, o.Line),
				Hint:    "annotate the object that the Kustomization applies with kustomize.toolkit.fluxcd.io/ssa: IfNotPresent, so that Kommander takes it over; or remove one of them",
			}, t.at...)
			return
		}
		if once && h.checkVersion(t, o, other, doubt) {
			return
		}
	}
}

// checkVersion checks an object that Git applies only if it does not exist. It reports an AppDeployment that
// installs another version, and returns whether it reported something. doubt is the reason why it is unknown
// whether the AppDeployment takes the object over.
func (h *handovers) checkVersion(t takeover, o, other *reconcile.Object, doubt string) bool {
	differs, open := "", doubt
	if other != nil {
		differs, open = h.differs(t, o, other)
	}
	switch {
	case differs == "" && open == "":
		return false
	case differs == "" || doubt != "":
		h.open(t, fmt.Sprintf("whether %s takes over %s in the version that %s installs", t.Object, o, o.Kustomization), cmp.Or(doubt, open))
	default:
		h.pass.ReportBuilt(t.Object, finding.Finding{
			Severity: finding.Warning,
			Message:  fmt.Sprintf("%s takes over %s in version %s, but %s installs %s (%s:%d)", t.Object, o, t.version, o.Kustomization, differs, o.File, o.Line),
			Hint:     "use the same version in both",
		}, t.at...)
	}
	return true
}

// open reports a question about an AppDeployment as unresolved.
func (h *handovers) open(t takeover, question, cause string) {
	h.pass.UnresolvedFor(t.Position(t.at...), question, cause)
}

// defines returns the object in the deployed version's definition that is the same as an object that Git
// applies; nil if there is none. doubt is the reason if that cannot be decided.
func (h *handovers) defines(t takeover, o *reconcile.Object) (same *reconcile.Object, doubt string) {
	known := false
	for _, folder := range platform.DefinitionFolders() {
		_, there := h.pass.Repo.KustomizeAt(path.Join(folder, t.application, t.version))
		known = known || there
	}
	if !known {
		return nil, "the definition of " + t.application + " " + t.version + " is not in Git"
	}
	for _, d := range h.defined[[2]string{t.application, t.version}] {
		// A variable as name means the name of the release, which is the name of the application or of the AppDeployment.
		if d.Kind == o.Kind && (d.Name == o.Name || platform.Unknown(d.Name) && o.Name == t.application && t.Name == t.application) {
			return d, ""
		}
	}
	return nil, ""
}
