package bootstrap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// ErrNoBootstrap says that a repository holds no bootstrap file.
var ErrNoBootstrap = errors.New("no bootstrap file found: a helmfile with a list of releases, each with a name and a chart, " +
	"a kustomization with helmCharts, or a HelmChart of K3s")

// Verify compares every release of every bootstrap file with the HelmRelease
// that takes it over. It executes and fetches nothing. The error is
// [ErrNoBootstrap] where there is nothing to compare, or the context's.
//
// The fleet is what Flux would apply from the repository; nil computes it. What the selectors
// ignore is intended, as what comments and annotations ignore is.
func Verify(ctx context.Context, repo *repository.Repository, fleet *reconcile.Fleet, ignore ...finding.Selector) (*Report, error) {
	report := NewReport()
	files, err := readAll(ctx, repo)
	nothing := errors.Is(err, ErrNoBootstrap)
	if err != nil && (!nothing || !mayInstallFlux(repo, nil)) {
		return nil, err
	}
	c, err := gitOf(ctx, repo, files, fleet)
	if err != nil {
		return nil, err
	}
	c.selectors = ignore
	var declarations staleness
	var alone []*release // of the chart that makes a FluxInstance, which no HelmRelease takes over
	for _, file := range files {
		report.Summary.Files++
		taken := map[*release]*helmRelease{}
		before := len(report.Releases)
		for _, r := range file.releases {
			judged := c.judge(file.engine, r)
			if taken[r] = judged.helmRelease; taken[r] == nil && r.skipped == nil && chartName(r.chart.value) == instanceChart {
				alone = append(alone, r)
			}
			declarations.add(judged)
			report.Summary.count(judged.Verdict)
			report.Releases = append(report.Releases, judged)
		}
		report.refuse(c, file.releases, report.Releases[before:])
		for _, o := range checkOrder(file.releases, taken) {
			o.Ignored = c.ignored(RuleOrder, "", place{o.File, o.Line}, place{o.File, o.Line}) != ""
			report.Order = append(report.Order, o)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	report.Flux = append(report.Flux, c.verifyFlux(ctx, files, alone)...)
	if nothing && len(report.Flux) == 0 {
		return nil, ErrNoBootstrap
	}
	report.Stale = append(report.Stale, declarations.stale()...)
	slices.SortStableFunc(report.Releases, func(a, b ReleaseReport) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return report, nil
}

// gitOf is Git's side for some bootstrap files.
func gitOf(ctx context.Context, repo *repository.Repository, files []bootstrapFile, fleet *reconcile.Fleet) (*git, error) {
	if fleet == nil {
		var err error
		x := newInterest(repo, files)
		if fleet, err = reconcile.Reconcile(ctx, repo, reconcile.Options{Only: x.in, Wanted: x.wanted}); err != nil {
			return nil, err
		}
	}
	return newGit(ctx, repo, fleet), nil
}

// bootstrapFile is a bootstrap file with its releases, and the engine that has evaluated them.
type bootstrapFile struct {
	engine   *engine
	releases []*release
}

// readAll reads all bootstrap files, in the order of their paths.
func readAll(ctx context.Context, repo *repository.Repository) ([]bootstrapFile, error) {
	var files []bootstrapFile
	err := each(ctx, repo, func(e *engine, releases []*release) error {
		files = append(files, bootstrapFile{e, releases})
		return nil
	})
	return files, err
}

// judge gives the verdict on one release: in every world that is possible, where there are
// several.
func (c *git) judge(e *engine, r *release) ReleaseReport {
	if len(r.variants) == 0 {
		return c.judgeOne(e, r)
	}
	var each []ReleaseReport
	var said []string
	for _, v := range r.variants {
		judged := c.judgeOne(e, c.in(v))
		each = append(each, judged)
		words := judged.said()
		if fields := judged.fields(); len(fields) > 0 {
			words += " in " + strings.Join(fields[:min(len(fields), mostFields)], ", ")
		}
		said = append(said, strings.TrimPrefix(v.world.label()+": ", ": ")+words)
	}
	out := each[0]
	out.Cluster = r.cluster
	out.Namespace, out.Chart, out.Version = shown(r.namespace), shown(r.chart), shown(r.version)
	switch all := verdictsOf(each); {
	case len(all) == 1 && all[0] == Drift:
		out.Differences = commonDifferences(each)
		return out
	case len(all) == 1 && all[0] != Unresolved, !slices.ContainsFunc(all, func(v Verdict) bool { return v != Agrees && v != Intended }):
		return each[slices.IndexFunc(each, func(r ReleaseReport) bool { return r.Verdict == all[len(all)-1] })].as(out)
	}
	out = c.judgeOne(e, r)
	slices.Sort(said)
	said = slices.Compact(said)
	if out.Verdict != Unresolved || out.Reason == "" {
		out.Verdict, out.Differences = Unresolved, []Difference{}
		out.Reason = parting(r.variants)
	}
	out.Reason += " (" + strings.Join(said[:min(len(said), mostWorlds)], "; ") + ")"
	return out
}

// fields are those in which a release drifts.
func (r ReleaseReport) fields() []string {
	var fields []string
	for _, d := range r.Differences {
		if !d.Ignored && !slices.Contains(fields, d.Field) {
			fields = append(fields, d.Field)
		}
	}
	return fields
}

// mostWorlds is of how many worlds a reason tells.
const mostWorlds = 4

// as is the verdict of one world with the fields of another's.
func (r ReleaseReport) as(other ReleaseReport) ReleaseReport {
	r.Cluster, r.Namespace, r.Chart, r.Version = other.Cluster, other.Namespace, other.Chart, other.Version
	return r
}

// verdictsOf are the verdicts of some worlds, each once, in their order of weight.
func verdictsOf(all []ReleaseReport) []Verdict {
	var found []Verdict
	for _, v := range []Verdict{Agrees, Intended, Unresolved, Missing, Drift} {
		if slices.ContainsFunc(all, func(r ReleaseReport) bool { return r.Verdict == v }) {
			found = append(found, v)
		}
	}
	return found
}

// commonDifferences are those that all worlds have, or where they have none in common, the first's.
func commonDifferences(all []ReleaseReport) []Difference {
	common := slices.DeleteFunc(slices.Clone(all[0].Differences), func(d Difference) bool {
		return slices.ContainsFunc(all[1:], func(r ReleaseReport) bool {
			return !slices.ContainsFunc(r.Differences, func(o Difference) bool { return o.Field == d.Field && o.Ignored == d.Ignored })
		})
	})
	if !slices.ContainsFunc(common, func(d Difference) bool { return !d.Ignored }) {
		return all[0].Differences
	}
	return common
}

// judgeOne gives the verdict on a release as it is in one world.
func (c *git) judgeOne(e *engine, r *release) ReleaseReport {
	out := ReleaseReport{File: r.file, Line: r.line, Cluster: r.cluster, Release: shown(r.name),
		Namespace: shown(r.namespace), Chart: shown(r.chart), Version: shown(r.version), Differences: []Difference{}, definition: r.definition}
	if r.unreadable != "" {
		out.Verdict, out.Reason, out.Unreadable, out.Stops = Unresolved, r.unreadable, true, r.stops
		return out
	}
	m, unclear := c.counterpart(e, r)
	switch {
	case unclear != nil:
		out.Verdict, out.Reason = Unresolved, unclear.reason
		return out
	case m == nil:
		out.Verdict, out.Reason = c.without(r)
		if out.Gone = out.Verdict == Missing; out.Gone {
			if reason := c.ignored(RuleHelmReleaseMissing, "", r.place, r.place); reason != "" {
				out.Verdict, out.Reason = Intended, out.Reason+"; meant: "+reason
			}
		}
		return out
	}
	h := m.helmRelease
	out.helmRelease = h
	out.unapplied = c.unapplied(r, h)
	out.HelmRelease = fmt.Sprintf("%s:%d", h.file, h.line)
	out.Object = Object{h.applied.APIVersion, h.applied.Namespace, h.applied.Name}
	if out.Namespace == "" {
		out.Namespace = r.namespace.value
	}
	declared := h.declared()
	out.declared = declared
	for _, d := range m.differences {
		d.Reason = c.excuse(h, declared, r, d)
		d.Ignored = d.Reason != ""
		out.Differences = append(out.Differences, d)
	}
	unknown := m.unknown
	if len(r.patches) > 0 && r.skipped == nil {
		unknown = append(slices.Clone(unknown), fmt.Sprintf("the bootstrap changes the chart or what it renders (%s, %s:%d), which is not compared",
			r.patches[0].value, r.patches[0].file, r.patches[0].line))
	}
	if r.refused != "" {
		unknown = append(slices.Clone(unknown), r.refused)
	}
	switch {
	case slices.ContainsFunc(out.Differences, func(d Difference) bool { return !d.Ignored }):
		out.Verdict = Drift
	case len(unknown) > 0:
		out.Verdict, out.Reason = Unresolved, strings.Join(unknown, "; ")
	case len(out.Differences) > 0:
		out.Verdict = Intended
		if r.skipped != nil {
			out.Reason = "the bootstrap doesn't install it: " + r.skipped.value
		}
	default:
		out.Verdict = Agrees
	}
	return out
}

// refuse adds the first reason for which helmfile stops at a file, once: one that is certain, and
// that the verdicts on its releases don't tell of, before others.
func (r *Report) refuse(c *git, releases []*release, judged []ReleaseReport) {
	for _, each := range releases {
		if len(each.refusals) == 0 || each.unreadable != "" {
			continue
		}
		if slices.ContainsFunc(r.Refusals, func(known Refusal) bool { return known.Helmfile == each.file }) {
			return
		}
		first := each.refusals[0]
		if i := slices.IndexFunc(each.refusals, func(r refusal) bool { return !r.doubtful && !r.absent }); i >= 0 {
			first = each.refusals[i]
		}
		r.Refusals = append(r.Refusals, Refusal{Helmfile: each.file, File: first.file, Line: first.line, Reason: c.repo.Lines().Scrub(first.file, first.value),
			Certain: !first.doubtful, Absent: first.absent, Told: first.absent && slices.ContainsFunc(judged, ReleaseReport.tellsAbsence),
			Ignored: c.ignored(RuleRefused, "", first.place, each.place) != ""})
		return
	}
}

// RuleRefused is about a bootstrap at which its tool stops.
const RuleRefused = "bootstrap-refused"

// tellsAbsence says whether a verdict tells of a file that isn't there.
func (r ReleaseReport) tellsAbsence() bool {
	return r.Gone || slices.ContainsFunc(r.Differences, func(d Difference) bool { return d.missing != "" })
}

// without is the verdict on a release that no HelmRelease takes over.
func (c *git) without(r *release) (Verdict, string) {
	if !c.hasFlux {
		return Unresolved, "the repository has no Flux objects"
	}
	if because := c.inSet(r); because != "" && r.name.unknown == nil {
		return Unresolved, because
	}
	for _, p := range slices.Sorted(maps.Keys(r.reads)) {
		if !r.reads[p] {
			return Missing, fmt.Sprintf("there is no HelmRelease, and the file %s, which the release reads, %s", p, absence(p))
		}
	}
	switch {
	case r.name.unknown != nil:
		return Unresolved, r.name.unknown.reason
	case len(c.releases)+len(c.orphans) == 0:
		return Unresolved, "the repository has no HelmRelease"
	}
	return Unresolved, fmt.Sprintf("no HelmRelease in the repository has the release name %q in the namespace %q",
		r.name.value, shown(r.namespace))
}

// shown is a field for people and reports: what is unknown is empty.
func shown(t text) string {
	if t.unknown != nil {
		return ""
	}
	return t.value
}
