package main

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/fleetwright/fleetwright/internal/fetch"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/lock"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/wanted"
)

// fetchReport is the JSON output of fetch. Fields may be added and are never renamed; lists are never null.
type fetchReport struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Charts     []fetchedChart `json:"charts"`
	// Unfetchable are the releases whose charts cannot be fetched.
	Unfetchable []fetchRelease `json:"unfetchable"`
	Stale       []fetchedChart `json:"stale"`
	// Sources are sources of files, such as GitRepositories. Unavailable are the sources that cannot be fetched, and
	// StaleSources the sources in the lock that no cluster uses.
	Sources      []fetchedSource `json:"sources"`
	Unavailable  []fetchUser     `json:"unavailable"`
	StaleSources []fetchedSource `json:"staleSources"`
	Summary      fetchSummary    `json:"summary"`
}

type fetchedChart struct {
	Chart    string         `json:"chart"`
	URL      string         `json:"url"`
	Asked    string         `json:"asked"`
	Status   string         `json:"status"`
	Version  string         `json:"version"`
	Manifest string         `json:"manifest"`
	Digest   string         `json:"digest"`
	Was      string         `json:"was"`
	Reason   string         `json:"reason"`
	Releases []fetchRelease `json:"releases"`
	// Unverified are the reasons why requested signatures are not checked.
	Unverified []string `json:"unverified"`
}

type fetchRelease struct {
	Cluster   string `json:"cluster"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	File      string `json:"file"`
	Line      int    `json:"line"`
	// Bootstrap is set for a release of a bootstrap, and not for a HelmRelease.
	Bootstrap bool   `json:"bootstrap,omitempty"`
	Reason    string `json:"reason"`
}

// String names the release.
func (r fetchRelease) String() string {
	if r.Bootstrap {
		return fmt.Sprintf("release %s/%s of the bootstrap", output.Line(r.Namespace), output.Line(r.Name))
	}
	return fmt.Sprintf("HelmRelease %s/%s", output.Line(r.Namespace), output.Line(r.Name))
}

// place returns the position of the release, for messages.
func (r fetchRelease) place() string {
	return position(finding.Place{File: output.Line(r.File), Line: r.Line})
}

type fetchSummary struct {
	Charts      int `json:"charts"`
	Sources     int `json:"sources"`
	Fetched     int `json:"fetched"`
	Cached      int `json:"cached"`
	Missing     int `json:"missing"`
	Failed      int `json:"failed"`
	Unlocked    int `json:"unlocked"`
	Stale       int `json:"stale"`
	Unfetchable int `json:"unfetchable"`
}

// The statuses of charts that were not requested from the network.
const (
	statusMissing  = "missing"  // in the lock, and not in the cache
	statusUnlocked = "unlocked" // not in the lock
)

// print prints the report. With check, missing and unused entries of the lock are differences.
func (w *fetchRun) print(check bool) error {
	report := w.newReport()
	var err error
	if w.format == formatJSON {
		err = writeJSON(w.s.out, report)
	} else {
		err = w.writeText(report, check)
	}
	sum := report.Summary
	if err == nil && (sum.Failed+sum.Unfetchable > 0 && !check || check && sum.Unlocked+sum.Stale > 0) {
		return findingsStatus()
	}
	return err
}

func (w *fetchRun) newReport() fetchReport {
	r := fetchReport{APIVersion: "fleetwright.dev/v1alpha1", Kind: "FetchReport", Charts: []fetchedChart{}, Stale: []fetchedChart{}}
	for _, c := range w.report.Charts {
		one := newFetchedChart(lock.Chart{Ask: c.Ask})
		one.Status = statusUnlocked
		if c.Locked != nil {
			one.resolve(*c.Locked)
			if one.Status = statusMissing; c.Cached {
				one.Status = string(fetch.Cached)
			}
		}
		if o, done := w.done[c.Ask]; done {
			one.Status = string(o.Status)
			if o.Err != nil {
				one.Reason = o.Err.Error()
			} else {
				one.resolve(o.Entry)
			}
			if o.Was != nil {
				one.Was = cmp.Or(o.Was.Resolved, o.Was.SHA256)
			}
		}
		one.Releases, one.Unverified = newFetchReleases(c.Releases), withReason(c.Unverifiable, w.done[c.Ask].Unverified)
		r.Charts = append(r.Charts, one)
		r.Summary.count(one.Status)
	}
	r.Unfetchable = newFetchReleases(w.report.Unfetchable)
	r.Summary.Charts, r.Summary.Unfetchable = len(r.Charts), len(r.Unfetchable)
	w.addSources(&r)
	w.addStale(&r)
	return r
}

// addStale adds the unused entries of the lock. It adds nothing if the cache lacks a source, because objects in that
// source may use them.
func (w *fetchRun) addStale(r *fetchReport) {
	if w.done != nil || slices.ContainsFunc(r.Sources, func(s fetchedSource) bool { return s.Status == statusMissing }) {
		return
	}
	for _, entry := range w.report.Stale {
		one := newFetchedChart(entry)
		one.resolve(entry)
		r.Stale = append(r.Stale, one)
	}
	for _, entry := range w.report.StaleSources {
		r.StaleSources = append(r.StaleSources, newFetchedSource(entry))
	}
	r.Summary.Stale = len(r.Stale) + len(r.StaleSources)
}

func (s *fetchSummary) count(status string) {
	switch status {
	case string(fetch.Fetched):
		s.Fetched++
	case string(fetch.Cached):
		s.Cached++
	case string(fetch.Failed):
		s.Failed++
	case statusMissing:
		s.Missing++
	case statusUnlocked:
		s.Unlocked++
	}
}

func newFetchedChart(c lock.Chart) fetchedChart {
	return fetchedChart{Chart: c.Name(), URL: c.URL, Asked: c.Wants(), Releases: []fetchRelease{}, Unverified: []string{}}
}

// resolve records what a chart resolved to.
func (c *fetchedChart) resolve(entry lock.Chart) {
	c.Version, c.Manifest, c.Digest = entry.Resolved, entry.Manifest, entry.SHA256
}

func newFetchReleases(all []wanted.Release) []fetchRelease {
	out := make([]fetchRelease, 0, len(all))
	for _, r := range all {
		out = append(out, fetchRelease{r.Cluster, r.Namespace, r.Name, r.File, r.Line, r.Bootstrap, r.Reason})
	}
	return out
}

// writeText prints the charts as a table, then the problems, then the summary.
func (w *fetchRun) writeText(r fetchReport, check bool) error {
	out := bufio.NewWriter(w.s.out)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(r.Charts) > 0 {
		_ = output.Printf(table, "CHART\tASKED\tRESOLVED\tSTATUS\tSOURCE\n")
	}
	for _, c := range r.Charts {
		version := cmp.Or(c.Version, "-")
		if c.Was != "" && c.Was != c.Version {
			version = c.Was + " → " + version
		}
		_ = output.Printf(table, "%s\t%s\t%s\t%s\t%s\n", output.Line(c.Chart), output.Line(c.Asked), output.Line(version), c.Status, output.Line(c.URL))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if err := writeSources(out, r.Sources); err != nil {
		return err
	}
	for _, c := range r.Charts {
		if c.Reason != "" {
			_ = output.Printf(out, "%s: %s%s: chart %s is not fetched: %s\n", c.Releases[0].place(), c.Releases[0], others(len(c.Releases)-1),
				output.Line(c.Chart), output.Line(c.Reason))
			if strings.HasPrefix(c.Reason, "the lock has ") {
				_ = output.Printf(out, "  hint: somebody replaced the version in the source; if that is intended, run fleetwright fetch --update=%s\n", output.Line(c.Chart))
			}
		}
	}
	for _, u := range r.Unfetchable {
		_ = output.Printf(out, "%s: %s: its chart is not fetched: %s\n", u.place(), u, output.Line(u.Reason))
	}
	writeSourceFailures(out, r)
	writeUnverified(out, r)
	if check {
		w.printDifferences(out, r)
	}
	_ = output.Printf(out, "%s\n", r.Summary.text())
	if n := w.removed.Files; n > 0 {
		_ = output.Printf(out, "removed from the cache: %s, %.1f MB\n", finding.Count(n, "archive"), float64(w.removed.Bytes)/(1<<20))
	}
	return out.Flush()
}

// printDifferences prints the missing and the unused entries of the lock.
func (w *fetchRun) printDifferences(out *bufio.Writer, r fetchReport) {
	for _, c := range r.Charts {
		if c.Status == statusUnlocked {
			_ = output.Printf(out, "%s: %s%s: the lock does not name chart %s, %s\n", c.Releases[0].place(), c.Releases[0], others(len(c.Releases)-1),
				output.Line(c.Chart), output.Line(c.Asked))
		}
	}
	for _, c := range r.Stale {
		_ = output.Printf(out, "%s: no release uses chart %s, %s, of %s\n", lock.File, output.Line(c.Chart), output.Line(c.Asked), output.Line(c.URL))
	}
	printSourceDifferences(out, r)
	if r.Summary.Unlocked+r.Summary.Stale > 0 {
		_ = output.Printf(out, "  hint: run fleetwright fetch, and commit %s\n", lock.File)
	}
}

func others(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// text returns the summary, such as "5 charts: 3 fetched, 2 cached".
func (s fetchSummary) text() string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{s.Fetched, "fetched"}, {s.Cached, "cached"}, {s.Missing, "not in the cache"}, {s.Unlocked, "not locked"}, {s.Failed, "failed"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	text := finding.Count(s.Charts, "chart")
	if s.Sources > 0 {
		text += " and " + finding.Count(s.Sources, "source")
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if s.Unfetchable > 0 {
		text += fmt.Sprintf("; %d that cannot be fetched", s.Unfetchable)
	}
	if s.Stale > 0 {
		text += fmt.Sprintf("; %d in the lock that nothing uses", s.Stale)
	}
	return text
}
