package rule

import (
	"cmp"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// Applied are the objects that Flux would apply to the clusters that are validated, an object
// of a shared base once for each cluster. Where the repository has no cluster, they are those
// of its files as they stand. They must not be changed.
func (p *Pass) Applied() []*reconcile.Object {
	if len(p.Fleet().Clusters) == 0 {
		plain := &p.shared.plain
		plain.once.Do(func() { plain.objects = reconcile.Plain(p.Repo) })
		return plain.objects
	}
	var objects []*reconcile.Object
	for _, c := range p.Clusters() {
		objects = append(objects, c.Objects()...)
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
	same := func(other builtFinding) bool {
		return other.File == f.File && other.Line == f.Line && other.Column == f.Column &&
			other.Message == f.Message && other.Severity == f.Severity
	}
	key := sharedPlace{f.File, f.Line}
	at := slices.IndexFunc(p.built[key], same)
	if at < 0 {
		if p.built == nil {
			p.built = map[sharedPlace][]builtFinding{}
		}
		p.built[key] = append(p.built[key], builtFinding{Finding: f})
		at = len(p.built[key]) - 1
	}
	if known := &p.built[key][at]; !slices.Contains(known.clusters, cluster) {
		known.clusters = append(known.clusters, cluster)
	}
}

// sharedPlace is a line that several clusters may share.
type sharedPlace struct {
	file string
	line int
}

// builtFinding is a finding with the clusters that have it.
type builtFinding struct {
	finding.Finding
	clusters []string
}

// ofClusters are the findings of ReportIn, sorted by place; p.mu is held.
func (p *Pass) ofClusters() []finding.Finding {
	var findings []finding.Finding
	for _, all := range p.built {
		for _, b := range all {
			f := b.Finding
			f.Rule = p.rule.ID
			f.Severity = cmp.Or(f.Severity, p.rule.Severity)
			if f.Cluster = ""; len(b.clusters) == 1 {
				f.Cluster = b.clusters[0]
			}
			findings = append(findings, f)
		}
	}
	slices.SortStableFunc(findings, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return findings
}
