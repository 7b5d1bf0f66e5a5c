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
	Why: `helmfile fails if readFile finds no file, so no new cluster can be built. Usually the application was moved. A
path in a helmfile is relative to the folder of the helmfile, a path in a values template to the folder of the
template.`,
	Fix: `Correct the path. fleetwright bootstrap verify shows where the values of each release come from.`,
	Run: templatePaths,
}

// templatePaths reports the files that templates read and that do not exist. If several releases share a
// template, or several fields of a release read the same file, it reports the file once.
func templatePaths(p *rule.Pass) {
	in := &sources{repo: p.Repo}
	type release struct{ file, cluster, name, absent string }
	reported := map[release]bool{}
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
			if d.Rule != bootstrap.RuleTemplatePath || r.Declared(d) || reported[id] {
				continue
			}
			reported[id] = true
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
