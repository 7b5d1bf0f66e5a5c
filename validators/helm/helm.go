// Package helm holds the rules about the objects that HelmReleases render. They check the charts that are
// available locally: in the repository, or in a folder of charts.
package helm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// unresolved collects questions, so that a question that many HelmReleases share is reported once.
type unresolved struct {
	reasons []string
	first   map[string]*reconcile.Object
	more    map[string]int
}

func (u *unresolved) add(o *reconcile.Object, reason string) {
	if u.first == nil {
		u.first, u.more = map[string]*reconcile.Object{}, map[string]int{}
	}
	if u.first[reason] == nil {
		u.first[reason] = o
		u.reasons = append(u.reasons, reason)
		return
	}
	if first := u.first[reason]; first.File != o.File || first.Line != o.Line {
		u.more[reason]++
	}
}

func (u *unresolved) report(p *rule.Pass) {
	for _, reason := range u.reasons {
		o := u.first[reason]
		text := fmt.Sprintf("%s: %s", o, reason)
		if n := u.more[reason]; n > 0 {
			text = fmt.Sprintf("%s and %s: %s", o, finding.Count(n, "more HelmRelease"), reason)
		}
		p.Unresolved(o.Place, oneLine(text))
	}
}

// missing reports, in one message, the HelmReleases whose charts are not available locally.
func missing(p *rule.Pass, releases []*reconcile.Release) {
	if len(releases) == 0 {
		return
	}
	const shown = 3
	var names []string
	for _, r := range releases {
		if name := r.Object.String(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	text := strings.Join(names[:min(len(names), shown)], ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	text += ": not rendered and not checked: the chart is not available locally; run fleetwright fetch, or pass --charts DIR with a folder of charts"
	p.Unresolved(releases[0].Object.Place, text)
}

// oneLine returns the message of a chart on one line, truncated if it is long.
func oneLine(text string) string {
	const most = 400
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
