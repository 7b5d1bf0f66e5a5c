// Package bootstrap holds the rules that compare what a bootstrap installs with
// the HelmReleases in Git. All of them draw from one comparison, which
// internal/bootstrap makes.
package bootstrap

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// comparison of all bootstrap files with the HelmReleases; its report is nil
// where the repository has no bootstrap.
var comparison = &rule.Analysis[compared]{Name: "bootstrap", RunPass: func(p *rule.Pass) compared {
	report, err := bootstrap.Verify(p.Context, p.Repo, p.Fleet())
	if errors.Is(err, bootstrap.ErrNoBootstrap) {
		err = nil
	}
	return compared{report, err}
}}

type compared struct {
	report *bootstrap.Report
	err    error
}

// releases of the pass's cluster. A bootstrap that belongs to no cluster counts
// for every one.
func releases(p *rule.Pass) []bootstrap.ReleaseReport {
	c := comparison.Of(p)
	if c.err != nil {
		// The context has ended, which the run reports, or a file went away.
		p.Unresolved("", 0, "the bootstrap could not be read: "+c.err.Error())
		return nil
	}
	if c.report == nil {
		return nil
	}
	var own []bootstrap.ReleaseReport
	for _, r := range c.report.Releases {
		if p.Cluster == "" || r.Cluster == "" || r.Cluster == p.Cluster {
			own = append(own, r)
		}
	}
	return own
}

// orderProblems are those of the pass's cluster.
func orderProblems(p *rule.Pass) []bootstrap.OrderProblem {
	c := comparison.Of(p)
	if c.err != nil || c.report == nil {
		return nil // the others tell why
	}
	var own []bootstrap.OrderProblem
	for _, o := range c.report.Order {
		if p.Cluster == "" || o.Cluster == "" || o.Cluster == p.Cluster {
			own = append(own, o)
		}
	}
	return own
}

// drifts reports the differences that fall under a rule.
func drifts(p *rule.Pass, id string) {
	for _, r := range releases(p) {
		p.Checked(r.File)
		for _, d := range r.Differences {
			// The run itself counts the other ways to ignore it.
			if d.Rule == id && !r.Declared(d) {
				p.Report(driftFinding(p.Repo, r, d))
			}
		}
	}
}

func driftFinding(repo *repository.Repository, r bootstrap.ReleaseReport, d bootstrap.Difference) finding.Finding {
	f := finding.Finding{Cluster: r.Cluster, Object: finding.Object{APIVersion: r.Object.APIVersion,
		Kind: "HelmRelease", Namespace: r.Object.Namespace, Name: r.Object.Name}}
	f.Declared = finding.Place{File: r.File, Line: r.Line}
	f.ObjectAt = placeOf(r.HelmRelease)
	f.File, f.Line = d.Bootstrap.File, d.Bootstrap.Line
	value := d.Bootstrap.Value
	if f.File == "" {
		f.File, f.Line, value = r.File, r.Line, r.Release
	}
	f.Column = column(repo, f.File, f.Line, value)
	f.Message = fmt.Sprintf("release %q: %s is %s in the bootstrap and %s in Git (%s)", r.Release, d.Field,
		d.Bootstrap.Text(), d.Git.Text(), at(d.Git, r.HelmRelease))
	f.Hint = r.HintFor(d)
	return f
}

// placeOf reads FILE:LINE.
func placeOf(text string) finding.Place {
	i := strings.LastIndexByte(text, ':')
	line, err := strconv.Atoi(text[i+1:])
	if i < 0 || err != nil {
		return finding.Place{}
	}
	return finding.Place{File: text[:i], Line: line}
}

func at(s bootstrap.Side, helmRelease string) string {
	if s.File == "" {
		return helmRelease
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// column finds where a value stands in its line; the line's first character
// otherwise.
func column(repo *repository.Repository, file string, line int, value any) int {
	data, err := repo.ReadFile(file)
	if err != nil || line < 1 {
		return 0
	}
	for n := 1; n < line; n++ {
		_, rest, more := bytes.Cut(data, []byte("\n"))
		if !more {
			return 0
		}
		data = rest
	}
	text, _, _ := strings.Cut(string(data), "\n")
	if i := strings.LastIndex(text, fmt.Sprint(value)); value != nil && i >= 0 {
		return len([]rune(text[:i])) + 1
	}
	return len(text) - len(strings.TrimLeft(text, " -\t")) + 1
}
