package render

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// platform opens the branch of the platform's target; nil if the platform's target is not committed.
func (c *committer) platform(ctx context.Context) (*commitJob, error) {
	j := &commitJob{}
	j.Target.Name = generators.PlatformTarget
	chosen, named := c.options.Destinations[generators.PlatformTarget]
	switch {
	case named:
		j.destination = chosen
		if chosen.Branch == "" && c.from.Spec != nil {
			j.destination.Branch = c.from.Spec.Fleet.Spec.Repository.Branch
		}
	case len(c.options.Destinations) > 0:
		return nil, nil
	default:
		root, err := c.ownRepository()
		if err != nil {
			return nil, err
		}
		j.destination = Destination{Repository: root}
	}
	if err := c.open(ctx, j); err != nil {
		return nil, j.fails(err)
	}
	c.jobs = append(c.jobs, j)
	return j, nil
}

// ownRepository returns the repository whose root is the folder with the specification.
func (c *committer) ownRepository() (string, error) {
	dir := c.from.Root
	root, ok := gitrepo.Root(dir)
	switch {
	case !ok:
		return "", advice.Input(
			fmt.Errorf("%q is not in a git repository", dir),
			fmt.Sprintf("run \"git init --initial-branch=main %s\", or name a repository with --target %s=REPO#BRANCH", dir, generators.PlatformTarget),
		)
	case !sameFolder(root, dir):
		return "", advice.Input(
			fmt.Errorf("%q is a folder in the git repository %q, but the platform target must be committed at the root of a repository", dir, root),
			fmt.Sprintf("name its repository with --target %s=REPO#BRANCH", generators.PlatformTarget),
		)
	}
	return root, nil
}

// sameFolder reports whether two paths are the same folder.
func sameFolder(a, b string) bool {
	left, err := os.Stat(a)
	if err != nil {
		return false
	}
	right, err := os.Stat(b)
	return err == nil && os.SameFile(left, right)
}

// checkNames returns an error if a destination names a target that does not exist.
func (c *committer) checkNames(targets []tree.Target) error {
	var names []string
	for _, t := range targets {
		names = append(names, t.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.options.Destinations)) {
		if !slices.Contains(names, name) {
			return advice.Input(fmt.Errorf("--target %q does not exist: want one of %s", name, strings.Join(names, ", ")), "")
		}
	}
	return nil
}

// assign determines the destination of each target.
func (c *committer) assign(targets []tree.Target, platform *commitJob, overwrite map[string][]string) {
	for _, t := range targets {
		if t.Name == generators.PlatformTarget {
			if platform != nil {
				platform.Target, platform.overwrite = t, overwrite[t.Name]
			} else {
				c.skip(t, "no --target names it", fmt.Sprintf("commit it with --target %s=REPO#BRANCH", t.Name))
			}
			continue
		}
		j := &commitJob{Committed: Committed{Target: t}, overwrite: overwrite[t.Name]}
		chosen, named := c.options.Destinations[t.Name]
		switch {
		case named:
			j.destination = chosen
		case t.Orphan && platform != nil:
			j.destination.Repository = platform.destination.Repository
		case len(c.options.Destinations) > 0:
			c.skip(t, "no --target names it", fmt.Sprintf("commit it with --target %s=REPO#BRANCH", t.Name))
			continue
		case c.options.Push && t.URL != "":
			j.destination.Repository = t.URL
		default:
			c.skip(t, "it has its own repository", fmt.Sprintf("commit it to %s#%s with --push, or to another place with --target %s=REPO#BRANCH",
				gitrepo.Redact(t.URL), t.Branch, t.Name))
			continue
		}
		if j.destination.Branch == "" {
			j.destination.Branch = t.Branch
		}
		c.jobs = append(c.jobs, j)
	}
}

func (c *committer) skip(t tree.Target, why, hint string) {
	c.skipped = append(c.skipped, Committed{Target: t, Skipped: why, SkipHint: hint})
}

// open opens the branch of a job, unless it is open.
func (c *committer) open(ctx context.Context, j *commitJob) (err error) {
	if j.branch != nil {
		return nil
	}
	if root, ok := gitrepo.Root(j.destination.Repository); ok && sameFolder(root, j.destination.Repository) {
		// An interrupted render leaves its journal in the work tree.
		if j.Recovery, err = c.recover(root); err != nil {
			return err
		}
	}
	o := gitrepo.Options{Orphan: c.shares(j), Push: c.options.Push, Env: c.options.Env, ReadOnly: c.options.DryRun}
	for {
		if j.branch, err = gitrepo.Open(ctx, j.destination.Repository, j.destination.Branch, o); err != nil {
			return err
		}
		j.Location, j.Branch = j.branch.Location(), j.branch.Name()
		j.reader = &branchReader{branch: j.branch, own: tree.Memory{}}
		inv, err := readInventory(j.Location+"#"+j.Branch+":", j.reader)
		if o.Orphan || j.Target.Name == generators.PlatformTarget || err != nil || inv.Target == "" || inv.Target == j.Target.Name {
			return nil //nolint:nilerr // compare returns the error
		}
		o.Orphan = true // the default branch belongs to another target
		j.close()
	}
}

// shares reports whether a tenant's target is in the repository of another target. A new branch there starts empty; in a
// repository of the tenant's own it starts from the default branch.
func (c *committer) shares(j *commitJob) bool {
	return j.Target.Orphan || j.Target.Name != generators.PlatformTarget && slices.ContainsFunc(c.jobs, func(other *commitJob) bool {
		return other != j && sameRepository(j.destination.Repository, other.destination.Repository)
	})
}

// recover completes an interrupted write to a work tree. In a dry run it returns an error instead, because the
// state after the recovery is unknown.
func (c *committer) recover(root string) (tree.Recovery, error) {
	if !c.options.DryRun {
		return tree.Recover(root)
	}
	found, err := tree.Look(root)
	if err == nil && found.Pending {
		err = advice.New(
			fmt.Errorf("a write to %q was interrupted or is still running", root),
			"run \"fleetwright render\" there, which finishes it, or commit without --dry-run",
		)
	}
	return found, err
}

// alone returns an error if another target has the same branch and repository, even if the location of the repository is
// written differently.
func (c *committer) alone(j *commitJob) error {
	for _, other := range c.jobs {
		if other == j {
			return nil // the jobs after it are not open yet
		}
		if j.Branch == other.Branch && sameRepository(j.Location, other.Location) {
			return advice.Input(
				fmt.Errorf("targets %s and %s would both be committed to %s#%s", other.Target.Name, j.Target.Name, j.Location, j.Branch),
				fmt.Sprintf("name another branch or repository, with --target %s=REPO#BRANCH", j.Target.Name),
			)
		}
	}
	return nil
}

// sameRepository reports whether two locations are the same repository. It compares their strings and the local folders.
func sameRepository(a, b string) bool {
	a, b = withoutFile(a), withoutFile(b)
	plain := func(location string) string { return strings.TrimSuffix(strings.TrimRight(location, "/"), ".git") }
	return plain(a) == plain(b) || sameFolder(a, b)
}

// withoutFile returns the path of a file:// URL, and any other location unchanged.
func withoutFile(location string) string {
	if u, err := url.Parse(location); err == nil && u.Scheme == "file" {
		return u.Path
	}
	return location
}
