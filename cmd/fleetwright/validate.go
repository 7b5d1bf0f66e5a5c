package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/definitions"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/version"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// noConfig is the value of --config for which no configuration file is read.
const noConfig = "none"

func newValidate(s streams) *cobra.Command {
	f := &validateFlags{failOn: string(finding.Error), format: formatText}
	c := &cobra.Command{
		Use:   "validate [DIR]",
		Short: "Check a Flux repository",
		Long: `Check every rule on the Flux repository in DIR (by default the working directory),
whoever wrote it. No configuration is needed; nothing is executed or fetched.

A finding can be ignored, with a reason: by the annotation fleetwright.dev/ignore:
"RULE: REASON" on its object, by the comment "# fleetwright:ignore RULE REASON" on its
line, in the configuration, or by a baseline.

The configuration is ` + validators.ConfigurationFile + ` in DIR: a ` + validators.ConfigurationKind + ` of fleetwright.dev/v1alpha1
as the KRM function takes it. A flag overrides the environment (FLEETWRIGHT_FAIL_ON
for --fail-on, and so on), which overrides the file.

Exit status 1 when there are findings at or above --fail-on, and 2 when there is
nothing to check. A report for machines is written whatever the exit status.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := fromEnvironment(c, s.env, "write-baseline", "fix"); err != nil {
				return err
			}
			f.isSet = c.Flags().Changed
			return runValidate(c.Context(), s, args, f)
		},
	}
	flags := c.Flags()
	flags.Var(oneOf(&f.format, reportFormats...), "format", "print `FORMAT`: "+alternatives(reportFormats))
	flags.StringSliceVar(&f.rules, "rules", nil, "check only these `RULES` (comma-separated ids; a * at the end matches any ending), whatever the configuration chooses or disables")
	flags.StringSliceVar(&f.profiles, "profile", nil, "also check the rules of a `PROFILE`, which are off by default")
	flags.StringVar(&f.cluster, "cluster", "", "check only the `CLUSTER`: its name or its path")
	flags.StringVar(&f.changedSince, "changed-since", "", "report only findings in files that changed since `REV`, and findings that `REV` does not have")
	flags.BoolVar(&f.fix, "fix", false, "fix the findings whose fix is certain, in their files, and report the others")
	flags.StringArrayVar(&f.schemas, "schemas", nil, "also use the schemas in `DIR`: CustomResourceDefinitions in YAML, JSON Schemas as GROUP/KIND_VERSION.json; repeatable")
	flags.StringVar(&f.kubernetes, "kubernetes", "", "check the objects for this `VERSION` of Kubernetes, such as 1.34; without it, for the versions that Flux supports")
	f.graph.register(c, s)
	flags.Var(oneOf(&f.failOn, string(finding.Error), string(finding.Warning), string(finding.Info)), "fail-on", "exit with 1 on findings of this `SEVERITY` or above: error, warning or info")
	flags.BoolVar(&f.failOnUnresolved, "fail-on-unresolved", false, "also exit with 1 if something cannot be decided; this has no severity, so --fail-on does not count it")
	configFlag(c, &f.config)
	flags.StringVar(&f.baseline, "baseline", "", "do not report the findings in `FILE`, which --write-baseline wrote")
	flags.StringVar(&f.writeBaseline, "write-baseline", "", "write the findings to `FILE`, and report only what is unresolved")
	flags.BoolVar(&f.reportIgnored, "report-ignored", false, "also report the findings that annotations, comments, the configuration or a baseline ignore")
	flags.BoolVar(&f.coverage, "coverage", false, "list the Kustomizations that are not built and the HelmReleases that are not rendered, by cluster and cause, in the text report")
	flags.IntVar(&f.minCoverage, "min-coverage", 0, "exit with 1 when less than `PERCENT` of the Kustomizations and HelmReleases that are found is built, or applied by a build")
	flags.BoolVar(&f.verbose, "verbose", false, "list every unresolved check and every finding in the text report, even if many have the same cause")
	return c
}

// configFlag adds the flag --config, which selects another configuration file.
func configFlag(c *cobra.Command, config *string) {
	c.Flags().StringVar(config, "config", "", "read the configuration from `FILE` instead of "+validators.ConfigurationFile+" in DIR; \""+noConfig+"\" reads none")
}

// runValidate validates the folder that the arguments name, and prints the report.
func runValidate(ctx context.Context, s streams, args []string, f *validateFlags) error {
	v := &validation{streams: s, flags: f, start: time.Now(), report: finding.NewReport(nil, nil, finding.Summary{})}
	var err error
	if f.fix {
		err = finishWrites(ctx, s, f.format, args) // before any file is read
	}
	v.folder = s.repositoryFolder(args, f.graph.roots)
	reportExceeded.Store(new(func() error {
		stopped := validation{streams: s, folder: folder{dir: v.dir}, flags: f, start: v.start, report: finding.NewReport(rule.OfUnits(), nil, finding.Summary{})}
		stopped.config.FailOn = finding.Error
		return stopped.write(nil)
	}))
	v.unnamed = len(args) == 0
	if err == nil {
		err = v.run(ctx)
	}
	if report, ok := exceededReport(err); ok {
		v.report, err = report, nil
	}
	defer bounds.Writing()()
	if f.format != formatText || err == nil {
		err = errors.Join(err, v.write(err))
	}
	v.notePart()
	switch {
	case err != nil:
		return err
	case v.covered() < v.config.MinCoverage:
		return &failure{status: statusFindings, err: errors.New(v.report.Summary.Coverage.Below(v.config.MinCoverage)), hint: "list what is not reached with --coverage"}
	case v.report.Reaches(v.config.FailOn), v.config.FailOnUnresolved && len(v.report.Unresolved) > 0:
		return findingsStatus()
	}
	return nil
}

// covered returns the coverage of the repository in percent.
func (v *validation) covered() int {
	if v.report.Summary.Coverage == nil {
		v.report.Summary.Coverage = &finding.Coverage{} // the run evaluated no cluster
	}
	return v.report.Summary.Coverage.Percent()
}

// run validates the repository and sets the report.
func (v *validation) run(ctx context.Context) error {
	p := startProgress(v.streams, "validating", "rules")
	defer p.stop()
	go builds.Warm()
	var err error
	if v.repo, err = v.load(); err != nil {
		return err
	}
	if v.config, err = v.configuration(); err != nil {
		return err
	}
	o, err := v.options()
	if err != nil {
		return err
	}
	o.Progress = p.note
	v.rules = validators.Describe(o.Rules)
	if err := v.check(ctx, o); err != nil {
		return err
	}
	if v.flags.fix && endedEarly() == nil {
		if err := v.fix(ctx, o); err != nil {
			return err
		}
	}
	if v.flags.writeBaseline != "" && endedEarly() == nil {
		p.stop()
		return v.saveBaseline(ctx, o)
	}
	return nil
}

// check evaluates what Flux applies from the repository, runs the rules, and sets the report.
func (v *validation) check(ctx context.Context, o validators.Options) (err error) {
	if v.flags.changedSince != "" {
		if o.Before, err = v.at(ctx, v.flags.changedSince); err != nil {
			return err
		}
	}
	v.fleet, err = rule.Evaluate(ctx, v.repo, o)
	if err == nil {
		err = reconcile.CheckSources(v.fleet)
	}
	if over := (*bounds.Error)(nil); err != nil && !errors.As(err, &over) { // Run reports what exceeded a guard
		return badGraph(err)
	}
	o.Fleet = v.fleet
	if v.report, err = validators.Run(ctx, v.repo, o); err != nil {
		return err
	}
	if v.report.Empty() {
		return advice.Input(fmt.Errorf("nothing found to check in %q: no YAML file contains a Kubernetes object", v.dir), "name the folder of a Flux repository")
	}
	if v.flags.changedSince != "" {
		if err := v.keepChanged(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// saveBaseline writes the findings as a baseline, and validates again with this baseline.
func (v *validation) saveBaseline(ctx context.Context, o validators.Options) error {
	b := finding.NewBaseline(v.report, v.repo.Lines().Line)
	if err := writeFile(v.flags.writeBaseline, b.Write); err != nil {
		return advice.Input(fmt.Errorf("--write-baseline: %w", err), "name a file in a writable folder")
	}
	o.Fleet, o.Baseline, o.BaselineFile, o.Progress = v.fleet, b, v.inRepository(v.flags.writeBaseline), nil
	report, err := validators.Run(ctx, v.repo, o)
	if err != nil {
		return err
	}
	v.report = report
	if v.flags.format == formatText {
		err = output.Printf(v.out, "%s: %s written; next: fleetwright validate --baseline %[1]s, or spec.baseline in %[3]s\n",
			v.flags.writeBaseline, finding.Count(len(b.Findings), "finding"), validators.ConfigurationFile)
	}
	return err
}

// options returns the options of the run, from the configuration and the command line.
func (v *validation) options() (validators.Options, error) {
	o, err := v.config.Options()
	if err != nil {
		if _, wrong := validators.Select(nil, v.config.Profiles...); wrong != nil {
			return o, fmt.Errorf("--profile: %w", err)
		}
		if v.flags.isSet("rules") {
			return o, fmt.Errorf("--rules: %w", err)
		}
		return o, err
	}
	if _, ok := rule.KubernetesMinor(o.Kubernetes); o.Kubernetes != "" && !ok {
		return o, advice.Input(fmt.Errorf("--kubernetes: %q is not a version of Kubernetes", o.Kubernetes), "pass a version such as 1.34")
	}
	if n := v.flags.minCoverage; n < 0 || n > 100 {
		return o, advice.Input(fmt.Errorf("--min-coverage %d is not a percentage", n), "pass a number from 0 to 100")
	}
	o.Cluster = v.flags.cluster
	if o.Schemas, err = schemaFolders(v.flags.schemas); err != nil {
		return o, err
	}
	if o.Reconcile, err = v.graph(); err != nil {
		return o, err
	}
	o.ReportIgnored = v.flags.reportIgnored
	if v.flags.writeBaseline == "" && !o.ReportIgnored {
		o.Baseline, o.BaselineFile, err = v.readBaseline()
	}
	return o, err
}

// graph returns the options for the evaluation of the clusters.
func (v *validation) graph() (reconcile.Options, error) {
	o, err := v.flags.graph.options(v.dir)
	if err != nil {
		return o, err
	}
	o.Roots = v.config.Roots
	v.sources = o.Sources
	return o, nil
}

// schemaFolders opens the folders of --schemas.
func schemaFolders(dirs []string) ([]*schemas.Folder, error) {
	var opened []*schemas.Folder
	for _, dir := range dirs {
		f, err := schemas.OpenFolder(dir, definitions.Read)
		if err == nil && f.Empty() {
			err = fmt.Errorf("no schema found in %q", dir)
		}
		if err != nil {
			return nil, advice.Input(fmt.Errorf("--schemas: %w", err), "name a folder of CustomResourceDefinitions or JSON Schemas")
		}
		opened = append(opened, f)
	}
	return opened, nil
}

// configuration reads the configuration file. The command line and the environment override its fields.
func (v *validation) configuration() (validators.Configuration, error) {
	c, err := v.configurationFile()
	if err != nil {
		return c, err
	}
	if v.flags.isSet("rules") {
		c.Rules, c.Disable = v.flags.rules, nil
	}
	if v.flags.isSet("profile") {
		c.Profiles = v.flags.profiles
	}
	if v.flags.isSet("root") {
		c.Roots = v.flags.graph.roots
	}
	if v.flags.isSet("kubernetes") {
		c.Kubernetes = v.flags.kubernetes
	}
	if v.flags.isSet("fail-on") {
		c.FailOn = finding.Severity(v.flags.failOn)
	}
	if v.flags.isSet("min-coverage") {
		c.MinCoverage = v.flags.minCoverage
	}
	if v.flags.isSet("fail-on-unresolved") {
		c.FailOnUnresolved = v.flags.failOnUnresolved
	}
	return c, nil
}

func (v *validation) configurationFile() (validators.Configuration, error) {
	name := v.flags.config
	if name == noConfig || name == "" && !hasConfiguration(v.dir) {
		return validators.Configuration{FailOn: finding.Error}, nil
	}
	var content []byte
	var err error
	if name == "" {
		name = validators.ConfigurationFile
		content, err = v.repo.ReadFile(name)
	} else if content, err = readLimited(name, 10<<20); err != nil {
		err = fmt.Errorf("--config: %w", err)
	}
	if err != nil {
		return validators.Configuration{}, advice.Input(err, fmt.Sprintf("name a file with a %s, or --config %s", validators.ConfigurationKind, noConfig))
	}
	if v.flags.config != "" {
		name = v.inRepository(name)
	}
	return validators.ReadConfiguration(name, content)
}

// readBaseline reads the baseline that the command line names, or the one that the configuration names, which
// must be inside the repository.
func (v *validation) readBaseline() (*finding.Baseline, string, error) {
	name := v.flags.baseline
	var data []byte
	var err error
	switch {
	case name != "":
		data, err = readLimited(name, finding.MaxBaseline)
	case v.config.Baseline != "":
		name = v.config.Baseline
		data, err = v.repo.ReadFile(name)
	default:
		return nil, "", nil
	}
	var b *finding.Baseline
	if err == nil {
		if b, err = finding.ReadBaseline(data); err != nil {
			err = fmt.Errorf("%s %w", output.Line(name), err)
		}
	}
	if err != nil {
		return nil, "", advice.Input(fmt.Errorf("baseline: %w", err), "write it with fleetwright validate --write-baseline "+output.Line(name))
	}
	if v.flags.baseline != "" {
		name = v.inRepository(name)
	}
	return b, name, nil
}

// inRepository returns the path of a user's file for a report. If the file is inside the repository, the path is relative
// to the root.
func (v *validation) inRepository(name string) string {
	if way := wayFrom(v.dir, name); way != "" {
		return way
	}
	return filepath.ToSlash(name)
}

// readLimited reads a file that the user names, up to a size.
func readLimited(name string, limit int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is larger than %d MB", output.Line(name), limit>>20)
	}
	return data, err
}

// lines returns a function that reads source lines of the repository, of the repositories of --source, and of
// other branches and fetched sources, by file name.
func (v *validation) lines() func(file string, line int) (string, bool) {
	own := v.repo.Lines()
	var others []*repository.Lines
	var repos []*repository.Repository
	for _, name := range slices.Sorted(maps.Keys(v.sources)) {
		repos = append(repos, v.sources[name])
	}
	if v.fleet != nil {
		repos = slices.Concat(repos, v.fleet.Branches, v.fleet.Fetched())
	}
	for _, repo := range repos {
		others = append(others, repo.Lines())
	}
	return func(file string, line int) (string, bool) {
		for i, repo := range repos {
			if local := repo.Local(file); local != file {
				return others[i].Line(local, line)
			}
		}
		return own.Line(file, line)
	}
}

// write prints the report in its format. failed is the error of a run without a report.
func (v *validation) write(failed error) error {
	if v.flags.format == formatText {
		o := finding.TextOptions{Color: v.colour(), Verbose: v.flags.verbose, Coverage: v.flags.coverage, Duration: time.Since(v.start)}
		if v.repo != nil {
			o.Source = v.lines()
		}
		return finding.WriteText(v.out, v.report, o)
	}
	o := finding.MachineOptions{
		Rules: v.rules, Version: version.Current().Version, Prefix: fromCheckout(v.dir),
		FailOn: v.config.FailOn, FailOnUnresolved: v.config.FailOnUnresolved,
		MinCoverage: v.config.MinCoverage,
	}
	if v.repo != nil {
		o.Lines = v.lines()
	}
	if failed != nil {
		_, o.Failure = explain(failed)
	}
	switch v.flags.format {
	case formatSARIF:
		return finding.WriteSARIF(v.out, v.report, o)
	case formatJUnit:
		return finding.WriteJUnit(v.out, v.report, o)
	case formatGitHub:
		return finding.WriteGitHub(v.out, v.report, o)
	case formatGitLab:
		return finding.WriteGitLab(v.out, v.report, o)
	}
	v.report.Failure = o.Failure
	return finding.WriteJSON(v.out, v.report)
}

// fromCheckout returns the path of a folder relative to the folder from which CI systems resolve file names:
// the root of its Git work tree, or else the working directory.
func fromCheckout(dir string) string {
	if _, below, ok := gitrepo.Within(dir); ok {
		return below
	}
	return wayFrom(".", dir)
}

// wayFrom returns the path from a folder to a file or folder inside it, with forward slashes. It returns "" for a path
// outside, and for the folder itself.
func wayFrom(dir, to string) string {
	from, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	if to, err = filepath.Abs(to); err != nil {
		return ""
	}
	way, err := filepath.Rel(from, to)
	if err != nil || !filepath.IsLocal(way) || way == "." {
		return ""
	}
	return filepath.ToSlash(way)
}
