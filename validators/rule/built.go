package rule

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// Applied are the objects that Kustomizations would apply to the clusters that are validated,
// an object of a shared base once for each cluster. Where the repository has no cluster, they
// are those of its files as they stand. What charts render is left out: how that is written is
// not the repository's to change. They must not be changed.
func (p *Pass) Applied() []*reconcile.Object {
	if len(p.Fleet().Clusters) == 0 {
		plain := &p.shared.plain
		plain.once.Do(func() { plain.objects = reconcile.Plain(p.Repo) })
		return plain.objects
	}
	var objects []*reconcile.Object
	for _, c := range p.Clusters() {
		for _, o := range c.Objects() {
			if o.HelmRelease == nil {
				objects = append(objects, o)
			}
		}
	}
	return objects
}

// ReportBuilt reports a finding about an object that Flux would apply. File, line and column
// are those of what is at the path (field names and list indexes) of the object, unless the
// finding has a file. What several clusters have from one place is one finding; it names the
// cluster where only one has it.
func (p *Pass) ReportBuilt(o *reconcile.Object, f finding.Finding, path ...any) {
	if f.File == "" {
		f.File, f.Line, f.Column = o.Position(path...)
	}
	if o.HelmRelease != nil {
		f.Message += fmt.Sprintf(", in what %s renders from %s", o.HelmRelease, o.Template)
	}
	f.Object = Built(o)
	f.Declared = finding.Place{File: o.File, Line: o.Line}
	cluster := ""
	if o.Kustomization != nil {
		cluster = o.Kustomization.Cluster.Name
	}
	p.ReportIn(cluster, f)
}

// ReportIn reports a finding that holds for one cluster, "" where there is none. The same one
// of several clusters is reported once.
func (p *Pass) ReportIn(cluster string, f finding.Finding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := builtKey{f.File, f.Line, f.Column, f.Message, f.Severity}
	known, there := p.built[key]
	switch {
	case p.built == nil:
		p.built = map[builtKey]builtFinding{key: {f, cluster, false}}
	case !there:
		p.built[key] = builtFinding{f, cluster, false}
	case known.cluster != cluster:
		known.several = true
		p.built[key] = known
	}
}

// builtKey tells findings apart that several clusters may share.
type builtKey struct {
	file         string
	line, column int
	message      string
	severity     finding.Severity
}

// builtFinding is a finding with the first cluster that has it, and whether others do.
type builtFinding struct {
	finding.Finding
	cluster string
	several bool
}

// ofClusters are the findings of ReportIn, sorted by place; p.mu is held.
func (p *Pass) ofClusters() []finding.Finding {
	var findings []finding.Finding
	for _, b := range p.built {
		f := b.Finding
		f.Rule = p.rule.ID
		f.Severity = cmp.Or(f.Severity, p.rule.Severity)
		if f.Cluster = b.cluster; b.several {
			f.Cluster = ""
		}
		findings = append(findings, f)
	}
	slices.SortFunc(findings, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Message, b.Message), cmp.Compare(a.Severity, b.Severity))
	})
	return findings
}
