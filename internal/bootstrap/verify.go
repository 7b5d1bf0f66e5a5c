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
	report := &Report{APIVersion: "fleetwright.dev/v1alpha1", Kind: "BootstrapReport", Releases: []ReleaseReport{},
		Refusals: []Refusal{}, Order: []OrderProblem{}, Flux: []FluxReport{}, Stale: []Declaration{}}
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
		report.refuse(file.releases)
		taken := map[*release]*helmRelease{}
		for _, r := range file.releases {
			judged := c.judge(file.engine, r)
			if taken[r] = judged.helmRelease; taken[r] == nil && r.skipped == nil && chartName(r.chart.value) == instanceChart {
				alone = append(alone, r)
			}
			declarations.add(judged)
			report.Summary.count(judged.Verdict)
			report.Releases = append(report.Releases, judged)
		}
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

// judge gives the verdict on one release.
func (c *git) judge(e *engine, r *release) ReleaseReport {
	out := ReleaseReport{File: r.file, Line: r.line, Cluster: r.cluster, Release: shown(r.name),
		Namespace: shown(r.namespace), Chart: shown(r.chart), Version: shown(r.version), Differences: []Difference{}, definition: r.definition}
	if r.unreadable != "" {
		out.Verdict, out.Reason, out.Unreadable = Unresolved, r.unreadable, true
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
		unknown = append(slices.Clone(unknown), "helmfile refuses the release: "+r.refused)
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

// refuse adds the first reason for which helmfile stops at a file, once.
func (r *Report) refuse(releases []*release) {
	for _, each := range releases {
		if len(each.refusals) == 0 || each.unreadable != "" {
			continue
		}
		first := each.refusals[0]
		refusal := Refusal{Helmfile: each.file, File: first.file, Line: first.line, Reason: first.value}
		if !slices.ContainsFunc(r.Refusals, func(known Refusal) bool { return known.Helmfile == each.file }) {
			r.Refusals = append(r.Refusals, refusal)
		}
		return
	}
}

// without is the verdict on a release that no HelmRelease takes over.
func (c *git) without(r *release) (Verdict, string) {
	if !c.hasFlux {
		return Unresolved, "the repository has no Flux objects"
	}
	for _, p := range slices.Sorted(maps.Keys(r.reads)) {
		if !r.reads[p] {
			return Missing, fmt.Sprintf("there is no HelmRelease, and the file %s, which the release reads, %s", p, absence(p))
		}
	}
	switch {
	case r.name.unknown != nil:
		return Unresolved, r.name.unknown.reason
	case c.inSet(r) != "":
		return Unresolved, c.inSet(r)
	case len(c.releases)+len(c.orphans) == 0:
		return Unresolved, "the repository has no HelmRelease"
	}
	return Unresolved, fmt.Sprintf("no HelmRelease in the repository has the release name %q in the namespace %q",
		r.name.value, shown(r.namespace))
}

// inSet says that the HelmRelease of a release is made by a ResourceSet, which is not read; ""
// where none names it.
func (c *git) inSet(r *release) string {
	for _, o := range c.plain {
		resources, _ := fieldOf(o.Value, "spec", "resources").([]any)
		if o.Group != operatorGroup || o.Kind != "ResourceSet" {
			continue
		}
		for _, each := range resources {
			if textOf(each, "kind") == "HelmRelease" && textOf(each, "metadata", "name") == r.name.value {
				return fmt.Sprintf("its HelmRelease is made by the %s (%s:%d), whose resources are not compared", o, o.File, o.Line)
			}
		}
	}
	return ""
}

// shown is a field for people and reports: what is unknown is empty.
func shown(t text) string {
	if t.unknown != nil {
		return ""
	}
	return t.value
}
