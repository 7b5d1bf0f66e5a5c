// Package bootstrap holds the rules that compare the releases that a bootstrap, such as a helmfile, installs with the
// HelmReleases in Git. All of them share one comparison from internal/bootstrap.
package bootstrap

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// comparison compares all bootstrap files with the HelmReleases. Its report is nil if the repository has no
// bootstrap.
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

// releases returns the reports about the releases that bootstrap files install in the pass's cluster. A
// bootstrap that belongs to no cluster counts for every cluster.
func releases(p *rule.Pass) []bootstrap.ReleaseReport {
	c := comparison.Of(p)
	if c.err != nil {
		// The context ended, which the run reports, or a file disappeared.
		p.Unresolved(finding.Place{}, "the bootstrap could not be read: "+c.err.Error())
		return nil
	}
	if c.report == nil {
		return nil
	}
	var own []bootstrap.ReleaseReport
	for _, r := range c.report.Releases {
		if p.InCluster(r.Cluster) {
			own = append(own, r)
		}
	}
	return own
}

// open reports a question that cannot be decided, unless the rule limit-exceeded already reports its reason.
func open(p *rule.Pass, file string, line int, reason string) {
	if !slices.ContainsFunc(bounds.Exceeded(), func(e *bounds.Error) bool { return strings.Contains(reason, e.Why()) }) {
		p.Unresolved(finding.Place{File: file, Line: line}, reason)
	}
}

// orderProblems returns the order problems of the pass's cluster.
func orderProblems(p *rule.Pass) []bootstrap.OrderProblem {
	c := comparison.Of(p)
	if c.err != nil || c.report == nil {
		return nil // the other rules report the reason
	}
	var own []bootstrap.OrderProblem
	for _, o := range c.report.Order {
		if p.InCluster(o.Cluster) {
			own = append(own, o)
		}
	}
	return own
}

// drifts reports the differences of one rule.
func drifts(p *rule.Pass, id string) {
	in := &sources{repo: p.Repo}
	for _, r := range releases(p) {
		p.Checked(r.File)
		for _, d := range r.Differences {
			// Declared differences are skipped here; the run itself counts what is ignored in other ways.
			if d.Rule == id && !r.Declared(d) {
				p.Report(driftFinding(in, r, d))
			}
		}
	}
}

func driftFinding(in *sources, r bootstrap.ReleaseReport, d bootstrap.Difference) finding.Finding {
	f := finding.Finding{Cluster: r.Cluster, Object: finding.Object{APIVersion: r.Object.APIVersion,
		Kind: "HelmRelease", Namespace: r.Object.Namespace, Name: r.Object.Name}}
	f.Declared = finding.Place{File: r.File, Line: r.Line}
	f.ObjectAt = placeOf(r.HelmRelease)
	f.File, f.Line = d.Bootstrap.File, d.Bootstrap.Line
	value := d.Bootstrap.Value
	if f.File == "" {
		f.File, f.Line, value = r.File, r.Line, r.Release
	}
	f.Column = in.column(f.File, f.Line, value)
	inBootstrap, inGit := d.Texts()
	f.Message = fmt.Sprintf("release %q: %s is %s in the bootstrap and %s in Git (%s)", r.Release, d.Field, inBootstrap, inGit, at(d.Git, r.HelmRelease))
	if inBootstrap == inGit { // they differ only after Flux has changed the value
		f.Message = fmt.Sprintf("release %q: %s is %s in the bootstrap and in Git (%s)", r.Release, d.Field, inGit, at(d.Git, r.HelmRelease))
	}
	if absent := d.Absent(); absent != "" {
		f.Message = fmt.Sprintf("release %q: the %s cannot be read: %s", r.Release, d.Field, absent)
	}
	f.Hint = r.HintFor(d)
	return f
}

// placeOf parses a place of the form FILE:LINE.
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

// sources caches the lines of the files that it has read.
type sources struct {
	repo  *repository.Repository
	files map[string][]string
}

// column returns the column of a value in its line, or of the line's first character if the value is not there.
func (s *sources) column(file string, line int, value any) int {
	lines, known := s.files[file]
	if !known {
		if data, err := s.repo.ReadFile(file); err == nil {
			lines = strings.Split(string(data), "\n")
		}
		if s.files == nil {
			s.files = map[string][]string{}
		}
		s.files[file] = lines
	}
	if line < 1 || line > len(lines) {
		return 0
	}
	text := lines[line-1]
	if i := strings.LastIndex(text, fmt.Sprint(value)); value != nil && i >= 0 {
		return utf8.RuneCountInString(text[:i]) + 1
	}
	return len(text) - len(strings.TrimLeft(text, " -\t")) + 1
}
