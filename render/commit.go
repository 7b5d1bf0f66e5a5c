package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/specs"
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

// Commit commits each target to its repository and branch: one commit each, on
// top of the branch's head, none where nothing changed. Everything is planned
// and checked before the first commit. The result lists every target; when there
// is an error too, those that are not Done are not committed, and committing
// again finishes the job.
func (s *Source) Commit(ctx context.Context, o CommitOptions) ([]Committed, error) {
	c := &committer{source: s, options: o}
	defer c.close()
	if err := c.prepare(ctx); err != nil {
		return c.results(), err
	}
	if o.DryRun {
		return c.results(), nil
	}
	// The platform comes last: what it refers to is there when Flux reads it.
	for _, j := range slices.Backward(c.jobs) {
		if err := c.commit(ctx, j); err != nil {
			return c.results(), err
		}
	}
	return c.results(), nil
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

// prepare renders, opens, plans and checks.
func (c *committer) prepare(ctx context.Context) error {
	platform, err := c.platform(ctx)
	if err != nil {
		return err
	}
	folder, err := tree.OpenFolder(c.source.Root)
	if err != nil {
		return err
	}
	defer folder.Close()
	readers := []tree.Reader{folder}
	if platform != nil {
		readers = []tree.Reader{platform.reader, folder}
	}
	targets, err := c.source.Targets(readers...)
	if err != nil {
		return err
	}
	if err := c.checkNames(targets); err != nil {
		return err
	}
	paths := slices.DeleteFunc(slices.Clone(c.options.Overwrite), isSpecPath)
	overwrite, err := splitOverwrite(paths, targets)
	if err != nil {
		return err
	}
	c.assign(targets, platform, overwrite)
	for _, j := range c.jobs {
		if err := c.open(ctx, j); err != nil {
			return j.fails(err)
		}
		if err := c.alone(j); err != nil {
			return err
		}
		if err := c.plan(ctx, j); err != nil {
			return j.fails(err)
		}
	}
	return nil
}

// fails says which target an error is about.
func (j *commitJob) fails(err error) error {
	return fmt.Errorf("target %s: %w", j.Target.Name, err)
}

// platform opens the platform's branch; nil when it is not committed.
func (c *committer) platform(ctx context.Context) (*commitJob, error) {
	j := &commitJob{}
	j.Target.Name = generators.PlatformTarget
	given, named := c.options.Destinations[generators.PlatformTarget]
	switch {
	case named:
		j.destination = given
		if given.Branch == "" && c.source.Spec != nil {
			j.destination.Branch = c.source.Spec.Fleet.Spec.Repository.Branch
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

// ownRepository is the repository whose root the specification's folder is.
func (c *committer) ownRepository() (string, error) {
	dir := c.source.Root
	root, ok := gitrepo.Root(dir)
	switch {
	case !ok:
		return "", &BadInput{
			Err:  fmt.Errorf("%q is in no git repository", dir),
			Hint: fmt.Sprintf("run \"git init --initial-branch=main %s\", or name a repository with --target %s=REPO#BRANCH", dir, generators.PlatformTarget),
		}
	case !sameFolder(root, dir):
		return "", &BadInput{
			Err:  fmt.Errorf("%q is a folder of the git repository %q, and the platform target belongs at a repository's root", dir, root),
			Hint: fmt.Sprintf("name its repository with --target %s=REPO#BRANCH", generators.PlatformTarget),
		}
	}
	return root, nil
}

// sameFolder says whether two paths are the same folder.
func sameFolder(a, b string) bool {
	left, err := os.Stat(a)
	if err != nil {
		return false
	}
	right, err := os.Stat(b)
	return err == nil && os.SameFile(left, right)
}

// checkNames refuses destinations of targets that there are not.
func (c *committer) checkNames(targets []tree.Target) error {
	var names []string
	for _, t := range targets {
		names = append(names, t.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.options.Destinations)) {
		if !slices.Contains(names, name) {
			return &BadInput{Err: fmt.Errorf("--target %q is not rendered: want one of %s", name, strings.Join(names, ", "))}
		}
	}
	return nil
}

// assign decides where each target goes.
func (c *committer) assign(targets []tree.Target, platform *commitJob, overwrite map[string][]string) {
	for _, t := range targets {
		if t.Name == generators.PlatformTarget {
			if platform != nil {
				platform.Target, platform.overwrite = t, overwrite[t.Name]
			} else {
				c.skip(t, "it was not named", fmt.Sprintf("commit it with --target %s=REPO#BRANCH", t.Name))
			}
			continue
		}
		j := &commitJob{Committed: Committed{Target: t}, overwrite: overwrite[t.Name]}
		given, named := c.options.Destinations[t.Name]
		switch {
		case named:
			j.destination = given
		case t.Orphan && platform != nil:
			j.destination.Repository = platform.destination.Repository
		case len(c.options.Destinations) > 0:
			c.skip(t, "it was not named", fmt.Sprintf("commit it with --target %s=REPO#BRANCH", t.Name))
			continue
		case c.options.Push && t.URL != "":
			j.destination.Repository = t.URL
		default:
			c.skip(t, "it has a repository of its own", fmt.Sprintf("commit it to %s#%s with --push, or to another place with --target %s=REPO#BRANCH",
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

// open opens a job's branch, unless it is open.
func (c *committer) open(ctx context.Context, j *commitJob) (err error) {
	if j.branch != nil {
		return nil
	}
	if root, ok := gitrepo.Root(j.destination.Repository); ok && sameFolder(root, j.destination.Repository) {
		// A render that was cut off left its journal in the work tree.
		if j.Recovery, err = c.recover(root); err != nil {
			return err
		}
	}
	// A tenant's branch may stand beside the platform's, of which it holds nothing.
	o := gitrepo.Options{
		Orphan: j.Target.Name != generators.PlatformTarget, Push: c.options.Push, Env: c.options.Env,
		ReadOnly: c.options.DryRun,
	}
	if j.branch, err = gitrepo.Open(ctx, j.destination.Repository, j.destination.Branch, o); err != nil {
		return err
	}
	j.Location, j.Branch = j.branch.Location(), j.branch.Name()
	j.reader = &branchReader{branch: j.branch, own: tree.Memory{}}
	return nil
}

// recover finishes an interrupted write of a work tree. A dry run changes nothing,
// and what a commit would find after that is not known.
func (c *committer) recover(root string) (tree.Recovery, error) {
	if !c.options.DryRun {
		return tree.Recover(root)
	}
	found, err := tree.Look(root)
	if err == nil && found.Pending {
		err = &Refusal{
			Err:  fmt.Errorf("a write to %q was interrupted, or is under way", root),
			Hint: "run \"fleetwright render\" there, which finishes it, or commit without --dry-run",
		}
	}
	return found, err
}

// alone refuses two targets in one branch, however its repository is written.
func (c *committer) alone(j *commitJob) error {
	for _, other := range c.jobs {
		if other == j {
			return nil // those after it are not open yet
		}
		if j.Branch == other.Branch && sameRepository(j.Location, other.Location) {
			return &BadInput{
				Err:  fmt.Errorf("targets %s and %s would both be committed to %s#%s", other.Target.Name, j.Target.Name, j.Location, j.Branch),
				Hint: fmt.Sprintf("name another branch or repository, with --target %s=REPO#BRANCH", j.Target.Name),
			}
		}
	}
	return nil
}

// sameRepository says whether two locations are the same repository, as far as their
// text and the folders of this machine tell.
func sameRepository(a, b string) bool {
	a, b = withoutFile(a), withoutFile(b)
	plain := func(location string) string { return strings.TrimSuffix(strings.TrimRight(location, "/"), ".git") }
	return plain(a) == plain(b) || sameFolder(a, b)
}

// withoutFile is the path of a file:// URL, and any other location as it is.
func withoutFile(location string) string {
	if u, err := url.Parse(location); err == nil && u.Scheme == "file" {
		return u.Path
	}
	return location
}

// plan compares a target with its branch's head and checks that the commit can
// be made.
func (c *committer) plan(ctx context.Context, j *commitJob) error {
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
	if j.Plan, err = c.source.Plan(j.Target, j.reader, inv, j.overwrite); err != nil {
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
	return c.signed(j)
}

// signed refuses a commit that git would sign, unless the user wants none signed.
func (c *committer) signed(j *commitJob) error {
	if c.options.Unsigned || !j.Result.Changed {
		return nil
	}
	return gitrepo.CheckSigning(c.options.Env, cmp.Or(j.branch.WorkTree(), c.source.Root), c.options.Push || j.branch.Remote())
}

// unrendered names the way out where the work tree's changes are those of another render than this
// commit's: its inventory is neither as committed nor as it will be.
func (c *committer) unrendered(j *commitJob, err error) error {
	var dirty *gitrepo.DirtyError
	if !errors.As(err, &dirty) || !sameFolder(j.branch.WorkTree(), c.source.Root) ||
		!slices.ContainsFunc(dirty.Paths, func(p gitrepo.DirtyPath) bool { return p.Path == tree.InventoryPath }) {
		return err
	}
	return &Refusal{Err: err, Hint: "the work tree is of an earlier render: run \"fleetwright render\" there, and commit again"}
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

func (c *committer) commitOptions(j *commitJob) (gitrepo.CommitOptions, error) {
	dir := j.branch.WorkTree()
	if dir == "" {
		dir = c.source.Root
	}
	author, by, err := gitrepo.ResolveAuthor(c.options.Author, c.options.Env, dir, c.options.Now)
	if errors.Is(err, gitrepo.ErrNoIdentity) && c.nothingToDo(j) {
		err = nil
		author = gitrepo.Signature{Name: "nobody", Email: "nobody@localhost", When: c.options.Now}
		by = author
	}
	j.Message = c.message(j)
	return gitrepo.CommitOptions{Message: j.Message, Author: author, Committer: by}, err
}

// nothingToDo says that no commit will be made, so that nobody has to sign it.
func (c *committer) nothingToDo(j *commitJob) bool { return len(j.changes) == 0 }

// commit makes one commit. A branch that moved meanwhile, or a push that was
// rejected, is tried once more on top of what is there now.
func (c *committer) commit(ctx context.Context, j *commitJob) error {
	result, err := j.branch.Commit(ctx, j.changes, j.options)
	if errors.Is(err, gitrepo.ErrMoved) || errors.Is(err, gitrepo.ErrRejected) {
		j.close()
		if err = c.open(ctx, j); err == nil {
			err = c.plan(ctx, j)
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

// isSpecPath says whether a path to overwrite is the specification's.
func isSpecPath(p string) bool {
	p = strings.TrimPrefix(filepath.ToSlash(p), "./")
	return p == SpecFolder || p == SpecFolder+"/" || strings.HasPrefix(p, SpecFolder+"/")
}

// specification returns what the platform's commit does with the specification
// in the repository: the commit holds the one that it was rendered from, or is
// refused.
func (c *committer) specification(j *commitJob) ([]tree.Step, error) {
	files, spec := c.source.Files, c.source.Spec
	if spec == nil {
		spec = c.source.carriedSpec
	}
	if spec == nil {
		return nil, nil // a stream without one
	}
	there, err := j.reader.under(SpecFolder)
	if err != nil {
		return nil, err
	}
	own := c.checkedOut(j) && sameFolder(j.branch.WorkTree(), c.source.Root)
	if own && c.source.Spec == nil {
		read, err := ReadSpecification(c.source.Root)
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
	return &Refusal{
		Err: fmt.Errorf("refused: the specification in %s/ of %s differs from the one that was rendered", SpecFolder, where),
		Hint: fmt.Sprintf("commit from a clone of %s, with its %s/; or replace the specification there with --overwrite %s",
			j.Location, SpecFolder, SpecFolder),
	}
}

// sameSpecification says whether the files of a branch are the specification.
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
		return false, nil //nolint:nilerr // one that doesn't load is another one
	}
	return there.Equal(spec), nil
}

// throughLink refuses a file of the specification that the branch reaches by a
// symlink: a commit holds the specification as files, and replaces no link.
func throughLink(r tree.Reader, name string) error {
	_, err := r.ReadFile(name)
	var blocked *tree.BlockedError
	if !errors.As(err, &blocked) || blocked.What != tree.ASymlink {
		return nil // what else stands there is refused when it is written
	}
	return &Refusal{
		Err: fmt.Errorf("refused: %q of the specification is %s in the branch, and a commit holds the files themselves",
			blocked.At, blocked.What),
		Hint: fmt.Sprintf("put what it leads to in its place: rm %[1]s, then copy it to %[1]s and commit that with git", blocked.At),
	}
}

// specSteps makes the files of the specification in the branch these.
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
	slices.SortFunc(steps, func(a, b tree.Step) int { return strings.Compare(a.Path, b.Path) })
	return steps, nil
}
