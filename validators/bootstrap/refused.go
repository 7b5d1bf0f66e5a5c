package bootstrap

import (
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Refused is bootstrap-refused.
var Refused = rule.Rule{
	ID:       bootstrap.RuleRefused,
	Title:    "helmfile refuses the bootstrap",
	Severity: finding.Error,
	Why: `If helmfile refuses a file, it installs nothing of it, and no new cluster can be built. helmfile 1.8 does not
know the field, or the field has another form; a template reads a key that a map does not have; a release is
defined twice. A chart whose repository is a typo of a repository that the file names is reported, too.

If the result depends on an environment variable, a command or an encrypted file, the bootstrap may work where
it is run: it is unresolved. A missing file that a template reads is reported by bootstrap-template-path, if the
release that reads it is known.`,
	Fix: `Fix the line of the finding; helmfile template reports the same error.`,
	Run: func(p *rule.Pass) {
		c := comparison.Of(p)
		if c.err != nil || c.report == nil {
			return // the other rules report the reason
		}
		in := &sources{repo: p.Repo}
		type line struct {
			file   string
			line   int
			reason string
		}
		reported := map[line]bool{} // several helmfiles may read the line
		for _, r := range c.report.Refusals {
			if r.Reported { // the reason may be reported for other files that the template misses
				reported[line{file: r.File, line: r.Line}] = true
			}
		}
		for _, r := range c.report.Refusals {
			p.Checked(r.Helmfile)
			at := line{r.File, r.Line, r.Reason}
			switch {
			case r.Reported, reported[at], r.Absent && reported[line{file: r.File, line: r.Line}]:
			case r.Certain:
				p.Report(finding.Finding{Place: finding.Place{File: r.File, Line: r.Line, Column: in.column(r.File, r.Line, nil)},
					Declared: finding.Place{File: r.Helmfile}, Message: "helmfile fails: " + r.Reason, Hint: "fix the line: helmfile installs nothing of the file"})
			default:
				open(p, r.File, r.Line, "helmfile may fail: "+r.Reason)
			}
			reported[at] = true
		}
		for _, r := range releases(p) {
			p.Checked(r.File)
			if f, isYAML := p.Repo.File(r.File); !r.Unreadable || isYAML && f.Err != nil && repository.IsSetAside(r.File) {
				continue // perhaps a template of another program; the schema rules report it if Flux reads it
			}
			if r.Stops {
				p.Report(finding.Finding{Place: finding.Place{File: r.File, Line: r.Line, Column: in.column(r.File, r.Line, nil)},
					Cluster: r.Cluster, Message: r.Reason, Hint: "fix the file: helmfile fails on it"})
			} else {
				open(p, r.File, r.Line, r.Reason)
			}
		}
	},
}
