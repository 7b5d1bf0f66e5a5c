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
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/manifest"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/validators"
)

func newBootstrap(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "bootstrap",
		Short: "Compare what a bootstrap installs with the HelmReleases in Git",
		Long: `A bootstrap installs releases before Flux runs; then Flux takes them over. These
commands read bootstrap definitions, wherever they stand in a repository, and
compare them with its HelmReleases: helmfiles, kustomizations with helmCharts, and
HelmCharts of K3s. Nothing is executed or fetched.`,
		Args: cobra.ArbitraryArgs,
		RunE: group,
	}
	c.AddCommand(newBootstrapVerify(s), newBootstrapPlan(s), newBootstrapValues(s))
	return c
}

// nothingFound makes the absence of a bootstrap wrong usage: nothing was checked.
func nothingFound(err error) error {
	if errors.Is(err, bootstrap.ErrNoBootstrap) {
		return &render.BadInput{Err: err, Hint: "a repository without one has nothing to compare; where there is one, name the folder with it and the HelmReleases"}
	}
	if broken := (*helmfile.UnreadableError)(nil); errors.As(err, &broken) {
		return &render.BadInput{Err: err, Hint: "fix the file: helmfile stops there too"}
	}
	return err
}

func newBootstrapVerify(s streams) *cobra.Command {
	f := &validateFlags{format: formatText}
	c := &cobra.Command{
		Use:   "verify [DIR]",
		Short: "Compare every bootstrapped release with its HelmRelease",
		Long: `Compare chart, version, values and identity of every release of every bootstrap
file in DIR (by default the repository that the working directory is in) with the
HelmRelease that takes it over, and what installs Flux with what the cluster says of
its Flux.

Exit status 1 when a release drifts or is missing, when Flux drifts, when helmfile
certainly stops at a file, or when the releases need each other in a circle or need
what the file doesn't define; 2 when a bootstrap file can't be read. failOn,
failOnUnresolved, severities and ignore of the configuration (` + validators.ConfigurationFile + `)
count as in validate.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := fromEnvironment(c, s.env); err != nil {
				return err
			}
			v := &validation{streams: s, flags: f, report: finding.NewReport(nil, nil, finding.Summary{})}
			v.folder = s.bootstrapFolder(args)
			if f.format != formatText && f.format != formatJSON {
				return v.bootstrapFindings(c.Context())
			}
			return v.bootstrapVerdicts(c.Context())
		},
	}
	c.Flags().Var(oneOf(&f.format, reportFormats...), "format", "print `FORMAT`: text, json for the verdicts, or the findings as sarif, junit, github or gitlab")
	configFlag(c, &f.config)
	return c
}

// bootstrapFolder is the folder of the repository that a command about bootstraps is about: where
// nobody names one, and the working directory is a folder of a Git work tree without any object of
// Flux's, the work tree's root.
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
	_ = output.Printf(s.err, "note: the repository is %s (%s): this folder has no object of Flux's\n", up, top)
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
func (v *validation) bootstrapVerdicts(ctx context.Context) error {
	report := bootstrap.NewReport()
	go builds.Warm()
	err := v.open()
	if err == nil {
		var made *bootstrap.Report
		if made, err = bootstrap.Verify(ctx, v.repo, nil, v.config.Ignore...); err == nil {
			report = made
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
	reached := finding.Report{Findings: told(report, v.config.Severities)}
	if reached.Reaches(v.config.FailOn) || v.config.FailOnUnresolved && report.Open() {
		return found()
	}
	return unreadable(report)
}

// told are the findings that the verdicts of a report come to: their rules and severities, as
// validate has them.
func told(report *bootstrap.Report, severities map[string]finding.Severity) []finding.Finding {
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
		case o.Ignored:
		case o.Refused:
			add(bootstrap.RuleOrder, finding.Error)
		default:
			add(bootstrap.RuleOrder, finding.Warning)
		}
	}
	for range report.Stale {
		add(bootstrap.RuleIntendedStale, finding.Warning)
	}
	return all
}

// bootstrapFindings reports what the rules about bootstraps find, as validate does.
func (v *validation) bootstrapFindings(ctx context.Context) error {
	rules, err := validators.Select([]string{"bootstrap-*"})
	if err != nil {
		return err
	}
	v.rules = validators.Describe(rules)
	if err := v.open(); err != nil {
		return errors.Join(err, v.write(err))
	}
	if v.report, err = validators.Run(ctx, v.repo, validators.Options{Rules: rules, Severities: v.config.Severities, Ignore: v.config.Ignore}); err == nil && v.report.Empty() {
		err = nothingFound(bootstrap.ErrNoBootstrap)
	}
	if err = errors.Join(err, v.write(err)); err == nil &&
		(v.report.Reaches(v.config.FailOn) || v.config.FailOnUnresolved && len(v.report.Unresolved) > 0) {
		return found()
	}
	return err
}

// unreadable is the error of a report that can tell nothing of a bootstrap file at which helmfile
// stops too.
func unreadable(report *bootstrap.Report) error {
	for _, r := range report.Releases {
		if r.Unreadable && r.Stops {
			return nothingFound(&helmfile.UnreadableError{File: r.File, Line: r.Line, Reason: r.Reason})
		}
	}
	return nil
}

// bootstrapPlan is what bootstrap plan prints with --format json.
type bootstrapPlan struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Releases   []bootstrap.Step `json:"releases"`
}

func newBootstrapPlan(s streams) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "plan [DIR]",
		Short: "List the bootstrapped releases in the order of their installation",
		Long: `List the releases of each bootstrap file in the order of their installation, with what
Flux will do when it takes each over: adopt it with an upgrade that changes nothing,
upgrade it, or install a second release beside it.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			plan := bootstrapPlan{APIVersion: v1alpha1.APIVersion, Kind: "BootstrapPlan", Releases: []bootstrap.Step{}}
			repo, err := s.bootstrapFolder(args).load()
			if err == nil {
				var steps []bootstrap.Step
				if steps, err = bootstrap.Plan(c.Context(), repo, nil); err == nil {
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
		if step.CRDsOnly {
			line += "  only custom resource definitions"
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

// takeOver is what Flux does about a release, in words.
func takeOver(step bootstrap.Step) string {
	words := map[bootstrap.TakeOver]string{
		bootstrap.Adopt:         "Flux adopts it: one upgrade that changes nothing",
		bootstrap.Upgrade:       "Flux upgrades it",
		bootstrap.SecondRelease: "Flux installs a second release beside it",
		bootstrap.Install:       "Flux installs the release",
		bootstrap.NotTaken:      "Flux leaves it alone",
		bootstrap.Undecided:     "what Flux does is unresolved",
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
		Long: `Print the effective values of a bootstrapped release: one YAML document for each
bootstrap file that declares it. What cannot be decided offline is left out, told on
stderr, and makes the exit status 1.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			return runValues(c.Context(), s, args[0], args[1:], cluster, format)
		},
	}
	c.Flags().StringVar(&cluster, "cluster", "", "only the bootstrap of this `CLUSTER`")
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
		return found()
	}
	return nil
}

// valuesOf are the values of a release, on one cluster where it is named; never
// nil.
func (s streams) valuesOf(ctx context.Context, release string, dir []string, cluster string) ([]helmfile.ReleaseValues, error) {
	chosen := []helmfile.ReleaseValues{}
	repo, err := s.bootstrapFolder(dir).load()
	if err != nil {
		return chosen, err
	}
	all, err := helmfile.Values(ctx, repo, release)
	if err != nil {
		return chosen, &render.BadInput{Err: nothingFound(err)}
	}
	var clusters []string
	for _, v := range all {
		clusters = append(clusters, fmt.Sprintf("%q", v.Cluster))
		if cluster == "" || v.Cluster == cluster {
			chosen = append(chosen, v)
		}
	}
	if len(chosen) == 0 {
		return chosen, &render.BadInput{Err: fmt.Errorf("release %q is not bootstrapped on cluster %q: want %s", release, cluster, alternatives(clusters))}
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
			return fmt.Errorf("%s:%d: encoding the values: %w", v.File, v.Line, err)
		}
		if content, err = output.YAML(content); err != nil {
			return fmt.Errorf("%s:%d: encoding the values: %w", v.File, v.Line, err)
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
