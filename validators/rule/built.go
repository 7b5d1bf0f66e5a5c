package rule

import (
	"cmp"
	"fmt"
	"maps"
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
	one := builtFinding{Finding: f, rendered: o.HelmRelease != nil}
	if o.Kustomization != nil {
		one.cluster = o.Kustomization.Cluster.Name
	}
	if f.Line > 0 && o.Patched(f.File, f.Line) {
		one.patched = map[finding.Place]bool{f.Declared: true}
		one.shape = shape(o, f.Message)
	}
	p.reportIn(one)
}

// ReportIn reports a finding that holds for one cluster, "" where there is none. The same one
// of several clusters is reported once.
func (p *Pass) ReportIn(cluster string, f finding.Finding) {
	p.reportIn(builtFinding{Finding: f, cluster: cluster})
}

func (p *Pass) reportIn(f builtFinding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := builtKey{file: f.File, line: f.Line, column: f.Column, message: f.Message, severity: f.Severity}
	if f.Line == 0 {
		key.object = f.Object
	}
	if p.built == nil {
		p.built = map[builtKey]builtFinding{}
	}
	if known, there := p.built[key]; there {
		f = known.with(f)
	}
	p.built[key] = f
}

// shape is a message without the name of the object that it is about: what a patch does to many
// objects is one mistake.
func shape(o *reconcile.Object, message string) string {
	message = strings.ReplaceAll(message, strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"), "*")
	if o.Namespace != "" {
		message = strings.ReplaceAll(message, o.Namespace+"/", "*/")
	}
	return message
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

// builtFinding is a finding with the first cluster that has it and the others, and whether it is
// about what a chart renders.
type builtFinding struct {
	finding.Finding
	cluster string
	// others are the other clusters that have it.
	others map[string]bool

	rendered bool
	// patched are where the objects are declared that it is about, if it stands in a patch of
	// theirs, and shape is its message without their names.
	patched map[finding.Place]bool
	shape   string
}

// with is the finding as it holds where another one does, too.
func (b builtFinding) with(other builtFinding) builtFinding {
	for cluster := range other.others {
		b = b.on(cluster)
	}
	b = b.on(other.cluster)
	for at := range other.patched {
		if b.patched != nil {
			b.patched[at] = true
		}
	}
	return b
}

// on is the finding as it holds on another cluster, too.
func (b builtFinding) on(cluster string) builtFinding {
	if cluster == b.cluster {
		return b
	}
	if b.others == nil {
		b.others = map[string]bool{}
	}
	b.others[cluster] = true
	return b
}

// ofClusters are the findings of ReportIn, sorted by place; p.mu is held.
func (p *Pass) ofClusters() []finding.Finding {
	findings := make([]builtFinding, 0, len(p.built))
	for _, b := range p.built {
		b.Rule = p.ruleOf(b.Finding)
		b.Severity = cmp.Or(b.Severity, p.rule.Severity)
		b.Cluster = b.cluster
		findings = append(findings, b)
	}
	slices.SortFunc(findings, func(a, b builtFinding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Message, b.Message), cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Object.Kind, b.Object.Kind), cmp.Compare(a.Object.Namespace, b.Object.Namespace), cmp.Compare(a.Object.Name, b.Object.Name))
	})
	findings = onceOfPatches(findings)
	for i := range findings {
		f := &findings[i]
		if len(f.others) == 0 {
			continue
		}
		f.Cluster = ""
		if names := slices.AppendSeq([]string{f.cluster}, maps.Keys(f.others)); !slices.Contains(names, "") {
			f.Message += p.amongClusters(slices.Sorted(slices.Values(names)))
		}
	}
	return fewOfReleases(findings)
}

// onceOfPatches tells what a patch does wrong to many objects once, with how many there are.
func onceOfPatches(all []builtFinding) []builtFinding {
	var few []builtFinding
	known := map[builtKey]int{}
	for _, f := range all {
		if f.patched == nil {
			few = append(few, f)
			continue
		}
		key := builtKey{file: f.File, line: f.Line, column: f.Column, message: f.shape, severity: f.Severity}
		if i, there := known[key]; there {
			few[i] = few[i].with(f)
			continue
		}
		known[key] = len(few)
		few = append(few, f)
	}
	for i := range few {
		f := &few[i]
		if n := len(f.patched) - 1; n > 0 {
			f.Declared, f.Several = finding.Place{}, true
			f.Message += " (the same for " + finding.Count(n, "other object") + ")"
		}
	}
	return few
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
