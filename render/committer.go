package render

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// generate generates the targets from the files in the platform's branch and in the folder of the specification, and
// determines the destination of each.
func (c *committer) generate(ctx context.Context) error {
	platform, err := c.platform(ctx)
	if err != nil {
		return err
	}
	folder, err := tree.OpenFolder(c.from.Root)
	if err != nil {
		return err
	}
	defer folder.Close()
	from := GenerateOptions{Platform: []tree.Reader{folder}, Secrets: []tree.Reader{folder}}
	if platform != nil {
		from = GenerateOptions{Platform: []tree.Reader{platform.reader, folder}, Secrets: []tree.Reader{folder, platform.reader}}
	}
	if c.rendered, err = Generate(c.from, from); err != nil {
		return err
	}
	if err := c.checkNames(c.rendered.Targets); err != nil {
		return err
	}
	paths := slices.DeleteFunc(slices.Clone(c.options.Overwrite), isSpecPath)
	overwrite, err := splitOverwrite(paths, c.rendered.Targets)
	if err != nil {
		return err
	}
	c.assign(c.rendered.Targets, platform, overwrite)
	return nil
}

// compareAll plans and checks all commits.
func (c *committer) compareAll(ctx context.Context) error {
	for _, j := range c.jobs {
		if err := c.open(ctx, j); err != nil {
			return j.fails(err)
		}
		if err := c.alone(j); err != nil {
			return err
		}
		if err := c.compare(ctx, j); err != nil {
			return j.fails(err)
		}
	}
	return nil
}

// compare compares a target with the head of its branch and checks that it can be committed.
func (c *committer) compare(ctx context.Context, j *commitJob) error {
	inv, err := readInventory(j.Location+"#"+j.Branch+":", j.reader)
	if err != nil {
		return err
	}
	j.changes, j.Specification = nil, nil
	if c.checkedOut(j) {
		own, merged, err := j.reader.adoptWorkTree(j.branch.WorkTree(), j.Target.Tree, inv)
		if err != nil {
			return err
		}
		inv = merged
		for _, p := range slices.Sorted(maps.Keys(own)) {
			j.changes = append(j.changes, gitrepo.Change{Path: p, Content: own[p]})
		}
	}
	if err := j.takeOver(inv); err != nil {
		return err
	}
	files, _, err := j.branch.List()
	if err != nil {
		return err
	}
	j.Missing = missing(j.Target, func(dir string) bool {
		return slices.ContainsFunc(files, func(file string) bool { return strings.HasPrefix(file, dir+"/") })
	})
	if j.Plan, err = Compare(c.rendered, j.Target, j.reader, inv, j.overwrite, c.options.AllowRemoval); err != nil {
		return err
	}
	for step := range j.Plan.Changes() {
		j.changes = append(j.changes, gitrepo.Change{Path: step.Path, Content: step.New, Delete: step.Action == tree.Delete})
	}
	if j.Target.Name == generators.PlatformTarget {
		if j.Specification, err = c.specification(j); err != nil {
			return err
		}
		for _, step := range j.Specification {
			j.changes = append(j.changes, gitrepo.Change{Path: step.Path, Content: step.New, Delete: step.Action == tree.Delete})
		}
	}
	if j.options, err = c.commitOptions(j); err != nil {
		return err
	}
	check := j.options
	check.DryRun = true
	if j.Result, err = j.branch.Commit(ctx, j.changes, check); err != nil {
		return c.unrendered(j, err)
	}
	if c.options.Unsigned || !j.Result.Changed {
		return nil
	}
	j.options.Sign, err = gitrepo.Signs(c.options.Env, cmp.Or(j.branch.WorkTree(), c.from.Root), c.options.Push || j.branch.Remote())
	return err
}

// unrendered adds a hint to an error about uncommitted changes if the work tree contains an earlier render, whose
// inventory is neither the committed nor the new one.
func (c *committer) unrendered(j *commitJob, err error) error {
	var dirty *gitrepo.DirtyError
	if !errors.As(err, &dirty) || !sameFolder(j.branch.WorkTree(), c.from.Root) ||
		!slices.ContainsFunc(dirty.Paths, func(p gitrepo.DirtyPath) bool { return p.Path == tree.InventoryPath }) {
		return err
	}
	return advice.New(err, "the work tree contains an earlier render: run \"fleetwright render\" there, and commit again")
}

func (c *committer) commitOptions(j *commitJob) (gitrepo.CommitOptions, error) {
	dir := j.branch.WorkTree()
	if dir == "" {
		dir = c.from.Root
	}
	author, by, err := gitrepo.ResolveAuthor(c.options.Author, c.options.Env, dir, c.options.Now)
	if errors.Is(err, gitrepo.ErrNoIdentity) && len(j.changes) == 0 { // no commit is created, so no author is needed
		err = nil
		author = gitrepo.Signature{Name: "none", Email: "none@localhost", When: c.options.Now}
		by = author
	}
	j.Message = c.message(j)
	return gitrepo.CommitOptions{Message: j.Message, Author: author, Committer: by}, err
}

// commit creates one commit. If the branch moved in the meantime, or a push was rejected, it tries once more on
// top of the new head.
func (c *committer) commit(ctx context.Context, j *commitJob) error {
	result, err := j.branch.Commit(ctx, j.changes, j.options)
	if errors.Is(err, gitrepo.ErrMoved) || errors.Is(err, gitrepo.ErrRejected) {
		j.close()
		if err = c.open(ctx, j); err == nil {
			err = c.compare(ctx, j)
		}
		if err == nil {
			result, err = j.branch.Commit(ctx, j.changes, j.options)
		}
	}
	if err != nil {
		return j.fails(err)
	}
	j.Result, j.Done = result, true
	return nil
}

// applyAll creates the commits. The platform's comes last, so that everything it references exists when Flux reads it.
func (c *committer) applyAll(ctx context.Context) error {
	for _, j := range slices.Backward(c.jobs) {
		if err := c.commit(ctx, j); err != nil {
			return err
		}
	}
	return nil
}
