package main

import (
	"bufio"
	"slices"

	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/wanted"
)

// keys returns the public keys that must have signed a chart.
func (w *fetchRun) keys(ask chartref.Ask) []string {
	at := slices.IndexFunc(w.report.Charts, func(c wanted.Chart) bool { return c.Ask == ask })
	if at < 0 {
		return nil
	}
	return w.report.Charts[at].Keys
}

// sourceKeys returns the public keys that must have signed a source of files.
func (w *fetchRun) sourceKeys(ask chartref.Source) []string {
	at := slices.IndexFunc(w.report.Sources, func(s wanted.Source) bool { return s.Ask == ask })
	if at < 0 {
		return nil
	}
	return w.report.Sources[at].Keys
}

// withReason adds the reason why a signature could not be checked, unless it is known already.
func withReason(known []string, more string) []string {
	out := append([]string{}, known...)
	if more != "" && !slices.Contains(out, more) {
		out = append(out, more)
	}
	return out
}

// writeUnverified prints the unchecked signatures, once for each chart and source.
func writeUnverified(out *bufio.Writer, r fetchReport) {
	for _, c := range r.Charts {
		for _, why := range c.Unverified {
			_ = output.Printf(out, "%s: %s%s: unresolved: the signature of chart %s is not checked: %s\n", c.Releases[0].place(), c.Releases[0],
				others(len(c.Releases)-1), output.Line(c.Chart), output.Line(why))
		}
	}
	for _, s := range r.Sources {
		for _, why := range s.Unverified {
			_ = output.Printf(out, "%s: %s%s: unresolved: the signature of %s is not checked: %s\n", s.Objects[0].place(), s.Objects[0],
				others(len(s.Objects)-1), output.Line(s.URL), output.Line(why))
		}
	}
}
