package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/fetch"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/lock"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/wanted"
)

// fetchSources fetches the wanted sources of files into a lock. It returns whether their content may want more.
func (w *fetchRun) fetchSources(ctx context.Context, trusted map[string]bool, next *lock.Lock) (more bool, err error) {
	if w.gotten == nil {
		w.gotten = map[chartref.Source]fetch.SourceOutcome{}
	}
	var asks []chartref.Source
	for _, s := range w.report.Sources {
		switch o, done := w.gotten[s.Ask]; {
		case done && (o.Err != nil || o.Checked == len(s.Keys)):
		case w.base != "" && !trusted[hostname(s.Ask.Host())]:
			w.gotten[s.Ask] = fetch.SourceOutcome{Ask: s.Ask, Status: fetch.Failed, Err: w.refused(s.Ask.Host())}
		default:
			asks = append(asks, s.Ask)
		}
	}
	p := startProgress(w.s, "fetching", "sources")
	defer p.stop()
	outcomes := fetch.Sources(ctx, asks, w.options(trusted, p.note))
	for _, o := range outcomes {
		w.gotten[o.Ask] = o
		if o.Err == nil {
			next.PutSource(o.Entry)
			more = more || o.Status == fetch.Fetched || o.Was != nil || !slices.Contains(w.lock.Sources, o.Entry)
		}
	}
	return more, ctx.Err()
}

// refused returns the error for a host that the base revision does not use.
func (w *fetchRun) refused(host string) error {
	return fmt.Errorf("the host %s is not used at %s; pass --allow-host %s", host, w.base, hostname(host))
}

// updatesSource reports whether a source of files is resolved again: --update names its repository or an object that uses
// it.
func (w *fetchRun) updatesSource(ask chartref.Source) bool {
	if slices.Contains(w.update, "*") || slices.Contains(w.update, path.Base(ask.Short())) || slices.Contains(w.update, ask.Short()) {
		return true
	}
	for _, s := range w.report.Sources {
		if s.Ask != ask {
			continue
		}
		return slices.ContainsFunc(s.By, func(u wanted.User) bool {
			_, name, _ := strings.Cut(u.Object, " ")
			return slices.Contains(w.update, name)
		})
	}
	return false
}

// fetchedSource is a source of files in the report.
type fetchedSource struct {
	Kind     string      `json:"kind"`
	URL      string      `json:"url"`
	Asked    string      `json:"asked"`
	Status   string      `json:"status"`
	Revision string      `json:"revision"`
	Digest   string      `json:"digest"`
	Was      string      `json:"was"`
	Reason   string      `json:"reason"`
	Objects  []fetchUser `json:"objects"`
	// Unverified are the reasons why requested signatures are not checked.
	Unverified []string `json:"unverified"`
}

// fetchUser is an object, or an entry of a kustomization, that uses a source of files.
type fetchUser struct {
	Cluster string `json:"cluster"`
	Object  string `json:"object"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Field   string `json:"field,omitempty"`
	Reason  string `json:"reason"`
}

// String names the object, or the entry of the kustomizations that the object builds.
func (u fetchUser) String() string {
	if u.Field == "" {
		return output.Line(u.Object)
	}
	return fmt.Sprintf("an entry under %s of %s", output.Line(u.Field), output.Line(u.Object))
}

func (u fetchUser) place() string {
	return position(finding.Place{File: output.Line(u.File), Line: u.Line})
}

func newFetchUsers(all []wanted.User) []fetchUser {
	out := make([]fetchUser, 0, len(all))
	for _, u := range all {
		out = append(out, fetchUser(u))
	}
	return out
}

func newFetchedSource(entry lock.Source) fetchedSource {
	return fetchedSource{Kind: entry.Kind, URL: entry.URL, Asked: entry.Wants(), Revision: entry.Revision, Digest: entry.SHA256, Objects: []fetchUser{}, Unverified: []string{}}
}

// addSources adds the sources of files to a report.
func (w *fetchRun) addSources(r *fetchReport) {
	r.Sources, r.StaleSources, r.Unavailable = []fetchedSource{}, []fetchedSource{}, newFetchUsers(w.report.Unavailable)
	for _, s := range w.report.Sources {
		one := newFetchedSource(lock.Source{Source: s.Ask})
		one.Status = statusUnlocked
		if s.Locked != nil {
			one = newFetchedSource(*s.Locked)
			if one.Status = statusMissing; s.Cached {
				one.Status = string(fetch.Cached)
			}
		}
		if o, done := w.gotten[s.Ask]; done {
			if o.Err == nil {
				one = newFetchedSource(o.Entry)
			} else {
				one.Reason = o.Err.Error()
			}
			one.Status = string(o.Status)
			if o.Was != nil {
				one.Was = cmp.Or(o.Was.Revision, o.Was.SHA256)
			}
		}
		one.Objects, one.Unverified = newFetchUsers(s.By), withReason(s.Unverifiable, w.gotten[s.Ask].Unverified)
		r.Sources = append(r.Sources, one)
		r.Summary.count(one.Status)
	}
	r.Summary.Sources = len(r.Sources)
	r.Summary.Unfetchable += len(r.Unavailable)
}

// brief shortens the digest in a revision to a length that a person can compare.
func brief(revision string) string {
	name, digest, found := strings.Cut(revision, "@")
	if !found {
		name, digest = "", revision
	}
	if kind, hash, ok := strings.Cut(digest, ":"); ok && len(hash) > 12 {
		digest = kind + ":" + hash[:12]
	}
	if found {
		return name + "@" + digest
	}
	return digest
}

// writeSources prints the sources of files as a table, then their problems.
func writeSources(out *bufio.Writer, all []fetchedSource) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(all) > 0 {
		_ = output.Printf(table, "SOURCE\tASKED\tRESOLVED\tSTATUS\n")
	}
	for _, s := range all {
		revision := cmp.Or(brief(s.Revision), brief(s.Digest), "-")
		if s.Was != "" && s.Was != s.Revision {
			revision = brief(s.Was) + " → " + revision
		}
		_ = output.Printf(table, "%s\t%s\t%s\t%s\n", output.Line(s.URL), output.Line(s.Asked), output.Line(revision), s.Status)
	}
	return table.Flush()
}

// writeSourceFailures prints why sources of files are not fetched.
func writeSourceFailures(out *bufio.Writer, r fetchReport) {
	for _, s := range r.Sources {
		if s.Reason == "" {
			continue
		}
		_ = output.Printf(out, "%s: %s%s: %s is not fetched: %s\n", s.Objects[0].place(), s.Objects[0], others(len(s.Objects)-1),
			output.Line(s.URL), output.Line(s.Reason))
		if strings.HasPrefix(s.Reason, "the lock has ") {
			_ = output.Printf(out, "  hint: somebody moved the tag or replaced the content; if that is intended, run fleetwright fetch --update=%s\n", output.Line(path.Base(s.URL)))
		}
	}
	for _, u := range r.Unavailable {
		_ = output.Printf(out, "%s: %s is not fetched: %s\n", u.place(), u, output.Line(u.Reason))
	}
}

// printSourceDifferences prints the missing and the unused sources of files in the lock.
func printSourceDifferences(out *bufio.Writer, r fetchReport) {
	for _, s := range r.Sources {
		if s.Status == statusUnlocked {
			_ = output.Printf(out, "%s: %s%s: the lock does not name %s, %s\n", s.Objects[0].place(), s.Objects[0], others(len(s.Objects)-1),
				output.Line(s.URL), output.Line(s.Asked))
		}
	}
	for _, s := range r.StaleSources {
		_ = output.Printf(out, "%s: nothing uses %s, %s\n", lock.File, output.Line(s.URL), output.Line(s.Asked))
	}
}
