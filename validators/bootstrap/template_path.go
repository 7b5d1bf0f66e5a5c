package bootstrap

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// TemplatePath is bootstrap-template-path.
var TemplatePath = rule.Rule{
	ID:       bootstrap.RuleTemplatePath,
	Title:    "a bootstrap template that reads a missing file",
	Severity: finding.Error,
	Why: `helmfile stops at a readFile that finds nothing, so that no new cluster can be built: most often the
application was moved. A path in a helmfile starts from the helmfile's folder, one in a values template from the
template's.`,
	Fix: `Correct the path. fleetwright bootstrap verify tells where each release's values come from.`,
	Run: templatePaths,
}

// templatePaths reports the files that templates miss: what a template that several releases share
// reads for each of them once, and a file that several fields of a release come from, too.
func templatePaths(p *rule.Pass) {
	in := &sources{repo: p.Repo}
	type release struct{ file, cluster, name, absent string }
	told := map[release]bool{}
	type place struct {
		file, cluster string
		line, column  int
	}
	at := map[place]int{}
	var all []finding.Finding
	more := map[int][]string{}
	for _, r := range releases(p) {
		p.Checked(r.File)
		for _, d := range r.Differences {
			id := release{r.File, r.Cluster, r.Release, d.Absent()}
			if d.Rule != bootstrap.RuleTemplatePath || r.Declared(d) || told[id] {
				continue
			}
			told[id] = true
			f := driftFinding(in, r, d)
			where := place{f.File, f.Cluster, f.Line, f.Column}
			if i, known := at[where]; known && f.Line > 0 {
				more[i] = append(more[i], r.Release)
				all[i].Several, all[i].Declared = true, finding.Place{}
				continue
			}
			at[where] = len(all)
			all = append(all, f)
		}
	}
	for i, f := range all {
		if n := len(more[i]); n > 0 {
			f.Message += fmt.Sprintf("; the same applies to %s: %s", finding.Count(n, "other release"), strings.Join(more[i], ", "))
		}
		p.Report(f)
	}
}
