package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
		which := o.String() + ", which"
		if strings.Contains(f.Message, o.String()) {
			which = "what"
		}
		f.Message += fmt.Sprintf(", in %s %s renders from %s", which, o.HelmRelease, o.Template)
	}
	f.Object = Built(o)
	f.Declared = finding.Place{File: o.File, Line: o.Line}
	cluster := ""
	if o.Kustomization != nil {
		cluster = o.Kustomization.Cluster.Name
	}
	p.reportIn(cluster, f, o.HelmRelease != nil)
}

// ReportIn reports a finding that holds for one cluster, "" where there is none. The same one
// of several clusters is reported once.
func (p *Pass) ReportIn(cluster string, f finding.Finding) { p.reportIn(cluster, f, false) }

func (p *Pass) reportIn(cluster string, f finding.Finding, rendered bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := builtKey{file: f.File, line: f.Line, column: f.Column, message: f.Message, severity: f.Severity}
	if f.Line == 0 {
		key.object = f.Object
	}
	known, there := p.built[key]
	switch {
	case p.built == nil:
		p.built = map[builtKey]builtFinding{key: {f, cluster, false, rendered}}
	case !there:
		p.built[key] = builtFinding{f, cluster, false, rendered}
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
	// object is set where there is no line, as in a ResourceList.
	object finding.Object
}

// builtFinding is a finding with the first cluster that has it, whether others do, and whether
// it is about what a chart renders.
type builtFinding struct {
	finding.Finding
	cluster string
	several bool

	rendered bool
}

// ofClusters are the findings of ReportIn, sorted by place; p.mu is held.
func (p *Pass) ofClusters() []finding.Finding {
	findings := make([]builtFinding, 0, len(p.built))
	for _, b := range p.built {
		b.Rule = p.rule.ID
		b.Severity = cmp.Or(b.Severity, p.rule.Severity)
		if b.Cluster = b.cluster; b.several {
			b.Cluster = ""
		}
		findings = append(findings, b)
	}
	slices.SortFunc(findings, func(a, b builtFinding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Message, b.Message), cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Object.Kind, b.Object.Kind), cmp.Compare(a.Object.Namespace, b.Object.Namespace), cmp.Compare(a.Object.Name, b.Object.Name))
	})
	return fewOfReleases(findings)
}

// mostOfRelease is how many findings of a rule are told about what one HelmRelease renders.
const mostOfRelease = 3

// fewOfReleases leaves out findings about what a HelmRelease renders where there are many: they
// have a cause in common. The last one that is left counts the others.
func fewOfReleases(all []builtFinding) []finding.Finding {
	type place struct {
		file         string
		line, column int
	}
	var few []finding.Finding
	told, last := map[place]int{}, map[place]int{}
	for _, f := range all {
		at := place{f.File, f.Line, f.Column}
		if !f.rendered {
			few = append(few, f.Finding)
			continue
		}
		if told[at]++; told[at] <= mostOfRelease {
			last[at] = len(few)
			few = append(few, f.Finding)
		}
	}
	for at, n := range told {
		if n > mostOfRelease {
			few[last[at]].Message += fmt.Sprintf(" (and %d more there)", n-mostOfRelease)
		}
	}
	return few
}
