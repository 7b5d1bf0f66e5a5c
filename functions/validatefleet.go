package functions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/fn/framework"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/render"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators"
)

// validateFleet is the configuration of ValidateFleet.
type validateFleet struct {
	rules  []string
	failOn string
}

func newValidateFleet() (settings, runner) {
	f := &validateFleet{failOn: string(finding.Error)}
	return settings{
		"rules":  listSetting(&f.rules),
		"failOn": textSetting(&f.failOn, string(finding.Error), string(finding.Warning), string(finding.Info)),
	}, f.run
}

// run checks the items as validate checks a repository's files.
func (f *validateFleet) run(ctx context.Context, list *resourceList, _ Options) error {
	rules, err := validators.Select(f.rules)
	if err != nil {
		bad := &render.BadInput{Err: fmt.Errorf("functionConfig ValidateFleet: rules: %w", err)}
		if unknown := (*validators.UnknownRule)(nil); errors.As(err, &unknown) {
			bad.Hint = unknown.Hint()
		}
		return bad
	}
	items, err := list.repositoryItems()
	if err != nil {
		return err
	}
	repo, err := repository.FromItems(items, repository.Options{})
	if err != nil {
		return &render.BadInput{Err: fmt.Errorf("reading the items: %w", err)}
	}
	report, err := validators.Run(ctx, repo, validators.Options{Rules: rules})
	if err != nil {
		return err
	}
	if report.Empty() {
		return &render.BadInput{Err: errors.New("nothing found to check: there is no item")}
	}
	lines := list.report(report)
	list.keepForValidation()
	if !report.Reaches(finding.Severity(f.failOn)) {
		return nil
	}
	return &FindingsError{Text: strings.Join(append(lines, counted(report.Summary)), "\n")}
}

// counted is the line of summary.
func counted(s finding.Summary) string {
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
	return strings.Join(parts, ", ")
}

// report turns a report into results, and returns a line for each finding:
// kustomize shows nothing but the text of an error, and kpt's own text of a
// result leaves out the file and the rule.
func (l *resourceList) report(r finding.Report) []string {
	var lines []string
	for _, f := range r.Findings {
		message := fmt.Sprintf("%s [%s]", f.Message, f.Rule)
		if f.Hint != "" {
			message += "\n  hint: " + f.Hint
		}
		l.results = append(l.results, &framework.Result{
			Message: message, Severity: framework.Severity(f.Severity),
			ResourceRef: identify(f.Object.APIVersion, f.Object.Kind, f.Object.Namespace, f.Object.Name),
			File:        l.resultFile(f.File), Tags: map[string]string{"rule": f.Rule},
		})
		line := fmt.Sprintf("%s: %s: %s", f.Severity, objectText(f.Object), message)
		if !l.kustomize {
			line = f.File + ": " + line
		}
		lines = append(lines, line)
	}
	for _, u := range r.Unresolved {
		l.results = append(l.results, &framework.Result{
			Message: fmt.Sprintf("unresolved: %s [%s]", u.Reason, u.Rule), Severity: framework.Info,
			File: l.resultFile(u.File), Tags: map[string]string{"rule": u.Rule},
		})
	}
	return lines
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
