package flux

import (
	"cmp"
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// StorageNamespace is flux-storage-namespace.
var StorageNamespace = rule.Rule{
	ID:       "flux-storage-namespace",
	Title:    "HelmReleases that overwrite each other's Helm release, or store it in an unexpected namespace",
	Severity: finding.Error,
	Why: `Helm stores a release in Secrets that are named after the release. helm-controller stores them in
spec.storageNamespace, by default the HelmRelease's own namespace, even if spec.targetNamespace installs the
workloads in another namespace.

Two HelmReleases with the same release name and storage namespace therefore share one record, whatever their
target namespaces are. Each treats the other's release as its own, upgrades it to its own chart and removes the
objects of the other (fluxcd/helm-controller#1348). That is an error.

A HelmRelease with a targetNamespace and without a storageNamespace is reported as info: "helm list" in the
target namespace does not show the release, and if a bootstrap installed the release with Helm, Flux installs a
second one.`,
	Fix: `Use different release names, or set spec.storageNamespace of each to its target namespace.

A change of releaseName or storageNamespace uninstalls an installed release and installs it again.`,
	Run: func(p *rule.Pass) { each(p, func(w *world) { w.storage(p) }) },
}

// release is the key by which Helm identifies a release.
type release struct{ namespace, name string }

func (w *world) storage(p *rule.Pass) {
	first := map[release]*reconcile.Object{}
	for _, o := range w.applied {
		if !isHelmRelease(o) || field(o.Value, "spec", "kubeConfig") != nil {
			continue
		}
		spec := o.Value["spec"]
		target, storage := text(spec, "targetNamespace"), text(spec, "storageNamespace")
		r := release{cmp.Or(storage, o.Namespace), text(spec, "releaseName")}
		if r.name == "" {
			r.name = o.Name
			if target != "" {
				r.name = target + "-" + o.Name
			}
		}
		if unknown(r.name) || unknown(r.namespace) || r.namespace == "" {
			continue
		}
		other := first[r]
		switch {
		case other == nil:
			first[r] = o
		case other.Identity != o.Identity:
			w.reportShared(p, r, o, other)
		}
		if storage == "" && target != "" && target != o.Namespace && !unknown(target) {
			p.ReportBuilt(o, finding.Finding{Severity: finding.Info,
				Message: fmt.Sprintf("%s installs into namespace %q but stores its Helm release in %q, where helm does not look for it", o, target, o.Namespace),
				Hint:    fmt.Sprintf("set storageNamespace: %s before it is first installed", target)}, "spec", "targetNamespace")
		}
	}
}

func (w *world) reportShared(p *rule.Pass, r release, o, other *reconcile.Object) {
	path := []any{"spec", "releaseName"}
	if text(o.Value, "spec", "storageNamespace") != "" && text(o.Value, "spec", "releaseName") == "" {
		path = []any{"spec", "storageNamespace"}
	}
	p.ReportBuilt(o, finding.Finding{
		Message: fmt.Sprintf("%s has the same release name %q and storage namespace %q as %s (%s): each overwrites the release of the other",
			o, r.name, r.namespace, other, other.Position("spec", "releaseName").Short()),
		Hint: "set another releaseName, or set storageNamespace to its target namespace",
	}, path...)
}
