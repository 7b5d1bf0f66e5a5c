package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// checkout compares a work tree and its index with the differences between two commits.
type checkout struct {
	worktree
	git   program
	root  *os.Root
	store objects
	diffs []difference
	// deleted are the paths that the second commit doesn't have.
	deleted map[string]bool
	// moved is set if HEAD is at the second commit, otherwise it is at the first.
	moved bool
	// execBits is set if the file system stores which files are executable.
	execBits bool
	changed  map[string]statusLine
}

// statusLine is the git status of a path: the item in the index (nil if the index does not have it), and whether the file
// in the work tree differs from it.
type statusLine struct {
	index *item
	dirty bool
}

// openCheckout asks git for the status of a work tree. The caller closes it.
func openCheckout(ctx context.Context, w worktree, git program, store objects, config configFile, diffs []difference, moved bool) (*checkout, error) {
	c := &checkout{worktree: w, git: git, store: store, diffs: diffs, deleted: map[string]bool{}, moved: moved,
		execBits: config.isTrue("core", "filemode", true)}
	for _, d := range diffs {
		if d.new == nil {
			c.deleted[d.path] = true
		}
	}
	out, err := git.run(ctx, "", "status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=all")
	if err != nil {
		return nil, fmt.Errorf("git cannot read the work tree %q: %w", w.dir, err)
	}
	if c.changed, err = parseStatus(out); err != nil {
		return nil, err
	}
	c.root, err = os.OpenRoot(w.dir)
	return c, err
}

// parseStatus parses the output of git status --porcelain=v2 -z.
func parseStatus(out string) (map[string]statusLine, error) {
	all := map[string]statusLine{}
	for line := range strings.SplitSeq(out, "\x00") {
		fields := strings.SplitN(line, " ", 9) // 1 XY sub mH mI mW hH hI path
		if fields[0] == "u" {
			return nil, fmt.Errorf("%w: %q is unmerged: resolve it and \"git add\" it", ErrInProgress, line[strings.LastIndexByte(line, ' ')+1:])
		}
		if len(fields) < 9 || len(fields[1]) != 2 {
			continue
		}
		s := statusLine{dirty: fields[1][1] != '.'}
		mode, err := strconv.ParseUint(fields[4], 8, 32)
		if err != nil {
			return nil, err
		}
		planned := fields[1] == ".A" // git add -N
		if mode != 0 && !planned {
			s.index = &item{mode: filemode.FileMode(mode), hash: plumbing.NewHash(fields[7])}
		}
		all[fields[8]] = s
	}
	return all, nil
}

func (c *checkout) close() error { return c.root.Close() }

// indexed returns the item of a path in the index, and whether the file differs from it.
func (c *checkout) indexed(d difference) (*item, bool) {
	if s, ok := c.changed[d.path]; ok {
		return s.index, s.dirty
	}
	if c.moved {
		return d.new, false
	}
	return d.old, false
}

// state is the state of the file at a path of the work tree, compared with a difference.
type state int

const (
	// absent: the file does not exist; asIndexed: the file is as in the index, which has the old or the new version; isNew:
	// the file is the new version.
	absent state = iota
	asIndexed
	isNew
	// staged: the index has another version; changed: the file is another version; blocked: something prevents a file at the
	// path.
	staged
	changed
	blocked
)

// states returns the state of each difference.
func (c *checkout) states(ctx context.Context) ([]state, error) {
	all := make([]state, len(c.diffs))
	var unknown []int // indexes of the files that may be new
	for i, d := range c.diffs {
		if d.old.isGitlink() || d.new.isGitlink() {
			all[i] = asIndexed
			continue
		}
		info, free, err := c.look(d.path)
		if err != nil {
			return nil, err
		}
		now, dirty := c.indexed(d)
		switch known := now.is(d.old) || now.is(d.new); {
		case !known && (now != nil || d.old != nil && d.new != nil):
			all[i] = staged
		case !free:
			all[i] = blocked
		case now != nil && !dirty:
			all[i] = asIndexed // this includes a file that a sparse checkout omits
		case info == nil:
			all[i] = absent
		default:
			all[i] = changed
			if d.new != nil && c.fits(info, *d.new) {
				unknown = append(unknown, i)
			}
		}
	}
	return all, c.findNew(ctx, all, unknown)
}

// is reports whether two items have the same content and mode.
func (x *item) is(other *item) bool {
	if x == nil || other == nil {
		return false
	}
	a, b := *x, *other
	for _, one := range []*item{&a, &b} {
		if one.mode == filemode.Deprecated {
			one.mode = filemode.Regular
		}
	}
	return a == b
}

// fits reports whether a file has the kind and the executable bit of an item.
func (c *checkout) fits(info fs.FileInfo, x item) bool {
	if x.mode == filemode.Symlink || !info.Mode().IsRegular() {
		return false
	}
	return !c.execBits || (info.Mode()&0o100 != 0) == (x.mode == filemode.Executable)
}

// findNew marks the files that git would store as the new version.
func (c *checkout) findNew(ctx context.Context, all []state, unknown []int) error {
	var names strings.Builder
	var asked []int
	for _, i := range unknown {
		if p := c.diffs[i].path; !strings.ContainsAny(p, "\n\"") {
			names.WriteString(p + "\n")
			asked = append(asked, i)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	out, err := c.git.run(ctx, names.String(), "hash-object", "--stdin-paths")
	if err != nil {
		return fmt.Errorf("git cannot read the files of %q: %w", c.dir, err)
	}
	for n, hash := range strings.Fields(out) {
		if i := asked[min(n, len(asked)-1)]; plumbing.NewHash(hash) == c.diffs[i].new.hash {
			all[i] = isNew
		}
	}
	return nil
}

// look returns the file at a path; nil if it does not exist, and false if a link, a file above it, or a folder in its
// place prevents it. It follows no link.
func (c *checkout) look(name string) (info fs.FileInfo, free bool, err error) {
	for i, r := range name {
		if r != '/' {
			continue
		}
		info, err := c.root.Lstat(filepath.FromSlash(name[:i]))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, true, nil
		case err != nil:
			return nil, false, err
		case info.Mode().IsRegular() && c.deleted[name[:i]]:
			return nil, true, nil // a folder replaces the file
		case !info.IsDir():
			return nil, false, nil
		}
	}
	info, err = c.root.Lstat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, true, nil
	case err != nil:
		return nil, false, err
	case info.IsDir():
		free, err := c.givesWay(name)
		return nil, free, err
	}
	return info, true, nil
}

// givesWay reports whether a folder contains only files that the commit deletes.
func (c *checkout) givesWay(dir string) (bool, error) {
	free := true
	err := fs.WalkDir(c.root.FS(), dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !c.deleted[path] {
			free = false
			return fs.SkipAll
		}
		return err
	})
	return free, err
}

// check returns an error that lists the paths with changes of the user: files that are neither the old nor the new
// version. unborn is set if there was no commit before.
func (c *checkout) check(ctx context.Context, branch string, unborn bool) error {
	states, err := c.states(ctx)
	if err != nil {
		return err
	}
	dirty := &DirtyError{Branch: branch, Dir: c.dir, Unborn: unborn}
	for i, d := range c.diffs {
		what := ""
		switch st := states[i]; {
		case st == staged:
			what = "staged"
		case st == blocked:
			what = "in the way"
		case st == changed && d.old == nil:
			what = "untracked"
		case st == changed:
			what = "modified"
		case st == absent && d.old != nil && d.new != nil:
			what = "deleted"
		}
		if what != "" {
			dirty.Paths = append(dirty.Paths, DirtyPath{Path: d.path, State: what})
		}
	}
	if len(dirty.Paths) > 0 {
		return dirty
	}
	return nil
}

// lines returns the input of git update-index that sets the new version of paths. mine are the paths whose files belong
// to the user or are new already. theirs are the paths that git has to write or delete. Paths with other changes in the
// index are not included.
func (c *checkout) lines(ctx context.Context) (mine, theirs string, err error) {
	states, err := c.states(ctx)
	if err != nil {
		return "", "", err
	}
	for i, d := range c.diffs {
		to := item{} // the zero item: without a file
		if d.new != nil {
			to = *d.new
		}
		line := fmt.Sprintf("%o %s\t%s\x00", uint32(to.mode), to.hash, d.path)
		switch states[i] {
		case isNew, changed, blocked:
			mine += line
		case absent, asIndexed:
			theirs += line
		}
	}
	return mine, theirs, nil
}
