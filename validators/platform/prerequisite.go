package platform

import (
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/otherfiles"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Prerequisite is a component that a product needs on its cluster, and how a repository shows that it is
// installed.
type Prerequisite struct {
	// Groups are the API groups of the kinds that it defines.
	Groups []string
	// Chart is the name of the chart that installs it.
	Chart string
	// Words are the words by which scripts, bootstraps and other texts mention it, or mention its installer.
	Words []string
	// Brings reports whether an object installs it in another way; it may be nil.
	Brings func(*reconcile.Object) bool
}

// CertManager is cert-manager, which the installers of DKP and NKP install on the clusters that they create.
var CertManager = Prerequisite{Groups: []string{"cert-manager.io"}, Chart: "cert-manager", Words: []string{"cert-manager", "konvoy", "dkp", "nkp"}}

// Lacks reports whether nothing in the repository shows that a prerequisite is installed on the cluster.
func (w *ManagementCluster) Lacks(p *rule.Pass, of Prerequisite) bool {
	if w.Cluster == nil {
		return false // no file shows which components are installed together
	}
	defines := func(o *reconcile.Object) bool {
		return o.Kind == "CustomResourceDefinition" && slices.Contains(of.Groups, o.Text("spec", "group"))
	}
	for _, o := range w.Objects {
		if defines(o) || w.Chart(o) == of.Chart || of.Brings != nil && of.Brings(o) {
			return false
		}
	}
	for _, release := range w.Cluster.Releases {
		if slices.ContainsFunc(release.All(), defines) {
			return false
		}
	}
	words := map[string]bool{}
	for _, word := range slices.Concat(of.Words, of.Groups) {
		words[word] = true
	}
	return len(otherfiles.Mentions(p.Repo, words, true)) == 0
}

// Chart returns the name of the chart that a HelmRelease installs. It returns "" if that is unknown, or if the
// object is not a HelmRelease.
func (w *ManagementCluster) Chart(o *reconcile.Object) string {
	if o.Group != fluxapi.HelmGroup || o.Kind != "HelmRelease" {
		return ""
	}
	return o.ChartName(func(id reconcile.Identity) *reconcile.Object { return w.All[id] })
}

// ReportLacking reports, at a path of an object, that something is missing. If not all objects of the cluster
// are known, it reports the question as unresolved instead.
func (w *ManagementCluster) ReportLacking(p *rule.Pass, o *reconcile.Object, f finding.Finding, question string, path ...any) {
	if w.Partial == "" {
		p.ReportBuilt(o, f, path...)
		return
	}
	p.UnresolvedFor(o.Position(path...), question, w.Partial)
}
