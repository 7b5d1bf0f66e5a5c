package bootstrap

import (
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Refused is bootstrap-refused.
var Refused = rule.Rule{
	ID:       bootstrap.RuleRefused,
	Title:    "helmfile refuses the bootstrap",
	Severity: finding.Error,
	Why: `helmfile installs nothing of a file that it refuses, so that no new cluster can be built: it decodes its fields
strictly, takes a key that a map doesn't have for an error in a template, and wants each release once. The reason is told in
its words, as version 1.8 has them. So is a chart whose repository is a slip of the pen for one that the file names.

What depends on a variable of the environment, on a command or on an encrypted file may well be in order where the bootstrap
is run: it is unresolved. A file that a template reads and that isn't there falls under bootstrap-template-path where the
release is known that reads it.`,
	Fix: `Mend the line that the finding names; helmfile template tells the same.`,
	Run: func(p *rule.Pass) {
		c := comparison.Of(p)
		if c.err != nil || c.report == nil {
			return // the others tell why
		}
		in := &sources{repo: p.Repo}
		type line struct {
			file   string
			line   int
			reason string
		}
		told := map[line]bool{} // of several helmfiles that read it, once
		for _, r := range c.report.Refusals {
			if r.Told { // also for the files that it misses elsewhere
				told[line{file: r.File, line: r.Line}] = true
			}
		}
		for _, r := range c.report.Refusals {
			p.Checked(r.Helmfile)
			at := line{r.File, r.Line, r.Reason}
			switch {
			case r.Told, told[at], r.Absent && told[line{file: r.File, line: r.Line}]:
			case r.Certain:
				p.Report(finding.Finding{File: r.File, Line: r.Line, Column: in.column(r.File, r.Line, nil),
					Declared: finding.Place{File: r.Helmfile}, Message: "helmfile stops: " + r.Reason, Hint: "fix the line: helmfile installs nothing of the file"})
			default:
				open(p, r.File, r.Line, "helmfile may stop: "+r.Reason)
			}
			told[at] = true
		}
		for _, r := range releases(p) {
			p.Checked(r.File)
			if f, isYAML := p.Repo.File(r.File); !r.Unreadable || isYAML && f.Err != nil {
				continue // of a YAML file the schema rules say so already
			}
			if r.Stops {
				p.Report(finding.Finding{File: r.File, Line: r.Line, Column: in.column(r.File, r.Line, nil),
					Cluster: r.Cluster, Message: r.Reason, Hint: "fix the file: helmfile stops there"})
			} else {
				open(p, r.File, r.Line, r.Reason)
			}
		}
	},
}
