package rule

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Applied returns the objects that Kustomizations would apply to the validated clusters. An object of a shared base is
// returned once for each cluster. If the repository has no cluster, Applied returns the objects in its files. It omits
// objects that charts render, because the repository cannot change the templates of charts. The objects must not be
// changed.
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

// ReportBuilt reports a finding about an object that Flux would apply. If f has no file, it gets the position of the object's
// field at path (field names and list indexes). If several clusters get the object from one place, they share one finding; a
// finding for only one cluster names the cluster.
func (p *Pass) ReportBuilt(o *reconcile.Object, f finding.Finding, path ...any) {
	if f.File == "" {
		f.Place = o.Position(path...)
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

// ReportIn reports a finding that holds for one cluster, "" for none. The same finding for several clusters is
// reported once.
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

// shape returns a message with the object's name replaced by "*", so that the same mistake of a patch in many
// objects is recognized as one.
func shape(o *reconcile.Object, message string) string {
	message = strings.ReplaceAll(message, strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"), "*")
	if o.Namespace != "" {
		message = strings.ReplaceAll(message, o.Namespace+"/", "*/")
	}
	return message
}

// builtKey identifies findings that are the same for several clusters.
type builtKey struct {
	file         string
	line, column int
	message      string
	severity     finding.Severity
	// object identifies the finding if it has no line, as in a ResourceList.
	object finding.Object
}

// builtFinding is a finding with the clusters that have it. rendered reports whether it is about an object that
// a chart renders.
type builtFinding struct {
	finding.Finding
	cluster string
	// others are the other clusters that have the finding.
	others map[string]bool

	rendered bool
	// patched are the places of the objects, if the finding is in a patch that applies to several objects.
	// shape is the message without their names.
	patched map[finding.Place]bool
	shape   string
}

// with returns the finding merged with the same finding of another cluster or object.
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

// on returns the finding with one more cluster.
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

// ofClusters returns the findings of ReportIn, sorted by place. The caller holds p.mu.
func (p *Pass) ofClusters() []finding.Finding {
	findings := make([]builtFinding, 0, len(p.built))
	for _, b := range p.built {
		b.Rule = p.ruleOf(b.Finding)
		b.Severity = cmp.Or(b.Severity, p.rule.Severity)
		b.Cluster = b.cluster
		findings = append(findings, b)
	}
	sorting.Func(findings, func(a, b builtFinding) int {
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

// onceOfPatches merges findings about the same mistake of a patch in several objects, and adds the number of
// objects to the message.
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

// mostOfRelease is the number of findings of a rule that are reported about the objects that one HelmRelease
// renders.
const mostOfRelease = 3

// fewOfReleases drops all but the first few findings of a rule about the objects that one HelmRelease renders,
// because they have a common cause. The last finding that remains mentions the number of the others.
func fewOfReleases(all []builtFinding) []finding.Finding {
	type place struct {
		file         string
		line, column int
	}
	var few []finding.Finding
	count, last := map[place]int{}, map[place]int{}
	for _, f := range all {
		at := place{f.File, f.Line, f.Column}
		if !f.rendered {
			few = append(few, f.Finding)
			continue
		}
		if count[at]++; count[at] <= mostOfRelease {
			last[at] = len(few)
			few = append(few, f.Finding)
		}
	}
	for at, n := range count {
		if n > mostOfRelease {
			few[last[at]].Message += fmt.Sprintf(" (and %d more there)", n-mostOfRelease)
		}
	}
	return few
}
