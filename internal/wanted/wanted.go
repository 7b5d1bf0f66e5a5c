// Package wanted lists the charts that the HelmReleases of clusters and the releases of bootstraps request from sources
// on the network, and the sources of files that clusters use, with their entries in the lock and whether the cache
// contains them.
package wanted

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/fleetwright/fleetwright/internal/cache"
	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/lock"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Report lists the charts and sources that clusters use.
type Report struct {
	// Charts in the order of the lock.
	Charts []Chart
	// Unfetchable are the releases whose charts are not available and cannot be fetched.
	Unfetchable []Release
	// Stale are the entries of the lock that no release requests.
	Stale []lock.Chart

	// Sources of files, in the order of the lock.
	Sources []Source
	// Unavailable are the users of sources that are not available and cannot be fetched.
	Unavailable []User
	// StaleSources are the entries of the lock that no cluster uses.
	StaleSources []lock.Source
}

// Chart is a chart that releases request.
type Chart struct {
	Ask chartref.Ask
	// Locked is the entry in the lock, nil if there is none; Cached is set if the cache contains it.
	Locked *lock.Chart
	Cached bool
	// Releases that use it.
	Releases []Release
	// Keys are sets of public keys: one key of each set must have signed the chart. Unverifiable is why other signatures
	// are not checked.
	Keys, Unverifiable []string
}

// Release is a HelmRelease of a cluster, or a release of a bootstrap.
type Release struct {
	Cluster, Namespace, Name, File string
	Line                           int
	Bootstrap                      bool
	// Reason is why its chart cannot be fetched.
	Reason string
}

// Of returns the charts and sources that some clusters of a fleet, by name or path, and their bootstraps use; without
// names, those of all clusters.
func Of(fleet *reconcile.Fleet, bootstraps []Bootstrapped, clusters []string, known *lock.Lock, in *cache.Cache) *Report {
	r := &Report{}
	g := &gathering{report: r, users: map[chartref.Source][]User{}, asked: map[chartref.Source]bool{},
		releases: map[chartref.Ask][]Release{}, charts: map[chartref.Ask]bool{},
		verify: map[chartref.Ask][]*reconcile.Verification{}, verifySources: map[chartref.Source][]*reconcile.Verification{}}
	for _, c := range fleet.Clusters {
		chosen := len(clusters) == 0 || slices.ContainsFunc(clusters, c.Is)
		g.takeSources(c, chosen)
		for _, release := range c.Releases {
			o := release.Object
			one := Release{Cluster: c.Name, Namespace: o.Namespace, Name: o.Name, File: o.File, Line: o.Line, Reason: release.Unfetchable}
			if release.Wanted != nil {
				g.charts[*release.Wanted] = true
			}
			switch {
			case !chosen:
			case release.Wanted != nil:
				g.verify[*release.Wanted] = append(g.verify[*release.Wanted], release.Verify)
				g.releases[*release.Wanted] = append(g.releases[*release.Wanted], one)
			case release.Chart == "" && release.Unfetchable != "":
				r.Unfetchable = append(r.Unfetchable, one)
			}
		}
	}
	g.takeBootstraps(bootstraps, clusters, fleet)
	for ask, releases := range g.releases {
		chart := Chart{Ask: ask, Releases: releases}
		chart.Keys, chart.Unverifiable = verifications(g.verify[ask])
		if entry, found := known.Find(ask); found {
			_, err := in.Read(entry.SHA256)
			chart.Locked, chart.Cached = &entry, err == nil
		}
		sorting.Func(chart.Releases, compare)
		r.Charts = append(r.Charts, chart)
	}
	sorting.Func(r.Charts, func(a, b Chart) int { return chartref.Compare(a.Ask, b.Ask) })
	sorting.Func(r.Unfetchable, compare)
	g.finishSources(known, in)
	for _, entry := range known.Charts {
		if !g.charts[entry.Ask] {
			r.Stale = append(r.Stale, entry)
		}
	}
	return r
}

// gathering is a report under construction.
type gathering struct {
	report *Report
	users  map[chartref.Source][]User
	asked  map[chartref.Source]bool
	// releases are the releases that request each chart; charts are all charts that any release requests.
	releases map[chartref.Ask][]Release
	charts   map[chartref.Ask]bool
	// verify and verifySources are the required signatures.
	verify        map[chartref.Ask][]*reconcile.Verification
	verifySources map[chartref.Source][]*reconcile.Verification
}

// verifications returns the keys of signatures that are checked, and why others are not.
func verifications(all []*reconcile.Verification) (keys, unverifiable []string) {
	for _, v := range all {
		switch {
		case v == nil:
		case v.Keys != "":
			keys = append(keys, v.Keys)
		default:
			unverifiable = append(unverifiable, v.Unverifiable)
		}
	}
	slices.Sort(keys)
	slices.Sort(unverifiable)
	return slices.Compact(keys), slices.Compact(unverifiable)
}

func compare(a, b Release) int {
	return cmp.Or(boolean(a.Bootstrap)-boolean(b.Bootstrap), cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

var odd = regexp.MustCompile(`[^A-Za-z0-9._+-]`)

// FileName returns the name that Helm uses for the archive of a chart.
func FileName(archive []byte, entry lock.Chart) string {
	name, version, err := charts.Check(archive)
	if err != nil {
		name, version = entry.Name(), entry.Resolved
	}
	return odd.ReplaceAllString(name, "_") + "-" + odd.ReplaceAllString(version, "_") + ".tgz"
}
