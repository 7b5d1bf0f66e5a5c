package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/manifest"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators"
)

func newBootstrap(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "bootstrap",
		Short: "Compare what a bootstrap installs with the HelmReleases in Git",
		Long: `A bootstrap installs releases before Flux runs; Flux then takes them over. These
commands find bootstrap definitions anywhere in a repository and compare them with its
HelmReleases: helmfiles, kustomizations with helmCharts, and HelmCharts of K3s.
Nothing is executed or fetched.`,
		Args: cobra.ArbitraryArgs,
		RunE: group,
	}
	c.AddCommand(newBootstrapVerify(s), newBootstrapPlan(s), newBootstrapValues(s))
	return c
}

// nothingFound turns the error that no bootstrap exists into a usage error: nothing was checked.
func nothingFound(err error) error {
	if errors.Is(err, bootstrap.ErrNoBootstrap) {
		return advice.Input(err, "name the folder that contains the bootstrap files and the HelmReleases")
	}
	if broken := (*helmfile.UnreadableError)(nil); errors.As(err, &broken) {
		for _, e := range bounds.Exceeded() {
			if e.Unit.File == broken.File {
				return e // helmfile itself has no such limit
			}
		}
		return advice.Input(err, "fix the file: helmfile fails on it too")
	}
	return err
}

func newBootstrapVerify(s streams) *cobra.Command {
	f := &validateFlags{format: formatText}
	var rendered bool
	c := &cobra.Command{
		Use:   "verify [DIR]",
		Short: "Compare every bootstrapped release with its HelmRelease",
		Long: `Compare every release of every bootstrap file with the HelmRelease that takes it over:
chart, version, values and identity. Also compare the Flux that is installed with the
Flux that the cluster's manifests declare. DIR is by default the repository that
contains the working directory.

With --rendered, also render the charts of both sides and compare the objects, hooks
included, as diff does: values that differ without changing any object are cosmetic and
do not fail, and the objects that Flux would change are listed below each drift. Charts are
taken from the repository, from --charts, and from what "fleetwright fetch" downloaded.
What random functions and the clock return is the same on both sides.

Exit status 1 when a release drifts or is missing, when Flux drifts, when helmfile is
certain to fail on a file, or when releases need each other in a cycle or need a release
that the file does not define; 2 when a bootstrap file cannot be read. failOn,
failOnUnresolved, severities and ignore of the configuration (` + validators.ConfigurationFile + `)
apply as in validate.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := fromEnvironment(c, s.env); err != nil {
				return err
			}
			v := &validation{streams: s, flags: f, report: finding.NewReport(nil, nil, finding.Summary{})}
			switch machine := f.format != formatText && f.format != formatJSON; {
			case rendered && machine:
				return usage(c, fmt.Errorf("--rendered has no report in the format %s: want text or json", f.format))
			case len(f.graph.charts) > 0 && !rendered:
				return usage(c, errors.New("--charts is for --rendered"))
			}
			v.folder = s.bootstrapFolder(args)
			if f.format != formatText && f.format != formatJSON {
				return v.bootstrapFindings(c.Context())
			}
			return v.bootstrapVerdicts(c.Context(), rendered)
		},
	}
	c.Flags().Var(oneOf(&f.format, reportFormats...), "format", "print `FORMAT`: text, json for the verdicts, or the findings as sarif, junit, github or gitlab")
	configFlag(c, &f.config)
	c.Flags().BoolVar(&rendered, "rendered", false, "also compare the objects that both sides install, where their charts are available locally")
	f.graph.useCache(s.env)
	f.graph.registerCharts(c)
	return c
}

// bootstrapFolder returns the folder of the repository for the bootstrap commands. If the command line names no folder,
// and the working directory is a folder of a Git work tree without any object of Flux's, it returns the root of the work
// tree.
func (s streams) bootstrapFolder(args []string) folder {
	at := s.repositoryFolder(args, nil)
	if at.loaded == nil || len(args) > 0 {
		return at
	}
	for o := range at.loaded.Objects() {
		if strings.HasSuffix(o.Group(), ".toolkit.fluxcd.io") || strings.HasSuffix(o.Group(), fluxapi.OperatorGroup) {
			return at
		}
	}
	top, below, _ := gitrepo.Within(at.dir)
	up := upFrom(below)
	_ = output.Printf(s.err, "note: the repository is %s (%s): this folder contains no Flux object\n", up, top)
	return folder{dir: filepath.FromSlash(up)}
}

// open loads the repository and its configuration.
func (v *validation) open() error {
	var err error
	if v.repo, err = v.load(); err == nil {
		v.config, err = v.configurationFile()
	}
	return err
}

// bootstrapVerdicts prints the verdicts as text or JSON.
func (v *validation) bootstrapVerdicts(ctx context.Context, rendered bool) error {
	report := bootstrap.NewReport()
	go builds.Warm()
	err := v.open()
	if err == nil {
		var verified *bootstrap.Report
		if verified, err = v.verifyBootstrap(ctx, rendered); err == nil {
			report = verified
		}
	}
	if v.flags.format == formatJSON {
		err = errors.Join(nothingFound(err), writeJSON(v.out, report))
	} else if err == nil {
		err = report.WriteText(v.out, bootstrap.TextOptions{Color: v.colour()})
	}
	if err != nil {
		return nothingFound(err)
	}
	reached := finding.Report{Findings: verdictFindings(report, v.config.Severities)}
	if reached.Reaches(v.config.FailOn) || v.config.FailOnUnresolved && report.Open() {
		return findingsStatus()
	}
	return unreadable(report)
}

// verifyBootstrap compares the values, or the objects too.
func (v *validation) verifyBootstrap(ctx context.Context, rendered bool) (*bootstrap.Report, error) {
	if !rendered {
		return bootstrap.VerifyFetched(ctx, v.repo, fetchedFor(v.env), v.config.Ignore...)
	}
	fleet, err := v.flags.graph.reconcileAll(ctx, v.dir, v.repo)
	if err != nil {
		return nil, err
	}
	return bootstrap.VerifyRendered(ctx, v.repo, fleet, v.config.Ignore...)
}

// verdictFindings returns the findings for the verdicts of a report, with the rules and severities that validate uses.
func verdictFindings(report *bootstrap.Report, severities map[string]finding.Severity) []finding.Finding {
	var all []finding.Finding
	add := func(rule string, severity finding.Severity) {
		if own, ok := severities[rule]; ok {
			severity = own
		}
		all = append(all, finding.Finding{Rule: rule, Severity: severity})
	}
	differ := func(differences []bootstrap.Difference) {
		for _, d := range differences {
			if !d.Ignored {
				add(d.Rule, finding.Error)
			}
		}
	}
	for _, r := range report.Releases {
		if differ(r.Differences); r.Verdict == bootstrap.Missing {
			add(bootstrap.RuleHelmReleaseMissing, finding.Error)
		}
	}
	for _, f := range report.Flux {
		differ(f.Differences)
	}
	for _, r := range report.Refusals {
		if r.Stops() {
			add(bootstrap.RuleRefused, finding.Error)
		}
	}
	for _, o := range report.Order {
		switch {
		case o.Ignored || o.Unresolved:
		case o.Refused:
			add(o.Rule, finding.Error)
		default:
			add(o.Rule, finding.Warning)
		}
	}
	for range report.Stale {
		add(bootstrap.RuleIntendedStale, finding.Warning)
	}
	return all
}

// fetchedFor returns the charts and sources in the cache that the environment names.
func fetchedFor(env func(string) string) bootstrap.Fetched {
	return bootstrap.Fetched{Charts: fetchedCharts(env), Sources: fetchedSources(env)}
}

// bootstrapFindings prints the findings of the rules about bootstraps, in the report of validate.
func (v *validation) bootstrapFindings(ctx context.Context) error {
	rules, err := validators.Select([]string{"bootstrap-*"})
	if err != nil {
		return err
	}
	v.rules = validators.Describe(rules)
	if err := v.open(); err != nil {
		return errors.Join(err, v.write(err))
	}
	if v.report, err = validators.Run(ctx, v.repo, validators.Options{Rules: rules, Severities: v.config.Severities, Ignore: v.config.Ignore,
		Reconcile: reconcile.Options{Fetched: fetchedCharts(v.env), FetchedSources: fetchedSources(v.env)}}); err == nil && v.report.Empty() {
		err = nothingFound(bootstrap.ErrNoBootstrap)
	}
	if err = errors.Join(err, v.write(err)); err == nil &&
		(v.report.Reaches(v.config.FailOn) || v.config.FailOnUnresolved && len(v.report.Unresolved) > 0) {
		return findingsStatus()
	}
	return err
}

// unreadable returns an error if the report has no verdict on a bootstrap file because helmfile refuses that file, too.
func unreadable(report *bootstrap.Report) error {
	for _, r := range report.Releases {
		if r.Unreadable && r.Stops {
			return nothingFound(&helmfile.UnreadableError{File: r.File, Line: r.Line, Reason: r.Reason})
		}
	}
	return nil
}

// bootstrapPlan is the JSON output of bootstrap plan.
type bootstrapPlan struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Releases   []bootstrap.Step `json:"releases"`
}

func newBootstrapPlan(s streams) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "plan [DIR]",
		Short: "List the bootstrapped releases in installation order",
		Long: `List the releases of each bootstrap file in installation order, with what Flux will do
when it takes each one over: adopt it with an upgrade that changes nothing, upgrade it,
or install a second release beside it.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			plan := bootstrapPlan{APIVersion: v1alpha1.APIVersion, Kind: "BootstrapPlan", Releases: []bootstrap.Step{}}
			repo, err := s.bootstrapFolder(args).load()
			if err == nil {
				var steps []bootstrap.Step
				if steps, err = bootstrap.Plan(c.Context(), repo, fetchedFor(s.env)); err == nil {
					plan.Releases = append(plan.Releases, steps...)
				}
			}
			if format == formatJSON {
				return errors.Join(nothingFound(err), writeJSON(s.out, plan))
			}
			if err != nil {
				return nothingFound(err)
			}
			return printPlan(s.out, plan.Releases)
		},
	}
	formatFlag(c, &format)
	return c
}

// printPlan lists releases, file by file.
func printPlan(w io.Writer, steps []bootstrap.Step) error {
	file, number := "", 0
	for _, step := range steps {
		if step.File != file {
			file, number = step.File, 0
			if err := output.Printf(w, "%s\n", file); err != nil {
				return err
			}
		}
		number++
		line := fmt.Sprintf("  %2d  %s/%s  %s  %s", number, step.Namespace, step.Release, step.Chart, step.Version)
		if step.Locked != "" {
			line += fmt.Sprintf(" (%s in the lock)", step.Locked)
		}
		if step.CRDsOnly {
			line += "  CustomResourceDefinitions only"
		}
		if len(step.Needs) > 0 {
			line += "  after " + strings.Join(step.Needs, ", ")
		}
		if err := output.Printf(w, "%s\n      %s\n", line, takeOver(step)); err != nil {
			return err
		}
	}
	return nil
}

// takeOver describes what Flux does with a release.
func takeOver(step bootstrap.Step) string {
	words := map[bootstrap.TakeOver]string{
		bootstrap.Adopt:         "Flux adopts it: one upgrade that changes nothing",
		bootstrap.Upgrade:       "Flux upgrades it",
		bootstrap.SecondRelease: "Flux installs a second release beside it",
		bootstrap.Install:       "Flux installs the release",
		bootstrap.NotTaken:      "Flux does not touch it",
		bootstrap.Undecided:     "unresolved: it is unknown what Flux does",
	}
	if step.Reason == "" {
		return words[step.TakeOver]
	}
	return words[step.TakeOver] + ": " + step.Reason
}

func newBootstrapValues(s streams) *cobra.Command {
	var cluster string
	format := formatYAML
	c := &cobra.Command{
		Use:   "values NAMESPACE/NAME [DIR]",
		Short: "Print the values that a bootstrapped release is installed with",
		Long: `Print the effective values of a bootstrapped release, one YAML document for each
bootstrap file that declares it. Values that cannot be decided offline are omitted and
reported on stderr, and the exit status is 1.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			return runValues(c.Context(), s, args[0], args[1:], cluster, format)
		},
	}
	c.Flags().StringVar(&cluster, "cluster", "", "only the bootstrap of `CLUSTER`")
	c.Flags().Var(oneOf(&format, formatYAML, formatJSON), "format", "print `FORMAT`: yaml, or json for a list with each release's file and values")
	return c
}

func runValues(ctx context.Context, s streams, release string, dir []string, cluster, format string) error {
	chosen, err := s.valuesOf(ctx, release, dir, cluster)
	if format == formatJSON {
		err = errors.Join(err, writeJSON(s.out, chosen))
	} else if err == nil {
		err = printValues(s.out, chosen)
	}
	if err != nil {
		return err
	}
	incomplete := false
	for _, v := range chosen {
		for _, reason := range v.Unresolved {
			incomplete = true
			_ = output.Printf(s.err, "%s:%d: unresolved: %s\n", v.File, v.Line, reason)
		}
	}
	if incomplete {
		return findingsStatus()
	}
	return nil
}

// valuesOf returns the values of a release, never nil. With a cluster, it returns only the values on that cluster.
func (s streams) valuesOf(ctx context.Context, release string, dir []string, cluster string) ([]helmfile.ReleaseValues, error) {
	chosen := []helmfile.ReleaseValues{}
	repo, err := s.bootstrapFolder(dir).load()
	if err != nil {
		return chosen, err
	}
	all, err := helmfile.Values(ctx, repo, release)
	if err != nil {
		return chosen, advice.Input(nothingFound(err), "")
	}
	var clusters []string
	for _, v := range all {
		clusters = append(clusters, fmt.Sprintf("%q", v.Cluster))
		if cluster == "" || v.Cluster == cluster {
			chosen = append(chosen, v)
		}
	}
	if len(chosen) == 0 {
		return chosen, advice.Input(fmt.Errorf("release %q is not bootstrapped on cluster %q: want %s", release, cluster, alternatives(clusters)), "")
	}
	return chosen, nil
}

// printValues prints a YAML document for each release.
func printValues(w io.Writer, all []helmfile.ReleaseValues) error {
	for i, v := range all {
		values := v.Values
		if values == nil {
			values = map[string]any{}
		}
		content, err := manifest.YAML(fmt.Sprintf("%s:%d", v.File, v.Line), values)
		if err != nil {
			return fmt.Errorf("%s:%d: encoding the values: %w", output.Line(v.File), v.Line, err)
		}
		if content, err = output.YAML(content); err != nil {
			return fmt.Errorf("%s:%d: encoding the values: %w", output.Line(v.File), v.Line, err)
		}
		if i > 0 {
			content = append([]byte("---\n"), content...)
		}
		if _, err := output.Raw(w).Write(content); err != nil {
			return err
		}
	}
	return nil
}
