package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators"
	"github.com/fleetwright/fleetwright/validators/sops"
)

// plaintextRules are the rules about plaintext secrets.
var plaintextRules = []string{"secret-hardcoded", "sops-broken", "sops-generator-plaintext", "sops-partial", "sops-plaintext-secret", "sops-private-key"}

// secretsCheckFlags are the flags of secrets check.
type secretsCheckFlags struct {
	staged         bool
	format, failOn string
}

func newSecretsCheck(s streams) *cobra.Command {
	f := &secretsCheckFlags{format: formatText, failOn: string(finding.Warning)}
	c := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Find secrets in plaintext",
		Long: `Find secrets in plaintext in DIR (by default the working directory): Secrets that are
not encrypted or only partly encrypted, files from which kustomize generates Secrets,
private keys, and passwords and tokens in settings. validate reports the same
findings, by the rules ` + strings.Join(plaintextRules[:3], ", ") + `,
` + strings.Join(plaintextRules[3:5], ", ") + " and " + plaintextRules[5] + `. The configuration
` + validators.ConfigurationFile + ` applies, and annotations and comments that ignore findings.
Nothing is decrypted, and nothing is fetched.

With --staged, check only the files that the next commit changes, with their content in
git's index: a file that was staged in plaintext is found even if it was encrypted in the
work tree since. The other files of the index show which files are examples and which ones
clusters apply. The pre-commit hook fleetwright-secrets runs this check.

Exit status 1 when there are findings at or above --fail-on. No value is printed.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return runSecretsCheck(c.Context(), s, folderArgument(args), f)
		},
	}
	c.Flags().BoolVar(&f.staged, "staged", false, "check only what the next commit changes, as it is in git's index")
	c.Flags().Var(oneOf(&f.failOn, string(finding.Error), string(finding.Warning), string(finding.Info)), "fail-on", "exit with 1 on findings of this `SEVERITY` or above: error, warning or info")
	c.Flags().Var(oneOf(&f.format, formatText, formatJSON), "format", "print `FORMAT`: text, or json for the report that validate prints")
	return c
}

func runSecretsCheck(ctx context.Context, s streams, dir string, f *secretsCheckFlags) error {
	start := time.Now()
	report, repo, err := findPlaintext(ctx, s, dir, f.staged)
	if exceeded, ok := exceededReport(err); ok {
		empty, failed := repository.FromFiles(maps.All(map[string][]byte{}), repository.Options{})
		report, repo, err = exceeded, empty, failed
	}
	if f.format == formatJSON {
		if err != nil {
			_, report.Failure = explain(err)
		}
		return errors.Join(err, finding.WriteJSON(s.out, report), reaches(report, f, err))
	}
	if err != nil {
		return err
	}
	if repo == nil {
		return output.Printf(s.out, "nothing is staged\n")
	}
	if err := finding.WriteText(s.out, report, finding.TextOptions{Color: s.colour(), Source: repo.Lines().Line, Duration: time.Since(start)}); err != nil {
		return err
	}
	return reaches(report, f, nil)
}

// reaches returns the error for a report with findings that reach --fail-on. It returns nil if the check failed for
// another reason.
func reaches(report finding.Report, f *secretsCheckFlags, failed error) error {
	if failed == nil && report.Reaches(finding.Severity(f.failOn)) {
		return findingsStatus()
	}
	return nil
}

// findPlaintext checks the folder, or the staged files, and returns the report. It also returns the checked repository,
// nil if no file is staged.
func findPlaintext(ctx context.Context, s streams, dir string, staged bool) (finding.Report, *repository.Repository, error) {
	empty := finding.NewReport(nil, nil, finding.Summary{})
	if !staged {
		repo, err := loadRepository(dir)
		if err != nil {
			return empty, nil, err
		}
		o, err := plaintextOptions(func() ([]byte, error) { return repo.ReadFile(validators.ConfigurationFile) }, repo.ReadFile)
		if err != nil {
			return empty, nil, err
		}
		report, err := validators.Run(ctx, repo, o)
		return withUnread(report, repo), repo, badGraph(err)
	}
	p, err := readStaged(s, dir)
	if err != nil || len(p.Changed()) == 0 {
		return empty, nil, err
	}
	o, err := plaintextOptions(p.validationFile, p.ReadFile)
	if err != nil {
		return empty, nil, err
	}
	o.Whole = p.whole
	part, around, err := p.repositories()
	if err != nil {
		return empty, nil, err
	}
	report, err := validators.Run(ctx, part, o)
	if err != nil {
		return empty, nil, badGraph(err)
	}
	before, err := validators.Run(ctx, around, o)
	if err != nil {
		return empty, nil, badGraph(err)
	}
	return ofStaged(p.withLarge(withUnread(report, part)), before, p, part, around), part, nil
}

// withUnread adds findings about files that cannot be parsed and may contain a Secret, if no rule reports them.
func withUnread(report finding.Report, repo *repository.Repository) finding.Report {
	reported := map[string]bool{}
	for _, f := range report.Findings {
		reported[f.File] = true
	}
	unread := slices.DeleteFunc(sops.Unread(repo), func(f finding.Finding) bool { return reported[f.File] })
	return finding.NewReport(append(report.Findings, unread...), report.Unresolved, report.Summary).WithIgnored(report.Ignored)
}

// ofStaged removes from a report the findings that the staged files did not cause.
func ofStaged(report, before finding.Report, p *stagedPart, part, around *repository.Repository) finding.Report {
	fresh, known, _ := finding.NewBaseline(before, around.Lines().Line).Split(report.Findings, part.Lines().Line)
	isStaged := func(file string) bool {
		_, found := slices.BinarySearch(p.Changed(), file)
		return found
	}
	known = slices.DeleteFunc(known, func(f finding.Finding) bool { return !isStaged(f.File) })
	unresolved := slices.DeleteFunc(slices.Clone(report.Unresolved), func(u finding.Unresolved) bool { return !isStaged(u.File) })
	return finding.NewReport(append(fresh, known...), unresolved, report.Summary).WithIgnored(report.Ignored)
}

// plaintextOptions returns the options of a validation with the rules about plaintext secrets, and with the
// repository's configuration of these rules. Rules that the configuration does not select also run, because the
// user asked for this check.
func plaintextOptions(config func() ([]byte, error), read func(string) ([]byte, error)) (validators.Options, error) {
	var o validators.Options
	rules, err := validators.Select(plaintextRules)
	if err != nil {
		return o, err
	}
	content, err := config()
	if errors.Is(err, fs.ErrNotExist) {
		o.Rules = rules
		return o, nil
	}
	if err != nil {
		return o, err
	}
	v, err := validators.ReadConfiguration(validators.ConfigurationFile, content)
	if err != nil {
		return o, err
	}
	v.Rules, v.Profiles = plaintextRules, nil
	if o, err = v.Options(); err != nil {
		return o, err
	}
	if v.Baseline == "" {
		return o, nil
	}
	o.BaselineFile = v.Baseline
	if content, err = read(v.Baseline); err == nil {
		if o.Baseline, err = finding.ReadBaseline(content); err != nil {
			err = fmt.Errorf("%s %w", output.Line(v.Baseline), err)
		}
	}
	if err != nil {
		return o, advice.Input(
			fmt.Errorf("spec.baseline of %s: %w", validators.ConfigurationFile, err),
			"write it with fleetwright validate --write-baseline "+output.Line(v.Baseline)+", and add it to the commit",
		)
	}
	return o, nil
}
