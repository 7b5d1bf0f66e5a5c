package bootstrap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/fluxinstall"
	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// verifyFlux compares each way in which the repository installs Flux with the Flux that the clusters' Kustomizations declare.
// The releases are of the flux-instance chart and have no HelmRelease.
func (j *judge) verifyFlux(files [][]*helmfile.Release, releases []*helmfile.Release) []FluxReport {
	if len(j.Fleet.Clusters) == 0 || !mayInstallFlux(j.Repo, files) {
		return nil
	}
	var charts []fluxinstall.Definition
	for _, r := range releases {
		charts = append(charts, fluxinstall.FromInstance(r.Place, "release "+r.ID(), r.Values.Value.At("instance"), true, r.Values.Unknown))
	}
	f := &fluxinstall.Finder{Index: j.Index}
	known := map[*reconcile.Cluster][]fluxinstall.Definition{}
	var all []FluxReport
	for _, install := range f.Installs(charts) {
		var definitions []fluxinstall.Definition
		for _, c := range install.Clusters {
			if _, done := known[c]; !done {
				known[c] = f.Definitions(c)
			}
			definitions = append(definitions, known[c]...)
		}
		definitions = slices.DeleteFunc(definitions, func(d fluxinstall.Definition) bool { return (d.Sync != nil) != (install.Sync != nil) })
		found := len(definitions)
		if definitions = slices.DeleteFunc(definitions, install.Other); len(definitions) < found && len(definitions) == 0 {
			continue // it installs a Flux of its own, in another namespace
		}
		if len(definitions) == 0 && install.Sync == nil {
			definitions = f.Unapplied(install)
		}
		if len(definitions) > 0 || !install.Written {
			all = append(all, j.judgeFlux(install, definitions))
		}
	}
	sorting.StableFunc(all, func(a, b FluxReport) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return all
}

// judgeFlux returns the verdict on a bootstrap's installation of Flux: compared with the definition that agrees, or else the
// verdict that all definitions lead to.
func (j *judge) judgeFlux(install fluxinstall.Install, definitions []fluxinstall.Definition) FluxReport {
	out := FluxReport{File: install.File, Line: install.Line, Cluster: install.Cluster, Installs: install.What,
		Version: install.Version.Known(), Verdict: Unresolved, Differences: []Difference{}}
	if len(definitions) == 0 {
		out.Reason = "no object that Flux applies declares the cluster's Flux"
		return out
	}
	var first *comparison
	same := true
	for i := range definitions {
		c := j.compareFlux(install, definitions[i])
		if len(c.differences)+len(c.unknown) == 0 {
			out.Verdict, out.Git = Agrees, fmt.Sprintf("%s:%d", definitions[i].File, definitions[i].Line)
			return out
		}
		if first == nil {
			first = c
		}
		same = same && sameDifferences(first.differences, c.differences)
	}
	d := definitions[0]
	if !same {
		out.Reason = fmt.Sprintf("the declaration of Flux at %s:%d differs from others, and it is unknown which one the bootstrap is for", d.File, d.Line)
		return out
	}
	out.Git = fmt.Sprintf("%s:%d", d.File, d.Line)
	open := false
	for _, difference := range first.differences {
		difference.Rule = RuleFluxDrift
		difference.Reason = j.ignored(RuleFluxDrift, "", located.At(difference.Bootstrap.File, difference.Bootstrap.Line), install.Place)
		difference.Ignored = difference.Reason != ""
		open = open || !difference.Ignored
		out.Differences = append(out.Differences, difference)
	}
	switch {
	case open:
		out.Verdict = Drift
	case len(first.unknown) > 0:
		out.Reason = strings.Join(first.unknown, "; ")
	default:
		out.Verdict = Intended
	}
	return out
}

// compareFlux compares the Flux that a bootstrap installs with the one in Git. Of manifests that are not available locally, only
// the version is compared.
func (j *judge) compareFlux(install fluxinstall.Install, d fluxinstall.Definition) *comparison {
	c := &comparison{Engine: j.engine, helmfile: install.File, definition: "bootstrap"}
	c.fluxVersion(install.Definition, d)
	switch a := install.Definition; {
	case a.Sync != nil:
		for _, field := range []string{"kustomization", "source"} {
			x, y := withoutPath(a.Sync.At(field)), withoutPath(d.Sync.At(field))
			c.diff(field, pair{value: x, sure: x}, pair{value: y, sure: y})
		}
	case a.Spec != nil && d.Spec != nil:
		c.instances(a, d)
	case len(a.Components) > 0 && d.Spec != nil:
		c.components(a, d)
	}
	return c
}

// mayInstallFlux reports whether a file of the repository may install Flux outside of the clusters' Kustomizations.
func mayInstallFlux(repo *repository.Repository, files [][]*helmfile.Release) bool {
	return fluxinstall.MayInstall(repo) || slices.ContainsFunc(slices.Concat(files...), func(r *helmfile.Release) bool {
		return helmrelease.ChartName(r.Chart.Value) == fluxinstall.InstanceChart
	})
}
