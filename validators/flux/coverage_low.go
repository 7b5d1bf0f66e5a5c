package flux

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// leastCoverage is the share, in percent, below which the coverage is reported as low.
const leastCoverage = 50

// fewReleases is the number of HelmReleases without any Kustomization from which on they count as a repository, not as
// files that a user checks individually.
const fewReleases = 3

// CoverageLow is graph-coverage-low.
var CoverageLow = rule.Rule{
	ID:       "graph-coverage-low",
	Title:    "a repository of which less than half is built",
	Severity: finding.Warning,
	Why: `Files that no build reaches are only parsed: their patches, variables, references and charts are not checked, and a
report without errors says nothing about them. Either the cluster does not apply them either, such as after a folder was
renamed, or Fleetwright does not see what applies them.

The rule counts the Kustomizations that are built and the HelmReleases that a build applies, of all that are in files or
come out of builds. A Kustomization whose source is another repository is built once that source is fetched, or passed
with --source; it does not count if it has a serviceAccountName, since a tenant's repository is checked there. Files in
folders of archives, templates, examples and tests count only where a build applies them; docs/validate.md lists the
names of these folders.`,
	Fix: `The message names the causes, the most frequent first: pass the folder that a cluster syncs with --root, the
checkout of another source with --source, or list in a kustomization.yaml the files that the cluster should apply.
"fleetwright validate --coverage" lists each object with its cause.`,
	Run: func(p *rule.Pass) {
		c := p.Coverage()
		if p.Whole().Partial() || !isLow(c.Covered, platform.Deployed.Of(p), tenants(p)) {
			return
		}
		causes := make([]string, 0, len(c.Causes))
		hint := "--coverage lists them"
		for _, cause := range c.Causes {
			if cause.Kustomizations == 0 && cause.Cause == coverageOfCharts {
				continue // they are applied
			}
			if len(causes) == 0 && cause.Hint != "" {
				hint = cause.Hint + "; " + hint
			}
			causes = append(causes, cause.String())
		}
		if off := c.Off(); off != "" {
			causes = append(causes, off+": switched off, listed in comments only")
		}
		f := finding.Finding{Hint: hint, Message: "less than half of the repository is built: " + share(c.Covered) + ": " + strings.Join(causes, "; ")}
		if len(c.Unreached) > 0 {
			f.File, f.Line = c.Unreached[0].File, c.Unreached[0].Line
		}
		if clusters := p.Clusters(); len(clusters) > 0 {
			root := clusters[0].Root
			f.Place = root.Place
		}
		p.Report(f)
	},
}

// withSwitchedOff counts the objects that are commented out as found.
func withSwitchedOff(c finding.Covered) finding.Covered {
	c.Kustomizations.Found += c.Kustomizations.SwitchedOff
	c.HelmReleases.Found += c.HelmReleases.SwitchedOff
	return c
}

// share returns how many of the Kustomizations and HelmReleases are built or applied, of those found and commented out.
func share(c finding.Covered) string {
	c = withSwitchedOff(c)
	releases := fmt.Sprintf("%d of %s", c.HelmReleases.Applied, finding.Count(c.HelmReleases.Found, "HelmRelease"))
	if c.Kustomizations.Found == 0 {
		return "no Kustomization, and " + releases
	}
	built := fmt.Sprintf("%d of %s", c.Kustomizations.Built, finding.Count(c.Kustomizations.Found, "Kustomization"))
	if c.HelmReleases.Found == 0 {
		return built
	}
	return built + ", which apply " + releases
}

// isLow reports whether less than half of the found Kustomizations and HelmReleases are built. It does not
// count objects in the application definitions of a platform, which the platform applies, nor tenants' Kustomizations whose
// source is another repository. It does count objects that are commented out.
func isLow(c finding.Covered, deployed platform.Definitions, tenants map[account]bool) bool {
	c = withSwitchedOff(c)
	for _, u := range c.Unreached {
		held := deployed.InCatalog(u.File)
		switch {
		case u.Object.Kind == kustomizationKind && (held || u.Cause == coverageOfSources && tenants[account{u.Object.Namespace, u.Object.Name}]):
			c.Kustomizations.Found--
		case u.Object.Kind == helmReleaseKind && held && u.Cause != coverageOfCharts:
			c.HelmReleases.Found--
		}
	}
	return (c.Kustomizations.Found > 0 || c.HelmReleases.Found >= fewReleases) && c.Percent() < leastCoverage
}

// tenants returns the Kustomizations that apply with a service account of their own, except those of a folder of this
// repository below a top folder: a tenant's repository may have a top folder of the same name.
func tenants(p *rule.Pass) map[account]bool {
	all := map[account]bool{}
	for _, c := range p.Clusters() {
		for _, k := range c.Kustomizations {
			at := repository.Clean(k.Spec.Path)
			if own := strings.Contains(at, "/") && roots.Has(p.Repo, at); k.Spec.ServiceAccountName != "" && !own {
				all[account{k.Namespace, k.Name}] = true
			}
		}
	}
	return all
}

const (
	// coverageOfCharts is the cause for HelmReleases that a build applies but whose chart is not available
	// locally.
	coverageOfCharts = "chart-not-available"
	// coverageOfSources is the cause for Kustomizations whose source is another repository.
	coverageOfSources = "source-not-available"
)
