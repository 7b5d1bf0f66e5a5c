package main

import (
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// renderReport is the JSON output of render and commit. Fields may be added and are never renamed; lists are never null.
type renderReport struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Check      bool           `json:"check"`
	Targets    []targetReport `json:"targets"`
	// AbsentSecrets are the declared Secrets that have no file yet.
	AbsentSecrets []absentSecret `json:"absentSecrets"`
	Errors        []string       `json:"errors"`
}

// absentSecret is a declared Secret without a file.
type absentSecret struct {
	Path      string   `json:"path"`
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Clusters  []string `json:"clusters"`
}

// targetReport is one target, with the files that changed or would change.
type targetReport struct {
	Name      string           `json:"name"`
	Dir       string           `json:"dir"`
	Created   []string         `json:"created"`
	Updated   []string         `json:"updated"`
	Deleted   []string         `json:"deleted"`
	Unchanged int              `json:"unchanged"`
	Conflicts []conflictReport `json:"conflicts"`
	// Left are the files of Secrets whose declaration was removed. They now belong to the user.
	Left []leftReport `json:"left"`
	// Missing are the folders of a tenant's repository that Flux applies and that do not exist.
	Missing []string `json:"missing,omitempty"`
	// RenderedBy is the release that last rendered the target; "" if it was not a release.
	RenderedBy string `json:"renderedBy,omitempty"`
	// Only commit sets the following fields.
	Repository string `json:"repository,omitempty"`
	Branch     string `json:"branch,omitempty"`
	Commit     string `json:"commit,omitempty"`
	Parent     string `json:"parent,omitempty"`
	State      string `json:"state,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Message    string `json:"message,omitempty"`
}

type conflictReport struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
	Diff    string `json:"diff"`
}

type leftReport struct {
	Path    string `json:"path"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// newRenderReport returns an empty report of a kind. check is set for a run that writes nothing.
func newRenderReport(kind string, check bool) *renderReport {
	return &renderReport{
		APIVersion: v1alpha1.APIVersion, Kind: kind, Check: check,
		Targets: []targetReport{}, AbsentSecrets: []absentSecret{}, Errors: []string{},
	}
}

// addAbsent adds the declared Secrets that have no file.
func (r *renderReport) addAbsent(files []generators.SecretFile) {
	for _, f := range files {
		r.AbsentSecrets = append(r.AbsentSecrets, absentSecret{f.Path, f.Secret.Namespace, f.Secret.Name, f.Clusters})
	}
}

// printAbsent prints the declared Secrets without a file, and the command that creates the files.
func printAbsent(s streams, files []generators.SecretFile, dir string) {
	if len(files) == 0 {
		return
	}
	verb, them := "does", "it"
	if len(files) > 1 {
		verb, them = "do", "them"
	}
	_ = output.Printf(s.out, "%s %s not exist yet, and no kustomization lists %s:\n", finding.Count(len(files), "declared Secret"), verb, them)
	for _, f := range files {
		_ = output.Printf(s.out, "  %s  %s\n", f.Path, f.Secret)
	}
	_ = output.Printf(s.out, "  hint: run \"fleetwright secrets sync%s\"\n", withDir(dir))
}

// add adds a target. plan is nil if planning failed.
func (r *renderReport) add(name, dir string, plan *tree.Plan) *targetReport {
	t := targetReport{Name: name, Dir: dir, Created: []string{}, Updated: []string{}, Deleted: []string{}, Conflicts: []conflictReport{}, Left: []leftReport{}}
	if plan != nil {
		t.RenderedBy = plan.RenderedBy
		for _, s := range plan.Steps {
			switch s.Action {
			case tree.Create:
				t.Created = append(t.Created, s.Path)
			case tree.Update:
				t.Updated = append(t.Updated, s.Path)
			case tree.Delete:
				t.Deleted = append(t.Deleted, s.Path)
			case tree.Keep:
				t.Unchanged++
			}
		}
		for _, c := range plan.Conflicts {
			t.Conflicts = append(t.Conflicts, conflictReport{
				Path: c.Path, Kind: string(c.Kind), Message: c.Message(), Hint: c.Hint(), Diff: string(c.Diff()),
			})
		}
		for _, l := range plan.Left {
			t.Left = append(t.Left, leftReport{l.Path, l.Message(), l.Hint()})
		}
	}
	r.Targets = append(r.Targets, t)
	return &r.Targets[len(r.Targets)-1]
}

// stale reports whether the report has conflicts, or changes that a check found.
func (r *renderReport) stale() bool {
	return slices.ContainsFunc(r.Targets, func(t targetReport) bool {
		return len(t.Conflicts) > 0 || r.Check && len(t.Created)+len(t.Updated)+len(t.Deleted) > 0
	})
}

// print prints the report, and returns an error for the exit status.
func (r *renderReport) print(s streams, err error, findings bool) error {
	if err != nil {
		_, text := explain(err)
		r.Errors = append(r.Errors, strings.Split(text, "\n")...)
	}
	if werr := writeJSON(s.out, r); werr != nil {
		return werr
	}
	if err == nil && findings {
		return findingsStatus()
	}
	return err
}
