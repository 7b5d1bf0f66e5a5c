package render

import (
	"fmt"
	"time"

	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// CommitOptions say where rendered targets are committed, and by whom.
type CommitOptions struct {
	// Destinations of targets by name. Without any, the platform goes to the
	// repository around Source.Root, on the branch that is checked out. Tenants
	// on a branch of the platform repository follow the platform; other tenants
	// go to their own URL and branch when Push is set, and are left out
	// otherwise. With some, only those targets (and what follows the platform)
	// are committed.
	Destinations map[string]Destination
	// Push sends commits in local repositories to their remote too.
	Push bool
	// DryRun plans and checks everything and writes nothing.
	DryRun bool
	// Overwrite is as in FolderOptions; "fleet" replaces the specification in
	// the platform's repository.
	Overwrite []string
	// Unsigned commits although git's configuration wants signatures.
	Unsigned bool
	// Author is "Name <email>"; empty takes git's environment and configuration.
	Author string
	// Message replaces the first line of each commit's message.
	Message string
	Env     func(string) string
	Now     time.Time
}

// Destination is a repository (a path or URL) and a branch; without a branch the
// target's own.
type Destination struct{ Repository, Branch string }

// Committed is a target and what a commit did with it.
type Committed struct {
	Target tree.Target
	// Location and Branch are where the target goes; empty when it is Skipped.
	Location, Branch string
	// Plan is nil when the target was not planned.
	Plan *tree.Plan
	// Specification are the files of fleet/ that the commit writes or deletes.
	Specification []tree.Step
	Message       string
	Result        gitrepo.Result
	// Done says that the commit was made, or that nothing had to be done.
	Done bool
	// Recovery says what an interrupted write of the work tree left.
	Recovery tree.Recovery
	// Skipped says why the target was left out, and SkipHint how to commit it.
	Skipped, SkipHint string
}

// committer commits the targets of one source.
type committer struct {
	source  *Source
	options CommitOptions
	jobs    []*commitJob // in the order of the targets
	skipped []Committed
}

// commitJob is one target on its way into a branch.
type commitJob struct {
	Committed
	destination Destination
	branch      *gitrepo.Branch
	reader      *branchReader
	overwrite   []string
	changes     []gitrepo.Change
	options     gitrepo.CommitOptions
}

func (c *committer) close() {
	for _, j := range c.jobs {
		j.close()
	}
}

func (j *commitJob) close() {
	if j.branch != nil {
		_ = j.branch.Close() // removes a temporary folder
		j.branch = nil
	}
}

// results lists all targets, the platform's first.
func (c *committer) results() []Committed {
	var out []Committed
	for _, j := range c.jobs {
		out = append(out, j.Committed)
	}
	return append(out, c.skipped...)
}

// fails says which target an error is about.
func (j *commitJob) fails(err error) error {
	return fmt.Errorf("target %s: %w", j.Target.Name, err)
}

// checkedOut says whether a job's branch is checked out in its work tree.
func (c *committer) checkedOut(j *commitJob) bool {
	work := j.branch.WorkTree()
	if work == "" {
		return false
	}
	current, ok := gitrepo.CurrentBranch(work)
	return ok && current == j.branch.Name()
}
