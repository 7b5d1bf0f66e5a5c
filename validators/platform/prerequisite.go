package platform

import (
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/beside"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Prerequisite is what a product needs on its cluster, and how a repository shows that it comes there.
type Prerequisite struct {
	// Groups of the kinds that it defines.
	Groups []string
	// Chart is the name of the one that installs it.
	Chart string
	// Words by which scripts, bootstraps and texts speak of it, or of what installs it.
	Words []string
	// Brings says of an object that it installs it in another way; it may be nil.
	Brings func(*reconcile.Object) bool
}

// CertManager is cert-manager, which the installers of DKP and NKP bring to the clusters that they make.
var CertManager = Prerequisite{Groups: []string{"cert-manager.io"}, Chart: "cert-manager", Words: []string{"cert-manager", "konvoy", "dkp", "nkp"}}

// Lacks says whether nothing in the repository shows that a prerequisite comes to the cluster.
func (w *World) Lacks(p *rule.Pass, of Prerequisite) bool {
	if w.Cluster == nil {
		return false // nothing says what is installed together
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
	return len(beside.Speaking(p.Repo, words, true)) == 0
}

// Chart is the name of the chart that a HelmRelease installs, "" where that isn't known, or it is none.
func (w *World) Chart(o *reconcile.Object) string {
	if o.Group != fluxapi.HelmGroup || o.Kind != "HelmRelease" {
		return ""
	}
	return o.ChartName(func(id reconcile.Identity) *reconcile.Object { return w.All[id] })
}

// ReportLacking reports at a path of an object that something is lacking, or leaves the question open
// where not all that the cluster gets is known.
func (w *World) ReportLacking(p *rule.Pass, o *reconcile.Object, f finding.Finding, question string, path ...any) {
	if w.Partial == "" {
		p.ReportBuilt(o, f, path...)
		return
	}
	file, line, _ := o.Position(path...)
	p.UnresolvedFor(file, line, question, w.Partial)
}
