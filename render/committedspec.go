package render

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// isSpecPath reports whether a path to overwrite is the specification or one of its files.
func isSpecPath(p string) bool {
	p = strings.TrimPrefix(filepath.ToSlash(p), "./")
	return p == SpecFolder || p == SpecFolder+"/" || strings.HasPrefix(p, SpecFolder+"/")
}

// specification returns the changes to the specification in the repository that are part of the platform's commit. The
// commit must contain the specification from which the files were rendered; otherwise it is refused.
func (c *committer) specification(j *commitJob) ([]tree.Step, error) {
	files, spec := c.rendered.Files, c.rendered.Spec
	if spec == nil {
		return nil, nil // the stream has no specification
	}
	there, err := j.reader.under(SpecFolder)
	if err != nil {
		return nil, err
	}
	own := c.checkedOut(j) && sameFolder(j.branch.WorkTree(), c.rendered.Root)
	if own && c.rendered.Stream != nil {
		read, err := ReadSpecification(c.rendered.Root)
		if err != nil || !read.Spec.Equal(spec) {
			return nil, c.differs(j, "the work tree")
		}
		files = read.Files
	}
	if own || len(there) == 0 || slices.ContainsFunc(c.options.Overwrite, isSpecPath) {
		return specSteps(j.reader, files, there)
	}
	same, err := sameSpecification(j.reader, there, spec)
	if err != nil {
		return nil, err
	}
	if !same {
		return nil, c.differs(j, fmt.Sprintf("%s#%s", j.Location, j.Branch))
	}
	return nil, nil
}

func (c *committer) differs(j *commitJob, where string) error {
	return advice.New(
		fmt.Errorf("refused: the specification in %s/ of %s differs from the one that was rendered", SpecFolder, where),
		fmt.Sprintf("commit from a clone of %s, with the %s/ in it; or replace the specification there with --overwrite %s",
			j.Location, SpecFolder, SpecFolder),
	)
}

// sameSpecification reports whether files of a branch are the same specification.
func sameSpecification(r tree.Reader, paths []string, spec *v1alpha1.Spec) (bool, error) {
	var files []specs.File
	for _, p := range paths {
		content, err := r.ReadFile(p)
		if err != nil {
			return false, err
		}
		files = append(files, specs.File{Path: p, Content: content})
	}
	there, err := specs.Load(files)
	if err != nil {
		return false, nil //nolint:nilerr // a specification that does not load is another one
	}
	return there.Equal(spec), nil
}

// throughLink returns an error if the path of a specification file in the branch contains a symlink, because a
// commit writes regular files and replaces no links.
func throughLink(r tree.Reader, name string) error {
	_, err := r.ReadFile(name)
	var blocked *tree.BlockedError
	if !errors.As(err, &blocked) || blocked.What != tree.ASymlink {
		return nil // anything else at the path is refused when the file is written
	}
	return advice.New(
		fmt.Errorf("refused: %q of the specification is %s in the branch, but a commit contains only regular files",
			blocked.At, blocked.What),
		fmt.Sprintf("replace it with its target: rm %[1]s, then copy the target to %[1]s and commit that with git", blocked.At),
	)
}

// specSteps returns the steps that write the files of the specification to the branch, and delete the others.
func specSteps(r tree.Reader, files []specs.File, there []string) ([]tree.Step, error) {
	var steps []tree.Step
	keep := map[string]bool{}
	for _, f := range files {
		keep[f.Path] = true
		step := tree.Step{Path: f.Path, Action: tree.Create, New: f.Content}
		if slices.Contains(there, f.Path) {
			old, err := r.ReadFile(f.Path)
			if err != nil {
				return nil, err
			}
			if string(old) == string(f.Content) {
				continue
			}
			step.Action, step.Old = tree.Update, old
		} else if err := throughLink(r, f.Path); err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	for _, p := range there {
		if keep[p] {
			continue
		}
		old, err := r.ReadFile(p)
		if err != nil {
			return nil, err
		}
		steps = append(steps, tree.Step{Path: p, Action: tree.Delete, Old: old})
	}
	sorting.Func(steps, func(a, b tree.Step) int { return strings.Compare(a.Path, b.Path) })
	return steps, nil
}
