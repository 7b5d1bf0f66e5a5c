package render

import (
	"fmt"
	"time"

	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// CommitOptions are the options of Commit.
type CommitOptions struct {
	// Destinations maps target names to destinations. If it is empty, the platform's target is committed to the
	// repository of Specification.Root, on its current branch. Tenants on a branch of the platform repository are
	// committed there, too. Other tenants are committed to their own URL and branch if Push is set, and skipped
	// otherwise. If it is not empty, only the named targets and the tenants on the platform's repository are
	// committed.
	Destinations map[string]Destination
	// Push also pushes commits in local repositories to their remote.
	Push bool
	// DryRun plans and checks everything, but writes nothing.
	DryRun bool
	// Overwrite and AllowRemoval are as in FolderOptions; "fleet" in Overwrite also replaces the specification in the
	// platform's repository.
	Overwrite, AllowRemoval []string
	// Unsigned creates unsigned commits even if git is configured to sign them.
	Unsigned bool
	// Author is "Name <email>"; if empty, it comes from git's environment and configuration.
	Author string
	// Message replaces the first line of each commit's message.
	Message string
	Env     func(string) string
	Now     time.Time
}

// Destination is a repository (a path or URL) and a branch. Without a branch, the target's own branch is used.
type Destination struct{ Repository, Branch string }

// Committed is a target and the result of its commit.
type Committed struct {
	Target tree.Target
	// Location and Branch are the destination; empty if the target is skipped.
	Location, Branch string
	// Plan is nil if the target was not planned.
	Plan *tree.Plan
	// Specification are the files in fleet/ that the commit writes or deletes.
	Specification []tree.Step
	Message       string
	Result        gitrepo.Result
	// TakenOver reports whether a tenant's branch has its own content, and therefore gets no starter.
	TakenOver bool
	// Missing are the folders of a tenant's branch that Flux applies, and that it does not have.
	Missing []string
	// Done reports whether the commit was created, or none was needed.
	Done bool
	// Recovery describes what an interrupted write left in the work tree.
	Recovery tree.Recovery
	// Skipped is the reason why the target was skipped. SkipHint says how to commit it.
	Skipped, SkipHint string
}

// committer commits the targets of a specification.
type committer struct {
	from     *Specification
	options  CommitOptions
	rendered *Rendered
	jobs     []*commitJob // in the order of the targets
	skipped  []Committed
}

// commitJob is the commit of one target.
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

// results returns the results of all targets, the platform's first.
func (c *committer) results() []Committed {
	var out []Committed
	for _, j := range c.jobs {
		out = append(out, j.Committed)
	}
	return append(out, c.skipped...)
}

// fails adds the name of the target to an error.
func (j *commitJob) fails(err error) error {
	return fmt.Errorf("target %s: %w", j.Target.Name, err)
}

// checkedOut reports whether the branch of a job is checked out in its work tree.
func (c *committer) checkedOut(j *commitJob) bool {
	work := j.branch.WorkTree()
	if work == "" {
		return false
	}
	current, ok := gitrepo.CurrentBranch(work)
	return ok && current == j.branch.Name()
}
