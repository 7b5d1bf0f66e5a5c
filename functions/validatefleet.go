package functions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/fn/framework"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/regular"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/settings"
	"github.com/fleetwright/fleetwright/validators"
)

type validateFleet struct{ validators.Configuration }

func newValidateFleet() (settings.Fields, runner) {
	f := &validateFleet{}
	return f.Fields(), f.run
}

// run validates the items as `fleetwright validate` validates the files of a repository.
func (f *validateFleet) run(ctx context.Context, list *resourceList, o Options) error {
	options, err := f.Options()
	if err != nil {
		return advice.Input(fmt.Errorf("functionConfig ValidateFleet: %w", err), "")
	}
	if f.Baseline != "" {
		options.BaselineFile = f.Baseline
		if options.Baseline, err = f.readBaseline(o); err != nil {
			return err
		}
	}
	for i := range options.Ignore {
		// The line numbers refer to the ResourceList, not to a file.
		options.Ignore[i].Line, options.Ignore[i].Column = 0, 0
	}
	items, err := list.repositoryItems()
	if err != nil {
		return err
	}
	repo, err := repository.FromPlaced(items, repository.Options{})
	if err != nil {
		return advice.Input(fmt.Errorf("reading the items: %w", err), "")
	}
	fetched, err := o.fetched()
	if err != nil {
		return err
	}
	options.Reconcile.Fetched, options.Reconcile.FetchedSources, options.Reconcile.Lock = fetched.Charts, fetched.Sources, fetched.Lock
	report, err := validators.Run(ctx, repo, options)
	if err != nil {
		return err
	}
	if report.Empty() {
		return advice.Input(errors.New("nothing found to check: the ResourceList has no items"), "")
	}
	lines, unresolved := list.report(report)
	list.keepForValidation()
	if f.FailOnUnresolved {
		lines = append(lines, unresolved...)
	}
	var coverage finding.Coverage
	if report.Summary.Coverage != nil {
		coverage = *report.Summary.Coverage
	}
	little := coverage.Percent() < f.MinCoverage
	if little {
		lines = append(lines, coverage.Below(f.MinCoverage))
	}
	if !little && !report.Reaches(f.FailOn) && (!f.FailOnUnresolved || len(unresolved) == 0) {
		return nil
	}
	return &FindingsError{Text: strings.Join(append(lines, counted(report)), "\n")}
}

// readBaseline reads the baseline, which must be inside the working directory.
func (f *validateFleet) readBaseline(o Options) (*finding.Baseline, error) {
	bad := func(err error) error {
		return advice.Input(
			fmt.Errorf("functionConfig ValidateFleet: spec.baseline: %s %w", f.Baseline, err),
			"name a file that fleetwright validate --write-baseline wrote, relative to the working directory (exec form)",
		)
	}
	root, err := os.OpenRoot(o.Root)
	if err != nil {
		return nil, bad(err)
	}
	defer func() { _ = root.Close() }()
	name := filepath.FromSlash(f.Baseline)
	if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, bad(errors.New("is not a file inside the working directory"))
	}
	file, err := regular.OpenIn(root, name)
	if err != nil {
		return nil, bad(errors.New("cannot be read inside the working directory"))
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, finding.MaxBaseline+1))
	if err != nil {
		return nil, bad(errors.New("cannot be read"))
	}
	b, err := finding.ReadBaseline(data)
	if err != nil {
		return nil, bad(err)
	}
	return b, nil
}

// counted returns the summary line.
func counted(r finding.Report) string {
	s := r.Summary
	var parts []string
	for _, part := range []struct {
		n    int
		name string
	}{{s.Errors, "error"}, {s.Warnings, "warning"}, {s.Infos, "info"}} {
		switch {
		case part.n == 1:
			parts = append(parts, "1 "+part.name)
		case part.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", part.n, part.name))
		}
	}
	if n := len(r.Unresolved); n > 0 {
		parts = append(parts, fmt.Sprintf("%d unresolved", n))
	}
	if s.Ignored > 0 {
		parts = append(parts, fmt.Sprintf("%d ignored", s.Ignored))
	}
	return strings.Join(parts, ", ")
}

// report adds a report to the results. It returns one line for each finding and each unresolved check, because kustomize
// shows only the text of an error, and kpt omits the file and the rule of a result.
func (l *resourceList) report(r finding.Report) (lines, unresolved []string) {
	for _, f := range r.Findings {
		message := fmt.Sprintf("%s [%s]", output.Line(f.Message), f.Rule)
		if f.Hint != "" {
			message += "\n  hint: " + output.Line(f.Hint)
		}
		l.results = append(l.results, &framework.Result{
			Message: message, Severity: framework.Severity(f.Severity),
			ResourceRef: identify(f.Object.APIVersion, f.Object.Kind, f.Object.Namespace, f.Object.Name),
			File:        l.resultFile(f.File), Tags: map[string]string{"rule": f.Rule},
		})
		line := string(f.Severity) + ": "
		if object := objectText(f.Object); object != "" {
			line += output.Line(object) + ": "
		}
		if line += message; !l.kustomize && f.File != "" {
			line = output.Line(f.File) + ": " + line
		}
		lines = append(lines, line)
	}
	for _, u := range r.Unresolved {
		line := fmt.Sprintf("unresolved: %s [%s]", output.Line(u.Reason), u.Rule)
		l.results = append(l.results, &framework.Result{
			Message: line, Severity: framework.Info,
			File: l.resultFile(u.File), Tags: map[string]string{"rule": u.Rule},
		})
		if !l.kustomize && u.File != "" {
			line = output.Line(u.File) + ": " + line
		}
		unresolved = append(unresolved, line)
	}
	if c := r.Summary.Coverage; c != nil && !c.Nothing() {
		l.results = append(l.results, covered(c))
	}
	return lines, unresolved
}

// covered returns a result with the coverage, and its figures as tags.
func covered(c *finding.Coverage) *framework.Result {
	tags := map[string]string{}
	for _, f := range c.Figures() {
		tags[f.Name] = strconv.Itoa(f.Value)
	}
	return &framework.Result{Message: "coverage: " + c.String(), Severity: framework.Info, Tags: tags}
}

// resultFile returns the file of a result; nil for objects from kustomize, which have none.
func (l *resourceList) resultFile(file string) *framework.File {
	if file == "" || l.kustomize {
		return nil
	}
	return &framework.File{Path: file}
}

// objectText returns an object's name: kind namespace/name.
func objectText(o finding.Object) string {
	return strings.TrimSpace(o.Kind + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"))
}
