package functions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/fn/framework"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/regular"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/validators"
)

// validateFleet is the function ValidateFleet.
type validateFleet struct{ Validation }

func newValidateFleet() (settings, runner) {
	f := &validateFleet{}
	return f.settings(), f.run
}

// run checks the items as validate checks a repository's files.
func (f *validateFleet) run(ctx context.Context, list *resourceList, o Options) error {
	options, err := f.Options()
	if err != nil {
		return &render.BadInput{Err: fmt.Errorf("functionConfig ValidateFleet: %w", err)}
	}
	if f.Baseline != "" {
		options.BaselineFile = f.Baseline
		if options.Baseline, err = f.readBaseline(o); err != nil {
			return err
		}
	}
	for i := range options.Ignore {
		// The lines are those of the ResourceList.
		options.Ignore[i].Line, options.Ignore[i].Column = 0, 0
	}
	items, err := list.repositoryItems()
	if err != nil {
		return err
	}
	repo, err := repository.FromItems(items, repository.Options{})
	if err != nil {
		return &render.BadInput{Err: fmt.Errorf("reading the items: %w", err)}
	}
	if err := f.CheckRoots(repo); err != nil {
		return err
	}
	report, err := validators.Run(ctx, repo, options)
	if err != nil {
		return err
	}
	if report.Empty() {
		return &render.BadInput{Err: errors.New("nothing found to check: there is no item")}
	}
	lines, unresolved := list.report(report)
	list.keepForValidation()
	if f.FailOnUnresolved {
		lines = append(lines, unresolved...)
	}
	if !report.Reaches(f.FailOn) && (!f.FailOnUnresolved || len(unresolved) == 0) {
		return nil
	}
	return &FindingsError{Text: strings.Join(append(lines, counted(report)), "\n")}
}

// readBaseline reads the baseline inside of the working directory.
func (f *validateFleet) readBaseline(o Options) (*finding.Baseline, error) {
	bad := func(err error) error {
		return &render.BadInput{Err: fmt.Errorf("functionConfig ValidateFleet: spec.baseline: %s %w", f.Baseline, err),
			Hint: "name a file that fleetwright validate --write-baseline wrote, from the working directory (exec form)"}
	}
	root, err := os.OpenRoot(o.Root)
	if err != nil {
		return nil, bad(err)
	}
	defer func() { _ = root.Close() }()
	name := filepath.FromSlash(f.Baseline)
	if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, bad(errors.New("is no file inside of the working directory"))
	}
	file, err := regular.OpenIn(root, name)
	if err != nil {
		return nil, bad(errors.New("cannot be read inside of the working directory"))
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

// counted is the line of summary.
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

// report turns a report into results, and returns a line for each finding, and
// for what is unresolved: kustomize shows nothing but the text of an error, and kpt's own text of a
// result leaves out the file and the rule.
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
		line := fmt.Sprintf("%s: %s: %s", f.Severity, output.Line(objectText(f.Object)), message)
		if !l.kustomize {
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
		if !l.kustomize {
			line = output.Line(u.File) + ": " + line
		}
		unresolved = append(unresolved, line)
	}
	return lines, unresolved
}

// resultFile is the file of a result; kustomize's objects have none.
func (l *resourceList) resultFile(file string) *framework.File {
	if file == "" || l.kustomize {
		return nil
	}
	return &framework.File{Path: file}
}

// objectText names an object: kind namespace/name.
func objectText(o finding.Object) string {
	return strings.TrimSpace(o.Kind + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"))
}
