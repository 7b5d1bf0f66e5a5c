package functions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/fn/framework"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/settings"
)

// verifyBootstrap is the configuration of VerifyBootstrap.
type verifyBootstrap struct {
	files map[string][]byte
	root  string
}

func newVerifyBootstrap() (settings.Fields, runner) {
	f := &verifyBootstrap{}
	return settings.Fields{"files": filesSetting(&f.files), "root": settings.Text(&f.root)}, f.run
}

// run compares bootstrap files with the HelmReleases among the items, or in a folder.
func (f *verifyBootstrap) run(ctx context.Context, list *resourceList, o Options) error {
	repo, err := f.repository(list, o)
	if err != nil {
		return err
	}
	fetched, err := o.fetched()
	if err != nil {
		return err
	}
	report, err := bootstrap.VerifyFetched(ctx, repo, fetched)
	if errors.Is(err, bootstrap.ErrNoBootstrap) {
		return advice.Input(err, "set spec.files to the helmfile and the files that it reads, or spec.root to the folder (exec form)")
	}
	if err != nil {
		return err
	}
	var lines []string
	for _, r := range report.Releases {
		lines = append(lines, list.release(r)...)
	}
	for _, f := range report.Flux {
		lines = append(lines, list.flux(f)...)
	}
	for _, r := range report.Refusals {
		if r.Stops() {
			lines = append(lines, list.stop(r.File, r.Line, "helmfile fails: "+r.Reason, bootstrap.RuleRefused))
		}
	}
	for _, o := range report.Order {
		if o.Refused && !o.Ignored {
			lines = append(lines, list.stop(o.File, o.Line, o.Message, o.Rule))
		}
	}
	list.keepForValidation()
	if len(lines) == 0 {
		return nil
	}
	return &FindingsError{Text: strings.Join(append(lines, report.Summary.String()), "\n")}
}

// repository returns the folder that the functionConfig names, or the items together with the files in the
// functionConfig. A helmfile is not an object, so it is never an item.
func (f *verifyBootstrap) repository(list *resourceList, o Options) (*repository.Repository, error) {
	switch {
	case f.root != "" && len(f.files) > 0:
		return nil, advice.Input(errors.New("functionConfig VerifyBootstrap: spec.root and spec.files cannot be used together"), "")
	case f.root != "":
		dir, err := inside(o.Root, f.root, "spec.root")
		if err != nil {
			return nil, err
		}
		repo, err := repository.Load(dir, repository.Options{})
		if err != nil {
			return nil, advice.Input(err, "")
		}
		return repo, nil
	case len(f.files) == 0:
		return nil, advice.Input(
			errors.New("functionConfig VerifyBootstrap: no bootstrap to verify"),
			"set spec.files (path: content) to the helmfile and the files that it reads, or spec.root to the folder (exec form)",
		)
	}
	all, err := list.itemFiles()
	if err != nil {
		return nil, err
	}
	for name, content := range f.files {
		if _, twice := all[name]; twice {
			return nil, advice.Input(fmt.Errorf("functionConfig VerifyBootstrap: spec.files[%q] is also among the items", name), "")
		}
		all[name] = content
	}
	repo, err := repository.FromFiles(maps.All(all), repository.Options{})
	if err != nil {
		return nil, advice.Input(fmt.Errorf("functionConfig VerifyBootstrap: spec.files: %w", err), "")
	}
	return repo, nil
}

// itemFiles returns the items as files: the files of their package, and a separate file for each object without a path.
func (l *resourceList) itemFiles() (map[string][]byte, error) {
	p, err := readPackage(l)
	if err != nil {
		return nil, advice.Input(err, "")
	}
	for _, item := range p.placeless {
		file := fileFor(item)
		p.files[file] = append(p.files[file], item)
	}
	current, err := p.contents()
	return current, err
}

// stop adds the result that helmfile installs nothing from a file, and returns the line of the error.
func (l *resourceList) stop(file string, line int, message, rule string) string {
	message = fmt.Sprintf("%s:%d: %s [%s]", file, line, message, rule)
	l.results = append(l.results, &framework.Result{Severity: framework.Error, File: &framework.File{Path: file},
		Message: message, Tags: map[string]string{"rule": rule}})
	return message
}

// sideText returns the value of a side, with the version in the lock for a range.
func sideText(s bootstrap.Side) string {
	if s.Locked == "" {
		return valueText(s.Value)
	}
	return fmt.Sprintf("%s (%s in the lock)", valueText(s.Value), s.Locked)
}

// release adds a result with the verdict on one release, and returns the lines of the error.
func (l *resourceList) release(r bootstrap.ReleaseReport) []string {
	place := fmt.Sprintf("%s:%d", r.File, r.Line)
	name := fmt.Sprintf("release %s/%s", r.Namespace, r.Release)
	result := &framework.Result{Severity: framework.Error, File: &framework.File{Path: r.File}}
	switch r.Verdict {
	case bootstrap.Missing:
		result.Message = fmt.Sprintf("%s: %s: %s [%s]", place, name, r.Reason, bootstrap.RuleHelmReleaseMissing)
		l.results = append(l.results, result)
		return []string{result.Message}
	case bootstrap.Unresolved:
		result.Severity, result.Message = framework.Info, fmt.Sprintf("%s: %s: unresolved: %s", place, name, r.Reason)
		l.results = append(l.results, result)
		return nil
	case bootstrap.Drift:
	default:
		return nil
	}
	var lines []string
	for _, d := range r.Differences {
		if d.Ignored {
			continue
		}
		one := *result
		one.ResourceRef = identify(r.Object.APIVersion, "HelmRelease", r.Object.Namespace, r.Object.Name)
		one.Field = &framework.Field{Path: d.Field, CurrentValue: valueText(d.Bootstrap.Value), ProposedValue: valueText(d.Git.Value)}
		one.Tags = map[string]string{"rule": d.Rule}
		one.Message = fmt.Sprintf("%s: %s drifts from HelmRelease %s/%s: %s is %s, but %s in Git [%s]", place, name,
			r.Object.Namespace, r.Object.Name, d.Field, sideText(d.Bootstrap), sideText(d.Git), d.Rule)
		l.results = append(l.results, &one)
		lines = append(lines, one.Message)
	}
	return lines
}

// flux adds a result with the verdict on the installation of Flux, and returns the lines of the error.
func (l *resourceList) flux(f bootstrap.FluxReport) []string {
	place := fmt.Sprintf("%s:%d", f.File, f.Line)
	result := &framework.Result{Severity: framework.Error, File: &framework.File{Path: f.File}}
	if f.Verdict == bootstrap.Unresolved {
		result.Severity, result.Message = framework.Info, fmt.Sprintf("%s: %s: unresolved: %s", place, f.Installs, f.Reason)
		l.results = append(l.results, result)
	}
	if f.Verdict != bootstrap.Drift {
		return nil
	}
	var lines []string
	for _, d := range f.Differences {
		if d.Ignored {
			continue
		}
		one := *result
		one.Field = &framework.Field{Path: d.Field, CurrentValue: valueText(d.Bootstrap.Value), ProposedValue: valueText(d.Git.Value)}
		one.Tags = map[string]string{"rule": d.Rule}
		one.Message = fmt.Sprintf("%s: %s drifts from %s: %s is %s, but %s in Git [%s]", place, f.Installs, f.Git,
			d.Field, valueText(d.Bootstrap.Value), valueText(d.Git.Value), d.Rule)
		l.results = append(l.results, &one)
		lines = append(lines, one.Message)
	}
	return lines
}

// valueText returns a value as messages show it.
func valueText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
