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
	"github.com/fleetwright/fleetwright/internal/fluxinstall"
	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/mask"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// ErrNoBootstrap says that a repository contains no bootstrap file.
var ErrNoBootstrap = helmfile.ErrNoBootstrap

// Verify compares every release of every bootstrap file with the HelmRelease that takes it over. It
// executes and fetches nothing. The error is [ErrNoBootstrap] if there is nothing to compare, or the
// context's error.
//
// The fleet is what Flux would apply from the repository; if it is nil, Verify computes it.
// Differences that the selectors, comments or annotations ignore are intended.
func Verify(ctx context.Context, repo *repository.Repository, fleet *reconcile.Fleet, ignore ...finding.Selector) (*Report, error) {
	return verify(ctx, repo, fleet, Fetched{}, nil, ignore)
}

// VerifyFetched returns Verify with the charts and the HelmReleases of sources that were fetched.
func VerifyFetched(ctx context.Context, repo *repository.Repository, fetched Fetched, ignore ...finding.Selector) (*Report, error) {
	return verify(ctx, repo, nil, fetched, nil, ignore)
}

// VerifyRendered is Verify, and also compares the objects that both sides install, where their charts are available locally: a
// difference of values that changes no object is cosmetic.
func VerifyRendered(ctx context.Context, repo *repository.Repository, fleet *reconcile.Fleet, ignore ...finding.Selector) (*Report, error) {
	return verify(ctx, repo, fleet, Fetched{}, &prover{ctx: ctx, fleet: fleet}, ignore)
}

func verify(ctx context.Context, repo *repository.Repository, fleet *reconcile.Fleet, fetched Fetched, p *prover, ignore []finding.Selector) (*Report, error) {
	report := NewReport()
	files, engine, err := helmfile.ReadAll(ctx, repo)
	nothing := errors.Is(err, ErrNoBootstrap)
	if err != nil && (!nothing || !mayInstallFlux(repo, nil)) {
		return nil, err
	}
	j, err := newJudge(ctx, repo, files, engine, fleet, fetched)
	if err != nil {
		return nil, err
	}
	j.selectors, j.prover = ignore, p
	var declarations staleness
	var alone []*helmfile.Release // releases of the chart that creates a FluxInstance, without a HelmRelease
	takenOverBy := map[*helmfile.Release]*helmrelease.Release{}
	for _, releases := range files {
		report.Summary.Files++
		before := len(report.Releases)
		for _, r := range releases {
			judged := j.release(r)
			if takenOverBy[r] = judged.helmRelease; takenOverBy[r] == nil && r.Skipped == nil && helmrelease.ChartName(r.Chart.Value) == fluxinstall.InstanceChart {
				alone = append(alone, r)
			}
			declarations.add(judged)
			report.Summary.count(judged.Verdict)
			report.Releases = append(report.Releases, judged)
		}
		report.refuse(j, releases, report.Releases[before:])
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	report.order(j, files, takenOverBy)
	report.Flux = append(report.Flux, j.verifyFlux(files, alone)...)
	if nothing && len(report.Flux) == 0 {
		return nil, ErrNoBootstrap
	}
	report.Stale = append(report.Stale, declarations.stale()...)
	sorting.StableFunc(report.Releases, func(a, b ReleaseReport) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	j.Fleet.RegisterSecrets(repo.Lines())
	mask.Report(report, repo.Lines().Scrub)
	return report, nil
}

// order adds the problems with the order of the releases and with the objects that their hooks apply.
func (r *Report) order(j *judge, files [][]*helmfile.Release, takenOverBy map[*helmfile.Release]*helmrelease.Release) {
	s := &orders{judge: j, files: files, takenOverBy: takenOverBy, own: map[*helmfile.Release]*reconcile.Release{}}
	for _, releases := range files {
		r.Order = append(r.Order, s.check(releases)...)
	}
	r.Order = append(r.Order, s.operator()...)
	for i, o := range r.Order {
		at := located.At(o.File, o.Line)
		r.Order[i].Ignored = j.ignored(o.Rule, "", at, at) != ""
	}
}

// release returns the verdict on a release: if it has several variants, the verdict that all of them have, or Unresolved.
func (j *judge) release(r *helmfile.Release) ReleaseReport {
	if len(r.Variants) == 0 {
		return j.variant(r)
	}
	var each []ReleaseReport
	var said []string
	for _, v := range r.Variants {
		judged := j.variant(j.withCluster(v))
		each = append(each, judged)
		words := judged.verdictInWords()
		if fields := judged.fields(); len(fields) > 0 {
			words += " in " + strings.Join(fields[:min(len(fields), mostFields)], ", ")
		}
		said = append(said, v.Assumptions.Label()+": "+words)
	}
	out := each[0]
	out.Cluster, out.Namespace, out.Chart, out.Version = r.Cluster, r.Namespace.Known(), r.Chart.Known(), r.Version.Known()
	differs := slices.ContainsFunc(each, func(other ReleaseReport) bool { return other.Verdict != out.Verdict })
	switch {
	case !differs && out.Verdict == Drift:
		out.Differences = commonDifferences(each)
	case differs || out.Verdict == Unresolved:
		out.Verdict, out.Differences = Unresolved, []Difference{}
		out.Reason = helmfile.VariantReason(r.Variants) + " (" + strings.Join(said[:min(len(said), mostWays)], "; ") + ")"
	}
	return out
}

// fields returns the fields in which a release drifts.
func (r ReleaseReport) fields() []string {
	var fields []string
	for _, d := range r.Differences {
		if !d.Ignored && !slices.Contains(fields, d.Field) {
			fields = append(fields, d.Field)
		}
	}
	return fields
}

// mostWays is how many variants a reason reports.
const mostWays = 4

// commonDifferences returns the differences that all variants have, or the first variant's if they share none.
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

// variant returns the verdict on one variant of a release.
func (j *judge) variant(r *helmfile.Release) ReleaseReport {
	out := ReleaseReport{File: r.File, Line: r.Line, Cluster: r.Cluster, Release: r.Name.Known(),
		Namespace: r.Namespace.Known(), Chart: r.Chart.Known(), Version: r.Version.Known(), Differences: []Difference{}, definition: r.Definition}
	if r.Unreadable != "" {
		out.Verdict, out.Reason, out.Unreadable, out.Stops = Unresolved, r.Unreadable, true, r.Stops
		return out
	}
	if name := j.otherCluster(r); name != "" {
		out.Verdict, out.Reason = Unresolved, fmt.Sprintf("its folder names the cluster %s, which is not in the repository", name)
		return out
	}
	m, unclear := j.counterpart(r)
	switch {
	case unclear != nil:
		out.Verdict, out.Reason = Unresolved, unclear.Reason
		return out
	case m == nil:
		out.Verdict, out.Reason = j.withoutHelmRelease(r)
		if out.Gone = out.Verdict == Missing; out.Gone {
			if reason := j.ignored(RuleHelmReleaseMissing, "", r.Place, r.Place); reason != "" {
				out.Verdict, out.Reason = Intended, out.Reason+"; intended: "+reason
			}
		}
		return out
	}
	h := m.helmRelease
	out.helmRelease = h
	out.unapplied = j.Unapplied(r.Cluster, h)
	out.HelmRelease = fmt.Sprintf("%s:%d", h.File, h.Line)
	out.Object = Object{h.Applied.APIVersion, h.Applied.Namespace, h.Applied.Name}
	if out.Namespace == "" {
		out.Namespace = r.Namespace.Value
	}
	declared := declaredBy(h)
	out.declared = declared
	for _, d := range m.differences {
		d.Reason = j.excuse(h, declared, r, d)
		d.Ignored = d.Reason != ""
		out.Differences = append(out.Differences, d)
	}
	j.prove(r, m, &out)
	unknown := m.unknown
	if len(r.Patches) > 0 && r.Skipped == nil {
		unknown = append(slices.Clone(unknown), fmt.Sprintf("the bootstrap changes the chart or its rendered objects (%s, %s:%d), which are not compared",
			r.Patches[0].Value, r.Patches[0].File, r.Patches[0].Line))
	}
	if r.Refused != "" {
		unknown = append(slices.Clone(unknown), r.Refused)
	}
	switch {
	case slices.ContainsFunc(out.Differences, func(d Difference) bool { return !d.Ignored }):
		out.Verdict = Drift
	case len(unknown) > 0:
		out.Verdict, out.Reason = Unresolved, strings.Join(unknown, "; ")
	case out.Rendered != nil && out.Rendered.Result == NotRendered && len(out.Differences) == 0:
		out.Verdict, out.Reason = Unresolved, out.Rendered.Reason
	case slices.ContainsFunc(out.Differences, func(d Difference) bool { return d.Cosmetic }) && !slices.ContainsFunc(out.Differences, func(d Difference) bool { return !d.Cosmetic }):
		out.Verdict = Cosmetic
	case len(out.Differences) > 0:
		out.Verdict = Intended
		if r.Skipped != nil {
			out.Reason = "the bootstrap does not install it: " + r.Skipped.Value
		}
	default:
		out.Verdict = Agrees
	}
	return out
}

// refuse adds the first reason for which helmfile refuses a file, once per file: preferably a certain one that no verdict
// on the file's releases reports.
func (r *Report) refuse(j *judge, releases []*helmfile.Release, judged []ReleaseReport) {
	for _, each := range releases {
		if len(each.Refusals) == 0 || each.Unreadable != "" {
			continue
		}
		if slices.ContainsFunc(r.Refusals, func(known Refusal) bool { return known.Helmfile == each.File }) {
			return
		}
		first := each.Refusals[0]
		if i := slices.IndexFunc(each.Refusals, func(r helmfile.Refusal) bool { return !r.Doubtful && !r.Absent }); i >= 0 {
			first = each.Refusals[i]
		}
		r.Refusals = append(r.Refusals, Refusal{Helmfile: each.File, File: first.File, Line: first.Line, Reason: first.Value,
			Certain: !first.Doubtful, Absent: first.Absent, Reported: first.Absent && slices.ContainsFunc(judged, ReleaseReport.reportsAbsence),
			Ignored: j.ignored(RuleRefused, "", first.Place, each.Place) != ""})
		return
	}
}

// reportsAbsence reports whether the verdict reports a missing file.
func (r ReleaseReport) reportsAbsence() bool {
	return r.Gone || slices.ContainsFunc(r.Differences, func(d Difference) bool { return d.missing != "" })
}

// withoutHelmRelease returns the verdict on a release without a HelmRelease, and its reason.
func (j *judge) withoutHelmRelease(r *helmfile.Release) (Verdict, string) {
	if !j.HasFlux {
		return Unresolved, "the repository has no Flux objects"
	}
	if because := j.inSet(r); because != "" && r.Name.Unknown == nil {
		return Unresolved, because
	}
	for _, p := range slices.Sorted(maps.Keys(r.Reads)) {
		if !r.Reads[p] {
			return Missing, fmt.Sprintf("there is no HelmRelease, and file %s, which the release reads, %s", p, templates.Absence(p))
		}
	}
	switch {
	case r.Name.Unknown != nil:
		return Unresolved, r.Name.Unknown.Reason
	case len(j.Releases)+len(j.Orphans) == 0:
		return Unresolved, "the repository has no HelmRelease"
	}
	return Unresolved, fmt.Sprintf("no HelmRelease in the repository has the release name %q in the namespace %q",
		r.Name.Value, r.Namespace.Known())
}
